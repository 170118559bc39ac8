#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# One root and up to 256 children, each an address of one namespace that a
# program speaks for, or 16 that are nodes: every element of every sum is
# checked by every child.
#
#   leaves (10.1.0.1, 10.1.0.2, ...) --+-- switch -- root (10.0.0.1)
#   n1 ... n16 (10.0.0.11, ...) -------+
# shellcheck disable=SC2317 # ok calls the functions
. "$(dirname "$0")/lib.sh"

limit=$((120 * _patience))

# run_children N ELEMENTS ROUNDS [OPTION...]
run_children()
{
	local n=$1 elements=$2 rounds=$3
	shift 3
	root_of root 7 "$n" capacity 20000 deadline "${limit}000" &&
		on leaves rawnode --parent 10.0.0.1 --first 10.1.0.1 --count "$n" --capacity 20000 \
			--deadline "${limit}000" --elements "$elements" --rounds "$rounds" \
			--timeout "$limit" "$@" &&
		on root inaconf -j stats show job 7 all |
			has "\"rounds_done\": *${rounds}[,}]" '"rounds_failed": *0[,}]' \
				'"tx_drop": *0[,}]' '"count_wrong": *0[,}]'
}

# run_slow ...: run_children behind a link for which 64 packets of sums and as many of control,
# or a few more, wait
run_slow()
{
	on root tc qdisc add dev eth0 root handle 1: tbf rate 2mbit burst 3000 limit 1mb &&
		on root tc qdisc add dev eth0 parent 1: pfifo limit 200 &&
		run_children "$@"
}

# run_nodes N ELEMENTS ROUNDS: as many namespaces, each with a node and a worker
run_nodes()
{
	local i elements=$2 pids=() children=()
	on root inaconf job del 7
	on root inaconf job add 7 capacity "$elements" deadline "${limit}000" || return
	for ((i = 1; i <= $1; i++)); do
		host_add "n$i" "10.0.0.$((10 + i))/24"
		on "n$i" inaconf dev add eth0 &&
			on "n$i" inaconf job add 7 capacity "$elements" deadline "${limit}000" &&
			on "n$i" inaconf tree set job 7 parent 10.0.0.1 || return
		children+=(child "10.0.0.$((10 + i))")
	done
	on root inaconf tree set job 7 "${children[@]}" || return
	for ((i = 1; i <= $1; i++)); do
		spawn "n$i" "n$i.log" ina-perf --job 7 --rank $((i - 1)) --rounds "$3" --workers-expected "$1" \
			--timeout "${limit}000"
		pids+=($!)
	done
	finish "${pids[@]}" || { grep -H . "$_dir"/n*.log; return 1; }
	on root inaconf -j stats show job 7 all |
		has "\"rounds_done\": *${3}[,}]" '"rounds_failed": *0[,}]' '"count_wrong": *0[,}]'
}

# dropped: packets for which the queue of a processor had no room, of those that came from a veth
dropped()
{
	local n sum=0
	while read -r _ n _; do
		sum=$((sum + 16#$n))
	done </proc/net/softnet_stat
	echo "$sum"
}

before=$(dropped)
load
switch_add 1500
host_add root 10.0.0.1/24
leaves_add leaves 10.0.0.2 root 10.1.0.0/16
on root inaconf dev add eth0

elements=$(full 5000 600)
rounds=$(full 3 1)
for n in $(full "1 2 17 33 64 256" "1 33 256"); do
	ok "$n children: every sum is exact" run_children "$n" "$elements" "$rounds"
done
ok "33 children send super-packets" run_children 33 "$elements" "$rounds" --gso
ok "17 children in any order, a third of it twice" \
	run_children 17 "$elements" "$rounds" --reorder --duplicate 30
ok "256 children behind a slow link: its short queue is never full" run_slow 256 256 1
on root tc qdisc del dev eth0 root
ok "nor that of a processor" test "$(dropped)" = "$before"
[[ $INA_SIZE == full ]] || done_testing

ok "2 children send the largest round" run_children 2 20000 "$rounds"
ok "3 children send a single element" run_children 3 1 "$rounds"
ok "a child too many is refused by name" \
	test "$(root_of root 7 2 capacity 20000 && on leaves rawnode --parent 10.0.0.1 \
		--first 10.1.0.3 --capacity 20000)" = "refused unknown-child"
ok "16 children that are nodes with a worker each: every sum is exact" run_nodes 16 3000 "$rounds"
done_testing
