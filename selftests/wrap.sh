#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Rounds go past 2^32, of which packets carry the low 32 bits only. A node that has
# used rounds up to there says so when it joins; a new root starts above.
#
#   leaf (10.1.0.1), then w0, w1 --- a0 --- root
# shellcheck disable=SC2317 # ok calls the functions
. "$(dirname "$0")/lib.sh"

floor=4294967286
rounds=30

load
switch_add 1500
host_add root 10.0.0.1/24
host_add a0 10.0.0.2/24
host_add leaf 10.1.0.1/8
host_add w0 10.0.0.10/24
host_add w1 10.0.0.11/24
on root ip route add 10.1.0.0/16 dev eth0
for n in root a0 w0 w1; do
	on $n inaconf dev add eth0
	on $n inaconf job add 7 capacity 3000 deadline 60000
done
on root inaconf tree set job 7 child 10.1.0.1
ok "the first round is below 2^32" on leaf rawnode --parent 10.0.0.1 --first 10.1.0.1 \
	--capacity 3000 --deadline 60000 --elements 1000 --rounds 1 --floor $floor --leave
on a0 inaconf tree set job 7 parent 10.0.0.1 child 10.0.0.10 child 10.0.0.11
on w0 inaconf tree set job 7 parent 10.0.0.2
on w1 inaconf tree set job 7 parent 10.0.0.2
on root inaconf tree set job 7 child 10.0.0.2
pids=()
for i in 0 1; do
	spawn w$i w$i.log ina-perf --job 7 --rank $i --rounds $rounds
	pids+=($!)
done
ok "rounds go past it" finish "${pids[@]}"
cat "$_dir/w0.log"
first=$(sed -n 's/.*from round \([0-9]*\)$/\1/p' "$_dir/w0.log")
ok "they started below" test "${first:-0}" -ge $floor -a "${first:-0}" -lt $((1 << 32))
ok "and every sum is right" grep -q ' 0 wrong' "$_dir/w0.log"
ok "no round failed" test "$(counter w0 7 rounds_failed)" = 0
done_testing
