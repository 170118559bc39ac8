#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The module's KUnit suites: load the module built with them, read what they
# printed into the kernel log, and report every case as one of ours. (The copy of
# the results in debugfs is cut off where a failing case says much.)
set -euo pipefail

out=$(mktemp)
cases=$(mktemp)
trap 'rm -f "$out" "$cases"; grep -q "^ina_agg " /proc/modules && rmmod ina_agg' EXIT

# Cases are the results one level in; a suite that promised more than it reported
# is a failed case itself.
kunit_cases()
{
	awk '
	{ sub(/^\[[^]]*\] ?/, ""); sub(/\r$/, "") }
	/^    # Subtest: / { suite = $3; next }
	/^    1\.\.[0-9]+/ { sub(/^    1\.\./, ""); planned = $1; seen = 0; next }
	/^    (not )?ok / {
		verdict = /^    not ok/ ? "not ok" : "ok"
		sub(/^    (not )?ok +[0-9]+ *-? */, "")
		print verdict, suite "." $0
		seen++
		next
	}
	/^(not )?ok / && suite != "" {
		if (seen != planned)
			print "not ok " suite ": planned " planned " cases, reported " seen
		suite = ""
	}
	END { if (suite != "") print "not ok " suite ": did not end" }' "$out"
}

before=$(dmesg | wc -l)
insmod "$INA_KO_KUNIT"
dmesg | tail -n "+$((before + 1))" >"$out"
kunit_cases >"$cases"

echo "TAP version 13"
echo "1..$(wc -l <"$cases")"
awk '{ verdict = $1 == "not" ? "not ok" : "ok"; sub(/^(not )?ok /, ""); print verdict, NR, "-", $0 }' "$cases"
[[ -s $cases ]] || { echo "# the module reported no KUnit case"; exit 1; }
! grep -q '^not ok' "$cases" || { grep -E 'EXPECTATION|ASSERTION|Expected|not ok' "$out" | sed 's/^/# /'; exit 1; }
exit 0
