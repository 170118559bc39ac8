#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Members come and go and trees are set anew: whoever stays finds back by itself,
# and does not wait for a deadline to do so.
#
#   w0 (10.0.0.11) --+
#   w1 (10.0.0.12) --+-- switch -- root (10.0.0.1)
# shellcheck disable=SC2317 # ok calls the functions
. "$(dirname "$0")/lib.sh"

deadline=$((60 * _patience))

# run RANK OPTION...: a worker; PID in $!.
run()
{
	local rank=$1
	shift
	spawn "w$rank" "w$rank.log" ina-perf --job 7 --rank "$rank" --elements 3000 \
		--timeout 600000 "$@"
}

# both OPTION...: both workers to their end.
both()
{
	local p0 p1
	run 0 "$@"
	p0=$!
	run 1 "$@"
	p1=$!
	finish "$p0" "$p1" || { log w0.log; log w1.log; false; }
}

joined()
{
	on root inaconf tree show job 7 | grep -q "$1 *joined"
}

stop()
{
	kill "$@"
	wait "$@"
}

load
star_add capacity 3000 deadline "${deadline}000"

monitor root events
monitor w0 local
run 0 --rounds 5
p0=$!
ok "the first worker joins" wait_for 20 joined 10.0.0.11
ok "its host tells of it" event local worker-attached 'job 7 .*attached' '"job":7,'
ok "and its parent" event events child-joined 'job 7 child .*10\.0\.0\.11 joined: 1 workers' \
	'"job":7,"addr":"10\.0\.0\.11",.*"workers":1'
on root inaconf tree set job 7 child 10.0.0.11 child 10.0.0.12
ok "a root set anew before the first epoch gets its child back" \
	wait_for 20 joined 10.0.0.11
run 1 --rounds 5
p1=$!
ok "and the rounds run when the second comes" finish "$p0" "$p1"
ok "the epoch was told of" event events epoch-opened 'job 7 epoch [0-9]+ opened: 2 workers, from' \
	'"job":7,.*"workers":2'
ok "its host tells that a worker has left" event local worker-left 'job 7 .*left' '"job":7,'
ok "and its parent does" event events child-left 'job 7 child .*10\.0\.0\.11 left: 0 workers' \
	'"job":7,"addr":"10\.0\.0\.11",.*"reason":'

# same_rank: two workers that say they are the same, until one is gone
same_rank()
{
	local p0 p1
	run 0 --rounds 5
	p0=$!
	spawn w1 w1.log ina-perf --job 7 --rank 0 --elements 3000 --timeout 600000 --rounds 5
	p1=$!
	event events rank-twice 'job 7 waits: two workers have the same rank' '"job":7,' || return
	kill "$p1"
	wait "$p1"
	run 1 --rounds 5
	finish "$p0" $!
}

ok "a rank that two workers have is told of, and waited for" same_rank

ok "a run" both --rounds 5
started=$SECONDS
ok "another right after it" both --rounds 5
clocked "which did not wait for a deadline" test $((SECONDS - started)) -lt $((deadline / 2))

run 0 --rounds 1M --continue-on-failure
p0=$!
run 1 --rounds 1M --continue-on-failure
p1=$!
before=$(counter root 7 rounds_done)
ok "rounds run" wait_for 30 at_least root 7 rounds_done $((before + 5))
on root inaconf tree set job 7 child 10.0.0.12 child 10.0.0.11
before=$(counter root 7 rounds_done)
ok "children in another order under a new root go on" \
	wait_for 30 at_least root 7 rounds_done $((before + 5))
# 10.0.0.13 is nobody: no epoch opens meanwhile.
on root inaconf tree set job 7 child 10.0.0.12 child 10.0.0.13
ok "a child that is none any more is told" \
	wait_for 30 bash -c "inaconf -n $(ns w0) tree show job 7 | grep -q unknown-child"
on root inaconf tree set job 7 child 10.0.0.11 child 10.0.0.12
before=$(counter root 7 rounds_done)
ok "and is taken back when it is one again" \
	wait_for 30 at_least root 7 rounds_done $((before + 5))
ok "the first worker ends well" stop "$p0"
ok "the second worker ends well" stop "$p1"
ok "the first worker saw no wrong sum" has " 0 wrong" <<<"$(log w0.log)"
ok "the second worker saw no wrong sum" has " 0 wrong" <<<"$(log w1.log)"
done_testing
