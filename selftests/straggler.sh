#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Who is slow: a child whose contributions come late is named first, with how
# late it is and what was lost of it, by inaconf and by a tracepoint.
#
#   w0, w1 (loses packets), w2 (late) --- switch --- root
# shellcheck disable=SC2317 # ok calls the functions
. "$(dirname "$0")/lib.sh"

delay=$(full 300 1000)
rounds=$(full 12 4)
deadline=$(full 4000 12000)
trace=/sys/kernel/tracing

# told EXPRESSION [JOB]: true of the children, as the root tells of them in JSON.
told()
{
	json "(lambda it: $1)(it[0]['children'])" on root inaconf -j stats child job "${2:-7}"
}

# job ID OPTION...: on all nodes, with its tree
job()
{
	local n
	for n in root w0 w1 w2; do
		on $n inaconf job add "$@" capacity 5000
	done
	on root inaconf tree set job "$1" child 10.0.0.10 child 10.0.0.11 child 10.0.0.12
	for n in w0 w1 w2; do
		on $n inaconf tree set job "$1" parent 10.0.0.1
	done
}

json_start
load
switch_add 1500
host_add root 10.0.0.1/24
for i in 0 1 2; do
	host_add w$i 10.0.0.1$i/24
done
for n in root w0 w1 w2; do
	on $n inaconf dev add eth0
done
# Many small super-packets, so that some are surely lost.
job 7 group 8 fragment 32 deadline 60000
ok "before a round nobody is late" told "len(it) == 3 and 'late_ns' not in it[0]"
on w1 tc qdisc add dev eth0 root netem loss 20%
# Not to be slowed down by it, or that is who is late.
on w1 inaconf path set job 7 loss-limit 50%
[[ -d $trace/events ]] || mount -t tracefs nodev "$trace"
: >"$trace/trace"
echo 1 >"$trace/events/ina/enable"

# run: some rounds of all workers, of which w2 is late
run()
{
	local i pids=()
	for i in 0 1 2; do
		spawn "w$i" "w$i.log" ina-perf --job 7 --rank "$i" --rounds "$rounds" --inflight 1 \
			--delay $((i == 2 ? delay : 0))
		pids+=($!)
	done
	finish "${pids[@]}"
}

ok "rounds run" run
# A round in which the machine stood still is nothing among many.
late="it[0]['addr'] == '10.0.0.12' and it[0]['late_ns'] > $delay * 500000"
for ((i = 0; i < 4; i++)); do
	! told "$late" >/dev/null 2>&1 || break
	ok "more rounds run" run
done
on root inaconf stats child job 7
clocked "the late child comes first" told "it[0]['addr'] == '10.0.0.12'"
clocked "it is late by about what it slept" told "it[0]['late_ns'] > $delay * 500000"
clocked "the others are less so" told "all(c['late_ns'] < it[0]['late_ns'] for c in it[1:])"
ok "its last contribution came after its first" told "it[0]['last_ns'] >= it[0]['first_ns']"
clocked "the child that loses packets is known" \
	told "max(it, key=lambda c: c['lost'])['addr'] == '10.0.0.11'"
clocked "the table has the late child in its first line" \
	test "$(on root inaconf stats child job 7 | awk 'NR == 3 { print $1 }')" = 10.0.0.12
ok "the tracepoint tells each child and round, when its first and last contribution came" \
	test "$(grep -c 'ina_child_round: job=7 .* first_ns=[0-9]* last_ns=[0-9]* late_ns=[0-9]* ' \
		"$trace/trace")" -ge $((3 * rounds))
lost=$(awk '/ina_child_round: job=7 index=1 / { sub(/.* lost=/, ""); sum += $0 } END { print sum + 0 }' \
	"$trace/trace")
ok "and what was lost in it, not before" \
	told "0 < $lost <= next(c['lost'] for c in it if c['addr'] == '10.0.0.11')"
ended=$(sed -n '/ina_child_round: job=7 index=1 /s/.* first_ns=\([0-9]*\) last_ns=\([0-9]*\) .* lost=/\1, \2, /p' \
	"$trace/trace" | tail -n 1)
ok "netlink tells the same of the last round" told \
	"next((c['first_ns'], c['last_ns'], c['lost_round']) for c in it if c['addr'] == '10.0.0.11') == ($ended)"
ok "and the end of each round" grep -q 'ina_round_end: job=7 .*reason=0' "$trace/trace"

# A round that fails by its deadline, because of one of which nothing came.
on w1 tc qdisc del dev eth0 root
job 8 deadline "$deadline"
for i in 0 1 2; do
	spawn w$i w$i.log ina-perf --job 8 --rank $i --rounds 1 --delay $((i == 2 ? deadline * 8 : 0))
done
ok "a round fails" wait_for 20 grep -q 'ina_round_end: job=8 .*reason=1' "$trace/trace"
clocked "whose contribution never came is late until then" \
	told "it[0]['addr'] == '10.0.0.12' and it[0]['late_ns'] > $deadline * 500000" 8
clocked "the tracepoint tells it, too" \
	grep -q 'ina_child_round: job=8 .*10\.0\.0\.12 round=0 first_ns=[0-9]\{9,\} last_ns=[0-9]\{9,\} late_ns=[0-9]\{9,\} ' "$trace/trace"
echo 0 >"$trace/events/ina/enable"
done_testing
