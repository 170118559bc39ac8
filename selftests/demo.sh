#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The main job, to look at: seven workers all-reduce a gradient through two
# aggregators and a root, each a namespace of one kernel; then the same without
# the aggregators. Every element of every result is checked.
#
#   w1 w2 w3 w4 --- a1 --+
#                        +--- root          job 7: the tree
#   w5 w6 w7 ------ a2 --+                  job 8: all workers below the root
. "$(dirname "$0")/lib.sh"

elements=$(full 6250000 20000)	# 25 MB of int32, the gradient of Inception-V3
rounds=2
workers=(w1 w2 w3 w4 w5 w6 w7)
declare -A addr=([root]=10.9.0.1 [a1]=10.9.0.2 [a2]=10.9.0.3)
for i in "${!workers[@]}"; do
	addr[${workers[i]}]=10.9.0.$((11 + i))
done

# fail WHAT [LOG]: end with what failed.
fail()
{
	echo "FAILED: $1"
	[[ -z ${2:-} ]] || log "$2" | sed 's/^/    /'
	ok "$1" false
	done_testing
}

# node JOB NAME parent|-  CHILD...: configure a node by the names of its peers.
node()
{
	local job=$1 name=$2 parent=$3 child words=()
	shift 3
	[[ $parent == - ]] || words=(parent "${addr[$parent]}")
	for child; do
		words+=(child "${addr[$child]}")
	done
	on "$name" inaconf job add "$job" capacity "$elements" deadline 300000 ||
		fail "$name: job $job is not added"
	on "$name" inaconf tree set job "$job" "${words[@]}" ||
		fail "$name: the tree of job $job is not set"
}

device_bytes()
{
	on root cat /proc/net/dev | awk '$1 == "eth0:" { print $2 }'
}

# Show how far the first worker is until all workers have ended.
progress()
{
	local job=$1 total=$((rounds * ((elements + 255) / 256))) got
	shift
	while kill -0 "$@" 2>/dev/null; do
		got=$(counter w1 "$job" rx_result) || got=0
		printf '  %3d %% of the results at w1, %d s\n' $((got * 100 / total)) \
			$((SECONDS - started))
		sleep 1
	done
}

# allreduce JOB: run the workers; sets bytes (into the root) and took.
allreduce()
{
	local job=$1 rank before pids=()
	before=$(device_bytes)
	started=$SECONDS
	for rank in "${!workers[@]}"; do
		spawn "${workers[rank]}" "${workers[rank]}.log" ina-perf --job "$job" \
			--rank "$rank" --rounds $rounds --elements "$elements" \
			--timeout 300000 --workers-expected 7
		pids+=($!)
	done
	wait_for 60 at_least root "$job" rx_data 1 || fail "not all workers joined" w1.log
	[[ $job == 8 ]] || for i in root a1 a2; do on $i inaconf tree show job "$job"; done
	progress "$job" "${pids[@]}"
	for rank in "${!workers[@]}"; do
		wait "${pids[rank]}" || fail "${workers[rank]} failed" "${workers[rank]}.log"
	done
	took=$((SECONDS - started))
	bytes=$(($(device_bytes) - before))
	ok "job $job: every element of $rounds rounds is the exact sum on 7 workers" \
		grep -q " 0 wrong" "$_dir/w7.log"
	clocked "job $job: the root dropped no packet, no round failed" \
		test "$(counter root "$job" tx_drop) $(counter root "$job" rounds_failed)" = "0 0"
}

load || fail "the module does not load"
echo "kernel $(uname -r), $(nproc) CPUs: 7 workers, 2 aggregators and a root as namespaces"
switch_add 1500
for name in root a1 a2 "${workers[@]}"; do
	host_add "$name" "${addr[$name]}/24" || fail "no namespace $name"
	on "$name" inaconf dev add eth0 || fail "$name: eth0 is not added"
done

node 7 root - a1 a2
node 7 a1 root w1 w2 w3 w4
node 7 a2 root w5 w6 w7
for w in w1 w2 w3 w4; do node 7 $w a1; done
for w in w5 w6 w7; do node 7 $w a2; done
echo "job 7: all-reduce of $elements int32 ($((elements * 4 / 1000)) kB), $rounds rounds, through the tree"
allreduce 7
tree_bytes=$bytes tree_took=$took
for name in root a1 a2 "${workers[@]}"; do
	on "$name" inaconf job del 7
done

node 8 root - "${workers[@]}"
for w in "${workers[@]}"; do node 8 "$w" root; done
echo "job 8: the same, every worker straight below the root"
allreduce 8

cat <<REPORT

  sum                 verified, $((elements * rounds)) elements on each of 7 workers, twice
                          aggregated       direct
  bytes into the root  $(printf '%12d %12d' "$tree_bytes" "$bytes")   (counted on its device)
  time                 $(printf '%10d s %10d s' "$tree_took" "$took")   (with the checks, on $(nproc) shared CPUs)
  fewer bytes by       $(awk "BEGIN { printf \"%10.2f x\", $bytes / $tree_bytes }")

  read on: README.md, Documentation/architecture.rst, man inaconf
REPORT
ok "aggregation takes less than a third of the bytes into the root" \
	test $((tree_bytes * 3)) -lt "$bytes"
done_testing
