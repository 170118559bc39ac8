# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# A leaf-spine fabric of namespaces, with the kernel's own multipath routing by ports. Sourced
# behind lib.sh, never run.
#
#   host 10.1.N.1 --+-- l1 --+-- s1 --+-- l2 --+-- 10.2.N.1 host
#   host ...      --+        +-- s2 --+        +-- ... host
#                            +-- s3 --+
#                            +-- s4 --+
#
# Devices of a leaf are named after the spine or the host they lead to, those of a spine after the
# leaf, those of a host eth0, eth1. A spine has a rate, a delay and a loss each way; they are
# where the leaves send to it.
# shellcheck disable=SC2034,SC2154,SC2317 # who sources it uses them; lib.sh has _dir

declare -A addr=()		# of a host NAME, that of eth0; of NAME1, that of its eth1
spines=()			# s1 ...
_fabric_hosts=(0 0 0)		# how many a leaf has
declare -A _fabric_cut=()	# spines without links
declare -A _fabric_port=()	# device of a leaf to an address
declare -A _fabric_sport=()	# source port of FROM-TO-SPINE, for the port of jobs

_fabric_exit()
{
	umount "$_dir/bpf"
	_cleanup
}

# fabric_add SPINES MTU
fabric_add()
{
	local i leaf
	_mtu=$2
	mkdir "$_dir/bpf" && mount -t bpf bpf "$_dir/bpf" || return
	trap _fabric_exit EXIT
	unhash "$_dir/bpf/unhash" || return
	for leaf in l1 l2; do
		_router_add "$leaf"
		on "$leaf" sysctl -qw net.ipv4.fib_multipath_hash_policy=1 || return
	done
	for ((i = 1; i <= $1; i++)); do
		_router_add "s$i" && _fabric_join 1 "$i" && _fabric_join 2 "$i" || return
		spines+=("s$i")
	done
	_fabric_routes
}

_router_add()
{
	ns_add "$1" && on "$1" sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.send_redirects=0 \
		net.ipv4.conf.default.send_redirects=0
}

# _fabric_join LEAF SPINE: numbers
_fabric_join()
{
	ip link add "s$2" netns "ina-$_tag-l$1" mtu "$_mtu" type veth \
		peer name "l$1" netns "ina-$_tag-s$2" mtu "$_mtu" &&
		on "l$1" ip -batch - <<-END &&
			addr add 10.20$1.$2.1/24 dev s$2
			link set s$2 up
		END
		on "s$2" ip -batch - <<-END
			addr add 10.20$1.$2.2/24 dev l$1
			link set l$1 up
			route add 10.$1.0.0/16 via 10.20$1.$2.1
		END
}

# Equal shares of all spines that have their links.
_fabric_routes()
{
	local leaf s hops
	for leaf in 1 2; do
		hops=()
		for s in "${spines[@]}"; do
			[[ ${_fabric_cut[$s]:-} ]] ||
				hops+=(nexthop via "10.20$leaf.${s#s}.2" dev "$s" weight 1)
		done
		on "l$leaf" ip route replace "10.$((3 - leaf)).0.0/16" "${hops[@]}" || return
	done
}

# _fabric_unhash NODE DEVICE: what comes in there is hashed anew
_fabric_unhash()
{
	tc -n "ina-$_tag-$1" -batch - <<-END
		qdisc add dev $2 clsact
		filter add dev $2 ingress bpf direct-action object-pinned $_dir/bpf/unhash
	END
}

# fabric_host NAME LEAF [DEVICES]: all its devices lead to the leaf; each address has its own way
fabric_host()
{
	local name=$1 leaf=$2 i n
	ns_add "$name" || return
	for ((i = 0; i < ${3:-1}; i++)); do
		n=$((++_fabric_hosts[leaf]))
		ip link add "eth$i" netns "ina-$_tag-$name" mtu "$_mtu" type veth \
			peer name "$name-$i" netns "ina-$_tag-l$leaf" mtu "$_mtu" &&
			on "l$leaf" ip -batch - <<-END &&
				addr add 10.$leaf.$n.254/24 dev $name-$i
				link set $name-$i up
			END
			_fabric_unhash "l$leaf" "$name-$i" &&
			on "$name" ip -batch - <<-END || return
				addr add 10.$leaf.$n.1/24 dev eth$i
				link set eth$i up
				route add default via 10.$leaf.$n.254 dev eth$i metric $((i + 1))
			END
		((i == 0)) || on "$name" ip -batch - <<-END || return
			route add default via 10.$leaf.$n.254 dev eth$i table $((100 + i))
			rule add from 10.$leaf.$n.1 table $((100 + i))
		END
		addr[$name${i/#0/}]=10.$leaf.$n.1
		_fabric_port[10.$leaf.$n.1]=$name-$i
	done
}

# spine_shape SPINE [rate MBIT] [queue KB] [delay MS] [jitter MS] [loss PERCENT]: both ways; without
# words it is free. A super-packet of up to 16 KB passes as it is. The queue takes 32 ms to empty.
spine_shape()
{
	local spine=$1 leaf word rate='' queue='' delay='' jitter=0 loss=0 parent=root lines=()
	shift
	while (($#)); do
		word=$1
		local "$word=$2"
		shift 2
	done
	if [[ $rate ]]; then
		lines+=("root handle 1: tbf rate ${rate}mbit burst 16kb limit ${queue:-$((rate * 4))}kb")
		parent="parent 1:1"
	fi
	[[ ! $delay && $loss == 0 ]] ||
		lines+=("$parent handle 10: netem delay ${delay:-0}ms ${jitter}ms loss $loss% limit 1000")
	for leaf in l1 l2; do
		# There may be none.
		tc -n "ina-$_tag-$leaf" qdisc del dev "$spine" root 2>/dev/null
		((${#lines[@]} == 0)) || printf "qdisc add dev $spine %s\n" "${lines[@]}" |
			tc -n "ina-$_tag-$leaf" -batch - || return
	done
}

# spine_rate SPINE MBIT: another rate in place of one it has, what waits is not lost
spine_rate()
{
	local leaf
	for leaf in l1 l2; do
		tc -n "ina-$_tag-$leaf" qdisc change dev "$1" root handle 1: tbf rate "$2mbit" burst 16kb \
			limit "$(($2 * 4))kb" || return
	done
}

# spine_cut SPINE...: it loses its links; the leaves see it
spine_cut()
{
	local s leaf
	for s; do
		_fabric_cut[$s]=y
		for leaf in l1 l2; do
			on $leaf ip link set "$s" down || return
		done
	done
	_fabric_routes
}

# spine_mend SPINE...: after spine_cut
spine_mend()
{
	local s leaf
	for s; do
		for leaf in l1 l2; do
			on $leaf ip link set "$s" up || return
		done
		unset "_fabric_cut[$s]"
	done
	_fabric_routes
}

# spine_hole SPINE...: it takes packets and passes none on; nobody is told
spine_hole()
{
	local s
	for s; do
		on "$s" ip -batch - <<-END || return
			route replace blackhole 10.1.0.0/16
			route replace blackhole 10.2.0.0/16
		END
	done
}

# spine_fill SPINE...: after spine_hole
spine_fill()
{
	local s
	for s; do
		on "$s" ip -batch - <<-END || return
			route replace 10.1.0.0/16 via 10.201.${s#s}.1
			route replace 10.2.0.0/16 via 10.202.${s#s}.1
		END
	done
}

# spines_of FROM TO PORT SOURCE_PORT...: for each, the spine a UDP packet takes between these hosts,
# or addresses
spines_of()
{
	local from=${addr[$1]:-$1} to=${addr[$2]:-$2} port=$3 octets
	shift 3
	IFS=. read -ra octets <<<"$from"
	printf "route get $to from $from iif ${_fabric_port[$from]} ipproto udp dport $port sport %s\n" "$@" |
		on "l${octets[1]}" ip -batch - | sed -n 's/.* dev \(s[0-9]*\) .*/\1/p'
}

# port_for FROM TO PORT SPINE: a source port whose packets take this spine
port_for()
{
	local ports
	mapfile -t ports < <(seq 20000 20063)
	paste <(printf '%s\n' "${ports[@]}") <(spines_of "$1" "$2" "$3" "${ports[@]}") |
		awk -v spine="$4" '$2 == spine { print $1; found = 1; exit } END { exit !found }'
}

# background FROM TO SPINE MBIT SECONDS: plain UDP that takes this spine; its PID in $!
background()
{
	local sport
	sport=$(port_for "$1" "$2" 9999 "$3") || return
	spawn "$1" "background-$3" flow udp "${addr[$2]}" 9999 "$sport" "$4" "$5"
}

# load_start LOG MS [NODE/DEVICE...]: bytes that the leaves sent to each spine, l1's first, or those
# of these devices, over time
load_start()
{
	local log=$1 ms=$2 d leaf all=()
	shift 2
	if (($# == 0)); then
		for leaf in l1 l2; do
			all+=("${spines[@]/#/$leaf/}")
		done
		set -- "${all[@]}"
	fi
	all=()
	for d; do
		all+=("ina-$_tag-${d%/*}/${d#*/}")
	done
	linkload "$ms" "${all[@]}" >"$_dir/$log" &
	_load_pid=$!
	_pids+=($!)
}

load_stop()
{
	kill "$_load_pid" && wait "$_load_pid"
}

# sent LEAF: bytes it has sent to each spine, on one line
sent()
{
	on "$1" cat /proc/net/dev | awk -v spines="${spines[*]}" '
		{ sub(":", " "); bytes[$1] = $10 }
		END { n = split(spines, s, " "); for (i = 1; i <= n; i++) printf "%s ", bytes[s[i]]; print "" }'
}

# sent_since LEAF BYTES...: how much more of each, in KB; BYTES are what `sent` has told
sent_since()
{
	local before=("${@:2}") now i
	read -ra now < <(sent "$1")
	for i in "${!now[@]}"; do
		now[i]=$(((now[i] - before[i]) / 1000))
	done
	echo "${now[@]}"
}

# downs: how often w has missed a path, as w-events has it (monitor)
downs()
{
	grep -c '^[^ ]* path-down ' "$_dir/w-events"
}

more_downs()
{
	(($(downs) > $1))
}

now_ms()
{
	echo $((${EPOCHREALTIME/./} / 1000))
}

# missed_after BEFORE SINCE: ms from the time SINCE to the next path-down of w after those BEFORE
missed_after()
{
	wait_for 10 more_downs "$1" && down_at "$(($1 + 1))" "$2"
}

# down_at N SINCE [PATTERN]: ms from the time SINCE to the Nth path-down of w, of those with the pattern
down_at()
{
	local at
	at=$(grep "^[^ ]* path-down .*${3:-}" "$_dir/w-events" | sed -n "$1s/ .*//p")
	[[ $at ]] && echo $(($(date -d "$at" +%s%3N) - $2))
}

# paths_add FROM TO JOB SPINE...: paths by these spines, from a host that is a parent or a child of the
# other; the one it has takes any
paths_add()
{
	local from=$1 to=$2 job=$3 spine
	shift 3
	paths_know "$from" "$to" "$@" || return
	for spine; do
		on "$from" inaconf path add job "$job" peer "${addr[$to]}" \
			sport "${_fabric_sport[$from-$to-$spine]}" || return
	done
}

# paths_know FROM TO SPINE...: so that paths_add is quick
paths_know()
{
	local from=$1 to=$2 spine key
	shift 2
	for spine; do
		key=$from-$to-$spine
		[[ ${_fabric_sport[$key]:-} ]] ||
			_fabric_sport[$key]=$(port_for "$from" "$to" 4253 "$spine") || return
	done
}

# first_spine FROM TO: of the path that was not added
first_spine()
{
	spines_of "$1" "$2" 4253 4253
}

# other_spines FROM TO: all but that one, in order
other_spines()
{
	printf '%s\n' "${spines[@]}" | grep -vx "$(first_spine "$1" "$2")"
}

# plant ID OPTION...: between w and root, of one path and many rounds in flight
plant()
{
	job_fresh "root w" "$@" capacity "$elements" depth "$depth" deadline 60000 &&
		on root inaconf tree set job "$1" child "${addr[w]}" &&
		on w inaconf tree set job "$1" parent "${addr[root]}"
}

uptime_us()
{
	local up
	read -r up _ </proc/uptime
	echo "${up/./}0000"
}
