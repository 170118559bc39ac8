# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# Read by virtme-init before it begins, as its BASH_ENV. The kernels we build have their drivers
# inside and make device nodes themselves; all that is needed of udev is the names of the ports
# by which virtme runs its command. It would take a minute of each boot of the debug kernel.
unset BASH_ENV

systemd-tmpfiles() { :; }

function /usr/lib/systemd/systemd-udevd { :; }
function /lib/systemd/systemd-udevd { :; }
function udevd { :; }

udevadm()
{
	local port name end=$((SECONDS + 60))
	[[ $1 == settle ]] || return 0
	mkdir /dev/virtio-ports
	for port in /sys/class/virtio-ports/*; do
		name=
		# The host tells it.
		until read -r name <"$port/name" && [[ $name ]] || ((SECONDS > end)); do
			:
		done
		ln -s "../${port##*/}" "/dev/virtio-ports/$name"
	done
}
