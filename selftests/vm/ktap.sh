# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# Read a test's KTAP: top-level results become verdict lines as they arrive, and
# at the end the plan and the exit status must agree with them. What kmemleak reports becomes
# one, too. Sourced; ktap_judge is for guest.sh, which has verdict() and the results and log
# variables.
# shellcheck disable=SC2154

# ktap_kunit: a kernel log on stdin, its KUnit results as KTAP on stdout: every case of every
# suite at the top level, one that failed behind the first lines it said. A suite that reported another
# number of cases than it planned, failed without a failed case, or did not end is a failed case itself.
ktap_kunit()
{
	awk '
	function result(word, text) {
		if (word != "ok")
			printf "%s", said
		print word, ++n, "-", text
		said = ""
		lines = 0
	}
	{ sub(/\r$/, ""); sub(/^\[[^]]*\] ?/, "") }
	/^    # Subtest: / {
		if (suite != "")
			result("not ok", suite ": did not end")
		suite = $3
		planned = seen = failed = 0
		next
	}
	/^    1\.\.[0-9]+/ {
		planned = substr($1, 4) + 0
		said = ""
		lines = 0
		next
	}
	/^    (not )?ok / {
		word = $1 == "ok" ? "ok" : "not ok"
		sub(/^ +(not )?ok +[0-9]+ *-? */, "")
		result(word, suite "." $0)
		seen++
		failed += word != "ok"
		next
	}
	/^(not )?ok / && suite != "" {
		if (seen != planned)
			result("not ok", suite ": planned " planned " cases, reported " seen)
		else if ($1 == "not" && !failed)
			result("not ok", suite ": failed without a failed case")
		suite = ""
		next
	}
	# The text of a case is not always indented.
	suite != "" && NF && lines++ < 40 {
		sub(/^    /, "")
		said = said "# " $0 "\n"
	}
	END {
		if (suite != "")
			result("not ok", suite ": did not end")
		print "1.." n + 0
	}'
}

# ktap_verdicts TEST [CLOCKED]: KTAP on stdin, verdict lines on stdout, each at once. (Not in awk,
# which may wait for more to read: what a guest reported before it died would be lost.) CLOCKED is
# the verdict of a case that failed and depends on how evenly the machine runs, fail if absent.
ktap_verdicts()
{
	local test=$1 clocked=${2:-fail} line word text plan='' n=0
	while IFS= read -r line || [[ $line ]]; do
		line=${line%$'\r'}
		if [[ $line =~ ^1\.\.([0-9]+) ]]; then
			plan=$((10#${BASH_REMATCH[1]}))
		elif [[ $line =~ ^(not )?ok(' '+([0-9]*)' '*-?' '*(.*))?$ ]]; then
			word=pass text=${BASH_REMATCH[4]:-(no text)}
			[[ ! $line =~ ^ok\ .*#\ *SKIP ]] || word=skip
			[[ $line != not* ]] || word=fail
			[[ $line != not*' # CLOCKED' ]] || word=$clocked text=${text%' # CLOCKED'}
			n=$((n + 1))
			echo "$word $test $text"
		fi
	done
	if [[ $plan ]]; then
		((n == plan)) || echo "fail $test planned $plan cases, reported $n"
	else
		((!n)) || echo "fail $test no plan (1..N)"
	fi
}

# ktap_judge TEST STATUS LINES: what the exit status adds to the cases already written behind so many
# lines.
ktap_judge()
{
	local test=$1 rc=$2 behind=$3 cases failed denied
	# grep fails where there are none to count.
	cases=$(tail -n +$((behind + 1)) "$results/verdict" | grep -c "^[a-z]* $test ") || true
	failed=$(tail -n +$((behind + 1)) "$results/verdict" | grep -cE "^(fail|again) $test ") || true
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

# ktap_leaks FILE: kmemleak's report as a verdict line. It is empty if nothing leaked.
ktap_leaks()
{
	if [[ ! -r $1 ]]; then
		echo "fail kmemleak no report"
	elif [[ -s $1 ]]; then
		echo "fail kmemleak $(grep -c '^unreferenced' "$1") objects leaked"
	else
		echo "pass kmemleak no object leaked"
	fi
}
