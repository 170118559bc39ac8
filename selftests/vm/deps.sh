#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The packages the build, the tests and the checks need: installed when missing
# and root, else the exact command is printed. Quick when nothing is missing.
#
#   deps.sh [cross]
set -euo pipefail
. "$(dirname "$0")/common.sh"

vm_arch_set "$(uname -m)"

packages_list()
{
	echo gcc make bc bison flex cpio kmod xz-utils zstd pkg-config file
	echo libelf-dev libssl-dev libmnl-dev libnl-3-dev libnl-genl-3-dev
	echo linux-source busybox-static iproute2 ethtool jq python3 python3-yaml
	echo python3-argcomplete python3-requests procps util-linux udev
	# Debian 13 dropped python3-pkg-resources as virtme-ng's need.
	dpkg_known python3-pkg-resources
	case $VM_DEB in
	amd64) echo qemu-system-x86 ;;
	arm64) echo qemu-system-arm ;;
	esac
	[[ ${1:-} != check ]] || echo sparse shellcheck cppcheck
	[[ ${1:-} != cross ]] || packages_cross
}

packages_cross()
{
	case $VM_DEB in
	amd64) echo gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-system-arm ;;
	arm64) echo gcc-x86-64-linux-gnu libc6-dev-amd64-cross qemu-system-x86 ;;
	esac
}

dpkg_known()
{
	if apt-cache show "$1" >/dev/null 2>&1; then echo "$1"; fi
}

packages_missing()
{
	local want=$1 p
	for p in $want; do
		[[ $(dpkg-query -Wf '${db:Status-Abbrev}' "$p" 2>/dev/null) == ii* ]] ||
			printf '%s ' "$p"
	done
}

# virtme-ng is a plain package from Debian 13 on. Debian 12 takes the same
# architecture-independent package, whose dependencies it has.
vng_install()
{
	local tmp
	if apt-cache show virtme-ng >/dev/null 2>&1; then
		apt-get install -y -q virtme-ng </dev/null
		return
	fi
	tmp=$(mktemp -d)
	(cd "$tmp" && "$here/apt.sh" trixie update && "$here/apt.sh" trixie download virtme-ng &&
		dpkg -i virtme-ng_*.deb)
	rm -rf "$tmp"
}

install_packages()
{
	apt-get update -q && DEBIAN_FRONTEND=noninteractive \
		apt-get install -y -q --no-install-recommends "$@" </dev/null
}

here=$(cd "$(dirname "$0")" && pwd)
missing=$(packages_missing "$(packages_list "${1:-}")")
vng=
[[ $(dpkg-query -Wf '${db:Status-Abbrev}' virtme-ng 2>/dev/null) == ii* ]] ||
	command -v vng >/dev/null || vng=virtme-ng
[[ $missing || $vng ]] || exit 0

if ((EUID)); then
	say "Missing packages. As root:"
	[[ ! $missing ]] || say "  apt-get install --no-install-recommends $missing"
	[[ ! $vng ]] || say "  $here/deps.sh   # for virtme-ng"
	exit 1
fi
if [[ $missing ]]; then
	# shellcheck disable=SC2086 # a list of words
	vm_step "install $missing" "$INA_BUILD/log/deps.log" install_packages $missing
fi
if [[ $vng ]]; then
	vm_step "install virtme-ng" "$INA_BUILD/log/deps-vng.log" vng_install
fi
