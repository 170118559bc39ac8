# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# Faults on the ports of the switch, for tests that source lib.sh: netfault on
# what leaves a port towards its node, netem behind it for the order.
#
#   a node --- eth0 === p-NODE --- bridge
#                    <- egress: netfault, then netem
#
# All decisions of netfault follow from INA_SEED; netem lets every fourth packet overtake.

faults_seed=${INA_SEED:-$((RANDOM * 32768 + RANDOM))}
# shellcheck disable=SC2154 # of lib.sh
_bpf=$_dir/bpf
_ports=()
echo "# INA_SEED=$faults_seed"

# pin NODE: its port, as netfault calls it
pin()
{
	echo "$_bpf/p-$1"
}

faults_exit()
{
	umount "$_bpf"
	_cleanup
}

# faults_init NODE...: make their ports do as netfault is told.
# A checksum is wrong only if it was made: nodes leave none to the device, and
# what the program sees is one packet, not a super-packet.
faults_init()
{
	local n
	mkdir "$_bpf" && mount -t bpf bpf "$_bpf" || return
	trap faults_exit EXIT
	for n; do
		netfault load "$(pin "$n")" &&
			tc -n "$(ns sw)" qdisc add dev "p-$n" clsact &&
			tc -n "$(ns sw)" filter add dev "p-$n" egress bpf direct-action \
				object-pinned "$(pin "$n")" &&
			on "$n" ethtool -K eth0 tx off tx-udp-segmentation off >/dev/null || return
		_ports+=("$n")
	done
}

# faults_watch NODE: count the results it gets that were overtaken.
faults_watch()
{
	netfault load "$_bpf/order" &&
		tc -n "$(ns "$1")" qdisc add dev eth0 clsact &&
		tc -n "$(ns "$1")" filter add dev eth0 ingress bpf direct-action \
			object-pinned "$_bpf/order" &&
		netfault set "$_bpf/order" type RESULT order 1
}

# faults WORD NUMBER...: on all ports, see netfault; nothing: none.
faults()
{
	netfault set "${_ports[@]/#/$_bpf/p-}" "$@"
}

# faults_show: what happened, a line per port
faults_show()
{
	netfault show "${_ports[@]/#/$_bpf/p-}"
}

# reorder on|off: every fourth packet does not wait, and overtakes.
reorder()
{
	local n
	for n in "${_ports[@]}"; do
		if [[ $1 == on ]]; then
			tc -n "$(ns sw)" qdisc replace dev "p-$n" root netem \
				delay 3ms reorder 100% gap 4 limit 10000 || return
		else
			# There may be none.
			tc -n "$(ns sw)" qdisc del dev "p-$n" root 2>/dev/null
		fi
	done
	return 0
}

# bad_checksums NODE: packets its UDP refused for their checksum
bad_checksums()
{
	on "$1" cat /proc/net/snmp | awk '/^Udp:/ {
		for (i = 1; i <= NF; i++) {
			if ($i == "InCsumErrors")
				at = i
			else if (at == i)
				print $i
		}
	}'
}
