#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A job uses all paths of a fabric (fabric.sh has the drawing): all carry their share, less where
# others send, none where nobody answers; nothing is lost when they fail, and they are used
# again when they are back. Both up and down the tree.
#
#   w (two devices), other --- l1 --- s1 to s4 --- l2 --- root, sink
# shellcheck disable=SC2317 # ok calls the functions
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fabric.sh"

mbit=$(full 8 1)		# of a spine, each way
elements=$(full 50000 10000)
seconds=1			# over which load is measured
patience=$(full 300 4000)	# ms without an answer that a busy host may cause
slack=8000			# ms that it may be late

# job ID: at both ends
job()
{
	local n
	for n in root w; do
		on $n inaconf job add "$1" capacity "$elements" depth 8 deadline 60000 || return
	done
	on root inaconf tree set job "$1" child "${addr[w]}" &&
		on w inaconf tree set job "$1" parent "${addr[root]}"
}

# Rounds without an end; one that fails ends it.
run()
{
	spawn w w.log ina-perf --job 7 --rank 0 --rounds 1M --elements "$elements" --timeout 60000
	worker=$!
}

rounds()
{
	counter root 7 rounds_done
}

# goes_on: rounds end, none has failed
goes_on()
{
	local before
	before=$(rounds)
	wait_for 20 at_least root 7 rounds_done $((before + 3)) && kill -0 "$worker" && return
	log w.log
	on w inaconf path show
	on w inaconf stats show job 7
	return 1
}

# ends: the worker, of whom no round has failed
ends()
{
	kill -INT "$worker" && wait "$worker" && return
	log w.log
	return 1
}

# shares LEAF: thousandths of what it sent to each spine in a while, s1 first; less than 20 KB is none
shares()
{
	local bytes
	read -ra bytes < <(sent "$1")
	sleep "$seconds"
	sent_since "$1" "${bytes[@]}" | awk '{
		for (i = 1; i <= NF; i++) { $i = $i < 20 ? 0 : $i; sum += $i }
		for (i = 1; i <= NF; i++) printf "%d ", sum ? $i * 1000 / sum : 0
		print ""
	}'
}

# carry LEAF LEAST SPINE...: each of these has at least so many thousandths, the others together less
# than 30
carry()
{
	local leaf=$1 least=$2 share i rest=0 bad=0
	shift 2
	read -ra share < <(shares "$leaf")
	for i in "${!spines[@]}"; do
		if [[ " $* " == *" ${spines[i]} "* ]]; then
			((share[i] >= least)) || bad=1
		else
			rest=$((rest + share[i]))
		fi
	done
	echo "$leaf: ${share[*]} thousandths"
	((!bad && rest < 30))
}

# speed: packets of elements that the root takes in a second
speed()
{
	local before since
	since=${EPOCHREALTIME/./} before=$(counter root 7 rx_data)
	sleep "$(full 3 1)"
	echo $((($(counter root 7 rx_data) - before) * 1000000 / (${EPOCHREALTIME/./} - since)))
}

# speed_is LEAST MOST: percent of what one path carried
speed_is()
{
	local now
	now=$(speed)
	echo "$now packets of elements a second, with one path $one"
	((now * 100 >= one * $1 && now * 100 <= one * $2))
}

# carried SECONDS LEAF LEAST SPINE...: they carry that in time, or else what is known of all paths
carried()
{
	local n
	wait_for "$1" carry "${@:2}" && return
	carry "${@:2}"
	for n in w root; do
		on "$n" inaconf path show job 7
	done
	tail -n 8 "$_dir/w-events"
	return 1
}

# others_have SPINE MOST: what of its load is the job's is at most so many thousandths of all the job's
others_have()
{
	local all before others
	before=$(device_sent l2 sink-0)
	read -ra all < <(sent l1)
	sleep "$seconds"
	read -ra all < <(sent_since l1 "${all[@]}")
	others=$((($(device_sent l2 sink-0) - before) / 1000))
	echo "KB by each: ${all[*]}, of others: $others"
	all[${1#s} - 1]=$((all[${1#s} - 1] - others))
	((all[${1#s} - 1] * 1000 <= $2 * (all[0] + all[1] + all[2] + all[3])))
}

# device_sent NODE DEVICE
device_sent()
{
	json "it[0]['stats64']['tx']['bytes']" on "$1" ip -s -j link show "$2"
}

# device_used NODE DEVICE BYTES: it has sent more than that
device_used()
{
	(($(device_sent "$1" "$2") > $3))
}

# device_path_up DEVICE: the path of w by it
device_path_up()
{
	json "any(x.get('dev') == '$1' and x['state'] == 'up' for x in it)" on w inaconf -j path show job 7
}

# refused PATTERN WORD...: inaconf path on w, with this text
refused()
{
	local pattern=$1
	shift
	if on w inaconf path "$@" 2>"$_dir/refusal"; then
		echo "it was not refused"
		return 1
	fi
	has "$pattern" <"$_dir/refusal"
}

# paths_of NODE: what an operator has set
paths_of()
{
	json "[[x.get(key) for key in ('job', 'peer', 'id', 'dev', 'src', 'dst', 'sport', 'weight')] for x in it]" \
		on "$1" inaconf -j path show
}

# path_state NODE STATE COUNT: so many are
path_state()
{
	json "sum(x['state'] == '$2' for x in it) == $3" on "$1" inaconf -j path show job 7 && return
	on "$1" inaconf path show job 7
	return 1
}

# up_again: the last path that had no link is used since then, say the events.
up_again()
{
	awk '/ path-down .* has no link/ { down = $6 }
		/ path-up .* is used again/ && $6 == down { down = ""; up = 1 }
		END { exit !up || down != "" }' "$_dir/w-events"
}

# since NODE: its paths as NODE-paths has them, and as they are
since()
{
	echo "[$(<"$_dir/$1-paths"),$(on "$1" inaconf -j path show job 7)]"
}

# fastest NODE: the path with the shortest way has carried most since NODE-paths was written, and is
# that by the spine of 10 ms
fastest()
{
	json "(lambda more: max(more)[0] * 10 >= sum(sent for sent, rtt in more) * 8 and max(more)[1] < 35000000)(
		[(x['sent'] - sum(y['sent'] for y in it[0] if y['id'] == x['id']), x.get('rtt_ns', 0))
			for x in it[1]])" since "$1"
}

# control_start LEAF: control packets that it sends to a spine from now on, but those that belong to a
# path (PROBE, ECHO) or to an address (JOIN)
control_start()
{
	spawn "$1" "control-$1" tcpdump -i any -Q out -n -l --immediate-mode -tt udp dst port 4253 and \
		'udp[9] != 1 and udp[9] != 5 and udp[9] != 6 and udp[9] != 13 and udp[9] != 14'
	captors+=($!)
	wait_for 10 grep -q 'listening on' "$_dir/control-$1"
}

# control_fastest LEAF: at least 60 of 100 of them took the spine of 10 ms
control_fastest()
{
	awk '$2 ~ /^s[0-9]+$/ { n[$2]++; all++ }
		END {
			for (s in n) printf "%s: %d ", s, n[s]
			print "control packets"
			exit !(all >= 20 && n["s1"] * 100 >= all * 60)
		}' "$_dir/control-$1"
}

# small: rounds that fit a super-packet, and all that NODE-paths, control-LEAF and small.log tell of them
small()
{
	local n leaf worker captors=()
	for n in w root; do
		on "$n" inaconf -j path show job 7 >"$_dir/$n-paths" || return
	done
	for leaf in l1 l2; do
		control_start "$leaf" || return
	done
	spawn w small.log ina-perf --job 7 --rank 0 --rounds "$(full 60 30)" --elements 8 --inflight 1 --json
	worker=$!
	finish "$worker" || { wrong=1; return 1; }
	kill -INT "${captors[@]}"
	wait "${captors[@]}"
}

# took_20ms: half of them, and a little
took_20ms()
{
	json "it['latency_us']['p50'] < 35000" log small.log
}

# small_fastest: all of them did as they should
small_fastest()
{
	small && fastest w && fastest root && took_20ms && control_fastest l1 && control_fastest l2
}

# missed BEFORE SINCE MS: the next path-down after those BEFORE came so soon after the time SINCE
missed()
{
	local ms
	ms=$(missed_after "$1" "$2") || return
	echo "after $ms ms"
	((ms <= $3))
}

# unlinked DEVICE: of w; its path is left before the command that took the link away ends
unlinked()
{
	on w ip link set "$1" down && path_state w link-down 1
}

# few_missed BEFORE: answers may be late on a busy host, but not often
few_missed()
{
	(($(downs) - $1 > 3)) || return 0
	echo "$(($(downs) - $1)) times"
	tail -n 8 "$_dir/w-events"
	on w inaconf path show
	return 1
}

json_start
load
fabric_add 4 1500
fabric_host w 1 2
fabric_host other 1
fabric_host root 2
fabric_host sink 2
for n in w root; do
	on $n inaconf dev add eth0
done
on w inaconf dev add eth1
on w inaconf dev set eth1 rate "${mbit}mbit"
for n in w root; do
	on $n inaconf dev set eth0 rate "$((4 * mbit))mbit"
done
for s in "${spines[@]}"; do
	spine_shape "$s" rate "$mbit"
done
spawn sink sink.log flow sink 9999 0
job 7
ok "paths are given up after 50 ms unless told otherwise" \
	json "it[0]['timeout'] == 50" on w inaconf -j path show job 7
for n in w root; do
	ok "$n is more patient here" on $n inaconf path set job 7 timeout "$patience"
done
first=$(first_spine w root)
mapfile -t more < <(other_spines w root)

# One path, then one by one.
monitor w w-events
run
ok "rounds run on one path" goes_on
timed "it is the only one" carry l1 900 "$first"
[[ ${INA_SIZE:-full} != full ]] || one=$(for i in 1 2 3; do speed; done | sort -n | sed -n 2p)
used=("$first")
for s in "${more[@]}"; do
	paths_add w root 7 "$s"
	paths_add root w 7 "$s"
	used+=("$s")
	timed "a path that is added is used: ${#used[@]}" carried 10 l1 120 "${used[@]}"
done
timed "four paths carry about the same" carried 10 l1 180 "${spines[@]}"
timed "together 3.6 times what one did" one_of 3 speed_is 360 440
timed "results come down by four paths as well" carried 10 l2 180 "${spines[@]}"
ok "the tool says that they are up" wait_for 20 path_state w up 4

# Others send.
if [[ ${INA_SIZE:-full} == full ]]; then
	background other sink s2 $((mbit * 3 / 4)) 600
	other=$!
	clocked "that of a path on which others send is less" wait_for 10 others_have s2 160
	kill "$other"
	clocked "all carry about the same again" carried 20 l1 180 "${spines[@]}"
fi
timed "hardly a path was missed that answers" few_missed 0

# Silence.
count=0
for s in s3 s1; do
	before=$(downs)
	spine_hole "$s"
	start=$(now_ms)
	count=$((count + 1))
	timed "silence of a path is noticed" missed "$before" "$start" $((patience + slack)) && cat "$_dir/case"
	clocked "it is shown" wait_for 10 path_state w silent "$count"
	ok "rounds go on without it" goes_on
done
timed "two paths carry all" carried 10 l1 300 s2 s4
timed "together twice what one did" one_of 3 speed_is 160 220
spine_fill s1 s3
ok "they come back by themselves" wait_for 10 path_state w up 4
timed "and are used again" carried 20 l1 120 "${spines[@]}"

# Links of the fabric: routers know; paths share what is left.
for s in s1 s2 s3; do
	spine_cut "$s"
	ok "rounds go on without the links of $s" goes_on
done
timed "one path carries all" carried 10 l1 900 s4
timed "as much as one did" one_of 3 speed_is 80 110
spine_mend s1 s2 s3
timed "all are used when links are back" carried 20 l1 120 "${spines[@]}"

ok "where routers find another way no path stays missed" wait_for 10 path_state w up 4

# A device of the host itself.
ok "a path by another device" on w inaconf path add job 7 dev eth1 src "${addr[w1]}"
ok "the other end knows its address" on root inaconf path add job 7 peer "${addr[w]}" dst "${addr[w1]}"
before=$(device_sent w eth1)
ok "rounds go on with it" goes_on
ok "it is used" wait_for 20 device_used w eth1 $((before + 20000))
ok "and up" wait_for 20 device_path_up eth1
ok "the link of a device is missed at once" unlinked eth1
timed "that is told" wait_for 10 grep -q ' path-down .* has no link' "$_dir/w-events"
ok "rounds go on without that device" goes_on
on w ip link set eth1 up
on w ip route replace default via "${addr[w1]%.*}.254" dev eth1 table 101
ok "it is used when it has its link again" wait_for 20 path_state w up 5
timed "that is told, too" wait_for 10 up_again

# Bad input, while rounds run.
paths_of w >"$_dir/before"
ok "an unknown device is refused" refused 'nosuch|device' add job 7 dev nosuch
on w ip route add unreachable 192.0.2.0/24
ok "an unreachable address is refused" refused 'reach|route' add job 7 dst 192.0.2.1
ok "an address that is not this machine's is refused" refused 'address|local' add job 7 src 192.0.2.1
sport=$(json "next(x['sport'] for x in it if x['id'] == 1)" on w inaconf -j path show job 7)
ok "a path twice is refused" refused 'already|exists|twice|same' add job 7 sport "$sport"
ok "by its device, too" refused 'already' add job 7 dev eth0 sport "$sport"
ok "an unknown job is refused" refused 'job' add job 99 sport 5555
ok "an unknown peer is refused" refused 'peer|parent|child' add job 7 peer 10.9.9.9 sport 5555
ok "a path that is not there is refused" refused 'path' del job 7 id 7
paths_of w >"$_dir/after"
ok "nothing has changed" diff "$_dir/before" "$_dir/after"
for id in 4 3 2 1; do
	ok "a path is deleted while rounds run: $id" wait_for 20 on w inaconf path del job 7 id $id
done
ok "rounds go on with one" goes_on
ok "removing the last path of a running job is refused" refused 'last' del job 7 id 0
on w inaconf path set job 7 timeout 10000
ok "it is up" wait_for 20 path_state w up 1
spine_hole "${more[0]}"
paths_add w root 7 "${more[0]}"
ok "removing the last that is up is refused" refused 'no other path to the peer is up' del job 7 id 0
ok "one that is not up can be removed" on w inaconf path del job 7 id 1
spine_fill "${more[0]}"
on w inaconf path set job 7 timeout "$patience"
ok "no round has failed, no sum was wrong" ends

# Small rounds take the fastest path, up and down.
for s in "${more[@]}"; do
	paths_add w root 7 "$s"
done
for i in 1 2 3 4; do
	spine_shape "s$i" delay $((10 * i))
done
ok "small rounds end" small
# The first ones learn how long they take, and a busy host may mislead them.
wrong=
[[ ${INA_SIZE:-full} == full ]] && wait_for 30 small_fastest
ok "each of their sums was right" test -z "$wrong"
timed "they take the path of 10 ms" fastest w
timed "their results too" fastest root
timed "half of them take 20 ms and a little" took_20ms
timed "control takes the path of the shortest way" control_fastest l1 && cat "$_dir/case"
timed "also down the tree" control_fastest l2 && cat "$_dir/case"
done_testing
