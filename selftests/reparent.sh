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
. "$(dirname "$0")/rounds.sh"

deadline=60
elements=$(full 20000 3000)
more=$(full 10 3)
declare -A addr=([root]=10.0.0.1 [a0]=10.0.0.2 [a1]=10.0.0.3 [w0]=10.0.0.10
	[w1]=10.0.0.11 [w2]=10.0.0.12 [w3]=10.0.0.13)

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
monitor w0 moved
monitor w1 gone
for i in 0 1 2 3; do
	run w$i $i
done
ok "rounds run" go_on

tree a1 root w2 w0
tree w0 a1
tree a0 root w1
ok "a worker moves to another aggregator in mid-round" go_on
ok "it is told its new parent" event moved parent-changed \
	'job 7 has another parent: .*10\.0\.0\.3$' '"job":7,"addr":"10\.0\.0\.3"'
ok "the root's events tell of the epoch and why" event events epoch-opened \
	'opened: 4 workers, .*after ' '.*"reason":"tree",.*"workers":4'

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
# Its rounds are lost with it: w0 is the last in each, so that the others always wait
# in one.
for i in 0 1 2 3; do
	run w$i $i --continue-on-failure --delay $((i ? 0 : $(full 200 800)))
done
ok "another run, of the same tree" go_on
lost=$(counter w1 7 rounds_failed)
on root inaconf job del 7
job_add root
tree root - a0 w3
clocked "the root is replaced: its rounds fail" \
	wait_for 10 at_least w1 7 rounds_failed $((lost + 1))
# below LOG: no round has failed that all are said to have, and only the window is between
below()
{
	[[ $(on w1 inaconf -j job show 7) =~ '"depth":'([0-9]+) ]] || return
	awk -v depth="${BASH_REMATCH[1]}" '/all workers have the rounds below/ {
		failed = all = $0
		sub(/.*round /, "", failed)
		sub(/.*below /, "", all)
		seen = 1
		wrong = wrong || all + 0 > failed + 0 || failed - all >= depth
	} END { exit wrong || !seen }' "$_dir/$1"
}

for w in w1 w2 w3; do
	clocked "$w is told why, and which rounds all have" wait_for 10 grep -Eq \
		'failed: .*(root|tree replaced).*, all workers have the rounds below [1-9]' "$_dir/$w.log" &&
		ok "which is so" below "$w.log"
done
clocked "an event tells it, too" event gone round-failed \
	'failed: (root lost|node removed) .*, all have the rounds below [1-9]' \
	'.*"reason":"(root-lost|tree)",.*all have the rounds below [1-9]'
ok "rounds go on" go_on
ok "no sum was wrong" stop_all

# w0 reads its first result for long. Meanwhile it gets a child, whose contributions go to
# where the results are; a0, which reads, too, and has a child, keeps the window there.
for n in root a0 w0 w1 w2; do
	on $n inaconf job del 7
	job_add $n
done
tree root - a0 w0
tree a0 root w1 workers=1
tree w1 a0
tree w0 root
tree w2 w0
run a0 0 --hold-result "0:$((2 * _patience))"
run w1 1
run w0 2 --hold-result "0:$((4 * _patience))"
ok "a worker and an aggregator read a result" \
	wait_for "$deadline" at_least w0 7 rounds_done 1
tree w0 root w2 workers=1
run w2 3
ok "the worker gets a child meanwhile" wait_for "$deadline" at_least w2 7 rounds_done "$more"
ok "what it reads stays what it was" stop_all
done_testing
