#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What `make test` runs, and its last line: `N passed, N failed`, summed over all.
#
#   T="name ..."            only these tests (runner, kunit and host are names, too)
#   KERNELS="6.1 6.12 7.2"  build without warnings and test on each of these
set -euo pipefail
. "$(dirname "$0")/common.sh"

here=$(cd "$(dirname "$0")" && pwd)
total=$INA_BUILD/results/total
start=$SECONDS begun=$EPOCHSECONDS
slots=2

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

# test_listed WORD: the tests with this word in the list, of those asked for.
test_listed()
{
	# shellcheck disable=SC2046 # a list of names
	test_pick $("$here/tests.sh" list "$1")
}

# Those of full size that are content with one processor.
test_modest()
{
	comm -23 <(test_listed full | sort) <(test_listed smp | sort)
}

# test_late SECONDS KIND TEST...: a run of the continuous integration has to end; on a machine so slow
# that so much time is over, these are skipped, which is said.
test_late()
{
	local limit=$1 kind=$2 test
	shift 2
	[[ ${CI:-} ]] && ((SECONDS - start > limit)) || return
	for test; do
		echo "skip $test $kind: $((SECONDS - start)) s are over" | tee -a "$total"
	done
}

# Wait until one more may run.
test_free()
{
	while (($(jobs -rp | wc -l) >= slots)); do
		# How it ended is in the total.
		wait -n || true
	done
}

# test_beside COMMAND NAME ARGS...: beside others, its output behind its name. Tests of full size on the
# fast kernel come first where all want a processor.
# It has a process group of its own, so that it can be ended as a whole.
test_beside()
{
	test_free
	: >"$INA_BUILD/results/$2.pending"
	set -m
	{
		# What is slower already may refuse.
		[[ $2 =~ (fast|smp) ]] || renice -n $(($(nice) + 5)) "$BASHPID" >/dev/null || true
		"$@"
		rm "$INA_BUILD/results/$2.pending"
	} 2>&1 | sed -u "s/^/$(printf '%-8s' "$2") /" &
	set +m
}

# Wait for all of them. One that did not come to its end says nothing of itself.
test_together()
{
	local left
	wait
	for left in "$INA_BUILD"/results/*.pending; do
		[[ -e $left ]] || continue
		echo "fail $(basename "$left" .pending) did not end" >>"$total"
		rm "$left"
	done
}

test_end()
{
	local pid
	for pid in $(jobs -p); do
		# It may have ended by itself.
		kill -- "-$pid" 2>/dev/null || true
	done
}

# test_two PREFIX OPTION...: what needs two VMs.
test_two()
{
	local prefix=$1 name
	shift
	for name in $(test_listed two); do
		runner=two.sh test_beside test_boot "$prefix$name" "$@" "$name"
	done
}

# test_smp PREFIX KERNEL: what needs two processors at full size.
test_smp()
{
	local -a smp
	mapfile -t smp < <(test_listed smp)
	((!${#smp[@]})) || test_beside test_boot "$1smp" --kernel "$2" --size full "${smp[@]}"
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
	if vm_step "build the module with W=1 for $version" "$log" \
		make -s -C "$INA_TOP" "KDIR=$kernel/build" W=1 module &&
		! grep -E 'warning:|WARNING:|error:' "$log"; then
		echo "pass build-$version the module builds without warnings" | tee -a "$total"
	else
		echo "fail build-$version see ${log#"$INA_TOP/"}" | tee -a "$total"
	fi
}

# With what all else leaves of the processors. Before it the programs: where the source has yet to be
# unpacked, no kernel can be built meanwhile.
test_kernel()
{
	# Shown; who needs them builds them again, and fails.
	(flock 7; vm_step "build the programs" "$INA_BUILD/log/programs.log" \
		make -s -C "$INA_TOP" programs) 7>"$INA_BUILD/build.lock" || true
	nice -n 19 "$here/kernel.sh" "$1" >/dev/null
}

test_runner()
{
	say "the runner itself"
	"$here/selftest.sh" "$total" || echo "fail $1 exit status $?" >>"$total"
}

# The planner, on this machine.
test_host()
{
	local log=$INA_BUILD/log/host.log rc=0
	make -s -k -C "$INA_TOP" test-host >"$log" 2>&1 </dev/null || rc=$?
	sed -n 's/^ok [0-9]* - /pass host /p; s/^not ok [0-9]* - /fail host /p' "$log" >>"$total"
	((!rc)) || {
		echo "fail host exit status $rc, see ${log#"$INA_TOP/"}" >>"$total"
		tail -n 40 "$log"
	}
	say "host: $(grep -c '^ok ' "$log") passed"
}

# test_share N WEIGHTS SIZE TEST...: share N of these, by what they take and what each share weighs.
test_share()
{
	local n=$1 weights=$2 size=$3 test
	shift 3
	for test; do
		echo "$("$here/tests.sh" cost "$size" "$test") $test"
	done | sort -rn | awk -v n="$n" -v weights="$weights" 'BEGIN { of = split(weights, weight) } {
		into = 1
		for (i = 2; i <= of; i++)
			if (sum[i] / weight[i] < sum[into] / weight[into])
				into = i
		sum[into] += $1
		if (into == n)
			print $2
	}'
}

# test_full TEST...: on the fast kernel
test_full()
{
	local i
	local -a part
	for i in 1 2; do
		mapfile -t part < <(test_share $i "1 1" full "$@")
		((!${#part[@]})) || test_beside test_boot fast-$i --kernel fast --size full --cpus 1 "${part[@]}"
	done
}

# test_small TEST...: on the debug kernel, with its options in the caller's debug. The last
# share is a small one, so that no processor is idle for long at the end.
test_small()
{
	local i
	local -a part
	for i in 1 2 3; do
		mapfile -t part < <(test_share $i "2 2 1" small "$@")
		((${#part[@]})) || continue
		test_free
		test_late 3000 debug "${part[@]}" ||
			test_beside test_boot debug-$i "${debug[@]}" --cpus 1 "${part[@]}"
	done
}

# Two emulated VMs with one processor each take little longer than one with two, and far
# less than two with two each. So what needs no second processor goes first, while the debug
# kernel is built beside the fast one, which leaves a processor idle at times, and beside its tests,
# and what needs two VMs or processors last: three at a time, as tests often wait; of four each takes
# more than twice as long as of two. kmemleak makes the debug kernel slower, so it only watches the
# unit tests and those in which the most comes and goes, or cannot be allocated; these have two
# processors, of which they mostly need one.
test_default()
{
	local -a full small stock leak debug=(--kernel debug --size small)
	# Of the memory that these take in the end.
	slots=$(awk '/^MemAvailable/ { print ($2 > 12 * 2 ^ 20 ? 3 : 2) }' /proc/meminfo)
	mapfile -t full < <(test_modest)
	mapfile -t small < <(test_listed small | grep -vxE 'smoke|teardown|nomem')
	mapfile -t leak < <(test_pick kunit smoke teardown nomem | sed 's/^kunit/vm\/&/')
	mapfile -t stock < <(test_listed stock)
	((${#small[@]} + ${#leak[@]} == 0)) || test_beside test_kernel debug
	[[ ! $(test_pick runner)${full[*]} ]] || "$here/kernel.sh" fast >/dev/null
	test_full "${full[@]}"
	[[ ! $(test_pick runner) ]] || test_beside test_runner runner
	[[ ! $(test_pick host) ]] || test_beside test_host host
	((!${#stock[@]})) || test_beside test_boot stock --kernel stock --size full --cpus 1 "${stock[@]}"
	((!${#leak[@]})) || test_beside test_boot leak "${debug[@]}" "${leak[@]}"
	debug+=(--append kmemleak=off)
	((!${#small[@]})) || test_small "${small[@]}"
	test_two '' --kernel fast --size full
	test_free
	# shellcheck disable=SC2046 # a list of names
	test_late 4200 debug $(test_listed two) || test_two debug- "${debug[@]}"
	# Beside one other, which is no fast one.
	slots=2
	test_smp '' fast
	test_together
}

test_matrix()
{
	local version
	local -a full
	mapfile -t full < <(test_modest)
	for version in $KERNELS; do
		test_warnings "$version"
	done
	for version in $KERNELS; do
		((!${#full[@]})) || test_beside test_boot "fast-$version" --kernel "fast:$version" \
			--size full --cpus 1 "${full[@]}"
	done
	test_together
	slots=1
	for version in $KERNELS; do
		test_two "fast-$version-" --kernel "fast:$version" --size full
		test_smp "fast-$version-" "fast:$version"
	done
	test_together
}

# test_why: what failed cases of this run have printed, which may be far above by now, if anywhere.
test_why()
{
	local name
	while read -r name; do
		find "$INA_BUILD/results" -path '*/runner-*' -prune -o -name "${name//\//-}.log" \
			-newermt "@$begun" -exec awk '/^#/ { said = said $0 "\n"; next }
			/^not ok/ { printf "%s:\n%s%s\n", FILENAME, said, $0 }
			{ said = "" }' {} + | tail -n 40 | cut -c1-300
	done < <(sed -n 's/^fail \([^ ]*\) .*/\1/p' "$total" | sort -u)
}

mkdir -p "$INA_BUILD/results" "$INA_BUILD/log"
rm -f "$INA_BUILD"/results/*.pending
: >"$total"
trap test_end EXIT
if [[ ${KERNELS:-} ]]; then test_matrix; else test_default; fi
test_why
# There may be none.
grep -E '^(fail|again)' "$total" || true
say "$((SECONDS - start)) s"
"$here/count.sh" "$total"
