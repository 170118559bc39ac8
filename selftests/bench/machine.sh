# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# Sourced, never run.

# machine: what a report calls the machine it was measured on
machine()
{
	local name
	name=$(LC_ALL=C lscpu | sed -n 's/^Model name: *\([^ -].*\)/\1/p' | head -n 1)
	echo "${name:-CPU of $(uname -m)}"
}
