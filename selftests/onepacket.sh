#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# One particular packet is lost, each kind in its turn: the round ends as it
# would have, long before its deadline.
#
#   w1 .11 --+
#   w2 .12 --+-- a0 .2 --+-- root .1
#   w3 .13 --------------+
#
# The aggregator has a worker, too, except where a round is to fail.
# shellcheck disable=SC2317 # ok calls the functions
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fault/port.sh"

nodes=(root a0 w1 w2 w3)
workers=(w1 w2 w3 a0)
declare -A rank=([w1]=0 [w2]=1 [w3]=2 [a0]=3)
declare -A addr=([root]=10.0.0.1 [a0]=10.0.0.2 [w1]=10.0.0.11 [w2]=10.0.0.12 [w3]=10.0.0.13)
elements=2500 # 40 fragments of 64: two groups and a half
numbered=0
wrong=
limit=$((15 * _patience))
deadline=$((30 * _patience))
short=$((4 * _patience))

conf()
{
	inaconf -n "$(ns "$1")" "${@:2}"
}

# job ID OPTION...: on all nodes, with its tree; those that follow are of this job
job()
{
	local n
	job=$1
	for n in "${nodes[@]}"; do
		conf "$n" job add "$@" capacity $elements fragment 64 group 16
	done
	conf root tree set job "$job" child "${addr[a0]}" child "${addr[w3]}"
	conf a0 tree set job "$job" parent "${addr[root]}" child "${addr[w1]}" child "${addr[w2]}" \
		workers $((${#workers[@]} - 3))
	conf w1 tree set job "$job" parent "${addr[a0]}"
	conf w2 tree set job "$job" parent "${addr[a0]}"
	conf w3 tree set job "$job" parent "${addr[root]}"
}

# start NODE OPTION...: its worker
start()
{
	local n=$1
	shift
	spawn "$n" "perf-$n" ina-perf --job "$job" --timeout $((deadline * 2000)) \
		--rank "${rank[$n]}" "$@"
	started+=($!)
}

# ended PID...: as finish does; that somebody has seen a wrong sum is remembered.
ended()
{
	local pid status rc=0
	for pid; do
		status=0
		wait "$pid" || status=$?
		((status == 0)) || rc=1
		((status != 3)) || wrong=y
	done
	return "$rc"
}

# Those that were started, and what to expect of them.
all_right()
{
	ended "${started[@]}"
}

# w1 and w2 differ. w3 may come to the round when they have gone for it.
all_told()
{
	ended "${started[@]}" && return 1
	grep -q 'failed: .*elements' "$_dir/perf-w1" && grep -q 'failed: .*elements' "$_dir/perf-w2" &&
		grep -q 'failed: .*elements\|a worker left' "$_dir/perf-w3"
}

# w1 sleeps: what becomes of the others.
others()
{
	local rc=0
	ended "${started[@]:1}" || rc=1
	kill "${started[0]}"
	# It was killed.
	wait "${started[0]}" || true
	return "$rc"
}

all_named()
{
	! others && grep -q "${addr[w1]} worker 0" "$_dir/perf-w2" &&
		grep -q "${addr[w1]} worker 0" "$_dir/perf-w3"
}

# ends HITS EXPECTATION PIN...: in time, and so many packets were lost there; 2 if
# the packet to be lost was not sent.
ends()
{
	local hits=$1 expectation=$2 begin=$SECONDS lost
	shift 2
	"$expectation" || return 1
	lost=$(netfault count lost "$@")
	echo "lost $lost of $hits, after $((SECONDS - begin)) of $limit s"
	((SECONDS - begin <= limit)) || return 1
	((lost == hits)) || return 2
}

# attempt HITS EXPECTATION RULE...: a packet that is sent only when others are late
# is waited for in several runs.
attempt()
{
	local hits=$1 expectation=$2 rule words n try rc pins
	shift 2
	for ((try = 0; try < 20; try++)); do
		pins=()
		faults loss 0
		for rule; do
			read -ra words <<<"$rule"
			[[ ${words[1]} == - ]] || words+=(from "${addr[${words[1]}]}")
			pins+=("$(pin "${words[0]}")")
			netfault set "$(pin "${words[0]}")" "${words[@]:2}" || return
		done
		started=()
		for n in "${workers[@]}"; do
			# shellcheck disable=SC2086 # options
			start "$n" ${options[$n]:-$every}
		done
		rc=0
		ends "$hits" "$expectation" "${pins[@]}" || rc=$?
		((rc == 2)) || return "$rc"
	done
	return 1
}

# case_of TEXT HITS EXPECTATION RULE...: a rule is a node, the one that sends to it or -,
# and words of netfault.
# A small pass has every fourth case.
case_of()
{
	local text=$1 n
	shift
	numbered=$((numbered + 1))
	((numbered % $(full 1 4) == 0)) || return 0
	clocked "$text" attempt "$@" && return
	{
		cat "$_dir"/perf-*
		faults_show
		for n in "${nodes[@]}"; do
			conf "$n" tree show job "$job"
			conf "$n" stats show job "$job" | sed "s/^/$n/"
		done
	} | sed 's/^/# /'
}

# lost TEXT RULE...: each rule loses one packet, and the sums are right.
lost()
{
	case_of "lost: $1" $(($# - 1)) all_right "${@:2}"
}

load
switch_add 1500
for n in "${nodes[@]}"; do
	host_add "$n" "${addr[$n]}/24"
	conf "$n" dev add eth0
done
ok "ports take faults" faults_init "${nodes[@]}" || done_testing
job 7 deadline $((deadline * 1000))

# Elements, on the hops below and above the aggregator.
declare -A options=()
for hop in "DATA a0 w1 from a leaf" "DATA root a0 from an aggregator" "RESULT w1 a0 to a leaf" \
	"RESULT a0 root to an aggregator"; do
	read -r type node from who <<<"$hop"
	every="--rounds 3"
	lost "the first $type $who" "$node $from type $type frag 0 nth 1"
	lost "a $type in the middle $who" "$node $from type $type frag 20 nth 1"
	lost "the end of a group of $type $who" "$node $from type $type end 16 nth 1"
	every="--rounds 1"
	lost "the last $type of all $who" "$node $from type $type frag 39 nth 1"
done

# Recovery itself. A sender that has to wait for others asks.
every="--rounds 3"
options[w3]="--rounds 3 --delay 300"
lost "a DONE from a leaf" "a0 w1 type DONE nth 1"
lost "a DONE from an aggregator" "root a0 type DONE nth 1"
unset 'options[w3]'
every="--rounds 1"
# What w3 is asked for comes late, so the aggregator is silent for long before it has the
# last result.
on sw tc qdisc add dev p-w3 root netem delay 300ms
lost "the last contribution and result, and a DONE to a leaf" "root w3 type DATA frag 39 nth 1" \
	"a0 root type RESULT frag 39 nth 1" "w1 a0 type DONE nth 1"
on sw tc qdisc del dev p-w3 root
# The aggregator acknowledges late what its leaf has late.
on sw tc qdisc add dev p-w1 root netem delay 100ms
lost "a DONE to an aggregator" "a0 root type DONE nth 1"
on sw tc qdisc del dev p-w1 root
every="--rounds 3"
lost "a result, and the GROUP_NACK of a leaf" "w1 a0 type RESULT frag 5 nth 1" \
	"a0 w1 type GROUP_NACK nth 1"
lost "a result, and the GROUP_NACK of an aggregator" "a0 root type RESULT frag 5 nth 1" \
	"root a0 type GROUP_NACK nth 1"
lost "a contribution, and the GROUP_NACK to a leaf" "a0 w1 type DATA frag 5 nth 1" \
	"w1 a0 type GROUP_NACK nth 1"
lost "a contribution, and the GROUP_NACK to an aggregator" "root a0 type DATA frag 5 nth 1" \
	"a0 root type GROUP_NACK nth 1"
for hop in "a0 w1 from a leaf" "root a0 from an aggregator" "w1 a0 to a leaf" "a0 root to an aggregator"; do
	read -r node from who <<<"$hop"
	lost "a GROUP_OK $who" "$node $from type GROUP_OK nth 1"
done

# Membership and window.
for hop in "a0 w1 a leaf" "root a0 an aggregator"; do
	read -r node from who <<<"$hop"
	lost "the JOIN of $who" "$node $from type JOIN nth 1"
	lost "the first ACK of $who" "$node $from type ACK nth 1"
	lost "a later ACK of $who" "$node $from type ACK nth 3"
done
for hop in "w1 a leaf" "a0 an aggregator"; do
	read -r node who <<<"$hop"
	lost "the WELCOME of $who" "$node - type WELCOME nth 1"
	lost "the first EPOCH to $who" "$node - type EPOCH nth 1"
	lost "a later EPOCH to $who" "$node - type EPOCH nth 3"
done

# A failure: everybody is told, and why.
# They must not have gone before w3 is in. A third one there could tell them apart when one of
# them has not come yet.
workers=(w1 w2 w3)
job 6 deadline $((deadline * 1000))
options[w1]="--rounds 3 --delay $((1000 * _patience))"
options[w2]="--rounds 3 --elements 1250 --delay $((1000 * _patience))"
for hop in "root a0 from an aggregator" "a0 root to an aggregator" "w1 a0 to a leaf" \
	"w3 root to a leaf of the root"; do
	read -r node from who <<<"$hop"
	case_of "lost: a FAIL $who; all hear of it" 1 all_told "$node $from type FAIL nth 1"
done

# A worker that is late: it is named, or left out.
every="--rounds 1"
options=([w1]="--rounds 1 --delay $((short * 8000))")
job 8 deadline $((short * 1000))
case_of "lost: a LATE from an aggregator; all hear who is late" 1 all_named "root a0 type LATE nth 1"
job 9 deadline $((short * 1000)) on-loss degrade
case_of "lost: an EXCLUDE to an aggregator; the others go on" 1 others "a0 root type EXCLUDE nth 1"

# w1 joins, but misses the epoch, until the root has waited for it and closed that.
missed()
{
	local n
	started=()
	faults loss 0
	netfault set "$(pin w1)" type EPOCH loss 1000000 || return
	for n in "${workers[@]}"; do
		start "$n" --rounds 1M --continue-on-failure
	done
	event events epoch-closed 'job 10 .*deadline' '.*"job":10,.*"reason":"deadline"' || return
	faults loss 0
	wait_for "$limit" at_least root 10 rounds_done 3
}

job 10 deadline $((short * 1000))
monitor root events
clocked "lost: all EPOCHs to a leaf until the root closed the one it missed; then all go on" missed
halt TERM "${started[@]}" || wrong=y
ok "no sum was wrong" test -z "$wrong"
done_testing
