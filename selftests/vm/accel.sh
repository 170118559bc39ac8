#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Print `kvm` if a guest really boots with it here, else `tcg`. A device node, or
# even a VM that can be created, is no proof: a kernel is booted to find out.
# The answer is kept until the host boots again.
#
#   accel.sh KERNEL_FOLDER
set -euo pipefail
. "$(dirname "$0")/common.sh"

here=$(cd "$(dirname "$0")" && pwd)
kernel=$1
limit=20
vm_arch_set "$(uname -m)"
answer=$INA_CACHE/accel-$(cat /proc/sys/kernel/random/boot_id)

accel_probe()
{
	local machine=q35 console=ttyS0
	[[ -r /dev/kvm && -w /dev/kvm ]] || return 1
	[[ $VM_ARCH == x86_64 ]] || machine=virt console=ttyAMA0
	"$here/initramfs.sh" "$VM_ARCH" "$INA_CACHE/probe.cpio.gz" || return 1
	timeout -k 2 "$limit" "$VM_QEMU" -machine "$machine,accel=kvm" -cpu host -smp 2 -m 512 \
		-nodefaults -no-reboot -display none -serial stdio \
		-kernel "$kernel/vmlinuz" -initrd "$INA_CACHE/probe.cpio.gz" \
		-append "console=$console panic=-1" </dev/null >"$INA_BUILD/log/accel.log" 2>&1 &&
		grep -q 'init: end' "$INA_BUILD/log/accel.log"
}

mkdir -p "$INA_CACHE" "$INA_BUILD/log"
exec 9>"$INA_CACHE/accel.lock"
flock 9
if [[ ! -e $answer ]]; then
	rm -f "$INA_CACHE"/accel-*
	if accel_probe; then echo kvm; else echo tcg; fi >"$answer.tmp"
	mv "$answer.tmp" "$answer"
	say "virtual machines run with $(cat "$answer")"
fi
cat "$answer"
