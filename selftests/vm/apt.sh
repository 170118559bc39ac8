#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# apt-get with a private state below build/: packages of suites this machine does
# not list, from the mirror it does list. Nothing of the host's apt is changed.
#
#   apt.sh SUITE update | download PACKAGE...   (download into the current folder)
#   apt.sh SUITE version PACKAGE                (print the candidate's version)
set -euo pipefail
. "$(dirname "$0")/common.sh"

# The archive's address, out of whichever format the machine's sources have.
apt_mirror()
{
	local codename
	codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
	# shellcheck disable=SC2016 # apt's own placeholders
	apt-get indextargets --format '$(RELEASE) $(REPO_URI)' 'Created-By: Packages' |
		awk -v c="$codename" '$1 == c || $1 == "stable" || $1 == "sid" { print $2; exit }'
}

apt_keyring()
{
	local f
	for f in /usr/share/keyrings/debian-archive-keyring.{pgp,gpg}; do
		[[ ! -e $f ]] || { echo "$f"; return; }
	done
	die "no Debian archive keyring: apt-get install debian-archive-keyring"
}

apt_prepare()
{
	local mirror
	mirror=$(apt_mirror)
	[[ $mirror ]] || die "no Debian archive in this machine's apt sources"
	mkdir -p "$dir/state/lists/partial" "$dir/cache/archives/partial"
	printf 'deb [signed-by=%s] %s %s main\n' "$(apt_keyring)" "$mirror" "$suite" \
		>"$dir/sources.list"
}

suite=$1 verb=$2
shift 2
dir=$INA_CACHE/apt-$suite
opts=(-o "Dir::Etc::sourcelist=$dir/sources.list" -o Dir::Etc::sourceparts=-
	-o "Dir::State::lists=$dir/state/lists" -o "Dir::Cache=$dir/cache"
	-o Dir::State::status=/dev/null -o APT::Sandbox::User=root -q)

apt_prepare
case $verb in
update)
	apt-get "${opts[@]}" update
	;;
download)
	apt-get "${opts[@]}" download "$@"
	;;
version)
	apt-cache "${opts[@]}" show "$1" | sed -n 's/^Version: //p' | head -n 1
	;;
*)
	die "$verb is not known: update, download, version"
	;;
esac
