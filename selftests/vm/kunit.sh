#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The module's KUnit suites: load the module built with them, read the results the
# kernel kept for each suite, and report every case as one of ours.
set -euo pipefail

suites=/sys/kernel/debug/kunit
before=$(mktemp)
cases=$(mktemp)
trap 'rm -f "$before" "$cases"; grep -q "^ina_agg " /proc/modules && rmmod ina_agg' EXIT

# Cases are the innermost results: `ok 1 name` one or more levels in.
kunit_cases()
{
	awk -v suite="$1" '
	{ sub(/^\[[^]]*\] */, "") }
	/^ +(not )?ok / {
		match($0, /^ +/); depth = RLENGTH
		verdict = /^ +not ok/ ? "not ok" : "ok"
		sub(/^ +(not )?ok +[0-9]+ *-? */, "")
		# A parent line follows its own subtests: parameters of one case.
		print depth, verdict, suite "." $0
	}' "$suites/$1/results" | awk '$1 == 4 || $1 == 2 { $1 = ""; sub(/^ /, ""); print }'
}

ls "$suites" >"$before"
insmod "$INA_KO_KUNIT"
for dir in "$suites"/*/; do
	suite=$(basename "$dir")
	grep -qxF "$suite" "$before" || kunit_cases "$suite" >>"$cases"
done

echo "TAP version 13"
echo "1..$(wc -l <"$cases")"
awk '{ verdict = $1 == "not" ? "not ok" : "ok"; sub(/^(not )?ok /, ""); print verdict, NR, "-", $0 }' "$cases"
[[ -s $cases ]] || { echo "# the module reported no KUnit case"; exit 1; }
grep '^not ok' "$cases" >/dev/null && { dmesg | grep -B 12 -E '^\[[^]]*\] +not ok' | sed 's/^/# /'; exit 1; }
exit 0
