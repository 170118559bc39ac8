#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Sum verdict files: print `N passed, N failed[, N skipped]`; the exit status is 0
# only if something passed and nothing failed.
#
#   count.sh VERDICT...
set -euo pipefail

awk '$1 == "pass" { pass++ } $1 == "fail" { fail++ } $1 == "skip" { skip++ }
END {
	printf "%d passed, %d failed", pass, fail
	if (skip) printf ", %d skipped", skip
	print ""
	exit !(pass && !fail)
}' "$@"
