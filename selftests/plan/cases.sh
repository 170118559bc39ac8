# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# Cases of a program from the outside, in a folder of their own; KTAP on standard output. What
# the program said is expected in out and err there. Sourced by the scripts of this folder.
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit
count=0
failed=0

# ok TEXT COMMAND...: the command succeeds.
ok()
{
	local text=$1
	shift
	count=$((count + 1))
	if "$@"; then
		echo "ok $count - $text"
	else
		echo "not ok $count - $text"
		sed 's/^/# /' out err 2>/dev/null | head -40 # there may be none
		failed=$((failed + 1))
	fi
}

cases_end()
{
	echo "1..$count"
	exit $((failed > 0))
}
