#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What `make chaos` runs: selftests/chaos.sh for long, on the fast kernel and then on
# the debug kernel with all its checkers, kmemleak included. The last lines are what each
# came to, and `N passed, N failed`.
#
#   INA_CHAOS_SECONDS=600   how long on each
#   INA_SEED=N              repeat the actions of a run
#   KINDS="fast debug"      on which kernels
set -euo pipefail
. "$(dirname "$0")/common.sh"

here=$(cd "$(dirname "$0")" && pwd)
export INA_CHAOS_SECONDS=${INA_CHAOS_SECONDS:-600}
verdicts=()
rc=0

for kind in ${KINDS:-fast debug}; do
	size=full
	[[ $kind == fast ]] || size=small
	run=$INA_BUILD/results/chaos-$kind
	rm -rf "$run"
	# The start, the calm and the end take their time, too.
	"$here/run.sh" --kernel "$kind" --size "$size" --name "chaos-$kind" \
		--limit $((INA_CHAOS_SECONDS + 400)) --timeout $((INA_CHAOS_SECONDS * 2 + 1000)) \
		chaos || rc=1
	[[ ! -e $run/verdict ]] || verdicts+=("$run/verdict")
done
for kind in ${KINDS:-fast debug}; do
	# A VM that did not boot has no log; its verdict is missing as well.
	sed -n "s/^chaos: /chaos ($kind kernel): /p; s/^# \(INA_SEED=.*\)/\1/p" \
		"$INA_BUILD/results/chaos-$kind/chaos.log" || true
done
((${#verdicts[@]})) || die "no run has a verdict"
"$here/count.sh" "${verdicts[@]}" || rc=1
exit "$rc"
