# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# Rounds of job 7 that run while its tree changes. Sourced behind lib.sh by a test that
# has: addr[NODE], elements, deadline (seconds), and more, the rounds that show that it
# goes on.
# shellcheck disable=SC2154,SC2317 # the test has them; ok calls the functions

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
		wait_for "$deadline" at_least "$w" 7 rounds_done $((before[$w] + more)) || {
			echo "$w does not go on after ${before[$w]} rounds"
			head -n 3 "$_dir/$w.log"
			tail -n 20 "$_dir/events"
			on "$w" inaconf tree show job 7
			return 1
		}
	done
}

# run WORKER RANK [OPTION...]: the first has a break before each round, so the others always wait in one.
declare -A running=()
run()
{
	local w=$1 rank=$2
	shift 2
	spawn "$w" "$w.log" ina-perf --job 7 --rank "$rank" --rounds 1M \
		--elements "$elements" --timeout $((deadline * 2000)) --delay $((rank ? 0 : _delay)) "$@"
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
