#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Read selftests/tests.list, one test a line: NAME [full] [small] [stock] [two] [smp]
# [plain] [cost=FULL/SMALL] [limit=SECONDS]. None of the first four means full and small; stock
# is a run on the distribution's kernel; two is a test for two VMs; smp needs two processors at
# full size; plain is a test without KTAP, judged by its exit status; cost is about how
# many seconds it takes on the fast kernel and, the small pass, on the debug kernel, 20 if absent, so that
# VMs get equal shares.
# A test in no list may say the same words in a line `# options: ...` of its own.
#
#   tests.sh list WORD              the names with full, small, stock, two or smp
#   tests.sh options TEST           the words after a test's name
#   tests.sh cost SIZE TEST         what it takes
#   tests.sh timeout KIND TEST...   seconds these tests may take in a VM
set -euo pipefail
. "$(dirname "$0")/common.sh"

list=$INA_TOP/selftests/tests.list

tests_lines()
{
	[[ ! -e $list ]] || sed 's/#.*//' "$list" | awk 'NF'
}

tests_options()
{
	local script=$INA_TOP/selftests/$1.sh
	tests_lines | awk -v name="$1" '$1 == name { $1 = ""; print }'
	[[ ! -e $script ]] || sed -n 's/^# options: / /p' "$script"
}

tests_list()
{
	tests_lines | awk -v size="$1" '{
		sized = / (full|small|stock|two)( |$)/
		if ($0 ~ " " size "( |$)" || (!sized && size ~ /^(full|small)$/))
			print $1
	}'
}

tests_cost()
{
	local cost
	cost=$(tests_options "$2" | sed -n 's/.*cost=\([0-9/]*\).*/\1/p' | head -n 1)
	if [[ $1 == full ]]; then
		cost=${cost%/*}
	else
		cost=${cost#*/}
	fi
	echo "${cost:-20}"
}

tests_timeout()
{
	local kind=$1 sum=60 most=0 test limit
	shift
	for test; do
		limit=$(tests_options "$test" | sed -n 's/.*limit=\([0-9]*\).*/\1/p' | head -n 1)
		sum=$((sum + ${limit:-240})) most=$((${limit:-240} > most ? ${limit:-240} : most))
	done
	# One may be run again.
	sum=$((sum + most))
	[[ $kind != debug ]] || sum=$((sum * 2))
	echo "$sum"
}

verb=$1
shift
"tests_$verb" "$@"
