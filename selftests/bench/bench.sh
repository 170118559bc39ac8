#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What `make bench` and `make bench-*` run: a benchmark, its output live, then the
# tables and plots of it.
#
#   bench.sh loss              in a VM; writes Documentation/bench
#   bench.sh peers [quick]     in a VM; writes Documentation/results
#   bench.sh sweep [quick]     likewise, as all that follow
#   bench.sh paths [quick]
#   bench.sh rates [quick]
#   bench.sh native [quick]    on this machine; writes Documentation/results
set -euo pipefail
. "$(dirname "$0")/../vm/common.sh"

here=$INA_TOP/selftests/bench
out=$INA_TOP/Documentation

bench_loss()
{
	"$INA_TOP/selftests/vm/run.sh" --name bench-loss --live bench/loss
	"$here/report.py" "$INA_BUILD/results/bench-loss/bench-loss.log" \
		"$out/bench/loss.rst" "$out/bench/loss.svg"
	say "written: Documentation/bench/loss.rst, Documentation/bench/loss.svg"
}

# bench_guest NAME COMMAND: all CPUs have the widest registers their emulation knows. Where on x86
# `rep movsb` is fast the kernel copies by it; emulated, it goes byte by byte.
bench_guest()
{
	local cpu=max
	[[ $(uname -m) != x86_64 ]] || cpu+=,erms=off,fsrm=off
	"$INA_TOP/selftests/vm/run.sh" --name "bench-$1" --live --cpus "${BENCH_CPUS:-2}" \
		--size "$size" --qemu "-cpu $cpu" "bench/$1"
	mkdir -p "$out/results"
	"$here/$1.py" "$INA_BUILD/results/bench-$1/bench-$1.log" "$out/results" "$2"
	say "written: Documentation/results/$1.md, .json, .svg"
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
	mkdir -p "$out/results" "$INA_BUILD/results/bench-native"
	"$here/native.sh" "$size" | tee "$INA_BUILD/results/bench-native/native.log"
	"$here/native.py" "$INA_BUILD/results/bench-native/native.log" "$out/results" \
		"make bench$command"
	say "written: Documentation/results/native.md, .json, .svg"
}

size=full command=
[[ ${2:-} != quick ]] || size=small command=' QUICK=1'
case ${1:-} in
loss | peers | sweep | paths | rates | native) "bench_$1" ;;
*) die "loss, peers, sweep, paths, rates or native" ;;
esac
