#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What negotiated rates are good for, beside TCP in the same run: the capacity of the way drops in
# mid-transfer [XAgg Fig. 21]; workers with different links, one of them late [XAgg Fig. 1]; how long
# it takes until a worker knows its rate.
#
#   drop:    w --- l1 --- s1 (30, then 10 Mbit/s) --- l2 --- root
#   unequal: w1, w2 (half rate), w3 (late) --- agg --+
#            w4 -------------------------------------+-- ps, links to a switch; agg has one for
#            each side, and routes what w1, w2 and w3 send to ps themselves
#
# rates.py reads the lines `run EXPERIMENT SYSTEM REPEAT NAME FIGURE...`, `load EXPERIMENT-SYSTEM-REPEAT ...` (of
# linkload: what the worker and what the spine's link have sent; what ps was sent) and `mark ...
# MICROSECONDS TEXT`.
# options: limit=1200
# shellcheck disable=SC2317 # ok calls the functions
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../fabric.sh"

wide=30 narrow=10			# Mbit/s of the way
repeats=${BENCH_REPEATS:-$(full 3 1)}
stage=${BENCH_STAGE:-$(full 4 3)}	# seconds before and after the drop
unit=${BENCH_UNIT:-16}			# Mbit/s of a link of the unequal workers
elements=50000
depth=16
gradient=$((unit * 950000 / 32))	# elements that a link takes a second for, with headers
workers=(w1 w2 w3 w4)
trace=/sys/kernel/tracing

start_ina()
{
	plant 7 || return
	spawn w out ina-perf --job 7 --rank 0 --rounds 1M --elements "$elements" --timeout 60000 --json
	ends=($!)
}

stop_ina()
{
	kill -INT "${ends[@]}"
	finish "${ends[@]}" || { log out && return 1; }
	log out | jq -e 'select(.failed == 0 and .wrong_elements == 0)' >/dev/null
}

start_tcp()
{
	spawn root out-root tcpsum node 1 "$elements"
	ends=($!)
	spawn w out tcpsum worker "${addr[root]}" 0 1 "$elements" 1000000 "$depth"
	ends+=($!)
}

stop_tcp()
{
	kill "${ends[@]}"
	wait "${ends[@]}" 2>/dev/null # bash tells that they were killed
	! grep wrong "$_dir/out"
}

# dropped: packets the way had no room for, and those it passed
dropped()
{
	tc -n "$(ns l1)" -s qdisc show dev s1 | awk '/Sent/ { sub(",", "", $7); print $7, $4; exit }'
}

# drop SYSTEM REPEAT: tc waits for its words, so that they have their effect at once
drop()
{
	local name=drop-$1-$2 tc lost then_lost
	spine_shape s1 rate "$wide" queue 128 || return
	load_start load 10 w/eth0 l1/s1
	"start_$1" || return
	sleep "$stage"
	exec {tc}> >(exec tc -n "$(ns l1)" -batch -)
	sleep 0.5
	read -ra lost < <(dropped)
	echo "mark $name $(uptime_us) drop"
	echo "qdisc change dev s1 root handle 1: tbf rate ${narrow}mbit burst 16kb limit 128kb" >&"$tc"
	exec {tc}>&-
	sleep "$stage"
	read -ra then_lost < <(dropped)
	echo "mark $name $(uptime_us) end"
	"stop_$1" || return
	load_stop
	sed "s/^/load $name /" "$_dir/load"
	echo "run drop $1 $2 lost $((then_lost[0] - lost[0])) of" \
		$((then_lost[0] - lost[0] + then_lost[1] - lost[1]))
}

# limit NODE DEVICE MBIT: what it sends
limit()
{
	tc -n "$(ns "$1")" qdisc replace dev "$2" root tbf rate "$3mbit" burst 16kb limit 4mb
}

# The other device of agg, towards ps.
uplink()
{
	ip link add eth1 netns "$(ns agg)" mtu 1500 type veth peer name p-agg1 netns "$(ns sw)" mtu 1500 &&
		on sw ip link set p-agg1 master bridge0 up && on agg ip link set eth1 up &&
		on agg ip addr add 10.0.0.2/24 dev eth1 &&
		on agg sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.all.arp_announce=2 &&
		on ps ip route add 10.0.1.0/24 via 10.0.0.2
}

# All links have a rate, both ways: a device's what it sends, a port's of the switch what a
# device is sent, where several send to it.
unequal_setup()
{
	local n
	switch_add 1500
	host_add ps 10.0.0.1/24 && host_add w4 10.0.0.14/24 && host_add agg 10.0.1.2/24 && uplink || return
	for n in w1 w2 w3; do
		host_add "$n" "10.0.1.1${n#w}/24" && on "$n" ip route add default via 10.0.1.2 || return
	done
	for n in ps agg "${workers[@]}"; do
		limit "$n" eth0 "$unit" && on "$n" inaconf dev add eth0 && on "$n" inaconf dev set eth0 rate "${unit}mbit" || return
	done
	limit w2 eth0 $((unit / 2)) && on w2 inaconf dev set eth0 rate "$((unit / 2))mbit" &&
		limit agg eth1 "$unit" && on agg inaconf dev add eth1 && on agg inaconf dev set eth1 rate "${unit}mbit" &&
		limit sw p-ps "$unit" && limit sw p-agg "$unit" && echo 1 >"$trace/events/ina/ina_grant/enable"
}

# unequal_plant NODE...: of the job, besides the root and workers; the tree
unequal_plant()
{
	local n
	on agg inaconf job del 8 2>/dev/null # there may be none
	job_fresh "ps $* ${workers[*]}" 8 capacity "$gradient" depth 1 deadline 100000 || return
	if (($#)); then
		on ps inaconf tree set job 8 child 10.0.0.2 child 10.0.0.14 &&
			on agg inaconf tree set job 8 parent 10.0.0.1 child 10.0.1.11 child 10.0.1.12 child 10.0.1.13
	else
		on ps inaconf tree set job 8 child 10.0.1.11 child 10.0.1.12 child 10.0.1.13 child 10.0.0.14
	fi || return
	for n in w1 w2 w3; do
		on "$n" inaconf tree set job 8 parent "10.0.0.$(($# ? 2 : 1))" || return
	done
	on w4 inaconf tree set job 8 parent 10.0.0.1
}

# seconds: of the slowest worker
unequal_ina()
{
	local n pids=() hold
	unequal_plant "$@" || return
	for n in "${workers[@]}"; do
		hold=()
		[[ $n != w3 ]] || hold=(--hold-before-round 0:2)
		spawn "$n" "out-$n" ina-perf --job 8 --rank ${#pids[@]} --rounds 1 --elements "$gradient" \
			--timeout 60000 --json "${hold[@]}"
		pids+=($!)
	done
	finish "${pids[@]}" || { grep -H . "$_dir"/out-w* && return 1; }
	for n in "${workers[@]}"; do
		log "out-$n" | jq 'select(.completed == 1 and .wrong_elements == 0).seconds'
	done
}

unequal_tcp()
{
	local n pids=()
	spawn ps out-ps tcpsum node 4 "$gradient"
	pids+=($!)
	for n in "${workers[@]}"; do
		spawn "$n" "out-$n" tcpsum worker 10.0.0.1 $((${#pids[@]} - 1)) 4 "$gradient" 1 1 - \
			"$([[ $n == w3 ]] && echo 2 || echo 0)"
		pids+=($!)
	done
	finish "${pids[@]}" || { grep -H . "$_dir"/out-* && return 1; }
	for n in "${workers[@]}"; do
		log "out-$n"
	done
}

# grants REPEAT: how long all nodes waited for each answer to what they asked for, in nanoseconds; the
# first of a node is number 1
grants()
{
	sed -n "s/.* ina_grant: job=8 number=\([0-9]*\) .* ns=\([0-9]*\)/run grant ina $1 \1 \2/p" "$trace/trace"
}

# unequal SYSTEM REPEAT COMMAND...
unequal()
{
	local system=$1 repeat=$2
	shift 2
	echo >"$trace/trace"
	load_start load 10 sw/p-ps
	"$@" >"$_dir/seconds" || { cat "$_dir/seconds" && return 1; }
	awk -v run="$system $repeat" '{ n++; if ($1 > s) s = $1 }
		END { if (n != 4) exit 1; printf "run unequal %s seconds %.3f\n", run, s }' "$_dir/seconds" &&
		grants "$repeat" && load_stop && sed "s/^/load unequal-$system-$repeat /" "$_dir/load"
}

setup()
{
	# With it, cubic ends its slow start early and takes seconds to fill the way.
	echo 0 >/sys/module/tcp_cubic/parameters/hystart &&
		load && fabric_add 1 1500 && fabric_host w 1 && fabric_host root 2 &&
		on w inaconf dev add eth0 && on root inaconf dev add eth0 &&
		on w inaconf dev set eth0 rate "${wide}mbit" && on root inaconf dev set eth0 rate "${wide}mbit"
}

ok "the fabric is there" setup || done_testing
echo "host kernel $(uname -r) $(uname -m), $(nproc) CPUs${BENCH_MACHINE:+ of $BENCH_MACHINE}, $(date -u +%F)"
echo "capacity $wide $narrow"
echo "unit $unit $gradient"
for ((r = 1; r <= repeats; r++)); do
	for system in ina tcp; do
		ok "the way gets narrow: $system, $r ($SECONDS s)" drop $system "$r" && cat "$_dir/case"
	done
done
on w inaconf job del 7
on root inaconf job del 7
ok "unequal workers are there ($SECONDS s)" unequal_setup || done_testing
for ((r = 1; r <= repeats; r++)); do
	ok "unequal workers: ina, with an aggregator, $r ($SECONDS s)" unequal ina "$r" unequal_ina agg && cat "$_dir/case"
	ok "unequal workers: ina, without, $r ($SECONDS s)" unequal direct "$r" unequal_ina && cat "$_dir/case"
	ok "unequal workers: TCP, $r ($SECONDS s)" unequal tcp "$r" unequal_tcp && cat "$_dir/case"
done
done_testing
