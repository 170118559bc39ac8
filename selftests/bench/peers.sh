#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# ina beside other ways to sum gradients: the same gradients over the same links, one
# system after the other, in three regimes. Links are devices of their own, without a
# switch; the aggregator routes between workers, for those that want no aggregator.
#
#   w1 .11 --- eth1 +
#   w2 .12 --- eth2 +--- agg .2 eth0 --- root .1
#   w3 .13 --- eth3 +
#   w4 .14 --- eth4 +
#
# Needs build/peers. Where there is no module (INA_KO is empty) ina is left out, so the
# peers can be run on any machine. A line `run REGIME MODE SYSTEM REPEAT FRAME {...}` per
# worker and workload is what peers.py reads. BENCH_SYSTEMS and so on choose less.
# options: limit=5000
# shellcheck disable=SC2317 # ok calls the functions
. "$(dirname "$0")/../lib.sh"

: "${INA_BUILD:=$(cd "$(dirname "$0")/../.." && pwd)/build}"
read -ra systems <<<"${BENCH_SYSTEMS:-ina tcp udp xdp xdplock xdpframes mpi gloo}"
read -ra regimes <<<"${BENCH_REGIMES:-$(full "S W J L" "S W J")}"
read -ra modes <<<"${BENCH_MODES:-$(full "tree hop" tree)}"
read -ra sizes <<<"${BENCH_SIZES:-$(full "25 97 233" 25)}" # MB, of [XAgg]
scale=${BENCH_SCALE:-32}		# by what they are divided here
budget=${BENCH_BUDGET:-$(full 10 5)}	# MB that a worker contributes in a workload, about
repeats=${BENCH_REPEATS:-$(full 4 2)}
pings=${BENCH_PINGS:-$(full 300 100)}	# rounds of 8 elements
inflight=2
rate=${BENCH_RATE:-50}			# Mbit/s of a link in regime L, each way
gro=${BENCH_GRO:-on}			# of the receivers in regimes W and J

workers=(w1 w2 w3 w4)
nodes=(root agg "${workers[@]}")
peers=$INA_BUILD/peers

# link NODE ADDRESS N: to agg, whose device is ethN. Neighbours know each other.
link()
{
	local here there
	here=02:00:00:00:00:0$3 there=02:00:00:00:01:0$3
	ip link add eth0 netns "$(ns "$1")" address "$here" type veth \
		peer name "eth$3" netns "$(ns agg)" address "$there" &&
		on "$1" ip -batch - <<-END &&
			link set eth0 up
			addr add $2/24 dev eth0 noprefixroute
			route add 10.0.0.2 dev eth0
			route add default via 10.0.0.2
			neigh add 10.0.0.2 lladdr $there dev eth0 nud permanent
		END
		on agg ip -batch - <<-END
			link set eth$3 up
			addr add 10.0.0.2/24 dev eth$3 noprefixroute
			route add $2 dev eth$3
			neigh add $2 lladdr $here dev eth$3 nud permanent
		END
}

# end_set NODE DEVICE: as the regime wants it. Where the device has no segmentation, the
# stack does it right before, so that a burst of single frames leaves.
end_set()
{
	local offload=off mtu=1500 merge=$gro
	case $regime in
	S | L) offload=on merge=off ;;
	J) mtu=9000 ;;
	esac
	on "$1" ethtool -K "$2" gso on tso "$offload" tx-udp-segmentation "$offload" gro "$merge" \
		>/dev/null && on "$1" ip link set "$2" mtu "$mtu"
}

# end_rate NODE DEVICE: a queue that is longer than what any of them has on the way
end_rate()
{
	if [[ $regime == L ]]; then
		tc -n "$(ns "$1")" qdisc replace dev "$2" root tbf rate "${rate}mbit" burst 128kb \
			limit 32mb
	else
		tc -n "$(ns "$1")" qdisc replace dev "$2" root noqueue
	fi
}

# each_end COMMAND: with the node and the device of every end of a link
each_end()
{
	local n
	for n in root "${workers[@]}"; do
		"$1" "$n" eth0 || return
	done
	for n in 0 1 2 3 4; do
		"$1" agg "eth$n" || return
	done
}

# Super-packets, single frames of 1500 bytes, single jumbo frames, links with a rate.
regime_set()
{
	each_end end_set && each_end end_rate
}

# fragment SYSTEM: elements in a packet. XDP has a page for it at most.
fragment()
{
	case $regime$1 in
	Jxdp*) echo 768 ;;
	J*) echo 2048 ;;
	*) echo 256 ;;
	esac
}

# workloads [SYSTEM]: ELEMENTS:ROUNDS:INFLIGHT of each size, and of 8 elements
workloads()
{
	local size elements
	for size in "${sizes[@]}"; do
		elements=$((size * 250000 / scale))
		echo "$elements:$((budget * 250000 / elements + 3)):$inflight"
	done
	[[ ${1:-} == xdp ]] || echo "8:$pings:1"
}

# A job without a past.
plant()
{
	local n parent=() up="${nodes[*]}" job
	job=(capacity $((${sizes[-1]} * 250000 / scale)) fragment "$(fragment ina)" depth 4
		deadline 100000)
	[[ $mode == tree ]] || up=${up#root }
	for n in $up; do
		# At first there is none.
		on "$n" inaconf job del 7 2>/dev/null
		on "$n" inaconf job add 7 "${job[@]}" || return
	done
	for n in "${workers[@]}"; do
		on "$n" inaconf tree set job 7 parent 10.0.0.2 || return
	done
	if [[ $mode == tree ]]; then
		on root inaconf tree set job 7 child 10.0.0.2 || return
		parent=(parent 10.0.0.1)
	fi
	on agg inaconf tree set job 7 "${parent[@]}" \
		child 10.0.0.11 child 10.0.0.12 child 10.0.0.13 child 10.0.0.14
}

# each_worker COMMAND...: with its rank in place of @RANK@
each_worker()
{
	local i pids=()
	for i in 0 1 2 3; do
		spawn "${workers[i]}" "out-$i" "${@//@RANK@/$i}"
		pids+=($!)
	done
	finish "${pids[@]}"
}

run_ina()
{
	plant || return
	# shellcheck disable=SC2046 # words
	each_worker "$peers/bench-ina" 7 @RANK@ 4 $(workloads)
}

run_tcp()
{
	local pids=() parent=()
	if [[ $mode == tree ]]; then
		spawn root out-root "$peers/bench-tcp" node 1
		pids+=($!)
		parent=(10.0.0.1)
	fi
	spawn agg out-agg "$peers/bench-tcp" node 4 "${parent[@]}"
	pids+=($!)
	# shellcheck disable=SC2046 # words
	each_worker "$peers/bench-tcp" worker 10.0.0.2 @RANK@ 4 $(workloads) && finish "${pids[@]}"
}

run_udp()
{
	local pids=() parent=() rc
	if [[ $mode == tree ]]; then
		spawn root out-root "$peers/bench-udp" node "$(fragment udp)" 1
		pids+=($!)
		parent=(0 10.0.0.1)
	fi
	spawn agg out-agg "$peers/bench-udp" node "$(fragment udp)" 4 "${parent[@]}"
	pids+=($!)
	# shellcheck disable=SC2046 # words
	each_worker "$peers/bench-udp" worker "$(fragment udp)" 10.0.0.2 @RANK@ 4 $(workloads)
	rc=$?
	kill "${pids[@]}" || return
	wait "${pids[@]}" 2>/dev/null
	return "$rc"
}

# xdp plain|lock sockets|frames
xdp()
{
	local root=- names=() n
	[[ $mode != tree ]] || root=$(ns root)
	for n in "${workers[@]}"; do
		names+=("$(ns "$n")")
	done
	# shellcheck disable=SC2046 # words
	"$peers/bench-xdp" "$1" "$2" "$(fragment xdp)" "$(ns agg)" "$root" "${names[@]}" \
		$(workloads xdp) >"$_dir/out-0" &&
		"$peers/bench-xdp" "$1" "$2" 8 "$(ns agg)" "$root" "${names[@]}" "8:$pings:1" \
			>>"$_dir/out-0" &&
		# Without its programs the devices may have all they had before.
		each_end end_set
}

run_xdp()
{
	xdp plain sockets
}

run_xdplock()
{
	xdp lock sockets
}

run_xdpframes()
{
	xdp plain frames
}

run_mpi()
{
	mkdir -p "$_dir/w1"
	# shellcheck disable=SC2046 # words
	BENCH_NS=$(ns '') BENCH_TMP=$_dir TMPDIR=$_dir/w1 spawn w1 out-0 mpirun --allow-run-as-root --bind-to none \
		-H 10.0.0.11,10.0.0.12,10.0.0.13,10.0.0.14 --mca plm_rsh_agent \
		"$(dirname "$0")/peers/mpi-agent.sh" --mca pml ob1 --mca btl tcp,self --mca mpi_yield_when_idle 1 \
		--mca btl_tcp_if_include eth0 --mca oob_tcp_if_include eth0 \
		"$peers/bench-mpi" $(workloads)
	finish $!
}

run_gloo()
{
	local i pids=()
	rm -rf "$_dir/gloo"
	mkdir "$_dir/gloo"
	for i in 0 1 2 3; do
		# shellcheck disable=SC2046 # words
		spawn "${workers[i]}" "out-$i" "$peers/bench-gloo" "$_dir/gloo" "10.0.0.1$((i + 1))" \
			"$i" 4 $(workloads)
		pids+=($!)
	done
	finish "${pids[@]}"
}

# bytes and packets that the aggregator's devices have received
received()
{
	on agg ip -s -j link | jq -r '[.[].stats64.rx] | "\(map(.bytes) | add) \(map(.packets) | add)"'
}

# measure: every worker must have told of every workload.
measure()
{
	local before after frame n
	rm -f "$_dir"/out-*
	read -ra before < <(received)
	"run_$system" || {
		grep -H . "$_dir"/out-*
		return 1
	}
	read -ra after < <(received)
	frame=$(((after[0] - before[0]) / (after[1] - before[1] + 1)))
	n=$(cat "$_dir"/out-? | grep -c '^{"rank"')
	((n == 4 * (${#sizes[@]} + 1))) || return
	sed -n "s/^{\"rank\"/run $regime $mode $system $repeat $frame &/p" "$_dir"/out-?
}

# applies SYSTEM: Open MPI and Gloo have no aggregator; XDP passes qdiscs by.
applies()
{
	[[ $mode == tree || $1 != mpi && $1 != gloo ]] && [[ $regime != L || $mode$1 == tree[^x]* ]]
}

setup()
{
	local n i
	[[ ! ${INA_KO:-} ]] || load || return
	for n in "${nodes[@]}"; do
		ns_add "$n" || return
	done
	on agg sysctl -qw net.ipv4.ip_forward=1 || return
	link root 10.0.0.1 0 || return
	for i in 1 2 3 4; do
		link "w$i" "10.0.0.1$i" "$i" || return
	done
	# Single frames of a whole window of all workers. It is of the whole machine.
	trap 'sysctl -qw net.core.netdev_max_backlog='"$(sysctl -n net.core.netdev_max_backlog)"'; _cleanup' EXIT
	sysctl -qw net.core.netdev_max_backlog=20000 || return
	[[ ${INA_KO:-} ]] || return 0
	for n in root "${workers[@]}"; do
		on "$n" inaconf dev add eth0 || return
	done
	for i in 0 1 2 3 4; do
		on agg inaconf dev add "eth$i" || return
	done
}

[[ ${INA_KO:-} || ${systems[0]} != ina ]] || systems=("${systems[@]:1}")
ok "the links are there" setup || done_testing
echo "host kernel $(uname -r) $(uname -m), $(nproc) CPUs, $(date -u +%F)"
echo "machine $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1)"
echo "scale $scale"
echo "rate $rate"
echo "gro $gro"
for regime in "${regimes[@]}"; do
	ok "regime $regime" regime_set || done_testing
	for ((repeat = 1; repeat <= repeats; repeat++)); do
		for mode in "${modes[@]}"; do
			for system in "${systems[@]}"; do
				applies "$system" || continue
				ok "$regime, $mode, $system, $repeat of $repeats ($SECONDS s)" measure &&
					cat "$_dir/case"
			done
		done
	done
done
done_testing
