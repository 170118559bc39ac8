#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Two sweeps where the aggregator is the root (peers/topology.sh has the drawing): elements in
# a packet, four workers, single frames of up to 9000 bytes; and children, with super-packets,
# the same bytes from all of them together.
#
# Needs build/peers. A line `run packet|children X SYSTEM REPEAT FRAME {...}` per worker is what
# sweep.py reads. BENCH_SYSTEMS and so on choose less.
# options: limit=1800
# shellcheck disable=SC2034,SC2317 # topology.sh reads them; ok calls the functions
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/peers/topology.sh"

read -ra systems <<<"${BENCH_SYSTEMS:-ina udp xdp}"
read -ra packets <<<"${BENCH_PACKETS-$(full "32 64 128 256 320 512 768 1024 2048" "32 256 768 2048")}"
read -ra children <<<"${BENCH_CHILDREN-$(full "2 4 8 16 32 64" "2 8 32")}"
repeats=${BENCH_REPEATS:-$(full 3 1)}
elements=$((${BENCH_SIZES:-25} * 250000 / ${BENCH_SCALE:-32}))	# of a gradient, MB of [XAgg]
budget=${BENCH_BUDGET:-$(full 24 8)}	# MB of a worker in packets of 2048 elements
total=${BENCH_TOTAL:-$(full 128 64)}	# MiB of all children together
mode=hop

fragment()
{
	echo "$packet"
}

workloads()
{
	echo "$workload"
}

# In regime J the devices have nothing that its programs would turn off.
run_xdp()
{
	xdp plain sockets "$packet" "$workload"
}

# point SWEEP X SYSTEM
point()
{
	ok "$1 $2, $3, $repeat of $repeats ($SECONDS s)" measure "$3" "$@" "$repeat" && cat "$_dir/case"
}

# With small packets it is their number that takes time.
packets_sweep()
{
	for packet in "${packets[@]}"; do
		workload=$elements:$((budget * 250000 * (packet + 128) / 2176 / elements + 3)):2
		for system in "${systems[@]}"; do
			[[ $system != xdp || $packet -le 768 ]] || continue
			point packet "$packet" "$system"
		done
	done
}

children_sweep()
{
	local all=("${workers[@]}") n
	for n in "${children[@]}"; do
		workers=("${all[@]:0:n}")
		workload=65536:$((total * 4 / n)):2
		point children "$n" ina
	done
	workers=("${all[@]}")
}

# each_repeat SWEEP
each_repeat()
{
	for ((repeat = 1; repeat <= repeats; repeat++)); do
		"$1"
	done
}

ok "the links are there" setup 4 || done_testing
head_lines
if ((${#packets[@]})); then
	regime=J
	ok "regime J" regime_set || done_testing
	each_repeat packets_sweep
fi
if ((${#children[@]})); then
	regime=S packet=256
	ok "regime S" regime_set || done_testing
	# They come as S wants them.
	ok "${children[-1]} children ($SECONDS s)" workers_add "${children[-1]}" || done_testing
	each_repeat children_sweep
fi
done_testing
