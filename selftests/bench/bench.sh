#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What `make bench` and `make bench-loss` run: a benchmark, its output live, then the
# tables and plots of it.
#
#   bench.sh loss              in a VM; writes Documentation/bench
#   bench.sh peers [quick]     in a VM; writes Documentation/results
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

# All CPUs have the widest registers their emulation knows.
bench_peers()
{
	"$INA_TOP/selftests/vm/run.sh" --name bench-peers --live --cpus "${BENCH_CPUS:-2}" \
		--size "$size" --append tsc=reliable --qemu "-cpu max,erms=off,fsrm=off" bench/peers
	mkdir -p "$out/results"
	"$here/peers.py" "$INA_BUILD/results/bench-peers/bench-peers.log" "$out/results" \
		"make bench$command"
	say "written: Documentation/results/peers.md, .json, .svg"
}

bench_native()
{
	mkdir -p "$out/results" "$INA_BUILD/results/bench-native"
	"$here/native.sh" "$size" | tee "$INA_BUILD/results/bench-native/native.log"
	"$here/native.py" "$INA_BUILD/results/bench-native/native.log" "$out/results" \
		"make bench$command"
	say "written: Documentation/results/native.md, .json"
}

size=full command=
[[ ${2:-} != quick ]] || size=small command=' QUICK=1'
case ${1:-} in
loss | peers | native) "bench_$1" ;;
*) die "loss, peers or native" ;;
esac
