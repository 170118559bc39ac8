#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What `make bench-loss` runs: loss.sh in a VM with the fast kernel, its output live,
# then the table and the plot in Documentation/bench.
set -euo pipefail
. "$(dirname "$0")/../vm/common.sh"

out=$INA_TOP/Documentation/bench
"$INA_TOP/selftests/vm/run.sh" --name bench-loss --live bench/loss
"$INA_TOP/selftests/bench/report.py" "$INA_BUILD/results/bench-loss/bench-loss.log" \
	"$out/loss.rst" "$out/loss.svg"
say "written: Documentation/bench/loss.rst, Documentation/bench/loss.svg"
