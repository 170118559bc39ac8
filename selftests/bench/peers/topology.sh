# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# Workers around an aggregator, each a namespace, and how systems run on them. Links are
# devices of their own, without a switch. Sourced, never run, with lib.sh before it.
#
#   w1 .11 --- eth1 +
#   w2 .12 --- eth2 +--- agg .2 eth0 --- root .1
#   ...             +
#
# Who sources it sets regime and mode (tree or hop), and has two functions: fragment SYSTEM,
# elements in a packet; workloads, lines ELEMENTS:ROUNDS:INFLIGHT.
# shellcheck disable=SC2154,SC2317
. "$(dirname "${BASH_SOURCE[0]}")/../machine.sh"

: "${INA_BUILD:=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)/build}"
rate=${BENCH_RATE:-50}			# Mbit/s of a link in regime L, each way
gro=${BENCH_GRO:-on}			# of the receivers in regimes W and J
peers=$INA_BUILD/peers
workers=()
planted=()				# nodes that have a job

# link NODE ADDRESS N: to agg, whose device is ethN. Neighbours know each other.
link()
{
	local here there
	here=$(printf 02:00:00:00:00:%02x "$3") there=$(printf 02:00:00:00:01:%02x "$3")
	ip link add eth0 netns "$(ns "$1")" address "$here" type veth \
		peer name "eth$3" netns "$(ns agg)" address "$there" &&
		on "$1" ip -batch - <<-END &&
			link set eth0 up
			addr add $2/24 dev eth0 noprefixroute
			route add 10.0.0.2 dev eth0
			route add default via 10.0.0.2
			neigh add 10.0.0.2 lladdr $there dev eth0 nud permanent
		END
		on agg ip -batch - <<-END
			link set eth$3 up
			addr add 10.0.0.2/24 dev eth$3 noprefixroute
			route add $2 dev eth$3
			neigh add $2 lladdr $here dev eth$3 nud permanent
		END
}

# end_set NODE DEVICE: as the regime wants it. Where the device has no segmentation, the
# stack does it right before, so that a burst of single frames leaves.
end_set()
{
	local offload=off mtu=1500 merge=$gro
	case $regime in
	S | L) offload=on merge=off ;;
	J) mtu=9000 ;;
	esac
	on "$1" ethtool -K "$2" gso on tso "$offload" tx-udp-segmentation "$offload" gro "$merge" \
		>/dev/null && on "$1" ip link set "$2" mtu "$mtu"
}

# end_rate NODE DEVICE: a queue that is longer than what any of them has on the way
end_rate()
{
	if [[ $regime == L ]]; then
		tc -n "$(ns "$1")" qdisc replace dev "$2" root tbf rate "${rate}mbit" burst 128kb \
			limit 32mb
	else
		tc -n "$(ns "$1")" qdisc replace dev "$2" root noqueue
	fi
}

# each_end COMMAND: with the node and the device of every end of a link
each_end()
{
	local n
	for n in root "${workers[@]}"; do
		"$1" "$n" eth0 || return
	done
	for ((n = 0; n <= ${#workers[@]}; n++)); do
		"$1" agg "eth$n" || return
	done
}

# Super-packets, single frames of 1500 bytes, single jumbo frames, links with a rate.
regime_set()
{
	each_end end_set && each_end end_rate
}

# address I: of workers[I]
address()
{
	echo "10.0.0.$((11 + $1))"
}

# node_add NAME ADDRESS N: a namespace, its link, and ina on both ends of it
node_add()
{
	ns_add "$1" && link "$@" || return
	[[ ! ${INA_KO:-} ]] ||
		{ on "$1" inaconf dev add eth0 && on agg inaconf dev add "eth$3"; }
}

# workers_add N: until there are so many
workers_add()
{
	local i
	for ((i = ${#workers[@]}; i < $1; i++)); do
		node_add "w$((i + 1))" "$(address "$i")" $((i + 1)) || return
		workers+=("w$((i + 1))")
	done
}

# setup N: a root, an aggregator, and N workers
setup()
{
	[[ ! ${INA_KO:-} ]] || load || return
	ns_add agg && on agg sysctl -qw net.ipv4.ip_forward=1 &&
		node_add root 10.0.0.1 0 && workers_add "$1" || return
	# Single frames of a whole window of all workers. It is of the whole machine.
	trap 'sysctl -qw net.core.netdev_max_backlog='"$(sysctl -n net.core.netdev_max_backlog)"'; _cleanup' EXIT
	sysctl -qw net.core.netdev_max_backlog=20000
}

# What a report begins with. What machine a VM runs on, bench.sh tells.
head_lines()
{
	echo "host kernel $(uname -r) $(uname -m), $(nproc) CPUs, $(date -u +%F)"
	echo "machine ${BENCH_MACHINE:-$(machine)}"
	[[ ! ${BENCH_VM:-} ]] || echo "vm $BENCH_VM"
	echo "rate $rate"
	echo "gro $gro"
}

# at_once NODE... -- COMMAND...: on each of them
at_once()
{
	local n pids=() names=()
	while [[ $1 != -- ]]; do
		names+=("$1")
		shift
	done
	shift
	for n in "${names[@]}"; do
		on "$n" "$@" &
		pids+=($!)
	done
	finish "${pids[@]}"
}

# A job without a past.
plant()
{
	local i parent=() children=() job
	job=(capacity "$(workloads | sort -n | sed '$!d; s/:.*//')" fragment "$(fragment ina)"
		depth 4 deadline 100000)
	at_once "${planted[@]}" -- inaconf job del 7
	planted=(agg "${workers[@]}")
	[[ $mode != tree ]] || planted+=(root)
	at_once "${planted[@]}" -- inaconf job add 7 "${job[@]}" &&
		at_once "${workers[@]}" -- inaconf tree set job 7 parent 10.0.0.2 || return
	for i in "${!workers[@]}"; do
		children+=(child "$(address "$i")")
	done
	if [[ $mode == tree ]]; then
		on root inaconf tree set job 7 child 10.0.0.2 || return
		parent=(parent 10.0.0.1)
	fi
	on agg inaconf tree set job 7 "${parent[@]}" "${children[@]}"
}

# each_worker COMMAND...: with its rank in place of @RANK@
each_worker()
{
	local i pids=()
	for i in "${!workers[@]}"; do
		spawn "${workers[i]}" "out-$i" "${@//@RANK@/$i}"
		pids+=($!)
	done
	finish "${pids[@]}"
}

run_ina()
{
	plant || return
	# shellcheck disable=SC2046 # words
	each_worker "$peers/bench-ina" 7 @RANK@ ${#workers[@]} $(workloads)
}

run_udp()
{
	local pids=() parent=() rc
	if [[ $mode == tree ]]; then
		spawn root out-root "$peers/bench-udp" node "$(fragment udp)" 1
		pids+=($!)
		parent=(0 10.0.0.1)
	fi
	spawn agg out-agg "$peers/bench-udp" node "$(fragment udp)" ${#workers[@]} "${parent[@]}"
	pids+=($!)
	# shellcheck disable=SC2046 # words
	each_worker "$peers/bench-udp" worker "$(fragment udp)" 10.0.0.2 @RANK@ \
		${#workers[@]} $(workloads)
	rc=$?
	kill "${pids[@]}" || return
	wait "${pids[@]}" 2>/dev/null # bash tells that they were killed
	return "$rc"
}

# xdp plain|lock sockets|frames FRAGMENT WORKLOAD...
xdp()
{
	local root=- names=() n
	[[ $mode != tree ]] || root=$(ns root)
	for n in "${workers[@]}"; do
		names+=("$(ns "$n")")
	done
	"$peers/bench-xdp" "${@:1:3}" "$(ns agg)" "$root" "${names[@]}" "${@:4}" >>"$_dir/out-0" 2>>"$_dir/out-xdp"
}

# bytes and packets that the aggregator's devices have received
received()
{
	on agg ip -s -j link | jq -r '[.[].stats64.rx] | "\(map(.bytes) | add) \(map(.packets) | add)"'
}

# lost SYSTEM: a packet, and it has nothing for that
lost()
{
	[[ $1 == udp || $1 == xdp* ]] && grep -qs ' was lost$' "$_dir"/out-*
}

# measure SYSTEM WORD...: a line `run WORD... FRAME {...}` for each worker and workload; all
# must have told. What lost a packet is run once more, and a line `lost WORD...` tells.
measure()
{
	local before after frame n try
	for try in first last; do
		rm -f "$_dir"/out-*
		read -ra before < <(received)
		"run_$1" && break
		if [[ $try == last ]] || ! lost "$1"; then
			grep -H . "$_dir"/out-*
			return 1
		fi
		echo "lost ${*:2}"
	done
	shift
	read -ra after < <(received)
	frame=$(((after[0] - before[0]) / (after[1] - before[1] + 1)))
	n=$(cat "$_dir"/out-[0-9]* | grep -c '^{"rank"')
	((n == ${#workers[@]} * $(workloads | wc -l))) || return
	sed -n "s/^{\"rank\"/run $* $frame &/p" "$_dir"/out-[0-9]*
}
