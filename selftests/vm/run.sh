#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Boot one VM, run a list of tests in it, report. The verdict is the file the
# guest wrote; a guest that did not finish it has failed.
#
#   run.sh [--kernel KIND[:VERSION]] [--size full|small] [--cpus N] [--memory SIZE]
#          [--timeout SECONDS] [--limit SECONDS] [--name RUN] [--append ARGS]
#          [--qemu ARGS] [--live] [--quiet] TEST...
#
# A test is selftests/TEST.sh. --timeout counts from the first test on; the boot
# has INA_BOOT_TIMEOUT seconds of its own. --limit is the time limit of each test, in
# place of its own. --live shows a test's output instead of its cases.
# Results: build/results/RUN/ (verdict, console.log, one TEST.log each).
set -euo pipefail
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/splats.sh"

here=$(cd "$(dirname "$0")" && pwd)

usage()
{
	sed -n '/^#   run/,/^# Results/s/^# \{0,1\}//p' "$0" >&2
	exit 2
}

run_options()
{
	kind=fast version='' size=full cpus=2 memory='' timeout='' limit='' name='' append='' qemu='' live='' quiet=''
	while (($#)); do
		case $1 in
		--kernel) kind=${2%%:*} version=$([[ $2 != *:* ]] || echo "${2#*:}"); shift 2 ;;
		--size) size=$2; shift 2 ;;
		--cpus) cpus=$2; shift 2 ;;
		--memory) memory=$2; shift 2 ;;
		--timeout) timeout=$2; shift 2 ;;
		--limit) limit=$2; shift 2 ;;
		--name) name=$2; shift 2 ;;
		--append) append=$2; shift 2 ;;
		--qemu) qemu=$2; shift 2 ;;
		--live) live=y; shift ;;
		--quiet) quiet=y; shift ;;
		-*) usage ;;
		*) break ;;
		esac
	done
	tests=("$@")
	((${#tests[@]})) || usage
	[[ $size == full || $size == small ]] || usage
	[[ $version ]] || version=$(vm_default_version)
	[[ $name ]] || name=$kind-$version-$size-$$
	# With large pages, the console's buffers alone take more than one.
	[[ $memory ]] || memory=$([[ $kind == debug ]] && echo 4G || echo 2G)
}

# run_same FROM TO: a copy of this build of the module, in which make finds all up to date.
run_same()
{
	rm -rf "$2.new"
	cp -a "$1" "$2.new"
	find "$2.new" -name '.*.cmd' -exec sed -i "s|$1|$2|g" {} +
	mv "$2.new" "$2"
}

# The module for this kernel, plain and with the KUnit suites when asked for, and
# the programs. The tests decide themselves what they load.
run_build()
{
	local -a mk=(make -s -C "$INA_TOP" "KDIR=$kernel/build")
	local krel dir
	krel=$(vm_release "$kernel")
	dir=$INA_BUILD/kmod-$krel
	ko=$dir/ina_agg.ko ko_kunit=$dir-kunit/ina_agg.ko
	[[ ! ${INA_NO_BUILD:-} ]] || return 0
	# One at a time: who comes second finds it built.
	exec 7>"$INA_BUILD/build.lock"
	flock 7
	vm_step "build the module for $krel" "$results/build.log" "${mk[@]}" module
	if [[ " ${tests[*]} " == *" vm/kunit "* ]]; then
		[[ -d $dir-kunit ]] || run_same "$dir" "$dir-kunit"
		vm_step "build the module with KUnit for $krel" "$results/build-kunit.log" \
			"${mk[@]}" INA_KUNIT=1 module
	fi
	vm_step "build the programs" "$results/build-programs.log" "${mk[@]}" programs
	if [[ " ${tests[*]} " =~ " bench/"(peers|sweep)" " ]]; then
		vm_step "build the peers" "$results/build-peers.log" "${mk[@]}" peers
	fi
	exec 7>&-
}

# Programs that tests start most often, of ours and others, and their libraries: the guest copies
# them to its memory.
run_programs()
{
	local -a programs libraries
	[[ $(type -P bash-static) && $(type -P busybox) ]] || die "bash-static or busybox is missing: make test installs them"
	mapfile -t programs < <(PATH=/usr/sbin:/usr/bin:/sbin:/bin type -P awk bash-static busybox insmod ip \
		rmmod seq tail tc tee timeout)
	mapfile -t -O "${#programs[@]}" programs < <(find "$INA_BUILD"/{userlib/ina-perf,netlink_tool/inaconf,selftests} \
		-maxdepth 1 -type f -executable)
	mapfile -t libraries < <(LD_LIBRARY_PATH=$INA_BUILD/userlib ldd "${programs[@]}" 2>/dev/null |
		awk '$2 == "=>" && $3 ~ /^\// && !seen[$1]++ { print $3 }')
	printf 'programs=('
	printf '%q ' "${programs[@]}"
	printf ')\nlibraries=('
	printf '%q ' "${libraries[@]}"
	echo ")"
}

run_conf()
{
	local test word
	{
		printf '%s=%q\n' INA_KO "$ko" INA_KO_KUNIT "$ko_kunit" INA_BUILD "$INA_BUILD" \
			INA_SIZE "$size" INA_KIND "$kind"
		for word in INA_SEED INA_CHAOS_SECONDS INA_VM ${!BENCH_*}; do
			[[ ! ${!word:-} ]] || printf 'export %s=%q\n' "$word" "${!word}"
		done
		run_programs
		echo "tests=("
		for test in "${tests[@]}"; do
			printf '\t%q\n' "$test $("$here/tests.sh" options "$test" | xargs) ${live:+plain} ${limit:+limit=$limit}"
		done
		echo ")"
	} >"$results/run.conf"
}

# The kernel log goes to the serial line; the debug kernel dies of any splat.
run_append()
{
	# The host's files do not change meanwhile, but for the results, a mount of their own.
	echo "rootflags=version=9p2000.L,trans=virtio,access=any,cache=loose"
	echo "$append log_buf_len=4M printk.time=1 kunit.enable=1 kunit.autorun=1"
	# A program that is always at the same addresses is translated once, not each time it starts.
	echo norandmaps
	# An emulated CPU may wait long for a busy host's.
	echo "rcupdate.rcu_cpu_stall_timeout=120"
	# Nor does x86 see its timer tick in the few moments it looks for it. All CPUs count by
	# the host's clock, which is read at once; that of a device is not.
	[[ $(uname -m) != x86_64 ]] || echo no_timer_check tsc=reliable
	[[ $kind != stock ]] || echo "sysctl.kernel.watchdog_thresh=60"
	[[ $kind != debug ]] || echo "panic_on_warn=1 hung_task_panic=1"
	# Only one test looks at it, and it costs the debug kernel a lock for each page that is mapped.
	[[ $kind != debug || " ${tests[*]} " == *" netlink "* ]] || echo cgroup_disable=memory
	# Whose lack of memory it may ask for.
	[[ " ${tests[*]} " != *" nomem "* ]] || echo slub_debug=A,skbuff_head_cache
	# Nobody attacks it, and an emulated CPU pays for each way into the kernel.
	[[ $kind == stock ]] || echo "mitigations=off BASH_ENV=$here/virtme.sh"
	echo "panic=-1"
}

# Start the VM in the background: sets vm_pid. QEMU's own pid is in qemu.pid.
run_boot()
{
	local ports=2 accel slow=''
	accel=$("$here/accel.sh" "$accel_kernel")
	# Emulated byte by byte.
	[[ $(uname -m) != x86_64 || $accel == kvm ]] || slow=,erms=off,fsrm=off
	# On arm64 all of virtme's six are on one device.
	[[ $(uname -m) == x86_64 ]] || ports=8
	# Sums want a CPU that has all vector registers; an emulated one by default has not.
	[[ ! " ${tests[*]} " =~ " "(vm/kunit|dtypes)" " ]] ||
		qemu+=" -cpu max$slow"
	# With room for 31 serial ports on each of virtme's devices, QEMU polls some 400 file descriptors for
	# each timer of the guest.
	qemu+=" -global virtio-serial-device.max_ports=$ports"
	local -a args=(--run "$(realpath "$kernel/vmlinuz")" --cpus "$cpus" --memory "$memory" --user root
		--cwd "$INA_TOP" --rwdir "$results" --force-9p --verbose
		--append "$(run_append | xargs)" "--qemu-opts=-pidfile $results/qemu.pid -no-reboot $qemu"
		--exec "$here/guest.sh $results")
	[[ $accel == kvm ]] || args+=(--disable-kvm)
	# From /: vng looks a folder of the guest up relative to where it runs.
	(cd / && exec vng "${args[@]}") </dev/null >"$results/console.log" 2>&1 &
	vm_pid=$!
}

# run_end_vm: end the VM if it still runs. QEMU first: vng waits for it.
run_end_vm()
{
	local pid i
	[[ ${vm_pid:-} ]] || return 0
	pid=$(cat "$results/qemu.pid" 2>/dev/null) || true
	# If it crashed, its number may be another's by now.
	grep -qsF "$results/qemu.pid" "/proc/$pid/cmdline" || pid=
	[[ ! $pid ]] || kill "$pid" 2>/dev/null || true
	for ((i = 0; i < 50; i++)); do
		kill -0 "$vm_pid" 2>/dev/null || return 0
		sleep 0.1
	done
	[[ ! $pid ]] || kill -9 "$pid" 2>/dev/null || true
	kill -9 "$vm_pid" 2>/dev/null || true
}

# Show what the guest wrote since the last call.
run_show()
{
	local line size
	if [[ $live ]]; then
		size=$(stat -c %s "$results/live.log")
		tail -c +$((shown + 1)) "$results/live.log" | head -c $((size - shown)) || true
		shown=$size
		return
	fi
	while read -r line; do
		shown=$((shown + 1))
		[[ $quiet || $line == end ]] || printf '%4d s  %s\n' $((SECONDS - start)) "$line"
	done < <(tail -n +$((shown + 1)) "$results/verdict")
}

# Wait for the VM, at most its time limits: 0 if it ended by itself. Sets reason
# if not.
run_wait()
{
	local last=$SECONDS booted=''
	while kill -0 "$vm_pid" 2>/dev/null; do
		run_show
		[[ $booted || ! -e $results/started ]] || booted=$SECONDS
		if [[ $booted ]] && ((SECONDS - booted >= timeout)); then
			reason="the VM was ended after $timeout s"
			return 1
		elif [[ ! $booted ]] && ((SECONDS - start >= boot_timeout)); then
			reason="the VM did not boot in $boot_timeout s"
			return 1
		elif [[ ! $booted ]] && (($(date +%s) - $(stat -c %Y "$results/console.log") >= 240)); then
			reason="the VM was silent for 240 s while it booted"
			return 1
		fi
		if [[ ! $quiet && ! $live ]] && ((SECONDS - last >= 60)); then
			say "$(printf '%4d s  ... %s' $((SECONDS - start)) "$(cat "$results/running" 2>/dev/null)")"
			last=$SECONDS
		fi
		sleep 0.3
	done
	wait "$vm_pid" || true
	run_show
}

verdict()
{
	echo "$*" >>"$results/verdict"
}

# What the guest left undone counts as failed, with the reason and the log's tail.
run_complete()
{
	local test running
	[[ $(tail -n 1 "$results/verdict") != end ]] || return 0
	running=$(cat "$results/running" 2>/dev/null) || true
	if grep -q 'Kernel panic' "$results/console.log"; then
		reason="kernel panic: $(sed -n 's/.*Kernel panic - not syncing[: ]*//p' "$results/console.log" | head -n 1 | tr -d '\r')"
	fi
	verdict "fail ${running:-boot} $reason"
	for test in "${tests[@]}"; do
		grep -qx "$test" "$results/started" 2>/dev/null || verdict "fail $test not run"
	done
	[[ ! $quiet ]] || return 0
	run_show
	say "--- the end of $results/console.log"
	tail -n 40 "$results/console.log" | tr -d '\r' >&2
	say "---"
}

# A splat that no test was searched for: between two of them, or after the last.
run_search()
{
	local hit
	! grep -q '^fail' "$results/verdict" || return 0
	hit=$(sed -n '/ina-test: /,$p' "$results/console.log" | grep -a '^\[ *[0-9.]*\]' |
		grep -aE "$INA_SPLATS" | tr -d '\r') || return 0
	hit=${hit%%$'\n'*}
	verdict "fail console kernel log: ${hit#*] }"
	run_show
}

run_options "$@"
kernel=$("$here/kernel.sh" "$kind" "$version")
# An image that needs no modules tells whether KVM works.
accel_kernel=$kernel
results=$INA_BUILD/results/$name
rm -rf "$results"
mkdir -p "$results"
: >"$results/verdict"
: >"$results/live.log"
run_build
run_conf
[[ $timeout ]] || timeout=$("$here/tests.sh" timeout "$kind" "${tests[@]}")

[[ $quiet ]] || say "boot $kind $version ($size): ${tests[*]}"
boot_timeout=${INA_BOOT_TIMEOUT:-600}
start=$SECONDS shown=0
trap run_end_vm EXIT
run_boot
reason='the VM ended before its tests did'
# Before any of our code has run, an emulated CPU that finds no clock may get stuck, and QEMU itself
# may crash: older ones do when one CPU maps a device while another uses one.
for again in 1 2 ''; do
	# It takes the file with it when the guest ends, by whatever.
	! run_wait || [[ -e $results/qemu.pid ]] || break
	[[ $again && ! -e $results/started ]] || break
	say "$reason: once more"
	run_end_vm
	mv "$results/console.log" "$results/console-lost-$again.log"
	rm -f "$results/qemu.pid"
	start=$SECONDS
	run_boot
	reason='the VM ended before its tests did'
done
run_end_vm
run_complete
run_search
[[ $quiet || $live ]] || say "results: ${results#"$INA_TOP/"}, $((SECONDS - start)) s"
if [[ $live ]]; then
	grep '^fail' "$results/verdict" >&2 || true
	exec >/dev/null
fi
"$here/count.sh" "$results/verdict"
