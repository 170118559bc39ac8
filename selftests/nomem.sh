#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# No memory: the first allocation of the kernel for a request fails, then the second, and
# so on until it needs no more. Each time the request is refused for that very reason and has
# left nothing behind, or it has done without. Then one of five packets finds none.
#
#   d0 (10.9.0.1/16)
#
#   w0 (10.0.0.11) --+
#   w1 (10.0.0.12) --+-- switch -- root (10.0.0.1)
# shellcheck disable=SC2317 # ok calls the functions
# All of it happens in a network namespace of the test's own.
[[ ${INA_OWN_NET:-} ]] || INA_OWN_NET=y exec unshare -n bash "$0"
. "$(dirname "$0")/lib.sh"

slab=/sys/kernel/debug/failslab
pages=/sys/kernel/debug/fail_page_alloc

# ask REQUEST...: of nlclient; what it says is in $answer, up to what it says of the last.
ask()
{
	local line
	printf '%s\n' "$*" unknown-cmd >&"$to"
	answer=
	while read -r line <&"$from" && [[ $line != "error EOPNOTSUPP" ]]; do
		answer+=$line$'\n'
	done
}

# look: all that is configured, in $state
look()
{
	local what
	state=
	for what in job tree dev; do
		ask "$what-get" dump
		state+=$answer
	done
}

same()
{
	look
	[[ $state == "$before" ]] || diff <(echo "$before") <(echo "$state")
}

# exhaust UNDO COMMAND...: let each allocation of COMMAND fail; it takes fail-nth=N as its last
# word and leaves in $answer what nlclient would say.
exhaust()
{
	local undo n refused=0 done=0
	read -ra undo <<<"$1"
	shift
	look
	before=$state told=
	for ((n = 1; n < 1000; n++)); do
		"$@" "fail-nth=$n"
		case $answer in
		ok*fault=0*) break ;;
		ok*fault=1* | "error ENOBUFS no answer"*) done=$((done + 1)) && "${undo[@]}" ;;
		"error ENOMEM"$'\n'*fault=1* | "error ENOMEM Not enough memory"*fault=1* | "error ENOMEM Out of memory: "*fault=1* | \
			"error ENOBUFS not sent"*) refused=$((refused + 1)) ;;
		*) echo "allocation $n: $answer" && return 1 ;;
		esac
		same || {
			echo "allocation $n: $answer"
			return 1
		}
	done
	"${undo[@]}"
	told="$((n - 1)) allocations failed: $refused requests refused, $done done"
	same && ((n < 1000 && refused))
}

# A job whose fragments, sums and results have to be found room for.
job=(job-add id=7 capacity=5000 dtype=3 fragment=0)
tree=(tree-set job=7 parent=10.9.0.2 child=10.9.0.3 child=10.9.0.4)
other=(tree-set job=7 parent=10.9.0.5 child=10.9.0.4 child=10.9.0.6 child=10.9.0.7)

job_anew()
{
	ask job-del id=7
	ask "${job[@]}"
}

worker_anew()
{
	job_anew
	ask tree-set job=7 parent=10.9.0.2 workers=1
}

attach()
{
	if answer=$(devtest "${1/=/ }" "attach 7"); then
		answer="ok"$'\n'$answer
	else
		answer="error ${answer##* }"$'\n'$answer
	fi
}

no_regions()
{
	! grep 'ina_region_alloc.*\[ina_agg\]' /proc/vmallocinfo
}

if [[ ! -e /proc/self/fail-nth || ! -d $slab || ! -d $pages ]]; then
	skip "each allocation of a request fails in turn" "the kernel has no fault injection"
	done_testing
fi
# What may sleep fails as well, single pages, too; without a stack trace, which is a splat.
# Nobody but who sets fail-nth sees any of it while the probability is 0.
echo N | tee $slab/ignore-gfp-wait $pages/ignore-gfp-wait $pages/ignore-gfp-highmem >/dev/null
echo 0 | tee $slab/verbose $pages/verbose $pages/min-order >/dev/null

load
ip link add d0 type dummy
ip addr add 10.9.0.1/16 dev d0
ip link set d0 up
d0=$(ip -o link show d0 | cut -d: -f1)
coproc client { nlclient batch; }
# Of our own: bash forgets the others as soon as nlclient has ended.
exec {to}>&"${client[1]}" {from}<&"${client[0]}"

ok "each allocation of dev-add fails in turn" \
	exhaust "ask dev-del ifindex=$d0" ask dev-add ifindex="$d0"
echo "# $told"
ok "each allocation of job-add fails in turn" exhaust "ask job-del id=7" ask "${job[@]}"
echo "# $told"
ask "${job[@]}"
ok "each allocation of the first tree-set fails in turn" exhaust job_anew ask "${tree[@]}"
echo "# $told"
ask "${tree[@]}"
ok "each allocation of another tree-set fails in turn" \
	exhaust "ask ${tree[*]}" ask "${other[@]}"
echo "# $told"
ok "each allocation of path-add fails in turn" \
	exhaust "ask path-del job=7 id=1" ask path-add job=7 sport=5
echo "# $told"
worker_anew
ok "each allocation of an attach fails in turn" exhaust worker_anew attach
echo "# $told"
ask job-del id=7
ok "no memory of jobs is left" wait_for 10 no_regions

star_add capacity 20k deadline 60000
# Heads of packets, where nobody may sleep, whoever it is.
ok "heads of packets can be refused" grep -qx 1 /sys/kernel/slab/skbuff_head_cache/failslab
trap 'echo 0 >$slab/probability; _cleanup' EXIT
echo Y | tee $slab/ignore-gfp-wait $slab/cache-filter >/dev/null
echo -1 >$slab/times
echo 20 >$slab/probability
spawn w0 w0.log ina-perf --job 7 --rank 0 --rounds 20 --elements 20k
p0=$!
spawn w1 w1.log ina-perf --job 7 --rank 1 --rounds 20 --elements 20k
ok "sums are right when one of five packets finds no memory" finish "$p0" "$!"
echo 0 >$slab/probability
ok "senders waited for it" at_least root 7 tx_nomem 1
ok "no round failed" test "$(counter root 7 rounds_failed)" = 0
for n in root w0 w1; do
	ns_del $n
done
ok "the module unloads" wait_for 10 unload
done_testing
