#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Rates are negotiated: what children are granted fits their parent's device, is shared anew when one
# starts or ends, is what really leaves their devices, is cut by congestion, whether the
# switch drops or marks, and comes back.
#
#   w1 .11 (6 Mbit/s)  --+
#   w2 .12 (12 Mbit/s) --+-- switch --- root .1 (24 Mbit/s)
#   w3 .13 (24 Mbit/s) --+
# shellcheck disable=SC2317 # ok calls the functions
. "$(dirname "$0")/lib.sh"

declare -A mbit=([w1]=6 [w2]=12 [w3]=24 [root]=24)
elements=$(full 300000 30000)	# 4 rounds in flight: at full size w2 alone takes 3 s for them, w1 6 s
small=$(full 60000 6000)	# of rounds that are many
hold=$(full 2 4)		# seconds w3 comes later
here=$(dirname "$0")

# grants CHECK...: of what watch has recorded, see rates.py
grants()
{
	python3 "$here/rates.py" "$_dir/grants" "$_dir/bytes" "$@"
}

# watch_start: grants as the root tells them, and bytes of the devices, over time
watch_start()
{
	linkload 50 "$(ns w1)/eth0" "$(ns w2)/eth0" "$(ns w3)/eth0" >"$_dir/bytes" &
	_pids+=($!)
	watchers=($!)
	: >"$_dir/grants"
	while :; do
		cut -d ' ' -f 1 /proc/uptime
		on root inaconf -j tree show job 7
	done >"$_dir/grants" &
	_pids+=($!)
	watchers+=($!)
}

watch_stop()
{
	kill "${watchers[@]}"
	wait "${watchers[@]}" 2>/dev/null # bash tells that it was killed
}

# job ID OPTION...: on all nodes, with its tree
job()
{
	local n
	for n in root w1 w2 w3; do
		on "$n" inaconf job add "$@" capacity "$elements" depth 4 deadline 120000 || return
	done
	on root inaconf tree set job "$1" child 10.0.0.11 child 10.0.0.12 child 10.0.0.13 || return
	for n in w1 w2 w3; do
		on "$n" inaconf tree set job "$1" parent 10.0.0.1 || return
	done
}

# run ROUNDS ELEMENTS [OPTION...]: of all workers, the last one with these options
run()
{
	local i rounds=$1 elements=$2 last
	shift 2
	pids=()
	for i in 1 2 3; do
		last=()
		((i < 3)) || last=("$@")
		spawn "w$i" "w$i.log" ina-perf --job 7 --rank $((i - 1)) --rounds "$rounds" \
			--elements "$elements" --timeout 120000 "${last[@]}"
		pids+=($!)
	done
}

# sums: all workers have ended with right ones
sums()
{
	finish "${pids[@]}" && return
	log w1.log
	log w2.log
	log w3.log
	return 1
}

# refused PATTERN COMMAND...: with this text and nothing changed
refused()
{
	local pattern=$1 before
	shift
	before=$(on root inaconf -j dev show)
	if "$@" 2>"$_dir/refusal"; then
		echo "it was not refused"
		return 1
	fi
	has "$pattern" <"$_dir/refusal" && [[ $(on root inaconf -j dev show) == "$before" ]]
}

# record: one worker comes later than the others; what is granted and sent meanwhile
record()
{
	local rc=0
	watch_start
	run 4 "$elements" --hold-before-round "0:$hold"
	sums || rc=1
	watch_stop
	return "$rc"
}

# told: in the record there is a time for everything that is looked for
told()
{
	grants reached 6 12 - && grants reached 6 9 9 && grants reached 6 - 18 && grants alone && grants wire 50 10
}

# recorded: anew while the machine stands still at times; what must never be ends it
recorded()
{
	local i
	for ((i = 0; i < $(full 4 1); i++)); do
		record || return
		grants bound 24 6 12 24 && grants above 10 || return 0
		! told || return 0
	done
}

# kbit CHILD: what its device sends, over a second
kbit()
{
	local before start
	before=$(sent "$1") start=${EPOCHREALTIME/./}
	sleep 1
	echo $((($(sent "$1") - before) * 8000 / (${EPOCHREALTIME/./} - start)))
}

# knows_usual: what w1 sends, if the machine let it: not next to nothing, nor more than it can
knows_usual()
{
	usual=$(kbit w1)
	echo "w1 sends $usual kbit/s"
	((usual > 1000 && usual <= 6600))
}

sent()
{
	json "it[0]['stats64']['tx']['bytes']" on "$1" ip -s -j link show eth0
}

# sends CHILD LEAST MOST: kbit/s
sends()
{
	local now
	now=$(kbit "$1")
	echo "$1 sends $now kbit/s"
	((now >= $2 && now <= $3))
}

# dropped: packets that the switch has taken for the root, and those of them it has dropped
dropped()
{
	json "'%d %d' % (it[0]['packets'] + it[0]['drops'], it[0]['drops'])" \
		tc -n "$(ns sw)" -s -j qdisc show dev p-root
}

# fits MOST: over 2 s w1 sends at most so much, kbit/s, and of all packets less than a tenth is dropped
fits()
{
	local before after was start kbit
	read -ra before < <(dropped)
	was=$(sent w1) start=${EPOCHREALTIME/./}
	sleep 2
	kbit=$((($(sent w1) - was) * 8000 / (${EPOCHREALTIME/./} - start)))
	read -ra after < <(dropped)
	after=($((after[0] - before[0])) $((after[1] - before[1])))
	echo "w1 sends $kbit kbit/s, ${after[1]} of ${after[0]} packets are dropped" >>"$_dir/fits"
	((kbit > 0 && kbit <= $1 && after[1] * 10 < after[0]))
}

# passes COUNT: so many packets have gone through the queue of the switch, which is new
passes()
{
	local taken
	read -r taken _ < <(dropped)
	((taken >= $1))
}

# slows KB: w1 sends less than that, a second, because of what it has heard, and few packets wait
slows()
{
	json "'rate' in it[0] and it[0]['rate'] < $1 * 1000" on w1 inaconf -j path show job 7 &&
		json "all(x['qlen'] < 60 for x in it)" tc -n "$(ns sw)" -s -j qdisc show dev p-root
}

# settles MOST: in the end that holds
settles()
{
	wait_for 20 fits "$1" && return
	log fits
	return 1
}

json_start
load
switch_add 1500
host_add root 10.0.0.1/24
for i in 1 2 3; do
	host_add w$i 10.0.0.1$i/24
done
for n in root w1 w2 w3; do
	on $n inaconf dev add eth0
done

ok "a device has a rate of its own" on root inaconf dev set eth0 rate 24mbit
ok "it is shown" json "it[0]['rate'] == 3000000" on root inaconf -j dev show
ok "a rate of zero is refused" refused 'rate|zero|0' on root inaconf dev set eth0 rate 0
ok "a rate above the link's is refused" refused 'link|speed|more' on root inaconf dev set eth0 rate 900gbit
ok "an unknown device is refused" refused 'nosuch|device' on root inaconf dev set nosuch rate 1gbit
ok "a device that ina does not have is refused" refused 'dev|device' on root inaconf dev set lo rate 1mbit
ok "the rate of the link is taken up again" on root inaconf dev set eth0 rate auto
ok "and shown" json "it[0]['auto'] and it[0]['rate'] == it[0]['speed']" on root inaconf -j dev show
for n in root w1 w2 w3; do
	on $n inaconf dev set eth0 rate "${mbit[$n]}mbit"
done

job 7
ok "sums are right, one worker later than the others" recorded
grants show
clocked "each child has its grant" grants had
ok "never more than the parent can take (Iq. 1) or the child can send" grants bound 24 6 12 24
timed "while one is late the others have all they can send" grants reached 6 12 -
timed "when it starts, what is there is shared anew, the least first" grants reached 6 9 9
timed "what one has that ends goes to the others" grants reached 6 - 18
timed "one that is alone has all" grants alone
timed "what leaves a device is what is granted, and not more" grants wire 50 10

# The switch takes half of what all send, then all again. A busy host sends less than it may. Without
# cuts more than half would be dropped.
run 1M "$small"
ok "rounds run" wait_for 20 at_least root 7 rounds_done 8
usual=$(kbit w1)
timed "w1 sends what it can" wait_for 10 knows_usual
# Rounds go on, also where the machine stood still for the whole of it.
((usual >= 1000)) || usual=1000
tc -n "$(ns sw)" qdisc add dev p-root root tbf rate "$((usual * 3 / 2 + 100))kbit" burst 5000 limit 24000
timed "congestion cuts rates until little is lost" settles $((usual * 6 / 10)) && tail -n 1 "$_dir/fits"
ok "rounds go on" wait_for 20 at_least root 7 rounds_done "$(($(counter root 7 rounds_done) + 3))"
tc -n "$(ns sw)" qdisc del dev p-root root
timed "they come back" wait_for 30 sends w1 $((usual * 8 / 10)) 6600

# The switch marks what has waited there for 5 ms, and drops nothing: fq below tbf knows the time.
# What waits in a queue that is replaced is lost, so at first nothing waits.
tc -n "$(ns sw)" -batch - <<-END
	qdisc add dev p-root root handle 1: tbf rate 1gbit burst 70000 limit 1000000
	qdisc add dev p-root parent 1:1 fq limit 20000 flow_limit 20000 nopacing ce_threshold 5ms
END
ok "packets go through another queue" wait_for 20 passes 100
was=$(dropped | cut -d ' ' -f 2)
tc -n "$(ns sw)" qdisc change dev p-root root handle 1: tbf rate "$((usual * 3 / 2 + 100))kbit" burst 5000 limit 1000000
timed "marks are set" wait_for 20 at_least root 7 rx_marked 1
timed "they cut rates until hardly anything waits" wait_for 20 slows 600
ok "rounds go on with them" wait_for 20 at_least root 7 rounds_done "$(($(counter root 7 rounds_done) + 3))"
timed "the switch dropped nothing for that" test "$(dropped | cut -d ' ' -f 2)" = "$was"
tc -n "$(ns sw)" qdisc del dev p-root root
timed "they come back" wait_for 30 sends w1 $((usual * 8 / 10)) 6600
ok "no sum was wrong" halt INT "${pids[@]}"
done_testing
