#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The runner's own test: each way a test or a guest can fail must be reported as
# that failure and with a non-zero exit status. Nine boots of the fast kernel.
#
#   selftest.sh VERDICT     appends `pass|fail runner TEXT` lines to VERDICT
set -euo pipefail
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/ktap.sh"
. "$(dirname "$0")/splats.sh"

here=$(cd "$(dirname "$0")" && pwd)
out=$1

# selftest_run NAME ARGS...: run, keep what it says in log and the exit status in rc.
selftest_run()
{
	local name=$1
	shift
	rc=0 log=$INA_BUILD/log/runner-$name.log
	INA_NO_BUILD=1 "$here/${runner:-run.sh}" --name "runner-$name" --cpus 1 "$@" >"$log" 2>&1 || rc=$?
	verdict=$INA_BUILD/results/runner-$name/verdict
}

report()
{
	echo "$1 runner $2" >>"$out"
	printf '        %s runner %s\n' "$1" "$2"
}

# selftest_expect TEXT LINE: the verdict must have this very line (a regex).
selftest_expect()
{
	if grep -qxE "$2" "$verdict"; then
		report pass "$1"
	else
		report fail "$1 (no line '$2' in ${verdict#"$INA_TOP/"})"
	fi
}

# selftest_expect_not TEXT LINE: the verdict must not have this line.
selftest_expect_not()
{
	if grep -qxE "$2" "$verdict"; then
		report fail "$1 (a line '$2' in ${verdict#"$INA_TOP/"})"
	else
		report pass "$1"
	fi
}

# selftest_expect_tail TEXT PATTERN: the end of the kernel log was shown, with this in it.
selftest_expect_tail()
{
	if sed -n '/^--- the end of .*console.log$/,/^---$/p' "$log" | grep -E "$2" >/dev/null; then
		report pass "$1"
	else
		report fail "$1 (no '$2' at the end of ${log#"$INA_TOP/"})"
	fi
}

selftest_expect_status()
{
	if ((rc)); then report pass "$1"; else report fail "$1 (exit status 0)"; fi
}

# What kernels say, one line of each kind, and what is no fault.
selftest_splats()
{
	local line
	while read -r line; do
		grep -qE "$INA_SPLATS" <<<"$line" || { report fail "not taken for a splat: $line"; return; }
	done <<-'END'
		WARNING: CPU: 0 PID: 1 at kernel/softirq.c:362 __local_bh_enable_ip+0x1/0x2
		WARNING: possible circular locking dependency detected
		WARNING: suspicious RCU usage
		BUG: KASAN: slab-out-of-bounds in ina_rx+0x1/0x2 [ina_agg]
		BUG kmalloc-64 (Tainted: G           O      ): Right Redzone overwritten
		BUG: sleeping function called from invalid context at mm/slab.h:494
		BUG: workqueue lockup - pool cpus=0 node=0 flags=0x0 nice=0 stuck for 30s!
		INFO: trying to register non-static key.
		turning off the locking correctness validator.
		INFO: task rmmod:12 blocked for more than 120 seconds.
		rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:
		watchdog: BUG: soft lockup - CPU#0 stuck for 26s! [bash:12]
		ODEBUG: free active (active state 0) object type: timer_list hint: ina_tick+0x0/0x1
		bash: page allocation failure: order:4, mode:0x40dc0(GFP_KERNEL|__GFP_COMP|__GFP_ZERO)
		unregister_netdevice: waiting for eth0 to become free. Usage count = 2
		Unable to handle kernel paging request at virtual address dead000000000108
		refcount_t: underflow; use-after-free.
		Call Trace:
		Call trace:
	END
	if grep -qE "$INA_SPLATS" <<-'END'
		ina_agg: loading out-of-tree module taints kernel.
		ina_agg: in-network aggregation 0.1
		IPv6: ADDRCONF(NETDEV_CHANGE): eth0: link becomes ready
		kmemleak: Automatic memory scanning thread ended
	END
	then
		report fail "a line that is no splat is taken for one"
	else
		report pass "splats are told from other lines"
	fi
}

# selftest_leaks TEXT VERDICT FILE: what is said of this report of kmemleak
selftest_leaks()
{
	local got
	got=$(ktap_leaks "$3")
	if [[ $got == "$2" ]]; then report pass "$1"; else report fail "$1 ($got)"; fi
}

# What a KUnit case said comes with it if it failed, or did not end.
selftest_kunit()
{
	local got
	got=$(ktap_kunit <<-'END'
		[    1.000000]     KTAP version 1
		[    1.000000]     # Subtest: ina_wire
		[    1.000000]     1..3
		[    1.000001]     # parse__short: test_seed=1
		[    1.000002]     ok 1 - parse__short
		[    1.000003]     # parse__long: EXPECTATION FAILED at kmod/wire_test.c:1
		[    1.000003]     Expected 1 == 2
		[    1.000003] it is too long
		[    1.000004]     not ok 2 - parse__long
		[    1.000005]     # parse__none: ASSERTION FAILED at kmod/wire_test.c:2
	END
	)
	if [[ $got == "ok 1 - ina_wire.parse__short
# # parse__long: EXPECTATION FAILED at kmod/wire_test.c:1
# Expected 1 == 2
# it is too long
not ok 2 - ina_wire.parse__long
# # parse__none: ASSERTION FAILED at kmod/wire_test.c:2
not ok 3 - ina_wire: did not end
1..3" ]]; then
		report pass "what a failed KUnit case said is shown"
	else
		report fail "what a failed KUnit case said is shown ($got)"
	fi
}

# selftest_count TEXT LAST VERDICTS: what they are summed up to, with this exit status and last line
selftest_count()
{
	local got
	got=$(printf '%b' "$3" | "$here/count.sh" /dev/stdin; echo "status $?")
	if [[ ${got//$'\n'/ } == "$2" ]]; then report pass "$1"; else report fail "$1 ($got)"; fi
}

mkdir -p "$INA_BUILD/log"
selftest_splats
leaks=$INA_BUILD/log/runner-kmemleak.log
: >"$leaks"
selftest_leaks "an empty report of kmemleak passes" "pass kmemleak no object leaked" "$leaks"
cat >"$leaks" <<'END'
unreferenced object 0xffff0000c6b5a000 (size 1024):
  comm "inaconf", pid 412, jiffies 4294938123 (age 24.560s)
  hex dump (first 32 bytes):
    00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00  ................
  backtrace:
    [<000000004b2c1a2e>] ina_job_create+0x44/0x2e0 [ina_agg]
unreferenced object 0xffff0000c6b5b400 (size 64):
  comm "inaconf", pid 412, jiffies 4294938123 (age 24.560s)
END
selftest_leaks "objects in it fail the run" "fail kmemleak 2 objects leaked" "$leaks"
echo "what no kernel said yet" >"$leaks"
selftest_leaks "so does anything else in it" "fail kmemleak 0 objects leaked" "$leaks"
rm "$leaks"
selftest_leaks "and that there is none" "fail kmemleak no report" "$leaks"
selftest_kunit
selftest_count "one failure fails the whole" "2 passed, 1 failed, 1 skipped status 1" \
	"pass a b\nfail a c\nskip a d\npass a fail\n"
selftest_count "so does a whole without a case that passed" "0 passed, 0 failed, 1 skipped status 1" \
	"skip a b\n"
selftest_count "what passed and was skipped does not" "1 passed, 0 failed, 1 skipped status 0" \
	"pass a b\nskip a c\n"
selftest_run tests --quiet vm/selftest/pass vm/selftest/fail vm/selftest/silent vm/selftest/short \
	vm/selftest/splat vm/selftest/clocked vm/selftest/late vm/selftest/both vm/selftest/hang \
	vm/selftest/panic vm/selftest/pass
selftest_expect_status "a failed run exits with non-zero"
selftest_expect "a passed case is reported" 'pass vm/selftest/pass passes'
selftest_expect "a skipped case is reported" 'skip vm/selftest/pass is skipped.*'
selftest_expect "a failed case is reported" 'fail vm/selftest/fail fails on purpose'
selftest_expect "a test without cases fails" 'fail vm/selftest/silent reported no case.*'
selftest_expect "a test short of its plan fails" 'fail vm/selftest/short planned 3 cases, reported 1'
selftest_expect "a kernel warning fails the test" 'fail vm/selftest/splat kernel log: .*WARNING:.*'
selftest_expect "a test with a failed clocked case is run again" 'again vm/selftest/clocked keeps time'
selftest_expect "and passes if it does not fail again" 'pass vm/selftest/clocked keeps time'
selftest_expect "a clocked case that fails again fails" 'fail vm/selftest/late never keeps time'
selftest_expect "a case that is not clocked fails at once" 'fail vm/selftest/both fails the first time'
selftest_expect_not "and is not run again" 'pass vm/selftest/both fails the first time'
selftest_expect "a test that hangs is ended" 'fail vm/selftest/hang ended by its time limit.*'
selftest_expect "a panic is reported" 'fail vm/selftest/panic kernel panic: sysrq.*'

selftest_run stuck --quiet --timeout 5 vm/selftest/stuck vm/selftest/pass
selftest_expect_status "a guest that hangs exits with non-zero"
selftest_expect "a guest that hangs is ended" 'fail vm/selftest/stuck the VM was ended after .*'
selftest_expect "a test not reached is reported" 'fail vm/selftest/pass not run'

# The first QEMU dies before any test.
rm -rf "$INA_BUILD/results/runner-lost"
(
	for ((i = 0; i < 600; i++)); do
		# There is none until it is started.
		pid=$(cat "$INA_BUILD/results/runner-lost/qemu.pid" 2>/dev/null) || true
		[[ ! $pid ]] || { kill -KILL "$pid" && break; }
		sleep 0.1
	done
) &
selftest_run lost --quiet vm/selftest/pass
selftest_expect "a VM that is lost as it boots is booted again" 'pass vm/selftest/pass passes'
if ((!rc)) && grep -q 'the VM ended before its tests did: once more' "$log"; then
	report pass "which is said"
else
	report fail "which is said (exit status $rc, see $log)"
fi

selftest_run early --quiet --append rootfstype=none vm/selftest/pass
selftest_expect_status "a guest that panics as it boots exits with non-zero"
selftest_expect "its panic is reported" 'fail boot kernel panic: VFS: .*'
if grep -q 'once more' "$log"; then report fail "at once"; else report pass "at once"; fi

selftest_run behind --quiet vm/selftest/behind
selftest_expect_status "a warning behind the last test exits with non-zero"
selftest_expect "a warning behind the last test is reported" 'fail console kernel log: .*WARNING:.*'

selftest_run off vm/selftest/off
selftest_expect_status "a guest that powers off exits with non-zero"
selftest_expect "a power-off is reported" 'fail vm/selftest/off the VM ended before its tests did'
selftest_expect_tail "the end of the kernel log is shown" 'sysrq: Power Off'

runner=two.sh selftest_run second vm/selftest/second
selftest_expect_status "a second guest that panics exits with non-zero"
selftest_expect "the first guest has gone on" 'pass vm/selftest/second sees the end of the second'
selftest_expect "the panic of the second is reported" 'fail vm/selftest/second kernel panic: sysrq.*'
selftest_expect "and that nobody has ordered it" 'fail vm/selftest/second VM 2 did not end its test, boot 1'
selftest_expect_tail "the end of its kernel log is shown" 'Kernel panic'
