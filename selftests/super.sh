#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Super-packets: from end to end, cut by the sender's device, joined again by the
# receiver's, and held in a queue while the tree changes, and for longer than their node
# lives. How many packets came in an skb tell the counters: rx_hook counts skbs, the
# others packets.
#
#   w0 .11 --+            +-- agg .2
#   w1 .12 --+-- switch --+-- root .1      10.0.0.0/24, fd00::/64
# shellcheck disable=SC2317 # ok calls the functions
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/pair.sh"

nodes=(root agg w0 w1)
declare -A number=([root]=1 [agg]=2 [w0]=11 [w1]=12) skbs=() taken=() others=() stale=()
elements=$(full 50000 10000)
rounds=6
net=10.0.0.

# tree: of a new job on all nodes
tree()
{
	job_fresh "${nodes[*]}" 7 capacity "$elements" deadline 30000 &&
		on root inaconf tree set job 7 child "${net}2" &&
		on agg inaconf tree set job 7 parent "${net}1" child "${net}11" child "${net}12" &&
		on w0 inaconf tree set job 7 parent "${net}2" &&
		on w1 inaconf tree set job 7 parent "${net}2"
}

# came NODE: skbs since the mark; packets the job has taken: of elements; others, control and such
# as came too early, or again
came()
{
	local name
	local -A now=() whole=()
	counters "$1" 7 now
	counters "$1" - whole
	skbs[$1]=$((whole[rx_hook] - before[$1]))
	taken[$1]=$((now[rx_data] + now[rx_result]))
	others[$1]=${now[rx_control]}
	# Some of these two are among those that were taken.
	for name in "${!now[@]}"; do
		[[ $name != drop_* || $name == drop_@(instance|stale) ]] ||
			others[$1]=$((others[$1] + now[$name]))
	done
	stale[$1]=${now[drop_stale]}
	echo "$1: ${taken[$1]} packets of elements and ${others[$1]} others in ${skbs[$1]} skbs"
	on "$1" inaconf stats show job 7
}

mark()
{
	local n
	local -A now
	for n in "${nodes[@]}"; do
		now=()
		counters "$n" - now
		before[$n]=${now[rx_hook]}
	done
}

# joined FACTOR NODE...: on average, that many packets of elements came in an skb.
joined()
{
	local n factor=$1
	shift
	for n; do
		came "$n"
		((taken[$n] >= (skbs[$n] - others[$n] - stale[$n]) * factor)) || return
	done
}

# alone NODE...: each packet came in an skb of its own.
alone()
{
	local n
	for n; do
		came "$n"
		((skbs[$n] >= taken[$n] + others[$n])) || return
	done
}

# conserved: what left the workers came to the aggregator, packet by packet: it was taken, or came again,
# too early or too late, of which results and control packets may be a part.
conserved()
{
	local sent refused
	local -A w0=() w1=() agg=()
	counters w0 7 w0
	counters w1 7 w1
	counters agg 7 agg
	sent=$((w0[tx_data] + w1[tx_data]))
	refused=$((agg[drop_duplicate] + agg[drop_stale] + agg[drop_window] + agg[drop_epoch]))
	echo "sent $sent, taken ${agg[rx_data]}, refused $refused"
	((sent >= agg[rx_data] && sent <= agg[rx_data] + refused))
}

# uncopied: whatever a node received was added from where it was.
uncopied()
{
	local n copied
	for n in "${nodes[@]}"; do
		copied=$(counter "$n" - rx_copied) || return
		((copied == 0)) || { echo "$n: $copied"; return 1; }
	done
}

# shown CHECK...: by what came in the last run, or in one of four more. Where the machine stands still,
# packets leave before a super-packet is full.
shown()
{
	local i
	for ((i = 0; i < 4; i++)); do
		"$@" && return
		mark
		tree
		sums || { wrong=y; return 1; }
	done
	"$@"
}

# feature NODE WORD...: of its device
feature()
{
	local n=$1
	shift
	on "$n" ethtool -K eth0 "$@" >/dev/null
}

# few WORD N MOST: what w0's device takes in a super-packet is so limited; as many packets of
# elements as it may leave in an skb, by what its queueing discipline has seen of both.
few()
{
	local control shown packets buffers
	on w0 ip link set eth0 "$1" "$2" && on w0 inaconf qdisc add eth0 && tree || return
	sums || { wrong=y; return 1; }
	control=$(counter w0 7 tx_control)
	shown=$(on w0 inaconf -j qdisc show eth0)
	echo "$control control packets, $shown"
	on w0 inaconf qdisc del eth0
	on w0 ip link set eth0 gso_max_segs 65535 gso_max_size 65536
	[[ $control && $shown =~ '"packets":'([0-9]+),.*'"paced":'([0-9]+),'"unpaced":'([0-9]+), ]] || return
	packets=$((BASH_REMATCH[1] - control))
	buffers=$((BASH_REMATCH[2] + BASH_REMATCH[3] - control))
	((packets <= buffers * $3 && packets * 2 >= buffers * ($3 + 1)))
}

# held NODE: a super-packet, at least, waits in its queue.
held()
{
	local shown
	shown=$(exec tc -n "$(ns "$1")" -j -s qdisc show dev eth0)
	echo "$shown"
	[[ $shown =~ '"backlog":'([0-9]+) ]] && ((BASH_REMATCH[1] > 20000))
}

# delay NODE TIME: of what it sends from now on
delay()
{
	tc -n "$(ns "$1")" qdisc replace dev eth0 root netem delay "$2" limit 1000
}

# at_once NODE: what waits is gone.
at_once()
{
	tc -n "$(ns "$1")" qdisc del dev eth0 root
}

# hold NODE TIME: what it sends from now on waits so long, while rounds run.
hold()
{
	start --rounds 1M --continue-on-failure
	wait_for 10 at_least w0 7 rounds_done 1 && delay "$1" "$2" && wait_for 10 held "$1"
}

# cut: devices take single packets, and no checksums; whole: as it was.
cut()
{
	local n
	for n in "${nodes[@]}"; do
		feature "$n" tx off tx-udp-segmentation off
	done
}

whole()
{
	local n
	for n in "${nodes[@]}"; do
		feature "$n" gro off tx on sg on tso on tx-udp-segmentation on
	done
}

# move: the other worker goes from the aggregator to the root.
move()
{
	on root inaconf tree set job 7 child "${net}2" child "${net}12" &&
		on agg inaconf tree set job 7 parent "${net}1" child "${net}11" &&
		on w1 inaconf tree set job 7 parent "${net}1"
}

# more: another round has completed at the root.
more()
{
	wait_for 20 at_least root 7 rounds_done $(($(counter root 7 rounds_done) + 1))
}

declare -A before=()
wrong=
load
switch_add 1500
for n in "${nodes[@]}"; do
	host_add "$n" "10.0.0.${number[$n]}/24" "fd00::${number[$n]}/64"
	on "$n" inaconf dev add eth0
done

mark
tree
ok "sums of super-packets" sums
clocked "they come whole to every node" shown joined 8 "${nodes[@]}"
wait_for 10 conserved
ok "packets are counted, not super-packets" conserved
ok "none was copied before it was added" uncopied

# The sender makes none that its device does not take.
if [[ $INA_SIZE == full ]]; then
	clocked "single packets for a device that takes only these" one_of 5 few gso_max_segs 1 1
	clocked "short super-packets for a device that takes few packets" one_of 5 few gso_max_segs 4 4
	clocked "short super-packets for a device that takes few bytes" one_of 5 few gso_max_size 5000 4
fi

# The stack makes the checksums, too, and the receiver looks at them.
cut
for net in 10.0.0. $(full fd00:: ""); do
	mark
	tree
	ok "sums when devices cut them: $net" sums
	ok "each packet comes alone" alone "${nodes[@]}"
	wait_for 10 conserved
	ok "and none is lost" conserved
done
net=10.0.0.

# A veth joins what its peer could not have sent whole.
for n in "${nodes[@]}"; do
	on sw ethtool -K "p-$n" tso off >/dev/null
	feature "$n" gro on
done
mark
tree
ok "sums when devices cut and join them" sums
clocked "packets come joined, as the socket asks for it" shown joined 2 root agg
ok "none was copied, neither alone nor joined" uncopied
for n in "${nodes[@]}"; do
	on sw ethtool -K "p-$n" tso on >/dev/null
done
whole

# The bytes must stay as they are until the last one has read them.
tree
delay w0 20ms
ok "sums when super-packets are late" sums
ok "super-packets wait in the queue" hold w0 "$(full 20 30)s"
ok "their worker has seen no wrong sum" halt KILL "${started[0]}"
on w0 inaconf job del 7
clocked "their worker and their node go" held w0
ok "nor has the other one" halt INT "${started[1]}"
ok "they leave without them" wait_for 20 not held w0
# What is left goes, too: a new node would hear a JOIN of the old one.
at_once w0
delay w0 10ms
tree
ok "sums of a new node" sums

at_once w0

# In jumbo frames the packets of one child refer to results that are in those of another.
mtu 9000 "${nodes[@]}"
mark
tree
ok "sums of large results" sums
clocked "they come whole, too" shown joined 2 w0 w1
ok "no sum was wrong in what had to be sent again" test -z "$wrong"
ok "none was copied, though its header may be apart" uncopied
cut
tree
ok "sums when devices cut large results" sums
whole
tree
ok "large results wait in the queue of the aggregator" hold agg 20s
delay agg 1ms
ok "a worker moves to the root meanwhile" move
ok "rounds go on" more
ok "those that waited have come" wait_for 20 not held agg
ok "rounds go on after that" more
ok "no sum was wrong" halt INT "${started[@]}"
at_once agg
tree
ok "large results wait again" hold agg 120s
ok "a worker that has seen no wrong sum goes" halt KILL "${started[0]}"
on agg inaconf job del 7
ok "their node goes" held agg
ok "nobody saw a wrong sum" halt INT "${started[1]}"
at_once agg
tree

ok "super-packets wait again" hold w0 120s
ok "both workers go, neither has seen a wrong sum" halt KILL "${started[@]}"
for n in "${nodes[@]}"; do
	on "$n" inaconf job del 7
	on "$n" inaconf dev del eth0
done
ok "the module goes" wait_for 10 unload
ok "and they still wait" held w0
at_once w0
done_testing
