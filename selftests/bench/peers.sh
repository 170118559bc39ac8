#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# ina beside other ways to sum gradients: the same gradients over the same links, one
# system after the other, in four regimes. Links are devices of their own, without a
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
. "$(dirname "$0")/peers/topology.sh"

read -ra systems <<<"${BENCH_SYSTEMS:-ina tcp udp xdp xdplock xdpframes mpi gloo}"
read -ra regimes <<<"${BENCH_REGIMES:-$(full "S W J L" "S W J")}"
read -ra modes <<<"${BENCH_MODES:-$(full "tree hop" tree)}"
read -ra sizes <<<"${BENCH_SIZES:-$(full "25 97 233" 25)}" # MB, of [XAgg]
scale=${BENCH_SCALE:-32}		# by what they are divided here
budget=${BENCH_BUDGET:-$(full 10 5)}	# MB that a worker contributes in a workload, about
repeats=${BENCH_REPEATS:-$(full 4 1)}
pings=${BENCH_PINGS:-$(full 300 50)}	# rounds of 8 elements
inflight=2

# fragment SYSTEM: elements in a packet, as many as fit. XDP has a page for it at most.
fragment()
{
	case $regime$1 in
	Jxdp*) echo 768 ;;
	J*) echo 2048 ;;
	*) echo 352 ;;
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

# xdp_all plain|lock sockets|frames
xdp_all()
{
	# shellcheck disable=SC2046 # words
	xdp "$@" "$(fragment xdp)" $(workloads xdp) && xdp "$@" 8 "8:$pings:1" &&
		# Without its programs the devices may have all they had before.
		each_end end_set
}

run_xdp()
{
	xdp_all plain sockets
}

run_xdplock()
{
	xdp_all lock sockets
}

run_xdpframes()
{
	xdp_all plain frames
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

# applies SYSTEM: Open MPI and Gloo have no aggregator; XDP passes qdiscs by.
applies()
{
	[[ $mode == tree || $1 != mpi && $1 != gloo ]] && [[ $regime != L || $mode$1 == tree[^x]* ]]
}

[[ ${INA_KO:-} || ${systems[0]} != ina ]] || systems=("${systems[@]:1}")
ok "the links are there" setup 4 || done_testing
head_lines
echo "scale $scale"
for regime in "${regimes[@]}"; do
	ok "regime $regime" regime_set || done_testing
	for ((repeat = 1; repeat <= repeats; repeat++)); do
		for mode in "${modes[@]}"; do
			for system in "${systems[@]}"; do
				applies "$system" || continue
				ok "$regime, $mode, $system, $repeat of $repeats ($SECONDS s)" \
					measure "$system" "$regime" "$mode" "$system" "$repeat" &&
					cat "$_dir/case"
			done
		done
	done
done
done_testing
