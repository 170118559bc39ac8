#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What the planner is for, by MINA's rule on the ten traces at the rate that is harder: its score is
# as good as wanted, and what it does for a job that comes on 1,024 hosts is bounded. Work is
# counted in basic blocks (blocks.c), so that a busy machine changes nothing. KTAP on standard output.
#
#   results.sh INA-SIM TRACES
set -uo pipefail

sim=$(realpath "$1")
traces=$(realpath "$2")
. "$(dirname "$(readlink -f "$0")")/cases.sh"

# runs NAME WORD: placement and trees WORD, shared if they can be; NAME.csv
# shellcheck disable=SC2317 # called by ok
runs()
{
	"$sim" --traces "$traces" --rate 12.5G --switches every --share greedy \
		--place "$2" --trees "$2" --csv "$1.csv" --json "$1.json" "${@:3}" >out 2>err &&
		[[ $(wc -l <"$1.csv") == 11 ]]
}

# column NAME COLUMN: over all traces
column()
{
	awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i; next }
		{ print $at }' "$1.csv"
}

mean()
{
	column "$1" "$2" | awk '{ sum += $1 } END { print NR ? sum / NR : "none" }'
}

# most NAME COLUMN: the largest, of the planner's times: in blocks
most()
{
	column "$1" "$2" | awk '$1 > most { most = $1 } END { printf "%.0f\n", most * 1e9 }'
}

# growth HOSTS: what half of the jobs take at most on a fabric of this size, in blocks
growth()
{
	jq -er --argjson n "$1" '.growth[] | select(.hosts == $n) | .plan_median * 1e9 | round' best.json
}

# at_least A B, at_most A B: numbers, both of them
# shellcheck disable=SC2317 # called by ok
at_least()
{
	[[ $1 == *[0-9]* && $2 == *[0-9]* ]] && awk -v a="$1" -v b="$2" 'BEGIN { exit !(a >= b) }'
}

# shellcheck disable=SC2317 # called by ok
at_most()
{
	[[ $1 -gt 0 ]] && at_least "$2" "$1"
}

ok "first n machines, first fits: ten traces" runs first first
ok "placement, trees and greedy sharing: ten traces" runs best best --growth=24
first=$(mean first score)
best=$(mean best score)
ok "the score, $best (mean JCT $(mean best jct) s), is 0.90 at least" at_least "$best" 0.90
ok "0.4 more than the baseline's, $first ($(mean first jct) s), at least" \
	at_least "$best" "$(awk -v a="$first" 'BEGIN { print a + 0.4 }')"
# A block takes about a nanosecond; 5 ms is what half of the jobs may take. The bounds are up to twice
# what was counted, as compilers differ. Rows of pods that are not kept would show in the last one.
ok "a job that comes: half take $(most best plan_median) blocks at most" \
	at_most "$(most best plan_median)" 20000
ok "99 of 100 take $(most best plan_p99)" at_most "$(most best plan_p99)" 330000
ok "and all take $(most best plan_max)" at_most "$(most best plan_max)" 1000000
ok "from 128 hosts to 3,456, half of the jobs grow from $(growth 128) to $(growth 3456): ten times at most" \
	at_most "$(growth 3456)" $((10 * $(growth 128)))

cases_end
