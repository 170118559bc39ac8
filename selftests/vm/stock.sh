#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The distribution's own kernel and its headers, unpacked in the cache and never
# installed. Same layout as kernel.sh: vmlinuz and build/, plus lib/modules.
#
#   stock.sh VERSION
set -euo pipefail
. "$(dirname "$0")/common.sh"

version=$1
vm_arch_set "$(uname -m)"

# stock_release: print the newest release of VERSION in this machine's apt, such
# as 6.1.0-54-amd64: the flavour without cloud, rt or unsigned in its name.
stock_release()
{
	apt-cache pkgnames "linux-image-$version." |
		sed -n "s/^linux-image-\($version\.[0-9.]*-[0-9]*-$VM_DEB\)\$/\1/p
			s/^linux-image-\($version\.[0-9.]*+[a-z0-9+.]*-$VM_DEB\)\$/\1/p" |
		sort -V | tail -n 1
}

# The packages the headers package is made of: common files and kbuild.
stock_packages()
{
	echo "linux-image-$krel" "linux-headers-$krel"
	apt-cache depends --important "linux-headers-$krel" |
		sed -n 's/.*Depends: \(linux-headers-[^ ]*-common\|linux-kbuild-[^ ]*\)$/\1/p'
}

stock_unpack()
{
	local deb
	rm -rf "$dir"
	mkdir -p "$dir/deb"
	# shellcheck disable=SC2046 # a list of packages
	(cd "$dir/deb" && apt-get -q -o APT::Sandbox::User=root download $(stock_packages))
	for deb in "$dir"/deb/*.deb; do
		dpkg -x "$deb" "$dir"
	done
	rm -rf "$dir/deb"
	[[ -d $dir/lib/modules ]] || ln -s usr/lib "$dir/lib"
	depmod -b "$dir" "$krel"
	ln -s "boot/vmlinuz-$krel" "$dir/vmlinuz"
	ln -s "usr/src/linux-headers-$krel" "$dir/build"
	# The one absolute path in the headers points into the host.
	sed -i "s#/usr/src/#$dir/usr/src/#" "$dir/build/Makefile"
	touch "$dir/complete"
}

krel=$(stock_release)
if [[ ! $krel ]] && ((EUID == 0)); then
	vm_step "refresh apt's lists" "$INA_BUILD/log/apt-update.log" apt-get update -q
	krel=$(stock_release)
fi
[[ $krel ]] || die "no linux-image-$version package for $VM_DEB known to apt"
package=$(apt-cache policy "linux-image-$krel" | sed -n 's/.*Candidate: //p')
dir=$INA_CACHE/kernel-stock-$version-$krel-$package
mkdir -p "$INA_CACHE"
exec 8>"$INA_CACHE/kernel-stock-$version.lock"
flock 8
[[ -e $dir/complete ]] ||
	vm_step "fetch linux-image-$krel" "$INA_BUILD/log/kernel-stock-$version.log" stock_unpack
echo "$dir"
