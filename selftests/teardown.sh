#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What goes away under traffic: a process, a namespace, a device, a job, the
# module. Nothing hangs, nobody gets a wrong sum, those who stay are told why.
#
#   w0 w1 --- agg --- root        job 7, workers run without end
# shellcheck disable=SC2317 # ok calls the functions
. "$(dirname "$0")/lib.sh"

elements=$(full 50000 5000)
deadline=$(_patience 10)000

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
	spawn "w$rank" "w$rank.log" ina-perf --job 7 --rank "$rank" --rounds 1000000 \
		--elements "$elements" --timeout 120000 "$@"
}

# traffic OPTION...: both workers, and wait until rounds go through.
traffic()
{
	local before
	before=$(counter root 7 rounds_done)
	run 0 "$@"
	p0=$!
	# Late in each round, so that the other one always waits in one.
	run 1 --delay 300 "$@"
	p1=$!
	wait_for 30 at_least root 7 rounds_done $((before + 3))
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

stop()
{
	kill "$@" 2>/dev/null
	wait "$@" 2>/dev/null
}

attached()
{
	on "$1" inaconf -j job show 7 | grep -q "\"attached\": *$2\b"
}

load
hosts
tree 7

# What a process sees that never calls the kernel.
tree 12
spawn w1 devtest.log devtest "attach 12" pause
other=$!
ok "a round of a worker whose node goes ends on its control page" on w0 devtest "attach 12" \
	"mmap ctl all r" "wait open 20000" "submit 0 10" "round 0 1 0 0" \
	"run inaconf job del 12" "round 0 3 125 7" "ctl state 2"
stop "$other"
for n in root agg w1; do
	on $n inaconf job del 12
done

ok "rounds run through two levels" traffic
started=$SECONDS
kill -9 "$p1"
ok "the other worker is told that 10.0.0.12 left" failed_with "$p0" w0.log "10.0.0.12.*left\|left.*10.0.0.12"
ok "well before the deadline" test $((SECONDS - started)) -lt $((deadline / 1000))
ok "no worker is attached any more" wait_for 10 attached w1 0

ok "both can start again" traffic --continue-on-failure
kill -9 "$p1"
wait "$p1" 2>/dev/null
before=$(counter root 7 rounds_done)
run 1 --continue-on-failure
p1=$!
ok "a restarted worker is taken in and rounds go on" \
	wait_for 60 at_least root 7 rounds_done $((before + 5))
stop "$p0" "$p1"
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
	bash -c "! ip netns exec $(ns w0) inaconf tree set job 7"
ok "no round failed by it" test "$(counter w0 7 rounds_failed)" = "$failed"
stop "$p0" "$p1"

ok "traffic before a namespace is deleted" traffic
ns_del agg
ok "without an aggregator the rounds of its workers fail by the deadline" \
	failed_with "$p0" w0.log "after the deadline\|left"
stop "$p1"
host_add agg 10.0.0.2/24
on agg inaconf job add 7 capacity "$elements" deadline "$deadline"
on agg inaconf tree set job 7 parent 10.0.0.1 child 10.0.0.11 child 10.0.0.12
ok "a new namespace in its place takes over, without a hook" traffic --continue-on-failure

on root ip link del eth0
ok "the hook goes with its device" \
	test "$(on root inaconf -j dev show | tr -d '[:space:]')" = "[]"
ok "rmmod is refused while the device is open" bash -c "! rmmod ina_agg"
stop "$p0" "$p1"

# Packets keep arriving at a node while the module goes.
python3 - "$(ns w0)" <<'PYTHON' &
import os, socket, sys, time
fd = os.open("/var/run/netns/" + sys.argv[1], os.O_RDONLY)
import ctypes
ctypes.CDLL(None).setns(fd, 0)
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
end = time.time() + 20
n = 0
while time.time() < end and n < 200000:
    s.sendto(b"\x01\x05\0\0\0\0\0\x07" + bytes(1060), ("10.0.0.2", 4253))
    n += 1
PYTHON
flood=$!
_pids+=("$flood")
ok "packets arrive" wait_for 20 at_least agg - rx_udp 50
ok "the module unloads while packets arrive" wait_for 20 unload
stop "$flood"
ok "it loads again" load
ok "and unloads" unload
done_testing
