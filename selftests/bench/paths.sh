#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What a job gets out of four paths (fabric.sh has the drawing): Maestro's experiments, scaled to
# links of a few Mbit/s, beside plain UDP and TCP over the same fabric.
#
#   w, o1 to o3 --- l1 --- s1 to s4 --- l2 --- root, k1 to k3
#
# Others send from oN to kN by spine sN, so that what is theirs can be told from what is the job's.
# Devices of both ends have the rate of all four links together. paths.py reads the lines `run EXPERIMENT SYSTEM PATHS REPEAT FIGURE`, `load EXPERIMENT ...` (of
# linkload, the columns of a line `columns`) and `mark EXPERIMENT MICROSECONDS TEXT`.
# options: limit=1800
# shellcheck disable=SC2317 # ok calls the functions
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../fabric.sh"

mbit=${BENCH_MBIT:-10}			# of a spine, each way
repeats=${BENCH_REPEATS:-$(full 3 1)}
measure=${BENCH_SECONDS:-$(full 8 4)}	# of a measurement
stage=${BENCH_STAGE:-$(full 6 4)}	# seconds between two events of an experiment
elements=50000
depth=16

# both SPINE...: more paths, up and down
both()
{
	paths_add w root 7 "$@" && paths_add root w 7 "$@"
}

# rounds_for SECONDS: a worker that ends by itself after that
rounds_for()
{
	spawn w out ina-perf --job 7 --rank 0 --rounds 1M --elements "$elements" --timeout 60000 --json
	worker=$!
	sleep "$1"
	kill -INT "$worker"
	wait "$worker" || { log out && return 1; }
}

# goodput: Mbit/s of the run
goodput()
{
	log out | jq -e 'select(.failed == 0 and .wrong_elements == 0) | .gbit_per_second * 1000'
}

# bandwidth_ina PATHS REPEAT
bandwidth_ina()
{
	local got
	plant 7 && both "${more[@]:0:$1 - 1}" && rounds_for "$measure" && got=$(goodput) &&
		echo "run bandwidth ina $1 $2 $got"
}

# bandwidth_plain SYSTEM STREAMS REPEAT WORD...: of flow
bandwidth_plain()
{
	local system=$1 streams=$2 repeat=$3 sink
	shift 3
	spawn root out flow sink 5000 "$measure"
	sink=$!
	wait_for 5 listens || return
	spawn w plain flow "$@"
	finish "$sink" $! && log out | awk -v run="$system $streams $repeat" \
		'{ printf "run bandwidth %s %.3f\n", run, $1 * 8e-6 / $3 }'
}

listens()
{
	on root grep -q ':1388 00000000:0000 0A' /proc/net/tcp
}

# load_of EXPERIMENT: all that was recorded since load_start
load_of()
{
	load_stop
	sed "s/^/load $1 /" "$_dir/load"
}

# job's load: what l1 sends to each spine, and what others get by it
watch()
{
	load_start load 50 l1/s1 l1/s2 l1/s3 l1/s4 l2/k1-0 l2/k2-0 l2/k3-0
}

# start EXPERIMENT
start()
{
	watch
	mark "$1" start
	spawn w out ina-perf --job 7 --rank 0 --rounds 1M --elements "$elements" --timeout 60000 --json
	worker=$!
	sleep "$stage"
}

mark()
{
	echo "mark $1 $(uptime_us) $2"
}

# end EXPERIMENT: no round has failed, no sum was wrong
end()
{
	local got
	mark "$1" end
	kill -INT "$worker"
	wait "$worker" || { log out && return 1; }
	load_of "$1"
	got=$(goodput) && echo "run $1 ina 4 1 $got"
}

# Others send a quarter, a half and three quarters of what a link can on three of four.
follow()
{
	local i others=()
	plant 7 && both "${more[@]}" || return
	start follow
	for i in 1 2 3; do
		background "o$i" "k$i" "s$i" $((mbit * i / 4)).$((mbit * i % 4 * 25)) 600 || return
		others+=($!)
	done
	mark follow "others send"
	sleep $((2 * stage))
	kill "${others[@]}"
	mark follow "they end"
	sleep "$stage"
	end follow
}

added()
{
	local s
	plant 7 || return
	start added
	for s in "${more[@]}"; do
		both "$s" || return
		mark added "+ $s"
		sleep "$stage"
	done
	end added
}

cut_off()
{
	local s
	plant 7 && both "${more[@]}" || return
	start cut
	for s in s1 s2 s3; do
		spine_hole "$s" || return
		mark cut "- $s"
		sleep "$stage"
	done
	spine_fill s1 s2 s3
	mark cut "all back"
	sleep "$stage"
	end cut
}

# small SYSTEM PATHS REPEAT JOB: half of small rounds take no longer than that, in ms
small()
{
	local got
	spawn w out ina-perf --job "$4" --rank 0 --rounds "$(full 100 30)" --elements 8 --inflight 1 --json
	finish $! && goodput >/dev/null && got=$(log out | jq '.latency_us.p50 / 1000') &&
		echo "run small $1 $2 $3 $got" && return
	log out
	return 1
}

# A port of both ends that leads by a spine: what plain ECMP may choose.
port_by()
{
	local port
	for ((port = 21000; port < 21200; port++)); do
		[[ $(spines_of w root "$port" "$port") != "$1" ]] || { echo "$port" && return; }
	done
	return 1
}

small_all()
{
	local s
	for s in "${spines[@]}"; do
		spine_shape "$s" delay $((10 * ${s#s})) jitter 3 || return
	done
	plant 7 && both "${more[@]}" && small ina 4 1 7 || return
	for s in "${spines[@]}"; do
		plant 8 port "$(port_by "$s")" && small "ecmp-$s" 1 1 8 || return
	done
}

# silence REPEAT: ms from when a spine was told to pass nothing on until w has missed its path
silence()
{
	local ok=0
	plant 7 && both "${more[@]}" || return
	spawn w out ina-perf --job 7 --rank 0 --rounds 1M --elements "$elements" --timeout 60000 --json
	worker=$!
	wait_for 20 at_least root 7 rounds_done 20 || return
	silence_all "$1" || ok=1
	spine_fill "${spines[@]}"
	kill -INT "$worker"
	wait "$worker" || { log out && return 1; }
	return "$ok"
}

# Path 0 is the one that was not added, the others are in the order in which they were.
silence_all()
{
	local s id=0 since before ms
	for s in "$(first_spine w root)" "${more[@]}"; do
		wait_for 20 all_up || return
		before=$(grep -c "path-down .* path $id to" "$_dir/w-events")
		spine_hole "$s" && since=$(now_ms) && wait_for 10 missed "$before" "$id" || return
		ms=$(down_at $((before + 1)) "$since" " path $id to")
		echo "run silence ina 4 $1 $ms"
		spine_fill "$s"
		id=$((id + 1))
	done
}

# missed BEFORE ID
missed()
{
	(($(grep -c "path-down .* path $2 to" "$_dir/w-events") > $1))
}

all_up()
{
	on w inaconf -j path show job 7 | jq -e 'map(.state == "up") | all' >/dev/null
}

busy()
{
	awk '/^cpu / { for (i = 2; i <= 9; i++) all += $i; print all - $5 - $6 }' /proc/stat
}

# cpu PATHS REPEAT: CPU seconds of the whole machine for a GB of gradients
cpu()
{
	local before
	plant 7 && both "${more[@]:0:$1 - 1}" || return
	# What is lost before rates are known is not to be counted.
	spawn w out ina-perf --job 7 --rank 0 --rounds 50 --elements "$elements" --timeout 60000 --quiet
	finish $! || { log out && return 1; }
	before=$(busy)
	spawn w out ina-perf --job 7 --rank 0 --rounds "$(full 3000 500)" --elements "$elements" \
		--timeout 60000 --json --no-verify
	finish $! || { log out && return 1; }
	echo "run cpu ina $1 $2 $(busy) $before $(log out | jq '.completed * .elements * 4')" |
		awk '{ printf "%s %s %s %s %s %.3f\n", $1, $2, $3, $4, $5, ($6 - $7) / 100 / ($8 / 1e9) }'
}

setup()
{
	local n i
	load && fabric_add 4 1500 && fabric_host w 1 && fabric_host root 2 || return
	for i in 1 2 3; do
		fabric_host "o$i" 1 && fabric_host "k$i" 2 && spawn "k$i" "k$i" flow sink 9999 0 || return
	done
	for n in w root; do
		on "$n" inaconf dev add eth0 || return
	done
	mapfile -t more < <(other_spines w root)
	paths_know w root "${more[@]}" && paths_know root w "${more[@]}" && rate_all "$((4 * mbit))mbit" &&
		sysctl -qw net.core.netdev_max_backlog=20000
}

# rate_all RATE: of the devices of both ends
rate_all()
{
	on w inaconf dev set eth0 rate "$1" && on root inaconf dev set eth0 rate "$1"
}

shape_all()
{
	local s
	for s in "${spines[@]}"; do
		spine_shape "$s" "$@" || return
	done
}

ok "the fabric is there" setup || done_testing
echo "host kernel $(uname -r) $(uname -m), $(nproc) CPUs${BENCH_MACHINE:+ of $BENCH_MACHINE}, $(date -u +%F)"
echo "link $mbit"
echo "columns s1 s2 s3 s4 k1 k2 k3"
for ((r = 1; r <= repeats; r++)); do
	shape_all rate "$mbit"
	for n in 1 2 3 4; do
		ok "bandwidth: ina, $n paths, $r ($SECONDS s)" bandwidth_ina $n "$r" && cat "$_dir/case"
	done
	ok "bandwidth: UDP, one flow, $r ($SECONDS s)" bandwidth_plain udp 1 "$r" \
		udp "${addr[root]}" 5000 0 $((mbit * 4)) $((measure + 1)) && cat "$_dir/case"
	ok "bandwidth: TCP, 4 streams, $r ($SECONDS s)" bandwidth_plain tcp 4 "$r" \
		tcp "${addr[root]}" 5000 4 $((measure + 2)) && cat "$_dir/case"
done
ok "load follows what others send ($SECONDS s)" follow && cat "$_dir/case"
ok "paths are added one by one ($SECONDS s)" added && cat "$_dir/case"
ok "paths are cut one by one ($SECONDS s)" cut_off && cat "$_dir/case"
ok "small rounds take the fastest path ($SECONDS s)" small_all && cat "$_dir/case"
shape_all
# Links without a limit and devices with one: no packet waits for long.
ok "devices have twice what a spine had" rate_all "$((2 * mbit))mbit"
ok "events of w are heard" monitor w w-events
for ((r = 1; r <= repeats; r++)); do
	ok "a path that has fallen silent is missed, $r ($SECONDS s)" silence "$r" && cat "$_dir/case"
done
ok "devices without a limit, too" rate_all auto
for ((r = 1; r <= $(full 5 2); r++)); do
	for n in 1 4; do
		ok "CPU, $n paths, $r ($SECONDS s)" cpu $n "$r" && cat "$_dir/case"
	done
done
done_testing
