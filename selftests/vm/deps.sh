#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The packages the build, the tests and the checks need: installed when missing
# and root, else the exact command is printed. Quick when nothing is missing.
#
#   deps.sh [check|cross|bench]
set -euo pipefail
. "$(dirname "$0")/common.sh"

vm_arch_set "$(uname -m)"

packages_list()
{
	echo gcc libc6-dev make perl bc bison flex cpio kmod pahole xz-utils zstd pkg-config file
	echo libelf-dev libssl-dev libmnl-dev libyaml-dev libnl-3-dev libnl-genl-3-dev
	echo linux-source bash-static busybox-static iproute2 ethtool jq python3 python3-yaml
	echo procps util-linux udev tcpdump
	echo glpk-utils
	case $VM_DEB in
	amd64) echo qemu-system-x86 ;;
	arm64) echo qemu-system-arm ;;
	esac
	[[ ${1:-} != check ]] || echo sparse shellcheck cppcheck spin groff-base dkms python3-yaml python3-jsonschema
	[[ ${1:-} != cross ]] || packages_cross
	[[ ${1:-} != bench ]] ||
		echo g++ clang llvm libbpf-dev openmpi-bin libopenmpi-dev libgloo-dev gnuplot-nox
}

packages_cross()
{
	case $VM_DEB in
	amd64) echo gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-system-arm ;;
	arm64) echo gcc-x86-64-linux-gnu libc6-dev-amd64-cross qemu-system-x86 ;;
	esac
}

# packages_missing PACKAGE...: of these, the ones that are not installed.
packages_missing()
{
	local have
	have=$(dpkg-query -Wf '${db:Status-Abbrev}${Package}\n' "$@" 2>/dev/null |
		sed -n 's/^ii *//p') || true
	printf '%s\n' "$@" | grep -vxF "$have" || true
}

# virtme-ng is a plain package from Debian 13 on. Debian 12 takes the same
# architecture-independent package, whose dependencies it has.
vng_install()
{
	local tmp
	local -x DEBIAN_FRONTEND=noninteractive
	if apt-cache show virtme-ng >/dev/null 2>&1; then
		apt-get install -y -q --no-install-recommends virtme-ng </dev/null
		return
	fi
	tmp=$(mktemp -d)
	(cd "$tmp" && "$here/apt.sh" trixie update && "$here/apt.sh" trixie download virtme-ng &&
		apt-get install -y -q --no-install-recommends ./virtme-ng_*.deb </dev/null)
	rm -rf "$tmp"
}

install_packages()
{
	apt-get update -q && DEBIAN_FRONTEND=noninteractive \
		apt-get install -y -q --no-install-recommends "$@" </dev/null
}

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck disable=SC2046 # a list of packages
missing=$(packages_missing $(packages_list "${1:-}") | xargs)
vng=
if [[ ! $(command -v vng) ]]; then
	if apt-cache show virtme-ng >/dev/null 2>&1; then missing+=" virtme-ng"; else vng=virtme-ng; fi
fi
[[ $missing || $vng ]] || exit 0

if ((EUID)); then
	say "Missing packages. As root:"
	[[ ! $missing ]] || say "  apt-get update && apt-get install --no-install-recommends ${missing# }"
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
# Whose checkout it is goes on without root.
[[ ! -d $INA_BUILD ]] || chown -R --reference="$INA_TOP" "$INA_BUILD"
