#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The second of two guests panics, which nobody has ordered; the first sees it and ends.
# options: limit=1300
if [[ $INA_VM == 2 ]]; then
	. "$(dirname "$0")/panic.sh"
fi
echo "TAP version 13"
echo "1..1"
for ((i = 0; i < 1200; i++)); do
	! grep -aq 'Kernel panic' "$INA_RESULTS/vm2-1/console.log" 2>/dev/null || break
	sleep 1
done
((i < 1200)) || printf 'not '
echo "ok 1 - sees the end of the second"
