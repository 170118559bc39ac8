#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Rounds over ports that lose, duplicate, reorder and corrupt packets: each sum
# comes out right. Workers are w*, and a0, which is an aggregator as well.
#
#   1 level                 3 levels
#   w1 .11 --+              w1 .11 --+
#   w2 .12 --+-- root .1    w2 .12 --+-- a0 .3 -- a1 .2 --+-- root .1
#   w3 .13 --+              w3 .13 -----------------------+
# shellcheck disable=SC2317 # ok calls the functions
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fault/port.sh"

nodes=(root a1 a0 w1 w2 w3)
declare -A addr=([root]=10.0.0.1 [a1]=10.0.0.2 [a0]=10.0.0.3
	[w1]=10.0.0.11 [w2]=10.0.0.12 [w3]=10.0.0.13)
rounds=$(full 20 5)
elements=2500 # 40 fragments of 64
cells=0

conf()
{
	inaconf -n "$(ns "$1")" "${@:2}"
}

# job_add OPTION...: on all nodes, in place of what was there.
job_add()
{
	local n
	for n in "${nodes[@]}"; do
		# There may be none.
		conf "$n" job del 7 2>/dev/null
		conf "$n" job add 7 "$@" || return
	done
}

# tree LEVELS: sets workers, in the order of their ranks
tree()
{
	workers=(w1 w2 w3)
	conf w3 tree set job 7 parent "${addr[root]}" || return
	if [[ $1 == 1 ]]; then
		conf w1 tree set job 7 parent "${addr[root]}" &&
			conf w2 tree set job 7 parent "${addr[root]}" &&
			conf root tree set job 7 child "${addr[w1]}" child "${addr[w2]}" child "${addr[w3]}"
		return
	fi
	workers+=(a0)
	conf w1 tree set job 7 parent "${addr[a0]}" &&
		conf w2 tree set job 7 parent "${addr[a0]}" &&
		conf a0 tree set job 7 parent "${addr[a1]}" workers 1 \
			child "${addr[w1]}" child "${addr[w2]}" &&
		conf a1 tree set job 7 parent "${addr[root]}" child "${addr[a0]}" &&
		conf root tree set job 7 child "${addr[a1]}" child "${addr[w3]}"
}

# sums ROUNDS ELEMENTS: of all workers; what went wrong is shown.
sums()
{
	local n pids=()
	for n in "${workers[@]}"; do
		spawn "$n" "perf-$n" ina-perf --job 7 --rank "${#pids[@]}" --rounds "$1" \
			--elements "$2" --timeout $((120 * _patience))000
		pids+=($!)
	done
	finish "${pids[@]}" && return
	grep -H . "$_dir"/perf-*
	for n in "${nodes[@]}"; do
		conf "$n" tree show job 7
		conf "$n" stats show job 7 | sed "s/^/$n/"
	done
	faults_show
	return 1
}

# near COUNTED OF PPM: if there are enough to tell
near()
{
	local expected=$(($2 * $3 / 1000000))
	((expected < 50 || ($1 > expected / 2 && $1 < expected * 2))) && return
	echo "# $1 of $2 where $3 of a million were to be"
	return 1
}

# cell LEVELS LOSS DUPLICATION CORRUPTION TEXT: parts of a million
cell()
{
	local start seed=$((faults_seed + 100 * cells)) seen lost twice wrong
	cells=$((cells + 1))
	faults seed "$seed" loss "$2" duplicate "$3" corrupt "$4"
	start=${EPOCHREALTIME/./}
	ok "levels $1, loss $2, twice $3, wrong $4 of a million$5" sums "$rounds" "$elements"
	read -r seen lost twice wrong < <(faults_show | awk '
		{ m += $3; l += $5; d += $7; c += $9 } END { print m, l, d, c }')
	echo "# seed $seed, $(((${EPOCHREALTIME/./} - start) / 1000)) ms," \
		"$seen packets, lost $lost, twice $twice, wrong $wrong"
	near "$lost" "$seen" "$2" && near "$twice" $((seen - lost)) "$3" || unlike=$((unlike + 1))
	all_lost=$((all_lost + lost))
	all_twice=$((all_twice + twice))
	all_wrong=$((all_wrong + wrong))
}

# All faults were there, and each corrupted packet was found out.
all_happened()
{
	local n refused=0
	for n in "${nodes[@]}"; do
		refused=$((refused + $(bad_checksums "$n")))
	done
	echo "# lost $all_lost, twice $all_twice, wrong $all_wrong, refused $refused," \
		"cells with other numbers $unlike"
	((all_lost && all_twice && all_wrong && all_wrong == refused && unlike == 0))
}

# overtakes FACTOR: one of that many results at w1, or more, was overtaken
overtakes()
{
	local late all
	late=$(netfault count overtaken "$_bpf/order")
	all=$(netfault count matched "$_bpf/order")
	echo "# $late of $all results were overtaken"
	((late * $1 >= all && late > 0))
}

# matrix LEVELS
matrix()
{
	local order loss twice wrong text before
	for order in off on; do
		reorder $order
		text=
		[[ $order == off ]] || text=", reordered"
		netfault set "$_bpf/order" type RESULT order 1
		for loss in 0 100 1000 10000 50000 200000; do
			before=$all_lost
			# Some packets of each four cells are lost.
			rounds=$((loss == 100 ? 100 : 20))
			for twice in 0 10000; do
				for wrong in 0 1000; do
					cell "$1" $loss $twice $wrong "$text"
				done
			done
			((loss == 0)) || ok "levels $1, loss $loss of a million$text: packets were lost" \
				test "$all_lost" -gt "$before"
		done
	done
	clocked "levels $1: packets did overtake" overtakes 20
	cat "$_dir/case"
}

# control_share: is under a hundredth of the packets that carry elements
control_share()
{
	local n control=0 data=0
	for n in "${nodes[@]}"; do
		local -A now=()
		counters "$n" 7 now
		control=$((control + now[tx_control]))
		data=$((data + now[tx_data] + now[tx_result]))
	done
	echo "# $control control packets for $data of elements"
	((control * 100 < data))
}

all_lost=0 all_twice=0 all_wrong=0 unlike=0
load
switch_add 1500
for n in "${nodes[@]}"; do
	host_add "$n" "${addr[$n]}/24"
	conf "$n" dev add eth0
done
ok "ports take faults" faults_init "${nodes[@]}" || done_testing
ok "and one tells the order" faults_watch w1 || done_testing
for levels in 1 3; do
	job_add capacity $elements fragment 64 group 16 depth 8 deadline $((60 * _patience))000
	tree $levels
	if [[ $INA_SIZE == full ]]; then
		matrix $levels
	else
		cell $levels 10000 10000 10000 ""
		reorder on
		cell $levels 50000 10000 10000 ", reordered"
		reorder off
		((levels == 3)) || cell $levels 200000 0 0 ""
	fi
done
reorder off
ok "each fault happened, and no corrupted packet was taken" all_happened
cat "$_dir/case"

[[ $INA_SIZE == full ]] || done_testing

# What recovery costs, with the groups of every day.
job_add capacity 1000000 deadline 60000
tree 1
faults seed "$faults_seed" loss 1000
ok "large rounds at 0.1 % loss" sums 3 1000000
clocked "control packets are under 1 % of the others" control_share
cat "$_dir/case"
done_testing
