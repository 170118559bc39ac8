#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Packets nobody should send, through each of the three entries: refused and
# counted once, each for its reason, and the node works on.
#
#   leaves (10.1.0.1, ...) --+-- switch --+-- hook (10.0.0.1): ingress hook
#                                         +-- sock (10.0.0.3): UDP socket only
#                                         +-- bare (10.0.0.4): IP protocol 253
#
# hook and sock have 10.0.0.5 and .6 as well, which no node has, and hook a job 8 at fd00::1.
# shellcheck disable=SC2317 # ok calls the functions
. "$(dirname "$0")/lib.sh"

declare -A address=([hook]=10.0.0.1 [sock]=10.0.0.3 [bare]=10.0.0.4)
declare -A encap=([hook]=udp [sock]=udp [bare]=ip)
declare -A entry=([hook]=rx_hook [sock]=rx_udp [bare]=rx_ip)
declare -A second=([hook]=10.0.0.5 [sock]=10.0.0.6)
declare -A before=() after=()
job=7

# raw NODE ARGUMENT...: rawnode towards one of them.
raw()
{
	local node=$1
	shift
	on leaves rawnode --parent "${address[$node]}" --first 10.1.0.1 \
		--encap "${encap[$node]}" --capacity 2000 "$@"
}

# snapshot NODE ARRAY: counters of the namespace (ns_NAME) and of the job.
snapshot()
{
	local -A whole=()
	local -n _all=$2
	local name
	_all=()
	counters "$1" - whole
	counters "$1" "$job" _all
	for name in "${!whole[@]}"; do
		_all["ns_$name"]=${whole[$name]}
	done
}

# craft NODE ENTRY N [OPTION...] KIND...: send one packet of each kind, and
# wait until N more have come through the entry.
craft()
{
	local node=$1 e=$2 n=$3
	shift 3
	snapshot "$node" before
	raw "$node" craft "$@" >/dev/null || return
	wait_for 5 at_least "$node" - "$e" $((${before[ns_$e]} + n))
	snapshot "$node" after
}

# grew NAME+N...: these counters grew by N since the packets, and no other did.
grew()
{
	local name word bad=0
	local -A want=()
	for word; do
		want[${word%+*}]=${word#*+}
	done
	for name in "${!after[@]}"; do
		((after[$name] - before[$name] != ${want[$name]:-0})) || continue
		echo "$name grew by $((after[$name] - before[$name]))"
		bad=1
	done
	return "$bad"
}

# by COUNTER N: this one grew by N.
by()
{
	echo "$1: ${before[$1]} -> ${after[$1]}"
	((after[$1] - before[$1] == $2))
}

# What the parser refuses, counted at a node whose every packet comes by ENTRY.
refusals()
{
	local node=$1
	ok "$node: a packet without room for its header is refused" by ns_drop_short 1
	ok "$node: an unknown version is refused" by ns_drop_version 1
	ok "$node: two unknown types are refused" by ns_drop_type 2
	ok "$node: an unknown flag, and a reserved field that is not 0, are refused" by ns_drop_flags 2
	ok "$node: a size that does not fit the type is refused" by ns_drop_size 1
	ok "$node: a wrong crc32c is refused" by ns_drop_crc 1
	ok "$node: a sound packet reaches the job" by drop_source 1
}

# A packet the stack itself drops: its counter grows, none of ours does.
dropped_before()
{
	local field=$1 was
	shift
	was=$(udp_field "$field")
	snapshot hook before
	raw hook craft "$@" && wait_for 5 udp_grew "$field" "$was" || return
	snapshot hook after
	grew
}

udp_field()
{
	on hook cat /proc/net/snmp |
		awk -v field="$1" '$1 == "Udp:" && at { print $at; exit }
			$1 == "Udp:" { for (i = 2; i <= NF; i++) if ($i == field) at = i }'
}

udp_grew()
{
	(($(udp_field "$1") > $2))
}

# What is for another host: the stack drops it, behind the hook.
for_another()
{
	local was
	was=$(otherhost)
	snapshot hook before
	raw hook craft otherhost && wait_for 5 otherhost_above "$was" || return
	snapshot hook after
	grew
}

otherhost()
{
	# It says nothing of none.
	on hook ip -j -s -s link show eth0 | grep -o '"otherhost": *[0-9]*' | grep -o '[0-9]*$' || echo 0
}

otherhost_above()
{
	(($(otherhost) > $1))
}

# after_fail NODE JOB...: one of the packets may have been a FAIL of a round to come.
after_fail()
{
	root_of "$@" && raw "$1" --count 2 --rounds 3
}

# fuzzed NODE PACKETS: noise and near misses, then a round that must be right.
fuzzed()
{
	local node=$1
	local -A was=()
	local root=("$node" 7 2 capacity 2000 encap "${encap[$node]}")
	echo "seed $seed"
	root_of "${root[@]}" || return
	counters "$node" - was
	raw "$node" --count 2 fuzz "$2" "$seed" &&
		wait_for 5 at_least "$node" - "${entry[$node]}" $((was[${entry[$node]}] + $2 / 2)) &&
		{ raw "$node" --count 2 --rounds 3 || after_fail "${root[@]}"; }
}

load
switch_add 1500
for node in hook sock bare; do
	host_add $node "${address[$node]}/24"
done
leaves_add leaves 10.0.0.2 hook 10.1.0.0/16
on sock ip route add 10.1.0.0/16 via 10.0.0.2
on bare ip route add 10.1.0.0/16 via 10.0.0.2
for node in hook sock; do
	on $node ip addr add "${second[$node]}/24" dev eth0
done
on hook ip addr add fd00::1/64 dev eth0 nodad
on leaves ip addr add fd00::2/64 dev eth0 nodad
on hook inaconf dev add eth0
on hook inaconf job add 8 capacity 2000
on hook inaconf tree set job 8 child fd00::2
for node in hook sock bare; do
	root_of $node 7 2 capacity 2000 encap "${encap[$node]}"
done

bad=(sound short version type type0 flags reserved size crc)
outside=(ns_drop_short+1 ns_drop_version+1 ns_drop_type+2 ns_drop_flags+2 ns_drop_size+1 ns_drop_crc+1)
craft hook rx_hook 9 "${bad[@]}"
refusals hook
ok "hook: each was counted once and came by the hook" \
	grew "${outside[@]}" drop_source+1 tx_control+1 ns_rx_hook+9
# The hook leaves to the socket what names no job of ours.
craft hook rx_udp 2 job empty
ok "hook: what names no job of ours is left to the socket" \
	grew ns_drop_job+1 ns_drop_short+1 ns_rx_udp+2

craft sock rx_udp 11 "${bad[@]}" job empty
ok "sock: an unknown job is refused" by ns_drop_job 1
outside[0]=ns_drop_short+2
ok "sock: each was counted once and came by the socket" \
	grew "${outside[@]}" ns_drop_job+1 drop_source+1 tx_control+1 ns_rx_udp+11

craft bare rx_ip 12 "${bad[@]}" job empty nocsum
ok "bare: an unknown job is refused" by ns_drop_job 1
ok "bare: a packet without a crc32c is refused" by ns_drop_nocsum 1
ok "bare: each was counted once and came by IP" \
	grew "${outside[@]}" ns_drop_job+1 ns_drop_nocsum+1 drop_source+1 tx_control+1 ns_rx_ip+12

craft hook rx_udp 1 nocsum --zero-checksum
ok "the hook leaves a packet without any checksum to the socket, which refuses it" \
	grew ns_drop_nocsum+1 ns_rx_udp+1
craft hook rx_udp 1 sound --zero-checksum
ok "without a UDP checksum a crc32c will do" grew drop_source+1 tx_control+1 ns_rx_udp+1

craft hook rx_hook 1 whole
ok "the hook takes a packet made by hand" grew drop_source+1 tx_control+1 ns_rx_hook+1
craft hook rx_udp 1 options
ok "the hook leaves IP options to the stack" grew drop_source+1 tx_control+1 ns_rx_udp+1
craft hook rx_udp 1 fragments
ok "the hook leaves IP fragments to the stack" grew drop_source+1 tx_control+1 ns_rx_udp+1
craft hook rx_udp 1 udplen
ok "the hook leaves a UDP length that is not the IP one to the stack" \
	grew ns_drop_size+1 ns_rx_udp+1
craft hook rx_hook 1 padded
ok "the hook takes a packet without what is behind its end" grew drop_source+1 tx_control+1 ns_rx_hook+1
ok "the hook leaves what is for another host to the stack, which drops it" for_another

# The other end of a VLAN is another device, and that has no hook.
for node in hook leaves; do
	on $node ip link add link eth0 name eth0.5 up type vlan id 5
done
on leaves ip route add 10.0.0.1/32 dev eth0.5
craft hook rx_udp 1 sound
ok "the hook leaves a VLAN tag to the stack" grew drop_source+1 tx_control+1 ns_rx_udp+1
on leaves ip link del eth0.5

# Counters of the job are of the other one here.
job=8
six=(--job 8 --parent fd00::1 --first fd00::2)
craft hook rx_hook 1 sound "${six[@]}"
ok "the hook takes IPv6" grew drop_source+1 tx_control+1 ns_rx_hook+1
craft hook rx_udp 1 options "${six[@]}"
ok "the hook leaves an extension header to the stack" grew drop_source+1 tx_control+1 ns_rx_udp+1
job=7

for node in hook sock; do
	craft $node rx_udp 1 sound --parent "${second[$node]}"
	ok "$node: another address of its host is not the node's" grew drop_local+1 ns_rx_udp+1
done
ok "a wrong UDP checksum is not ours" dropped_before InCsumErrors udpsum
ok "another port is not ours" dropped_before NoPorts sound --port 4999

seed=$RANDOM
packets=$(full 20000 2000)
ok "$packets mutated packets through the hook, then a right sum" fuzzed hook "$packets"
ok "$packets mutated packets through the UDP socket, then a right sum" fuzzed sock "$packets"
ok "$packets mutated packets through IP, then a right sum" fuzzed bare "$packets"
done_testing
