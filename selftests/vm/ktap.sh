# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# Read a test's KTAP: top-level results become verdict lines as they arrive, and
# at the end the plan and the exit status must agree with them. Sourced by guest.sh,
# which has verdict() and the results and log variables.
# shellcheck disable=SC2154

# ktap_verdicts TEST: KTAP on stdin, verdict lines on stdout, each at once.
ktap_verdicts()
{
	awk -v test="$1" '
	function text() {
		sub(/^(not )?ok +[0-9]* *-? */, "")
		return $0 == "" ? "(no text)" : $0
	}
	{ sub(/\r$/, "") }
	/^1\.\.[0-9]+/ { sub(/^1\.\./, ""); plan = $1 + 0; planned = 1; next }
	/^ok .*# *SKIP/ { n++; print "skip", test, text(); fflush(); next }
	/^ok( |$)/ { n++; print "pass", test, text(); fflush(); next }
	/^not ok( |$)/ { n++; print "fail", test, text(); fflush(); next }
	END {
		if (planned && n != plan)
			print "fail", test, "planned " plan " cases, reported " n + 0
		else if (!planned && n)
			print "fail", test, "no plan (1..N)"
	}'
}

# ktap_judge TEST STATUS: what the exit status adds to the cases already written.
ktap_judge()
{
	local test=$1 rc=$2 cases failed denied
	cases=$(grep -c "^[a-z]* $test " "$results/verdict") || true
	failed=$(grep -c "^fail $test " "$results/verdict") || true
	denied=$(grep -c '^not ok' "$log") || true
	if ((rc == 4 && cases == 0)); then
		verdict "skip $test the whole test: $(grep -m 1 -i skip "$log" || echo 'exit status 4')"
	elif ((cases == 0)); then
		verdict "fail $test reported no case, exit status $rc"
	elif ((rc != 0 && rc != 4 && failed == 0)); then
		verdict "fail $test exit status $rc without a failed case"
	elif ((rc == 0 && denied)); then
		verdict "fail $test exit status 0 in spite of failed cases"
	fi
}
