#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The module's KUnit suites: load the module built with them, read what they
# printed into the kernel log, and report every case as one of ours. (The copy of
# the results in debugfs is cut off where a failing case says much.)
set -euo pipefail
. "$(dirname "$0")/ktap.sh"

out=$(mktemp)
trap 'rm -f "$out"; grep -q "^ina_agg " /proc/modules && rmmod ina_agg' EXIT

before=$(dmesg | wc -l)
insmod "$INA_KO_KUNIT"
dmesg | tail -n "+$((before + 1))" >"$out"

echo "TAP version 13"
cases=$(ktap_kunit <"$out")
echo "$cases"
[[ $cases != 1..0 ]] || { echo "# the module reported no KUnit case"; exit 1; }
! grep -q '^not ok' <<<"$cases"
