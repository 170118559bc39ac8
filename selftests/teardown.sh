#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What goes away under traffic: a process, a namespace, a device, a job, the
# module. Nothing hangs, nobody gets a wrong sum, those who stay are told why.
#
#   w0 w1 --- agg --- root        job 7 or 13, workers run without end
#
#   leaves (10.1.0.1, ...) --+-- w0: ingress hook
#                            +-- agg: UDP socket     job 20, each its root
#                            +-- w1: IP protocol 253
# shellcheck disable=SC2317 # ok calls the functions
. "$(dirname "$0")/lib.sh"

elements=$(full 50000 5000)
deadline=$((60 * _patience))000
job=7
declare -A addr=([w0]=10.0.0.11 [agg]=10.0.0.2 [w1]=10.0.0.12)
declare -A entry=([w0]=rx_hook [agg]=rx_udp [w1]=rx_ip)

# tree JOB: on hosts that exist
tree()
{
	local n
	for n in root agg w0 w1; do
		on $n inaconf job add "$1" capacity "$elements" deadline "$deadline"
	done
	on root inaconf tree set job "$1" child 10.0.0.2
	on agg inaconf tree set job "$1" parent 10.0.0.1 child 10.0.0.11 child 10.0.0.12
	on w0 inaconf tree set job "$1" parent 10.0.0.2
	on w1 inaconf tree set job "$1" parent 10.0.0.2
}

hosts()
{
	switch_add 1500
	host_add root 10.0.0.1/24
	host_add agg 10.0.0.2/24
	host_add w0 10.0.0.11/24
	host_add w1 10.0.0.12/24
	for n in root agg w0 w1; do
		on $n inaconf dev add eth0
	done
}

# run RANK OPTION...: a worker that goes on until it is stopped; PID in $!.
run()
{
	local rank=$1
	shift
	spawn "w$rank" "w$rank.log" ina-perf --job "$job" --rank "$rank" --rounds 1000000 \
		--elements "$elements" --timeout 120000 "$@"
}

# traffic OPTION...: both workers, and wait until rounds go through.
traffic()
{
	local before
	before=$(counter root "$job" rounds_done)
	run 0 "$@"
	p0=$!
	# Late in each round, so that the other one always waits in one.
	run 1 --delay 300 "$@"
	p1=$!
	wait_for 30 at_least root "$job" rounds_done $((before + 3))
}

ended()
{
	! kill -0 "$1" 2>/dev/null
}

# failed_with PID LOG WORDS: it ends by itself, with status 1 and these words.
failed_with()
{
	local rc=0
	wait_for 30 ended "$1" || return 1
	wait "$1" || rc=$?
	log "$2"
	[[ $rc == 1 ]] && log "$2" | grep -q "$3"
}

attached()
{
	on "$1" inaconf -j job show 7 | grep -q "\"attached\": *$2\b"
}

# flood: contributions without end to a node for each entry, from children that a program
# speaks for.
flood()
{
	local n encap
	floods=()
	on w0 inaconf dev add eth0 || return
	for n in "${!entry[@]}"; do
		encap=udp
		[[ $n != w1 ]] || encap=ip
		root_of "$n" 20 2 capacity 20000 encap "$encap" deadline 60000 || return
		spawn leaves "raw-$n" rawnode --job 20 --parent "${addr[$n]}" --first 10.1.0.1 \
			--count 2 --encap "$encap" --deadline 60000 --elements 20000 --rounds 1000000 --window 64
		floods+=($!)
	done
}

# accepted NODE: contributions, and nothing came but by its entry.
accepted()
{
	local e
	local -A mine=() whole=()
	counters "$1" 20 mine
	counters "$1" - whole
	for e in rx_hook rx_udp rx_ip; do
		echo "$1: $e ${whole[$e]}, rx_data ${mine[rx_data]}"
		[[ $e == "${entry[$1]}" ]] || ((whole[$e] == 0)) || return
	done
	((mine[rx_data] >= 500 && whole[${entry[$1]}] > 0))
}

# unload_flooded: while contributions still come to all of them
unload_flooded()
{
	local n was
	for n in "${!entry[@]}"; do
		was=$(counter "$n" 20 rx_data)
		wait_for 5 at_least "$n" 20 rx_data $((was + 1)) || return
	done
	unload
}

load
hosts
tree 7

# What a process sees that never calls the kernel.
tree 12
spawn w1 devtest.log devtest "attach 12" pause
other=$!
ok "a round of a worker whose node goes ends on its control page" on w0 devtest "attach 12" \
	"mmap ctl all r" "wait open 60000" "submit 0 10" "round 0 1 0 0" \
	"run inaconf job del 12" "round 0 3 125 7" "ctl state 2"
halt TERM "$other"
for n in root agg w1; do
	on $n inaconf job del 12
done

ok "rounds run through two levels" traffic
started=$SECONDS
ok "a worker is killed that has seen no wrong sum" halt KILL "$p1"
ok "the other worker is told that 10.0.0.12 left" failed_with "$p0" w0.log "10.0.0.12.*left\|left.*10.0.0.12"
clocked "at once, not by the deadline" test $((SECONDS - started)) -lt $((30 * _patience))
ok "no worker is attached any more" wait_for 10 attached w1 0

ok "both can start again" traffic --continue-on-failure
ok "it is killed again, without a wrong sum" halt KILL "$p1"
before=$(counter root 7 rounds_done)
run 1 --continue-on-failure
p1=$!
ok "a restarted worker is taken in and rounds go on" \
	wait_for 60 at_least root 7 rounds_done $((before + 5))
halt TERM "$p0" "$p1"
ok "the restarted worker saw no wrong sum" grep -q " 0 wrong" "$_dir/w1.log"
ok "the surviving worker saw no wrong sum" grep -q " 0 wrong" "$_dir/w0.log"

monitor root events
ok "traffic before a job is deleted" traffic
failed=$(counter w0 7 rounds_failed)
on agg inaconf job del 7
before=$(counter root 7 rounds_done)
on agg inaconf job add 7 capacity "$elements" deadline "$deadline"
on agg inaconf tree set job 7 parent 10.0.0.1 child 10.0.0.11 child 10.0.0.12
ok "a new aggregator in its place takes over, rounds go on" \
	wait_for 30 at_least root 7 rounds_done $((before + 3)) || {
	log w0.log
	log w1.log
	log events
	on agg inaconf tree show job 7
	on root inaconf tree show job 7
}
ok "a node with attached workers does not become the root" \
	not on w0 inaconf tree set job 7
ok "no round failed by it" test "$(counter w0 7 rounds_failed)" = "$failed"
ok "nor was a sum wrong" halt TERM "$p0" "$p1"

# A short deadline: the aggregator, and then the root, is not to be reached any more.
job=13
deadline=$((6 * _patience))000
tree $job
clocked "traffic before a namespace is deleted" traffic
ns_del agg
# A worker whose rounds had all ended hears nothing of the others, and cannot begin another.
cut_off='no epoch is open: the deadline passed (10\.0\.0\.2)'
ok "without an aggregator the rounds of its workers fail by the deadline" \
	failed_with "$p0" w0.log "result in time\|$cut_off\|left"
ok "and no sum is wrong" halt TERM "$p1"
host_add agg 10.0.0.2/24
on agg inaconf job add "$job" capacity "$elements" deadline "$deadline"
on agg inaconf tree set job "$job" parent 10.0.0.1 child 10.0.0.11 child 10.0.0.12
ok "a new namespace in its place takes over, without a hook" traffic --continue-on-failure

ok "rmmod is refused while the device is open" bash -c "! rmmod ina_agg"
ok "no sum is wrong under the new one" halt TERM "$p0" "$p1"

clocked "traffic before a device is deleted" traffic
on root ip link del eth0
ok "the hook goes with its device" \
	test "$(on root inaconf -j dev show | tr -d '[:space:]')" = "[]"
# It may be the root: what all have is told of a round that ran.
why="result in time.* rounds below [0-9]\|$cut_off\|left"
ok "a worker that waits is told why its round fails" failed_with "$p0" w0.log "$why"
ok "so is the other one" failed_with "$p1" w1.log "$why"
ok "the module unloads when they have ended" wait_for 20 unload

# The module goes while all it has to do is in full swing.
leaves_add leaves 10.0.0.3 w0 10.1.0.0/16
on agg ip route add 10.1.0.0/16 via 10.0.0.3
on w1 ip route add 10.1.0.0/16 via 10.0.0.3
for ((i = 0; i < $(full 3 1); i++)); do
	ok "it loads again" load
	ok "children send to three nodes" flood
	for n in "${!entry[@]}"; do
		wait_for 20 accepted "$n"
		ok "$n accepts contributions, all by ${entry[$n]}" accepted "$n"
	done
	ok "the module unloads while they come" unload_flooded
	halt TERM "${floods[@]}"
	ok "no child got a wrong sum" bash -c "! grep -H ^wrong $_dir/raw-*"
done
done_testing
