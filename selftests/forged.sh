#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Nodes that lie or are not what they seem: each is refused, and nobody gets a
# wrong sum. The liars are addresses of one namespace that a program speaks for.
#
#   leaves (10.1.0.1, ...) --+
#   w0 (10.0.0.11) ----------+-- switch -- root (10.0.0.1)
# shellcheck disable=SC2317 # ok calls the functions
. "$(dirname "$0")/lib.sh"

# leaves COUNT OPTION...: they run a round each time, 1000 elements unless said.
leaves()
{
	local count=$1
	shift
	on leaves rawnode --parent 10.0.0.1 --first 10.1.0.1 --count "$count" \
		--capacity 2000 --elements 1000 "$@"
}

# says PATTERN COMMAND...: it prints a line that matches, whatever its status.
says()
{
	local pattern=$1
	shift
	"$@" 2>&1 | has "$pattern"
}

# counts COUNTER VALUE: of the job at the root, exactly.
counts()
{
	local value
	value=$(counter root 7 "$1")
	echo "$1 is $value, not $2"
	((value == $2))
}

# right_although COUNTER VALUE OPTION...: 3 leaves, 2 rounds, what is wrong is
# counted and the sums are right.
right_although()
{
	local name=$1 value=$2
	shift 2
	root_of root 7 3 capacity 2000 &&
		leaves 3 --rounds 2 "$@" && counts "$name" "$value"
}

# stop PID: end it, unless it has ended by itself.
stop()
{
	kill "$1" 2>/dev/null
	wait "$1"
}

# child_reason NAME REASON: why its parent refuses it.
child_reason()
{
	on "$1" inaconf -j tree show job 7 | has "\"reason\": *\"$2\""
}

# A real worker beside a leaf that says it holds two workers.
miscount_reaches_worker()
{
	local worker
	on root inaconf job del 7
	on root inaconf job add 7 capacity 2000
	on root inaconf tree set job 7 child 10.0.0.11 child 10.1.0.1
	on w0 inaconf job del 7
	on w0 inaconf job add 7 capacity 2000
	on w0 inaconf tree set job 7 parent 10.0.0.1
	spawn w0 miscount ina-perf --job 7 --rank 1 --elements 1000 --rounds 1
	worker=$!
	says '^failed 0 count 3 2 ' leaves 1 --workers-lie 2
	wait "$worker"
	(($? == 1)) && log miscount | has 'counted 3 of 2 workers'
}

# A leaf says good-bye: the root has no epoch any more and says so.
leave()
{
	root_of root 7 2 capacity 2000 &&
		leaves 2 --leave && wait_for 5 node_state root 7 idle
}

load
switch_add 1500
host_add root 10.0.0.1/24
host_add w0 10.0.0.11/24
leaves_add leaves 10.0.0.2 root 10.1.0.0/16
on root inaconf dev add eth0
on w0 inaconf dev add eth0
monitor root events
root_of root 7 3 capacity 2000

ok "a forged configuration is refused by name" says '^refused hash$' leaves 1 --hash 0x1234
ok "the root tells whom it refuses" \
	wait_for 5 grep -q ' child-refused .*refuses child .*10\.1\.0\.1: job configuration differs' "$_dir/events"
ok "a refusal is counted once for all repetitions" counts joins_refused 1
ok "a path too narrow for a fragment is refused" says '^refused mtu$' leaves 1 --mtu 900
ok "a node that is no child is refused" says '^refused unknown-child$' \
	on leaves rawnode --parent 10.0.0.1 --first 10.1.0.4 --capacity 2000

on w0 inaconf job add 7 capacity 2000
monitor w0 w0-events
on w0 inaconf tree set job 7 parent 10.0.0.1
spawn w0 stranger ina-perf --job 7 --timeout 600000
ok "a real node that is no child knows why" wait_for 10 child_reason w0 unknown-child
ok "its events tell, too" event w0-events refused \
	'job 7 is refused by parent .*10\.0\.0\.1: ' '"job":7,"addr":"10\.0\.0\.1",.*"reason":"unknown-child"'
stop $!
on root inaconf job del 7
on root inaconf job add 7 capacity 3000
on root inaconf tree set job 7 child 10.0.0.11
spawn w0 forged ina-perf --job 7 --timeout 600000
ok "a real node of another configuration knows why" wait_for 10 child_reason w0 hash
stop $!

root_of root 7 3 capacity 2000
ok "a wrong sum of tokens fails the round" says '^failed 0 count 3 3 ::$' leaves 3 --token-lie
ok "the sums that miscount are counted" at_least root 7 count_wrong 1
root_of root 7 3 capacity 2000
ok "a wrong number of workers fails the round and is told" \
	says '^failed 0 count 4 3 ::$' leaves 3 --workers-lie 2
ok "the event tells how many were counted" \
	wait_for 5 grep -q 'round 0 failed: counted 4 of 3 workers' "$_dir/events"
ok "a real worker is told how many were counted" miscount_reaches_worker
# What it still has to say to its parent would be counted, too.
on w0 inaconf job del 7
root_of root 7 3 capacity 2000
ok "a child of another length fails the round and is named" \
	says '^failed 0 length 999 1000 10\.1\.0\.3$' leaves 3 --length-lie
ok "the next round with the same nodes is right" leaves 3

# 3 leaves, 2 rounds of 4 fragments: every one of them twice.
ok "what comes twice is counted once" right_although drop_duplicate 24 --duplicate 100
ok "another order changes nothing" right_although drop_duplicate 0 --reorder
ok "data of an old epoch is dropped" right_although drop_epoch 2 --old-epoch
ok "data outside the window is dropped" right_although drop_window 4 --window-lie
ok "impossible fragments are dropped" right_although drop_fragment 6 --bad-fragments
ok "data of a stranger is dropped" right_although drop_source 2 --from-stranger 10.1.0.9
ok "data of a stranger with a child's index, unchecksummed, is dropped" \
	right_although drop_source 2 --from-stranger 10.1.0.9 --zero-checksum

on w0 inaconf job add 7 capacity 2000
on w0 inaconf tree set job 7 parent 10.0.0.1
on leaves rawnode craft result --parent 10.0.0.11 --first 10.1.0.1 >/dev/null
ok "a result that is not the parent's is dropped" wait_for 5 at_least w0 7 drop_source 1
ok "a child that leaves closes the epoch" leave
ok "the root tells who left" \
	wait_for 5 grep -q 'child .*10\.1\.0\.1 left' "$_dir/events"
done_testing
