#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Goodput against loss, ina beside kernel TCP: the same all-reduce over the same
# links, one after the other. Each link has a rate, a delay and a loss of its own in
# each direction, by netem at both ends.
#
#   w1 .11 ---+
#   w2 .12 ---+--- agg .2 --- root .1
#   w3 .13 ---+
#   w4 .14 ---+
#
# A line `run ...` per measurement is what report.py reads.
# options: limit=3000
# shellcheck disable=SC2317 # ok calls the functions
. "$(dirname "$0")/../lib.sh"

rate=4			# Mbit/s of a link, each way; the CPUs must be able to do far more
delays=(40 2)		# ms, one way
losses=(0 0.01 0.1 1 5)	# percent, each way of each link
repeats=$(full 2 1)
elements=40000
inflight=16
job=(capacity "$elements" fragment 357 depth "$inflight" group 64 deadline 100000)

workers=(w1 w2 w3 w4)
ends=() # both of each link: "NODE DEVICE"

# link NODE DEVICE ADDRESS NODE DEVICE ADDRESS: neighbours know each other, so that
# no lost ARP packet counts. No device makes or takes a super-packet.
link()
{
	local mac=02:00:00:00:00 n=${#ends[@]}
	ip link add "$2" netns "$(ns "$1")" address "$mac:$(printf %02x "$n")" type veth \
		peer name "$5" netns "$(ns "$4")" address "$mac:$(printf %02x $((n + 1)))" &&
		link_end "$1" "$2" "$3" "$6" "$mac:$(printf %02x $((n + 1)))" &&
		link_end "$4" "$5" "$6" "$3" "$mac:$(printf %02x "$n")"
}

# link_end NODE DEVICE ADDRESS PEER MAC
link_end()
{
	on "$1" ethtool -K "$2" gso off tso off gro off tx-udp-segmentation off >/dev/null &&
		on "$1" ip link set "$2" up gso_max_segs 1 &&
		on "$1" ip addr add "$3" peer "$4" dev "$2" &&
		on "$1" ip neigh add "$4" lladdr "$5" dev "$2" nud permanent &&
		on "$1" inaconf dev add "$2" &&
		ends+=("$1 $2")
}

# of_ends COMMAND: tc with that command in place of each end's name, as one batch a node
of_ends()
{
	local n
	for n in root agg "${workers[@]}"; do
		printf '%s\n' "${ends[@]}" | awk -v node="$n" -v command="$1" '
			$1 == node { line = command; gsub("DEV", $2, line); print line }' |
			tc -n "$(ns "$n")" -force -s -batch - || return
	done
}

# shape DELAY LOSS: every end anew, with queues that do not overflow
shape()
{
	# At first there is none.
	of_ends "qdisc del dev DEV root" 2>/dev/null
	of_ends "qdisc add dev DEV root netem rate ${rate}mbit delay $1ms loss $2% limit 20000"
}

# passed: bytes and packets that passed netem, and those it lost, of all ends
passed()
{
	of_ends "qdisc show dev DEV" |
		awk '/Sent/ { b += $2; p += $4; sub(",", "", $7); l += $7 } END { print b, p, l }'
}

# rounds_at LOSS: fewer where TCP is slow; the same for both
rounds_at()
{
	case $1 in
	5) full 16 16 ;;
	1) full 24 16 ;;
	*) full 120 16 ;;
	esac
}

# busy: jiffies of all CPUs that were not idle, and all
busy()
{
	awk '/^cpu / { for (i = 2; i <= 9; i++) all += $i; print all - $5 - $6, all }' /proc/stat
}

# A tree without a past, as TCP has: a job keeps its last rounds for who may come back.
plant()
{
	local n
	job_fresh "root agg ${workers[*]}" 7 "${job[@]}" || return
	for n in "${workers[@]}"; do
		on "$n" inaconf tree set job 7 parent 10.0.0.2 || return
	done
	on root inaconf tree set job 7 child 10.0.0.2 &&
		on agg inaconf tree set job 7 parent 10.0.0.1 \
			child 10.0.0.11 child 10.0.0.12 child 10.0.0.13 child 10.0.0.14
}

ina()
{
	local w pids=()
	plant || return
	for w in "${workers[@]}"; do
		spawn "$w" "out-$w" ina-perf --job 7 --rank "${#pids[@]}" --rounds "$rounds" \
			--elements "$elements" --inflight "$inflight" --timeout 60000 --json
		pids+=($!)
	done
	finish "${pids[@]}" || return
	for w in "${workers[@]}"; do
		log "out-$w" | jq "select(.completed == $rounds and .wrong_elements == 0).seconds"
	done
}

# tcp CC
tcp()
{
	local w pids=()
	spawn root out-root tcpsum node 1 "$elements" - "$1"
	pids+=($!)
	spawn agg out-agg tcpsum node ${#workers[@]} "$elements" 10.0.0.1 "$1"
	pids+=($!)
	for w in "${workers[@]}"; do
		spawn "$w" "out-$w" tcpsum worker 10.0.0.2 $((${#pids[@]} - 2)) ${#workers[@]} \
			"$elements" "$rounds" "$inflight" "$1"
		pids+=($!)
	done
	finish "${pids[@]}" || return
	for w in "${workers[@]}"; do
		log "out-$w"
	done
}

# measure DELAY LOSS REPEAT SYSTEM COMMAND...: the slowest worker counts.
measure()
{
	local delay=$1 loss=$2 repeat=$3 system=$4 cpu all rounds
	shift 4
	rounds=$(rounds_at "$loss")
	shape "$delay" "$loss" || return
	read -r cpu all < <(busy)
	"$@" >"$_dir/seconds" || {
		grep -H . "$_dir"/out-*
		return 1
	}
	{
		echo "$delay $loss $repeat $system $rate $rounds $elements"
		echo "$cpu $all $(busy)"
		passed
		cat "$_dir/seconds"
	} | awk -v workers=${#workers[@]} -v ends=${#ends[@]} '
		NR == 1 { run = $1 " " $2 " " $3 " " $4; rate = $5; bits = $6 * $7 * 32 }
		NR == 2 { cpu = ($3 - $1) / ($4 - $2) }
		NR == 3 { bytes = $1; packets = $2; lost = $3 }
		NR > 3 { n++; if ($1 > s) s = $1 }
		END {
			if (n != workers || bytes / packets > 1514)
				exit 1
			printf "run %s goodput %.3f link %.1f cpu %.0f lost %d of %d frame %d\n", run,
				bits / s / 1e6, bytes * 8 / s / 1e4 / rate / ends, cpu * 100, lost,
				lost + packets, bytes / packets
		}' | tee -a "$_dir/results" | grep run
}

setup()
{
	local n i
	load || return
	# With it, cubic ends its slow start early and takes seconds to fill the links.
	echo 0 >/sys/module/tcp_cubic/parameters/hystart || return
	for n in root agg "${workers[@]}"; do
		ns_add "$n" && on "$n" sysctl -qw net.ipv4.tcp_no_metrics_save=1 || return
	done
	link root eth0 10.0.0.1 agg eth0 10.0.0.2 || return
	for i in 1 2 3 4; do
		link "w$i" eth0 "10.0.0.1$i" agg "eth$i" 10.0.0.2 || return
	done
}

ok "the links are there" setup || done_testing
echo "kernel $(uname -r) $(uname -m), $(nproc) CPUs, $(date -u +%F)"
echo "links $rate Mbit/s, ${#workers[@]} workers, rounds of $elements int32, $inflight in flight," \
	"$(rounds_at 0) rounds (loss 1 %: $(rounds_at 1), 5 %: $(rounds_at 5))"
echo "job ${job[*]}"
for ((r = 1; r <= repeats; r++)); do
	for delay in "${delays[@]}"; do
		for loss in "${losses[@]}"; do
			ok "ina, delay $delay ms, loss $loss %, $r" \
				measure "$delay" "$loss" "$r" ina ina && cat "$_dir/case"
			ok "TCP cubic, delay $delay ms, loss $loss %, $r" \
				measure "$delay" "$loss" "$r" cubic tcp cubic && cat "$_dir/case"
		done
	done
done
done_testing
