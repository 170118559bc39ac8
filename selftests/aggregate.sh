#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Gradients through trees of real nodes: lengths, fragments, entries, address
# families, MTUs, shapes of the tree, several jobs, stragglers, lost packets.
#
#   w0 .11 --+            +-- a0 .2
#   w1 .12 --+-- switch --+-- a1 .3      10.0.0.0/24, fd00::/64
#   w2 .13 --+            +-- root .1
#   w3 .14 --+
# shellcheck disable=SC2317 # ok calls the functions
. "$(dirname "$0")/lib.sh"

# A small pass has one aggregator and two workers.
nodes=(root a0 w0 w1)
workers="w0 w1"
[[ $INA_SIZE == small ]] || { nodes+=(a1 w2 w3); workers="w0 w1 w2 w3"; }
declare -A number=([root]=1 [a0]=2 [a1]=3 [w0]=11 [w1]=12 [w2]=13 [w3]=14)
net=10.0.0.

# addr NODE: its address in the family in use.
addr()
{
	echo "$net${number[$1]}"
}

conf()
{
	inaconf -n "$(ns "$1")" "${@:2}"
}

# job_del JOB: on all nodes, so that nobody of it sends any more.
job_del()
{
	local n
	[[ ${there[$1]:-} ]] || return
	for n in "${nodes[@]}"; do
		conf "$n" job del "$1"
	done
	there[$1]=
}

# job_add JOB [OPTION...]: on all nodes, in place of what was there.
job_add()
{
	local id=$1 n
	shift
	job_del "$id"
	there[$id]=y
	# Time for a machine that stands still, unless it is said how much.
	[[ " $* " == *" deadline "* ]] || set -- "$@" deadline 60000
	for n in "${nodes[@]}"; do
		conf "$n" job add "$id" "$@" || return
	done
}

# tree JOB NODE [parent=ADDR] [workers=N] CHILD...: the place of a node.
tree()
{
	local id=$1 node=$2 words=() word
	shift 2
	children[$id.$node]=
	for word; do
		if [[ $word == *=* ]]; then
			words+=("${word%=*}" "${word#*=}")
		else
			words+=(child "$(addr "$word")")
			children[$id.$node]+=" $word"
		fi
	done
	conf "$node" tree set job "$id" "${words[@]}"
}

# below JOB PARENT WORKER...: leaves with one worker each.
below()
{
	local id=$1 parent=$2 worker
	shift 2
	for worker; do
		conf "$worker" tree set job "$id" parent "$(addr "$parent")" || return
	done
}

# flat JOB WORKER...
flat()
{
	tree "$1" root "${@:2}" && below "$1" root "${@:2}"
}

two_levels()
{
	local up
	up=parent=$(addr root)
	if [[ $INA_SIZE == small ]]; then
		tree "$1" root a0 && tree "$1" a0 "$up" w0 w1 && below "$1" a0 w0 w1
		return
	fi
	tree "$1" root a0 a1 && tree "$1" a0 "$up" w0 w1 && tree "$1" a1 "$up" w2 w3 &&
		below "$1" a0 w0 w1 && below "$1" a1 w2 w3
}

# start JOB "NODE..." OPTION...: a worker on each, ranks in this order.
start()
{
	local id=$1 n rank=0
	local -a where
	read -ra where <<<"$2"
	shift 2
	for n in "${where[@]}"; do
		spawn "$n" "perf-$id-$n-$rank" ina-perf --job "$id" --rank $rank "$@"
		started+=($!)
		rank=$((rank + 1))
	done
}

# ended: all that were started end well; else what they said is shown.
ended()
{
	local pids=("${started[@]}") n
	started=()
	finish "${pids[@]}" && return
	grep -H . "$_dir"/perf-*
	for n in "${nodes[@]}"; do
		conf "$n" stats show job 7 | sed "s/^/$n/"
	done
	echo "softnet: processed dropped squeezed"
	awk '{ print $1, $2, $3 }' /proc/net/softnet_stat
	return 1
}

# sums JOB "NODE..." ELEMENTS ROUNDS [OPTION...]
sums()
{
	start "$1" "$2" --elements "$3" --rounds "$4" "${@:5}" && ended
}

# Nothing was refused or failed, but for packets that came twice, or late: behind their round or a
# change of the membership.
clean()
{
	local n name bad=0
	for n in "${nodes[@]}"; do
		local -A now=() whole=()
		counters "$n" "$1" now
		counters "$n" - whole
		unset 'now[drop_epoch]' 'now[drop_duplicate]' 'now[drop_stale]' 'now[drop_window]' 'now[drop_instance]' \
			'now[drop_over]' 'whole[drop_job]'
		for name in "${!now[@]}"; do
			[[ $name =~ ^(drop_|tx_drop|tx_route|rounds_failed|count_wrong) ]] || continue
			((now[$name] + ${whole[$name]:-0} > 0)) || continue
			echo "$n $name ${now[$name]} + ${whole[$name]:-0}"
			bad=1
		done
	done
	return "$bad"
}

# hop JOB PARENT: what it and its children sent each other came, each packet: it was taken, or
# is a second one of what a busy receiver asked for too early, or was refused as clean() lets it.
# Who receives is read before who sends, so that what is under way does not hide what was lost.
hop()
{
	local id=$1 parent=$2 child up=0 down=0 twice=0
	local -A first=() last=() below=()
	counters "$parent" "$id" first
	for child in ${children[$id.$parent]}; do
		counters "$child" "$id" below
		up=$((up + below[tx_data]))
		down=$((down + below[rx_result]))
		twice=$((twice + below[drop_duplicate] + below[drop_stale] + below[drop_window] + below[drop_epoch]))
	done
	counters "$parent" "$id" last
	echo "$parent took ${first[rx_data]} of $up, its children took $down of ${last[tx_result]}"
	((up > 0 && up >= first[rx_data] && last[tx_result] >= down &&
		up <= first[rx_data] + first[drop_duplicate] + first[drop_stale] + first[drop_window] +
			first[drop_epoch] &&
		last[tx_result] <= down + twice))
}

# lossless JOB "NODE..." ELEMENTS ROUNDS PARENT...: sums; on the hops of these nothing was
# lost, and all is clean. Nobody leaves until that is seen, so that nothing crosses a
# change of the membership.
lossless()
{
	local id=$1 rounds=$4 bad=0 parent
	start "$id" "$2" --elements "$3" --rounds $((rounds + 1)) --hold-before-round "$rounds:600"
	shift 4
	wait_for 30 at_least root "$id" rounds_done "$rounds" || bad=1
	for parent; do
		wait_for 5 hop "$id" "$parent"
		hop "$id" "$parent" || bad=1
	done
	clean "$id" || bad=1
	halt INT "${started[@]}" || bad=1
	started=()
	((!bad)) || grep -H . "$_dir/perf-$id-"*
	return "$bad"
}

# through ENTRY: it alone has brought packets to a node of each kind.
through()
{
	local n e grown
	for n in root a0 w0; do
		local -A now=()
		counters "$n" - now
		for e in rx_hook rx_udp rx_ip; do
			grown=$((now[$e] - base[$n.$e]))
			echo "$n $e $grown"
			if [[ $e == "$1" ]]; then
				((grown > 0)) || return
			else
				((grown == 0)) || return
			fi
		done
	done
}

# Remember the entries' counters.
mark()
{
	local n e
	for n in root a0 w0; do
		local -A now=()
		counters "$n" - now
		for e in rx_hook rx_udp rx_ip; do
			base[$n.$e]=${now[$e]}
		done
	done
}

hooks()
{
	local n
	for n in "${nodes[@]}"; do
		conf "$n" dev "$1" eth0
	done
}

# by ENTRY WHAT [JOB OPTION...]: two levels, one entry, sums and where they came.
by()
{
	local e=$1 text=$2
	shift 2
	job_del 7
	mark
	job_add 7 capacity 3000 "$@"
	two_levels 7
	ok "two levels $text" sums 7 "$workers" 2500 "$rounds"
	ok "$text is the only entry used" through "$e"
}

# netem at the switch's port to w0: what comes to it gets lost, also that the window moves
# on, so there may be room for one round only.
lossy()
{
	local failed
	on sw tc qdisc add dev p-w0 root netem loss 100% || return
	# The other worker waits for it; itself it may be in no round.
	wait_for 20 at_least w1 7 rounds_failed 1
	failed=$?
	on sw tc qdisc del dev p-w0 root
	((!failed)) || grep -H . "$_dir"/lossy-?
	return "$failed"
}

# refused_here NODE: its parent refuses it for the MTU.
refused_here()
{
	conf "$1" tree show job 7 | has 'refuses: .*does not fit'
}

# never PATTERN FILE...
never()
{
	! grep "$@"
}

declare -A base=() there=() children=()
read -ra parents <<<"root a0 $(full a1 "")"
started=()
rounds=$(full 5 2)
load
switch_add 1500
for n in "${nodes[@]}"; do
	host_add "$n" "10.0.0.${number[$n]}/24" "fd00::${number[$n]}/64"
done
hooks add

capacity=$(full 70000 3000)
job_add 7 capacity "$capacity"
flat 7 w0 w1
for length in $(full "1 255 256 257 1000 65537" 257) "$capacity"; do
	ok "two workers sum $length elements" sums 7 "w0 w1" "$length" "$rounds"
done
job_add 7 capacity "$capacity"
two_levels 7
ok "workers below aggregators: each packet came; none was refused but as repeated or out of date" \
	lossless 7 "$workers" "$capacity" "$rounds" "${parents[@]}"

# Each entry with each family; a small pass has each entry and each family once.
by rx_hook "by hook over IPv4"
net=fd00::
[[ $INA_SIZE == small ]] || by rx_hook "by hook over IPv6"
by rx_ip "by IP protocol 253 over IPv6" encap ip
hooks del
[[ $INA_SIZE == small ]] || by rx_udp "by UDP socket over IPv6"
net=10.0.0.
by rx_udp "by UDP socket over IPv4"
[[ $INA_SIZE == small ]] || by rx_ip "by IP protocol 253 over IPv4" encap ip
hooks add

monitor root events
job_add 7 capacity 3000
two_levels 7
ok "an overflow reaches every worker" sums 7 "$workers" 3000 "$rounds" --pattern overflow
ok "the root counts the rounds that overflowed" at_least root 7 rounds_overflow "$rounds"
ok "and says so" event events overflow 'job 7 round 0 saturated' '"job":7,"round":0'

deadline=2000
[[ ${INA_KIND:-} != debug ]] || deadline=6000
job_add 7 capacity 20000 deadline $deadline
flat 7 w0 w1
for i in 0 1; do
	spawn w$i "lossy-$i" ina-perf --job 7 --rank $i --rounds 1M --inflight 1 \
		--continue-on-failure --timeout $((deadline * 8))
	started+=($!)
done
wait_for 10 at_least w0 7 rounds_done 1
ok "a round over a dead link fails" lossy
before=$(counter w0 7 rounds_done)
ok "rounds complete again over the living link" wait_for 20 at_least w0 7 rounds_done $((before + 3))
ok "no sum was wrong" halt INT "${started[@]}"
started=()
clocked "the worker is told of the deadline" grep -q 'result in time' "$_dir/lossy-1"
clocked "no worker waited for long" \
	never 'not ended within the given time' "$_dir"/lossy-?

job_add 7 capacity 3000
two_levels 7
job_add 8 capacity 3000 port 4254
two_levels 8
job_add 9 capacity 3000
two_levels 9
for id in 7 8 9; do
	start $id "$workers" --elements 3000 --rounds "$((rounds * 4))"
done
ok "three jobs at once, two of them on one port" ended

one=(w0) other=(w1)
[[ $INA_SIZE != full ]] || one=(w0 w1) other=(w2 w3)
tree 7 root "${one[@]}"
below 7 root "${one[@]}"
tree 7 a0 "${other[@]}"
below 7 a0 "${other[@]}"
start 7 "${one[*]}" --elements 3000 --rounds "$((rounds * 4))" --seed 5
start 7 "${other[*]}" --elements 2000 --rounds "$((rounds * 4))" --seed 6
ok "the same job twice, in clusters apart" ended

# No packet is longer than the one that tells who is in an epoch.
flat 7 w0
ok "the last rank there is, below a parent" on w0 devtest "attach 7 0 4095" "wait open 20000"

# The debugging kernel is too slow for the rest.
if [[ $INA_SIZE != full ]]; then
	mtu 9000 "${nodes[@]}"
	job_add 7 capacity 5000 fragment 2048
	two_levels 7
	ok "fragments of 2048 in jumbo frames" sums 7 "$workers" 5000 "$rounds"
	done_testing
fi

# A device that is slower than its sender, however slow the machine: three super-packets wait, the rest is
# held back.
for n in w0 a0; do
	tc -n "$(ns $n)" qdisc add dev eth0 root tbf rate 50mbit burst 100kb limit 1mb
done
job_add 7 capacity "$capacity"
two_levels 7
ok "slow devices hold senders back, and nothing is lost" \
	lossless 7 "$workers" "$capacity" "$rounds" "${parents[@]}"
for n in w0 a0; do
	clocked "$n waited for room in its send buffer" at_least $n 7 tx_blocked 1
	tc -n "$(ns $n)" qdisc del dev eth0 root
done

for fragment in 1 7; do
	job_add 7 capacity 1000 fragment "$fragment"
	two_levels 7
	ok "fragments of $fragment" sums 7 "$workers" 1000 "$rounds"
done

mtu 9000 "${nodes[@]}"
job_add 7 capacity "$capacity" fragment 2048
two_levels 7
ok "fragments of 2048 in jumbo frames: each packet came; none was refused but as repeated or out of date" \
	lossless 7 "$workers" "$capacity" "$rounds" "${parents[@]}"
job_add 7 capacity "$capacity" fragment auto
two_levels 7
ok "fragments by the MTU of the path" sums 7 "$workers" "$capacity" "$rounds"
ok "jumbo frames are filled" has ' fragment 2048 ' < <(conf w0 job show 7)
job_add 7 capacity 3000 fragment auto
monitor a1 narrow
on w3 ip link set eth0 mtu 1500
two_levels 7
start 7 w3 --elements 1 --rounds 1
ok "a child on a narrow path is refused by name" \
	wait_for 10 grep -q "refuses child.*$(addr w3): .*does not fit" "$_dir/narrow"
ok "and is told why" wait_for 10 refused_here w3
halt TERM "${started[@]}" # it has summed nothing
started=()
on w3 ip link set eth0 mtu 9000
job_add 7 capacity 5000 fragment 2048 encap ip
two_levels 7
ok "fragments of 2048 directly in IP" sums 7 "$workers" 5000 "$rounds"

job_add 7 capacity 3000
tree 7 root a0
tree 7 a0 "parent=$(addr root)" w0 workers=1
below 7 a0 w0
ok "a node that is worker and aggregator at once" sums 7 "w0 a0" 3000 "$rounds"
tree 7 root w0 workers=2
below 7 root w0
ok "two workers on the root and one below" sums 7 "w0 root root" 3000 "$rounds"
tree 7 root w0
tree 7 w0 "parent=$(addr root)" workers=2
ok "two workers on one leaf" sums 7 "w0 w0" 3000 "$rounds"

# The contributions of two, to this round and the next, are taken while the third sleeps.
job_add 7 capacity 2560 deadline 60000
flat 7 w0 w1 w2
spawn w0 perf-fast ina-perf --job 7 --rank 0 --rounds 2
started+=($!)
spawn w1 perf-slow ina-perf --job 7 --rank 1 --rounds 2 --hold-before-round 0:10
started+=($!)
spawn w2 perf-third ina-perf --job 7 --rank 2 --rounds 2
started+=($!)
ok "the contributions of the fast workers to two rounds are taken" \
	wait_for 10 at_least root 7 rx_data 40
clocked "before the slow one has sent anything" test "$(counter w1 7 tx_data)" = 0
ok "and the rounds end when it has" ended
done_testing
