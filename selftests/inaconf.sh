#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The tool against the running module: what it prints as text, JSON and graph,
# the events it follows, the namespace it works in, and how it ends: 0 done, 1
# refused, 2 words that make no sense.
#
#   n: eth0 (10.0.0.1/24)     m: empty
# shellcheck disable=SC2317 # ok calls the functions
# All of it happens in a network namespace of the test's own: n.
[[ ${INA_OWN_NET:-} ]] || INA_OWN_NET=y exec unshare -n bash "$0"
. "$(dirname "$0")/lib.sh"

# prints TEXT ARGS...: exactly this on the standard output, status 0.
prints()
{
	local expected=$1
	shift
	inaconf "$@" >"$_dir/out" && diff "$_dir/out" - <<<"$expected"
}

# silent ARGS...: done, and nothing to say.
silent()
{
	inaconf "$@" >"$_dir/out" 2>&1 && test ! -s "$_dir/out"
}

# fails STATUS TEXT ARGS...: exactly this on the standard error, nothing else.
fails()
{
	local status=$1 expected=$2 got=0
	shift 2
	inaconf "$@" >"$_dir/out" 2>"$_dir/err" || got=$?
	test "$got" = "$status" && diff "$_dir/err" - <<<"$expected" && test ! -s "$_dir/out"
}

# told EXPRESSION ARGS...: well-formed JSON, and the expression holds for it.
told()
{
	local expression=$1
	shift
	json "$expression" inaconf -j "$@"
}

ok "without the module it says what to do" \
	fails 1 "Error: module ina_agg is not loaded: run modprobe ina_agg" job show
json_start
load
ns_add m
ip link set lo up
ip link add eth0 type dummy
ip addr add 10.0.0.1/24 dev eth0
ip link set eth0 up
ifindex=$(ip -o link show eth0 | cut -d: -f1)

# Empty.
for object in job tree dev path; do
	ok "there is no $object at first" silent $object show
	ok "no $object is an empty array in JSON" told "it == []" $object show
done

# Jobs.
ok "a job is added" silent job add 7 capacity 1Mi fragment 128 depth 4 group 1024 deadline 5000 encap udp port 4242
ok "a job is added with all words" silent job add id 8 capacity 6500k dtype int32 encap ip
hash=$(inaconf job show 7 | sed -n 's/.*hash \(0x[0-9a-f]*\).*/\1/p')
ok "the hash has 16 digits" test ${#hash} = 18
job7="job 7 dtype int32 capacity 1048576 fragment 128 depth 4 group 1024 deadline 5000 on-loss fail encap udp port 4242
    hash $hash memory 0 attached 0"
ok "a job is shown" prints "$job7" job show 7
ok "the word id may be given" prints "$job7" job show id 7
ok "a job of fixed is added" silent job add 9 capacity 1k dtype fixed exponent -40 fragment 64
ok "its exponent is shown" bash -c "inaconf job show 9 | grep -q '^job 9 dtype fixed exponent -40 capacity 1000 fragment 64 '"
ok "its exponent is a number in JSON" told "it[0]['dtype'] == 'fixed' and it[0]['exponent'] == -40" job show 9
inaconf job del 9
ok "all jobs are shown" test "$(inaconf job show | grep -c ^job)" = 2
ok "an object alone is shown" test "$(inaconf job)" = "$(inaconf job show)"
ok "a job in JSON has the same" told "it[0]['id'] == 7 and it[0]['capacity'] == 1 << 20 \
	and it[0]['encap'] == 'udp' and it[0]['dtype'] == 'int32' and it[0]['hash'] == '$hash' and it[0]['memory'] == 0" job show 7
ok "all jobs in JSON are in order" \
	told "[job['id'] for job in it] == [7, 8] and it[1]['capacity'] == 6500000" job show
both()
{
	echo "[$(inaconf -jp job show),$(inaconf -j job show)]"
}
pretty()
{
	[[ $(inaconf -j -p job show | wc -l) -gt 10 ]] && json "json.dumps(it[0]) == json.dumps(it[1])" both
}
ok "pretty JSON has lines and says the same" pretty

# Trees.
ok "a job without a tree is refused" \
	fails 1 "Error: The job has no tree here: use 'inaconf tree set' (job)" tree show job 7
ok "a tree is set" silent tree set job 7 parent 10.0.0.2 child 10.0.0.11 child 10.0.0.12 workers 2
ok "it is drawn" prints "job 7 state idle epoch 0 base 0 members 0
    10.0.0.2 parent
    \`-- 10.0.0.1 this node, workers attached 0 of 2
        |-- 10.0.0.11       missing, index 0, workers 0
        \`-- 10.0.0.12       missing, index 1, workers 0" tree show job 7
ok "the tree in JSON has the same" told "it[0]['job'] == 7 and it[0]['state'] == 'idle' \
	and it[0]['parent'] == '10.0.0.2' and it[0]['local'] == '10.0.0.1' and it[0]['workers'] == 2 \
	and [c['addr'] for c in it[0]['children']] == ['10.0.0.11', '10.0.0.12'] \
	and it[0]['children'][0]['joined'] is False" tree show job 7
ok "the graph has nodes and edges, the missing ones dashed" prints 'digraph ina {
	node [shape=box];
	subgraph cluster_7 {
		label="job 7, idle, epoch 0";
		"7/10.0.0.1" [label="10.0.0.1\nthis node, workers 0 of 2"];
		"7/10.0.0.2" [label="10.0.0.2\nparent"];
		"7/10.0.0.2" -> "7/10.0.0.1" [style=dashed];
		"7/10.0.0.11" [label="10.0.0.11\nmissing, workers 0", style=dashed];
		"7/10.0.0.1" -> "7/10.0.0.11" [style=dashed];
		"7/10.0.0.12" [label="10.0.0.12\nmissing, workers 0", style=dashed];
		"7/10.0.0.1" -> "7/10.0.0.12" [style=dashed];
	}
}' tree show job 7 --dot
ok "a graph and JSON exclude each other" \
	fails 2 "Error: --dot and -j exclude each other" -j tree show --dot
ok "a root with a worker is set" silent tree set job 8 workers 1
ok "all trees are shown" test "$(inaconf tree show | grep -c ^job)" = 2
ok "all trees are in JSON" told "[tree['job'] for tree in it] == [7, 8]" tree show
devtest "attach 8" "wait open 20000" pause >"$_dir/worker.log" 2>&1 &
worker=$!
_pids+=("$worker")
wait_for 20 grep -q '^pid' "$_dir/worker.log"
ok "an open epoch is shown" \
	told "it[0]['state'] == 'open' and it[0]['members'] == 1 and it[0]['attached'] == 1" tree show job 8
ok "a root holds rounds back for as long as it is told" silent tree hold job 8 ms 50
ok "and not any more" told "'left' not in it[0]" tree show job 8
ok "the memory of a job has a unit" bash -c \
	"inaconf job show 8 | grep -Eq 'memory [0-9.]+ MiB attached 1'"
ok "a tree with a worker attached is not replaced" \
	fails 1 "Error: Workers are attached: end them before the node gets another role or address" \
	tree set job 8 workers 2

# Devices.
ok "a device is added" silent dev add eth0
ok "it is shown" bash -c "inaconf dev show | grep -Eq '^dev eth0 ifindex $ifindex( |\$)'"
ok "it is shown by its name" bash -c "inaconf dev show dev eth0 | grep -Eq '^dev eth0 ifindex $ifindex( |\$)'"
ok "it is shown in JSON" told "len(it) == 1 and it[0]['name'] == 'eth0' and it[0]['ifindex'] == $ifindex" dev show
dev0="dev eth0 ifindex $ifindex"
ok "its rate is set" silent dev set eth0 rate 1.5gbit
ok "and shown" bash -c "inaconf dev show 2>/dev/null | grep -Eq '^$dev0 rate 1.5gbit( |\$)'"
ok "and shown in JSON" told "it[0]['rate'] == 187500000 and it[0]['auto'] is False" dev show
ok "bytes per second" silent dev set dev eth0 rate 1250000bps
ok "are shown as bits" bash -c "inaconf dev show 2>/dev/null | grep -Eq '^$dev0 rate 10mbit( |\$)'"
ok "bits per second" silent dev set eth0 rate 800000
ok "need no unit" told "it[0]['rate'] == 100000" dev show
ok "a rate of zero is refused" fails 1 \
	"Error: A rate below 65536 bytes per second is too low: give more, or 'auto' (rate)" dev set eth0 rate 0
ok "its rate is that of the link again" silent dev set eth0 rate auto
ok "a dummy has none" told "'rate' not in it[0] and it[0]['auto'] is True" dev show
warned()
{
	inaconf dev show 2>&1 >/dev/null | grep -Fx "Warning: no queueing discipline of eth0 paces packets, \
they leave in bursts: use 'tc qdisc replace dev eth0 root fq' or 'inaconf qdisc add eth0'"
}
ok "a device that does not pace is worth a warning" warned
ok "in JSON as well" told "it[0]['pacing'] == 'sender' and 'root fq' in it[0]['warning']" dev show
tc qdisc replace dev eth0 root fq
ok "fq paces" told "it[0]['pacing'] == 'fq' and 'warning' not in it[0]" dev show
ok "no warning then" test "$(inaconf dev show 2>&1 >/dev/null)" = ""
tc qdisc del dev eth0 root
ok "it is not added twice" fails 1 \
	"Error: The device is added already: see 'inaconf dev show' (dev)" dev add eth0
ok "a device that does not exist is refused" \
	fails 1 "Error: Cannot find device \"eth9\" in this network namespace" dev add eth9
ok "a device is removed" silent dev del eth0
ok "the rate of a device not added is refused" fails 1 \
	"Error: The device is not added: see 'inaconf dev show' (dev)" dev set eth0 rate 1gbit
ok "a device not added is refused" \
	fails 1 "Error: The device is not added: see 'inaconf dev show' (dev)" dev del eth0

# Counters.
ok "counters of the namespace have a head" test "$(inaconf stats | head -n 1)" = namespace
ok "counters of a job have a head" test "$(inaconf stats show job 7 | head -n 1)" = "job 7"
inaconf job add 73 capacity 1 # nothing happens to it, as it has no tree
ok "counters that are zero are left out" prints "job 73" stats job 73
ok "they are shown if asked for" bash -c \
	"inaconf stats job 7 all | grep -Eqx '    rounds_done +0'"
ok "-a is all" test "$(inaconf stats job 73 -a)" = "$(inaconf stats job 73 all)"
ok "counters in JSON are an object" \
	told "it[0]['job'] == 7 and it[0]['counters']['rounds_done'] == 0" stats show job 7 all
ok "those of the namespace have no job" \
	told "'job' not in it[0] and it[0]['counters']['rx_udp'] == 0" stats show all
ok "none is an empty object" told "it[0]['counters'] == {}" stats job 73
inaconf job del 73

# Events.
watch()
{
	inaconf "$@" >"$_dir/events" 2>&1 &
	watcher=$!
	_pids+=("$watcher")
	# It listens once its own event has come.
	wait_for 20 heard
}
heard()
{
	inaconf job add 70 capacity 1 && inaconf job del 70 && grep -q 'job.* 70' "$_dir/events"
}
unwatch()
{
	kill -"$1" "$watcher"
	wait "$watcher"
}
events()
{
	grep -v ' 70' "$_dir/events"
}
watch monitor
inaconf job add 71 capacity 10
inaconf tree set job 71 parent 10.0.0.2
inaconf dev add eth0
inaconf job del 71
ok "the last event arrives" wait_for 10 grep -q 'job 71 deleted' "$_dir/events"
stamp='[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\.[0-9]{6}[+-][0-9]{4}'
ok "each event begins with the time" bash -c "! grep -Evq '^$stamp ' '$_dir/events'"
ok "the events are told in order" test "$(events | sed -E "s/^$stamp //")" = \
"job-added job 71: job 71 added
tree-set job 71 addr 10.0.0.2: job 71 tree set: has a parent, 0 children, 1 local workers
dev-added ifindex $ifindex: device eth0 added
job-deleted job 71: job 71 deleted"
ok "SIGINT ends it with success" unwatch INT
watch -j monitor
inaconf dev del eth0
ok "the last event arrives in JSON" wait_for 10 grep -q dev-deleted "$_dir/events"
lines()
{
	json "[json.loads(line) for line in open('$_dir/events')] and it.pop('time') and
		it == {'event': 'dev-deleted', 'ifindex': $ifindex, 'text': 'device eth0 removed'}" tail -n 1 "$_dir/events"
}
ok "each line is an object of its own" lines
ok "SIGTERM ends it with success" unwatch TERM
watch monitor job 70
inaconf job add 72 capacity 10
inaconf job del 72
ok "the last event of the job arrives" heard
ok "events of other jobs are left out" test "$(events)" = ""
unwatch INT

# Another namespace.
inaconf -n "$(ns m)" job add 9 capacity 10
ok "-n works in another namespace" test "$(on m inaconf job show | head -n 1 | cut -d ' ' -f 2)" = 9
ok "this namespace does not have the job" \
	fails 1 "Error: No such job: see 'inaconf job show' (id)" job show 9
ok "-n takes a path" inaconf --netns "/var/run/netns/$(ns m)" job show 9
ok "an unknown namespace is refused" \
	fails 1 "Error: cannot open the network namespace \"nowhere\": No such file or directory" \
	-n nowhere job show
ok "an empty namespace makes no sense" \
	fails 2 'Error: "" is not the name of a network namespace' -n "" job show

# Refusals of the kernel, with the word to blame.
ok "the kernel's reason is shown" \
	fails 1 "Error: Job exists: delete it first or use another number (id)" job add 7 capacity 1
ok "the bad address is named" fails 1 \
	"Error: Not the address of a host: give a unicast address (parent ff02::1)" \
	tree set job 7 parent ff02::1
ok "the bad one of many addresses is named" fails 1 \
	"Error: A child is named twice: name it once (child 10.0.0.12)" \
	tree set job 7 child 10.0.0.11 child 10.0.0.12 child 10.0.0.13 child 10.0.0.12
ok "the address without a route is named" fails 1 \
	"Error: No route to a peer: check addresses and routes (child 192.0.2.1)" \
	tree set job 7 child 10.0.0.11 child 192.0.2.1
ok "the bad word of a job is named" \
	fails 1 "Error: Depth is out of range: use 1 to 16 rounds (depth)" job add 20 capacity 1 depth 17
ok "the bad number is named" \
	fails 1 "Error: Too many workers: a node takes 64, use fewer (workers)" tree set job 7 workers 65
ok "a job of a tree that does not exist is named" \
	fails 1 "Error: No such job: see 'inaconf job show' (job)" tree show job 99
ok "a user without the capability is told" test \
	"$(setpriv --reuid 65534 --regid 65534 --clear-groups inaconf job del 7 2>&1)" = \
	"Error: not permitted: this needs CAP_NET_ADMIN in the network namespace"
ok "such a user can look" \
	setpriv --reuid 65534 --regid 65534 --clear-groups inaconf job show 7

usage_error()
{
	local got=0
	inaconf "$@" >"$_dir/out" 2>"$_dir/err" || got=$?
	test "$got" = 2 && test ! -s "$_dir/out" && grep -q '^Usage: inaconf' "$_dir/err"
}

# known ARGS...: the words it says are known in place of one that is not, sorted
known()
{
	inaconf "$@" no-such-word 2>&1 | sed -n 's/.*known: //p' | tr -d , | xargs -n 1 | sort
}

# The completion offers what the tool knows.
completes()
{
	local words got
	# shellcheck source=/dev/null
	. "$(dirname "$0")/../netlink_tool/completion/inaconf"
	while read -ra words; do
		got=$(known "${words[@]}")
		[[ $got ]] && diff <(echo "$got") <(
			if ((${#words[@]} == 1)); then
				_inaconf_commands "${words[@]}"
			else
				_inaconf_keywords "${words[@]}"
			fi | xargs -n 1 | sort) || return
	done <<-END
		job
		job add 1
		job del 1
		job show 1
		dev
		dev add lo
		dev del lo
		dev show lo
		dev set lo
		path
		path add
		path del
		path show
		path set
		path auto
		tree
		tree set
		tree hold
		tree show
		qdisc
		qdisc add lo
		qdisc del lo
		qdisc show lo
		qdisc change lo
		stats show
		stats child
		topo
		plan
		plan tree
		plan place
		plan diff -
		plan apply -
		plan watch plan
	END
}

# Words that make no sense: the kernel is not asked.
words()
{
	ok "an unknown object: what is known" \
		fails 2 'Error: unknown object "jobs"; known: job, tree, dev, path, qdisc, stats, monitor, topo, plan, help' jobs
	ok "words are not guessed" \
		fails 2 'Error: unknown object "j"; known: job, tree, dev, path, qdisc, stats, monitor, topo, plan, help' j show
	ok "an unknown command: what is known" \
		fails 2 'Error: unknown command "ad"; known: add, del, show, help' job ad
	ok "the completion knows the same" completes
	ok "an unknown word: what is known" fails 2 \
		'Error: unknown word "size"; known: id, capacity, dtype, exponent, fragment, depth, group, deadline, on-loss, encap, port' \
		job add 20 size 3
	ok "an unknown word of a tree" \
		fails 2 'Error: unknown word "kid"; known: job, local, parent, child, workers' tree set job 7 kid 1
	ok "an unknown word of stats" fails 2 'Error: unknown word "jobs"; known: job, all, -a' stats jobs
	ok "an unknown word of monitor" fails 2 'Error: unknown word "jobs"; known: job' monitor jobs
	ok "an unknown encapsulation" \
		fails 2 'Error: unknown encap "tcp"; known: udp, ip' job add 20 capacity 1 encap tcp
	ok "an exponent that is no number" \
		fails 2 'Error: exponent: "x" is not a number' job add 20 capacity 1 dtype fixed exponent -x
	ok "an unknown type" \
		fails 2 'Error: unknown dtype "float"; known: int32, fp32, bf16, fixed' job add 20 capacity 1 dtype float
	ok "a missing number" fails 2 "Error: id is required" job del
	ok "a missing capacity" fails 2 "Error: capacity is required" job add 20
	ok "a missing job" fails 2 "Error: job is required" tree set workers 1
	ok "a missing time" fails 2 "Error: ms is required" tree hold job 7
	ok "a missing value" fails 2 "Error: capacity needs a value" job add 20 capacity
	ok "a word given twice" fails 2 "Error: depth is given twice" job add 20 capacity 1 depth 1 depth 2
	ok "no number" fails 2 'Error: id: "seven" is not a number' job del seven
	ok "a negative number" \
		fails 2 'Error: capacity: "-1" is not a number; k, M, G, Ki, Mi, Gi may follow' \
		job add 20 capacity -1
	ok "a number with an unknown suffix" \
		fails 2 'Error: capacity: "1T" is not a number; k, M, G, Ki, Mi, Gi may follow' \
		job add 20 capacity 1T
	ok "a suffix where there is none" fails 2 'Error: depth: "1k" is not a number' \
		job add 20 capacity 1 depth 1k
	ok "a number too large" fails 2 "Error: capacity 5G is too large: at most 4294967295" \
		job add 20 capacity 5G
	ok "a port too large" fails 2 "Error: port 65536 is too large: at most 65535" \
		job add 20 capacity 1 port 65536
	ok "no address" fails 2 'Error: parent: "10.0.0" is not an IPv4 or IPv6 address' \
		tree set job 7 parent 10.0.0
	ok "no rate" fails 2 'Error: rate: "fast" is not a rate; like 10gbit, 800mbit, 100mbps, or auto' \
		dev set eth0 rate fast
	ok "a rate with an unknown unit" fails 2 \
		'Error: rate: "10gb" is not a rate; like 10gbit, 800mbit, 100mbps, or auto' dev set eth0 rate 10gb
	ok "a rate too large" fails 2 "Error: rate 100000000000gbit is too large" \
		dev set eth0 rate 100000000000gbit
	ok "a missing rate" fails 2 "Error: rate is required" dev set eth0
	ok "the rate of a device that does not exist" fails 1 \
		'Error: Cannot find device "eth9" in this network namespace' dev set eth9 rate 1gbit
	ok "no share" fails 2 'Error: loss-limit: "1.5k" is not a share in percent' \
		path set job 7 loss-limit 1.5k
	ok "more than all" fails 2 'Error: loss-limit: "101%" is not a share in percent' \
		path set job 7 loss-limit 101%
	ok "an unknown word of a path" fails 2 \
		'Error: unknown word "port"; known: job, peer, dev, src, dst, sport, weight' path add job 7 port 1
	ok "a path by a device that does not exist" fails 1 \
		'Error: Cannot find device "eth9" in this network namespace' path add job 7 dev eth9
	ok "a path without a number" fails 2 "Error: id is required" path del job 7
	ok "none of that added a job" fails 1 "Error: No such job: see 'inaconf job show' (id)" job show 20
	ok "no words at all: the usage" usage_error
	ok "an unknown option: the usage" usage_error --frobnicate job show
	ok "a full disk is an error" bash -c 'inaconf help >/dev/full 2>/dev/null; test $? = 1'
	for object in job tree dev path qdisc stats monitor; do
		for word in help -h --help; do
			ok "$object $word prints its usage" bash -c \
				"inaconf $object $word | head -n 1 | grep -q '^Usage: inaconf $object'"
		done
	done
	ok "help and -h are the same" test "$(inaconf help)" = "$(inaconf -h)"
	ok "help lists the objects" test "$(inaconf --help | grep -Ec '^ *(OBJECT )? *(job|tree|dev|path|qdisc|stats|monitor|topo|plan)  ')" = 9
	ok "-V prints a version" bash -c "inaconf -V | grep -Eqx 'inaconf [0-9][0-9a-z.-]*'"
}
[[ $INA_SIZE == small ]] || words

ok "a job is deleted with its tree" silent job del 7
ok "the tree is gone" fails 1 "Error: No such job: see 'inaconf job show' (job)" tree show job 7
kill "$worker"
ns_del m
ok "the module unloads" wait_for 20 unload
done_testing
