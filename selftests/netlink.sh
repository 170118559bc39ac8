#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The netlink family through a second client (nlclient): what can be set up,
# every reason of a refusal and that it leaves nothing behind, who may do what,
# events, and the bounds of the memory.
#
#   n: d0 (10.9.0.1/16, fd09::1/64)     m: nothing but jobs, for a while v0 to n
# shellcheck disable=SC2317 # ok calls the functions
# All of it happens in a network namespace of the test's own: n.
[[ ${INA_OWN_NET:-} ]] || INA_OWN_NET=y exec unshare -n bash "$0"
. "$(dirname "$0")/lib.sh"

params=/sys/module/ina_agg/parameters

# refused ERRNO TEXT ATTR|-|missing:ATTR REQUEST...: with exactly these words, which
# are noted.
refused()
{
	local expected="error $1 $2" got
	[[ $2 ]] || expected="error $1"
	case $3 in
	-) ;;
	missing:*) expected+=$'\n'"missing=${3#missing:}" ;;
	*) expected+=$'\n'"attr=$3" ;;
	esac
	got=$(nlclient "${@:4}")
	[[ $got == "$expected" ]] || {
		printf 'got      %s\nexpected %s\n' "$got" "$expected"
		return 1
	}
	echo "$2" >>"$_dir/refusals"
}

# state: all that is configured in n.
state()
{
	nlclient job-get dump && nlclient tree-get dump && nlclient dev-get dump
}

# unchanged: nothing is configured that was not when $before was taken.
unchanged()
{
	diff <(echo "$before") <(state)
}

# background LOG COMMAND...: here; its PID in $!.
background()
{
	local log=$1
	shift
	"$@" >"$_dir/$log" 2>&1 &
	_pids+=($!)
}

# shows REQUEST... LINE: accepted, and the answer has this line.
shows()
{
	nlclient "${@:1:$#-1}" | grep -qxF -e "${*: -1}" || {
		nlclient "${@:1:$#-1}"
		return 1
	}
}

# objects COMMAND COUNT: so many of them in a dump.
objects()
{
	[[ $(nlclient "$1" dump | grep -c '^---') == "$2" ]]
}

load
ns_add m
ip link set lo up
ip link add d0 type dummy
ip addr add 10.9.0.1/16 dev d0
ip addr add fd09::1/64 dev d0
ip link set d0 up
ifindex()
{
	ip -o link show "$1" | cut -d: -f1
}
d0=$(ifindex d0)
nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)

# Jobs.
ok "a job is added" nlclient job-add id=7 capacity=1000 fragment=128 depth=3 deadline=500 encap=1 port=9
answer=$(nlclient job-get id=7)
for line in id=7 dtype=0 capacity=1000 fragment=128 depth=3 group=1024 deadline=500 encap=1 port=9 \
	memory=0 attached=0; do
	ok "the job has $line" grep -qx $line <<<"$answer"
done
ok "a job is added with defaults" nlclient job-add id=8 capacity=1000
answer=$(nlclient job-get id=8)
for line in dtype=0 fragment=256 depth=2 deadline=10000 encap=0 on-loss=0; do
	ok "the default is $line" grep -qx $line <<<"$answer"
done
# -30 and -149 as unsigned numbers
ok "a job of fixed is added with defaults" nlclient job-add id=10 capacity=1000 dtype=3
answer=$(nlclient job-get id=10)
for line in dtype=3 fragment=128 exponent=4294967266; do
	ok "the default of fixed is $line" grep -qx $line <<<"$answer"
done
nlclient job-del id=10 >/dev/null
for dtype in 0 1 2; do
	nlclient job-add id=10 capacity=1000 dtype=$dtype >/dev/null
	answer=$(nlclient job-get id=10)
	ok "type $dtype is there" grep -qx "dtype=$dtype" <<<"$answer"
	ok "and has no exponent" not grep exponent <<<"$answer"
	nlclient job-del id=10 >/dev/null
done
ok "jobs of another namespace are not seen" \
	test "$(on m nlclient job-get dump)" = ok
on m nlclient job-add id=8 capacity=1000 >/dev/null
ok "the same job in another namespace is the same" \
	test "$(nlclient job-get id=8)" = "$(on m nlclient job-get id=8)"
hash_of()
{
	nlclient job-get id=7 | grep ^hash=
}
hash=$(hash_of)
ok "a job is deleted" nlclient job-del id=7
ok "the job is gone" not nlclient job-get id=7
nlclient job-add id=7 capacity=1001 fragment=128 depth=3 deadline=500 encap=1 port=9 >/dev/null
ok "a job with another capacity has another hash" test "$hash" != "$(hash_of)"
nlclient job-del id=7 >/dev/null
for bounds in "id=1 capacity=1 fragment=1 depth=1 deadline=1 port=1" \
	"id=4294967295 capacity=1 fragment=2048 depth=16 deadline=86400000 port=65535" \
	"id=1 capacity=1 dtype=3 exponent=4294967147 fragment=1024" "id=1 capacity=1 dtype=3 exponent=64" \
	"id=2 capacity=2147483647 fragment=128" "id=3 capacity=16777216 fragment=1"; do
	# shellcheck disable=SC2086 # a list of attributes
	ok "the limits are accepted: $bounds" nlclient job-add $bounds
	# shellcheck disable=SC2086 # its first word
	set -- $bounds
	nlclient job-del "$1" >/dev/null
done

# Refusals of jobs.
before=$(state)
ok "job 0 is refused" refused EINVAL "Job 0 is reserved: use 1 or more" 1 \
	job-add id=0 capacity=1
ok "a job without a number is refused" refused EINVAL "Job 0 is reserved: use 1 or more" missing:1 \
	job-add capacity=1
ok "a job that exists is refused" \
	refused EEXIST "Job exists: delete it first or use another number" 1 \
	job-add id=8 capacity=1000
for capacity in 0 2147483648 4294967295; do
	ok "capacity $capacity is refused" \
		refused ERANGE "Capacity is out of range: use 1 to 2147483647 elements" 4 \
		job-add id=9 capacity=$capacity
done
ok "a job without a capacity is refused" \
	refused ERANGE "Capacity is out of range: use 1 to 2147483647 elements" missing:4 \
	job-add id=9
for fragment in 2049 4294967295; do
	ok "fragment $fragment is refused" \
		refused ERANGE "Fragment is out of range: use 1 to 2048 elements, or 0 for what fits the path" 3 \
		job-add id=9 capacity=10 fragment=$fragment
done
ok "too many fragments are refused" refused ERANGE \
	"A round would have more than 16777216 fragments: use larger ones or lower the capacity" 3 \
	job-add id=9 capacity=16777217 fragment=1
for depth in 0 17 4294967295; do
	ok "depth $depth is refused" refused ERANGE "Depth is out of range: use 1 to 16 rounds" 5 \
		job-add id=9 capacity=10 depth=$depth
done
for group in 0 4 1000 4096; do
	ok "group $group is refused" refused ERANGE \
		"Group is out of range: use a power of two from 8 to 2048 packets" 6 \
		job-add id=9 capacity=10 group=$group
done
for loss in 2 4294967295; do
	ok "on-loss $loss is refused" refused ERANGE "No such on-loss: use 0 for fail or 1 for degrade" 14 \
		job-add id=9 capacity=10 on-loss=$loss
done
for deadline in 0 86400001 4294967295; do
	ok "deadline $deadline is refused" \
		refused ERANGE "Deadline is out of range: use 1 to 86400000 ms" 7 \
		job-add id=9 capacity=10 deadline=$deadline
done
ok "port 0 is refused" refused ERANGE "Port 0 is reserved: use 1 to 65535" 9 \
	job-add id=9 capacity=10 port=0
# 259 is 3 in its last byte
for dtype in 4 259 4294967295; do
	ok "dtype $dtype is refused" refused ERANGE \
		"No such dtype: use 0 for int32, 1 for fp32, 2 for bf16 or 3 for fixed" 2 \
		job-add id=9 capacity=10 dtype=$dtype
done
ok "an exponent of another type is refused" refused EINVAL \
	"Only fixed has an exponent: leave it out or use dtype fixed" 15 \
	job-add id=9 capacity=10 dtype=1 exponent=4
for exponent in 65 4294967146; do
	ok "exponent $exponent is refused" refused ERANGE "Exponent is out of range: use -149 to 64" 15 \
		job-add id=9 capacity=10 dtype=3 exponent=$exponent
done
ok "a fragment too long for sums of fixed is refused" refused ERANGE \
	"Fragment is out of range: use 1 to 1024 elements with fixed" 3 \
	job-add id=9 capacity=10 dtype=3 fragment=1025
for encap in 2 4294967295; do
	ok "encap $encap is refused" refused ERANGE "No such encap: use 0 for udp or 1 for ip" 8 \
		job-add id=9 capacity=10 encap=$encap
done
background port.log python3 -uc "
import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(('', 4000))
print('bound')
time.sleep(1000)"
wait_for 20 grep -q bound "$_dir/port.log"
ok "a port in use is refused" \
	refused EADDRINUSE "Cannot open the UDP port: is it in use? Choose another one" 9 \
	job-add id=9 capacity=10 port=4000
ok "nothing has changed" unchanged
ok "IP needs no port" nlclient job-add id=9 capacity=10 encap=1 port=4000
nlclient job-del id=9 >/dev/null
for request in job-get job-del; do
	ok "$request of no job is refused" \
		refused EINVAL "No job is named: give its number" missing:1 $request
	ok "$request of an unknown job is refused" \
		refused ENOENT "No such job: see 'inaconf job show'" 1 $request id=9
done

# What no sane program sends.
before=$(state)
ok "an unknown command is refused" refused EOPNOTSUPP "" - unknown-cmd
ok "an unknown attribute is refused" refused EINVAL "Unknown attribute type" 60 \
	job-add id=9 capacity=10 raw:60=1
ok "an attribute of an answer is refused" refused EINVAL "Unsupported attribute" 11 \
	job-add id=9 capacity=10 memory=1
ok "a short number is refused" refused EINVAL "invalid attribute length" 4 \
	job-add id=9 rawbin:4=0a00
ok "a long number is refused" refused EINVAL "invalid attribute length" 4 \
	job-add id=9 rawbin:4=0a00000000000000
ok "an empty number is refused" refused EINVAL "invalid attribute length" 1 \
	job-add rawbin:1= capacity=10
for attr in 2 3 4; do
	ok "an IPv4 address of 4 bytes is refused in attribute $attr" \
		refused ERANGE "binary attribute size out of range" $attr \
		tree-set job=8 rawbin:$attr=0a090002
	ok "an address of 17 bytes is refused in attribute $attr" \
		refused ERANGE "binary attribute size out of range" $attr \
		tree-set job=8 rawbin:$attr=00000000000000000000ffff0a09000200
done
ok "one bad address among good ones is refused" \
	refused ERANGE "binary attribute size out of range" 4 \
	tree-set job=8 child=10.9.1.1 rawbin:4=0a090002 child=10.9.1.2

# Trees.
refused_tree()
{
	refused "$1" "$2" "$3" tree-set job=8 "${@:4}"
}

ok "a job without a tree says so" \
	refused ENOENT "The job has no tree here: use 'inaconf tree set'" 1 tree-get job=8
ok "a tree of no job is refused" refused EINVAL "No job is named: give its number" missing:1 \
	tree-set workers=1
ok "a tree of an unknown job is refused" \
	refused ENOENT "No such job: see 'inaconf job show'" 1 tree-set job=9 workers=1
ok "a tree asked of no job is refused" \
	refused EINVAL "No job is named: give its number" missing:1 tree-get
ok "a tree asked of an unknown job is refused" \
	refused ENOENT "No such job: see 'inaconf job show'" 1 tree-get job=9
for addr in :: ff02::1 0.0.0.0 224.0.0.1 255.255.255.255; do
	for attr in local:2 parent:3 child:4; do
		ok "${attr%:*} $addr is refused" \
			refused_tree EINVAL "Not the address of a host: give a unicast address" \
			"${attr#*:}" "${attr%:*}=$addr" workers=1
	done
done
ok "a child that is the parent is refused" \
	refused_tree EINVAL "The parent is also a child: name it as one of the two" 4 \
	parent=10.9.1.1 child=10.9.1.2 child=10.9.1.1
ok "a child named twice is refused" refused_tree EINVAL "A child is named twice: name it once" 4 \
	child=10.9.1.1 child=10.9.1.2 child=10.9.1.1
ok "65 workers are refused" refused_tree E2BIG "Too many workers: a node takes 64, use fewer" 5 workers=65
ok "very many workers are refused" \
	refused_tree E2BIG "Too many workers: a node takes 64, use fewer" 5 workers=4294967295
ok "a node without children and workers is refused" \
	refused_tree EINVAL "The node would sum nothing: give children or workers" 5 workers=0
ok "children of two families are refused" \
	refused_tree EAFNOSUPPORT "IPv4 and IPv6 are mixed: use addresses of one family" 4 \
	child=10.9.1.1 child=fd09::2
ok "a parent of another family is refused" \
	refused_tree EAFNOSUPPORT "IPv4 and IPv6 are mixed: use addresses of one family" 4 \
	parent=fd09::2 child=10.9.1.1
ok "a local address of another family is refused" \
	refused_tree EAFNOSUPPORT "IPv4 and IPv6 are mixed: use addresses of one family" 3 \
	local=10.9.0.1 parent=fd09::2
for addr in 192.0.2.1 2001:db8::1; do
	ok "a child without a route is refused: $addr" \
		refused_tree EHOSTUNREACH "No route to a peer: check addresses and routes" 4 \
		child=$addr
	ok "a parent without a route is refused: $addr" \
		refused_tree EHOSTUNREACH "No route to a peer: check addresses and routes" 3 \
		parent=$addr
done
for line in "local=10.9.0.99 parent=10.9.1.1" "local=fd09::99 parent=fd09::2" \
	"local=10.9.0.99 workers=1"; do
	# shellcheck disable=SC2086 # a list of attributes
	ok "a local address that is nowhere is refused: $line" refused_tree EADDRNOTAVAIL \
		"The local address is not configured here: add it to a device first" 2 $line
done
for line in parent=10.9.0.1 child=10.9.0.1 parent=fd09::1 child=fd09::1 \
	"local=10.9.0.1 child=10.9.0.1" "parent=10.9.1.1 child=10.9.0.1"; do
	attr=4
	[[ $line == *child* ]] || attr=3
	# shellcheck disable=SC2086 # a list of attributes
	ok "a node that is its own neighbour is refused: $line" refused_tree EINVAL \
		"A node cannot be its own parent or child: give another address" $attr $line
done
ok "nothing of that has changed a job or a tree" unchanged
nlclient job-add id=10 capacity=4000 fragment=2048 >/dev/null
for line in 3:parent=10.9.1.1 4:child=10.9.1.1 3:parent=fd09::2; do
	ok "a fragment above the MTU is refused: ${line#*:}" refused EMSGSIZE \
		"A fragment does not fit the path MTU: add the job with a smaller fragment" \
		"${line%%:*}" tree-set job=10 "${line#*:}"
done
ok "the job has no tree" refused ENOENT "The job has no tree here: use 'inaconf tree set'" 1 \
	tree-get job=10
ip link set d0 mtu 9000
ok "it fits a larger MTU" nlclient tree-set job=10 parent=10.9.1.1
ip link set d0 mtu 1500
nlclient job-del id=10 >/dev/null

# auto_is ELEMENTS: what the job has.
auto_is()
{
	nlclient job-get id=10 | has "^fragment=$1\$"
}

ip link add d1 up type dummy
ip addr add 10.8.0.1/16 dev d1
for size in 9000=2048 1500=256 1280=256 600=64; do
	ip link set d1 mtu "${size%=*}"
	nlclient job-add id=10 capacity=4000 fragment=0 >/dev/null
	ok "elements of a packet: open" auto_is 0
	ok "a tree that is refused leaves it open" refused EHOSTUNREACH \
		"No route to a peer: check addresses and routes" 4 \
		tree-set job=10 parent=10.8.0.2 child=192.0.2.1
	ok "at least it shows none" auto_is 0
	nlclient tree-set job=10 parent=10.8.0.2 >/dev/null
	ok "a path of MTU ${size%=*} takes ${size#*=}" auto_is "${size#*=}"
	nlclient job-del id=10 >/dev/null
done
nlclient job-add id=10 capacity=16777217 fragment=0 >/dev/null
ip link set d1 mtu 96
ok "too many fragments for a narrow path are refused" refused ERANGE \
	"A round would have more than 16777216 fragments: use larger ones or lower the capacity" 3 \
	tree-set job=10 parent=10.8.0.2
ip link set d1 mtu 95
ok "a path for no element is refused" refused EMSGSIZE \
	"The path MTU has no room for an element: raise it" 3 tree-set job=10 parent=10.8.0.2
ok "the neighbour on that path is named" refused EMSGSIZE \
	"The path MTU has no room for an element: raise it" 4 \
	tree-set job=10 parent=10.9.1.1 child=10.8.0.2
nlclient job-del id=10 >/dev/null
ip link del d1

ok "a tree is set" nlclient tree-set job=8 parent=10.9.1.1 child=10.9.1.2 child=10.9.1.3 workers=2
answer=$(nlclient tree-get job=8)
for line in job=8 local=10.9.0.1 parent=10.9.1.1 workers=2 state=0 attached=0 members=0 base=0 \
	reason=0 member.0.addr=10.9.1.2 member.0.index=0 member.0.workers=0 \
	member.1.addr=10.9.1.3 member.1.index=1; do
	ok "the tree has $line" grep -qxF $line <<<"$answer"
done
ok "rounds of no job are not held back" \
	refused EINVAL "No job is named: give its number" missing:1 tree-hold hold=1000
ok "nor those of an unknown one" refused ENOENT "No such job: see 'inaconf job show'" 1 \
	tree-hold job=9 hold=1000
ok "nor by anybody but the root" refused EINVAL "Rounds are held back by the root: ask there" 1 \
	tree-hold job=8 hold=1000
ok "the tree is replaced" nlclient tree-set job=8 child=fd09::2
ok "for no time at all they are not" \
	refused EINVAL "No time is given: give milliseconds, 0 to go on" missing:16 tree-hold job=8
ok "a root takes it" nlclient tree-hold job=8 hold=1000
ok "and forgets it, as nothing can run" not shows tree-get job=8 left=2
ok "the new tree has the new child" shows tree-get job=8 member.0.addr=fd09::2
ok "the new tree has no parent" not shows tree-get job=8 parent=10.9.1.1
ok "a node without children has one worker" nlclient tree-set job=8 parent=10.9.1.1
ok "it says so" shows tree-get job=8 workers=1
ok "64 workers are accepted" nlclient tree-set job=8 parent=10.9.1.1 workers=64
background worker.log devtest "attach 8" pause
wait_for 20 grep -q '^pid' "$_dir/worker.log"
before=$(state)
ok "a tree with workers attached is not replaced" \
	refused EBUSY "Workers are attached: end them before the node gets another role or address" - \
	tree-set job=8 parent=10.9.1.1
ok "the tree stays" unchanged
ok "the attached worker is counted" shows job-get id=8 attached=1
kill "$(sed -n 's/^pid //p' "$_dir/worker.log")"
ok "it is no more when it has ended" wait_for 10 shows job-get id=8 attached=0

children=()
for i in {0..1024}; do
	children+=("child=10.9.$((1 + i / 256)).$((i % 256))")
done
ok "1025 children are refused" refused_tree E2BIG \
	"Too many children: a node takes 1024, add a level to the tree" 4 "${children[@]}"
ok "the tree is not half set" shows tree-get job=8 workers=64
ok "1024 children are accepted" nlclient tree-set job=8 "${children[@]:0:1024}"
members()
{
	[[ $(nlclient tree-get "$@" | grep -c 'member.*addr=') == 1024 ]]
}
ok "all 1024 are shown" members job=8
ok "the last of them is there" shows tree-get job=8 member.1023.addr=10.9.4.255
ok "all 1024 are in a dump" shows tree-get dump member.1023.addr=10.9.4.255
nlclient job-del id=8 >/dev/null
ok "a job's tree goes with it" objects tree-get 0

# Many jobs.
count=$(full 300 100)
add_many()
{
	seq -f "job-add id=%.0f capacity=10 encap=1" 1000 1000 "${count}000" | nlclient batch
}
ok "$count jobs are added" add_many
ok "a dump in many parts shows each of them once, in order" \
	test "$(nlclient job-get dump | grep ^id=)" = "$(seq -f id=%.0f 1000 1000 "${count}000")"

# Paths.
refused_path()
{
	refused "$1" "$2" "$3" path-add job=20 "${@:4}"
}

nlclient job-add id=20 capacity=1000 >/dev/null
ok "a path without a tree is refused" refused ENOENT \
	"The job has no tree here: use 'inaconf tree set'" 1 path-add job=20 sport=5
ok "a path of no job is refused" refused EINVAL "No job is named: give its number" missing:1 path-add sport=5
nlclient tree-set job=20 parent=10.9.0.7 child=10.9.0.8 workers=1 >/dev/null
ip addr add 10.9.0.2/16 dev d0
ip route add 10.7.0.0/16 dev d0 mtu 600
ok "a path to nobody of the tree is refused" refused_path ENOENT \
	"Neither the parent nor a child: see 'inaconf tree show'" 2 peer=10.9.0.9 sport=5
ok "a path by an unknown device is refused" refused_path ENODEV "No such device: see 'ip link'" 4 ifindex=9999
ok "a source port of 0 is refused" refused_path EINVAL "A source port is a number from 1 to 65535" 7 sport=0
ok "a source address of others is refused" refused_path EADDRNOTAVAIL \
	"The source address is not configured here: add it to a device first" 5 src=10.9.0.7
ok "a path to where no route leads is refused" refused_path EHOSTUNREACH \
	"No route to the peer this way: check addresses, device and routes" 6 dst=10.6.0.7
ok "a path to many is refused" refused_path EINVAL \
	"Not the address of a host: give a unicast address" 6 dst=224.0.0.1
ok "a path of another family is refused" refused_path EAFNOSUPPORT \
	"IPv4 and IPv6 are mixed: use addresses of one family" 6 dst=fd09::7
ok "a path with a small MTU is refused" refused_path EMSGSIZE \
	"A fragment does not fit the path MTU: raise it or add the job with a smaller fragment" 6 dst=10.7.0.7
ok "a weight that is too large is refused" refused_path ERANGE \
	"A weight is at most 1000000, 0 to measure it" 8 sport=5 weight=1000001
ok "the path that is there is refused" refused_path EEXIST \
	"There is such a path already: see 'inaconf path show'" - weight=1
ok "also by the device that it takes" refused_path EEXIST \
	"There is such a path already: see 'inaconf path show'" - ifindex="$d0"
ok "a path by that device is added" nlclient path-add job=20 ifindex="$d0" sport=9
ok "without the device it is refused" refused_path EEXIST \
	"There is such a path already: see 'inaconf path show'" - sport=9
ok "that path is deleted" nlclient path-del job=20 id=1
ok "removing the only path is refused" refused EBUSY \
	"It is the last path to the peer: add another one first, or delete the job" 3 path-del job=20 id=0
ok "a path by another address is added" nlclient path-add job=20 src=10.9.0.2 weight=7
ok "it is shown" shows path-get job=20 id=1 weight=7
ok "and not used before the peer answers" shows path-get job=20 id=1 state=2
for port in 2 3 4 5 6 7; do
	ok "path $port is added" nlclient path-add job=20 sport=$port
done
ok "a ninth is refused" refused_path ENOSPC "A peer takes 8 paths: delete one first" - sport=8
ok "a child has paths of its own" nlclient path-add job=20 peer=10.9.0.8 sport=8
ok "a path that is not there is refused" refused ENOENT "No such path: see 'inaconf path show'" 3 \
	path-del job=20 id=8
ok "no path at all is refused" refused ENOENT "No such path: see 'inaconf path show'" missing:3 path-del job=20
ok "a weight of no path is refused" refused EINVAL "A weight belongs to one path: name it" missing:3 \
	path-set job=20 weight=1
ok "what holds for all is not set for one" refused EINVAL \
	"Of one path the weight is set, all else for the whole node: leave the path out" - path-set job=20 id=1 chunk=5000
ok "a timeout of nothing is refused" refused ERANGE \
	"The timeout of a path is from 20 to 10000 milliseconds" 18 path-set job=20 timeout=0
ok "a chunk without room is refused" refused ERANGE \
	"A chunk has room for a fragment, and at most 65535 bytes" 17 path-set job=20 chunk=10
ok "any loss is refused as a limit" refused ERANGE \
	"The limit of loss is from 0.1 to 50 per cent" 19 path-set job=20 loss-limit=0
ok "all three are set" nlclient path-set job=20 chunk=9000 timeout=100 loss-limit=20000
ok "and shown" shows path-get job=20 id=0 timeout=100
ok "a path is deleted" nlclient path-del job=20 id=1
ok "it is gone" refused ENOENT "No such path: see 'inaconf path show'" 3 path-get job=20 id=1
nlclient tree-set job=20 child=10.9.0.8 >/dev/null
ok "the root has no paths up" refused EINVAL "The root has no parent: name a child as the peer" missing:2 \
	path-add job=20 sport=5
nlclient job-del id=20 >/dev/null
nlclient job-add id=20 capacity=1000 encap=1 >/dev/null
nlclient tree-set job=20 parent=10.9.0.7 workers=1 >/dev/null
ok "without UDP there is no source port" refused_path EINVAL \
	"The job does not use UDP: leave the source port out" 7 sport=5
nlclient job-del id=20 >/dev/null
ip route del 10.7.0.0/16
ip addr del 10.9.0.2/16 dev d0


# Devices.
ok "no device is hooked at first" objects dev-get 0
ok "a device is added" nlclient dev-add ifindex="$d0"
ok "it is shown" shows dev-get ifindex="$d0" name=d0
ok "it is in a dump" objects dev-get 1
before=$(state)
ok "a device is not added twice" refused EEXIST \
	"The device is added already: see 'inaconf dev show'" 1 dev-add ifindex="$d0"
ok "a device that does not exist is refused" refused ENODEV "No such device: see 'ip link'" 1 \
	dev-add ifindex=9999
ok "device 0 is refused" refused ENODEV "No such device: see 'ip link'" 1 dev-add ifindex=0
for request in dev-add dev-del dev-get; do
	ok "$request of no device is refused" \
		refused EINVAL "No device is named: give one" missing:1 $request
done
ok "dev-del of a device not added is refused" \
	refused ENOENT "The device is not added: see 'inaconf dev show'" 1 dev-del ifindex=1
ok "dev-get of a device not added is refused" \
	refused ENOENT "The device is not added: see 'inaconf dev show'" 1 dev-get ifindex=1
ok "no device has come or gone" unchanged
ok "a device is removed" nlclient dev-del ifindex="$d0"
ok "none is left" objects dev-get 0
ip link add d1 type dummy
ip link add v0 type veth peer name v1
v0=$(ifindex v0)
nlclient dev-add ifindex="$v0" >/dev/null
ok "a device has the rate of its link" shows dev-get ifindex="$v0" rate=1250000000
ok "and says that it has" shows dev-get ifindex="$v0" auto=1
ok "it is given another" nlclient dev-set ifindex="$v0" rate=125000000
ok "which is shown" shows dev-get ifindex="$v0" rate=125000000
ok "and the speed of its link as well" shows dev-get ifindex="$v0" speed=1250000000
before=$(state)
ok "a rate of zero is refused" refused EINVAL \
	"A rate below 65536 bytes per second is too low: give more, or 'auto'" 4 dev-set ifindex="$v0" rate=0
ok "a rate nobody could be granted is refused" refused EINVAL \
	"A rate below 65536 bytes per second is too low: give more, or 'auto'" 4 dev-set ifindex="$v0" rate=65535
ok "a rate above that of the link is refused" refused ERANGE \
	"The link is slower than that: give at most its speed, see 'inaconf dev show'" 4 \
	dev-set ifindex="$v0" rate=1250000001
ok "no rate is refused" refused EINVAL \
	"Either a rate or 'auto' is needed: give one of them" missing:4 dev-set ifindex="$v0"
ok "two are refused" refused EINVAL \
	"Either a rate or 'auto' is needed: give one of them" 4 dev-set ifindex="$v0" rate=5 auto=1
ok "the rate of no device is refused" refused EINVAL "No device is named: give one" missing:1 \
	dev-set rate=500000
ok "the rate of a device that does not exist is refused" \
	refused ENODEV "No such device: see 'ip link'" 1 dev-set ifindex=9999 rate=500000
ok "the rate of a device not added is refused" \
	refused ENOENT "The device is not added: see 'inaconf dev show'" 1 dev-set ifindex=1 rate=500000
ok "no rate has changed" unchanged
ok "a device has the rate of its link again" nlclient dev-set ifindex="$v0" auto=1
ok "which is shown, too" shows dev-get ifindex="$v0" rate=1250000000
ip link del v0
nlclient dev-add ifindex="$(ifindex d1)" >/dev/null
ok "a second device is shown" objects dev-get 1
ip link del d1
ok "the hook goes with its device" objects dev-get 0

# Counters.
names()
{
	sed -n 's/.*\] = "\(.*\)",$/\1/p' "$(dirname "$0")/../kmod/stats.c"
}
counters()
{
	nlclient stats-get "$@" | sed -n 's/^counter\.\(.*\)=0$/\1/p'
}
ok "the namespace has every counter, all of them zero" diff <(counters) <(names)
ok "a job has every counter, all of them zero" diff <(counters job=1000) <(names)
ok "counters of an unknown job are refused" \
	refused ENOENT "No such job: see 'inaconf job show'" 1 stats-get job=9

# Events.
nlclient job-add id=30 capacity=10 >/dev/null
background events.log nlclient listen 10 60000
listener=$!
wait_for 20 grep -q listening "$_dir/events.log"
on m nlclient job-add id=77 capacity=10 >/dev/null
{
	nlclient job-add id=31 capacity=10
	nlclient job-add id=31 capacity=10
	nlclient tree-set job=31 parent=10.9.1.1
	nlclient tree-set job=31 workers=1
	nlclient dev-add ifindex="$d0"
	nlclient dev-del ifindex="$d0"
	devtest "attach 31" "wait open 20000"
	nlclient job-del id=31
} >/dev/null
ok "there was an event for each change" finish "$listener"
# Epochs begin at a number of the kernel's own.
ok "the events say what happened, here and in order" \
	diff <(sed 's/epoch\([ =]\)[1-9][0-9]*/epoch\1E/g' "$_dir/events.log") - <<-END
	listening
	event type=0 job=31 text=job 31 added
	event type=2 job=31 addr=10.9.1.1 text=job 31 tree set: has a parent, 0 children, 1 local workers
	event type=2 job=31 text=job 31 tree set: root, 0 children, 1 local workers
	event type=3 ifindex=$d0 text=device d0 added
	event type=4 ifindex=$d0 text=device d0 removed
	event type=9 job=31 workers=1 text=job 31 worker 0 attached: 1 of 1
	event type=11 job=31 round=0 epoch=E workers=1 text=job 31 epoch E opened: 1 workers, from round 0
	event type=10 job=31 text=job 31 worker 0 left: 0 of 1
	event type=12 job=31 reason=4 epoch=E worker=0 text=job 31 epoch E closed: worker left (::)
	event type=1 job=31 text=job 31 deleted
END

# Who may.
for request in "job-add id=40 capacity=10" "job-del id=30" "tree-set job=30 workers=1" \
	"tree-hold job=30 hold=1" "dev-add ifindex=$d0" "dev-del ifindex=$d0" \
	"dev-set ifindex=$d0 rate=1000000" \
	"path-add job=30 sport=5" "path-del job=30 id=0" "path-set job=30 id=0 weight=1"; do
	# shellcheck disable=SC2086 # a request
	ok "nobody may not ${request%% *}" \
		test "$("${nobody[@]}" nlclient $request)" = "error EPERM"
	# shellcheck disable=SC2086 # a request
	ok "root of another user namespace may not ${request%% *}" \
		test "$(unshare -Ur nlclient $request)" = "error EPERM"
done
ok "none of them did" test "$(nlclient job-get id=30 | grep -cx id=30)/$(nlclient job-get dump | grep -cx id=40)" = 1/0
for request in "job-get id=30" "job-get dump" "tree-get dump" "dev-get dump" stats-get; do
	# shellcheck disable=SC2086 # a request
	ok "nobody may look at ${request%% *}" "${nobody[@]}" nlclient $request
done
# The checkout may be in a home that nobody else can enter.
chmod a+x "$_dir"
install -m 755 "$(command -v nlclient)" "$_dir"
ok "a user may configure a namespace of his own" \
	env PATH="$_dir:$PATH" "${nobody[@]}" unshare -Urn bash -ec '
	ip link set lo up
	nlclient job-add id=30 capacity=10
	nlclient tree-set job=30 workers=1
	nlclient dev-add ifindex=1
	nlclient job-get id=30 | grep -qx id=30
	nlclient job-del id=30'

# Memory: 400000 elements are 1.6 MB a round, for the sums and for each worker.
set_limit()
{
	echo "$2" >"$params/$1"
}
no_memory="Not enough memory for the sums: lower capacity or depth, or raise max_job_mb, max_total_mb or the limit of the cgroup"
nlclient job-add id=50 capacity=400000 depth=1 >/dev/null
nlclient job-add id=51 capacity=400000 depth=1 >/dev/null
nlclient tree-set job=50 child=10.9.1.1 >/dev/null
memory=$(nlclient job-get id=50 | sed -n 's/^memory=//p')
ok "an aggregator's memory is counted" test "$memory" -ge 1600000 -a "$memory" -lt 2200000
set_limit max_job_mb 1
ok "a path of a job above its limit is refused" refused ENOMEM \
	"Not enough memory for the path: raise max_job_mb, max_total_mb or the limit of the cgroup" - \
	path-add job=50 peer=10.9.1.1 sport=5
ok "it holds nothing" shows job-get id=50 "memory=$memory"
set_limit max_job_mb 0
ok "without the limit it is added" nlclient path-add job=50 peer=10.9.1.1 sport=5
nlclient path-del job=50 peer=10.9.1.1 id=1 >/dev/null
set_limit max_total_mb 3
ok "a job above the total is refused" refused ENOMEM "$no_memory" - \
	tree-set job=51 child=10.9.1.1
ok "it holds nothing" shows job-get id=51 memory=0
ok "it has no tree" refused ENOENT "The job has no tree here: use 'inaconf tree set'" 1 \
	tree-get job=51
nlclient job-del id=50 >/dev/null
ok "once the other job is gone there is room" \
	wait_for 10 nlclient tree-set job=51 child=10.9.1.1
ok "a tree with workers counts their arrays, too" refused ENOMEM "$no_memory" - \
	tree-set job=51 child=10.9.1.1 workers=1
set_limit max_total_mb 0
nlclient job-del id=51 >/dev/null
nlclient job-add id=52 capacity=150000 depth=1 >/dev/null
set_limit max_job_mb 1
ok "a job above its limit is refused" refused ENOMEM "$no_memory" - tree-set job=52 workers=1
ok "it holds nothing either" shows job-get id=52 memory=0
ok "an aggregator of that job is within it" nlclient tree-set job=52 child=10.9.1.1
set_limit max_job_mb 8
ok "a higher limit lets the job in" nlclient tree-set job=52 workers=1
ok "it holds nothing until a worker comes" wait_for 10 shows job-get id=52 memory=0
set_limit max_job_mb 1
ok "a worker above a limit that was lowered is refused" devtest "attach 52 = ENOMEM"
ok "a refused worker leaves nothing behind" shows job-get id=52 memory=0
set_limit max_job_mb 0
ok "without the limit the worker attaches" devtest "attach 52" "wait open 20000" \
	"submit 0 150000" "wait 0 20000"
nlclient job-del id=52 >/dev/null
# With a child it will have sums, too, of 1.2 MB.
nlclient job-add id=53 capacity=150000 depth=1 dtype=3 >/dev/null
set_limit max_job_mb 2
ok "a worker of that job is within its limit" nlclient tree-set job=53 parent=10.9.1.1 workers=1
ok "with a child, before a worker has come, it is not" refused ENOMEM "$no_memory" - \
	tree-set job=53 parent=10.9.1.1 workers=1 child=10.9.1.2
set_limit max_job_mb 0
ok "without the limit it is" nlclient tree-set job=53 parent=10.9.1.1 workers=1 child=10.9.1.2
nlclient job-del id=53 >/dev/null

# Memory cgroups: 2000000 elements, two rounds: 16 MB of sums, 16 MB a worker.
cgroup=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
if [[ ! $cgroup ]]; then
	cgroup=$_dir/cgroup
	mkdir "$cgroup"
	mount -t cgroup2 none "$cgroup"
fi
in_group()
{
	# shellcheck disable=SC2016 # of the inner shell
	bash -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' "$group" "$@"
}
charged()
{
	test "$(cat "$group/memory.current")" "$@"
}
if echo +memory >"$cgroup/cgroup.subtree_control" 2>/dev/null; then
	group=$cgroup/ina-$_tag
	mkdir "$group"
	nlclient job-add id=60 capacity=2000000 depth=2 >/dev/null
	nlclient tree-set job=60 workers=1 >/dev/null
	in_group devtest "attach 60" pause >"$_dir/charged.log" 2>&1 &
	_pids+=($!)
	wait_for 30 grep -q '^pid' "$_dir/charged.log"
	ok "a worker's arrays and the sums are charged to its cgroup" charged -gt 32000000
	kill "$(sed -n 's/^pid //p' "$_dir/charged.log")"
	ok "its arrays are given back when it has ended" wait_for 10 charged -lt 24000000
	nlclient job-del id=60 >/dev/null
	ok "the sums are given back when the job is deleted" wait_for 10 charged -lt 8000000
	# An aggregator without workers holds its sums from the start: they are the operator's.
	nlclient job-add id=60 capacity=2000000 depth=2 >/dev/null
	echo 8M >"$group/memory.max"
	ok "an aggregator above its operator's limit is refused, not killed" \
		diff <(in_group nlclient tree-set job=60 child=10.9.1.1) - <<<"error ENOMEM $no_memory"
	ok "it has no memory" shows job-get id=60 memory=0
	ok "it is not in a tree" refused ENOENT \
		"The job has no tree here: use 'inaconf tree set'" 1 tree-get job=60
	echo max >"$group/memory.max"
	ok "with a higher limit it is accepted" in_group nlclient tree-set job=60 child=10.9.1.1
	ok "its sums are charged to its operator's cgroup" charged -gt 16000000 -a \
		"$(cat "$group/memory.current")" -lt 32000000
	nlclient job-del id=60 >/dev/null
	ok "they are given back with the job" wait_for 10 charged -lt 8000000
	nlclient job-add id=60 capacity=2000000 depth=2 >/dev/null
	nlclient tree-set job=60 workers=1 >/dev/null
	echo 8M >"$group/memory.max"
	ok "a worker above its cgroup's limit is refused, not killed" \
		in_group devtest "attach 60 = ENOMEM"
	ok "it leaves no memory behind" shows job-get id=60 memory=0
	ok "it is not attached" shows job-get id=60 attached=0
	echo max >"$group/memory.max"
	ok "with a higher limit it attaches" in_group devtest "attach 60"
	nlclient job-del id=60 >/dev/null
	wait_for 10 rmdir "$group"
else
	skip "memory is charged to the worker's cgroup" "the memory controller is not available"
fi
[[ $cgroup != "$_dir/cgroup" ]] || umount "$cgroup"

# Of a job that runs: the worker is in m, where nobody has the address of the second path.
ip link add v0 type veth peer name v0 netns "$(ns m)"
ip addr add 10.10.0.1/24 dev v0
ip link set v0 up
on m ip addr add 10.10.0.2/24 dev v0
on m ip link set v0 up
nlclient job-add id=21 capacity=1000 >/dev/null
on m nlclient job-add id=21 capacity=1000 >/dev/null
nlclient tree-set job=21 child=10.10.0.2 >/dev/null
on m nlclient tree-set job=21 parent=10.10.0.1 workers=1 >/dev/null
spawn m running.log devtest "attach 21" pause
running=$!
ok "a job runs" wait_for 20 shows tree-get job=21 state=2
nlclient path-add job=21 peer=10.10.0.2 dst=10.10.0.3 >/dev/null
ok "removing the last path that is up is refused" refused EBUSY \
	"The job runs and no other path to the peer is up: wait until one is, or delete the job" 3 \
	path-del job=21 peer=10.10.0.2 id=0
ok "it is still there" wait_for 10 shows path-get job=21 peer=10.10.0.2 id=0 state=0
kill "$running"
ok "when the job does not run it can be removed" wait_for 20 nlclient path-del job=21 peer=10.10.0.2 id=0
nlclient job-del id=21 >/dev/null
on m nlclient job-del id=21 >/dev/null
ip link del v0

# Every reason in the source has been given above, but for those that need a kernel without memory,
# or another module's hooks, and those of the queueing discipline: it is told where they are asserted.
texts()
{
	python3 - "$_dir/refusals" "$(dirname "$0")/.." <<-'END'
		import glob, re, sys
		given = open(sys.argv[1]).read().splitlines()
		top = sys.argv[2]
		qdisc = "selftests/qdisc.sh"
		for text, test in {
		    "Out of memory: free some or raise the limit of the memory cgroup, then try again": "kmod/netlink_test.c",
		    "The kernel refuses it, and says no more than the error number": "kmod/netlink_test.c",
		    "The device takes no ingress hook: remove other hooks, or use a kernel with NETFILTER_INGRESS": "kmod/ingress_test.c",
		    "With a limit of 0 nothing would leave: give at least 1 packet": qdisc,
		    "The horizon is out of range: give 1 to 60000 milliseconds": qdisc,
		}.items():
		    if f'"{text}"' in open(f"{top}/{test}").read():
		        given.append(text)
		texts = []
		for name in set(glob.glob(f"{top}/kmod/*.c")) - set(glob.glob(f"{top}/kmod/*_test.c")):
		    source = open(name).read()
		    for call in re.findall(r'(?:NL_SET_ERR_MSG\w*|ina_nl_within)\((.*?)\);', source, re.S):
		        texts += re.findall(r'"(.*?)"', call)
		missing = [text for text in texts if text not in given]
		print(len(texts), "texts, missing:", missing)
		sys.exit(bool(missing) or len(texts) < 20)
	END
}
ok "every reason the kernel can give was given, and is the one expected" texts

ns_del m
ok "the module unloads" wait_for 20 unload
ok "the limits can be given when it is loaded" load_with max_job_mb=1 max_total_mb=2
ok "they are in force" test "$(cat $params/max_job_mb)/$(cat $params/max_total_mb)" = 1/2
nlclient job-add id=52 capacity=200000 depth=1 >/dev/null
ok "a job above them is refused" refused ENOMEM "$no_memory" - tree-set job=52 workers=1
ok "the module unloads again" wait_for 20 unload
done_testing
