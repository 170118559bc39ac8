#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The guest's side of run.sh: run each test, read its KTAP, search the kernel log
# for splats, see that the module is gone, and write one verdict line per case:
# `pass|fail|skip|again TEST TEXT`, and `end` as the last one.
#
#   guest.sh RESULTS
set -euo pipefail

results=$1
here=$(cd "$(dirname "$0")" && pwd)
selftests=$(dirname "$here")
tests=() programs=() libraries=()
# shellcheck source=/dev/null
. "$results/run.conf"
. "$here/ktap.sh"
. "$here/splats.sh"
export INA_KO INA_KO_KUNIT INA_BUILD INA_SIZE INA_KIND INA_SPLATS
export INA_RESULTS=$results

# From memory: each look at a file of the host is a round trip, also for libraries that are not
# where they are looked for. A program without libraries starts in half the time, so the shell and what
# scripts start most often are of that kind.
mkdir -p /run/ina/bin /run/ina/lib
cp -L "${programs[@]}" /run/ina/bin
cp -L "${libraries[@]}" /run/ina/lib
mv /run/ina/bin/bash-static /run/ina/bin/bash
for program in cat cut grep head mktemp rm sed sleep sort tr wc; do
	ln -s busybox "/run/ina/bin/$program"
done
export PATH=/run/ina/bin:$INA_BUILD/userlib:$INA_BUILD/netlink_tool:$INA_BUILD/selftests:/usr/sbin:/sbin:$PATH
export LD_LIBRARY_PATH=/run/ina/lib
# Without it init would die at the end, which is a panic. A minimal system has none.
[[ $(command -v poweroff) ]] || ln -s "$(command -v busybox)" /usr/sbin/poweroff

# Without a clock the guest is in 1970; its configuration was written just now.
printf -v now '%(%s)T' -1
((now > 10 ** 9)) || date -us "@$(stat -c %Y "$results/run.conf")" >/dev/null

verdict()
{
	echo "$*" >>"$results/verdict"
}

# The kernel log since the mark of this test.
guest_log()
{
	dmesg | awk -v mark="$mark" 'index($0, mark) { on = 1; next } on'
}

guest_check_log()
{
	local test=$1 hit
	guest_log >"$log.dmesg"
	hit=$(grep -m 1 -E "$INA_SPLATS" "$log.dmesg") || return 0
	verdict "fail $test kernel log: ${hit#*] }"
}

# A module left behind is a failure; it is removed so that the next test can run.
guest_check_module()
{
	local test=$1 ns
	grep -q '^ina_agg ' /proc/modules || return 0
	verdict "fail $test the module is still loaded"
	for ns in $(ip netns list 2>/dev/null | awk '{ print $1 }'); do
		ip netns del "$ns" || true
	done
	rmmod ina_agg || true
}

# guest_run CLOCKED TEST OPTION...: run one test and write its verdict; CLOCKED is that of a clocked
# case that failed.
guest_run()
{
	local clocked=$1 test=$2 limit=240 option plain='' rc=0 pid behind
	shift 2
	for option; do
		case $option in
		limit=*) limit=${option#limit=} ;;
		plain) plain=y ;;
		esac
	done
	[[ $INA_KIND != debug ]] || limit=$((limit * 2))
	log=$results/${test//\//-}.log
	mark="ina-test: $test $RANDOM$RANDOM"
	echo "$test" >"$results/running"
	echo "$test" >>"$results/started"
	echo "$mark" >/dev/kmsg
	behind=$(wc -l <"$results/verdict")

	# A file, not a pipe: what a test leaves running must not hold us up. In memory: 9p may fail
	# to read what is just being written.
	: >/run/ina-test.log
	setsid timeout -k 5 "$limit" bash "$selftests/$test.sh" </dev/null >>/run/ina-test.log 2>&1 &
	pid=$!
	tail -n +1 -f -s 0.2 --pid="$pid" /run/ina-test.log | tee -a "$results/live.log" "$log" |
		if [[ $plain ]]; then cat >/dev/null; else ktap_verdicts "$test" "$clocked"; fi >>"$results/verdict"
	wait "$pid" || rc=$?
	pkill -KILL -s "$pid" || true
	case $rc in
	124 | 137) verdict "fail $test ended by its time limit of $limit s" ;;
	*) if [[ $plain ]]; then plain_verdict "$test" "$rc"; else ktap_judge "$test" "$rc" "$behind"; fi ;;
	esac
	guest_check_log "$test"
	guest_check_module "$test"
}

# guest_again TEST OPTION...: once more, if only clocked cases failed: the machine may have stood still,
# and what is broken fails again.
guest_again()
{
	local log=$results/${1//\//-}.log
	grep -q "^again $1 " "$results/verdict" && ! grep -q "^fail $1 " "$results/verdict" || return 0
	mv "$log" "${log%.log}-first.log"
	guest_run fail "$@"
	# The second time it has to pass.
	grep -q '^ok' "$log" || verdict "fail $1 has passed no case when it was run again"
}

plain_verdict()
{
	case $2 in
	0) verdict "pass $1 exit status 0" ;;
	4) verdict "skip $1 exit status 4" ;;
	*) verdict "fail $1 exit status $2" ;;
	esac
}

# Objects allocated since boot by nobody who is left: a first scan only colours.
guest_check_leaks()
{
	[[ $INA_KMEMLEAK ]] || return 0
	echo "kmemleak" >"$results/running"
	# Without memory it stops, and refuses.
	if ! echo scan >"$INA_KMEMLEAK"; then
		verdict "fail kmemleak has switched itself off"
		return
	fi
	sleep 6
	echo scan >"$INA_KMEMLEAK"
	cat "$INA_KMEMLEAK" >"$results/kmemleak.log"
	verdict "$(ktap_leaks "$results/kmemleak.log")"
	head -n 60 "$results/kmemleak.log" >/dev/console
}

ulimit -c 0
mountpoint -q /sys/kernel/debug || mount -t debugfs debugfs /sys/kernel/debug
mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null || true
# What finds leaks, unless it was switched off at boot.
INA_KMEMLEAK=/sys/kernel/debug/kmemleak
[[ -w $INA_KMEMLEAK && ! $(</proc/cmdline) =~ kmemleak=off ]] || INA_KMEMLEAK=
export INA_KMEMLEAK
[[ ! $INA_KMEMLEAK ]] || echo clear >"$INA_KMEMLEAK"
ip link set lo up
# No wait for addresses, in all namespaces to come.
echo 1 >/proc/sys/net/core/devconf_inherit_init_net
echo 0 | tee /proc/sys/net/ipv6/conf/{all,default}/accept_dad >/dev/null
for entry in "${tests[@]}"; do
	# shellcheck disable=SC2086 # a test and its options
	guest_run again $entry
	# shellcheck disable=SC2086
	guest_again $entry
done
guest_check_leaks
verdict end
sync
