#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# One kernel to boot and to build the module against, cached by content hash.
#
#   kernel.sh KIND [VERSION]     KIND: stock, fast, debug; prints the folder:
#       vmlinuz   the image to boot
#       build/    what KDIR= takes
#
# INA_ARCH= picks another architecture (fast and debug; built with a cross compiler).
set -euo pipefail
. "$(dirname "$0")/common.sh"

here=$(cd "$(dirname "$0")" && pwd)
kind=${1:?KIND is missing: stock, fast or debug}
version=${2:-$(vm_default_version)}
vm_arch_set "${INA_ARCH:-}"
# In a kernel with KASAN only these parts are instrumented, beside the module itself. The rest marks what
# it allocates and frees, but is not watched: on an emulated CPU, to check each access of lockdep, memory
# management and file systems takes long.
sanitize=()
# shellcheck disable=SC2016 # for make
[[ $kind != debug ]] || sanitize=(KASAN_SANITIZE_lockdep.o=n
	'KASAN_SANITIZE=$(if $(filter net/% drivers/net/% drivers/char/% lib/% arch/$(SRCARCH)/lib/% kernel/%,$(filter-out kernel/entry/%,$(obj)/)),y,n)')

# The fragments of this kind, reduced to the lines that count for this version.
kernel_fragment()
{
	local -a files=("$here/config/fast.config" "$here/config/$VM_ARCH.config")
	[[ $kind == fast ]] || files+=("$here/config/$kind.config")
	[[ ! -e $here/config/$kind-$VM_ARCH.config ]] || files+=("$here/config/$kind-$VM_ARCH.config")
	awk -v version="$version" '
	function number(v, part) { split(v, part, "."); return part[1] * 1000 + part[2] }
	/^#/ || !NF { next }
	match($0, / *# *(>=|<)[0-9.]+ *$/) {
		rule = substr($0, RSTART); $0 = substr($0, 1, RSTART - 1)
		limit = rule; gsub(/[^0-9.]/, "", limit)
		if (rule ~ /</ ? number(version) >= number(limit) : number(version) < number(limit))
			next
	}
	{ print }' "${files[@]}"
	echo "CONFIG_LOCALVERSION=\"-ina-$kind\""
}

# Every line of the fragment must have taken effect: a later line wins over an
# earlier one, and =n means absent or not set.
kernel_verify()
{
	local line name missing=()
	while read -r line; do
		name=${line%%=*}
		if [[ $line == *=n ]]; then
			! grep -q "^$name=" "$1/.config" || missing+=("$line")
		else
			grep -qxF "$line" "$1/.config" || missing+=("$line")
		fi
	done < <(awk -F= '{ last[$1] = $0 } END { for (k in last) print last[k] }' "$1/fragment")
	((${#missing[@]} == 0)) || {
		printf 'no effect in %s %s: %s\n' "$kind" "$version" "${missing[@]}"
		return 1
	}
}

# Objects of the kernel proper are of no use once it is linked.
kernel_prune()
{
	find "$1" \( -path "$1/scripts" -o -path "$1/tools" \) -prune -o \
		-type f \( -name '*.o' -o -name '*.a' -o -name '.*.cmd' -o -name '.tmp_*' \) \
		-exec rm -f {} +
}

kernel_build()
{
	local dir=$1 src=$2
	local -a mk=(make -s -C "$src" "O=$dir/build" "ARCH=$VM_ARCH" "CROSS_COMPILE=$VM_CROSS"
		"${sanitize[@]}" KBUILD_BUILD_TIMESTAMP=@0 KBUILD_BUILD_USER=ina KBUILD_BUILD_HOST=ina)

	mkdir -p "$dir/build"
	kernel_fragment >"$dir/build/fragment"
	"${mk[@]}" KCONFIG_ALLCONFIG="$dir/build/fragment" allnoconfig
	kernel_verify "$dir/build"
	"${mk[@]}" -j"$(nproc)" "$(basename "$VM_IMAGE")" modules
	cp "$dir/build/$VM_IMAGE" "$dir/vmlinuz"
	kernel_prune "$dir/build"
	touch "$dir/complete"
}

kernel_hash()
{
	{
		kernel_fragment
		basename "$1"
		"${VM_CROSS}gcc" --version | head -n 1
		echo "$VM_ARCH${sanitize[*]:+ ${sanitize[*]}}"
	} | sha256sum | cut -c1-12
}

kernel_from_source()
{
	local src dir name=$kind-$version
	[[ ! $VM_CROSS ]] || name+=-$VM_ARCH
	src=$("$here/source.sh" "$version")
	dir=$INA_CACHE/kernel-$name-$(kernel_hash "$src")
	exec 8>"$INA_CACHE/kernel-$name.lock"
	flock 8
	[[ -e $dir/complete ]] ||
		vm_step "build the $name kernel" "$INA_BUILD/log/kernel-$name.log" \
			kernel_build "$dir" "$src"
	echo "$dir"
}

case $kind in
stock)
	[[ ! $VM_CROSS ]] || die "stock kernels are of the host's architecture only"
	exec "$here/stock.sh" "$version"
	;;
*)
	[[ $kind == fast || -e $here/config/$kind.config ]] ||
		die "kernel kind $kind is not known: stock, fast, debug"
	kernel_from_source
	;;
esac
