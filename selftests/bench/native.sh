#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Nanoseconds for a fragment of 256 elements on this machine, without a network: the
# module's own code, XAgg's aggregator under BPF_PROG_RUN, and what memory allows. Every
# program prints lines NAME IMPLEMENTATION HOT 512 MEMORY SCATTERED, in ns.
#
#   native.sh [full|small]
#
# Every program build/bench/*bench is one that has the module's code in it: what
# the Makefile of this folder builds, if there is one, takes part without a line here.
set -euo pipefail
. "$(dirname "$0")/../vm/common.sh"
. "$(dirname "$0")/machine.sh"

here=$INA_TOP/selftests/bench
megabytes=256 # more than caches have
[[ ${1:-full} == full ]] || megabytes=64

make -s -C "$INA_TOP" peers >&2
[[ ! -e $here/Makefile ]] || make -s -C "$here" "O=$INA_BUILD/bench" >&2
echo "host kernel $(uname -r) $(uname -m), $(nproc) CPUs, $(date -u +%F)"
echo "machine $(machine)"
echo "megabytes $megabytes"
for program in "$INA_BUILD"/bench/*bench "$INA_BUILD/peers/bench-replay"; do
	[[ ! -x $program ]] || "$program" "$megabytes"
done
