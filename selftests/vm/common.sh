# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# Where things are, how an architecture is called by whom, and how a long step
# shows that it is alive. Sourced by every script of the runner.

INA_TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
INA_BUILD=$INA_TOP/build
# shellcheck disable=SC2034 # used by the scripts that source this file
INA_CACHE=$INA_BUILD/cache

# A user's has none of depmod, modinfo and dkms.
PATH+=:/usr/sbin:/sbin

# Started from a Makefile or not: each make of ours takes its own flags only.
unset MAKEFLAGS MFLAGS MAKELEVEL

say()
{
	printf '%s\n' "$*" >&2
}

die()
{
	say "${0##*/}: $*"
	exit 1
}

# vm_arch_set [ARCH]: set the names of the guest's architecture (default: the host's).
#   VM_ARCH    the kernel's name, ARCH= on a make line
#   VM_MACHINE uname -m
#   VM_DEB     Debian's name
#   VM_IMAGE   the boot image's path in a kernel build
#   VM_QEMU    the emulator
#   VM_CROSS   CROSS_COMPILE=, empty for the host's own architecture
# shellcheck disable=SC2034
vm_arch_set()
{
	local machine
	machine=$(uname -m)
	case ${1:-$machine} in
	x86_64)
		VM_ARCH=x86_64 VM_MACHINE=x86_64 VM_DEB=amd64
		VM_IMAGE=arch/x86/boot/bzImage VM_QEMU=qemu-system-x86_64
		;;
	arm64 | aarch64)
		VM_ARCH=arm64 VM_MACHINE=aarch64 VM_DEB=arm64
		VM_IMAGE=arch/arm64/boot/Image VM_QEMU=qemu-system-aarch64
		;;
	*)
		die "architecture $1 is not known: x86_64 or arm64"
		;;
	esac
	VM_CROSS=
	[[ $VM_MACHINE == "$machine" ]] || VM_CROSS=$VM_MACHINE-linux-gnu-
}

# vm_other_arch: print the architecture that is not the host's.
vm_other_arch()
{
	if [[ $(uname -m) == x86_64 ]]; then echo arm64; else echo x86_64; fi
}

# vm_default_version: print the kernel version of the distribution's linux-source.
vm_default_version()
{
	local version
	version=$(apt-cache depends --important linux-source 2>/dev/null |
		sed -n 's/.*Depends: linux-source-\([0-9.]*\)$/\1/p' | head -n 1)
	[[ $version ]] || die "no linux-source package known to apt: run apt-get update"
	echo "$version"
}

# vm_release KERNEL_FOLDER: print the release, `uname -r`, of a kernel of the cache.
vm_release()
{
	sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' "$1/build/include/generated/utsrelease.h"
}

# vm_watch LABEL PID: show LABEL and the elapsed seconds until PID has ended.
vm_watch()
{
	local label=$1 pid=$2 start=$SECONDS last=$SECONDS

	while kill -0 "$pid" 2>/dev/null; do
		if [[ -t 2 ]]; then
			printf '\r%s: %d s ' "$label" $((SECONDS - start)) >&2
			sleep 1
		else
			if ((SECONDS - last >= 30)); then
				say "$label: $((SECONDS - start)) s"
				last=$SECONDS
			fi
			sleep 0.3
		fi
	done
	[[ ! -t 2 ]] || printf '\r\033[K' >&2
}

# vm_step LABEL LOG COMMAND...: run a long command with its output in LOG.
# Returns the command's status; on failure the end of LOG is shown.
vm_step()
{
	local label=$1 log=$2 start=$SECONDS pid rc=0
	shift 2

	mkdir -p "$(dirname "$log")"
	say "$label ..."
	"$@" </dev/null >"$log" 2>&1 &
	pid=$!
	vm_watch "$label" "$pid"
	wait "$pid" || rc=$?
	if ((rc)); then
		say "$label: FAILED after $((SECONDS - start)) s, the end of $log:"
		tail -n 30 "$log" >&2
	else
		say "$label: done in $((SECONDS - start)) s"
	fi
	return "$rc"
}
