#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Every type of elements through trees of real nodes. Sums of fixed have the same bits
# in every tree, whatever arrives first, whatever is lost; the others are exact where they can be.
#
#   w0 .11 --+            +-- a0 .2
#   w1 .12 --+-- switch --+-- a1 .3      10.0.0.0/24
#   w2 .13 --+            +-- root .1
#   w3 .14 --+
# shellcheck disable=SC2317 # ok calls the functions
. "$(dirname "$0")/lib.sh"

nodes=(root a0 a1 w0 w1 w2 w3)
workers=(w0 w1 w2 w3)
declare -A number=([root]=1 [a0]=2 [a1]=3 [w0]=11 [w1]=12 [w2]=13 [w3]=14)
elements=3001
rounds=$(full 20 5)
read -ra shapes <<<"$(full "flat pairs chain" chain)"

addr()
{
	echo "10.0.0.${number[$1]}"
}

# job_add OPTION...: job 7 on all nodes, in place of what was there.
job_add()
{
	job_fresh "${nodes[*]}" 7 capacity "$elements" deadline 60000 "$@"
}

# place NODE PARENT|- [workers=N] CHILD...
place()
{
	local node=$1 words=() word
	[[ $2 == - ]] || words=(parent "$(addr "$2")")
	shift 2
	for word; do
		if [[ $word == *=* ]]; then
			words+=("${word%=*}" "${word#*=}")
		else
			words+=(child "$(addr "$word")")
		fi
	done
	on "$node" inaconf tree set job 7 "${words[@]}"
}

# Trees: all below the root; pairs; one behind the other, workers on inner nodes, too.
flat()
{
	place root - w0 w1 w2 w3 && place w0 root && place w1 root && place w2 root && place w3 root
}

pairs()
{
	place root - a0 a1 && place a0 root w0 w1 && place a1 root w2 w3 &&
		place w0 a0 && place w1 a0 && place w2 a1 && place w3 a1
}

chain()
{
	place root - a0 && place a0 root w0 && place w0 a0 workers=1 w1 w2 && place w1 w0 &&
		place w2 w0 workers=1 w3 && place w3 w2
}

# start "NODE..." OPTION...: a worker on each, ranks in this order.
start()
{
	local n rank=0 where=()
	read -ra where <<<"$1"
	shift
	pids=()
	for n in "${where[@]}"; do
		spawn "$n" "perf-$rank" ina-perf --job 7 --rank "$rank" --elements "$elements" \
			--rounds "$rounds" --workers-expected 4 "$@"
		pids+=($!)
		rank=$((rank + 1))
	done
}

# ended: all that were started end well.
ended()
{
	finish "${pids[@]}" && return
	grep -H . "$_dir"/perf-*
	return 1
}

perf()
{
	start "$@" && ended
}

# hashes: the hash all workers of the last run agree on.
hashes()
{
	local all
	all=$(sed -n 's/^hash *//p' "$_dir"/perf-[0-3] | sort | uniq -c)
	[[ $(wc -l <<<"$all") == 1 && $(awk '{ print $1 }' <<<"$all") == 4 ]] || return
	awk '{ print $2 }' <<<"$all"
}

# disturb on|off: packets towards root and aggregators overtake each other, and some are lost.
disturb()
{
	local n
	for n in root a0 a1; do
		if [[ $1 == on ]]; then
			on sw tc qdisc add dev "p-$n" root netem delay 3ms 3ms loss 10% limit 10000
		else
			on sw tc qdisc del dev "p-$n" root
		fi || return
	done
}

# lost: packets were, since they are disturbed.
lost()
{
	local n drops=0
	for n in root a0 a1; do
		[[ $(on sw tc -j -s qdisc show dev "p-$n") =~ '"drops":'([0-9]+) ]] || return
		((drops += BASH_REMATCH[1]))
	done
	echo "$drops lost"
	((drops))
}

# same_hash: this run's is that of the runs before.
same_hash()
{
	local now
	now=$(hashes) || return
	[[ ${hash:=$now} == "$now" ]] || { echo "$now, not $hash"; return 1; }
}

# memory DTYPE NODE: bytes of a job of 1 Mi elements, on an aggregator a0, on a root with a worker
# w0, on the host of a worker w1, which is still there when the worker is not.
memory()
{
	on "$2" inaconf job del 7
	on "$2" inaconf job add 7 capacity 1Mi fragment 128 depth 2 dtype "$1" || return
	if [[ $2 == a0 ]]; then
		place a0 root w0 w1
	elif [[ $2 == w0 ]]; then
		place w0 - workers=1 && on w0 ina-perf --job 7 --rounds 1 --no-verify --quiet
	else
		place w1 root && not on w1 ina-perf --job 7 --timeout 1
	fi >/dev/null 2>&1 || return
	on "$2" inaconf -j job show 7 | sed 's/.*"memory":\([0-9]*\).*/\1/'
}

# more NODE A B MIB: type A needs that much more than type B.
more()
{
	local a b
	a=$(memory "$2" "$1") && b=$(memory "$3" "$1") || return
	((a - b == $4 * 1048576)) || { echo "$a - $b"; return 1; }
}

ok "libina's conversions are right" convtest
load || exit
if grep -qw 'avx2\|asimd' /proc/cpuinfo; then
	ok "sums are computed in vector registers" grep -q 'ina_agg: sums: \(avx2\|neon\)' <(dmesg)
else
	skip "sums are computed in vector registers" "the CPU has none"
fi
switch_add 1500
for n in "${nodes[@]}"; do
	host_add "$n" "$(addr "$n")/24"
	on "$n" inaconf dev add eth0
done

for dtype in int32 fp32 bf16 fixed; do
	job_add dtype $dtype
	for shape in "${shapes[@]}"; do
		ok "$dtype: the tree is set: $shape" "$shape"
		ok "$dtype: sums are exact: $shape" perf "${workers[*]}" --dtype $dtype
	done
done
ok "an aggregator of fixed has twice the sums" more a0 fixed fp32 8
ok "an aggregator of bf16 has those of fp32" more a0 bf16 fp32 0
ok "a root with a worker of fixed has results besides" more w0 fixed fp32 16
ok "with one of bf16, too" more w0 bf16 fp32 4
ok "the host of a worker of fixed has results only" more w1 fixed fp32 0
ok "that of one of bf16, too" more w1 bf16 fp32 -4

# 1e8, 1, -1e8, 1 is 2, whoever contributes what. What is only of numbers the debug kernel need
# not see as often.
orders=("w0 w1 w2 w3" "w1 w0 w3 w2" "w2 w3 w0 w1" "w0 w2 w1 w3" "w3 w0 w2 w1" "w1 w3 w0 w2")
for shape in "${shapes[@]}"; do
	job_add dtype fixed
	$shape
	for order in "${orders[@]:0:$(full 6 1)}"; do
		ok "1e8, 1, -1e8, 1 is 2: $shape, $order" perf "$order" --pattern cancel
	done
done

# Where the test could not fail, it would say nothing: fp32 does depend on the placement.
if [[ $INA_SIZE == full ]]; then
	job_add dtype fp32
	pairs
	ok "fp32: 1e8 + 1 first" perf "w0 w1 w2 w3" --pattern cancel --no-verify --hash
	ok "fp32: all workers have the same bits" same_hash
	ok "fp32: 1e8 - 1e8 first" perf "w0 w2 w1 w3" --pattern cancel --no-verify --hash
	ok "fp32: the bits are others" not same_hash
	unset hash
fi

# The hash of what all workers got; the pattern follows from the round, so every run starts
# with a job that has had none.
for shape in "${shapes[@]}"; do
	for order in on off; do
		job_add dtype fixed
		$shape
		ok "packets overtake each other and are lost: $order" disturb $order
		ok "fixed: random floats are summed exactly: $shape, disturbed: $order" \
			perf "${workers[*]}" --pattern random --hash
		ok "the result has the same bits: $shape, disturbed: $order" same_hash
		# Of the few rounds of the debug kernel there may be none.
		[[ $order == off || $INA_SIZE != full ]] || ok "packets were lost: $shape" lost
		ok "bits below the unit are told of" grep -q " $rounds inexact" "$_dir/perf-0"
	done
done
ok "the root counts inexact rounds" at_least root 7 rounds_inexact "$rounds"
if [[ $INA_SIZE == full ]]; then
	job_add dtype fixed exponent -29
	flat
	ok "the tree of a job with another exponent sums, too" perf "${workers[*]}" \
		--pattern random --hash
	ok "with another unit the bits are others" not same_hash
fi
job_add dtype fixed
pairs
ok "fixed: an overflow reaches every worker" perf "${workers[*]}" --pattern overflow
ok "the root counts the rounds that overflowed" at_least root 7 rounds_overflow "$rounds"

# A host that only passed on what its worker gave has to add from now on.
job_add dtype fixed
flat
rounds=$(full 200 60)
# Slow enough to be in mid-run still when all have their new places.
start "${workers[*]}" --pattern random --delay "$(full 50 150)"
ok "rounds run" wait_for 30 at_least root 7 rounds_done 3
ok "a worker moves below a worker" eval "place w2 root workers=1 w3 && place w3 w2 && place root - w0 w1 w2"
clocked "it was in mid-run" not at_least root 7 rounds_done "$rounds"
ok "all sums are exact" ended
rounds=$(full 20 5)

# Without vector registers the bits are the same.
without()
{
	local n
	for n in "${nodes[@]}"; do
		on "$n" inaconf job del 7
	done
	unload && load_with simd=off && dmesg | grep -q 'ina_agg: sums: integer only'
}
ok "the module is loaded without vector registers" without
for n in "${nodes[@]}"; do
	on "$n" inaconf dev add eth0
done
for dtype in $(full "int32 fp32 bf16 fixed" ""); do
	job_add dtype "$dtype"
	pairs
	ok "$dtype: sums are exact in general registers" perf "${workers[*]}"
done
job_add dtype fixed
chain
ok "fixed: random floats in general registers" perf "${workers[*]}" --pattern random --hash
ok "the result has the same bits in general registers" same_hash

# Who differs in type or exponent is refused.
job_add dtype fixed
on w3 inaconf job del 7
on w3 inaconf job add 7 capacity "$elements" deadline 60000 dtype fixed exponent -31
flat
spawn w3 other ina-perf --job 7 --timeout 20000
ok "a child with another exponent is refused" wait_for 20 at_least root 7 joins_refused 1

# A partial sum of fixed is longer than a contribution.
job_add dtype fixed fragment 256
ok "contributions of 256 elements fit the MTU" flat
ok "and are summed" perf "${workers[*]}"
fit_not()
{
	on a0 inaconf tree set job 7 parent "$(addr root)" child "$(addr w0)" child "$(addr w1)" 2>&1 |
		grep -q "A fragment does not fit the path MTU"
}
ok "partial sums of as many do not" fit_not
done_testing
