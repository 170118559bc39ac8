#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What `make bench` and `make bench-*` run: a benchmark, its output live, then the
# tables and plots of it.
#
#   bench.sh loss [quick]      in a VM; writes Documentation/bench
#   bench.sh peers [quick]     in a VM; writes Documentation/results
#   bench.sh sweep [quick]     likewise, as all that follow
#   bench.sh paths [quick]
#   bench.sh rates [quick]
#   bench.sh native [quick]    on this machine; writes Documentation/results
#
# A quick one writes build/results and leaves what is recorded alone.
set -euo pipefail
. "$(dirname "$0")/../vm/common.sh"
. "$(dirname "$0")/machine.sh"

here=$INA_TOP/selftests/bench
vm=$INA_TOP/selftests/vm

bench_loss()
{
	local folder=$INA_TOP/Documentation/bench
	"$vm/run.sh" --name bench-loss --live --size "$size" bench/loss
	if [[ $size == small ]]; then
		cp "$folder/loss.rst" "$out"
		folder=$out
	fi
	"$here/report.py" "$INA_BUILD/results/bench-loss/bench-loss.log" \
		"$folder/loss.rst" "$folder/loss.svg"
	say "written: ${folder#"$INA_TOP/"}/loss.rst, .svg"
}

# bench_guest NAME COMMAND: all CPUs have the widest registers their emulation knows. Where on x86
# `rep movsb` is fast the kernel copies by it; emulated, it goes byte by byte.
#
# Where delays and the CPU's share are measured, not what is fastest, an emulated machine has one
# processor that takes a nanosecond for each instruction, however long its host does: only what
# is waited for may take longer than it would.
bench_guest()
{
	local cpu=max accel cpus=2
	[[ $(uname -m) != x86_64 ]] || cpu+=,erms=off,fsrm=off
	# The guest knows neither.
	accel=$("$vm/accel.sh" "$("$vm/kernel.sh" fast)")
	export BENCH_MACHINE BENCH_VM=KVM
	BENCH_MACHINE=$(machine)
	[[ $accel == kvm ]] || BENCH_VM=emulated
	if [[ $accel != kvm && $1 =~ ^(paths|rates)$ ]]; then
		cpus=1
		cpu+=" -icount shift=0"
		BENCH_MACHINE+=", emulated: a nanosecond for each instruction"
	fi
	"$vm/run.sh" --name "bench-$1" --live --cpus "${BENCH_CPUS:-$cpus}" \
		--size "$size" --qemu "-cpu $cpu" "bench/$1"
	"$here/$1.py" "$INA_BUILD/results/bench-$1/bench-$1.log" "$out" "$2"
	say "written: ${out#"$INA_TOP/"}/$1.md, .json, .svg"
}

bench_peers()
{
	bench_guest peers "make bench$command"
}

bench_sweep()
{
	bench_guest sweep "make bench-sweep$command"
}

bench_paths()
{
	bench_guest paths "make bench-paths$command"
}

bench_rates()
{
	bench_guest rates "make bench-rates$command"
}

bench_native()
{
	mkdir -p "$INA_BUILD/results/bench-native"
	"$here/native.sh" "$size" | tee "$INA_BUILD/results/bench-native/native.log"
	"$here/native.py" "$INA_BUILD/results/bench-native/native.log" "$out" \
		"make bench$command"
	say "written: ${out#"$INA_TOP/"}/native.md, .json, .svg"
}

size=full command='' out=$INA_TOP/Documentation/results
[[ ${2:-} != quick ]] || size=small command=' QUICK=1' out=$INA_BUILD/results
mkdir -p "$out"
case ${1:-} in
loss | peers | sweep | paths | rates | native) "bench_$1" ;;
*) die "loss, peers, sweep, paths, rates or native" ;;
esac
