#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What `make test-cross` runs: the KUnit suites on the other architecture, with a
# cross-built kernel and module in a full emulation that boots an initramfs only.
#
#   cross.sh [VERSION]
set -euo pipefail
. "$(dirname "$0")/common.sh"

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
		-initrd "$results/initramfs" -append "console=$console panic=-1 quiet kunit.enable=1 kunit.autorun=1"
}

# Every innermost result of every suite, as one verdict line.
cross_verdicts()
{
	tr -d '\r' <"$results/console.log" | awk '
	/^init: suite / { suite = $3 }
	/^init: end/ { ended = 1 }
	suite && /^(    |  )(not )?ok / {
		word = /^ +not ok/ ? "fail" : / # SKIP/ ? "skip" : "pass"
		sub(/^ +(not )?ok +[0-9]+ *-? */, "")
		print word, "cross", suite "." $0
	}
	END { print ended ? "end" : "fail cross the guest ended before its tests did" }'
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
grep -q '^pass' "$verdict" || tail -n 40 "$results/console.log" >&2
"$here/count.sh" "$verdict"
