#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What `make test-cross` runs: the KUnit suites on the other architecture, with a
# cross-built kernel and module in a full emulation that boots an initramfs only.
#
#   cross.sh [VERSION]
set -euo pipefail
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/ktap.sh"
. "$(dirname "$0")/splats.sh"

here=$(cd "$(dirname "$0")" && pwd)
version=${1:-$(vm_default_version)}
limit=300
vm_arch_set "$(vm_other_arch)"
results=$INA_BUILD/results/cross
verdict=$results/verdict

cross_boot()
{
	local -a machine=(-machine virt -cpu max)
	local console=ttyAMA0
	[[ $VM_ARCH == arm64 ]] || machine=(-machine q35 -cpu max) console=ttyS0
	timeout -k 2 "$limit" "$VM_QEMU" "${machine[@]}" -accel tcg -smp 2 -m 1G -nodefaults \
		-no-reboot -display none -serial stdio -kernel "$kernel/vmlinuz" \
		-initrd "$results/initramfs" -append "console=$console panic=-1 loglevel=7 kunit.enable=1 kunit.autorun=1"
}

# One verdict line for every case of every suite, and for a splat. (Read from the console:
# the copy in debugfs is cut off where a failing case says much.)
cross_verdicts()
{
	local hit
	ktap_kunit <"$results/console.log" | ktap_verdicts cross
	hit=$(grep -m 1 -aE "$INA_SPLATS" "$results/console.log" | tr -d '\r') &&
		echo "fail cross kernel log: ${hit#*] }"
	if grep -aq '^init: end' "$results/console.log"; then
		echo end
	else
		echo "fail cross the guest ended before its tests did"
	fi
}

rm -rf "$results"
mkdir -p "$results"
kernel=$(INA_ARCH=$VM_ARCH "$here/kernel.sh" fast "$version")
vm_step "build the module for $VM_ARCH" "$results/build.log" \
	make -s -C "$INA_TOP" "KDIR=$kernel/build" "ARCH=$VM_ARCH" "CROSS_COMPILE=$VM_CROSS" \
	INA_KUNIT=1 INA_OUT="$INA_BUILD/kmod-cross-$VM_ARCH" module
"$here/initramfs.sh" "$VM_ARCH" "$results/initramfs" "$INA_BUILD/kmod-cross-$VM_ARCH/ina_agg.ko"
vm_step "run KUnit on $VM_ARCH" "$results/console.log" cross_boot || true
cross_verdicts >"$verdict"
grep -v '^end' "$verdict" || true
"$here/count.sh" "$verdict" >/dev/null || tail -n 40 "$results/console.log" >&2
"$here/count.sh" "$verdict"
