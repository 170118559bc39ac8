#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Trees that change while rounds run: a worker moves to another parent, an
# aggregator restarts or dies, the root is replaced. Rounds go on, or fail on
# everybody with the reason, and no sum is wrong.
#
#   w0, w1 --- a0 --+
#   w2 ------- a1 --+-- root
#   w3 -------------+
# shellcheck disable=SC2317 # ok calls the functions
. "$(dirname "$0")/lib.sh"

deadline=$(full 8 40)
elements=$(full 20000 3000)
more=$(full 10 3)
declare -A addr=([root]=10.0.0.1 [a0]=10.0.0.2 [a1]=10.0.0.3 [w0]=10.0.0.10
	[w1]=10.0.0.11 [w2]=10.0.0.12 [w3]=10.0.0.13)

# job_add NODE
job_add()
{
	on "$1" inaconf job add 7 capacity "$elements" group 64 deadline "${deadline}000"
}

# tree NODE PARENT|- CHILD... [workers=N]
tree()
{
	local node=$1 parent=$2 args=() child
	shift 2
	[[ $parent == - ]] || args+=(parent "${addr[$parent]}")
	for child; do
		case $child in
		workers=*) args+=(workers "${child#*=}") ;;
		*) args+=(child "${addr[$child]}") ;;
		esac
	done
	on "$node" inaconf tree set job 7 "${args[@]}"
}

# go_on: more rounds complete, on every worker that still runs.
go_on()
{
	local w
	local -A before=()
	for w in "${!running[@]}"; do
		before[$w]=$(counter "$w" 7 rounds_done)
	done
	for w in "${!running[@]}"; do
		wait_for "$deadline" reached "$w" 7 rounds_done $((before[$w] + more)) || {
			echo "$w does not go on after ${before[$w]} rounds"
			head -n 3 "$_dir/$w.log"
			tail -n 20 "$_dir/events"
			on "$w" inaconf tree show job 7
			return 1
		}
	done
}

# run WORKER RANK [OPTION...]
declare -A running=()
run()
{
	local w=$1 rank=$2
	shift 2
	spawn "$w" "$w.log" ina-perf --job 7 --rank "$rank" --rounds 1M \
		--elements "$elements" --timeout $((deadline * 2000)) "$@"
	running[$w]=$!
}

# failed_nowhere: no round failed on any node there is.
failed_nowhere()
{
	local n bad=0
	for n; do
		(($(counter "$n" 7 rounds_failed) == 0)) || {
			echo "$n has rounds_failed $(counter "$n" 7 rounds_failed)"
			bad=1
		}
	done
	return "$bad"
}

# stop_all: every worker ends by itself, with right sums only.
stop_all()
{
	local w bad=0
	for w in "${!running[@]}"; do
		# It may have ended by itself.
		kill -INT "${running[$w]}" 2>/dev/null
		wait "${running[$w]}"
		case $? in
		3) echo "$w saw a wrong sum" && bad=1 ;;
		esac
		grep -q ' 0 wrong' "$_dir/$w.log" || {
			echo "$w: $(tail -n 2 "$_dir/$w.log")"
			bad=1
		}
	done
	running=()
	return "$bad"
}

load
switch_add 1500
for n in root a0 a1 w0 w1 w2 w3; do
	host_add $n "${addr[$n]}/24"
	on $n inaconf dev add eth0
	job_add $n
done
tree root - a0 a1 w3
tree a0 root w0 w1
tree a1 root w2
tree w0 a0
tree w1 a0
tree w2 a1
tree w3 root
monitor root events
for i in 0 1 2 3; do
	run w$i $i
done
ok "rounds run" go_on

tree a1 root w2 w0
tree w0 a1
tree a0 root w1
ok "a worker moves to another aggregator in mid-round" go_on
ok "its events tell of the epoch and why" \
	wait_for 5 grep -q 'opened: 4 workers, .*after ' "$_dir/events"

on a1 inaconf job del 7
job_add a1
tree a1 root w2 w0
ok "an aggregator restarts" go_on

# Taken in here before it is let go there, lest an epoch opens without it.
tree a0 root w1 a1
tree a1 a0 w2 w0
tree root - a0 w3
ok "an aggregator moves below another: three levels" go_on

# Without a word: nobody is told that it is gone.
on sw ip link set p-a1 down
tree a0 root w1 w2 w0
tree w2 a0
tree w0 a0
ok "an aggregator dies and its children move up" go_on
ok "no round failed so far" failed_nowhere root a0 w0 w1 w2 w3

tree w3 root w2 workers=1
tree w2 w3
tree a0 root w0 w1
ok "a worker moves below a worker" go_on

stop_all >"$_dir/stopped"
ok "all workers end with right sums" test ! -s "$_dir/stopped"
for i in 0 1 2 3; do
	run w$i $i --continue-on-failure
done
ok "another run, of the same tree" go_on
# Its rounds are lost with it: w0 does not contribute, so there is one.
lost=$(counter w1 7 rounds_failed)
kill -STOP "${running[w0]}"
sleep "$(full 1 5)"
on root inaconf job del 7
job_add root
tree root - a0 w3
ok "the root is replaced: its rounds fail" \
	wait_for 10 reached w1 7 rounds_failed $((lost + 1))
kill -CONT "${running[w0]}"
ok "with the reason" wait_for 10 grep -q 'root\|tree replaced' "$_dir/w1.log"
ok "rounds go on" go_on
ok "no sum was wrong" stop_all
done_testing
