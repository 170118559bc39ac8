#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What `make test` runs, and its last line: `N passed, N failed`, summed over all.
#
#   T="name ..."            only these tests (runner and kunit are names, too)
#   KERNELS="6.1 6.12 7.2"  build without warnings and test on each of these
set -euo pipefail
. "$(dirname "$0")/common.sh"

here=$(cd "$(dirname "$0")" && pwd)
total=$INA_BUILD/results/total
start=$SECONDS

# test_pick NAME...: of these tests, the ones asked for.
test_pick()
{
	local name
	for name; do
		[[ ${T:-} && " $T " != *" $name "* ]] || echo "$name"
	done
}

# test_boot NAME ARGS...: one boot, its verdict added to the total. A run without
# verdict (a kernel or module that does not build) is one failure.
test_boot()
{
	local name=$1 verdict=$INA_BUILD/results/$1/verdict rc=0
	shift
	rm -f "$verdict"
	"$here/${runner:-run.sh}" --name "$name" "$@" || rc=$?
	if [[ -s $verdict ]]; then
		cat "$verdict" >>"$total"
		((rc == 0)) || grep -q '^fail' "$verdict" ||
			echo "fail $name ${runner:-run.sh} exit status $rc" >>"$total"
	else
		echo "fail $name no verdict, exit status $rc" >>"$total"
	fi
}

# test_two PREFIX ARGS...: each test for two VMs in a pair of its own.
test_two()
{
	local prefix=$1 name
	shift
	# shellcheck disable=SC2046 # a list of names
	for name in $(test_pick $("$here/tests.sh" list two)); do
		runner=two.sh test_boot "$prefix$name" "$@" --size full "$name"
	done
}

# test_warnings VERSION: the module must build with W=1 and print no warning.
test_warnings()
{
	local version=$1 kernel log=$INA_BUILD/log/module-$1.log
	kernel=$("$here/kernel.sh" fast "$version") || {
		echo "fail build-$version the kernel does not build" >>"$total"
		return
	}
	rm -rf "$INA_BUILD/kmod-$(vm_release "$kernel")"
	if make -s -C "$INA_TOP" "KDIR=$kernel/build" W=1 module >"$log" 2>&1 &&
		! grep -E 'warning:|WARNING:|error:' "$log"; then
		echo "pass build-$version the module builds without warnings" | tee -a "$total"
	else
		echo "fail build-$version see ${log#"$INA_TOP/"}" | tee -a "$total"
	fi
}

# The debug kernel, in two boots: kmemleak makes it 2.5 times slower, so it only
# watches the unit tests and those in which the most comes and goes.
test_debug()
{
	local name
	local -a leak=() rest=()
	for name; do
		case $name in
		vm/kunit | smoke | teardown) leak+=("$name") ;;
		*) rest+=("$name") ;;
		esac
	done
	((!${#leak[@]})) || test_boot leak --kernel debug --size small "${leak[@]}"
	((!${#rest[@]})) || test_boot debug --kernel debug --size small --append kmemleak=off "${rest[@]}"
}

test_default()
{
	local -a full small stock
	# shellcheck disable=SC2046 # a list of names
	mapfile -t full < <(test_pick $("$here/tests.sh" list full))
	# shellcheck disable=SC2046 # a list of names
	mapfile -t small < <(test_pick $("$here/tests.sh" list small))
	# shellcheck disable=SC2046 # a list of names
	mapfile -t stock < <(test_pick $("$here/tests.sh" list stock))
	[[ ! $(test_pick kunit) ]] || small=(vm/kunit "${small[@]}")

	if [[ $(test_pick runner) ]]; then
		"$here/kernel.sh" fast >/dev/null
		say "the runner itself"
		"$here/selftest.sh" "$total" || echo "fail runner exit status $?" >>"$total"
	fi
	# What the tests leave of the processors builds the next kernel.
	if ((${#full[@]} && ${#small[@]})); then
		"$here/kernel.sh" fast >/dev/null
		nice -n 19 "$here/kernel.sh" debug >/dev/null &
	fi
	((!${#full[@]})) || test_boot fast --kernel fast --size full "${full[@]}"
	test_two '' --kernel fast
	((!${#small[@]})) || wait
	((!${#small[@]})) || test_debug "${small[@]}"
	((!${#stock[@]})) || test_boot stock --kernel stock --size full "${stock[@]}"
}

test_matrix()
{
	local version
	local -a full
	# shellcheck disable=SC2046 # a list of names
	mapfile -t full < <(test_pick $("$here/tests.sh" list full))
	for version in $KERNELS; do
		test_warnings "$version"
		((!${#full[@]})) || test_boot "fast-$version" --kernel "fast:$version" --size full "${full[@]}"
		test_two "fast-$version-" --kernel "fast:$version"
	done
}

mkdir -p "$INA_BUILD/results" "$INA_BUILD/log"
: >"$total"
if [[ ${KERNELS:-} ]]; then test_matrix; else test_default; fi
grep '^fail' "$total" || true
say "$((SECONDS - start)) s"
"$here/count.sh" "$total"
