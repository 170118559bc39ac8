#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The unpacked source of one kernel version, in the cache: Debian's linux-source
# package, this machine's own if it has one, else that of the first suite that has it.
#
#   source.sh VERSION      prints the folder, named after the package's version
set -euo pipefail
. "$(dirname "$0")/common.sh"

here=$(cd "$(dirname "$0")" && pwd)
version=$1
package=linux-source-$version
log=$INA_BUILD/log/source-$version.log

# The first suite that has the package; an unlisted one is looked up privately.
source_fetch()
{
	local suite dir=$1
	mkdir -p "$dir"
	cd "$dir"
	if apt-cache show "$package" >/dev/null 2>&1 &&
		apt-get -q -o APT::Sandbox::User=root download "$package"; then
		return
	fi
	for suite in "$codename-backports" trixie sid bookworm; do
		"$here/apt.sh" "$suite" update || continue
		! "$here/apt.sh" "$suite" download "$package" || return 0
	done
	return 1
}

# What no test kernel builds is left out: other architectures, documents, and
# the largest drivers' headers. Kconfig files all stay.
source_unpack()
{
	local tarball=$1 dir=$2
	rm -rf "$dir.tmp"
	mkdir -p "$dir.tmp"
	tar -C "$dir.tmp" --strip-components=1 -xf "$tarball" \
		--exclude='*/drivers/gpu/drm/amd/include/*' \
		--exclude='*/sound/*.[ch]' \
		--exclude='*/arch/[b-zB-Z]*/boot/dts/*.dts*' &&
		mv "$dir.tmp" "$dir"
}

source_from_deb()
{
	local tmp=$INA_CACHE/source-$version.deb deb
	rm -rf "$tmp"
	(source_fetch "$tmp") || return
	deb=$(echo "$tmp"/*.deb)
	dpkg-deb -f "$deb" Version >"$tmp/version"
	dpkg -x "$deb" "$tmp/x"
	source_unpack "$tmp/x/usr/src/$package.tar.xz" \
		"$INA_CACHE/source-$version-$(cat "$tmp/version")"
	rm -rf "$tmp"
}

codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
mkdir -p "$INA_CACHE"
exec 9>"$INA_CACHE/source-$version.lock"
flock 9

if installed=$(dpkg-query -Wf '${Version}' "$package" 2>/dev/null) && [[ $installed ]]; then
	dir=$INA_CACHE/source-$version-$installed
	[[ -d $dir ]] || vm_step "unpack $package" "$log" \
		source_unpack "/usr/src/$package.tar.xz" "$dir"
else
	dir=$(compgen -G "$INA_CACHE/source-$version-*[0-9]" | tail -n 1) || true
	if [[ ! $dir ]]; then
		vm_step "fetch $package" "$log" source_from_deb
		dir=$(compgen -G "$INA_CACHE/source-$version-*[0-9]" | tail -n 1)
	fi
fi
echo "$dir"
