#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The queueing discipline ina: installed, set, counted, refused, below others, and taken
# away while packets wait in it. Whoever holds packets back, fq, etf or ina: the gaps
# between super-packets on the wire are those they were sent with, as seen by a capture
# at the far end of the veth. A busy machine is late at times, so that the median and the
# whole tell, not a single gap, and one of five attempts.
#
#   w0 .11 --+
#   w1 .12 --+-- switch -- root .1      10.0.0.0/24
#
#   w0 .1 -- mq0 ------ mq0 -- w1 .2    10.0.1.0/24, four queues
# shellcheck disable=SC2317 # ok calls the functions
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/pair.sh"

nodes=(root w0 w1)
elements=$(full 50000 5000)
rounds=$(full 10 2)
count=$(full 40 20)
gap=$(full 10000 40000) # microseconds

# tree: of a new job on all nodes
tree()
{
	job_fresh "${nodes[*]}" 7 capacity "$elements" deadline 60000 && on root inaconf tree set job 7 child 10.0.0.11 child 10.0.0.12 &&
		on w0 inaconf tree set job 7 parent 10.0.0.1 &&
		on w1 inaconf tree set job 7 parent 10.0.0.1
}

# queue NODE WORD...: tc qdisc there
queue()
{
	local n=$1
	shift
	tc -n "$(ns "$n")" qdisc "$@"
}

# all_show NODE DEV CONDITION: of what inaconf shows, in Python, of the list `it`
all_show()
{
	json "$3" on "$1" inaconf -j qdisc show dev "$2"
}

# shows NODE DEV CONDITION: the same, but of the first, which is `it`
shows()
{
	all_show "$1" "$2" "(lambda it: $3)(it[0])"
}

# counted NODE CONDITION: of what tc shows of ina, in Python, of `it`
counted()
{
	json "(lambda found: len(found) == 1 and (lambda it: $2)(found[0]))([x for x in it if x['kind'] == 'ina'])" \
		tc -n "$(ns "$1")" -s -j qdisc show dev eth0
}

# refused TEXT WORD...: inaconf qdisc on w0 says so, and leaves all as it was.
refused()
{
	local text=$1 before
	shift
	before=$(queue w0 show dev eth0)
	! on w0 inaconf qdisc "$@" >"$_dir/refused" 2>&1 && has "$text" <"$_dir/refused" &&
		test "$before" = "$(queue w0 show dev eth0)"
}

# pacing NUMBER: the module says who holds packets back on w0.
pacing()
{
	on w0 nlclient dev-get dump | has "^pacing=$1\$"
}

# device CONDITION: of what inaconf tells of eth0 of w0, in Python, of `it`
device()
{
	json "(lambda it: $1)(it[0])" on w0 inaconf -j dev show eth0
}

# send CLOCK ADDRESS COUNT AHEAD_US GAP_US: from w0
send()
{
	on w0 txtime "$@"
}

# capture PORT: super-packets that come to the switch from w0, each a line with its time.
capture()
{
	spawn sw wire tcpdump -i p-w0 -tt -n -l --immediate-mode -s 64 \
		src host 10.0.0.11 and udp dst port "$1"
	captor=$!
	wait_for 10 grep -q 'listening on' "$_dir/wire"
}

# gaps: of what was captured: how many, the median gap and the time of all, microseconds
gaps()
{
	kill -INT "$captor"
	wait "$captor"
	awk '/^[0-9]+\.[0-9]+ IP/ {
		split($1, at, ".")
		now = at[1] % 100000 * 1e6 + at[2]
		if (n++)
			print "gap", now - last
		else
			first = now
		last = now
	}
	END { print "all", n, last - first }' "$_dir/wire" >"$_dir/gaps"
	local median
	median=$(sed -n 's/^gap //p' "$_dir/gaps" | sort -n | awk '{ v[NR] = $1 } END { print int(v[int((NR + 1) / 2)]) }')
	read -r _ came whole < <(grep '^all' "$_dir/gaps")
	whole=${whole%.*}
	echo "$came super-packets, median gap $median us, $whole us in all" | tee -a "$_dir/figures"
	gap_median=$median
}

# spread CLOCK: super-packets with departure times come when they should.
spread()
{
	local want=$(((count - 1) * gap))
	spreads=$((spreads + 1))
	capture 9
	send "$1" 10.0.0.12 "$count" 100000 "$gap"
	sleep $((_patience + 1))
	gaps
	# etf drops what is late.
	((came >= count * 3 / 4 && came <= count)) &&
		((gap_median >= gap * 7 / 10 && gap_median <= gap * 13 / 10)) &&
		((whole >= want * 7 / 10 && whole <= want * 13 / 10))
}

# burst CLOCK: they come at once.
burst()
{
	capture 9
	send "$1" 10.0.0.12 "$count" 100000 "$gap"
	sleep 1
	gaps
	((came == count && gap_median < gap / 4 && whole < (count - 1) * gap / 2))
}

# static: neighbours that need not be asked for: what waits for their answer would not
# wait in the queue, and etf drops who asks. Nor does IPv6 send anything of its own.
static()
{
	local n to
	for n in "${nodes[@]}"; do
		on "$n" sysctl -qw net.ipv6.conf.eth0.disable_ipv6=1
		for to in 10.0.0.1 10.0.0.11 10.0.0.12; do
			on "$n" ip neigh replace "$to" nud permanent dev eth0 lladdr \
				"$(printf '02:00:%02x:%02x:%02x:%02x' ${to//./ })"
		done
	done
}

# paced RATE_MBIT: what the job sends comes at this rate, by what was captured.
paced()
{
	local rate=$1 bytes
	on w0 inaconf dev set eth0 rate "${rate}mbit" || return
	tree || return
	capture 4253
	sums || { wrong=1; return 1; }
	gaps
	bytes=$(awk '/ length [0-9]+$/ { sum += $NF } END { print sum }' "$_dir/wire")
	echo "$bytes bytes in $whole us at $rate Mbit/s"
	((bytes * 8 <= whole * rate * 12 / 10)) && smooth "$rate"
}

# smooth RATE_MBIT: of what was captured, but control: what comes in a row is followed by a gap of the
# time that takes at this rate. At no time more has come than was due, by 30 ms: a super-packet is 1 ms,
# who was late makes up for 4 ms, and the rest is what a busy machine adds. A round is 80 ms.
smooth()
{
	local most
	most=$(awk -v rate="$1" '/ length [0-9]+$/ && $NF > 500 {
		split($1, at, ".")
		now = at[1] % 100000 * 1e6 + at[2]
		if (n++)
			ahead -= (now - last) * rate / 8
		ahead = (ahead > 0 ? ahead : 0) + $NF
		most = ahead > most ? ahead : most
		last = now
	}
	END { print int(most * 8 / rate) }' "$_dir/wire")
	echo "at $1 Mbit/s at most $most us at once" | tee -a "$_dir/figures"
	((most > 0 && most <= 30000))
}

# waits NODE N: so many packets, at least, wait in its queue.
waits()
{
	shows "$1" eth0 "it['qlen'] >= $2"
}

# all_wait N: so many packets wait in each queueing discipline of w0.
all_wait()
{
	json "{x['qlen'] for x in it} == {$1}" tc -n "$(ns w0)" -s -j qdisc show dev eth0
}

spreads=0 wrong=
json_start
load
switch_add 1500
host_add root 10.0.0.1/24
host_add w0 10.0.0.11/24
host_add w1 10.0.0.12/24
for n in "${nodes[@]}"; do
	on "$n" inaconf dev add eth0
done
static
ip link add mq0 netns "$(ns w0)" numtxqueues 4 numrxqueues 4 type veth \
	peer name mq0 netns "$(ns w1)" address 02:00:0a:00:01:02 numtxqueues 4 numrxqueues 4
on w0 ip addr add 10.0.1.1/24 dev mq0
on w1 ip addr add 10.0.1.2/24 dev mq0
on w0 ip link set mq0 up
on w1 ip link set mq0 up
on w0 ip neigh add 10.0.1.2 nud permanent dev mq0 lladdr 02:00:0a:00:01:02

ok "the sender alone holds packets back" pacing 0
ok "tc installs it" queue w0 add dev eth0 root ina
ok "the module knows that it is there" pacing 3
ok "it has its default options" shows w0 eth0 "it['limit'] == 10000 and it['horizon'] == 1000 and
	it['parent'] == 'root' and it['dev'] == 'eth0'"
tree
ok "sums of packets that went through it" sums
ok "tc shows them in its statistics" counted w0 "it['packets'] > 20 and it['bytes'] > 10000 and it['drops'] == 0"
ok "so does inaconf, super-packets by the packet" shows w0 eth0 "it['packets'] > 20 and
	it['bytes'] > 10000 and it['drops'] == 0 and 0 < it['paced'] + it['unpaced'] < it['packets']"
ok "nothing waits any more" wait_for 5 counted w0 "it['qlen'] == 0 and it['backlog'] == 0"

ok "inaconf changes it" on w0 inaconf qdisc change eth0 limit 5 horizon 3000
ok "it shows so" shows w0 eth0 "it['limit'] == 5 and it['horizon'] == 3000"
ok "what is not said stays" on w0 inaconf qdisc change eth0 limit 6
ok "as it was" shows w0 eth0 "it['limit'] == 6 and it['horizon'] == 3000"
ok "a limit of 0 is refused" refused "With a limit of 0 nothing would leave: give at least 1 packet" change eth0 limit 0
ok "a horizon of 0 is refused" refused "The horizon is out of range: give 1 to 60000 milliseconds" change eth0 horizon 0
ok "a horizon of hours is refused" refused "The horizon is out of range: give 1 to 60000 milliseconds" change eth0 horizon 60001
ok "a second one is refused" refused "Exclusivity flag on" add eth0
ok "one that is not there is not changed" refused "no queueing discipline ina" change lo limit 5
ok "nor deleted" refused "Error: .*qdisc" del lo
ok "an unknown device is refused" refused "Cannot find device" add eth7
ok "options stay" shows w0 eth0 "it['limit'] == 6 and it['horizon'] == 3000"

# Nobody else sends, and none leaves before all are sent, also if that takes seconds.
for n in "${nodes[@]}"; do
	on "$n" inaconf job del 7
done
ok "more than the limit are sent" send monotonic 10.0.0.12 10 20000000 0
clocked "the limit waits, the others are dropped" shows w0 eth0 "it['drops'] == 4"
clocked "those that are to leave too late leave at the horizon" wait_for 5 \
	shows w0 eth0 "it['qlen'] == 0 and it['backlog'] == 0 and it['capped'] == 6 and it['paced'] >= 6"
ok "inaconf deletes it" on w0 inaconf qdisc del eth0
ok "it is gone" pacing 0
ok "inaconf installs it with options" on w0 inaconf qdisc add eth0 limit 20 horizon 60000
ok "many wait" send monotonic 10.0.0.12 15 50000000 0
ok "a lower limit" on w0 inaconf qdisc change eth0 limit 3
ok "drops them" shows w0 eth0 "it['qlen'] == 3 and it['drops'] == 12"
ok "packets that wait go with it" on w0 inaconf qdisc del eth0

ok "below tbf" queue w0 add dev eth0 root handle 1: tbf rate 100mbit burst 70k latency 100ms
ok "it is installed" queue w0 add dev eth0 parent 1:1 ina
tree
ok "sums" sums
ok "nothing waits, neither in it nor above" wait_for 5 all_wait 0
ok "inaconf changes it there" on w0 inaconf qdisc change eth0 limit 77 horizon 60000
ok "it shows so, and where" shows w0 eth0 "it['limit'] == 77 and it['parent'] == '1:1' and
	it['paced'] + it['unpaced'] > 0"
ok "many wait there" send monotonic 10.0.0.12 60 50000000 0
ok "a lower limit drops them" on w0 inaconf qdisc change eth0 limit 2
ok "tbf above counts the same" all_wait 2
queue w0 del dev eth0 root

ok "below mq" queue w0 add dev mq0 root handle 1: mq
for i in 1 2 3 4; do
	queue w0 add dev mq0 parent "1:$i" ina
done
on w0 inaconf dev add mq0
ok "in all queues" all_show w0 mq0 "len(it) == 4"
ok "the module knows that it is in all" pacing 3
ok "inaconf changes all" on w0 inaconf qdisc change mq0 limit 9
ok "they show so" all_show w0 mq0 "all(x['limit'] == 9 for x in it)"
ok "packets go through them" send monotonic 10.0.1.2 8 0 1000
ok "all of them" wait_for 5 all_show w0 mq0 "sum(x['paced'] for x in it) == 8"
queue w0 replace dev mq0 parent 1:2 pfifo
ok "not if one is another" not pacing 3
queue w0 replace dev mq0 parent 1:2 etf clockid CLOCK_TAI delta 500000
ok "but one etf is enough" pacing 2
queue w0 del dev mq0 root
on w0 inaconf dev del mq0

clocked "gaps without a queueing discipline: none" one_of 5 burst none
ok "it is installed again" queue w0 add dev eth0 root ina
clocked "gaps with ina" one_of 5 spread monotonic
ok "none came before its time, and none was dropped" wait_for 5 shows w0 eth0 \
	"it['paced'] == $((count * spreads)) and it['drops'] == 0 and it['capped'] == 0"
queue w0 del dev eth0 root
ok "fq is installed" queue w0 add dev eth0 root fq
ok "the module knows fq" pacing 1
clocked "gaps with fq" one_of 5 spread monotonic
tree
ok "sums with fq" sums
queue w0 del dev eth0 root
ok "etf is installed" queue w0 add dev eth0 root etf clockid CLOCK_TAI delta 50000000
ok "the module knows etf" pacing 2
clocked "gaps with etf" one_of 5 spread tai
ok "inaconf warns of what the module cannot use" device "it['etf_delta_ns'] == 50000000 and it['etf_clock'] == 'TAI' and
	not it['etf_deadline_mode'] and
	' set its delta below 1000000' in it['warning'].partition('etf of eth0 ')[2]"
queue w0 del dev eth0 root
queue w0 add dev eth0 root etf clockid CLOCK_TAI delta 300000 deadline_mode
ok "and of that" device "it['etf_deadline_mode'] and 'turn its deadline_mode off' in it['warning']"
ok "also without JSON" test "$(on w0 inaconf dev show eth0 2>&1 | grep -c -e ' pacing etf delta 300000 clock TAI deadline_mode$' \
	-e '^Warning: etf of eth0 does not fit')" = 2
queue w0 del dev eth0 root
queue w0 add dev eth0 root etf clockid CLOCK_TAI delta 900000
ok "not of what fits" device "it['etf_delta_ns'] == 900000 and 'warning' not in it"
tree
ok "sums with etf, which drops what has no departure time" sums
queue w0 del dev eth0 root

for kind in ina fq; do
	queue w0 replace dev eth0 root "$kind"
	clocked "the job is paced by $kind" one_of 5 paced 20
done
ok "each sum was right, then" test -z "$wrong"
on w0 inaconf dev set eth0 rate auto
queue w0 del dev eth0 root

ok "the module is in use by a queueing discipline" queue w1 add dev eth0 root ina
for n in "${nodes[@]}"; do
	on "$n" inaconf job del 7
	on "$n" inaconf dev del eth0
done
ok "so it cannot go" not unload
queue w1 del dev eth0 root

# Devices go with packets in them, and while others are being sent.
for n in "${nodes[@]}"; do
	on "$n" inaconf qdisc add eth0 horizon 60000
done
tree
start --rounds 1M --continue-on-failure
ok "rounds run" wait_for 10 at_least w0 7 rounds_done 2
send monotonic 10.0.0.1 50 50000000 0
ok "packets wait" waits w0 50
ok "their device is deleted" on w0 ip link del eth0
ok "nobody has seen a wrong sum" halt KILL "${started[0]}"
send monotonic 10.0.1.2 10 0 0
ok "a namespace is deleted under traffic" ns_del w1
ok "nor has the other one" halt KILL "${started[1]}"
ns_del w0
ns_del root
sed 's/^/# on the wire: /' "$_dir/figures"
ok "the module goes" wait_for 20 unload
done_testing
