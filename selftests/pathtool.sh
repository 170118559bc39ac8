#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# inaconf path: source ports that take every way of a leaf-spine fabric whose leaves choose by
# ports, found by asking the routers and by computing what they compute; what is refused.
#
#   a --- l1 --+-- s1 --+-- l2 --- b
#              +-- s2 --+              a 10.1.0.2 fd00:1::2    b 10.2.0.2 fd00:2::2
#              +-- s3 --+              l1 - sN 10.11.N.0/24    l2 - sN 10.12.N.0/24
#              +-- s4 --+
# shellcheck disable=SC2317 # ok calls the functions
. "$(dirname "$0")/lib.sh"

spines=4
seed=42

# setting NAME VALUE FILE...: of a namespace, below /proc/sys/net
setting()
{
	local name=$1 value=$2
	shift 2
	# shellcheck disable=SC2016 # expanded there
	on "$name" bash -c 'value=$1; shift; for f; do echo "$value" >"/proc/sys/net/$f" || exit; done' \
		- "$value" "$@"
}

router_add()
{
	ns_add "$1"
	setting "$1" 1 ipv4/ip_forward ipv6/conf/all/forwarding ipv4/fib_multipath_hash_policy \
		ipv6/fib_multipath_hash_policy
}

# cable NAME DEVICE NAME DEVICE NET NET6: the first is .1 and ::1, the second .2 and ::2
cable()
{
	ip link add "$2" netns "$(ns "$1")" type veth peer name "$4" netns "$(ns "$3")"
	printf '%s\n' "addr add $5.1/24 dev $2" "addr add $6::1/64 dev $2 nodad" \
		"link set $2 up" | on "$1" ip -batch -
	printf '%s\n' "addr add $5.2/24 dev $4" "addr add $6::2/64 dev $4 nodad" \
		"link set $4 up" | on "$3" ip -batch -
}

# Routes of the leaves over the first N spines.
spread()
{
	local i leaf via via6
	for leaf in 1 2; do
		via=() via6=()
		for ((i = 1; i <= $1; i++)); do
			via+=(nexthop via "10.1$leaf.$i.2")
			via6+=(nexthop via "fd00:1$leaf:$i::2")
		done
		on "l$leaf" ip route replace "10.$((3 - leaf)).0.0/24" "${via[@]}"
		on "l$leaf" ip -6 route replace "fd00:$((3 - leaf))::/64" "${via6[@]}"
	done
}

fabric()
{
	local i
	ns_add a
	ns_add b
	router_add l1
	router_add l2
	cable l1 host a eth0 10.1.0 fd00:1
	cable l2 host b eth0 10.2.0 fd00:2
	for ((i = 1; i <= spines; i++)); do
		router_add "s$i"
		cable l1 "up$i" "s$i" one "10.11.$i" "fd00:11:$i"
		cable l2 "up$i" "s$i" two "10.12.$i" "fd00:12:$i"
		printf '%s\n' "route add 10.1.0.0/24 via 10.11.$i.1" "route add 10.2.0.0/24 via 10.12.$i.1" \
			"route add fd00:1::/64 via fd00:11:$i::1" "route add fd00:2::/64 via fd00:12:$i::1" |
			on "s$i" ip -batch -
	done
	spread "$spines"
	for i in 1:a 2:b; do
		on "${i#*:}" ip route add default via "10.${i%:*}.0.1"
		on "${i#*:}" ip route add default via "fd00:${i%:*}::1"
		# The hash of a flow label would go along to the leaf, which then looks no further.
		setting "${i#*:}" 0 ipv6/auto_flowlabels
	done
}

# auto WORD...: what path auto finds at a, as JSON in out
auto()
{
	asked=("$@")
	on a inaconf -j path auto "$@" >"$_dir/out" 2>"$_dir/err" && return
	cat "$_dir/err"
	return 1
}

# found EXPRESSION: it holds for what was found, or is found when routers are asked once more, if that changes
# nothing: where the machine stands still, answers come too late.
found()
{
	holds "$1" && return
	[[ " ${asked[*]} " == *" dry-run "* ]] && auto "${asked[@]}" && holds "$1"
}

# holds EXPRESSION: for what is in out
holds()
{
	json "(lambda kept, new, via: $1)(
		[x for x in it if x['action'] == 'keep'],
		[x for x in it if x['action'] == 'add'],
		[tuple(x.get('via', [x.get('way')])) for x in it if x['action'] != 'del'])" log out
}

# fails STATUS TEXT WORD...: this is the last line on the standard error, nothing else is printed
fails()
{
	local status=$1 expected=$2 got=0
	shift 2
	on a inaconf "$@" >"$_dir/out" 2>"$_dir/err" || got=$?
	cat "$_dir/err"
	test "$got" = "$status" && test "$(tail -n 1 "$_dir/err")" = "$expected" && test ! -s "$_dir/out"
}

# hop PORT: address of the spine that the leaf chooses for it
hop()
{
	json "it[0]['gateway']" \
		on l1 ip -j route get 10.2.0.2 from 10.1.0.2 iif host ipproto udp sport "$1" dport 4253
}

# agrees: each port leads to the spine with the number of its way
agrees()
{
	local all one chosen
	all=$(json "' '.join('%d:%d' % (x['sport'], x['way']) for x in it)" log out) || return
	for one in $all; do
		chosen=$(hop "${one%:*}")
		echo "port ${one%:*} way ${one#*:}: $chosen"
		[[ $chosen == 10.11.$((${one#*:} + 1)).2 ]] || return
	done
}

# received: UDP packets that came to b, for a port that is there or not
received()
{
	on b cat /proc/net/snmp | awk '$1 == "Udp:" && $2 ~ /^[0-9]/ { print $2 + $3 }'
}

json_start
load
fabric
on a inaconf job add 7 capacity 1k
on a inaconf job add 8 capacity 1k port 4254
on a inaconf job add 9 capacity 1k encap ip
on b inaconf job add 7 capacity 1k
on b inaconf tree set job 7 child 10.1.0.2

ok "without a tree nothing is found" fails 1 \
	"Error: The job has no tree here: use 'inaconf tree set' (job)" path auto job 7 dry-run
on a inaconf tree set job 7 parent 10.2.0.2
on a inaconf tree set job 8 parent fd00:2::2
on a inaconf tree set job 9 parent 10.2.0.2

ok "paths of a job that is not there" fails 1 "Error: No such job: see 'inaconf job show' (job)" \
	path show job 70

# Asking the routers.
clocked "IPv4: the routers are asked" auto job 7 dry-run
clocked "the path that is there and three more" found "len(kept) == 1 and len(new) == 3"
clocked "each goes through another spine" \
	found "sorted(via) == [('10.11.%d.2' % i,) for i in range(1, 5)]"
ok "path 0 has the port of the job" found "kept[0]['sport'] == 4253 and kept[0]['id'] == 0"
clocked "the progress is told" grep -q '^10.2.0.2 is 3 routers away$' "$_dir/err"
clocked "no more packets arrive than it takes to count routers" test "$(received)" -le 3
ok "the module has seen none" test "$(counter b - drop_short)" = 0
clocked "two are enough if so many are wanted" auto job 7 paths 2 dry-run
clocked "one more" found "len(kept) == 1 and len(new) == 1 and via[0] != via[1]"
clocked "IPv6: the routers are asked" auto job 8 dry-run
clocked "each goes through another spine, too" \
	found "sorted(via) == [('fd00:11:%d::2' % i,) for i in range(1, 5)]"

# Computing what they compute.
computed()
{
	for hash in xor crc16 linux:$seed; do
		ok "$hash: computed" auto job 7 hash "$hash" paths 4 dry-run
		ok "$hash: all four ways" found "sorted(via) == [(i,) for i in range(4)]"
		ok "$hash: IPv6" auto job 8 hash "$hash" paths 4 dry-run
		ok "$hash: all four ways" found "sorted(via) == [(i,) for i in range(4)]"
	done
	ok "16 ways, eight paths" auto job 7 hash crc16 paths 16 dry-run
	ok "each another way" found "len(it) == 8 and len(set(via)) == 8"
	if [[ -e /proc/sys/net/ipv4/fib_multipath_hash_seed ]]; then
		ok "a seed of 0 is not known" fails 1 \
			"Error: net.ipv4.fib_multipath_hash_seed is 0, the key of the hash is random: set it on the routers, or leave out hash to probe" \
			path auto job 7 hash linux paths 4 dry-run
		setting l1 "$seed" ipv4/fib_multipath_hash_seed
		setting a "$seed" ipv4/fib_multipath_hash_seed
		ok "the seed of this kernel is taken" auto job 7 hash linux paths 4 dry-run
		ok "linux: the leaf does the same" agrees
		auto job 7 dry-run
		clocked "linux: packets do as well" found "sorted(via) == [('10.11.%d.2' % i,) for i in range(1, 5)]"
	else
		why="the hash of a kernel before 6.11 has a random key"
		ok "linux: an old kernel is refused" fails 1 \
			"Error: this kernel has no net.ipv4.fib_multipath_hash_seed (6.11 and later have): its hash has a random key; leave out hash to probe, or say linux:SEED" \
			path auto job 7 hash linux paths 4 dry-run
		skip "linux: the leaf does the same" "$why"
	fi
}

# What is refused.
refusals()
{
	ok "hash without paths" fails 2 \
		"Error: paths is required with hash: how many ways the routers choose from" path auto job 7 hash xor
	ok "an unknown hash" fails 2 'Error: unknown hash "md5"; known: xor, crc16, linux' \
		path auto job 7 hash md5 paths 4
	ok "no seed" fails 2 'Error: hash: "x" is not a seed from 1 to 4294967295' \
		path auto job 7 hash linux:x paths 4
	ok "no job" fails 2 "Error: job is required" path auto
	ok "a job that is not there" fails 1 "Error: No such job: see 'inaconf job show' (job)" path auto job 70
	ok "a job without ports" fails 1 \
		"Error: job 9 is not carried by UDP, its packets have no ports: add paths with dev, src or dst" \
		path auto job 9
	ok "a stranger" fails 1 "Error: 10.2.0.9 is neither the parent nor a child in the tree of job 7" \
		path auto job 7 peer 10.2.0.9
}

# The tool alone does these.
if [[ ${INA_SIZE:-full} == full ]]; then
	computed
	refusals
fi
on a inaconf tree set job 8 child fd00:2::2
ok "the root without a peer" fails 1 "Error: this node is the root: name a child by peer" path auto job 8
clocked "a child" auto job 8 peer fd00:2::2 dry-run
clocked "ways to a child" found "len(set(via)) == 4"

# Fabrics with less to find.
less()
{
	spread 1
	clocked "one spine" auto job 7 dry-run
	clocked "there is no other way" found "len(kept) == 1 and not new"
	spread "$spines"
	on l1 ip rule add from 10.11.0.0/16 to 10.1.0.0/24 blackhole
	clocked "spines that do not answer" fails 1 \
		"Error: no router says that it was passed: tell by hash what they compute" path auto job 7 dry-run
	on l1 ip rule del from 10.11.0.0/16 to 10.1.0.0/24 blackhole
	on a ip link set eth0 down
	ok "a peer that cannot be reached" fails 1 "Error: cannot send from 10.1.0.2 to 10.2.0.2: Network is unreachable" \
		path auto job 7 dry-run
	on a ip link set eth0 up
	on a ip route add default via 10.1.0.1
	on b ip link set eth0 down
	on l1 ip rule add to 10.1.0.0/24 blackhole
	clocked "nobody answers" fails 1 "Error: no router on the way answers, nor who is at its end" \
		path auto job 7 dry-run
	on l1 ip rule del to 10.1.0.0/24 blackhole
	on b ip link set eth0 up
	on b ip route add default via 10.2.0.1
}

[[ ${INA_SIZE:-full} != full ]] || less

# Paths for what was found.
paths()
{
	json "$1" on a inaconf -j path show job 7
}

# all_added: where the machine stands still, answers come too late
all_added()
{
	auto job 7 && paths "len(it) == 4"
}

added()
{
	ok "paths are added" one_of 5 all_added
	ok "all are there" paths "len(it) == 4 and [x['id'] for x in it] == [0, 1, 2, 3]"
	ok "with what is known of them" paths "all(x['peer'] == '10.2.0.2' and x['job'] == 7 \
		and x['src'] == '10.1.0.2' and x['dst'] == '10.2.0.2' and x['weight'] == 0 \
		and x['state'] in ('up', 'silent') and x['timeout'] > 0 for x in it)"
	ok "as a table" bash -c "inaconf -n $(ns a) path show job 7 | grep -c '^ *[0-3] ' | grep -qx 4"
	ok "one of them" test "$(on a inaconf path show job 7 id 2 | awk 'NR == 3 { print $1 }')" = 2
	ok "one that is not there" fails 1 "Error: No such path: see 'inaconf path show' (id)" \
		path show job 7 id 6
	ok "another job has its own" test "$(on a inaconf -j path show job 9 | grep -c '"id":[1-9]')" = 0
	clocked "once more" auto job 7
	clocked "nothing is new" found "len(kept) == 4 and not new"
	ok "a path is not added twice" fails 1 "Error: There is such a path already: see 'inaconf path show'" \
		path add job 7 sport "$(paths "it[1]['sport']")"
	ok "one is deleted" on a inaconf path del job 7 id 2
	ok "it is gone" paths "[x['id'] for x in it] == [0, 1, 3]"
	clocked "it is found again" auto job 7
	clocked "and is the only one" found "len(kept) == 3 and len(new) == 1 and len(set(via)) == 4"
	spread 2
	clocked "fewer spines" auto job 7 replace
	clocked "two paths remain" paths "len(it) == 2 and it[0]['id'] == 0"
	spread "$spines"
	ok "a weight" on a inaconf path set job 7 id 0 weight 3
	ok "is shown" paths "it[0]['weight'] == 3"
	ok "what holds for all" on a inaconf path set job 7 chunk 32k timeout 80
	ok "is shown" paths "all(x['chunk'] == 32000 and x['timeout'] == 80 for x in it)"
}
if [[ $(on a inaconf -j path show job 7) == "[]" ]]; then
	skip "paths are added" "the module has none"
else
	added
fi

ns_del a
ns_del b
ok "the module unloads" wait_for 20 unload
done_testing
