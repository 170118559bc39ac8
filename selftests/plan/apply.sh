#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# inaconf plan diff, apply and watch on machines that are scripts (fakehost.sh): what is applied,
# what a machine that refuses, hangs, lies or dies leaves behind, and signals.
#
#   apply.sh INACONF
#
#   root --+-- a --+-- w0            root --+-- w0
#          |       +-- w1     and           +-- w1
#          +-- w2                           +-- a --- w2
set -u
# shellcheck disable=SC2317 # ok calls the functions

inaconf=$1
here=$(dirname "$(readlink -f "$0")")
dir=$(mktemp -d)
watch=
trap '[[ -z $watch ]] || kill "$watch" 2>/dev/null; rm -rf "$dir"' EXIT
cases=0 failed=0
export INA_FAKE=$dir/fake

ok()
{
	local text=$1
	shift
	cases=$((cases + 1))
	if "$@" >"$dir/out" 2>&1; then
		echo "ok $cases - $text"
	else
		failed=$((failed + 1))
		sed 's/^/# /' "$dir/out"
		echo "not ok $cases - $text"
	fi
}

# plan ID NODE...: NODE is HOST:PARENT:WORKERS; addresses are 10.0.0.N in the order of $hosts.
hosts=(root a w0 w1 w2 b)
plan_job()
{
	local node host parent workers i
	echo "- {id: $1, options: {capacity: 1k}, tree: ["
	shift
	for node; do
		IFS=: read -r host parent workers <<<"$node"
		for i in "${!hosts[@]}"; do
			[[ ${hosts[i]} != "$host" ]] || echo "{host: $host, where: at-$host, \
addr: 10.0.0.$((i + 1))${parent:+, parent: $parent}, workers: $workers},"
		done
	done
	echo "]}"
}

plan()
{
	echo "jobs:"
	plan_job "$@"
}

plan 7 root::0 a:root:0 w0:a:1 w1:a:1 w2:root:1 >"$dir/one"
plan 7 root::0 w0:root:1 w1:root:1 a:root:0 w2:a:1 >"$dir/two"
plan 7 root::0 a:root:0 w0:root:1 w1:root:1 w2:root:1 >"$dir/flat"
plan 7 b::0 root:b:0 a:root:0 w0:a:1 w1:a:1 w2:root:1 >"$dir/under"
{ plan 7 root::0 a:root:0 w0:a:1 w1:a:1 w2:root:1; plan_job 9 b::2; } >"$dir/both"

limit=60
run()
{
	"$inaconf" plan "$@" hook "$here/fakehost.sh" timeout "$limit"
}

# fresh PLAN: all machines as that plan has them, and nothing else.
fresh()
{
	rm -rf "$INA_FAKE"
	mkdir -p "$INA_FAKE"
	run apply "$1" >/dev/null 2>&1
	rm -f "$INA_FAKE/log"
}

# As the first plan, with paths that somebody has added: another address instead of what the tree
# implies, weights, and what holds for all paths. In the time a whole plan takes here an answer
# comes, unless it never does.
brief=$SECONDS
fresh "$dir/one"
brief=$((SECONDS - brief + 3))
while read -r at words; do
	# shellcheck disable=SC2086 # words
	"$here/fakehost.sh" "at-$at" inaconf path $words || exit
done <<END
w0 add job 7 sport 49153 weight 3
w0 set job 7 peer 10.0.0.2 id 0 weight 2
a add job 7 peer 10.0.0.3 dev eth1 dst 10.1.0.3
a del job 7 peer 10.0.0.3 id 0
a add job 7 peer 10.0.0.1 src 10.1.0.2
a set job 7 chunk 20000 timeout 50 loss-limit 1.25
root add job 7 peer 10.0.0.2 dst 10.1.0.2
root add job 7 peer 10.0.0.5 sport 49160
END
rm "$INA_FAKE/log"
mv "$INA_FAKE" "$dir/operated"

# operated: all machines are like that
operated()
{
	rm -rf "$INA_FAKE"
	cp -r "$dir/operated" "$INA_FAKE"
}

# fails STATUS COMMAND...
fails()
{
	local want=$1 got
	shift
	"$@"
	got=$?
	((got == want)) || { echo "exit status $got, not $want" && false; }
}

# said COMMAND...: what it says is in the file said
said()
{
	"$@" 2>&1 | tee "$dir/said"
	return "${PIPESTATUS[0]}"
}

# says TEXT COMMAND...: in its output, whatever its status
says()
{
	local text=$1
	shift
	said "$@"
	grep -qF -- "$text" "$dir/said"
}

snapshot()
{
	(cd "$INA_FAKE" && grep -r . --include='job-*' --include='tree-*' --include='paths-*' \
		--include='chunk-*' . | sort)
}

# unchanged COMMAND...: it changes no machine
unchanged()
{
	snapshot >"$dir/before"
	"$@" && snapshot | diff "$dir/before" -
}

# undone PLAN WHERE PART KIND: a fault at that command, and all is as before
undone()
{
	operated
	echo "$2|$3|$4" >"$INA_FAKE/fault"
	unchanged fails 1 run apply "$1" || return
	[[ ! -e $INA_FAKE/fault ]] || { echo "the fault did not happen" && false; }
}

# undone_soon PLAN WHERE PART KIND: the same of one that does not answer. Where this machine stands still,
# others do not in so short a time, either: then they have longer, once.
undone_soon()
{
	local limit=$brief
	undone "$@" || limit=$((5 * brief)) undone "$@"
}

fresh "$dir/one"
ok "a plan is applied" test -s "$INA_FAKE/at-w2/tree-7"
ok "the same plan again: nothing to do" says "nothing to do" run apply "$dir/one"
ok "and nothing differs" says "nothing differs" run diff "$dir/one"
ok "nobody was told anything" test "$(grep -cv ' show$' "$INA_FAKE/log")" = 0
ok "a dry run says what would be done" says \
	"move w0: tree set job 7 local 10.0.0.3 parent 10.0.0.1 workers 1" run apply "$dir/two" --dry-run
ok "and does nothing" test "$(grep -cv ' show$' "$INA_FAKE/log")" = 0
ok "diff says what differs" says "    tree set job 7 local 10.0.0.5 parent 10.0.0.2 workers 1" \
	run diff "$dir/two"

sed 's/10.0.0.4/"fd00::4"/' "$dir/one" >"$dir/six"
line=$(grep -n fd00 "$dir/six")
: >"$INA_FAKE/log"
ok "a plan with both address families is refused" fails 2 said run apply "$dir/six"
ok "with its place and both machines" grep -qxF "Error: $dir/six:${line%%:*}: jobs[0].tree[3].addr: \
w1 has an IPv6 address (fd00::4), a an IPv4 one (10.0.0.2): a tree has one family" "$dir/said"
ok "and nobody was asked" test ! -s "$INA_FAKE/log"

# all_undone PLAN: not one command of a machine may be the one that is not undone
all_undone()
{
	local at host command kind
	operated
	run apply "$1" >/dev/null 2>"$dir/steps"
	while read -r at _ host command; do
		host=at-${host%:} last=$host
		# How long rounds are waited for depends on the time a machine has.
		command=${command%% ms *}
		for kind in hang late; do
			ok "$kind at $host, $command: all as before" undone_soon "$1" "$host" "$command" "$kind"
		done
		for kind in refuse signal; do
			# Then there is nothing left to stop.
			[[ $kind != signal || ${at%/*} != "${at#*/}" ]] || continue
			ok "$kind at $host, $command: all as before" undone "$1" "$host" "$command" "$kind"
		done
	done < <(grep "^[0-9]" "$dir/steps")
}

all_undone "$dir/flat"
ok "paths to who stays are left alone" grep -q "10.0.0.5 1 - - - 49160" "$INA_FAKE/at-root/paths-7"
# The root becomes a node below another: the kernel replaces it.
all_undone "$dir/under"
operated
ok "a root that becomes a node" run apply "$dir/under"
ok "has the paths to who stays" grep -q "10.0.0.5 . - - - 49160" "$INA_FAKE/at-root/paths-7"
ok "and back" run apply "$dir/one" from "$dir/under"
ok "has them, too" grep -q "10.0.0.2 . - - 10.1.0.2" "$INA_FAKE/at-root/paths-7"
all_undone "$dir/two"

fresh "$dir/one"
echo "$last|tree set|signal" >"$INA_FAKE/fault"
ok "a signal at the last step comes too late" fails 1 run apply "$dir/two"
ok "all was done" says "nothing differs" run diff "$dir/two"

fresh "$dir/one"
echo "at-w0|tree set|dead" >"$INA_FAKE/fault"
limit=$((brief * 2))
ok "a machine that dies: nobody knows what it has" says \
	"host w0: job show: no answer within $limit s: whether it is as before is not known" \
	run apply "$dir/two"
ok "which is said" grep -q "not applied, and not all could be undone: see above" "$dir/said"
limit=60
rm "$INA_FAKE/at-w0/dead"
ok "and all others are as before" says "nothing differs" run diff "$dir/one"

fresh "$dir/one"
for kind in garbage lies refuse; do
	echo "at-w1|job show|$kind" >"$INA_FAKE/fault"
	ok "$kind as an answer: nothing is touched" unchanged fails 1 run apply "$dir/two"
done
ok "no such hook" says "cannot run /no/such: No such file" "$inaconf" plan apply "$dir/two" hook /no/such
ok "no hook" says "at-root is no network namespace of this machine, and no hook is given" \
	"$inaconf" plan apply "$dir/two"

# The hook as it is documented, with an ssh that is a script: behind options and machine it takes a
# command for the shell there, as ssh does, and fails as ssh does for a machine that is cut off:
# WHERE|PART OF THE COMMAND|KIND in the file cut, which holds for good if KIND is "gone", else once.
mkdir "$dir/bin" "$dir/remote"
cat >"$dir/bin/ssh" <<'END'
#!/bin/bash
while [[ $1 == -[ol] ]]; do shift 2; done
[[ $1 != -* ]] || exit 255
where=$1
shift
IFS='|' read -r at part kind <"$INA_FAKE/cut"
if [[ $at == "$where" && "$*" == *"$part"* ]]; then
	if [[ $kind == gone ]]; then echo "$where||gone"; else echo; fi >"$INA_FAKE/cut"
	echo "ssh: connect to host $where port 22: No route to host" >&2
	exit 255
fi
export INA_WHERE=$where PATH="$INA_REMOTE:$PATH"
exec sh -c "$*"
END
cat >"$dir/remote/inaconf" <<END
#!/bin/bash
exec "$here/fakehost.sh" "\$INA_WHERE" inaconf "\$@"
END
chmod +x "$dir/bin/ssh" "$dir/remote/inaconf"

# by_ssh WORD...: plan WORD... with the hook in $hook
by_ssh()
{
	PATH="$dir/bin:$PATH" INA_REMOTE=$dir/remote "$inaconf" plan "$@" hook "$hook"
}

mapfile -t hooks < <(sed -n 's/.*hook "\(.*\)".*/\1/p' "$here/../../Documentation/apply.rst")
ok "hooks are documented" test "${#hooks[@]}" -ge 2
for hook in "${hooks[@]}"; do
	operated
	echo >"$INA_FAKE/cut"
	ok "hook $hook: a plan is applied" by_ssh apply "$dir/two"
	ok "hook $hook: nothing differs" says "nothing differs" by_ssh diff "$dir/two"
	operated
	echo "at-w1|job show|" >"$INA_FAKE/cut"
	ok "hook $hook: a machine that cannot be reached: nothing is touched" \
		unchanged fails 1 said by_ssh apply "$dir/two"
	ok "and it is named" grep -q \
		"host w1: job show: ssh: connect to host at-w1 port 22: No route to host" "$dir/said"
	echo "at-w1|tree set|" >"$INA_FAKE/cut"
	ok "hook $hook: one that cannot be reached half-way: all as before" \
		unchanged fails 1 said by_ssh apply "$dir/two"
	ok "and it is named" grep -q \
		"host w1: tree set job 7 .*: ssh: connect to host at-w1 port 22: No route to host" "$dir/said"
	ok "others had been changed by then" grep -q "^undo root: tree set job 7" "$dir/said"
done
echo "at-w1|tree set|gone" >"$INA_FAKE/cut"
ok "one that stays away: nobody knows what it has" says \
	"host w1: job show: ssh: connect to host at-w1 port 22: No route to host: whether it is as before is not known" \
	by_ssh apply "$dir/two"
echo >"$INA_FAKE/cut"
ok "and all others are as before" says "nothing differs" by_ssh diff "$dir/one"

fresh "$dir/one"
mkdir -p "$INA_FAKE/at-b"
echo "capacity 5" >"$INA_FAKE/at-b/job-3"
echo "capacity 1000" >"$INA_FAKE/at-b/job-9"
echo "at-b|tree set|refuse" >"$INA_FAKE/fault"
ok "a job that was there is there after an undo" unchanged fails 1 run apply "$dir/both"
ok "and its neighbour is applied to" run apply "$dir/both"
ok "a job that is not in the plan is left alone" test -e "$INA_FAKE/at-b/job-3"
ok "unless it is to be pruned" run apply "$dir/both" prune
ok "then it ends" test ! -e "$INA_FAKE/at-b/job-3"
ok "a machine that is in the former plan only ends its part" run apply "$dir/one" from "$dir/both" prune
ok "it is told so" test ! -e "$INA_FAKE/at-b/job-9"
# Another name for the same machine is no other machine.
sed 's/host: a,/host: c,/; s/parent: a,/parent: c,/' "$dir/one" >"$dir/renamed"
ok "a machine that gets another name is the same one" unchanged said run apply "$dir/renamed" from "$dir/one"
ok "and has its part already" grep -q "^nothing to do" "$dir/said"

fresh "$dir/one"
touch "$INA_FAKE/at-w0/attached-7"
sed 's/capacity: 1k/capacity: 2k/' "$dir/one" >"$dir/other"
ok "attached workers keep their settings" says \
	"job 7: workers are attached on w0, which gets other settings: end them first" \
	run apply "$dir/other"
ok "nothing was touched" says "nothing differs" run diff "$dir/one"
ok "an aggregator without children ends its part" run apply "$dir/flat"
ok "it is told so" test ! -e "$INA_FAKE/at-a/job-7"

load='{"time-ms": %d, "cpu-pressure": %d, "cpu-ms": 1, "cpu-idle-ms": 1, "memory": 100, "memory-used": 10, "devices": []}'
# report SECOND PRESSURE [HOST]: what a, or HOST, says from now on
report()
{
	local at=$INA_FAKE/at-${3:-a}
	mkdir -p "$at"
	# shellcheck disable=SC2059 # a template
	printf "$load" "$1"000 "$2" >"$at/load.new"
	mv "$at/load.new" "$at/load"
}

until_true()
{
	local end=$((SECONDS + 180))
	until "$@"; do
		((SECONDS < end)) || { cat "$dir/watch"; return 1; }
		sleep 0.1
	done
}

# Two at once: the second waits, and starts from what the first has done.
fresh "$dir/one"
mkfifo "$INA_FAKE/go"
echo "at-w1|tree set|held" >"$INA_FAKE/fault"
run apply "$dir/two" >"$dir/first" 2>&1 &
first=$!
until_true test ! -e "$INA_FAKE/fault"
run apply "$dir/one" >"$dir/watch" 2>&1 &
second=$!
ok "one plan is applied at a time" until_true \
	grep -q "waiting: another plan is being applied from this machine" "$dir/watch"
echo go >"$INA_FAKE/go"
ok "the first is" wait "$first"
ok "then the second" wait "$second"
ok "which started from that" says "nothing differs" run diff "$dir/one"

fresh "$dir/one"
: >"$INA_FAKE/log"
report 1 90
cp "$dir/one" "$dir/watched"
"$inaconf" plan watch "$dir/watched" hook "$here/fakehost.sh" interval 0.2 hold 10 \
	>"$dir/watch" 2>&1 &
watch=$!
ok "watch takes reports" until_true grep -q "at-a plan load" "$INA_FAKE/log"
ok "and waits" test -e "$INA_FAKE/at-a/job-7"
report 12 90
ok "a machine under pressure is taken out" until_true test ! -e "$INA_FAKE/at-a/job-7"
ok "its children go to its parent" until_true grep -q "parent 10.0.0.1" "$INA_FAKE/at-w1/tree-7"
asked()
{
	(($(grep -c "at-a plan load" "$INA_FAKE/log") >= $1))
}

# looks N: it was asked N times more
looks()
{
	local now
	now=$(grep -c "at-a plan load" "$INA_FAKE/log")
	until_true asked $((now + $1))
}

report 14 1
looks 2
ok "it is not back at once" test ! -e "$INA_FAKE/at-a/job-7"
report 26 30
looks 2
report 27 1
looks 2
ok "nor if it was busy in between" test ! -e "$INA_FAKE/at-a/job-7"
report 38 1
ok "it is back when the pressure has gone" until_true test -s "$INA_FAKE/at-a/tree-7"
ok "with its children" until_true grep -q "parent 10.0.0.2" "$INA_FAKE/at-w1/tree-7"
applied()
{
	(($(grep -c "^applied" "$dir/watch") == $1))
}
ok "it was changed twice" until_true applied 2
# The file is another: so is what is applied, and nothing of the plan before.
echo "jobs: [" >"$dir/plan.new"
mv "$dir/plan.new" "$dir/watched"
ok "a file that is no plan is said" until_true grep -q "the plan stays as it was" "$dir/watch"
cp "$dir/two" "$dir/plan.new"
mv "$dir/plan.new" "$dir/watched"
ok "a plan that changes is applied" until_true grep -q "parent 10.0.0.2" "$INA_FAKE/at-w2/tree-7"
ok "as a whole" until_true grep -q "parent 10.0.0.1" "$INA_FAKE/at-w1/tree-7"
report 39 90
looks 2
report 50 90
ok "and is what is kept: a machine under pressure" until_true test ! -e "$INA_FAKE/at-a/job-7"
ok "has the children taken off it that it has there" until_true \
	grep -q "parent 10.0.0.1" "$INA_FAKE/at-w2/tree-7"
ok "each was done once" until_true applied 4
ok "soon again: it is said how long it rests" grep -qx \
	"a is taken out: cpu 90 %; back when calm for 20 s" "$dir/watch"
report 51 1
looks 2
report 70 1
looks 2
ok "which is longer than the first time" test ! -e "$INA_FAKE/at-a/job-7"
rm "$INA_FAKE/at-a/load"
looks 2
report 95 1
looks 2
ok "a machine that does not report is not calm" test ! -e "$INA_FAKE/at-a/job-7"
report 115 1
ok "and then it is back" until_true test -s "$INA_FAKE/at-a/tree-7"
ok "with the child it has there" until_true applied 5
kill "$watch"
ok "and watch ends when told to" wait "$watch"
watch=

# Two aggregators, each of which answers only when the other one is asked, too.
plan 7 root::0 a:root:0 b:root:0 w0:a:1 w1:a:1 w2:b:1 >"$dir/wide"
fresh "$dir/wide"
report 1 1
report 1 1 b
mkfifo "$INA_FAKE/together"
ok "machines are asked side by side" said run watch "$dir/wide" interval 0.1 count 2
ok "so all report" fails 1 grep "no report" "$dir/said"

# Who is in no plan any more ends its part, and then it is left alone.
rm "$INA_FAKE/together"
: >"$INA_FAKE/log"
cp "$dir/wide" "$dir/watched"
"$inaconf" plan watch "$dir/watched" hook "$here/fakehost.sh" interval 0.2 >"$dir/watch" 2>&1 &
watch=$!
ok "a machine is asked" until_true grep -q "at-b plan load" "$INA_FAKE/log"
cp "$dir/one" "$dir/plan.new"
mv "$dir/plan.new" "$dir/watched"
ok "in a plan without it, it ends its part" until_true applied 1
ok "that is so" test ! -e "$INA_FAKE/at-b/job-7"
looks 1
: >"$INA_FAKE/log"
cp "$dir/two" "$dir/plan.new"
mv "$dir/plan.new" "$dir/watched"
ok "the next plan is applied" until_true applied 2
looks 2
ok "without asking it again" fails 1 grep at-b "$INA_FAKE/log"
kill "$watch"
ok "and watch ends" wait "$watch"
watch=

# A machine gets another name to be reached by: it is the same one.
fresh "$dir/one"
report 1 1
ln -s at-a "$INA_FAKE/moved-a"
cp "$dir/one" "$dir/watched"
"$inaconf" plan watch "$dir/watched" hook "$here/fakehost.sh" interval 0.2 >"$dir/watch" 2>&1 &
watch=$!
ok "a machine is watched" until_true grep -q "at-a plan load" "$INA_FAKE/log"
sed 's/at-a/moved-a/' "$dir/one" >"$dir/plan.new"
mv "$dir/plan.new" "$dir/watched"
ok "where it is may change" until_true grep -q "moved-a plan load" "$INA_FAKE/log"
again()
{
	(($(grep -c "^nothing to do" "$dir/watch") == $1))
}
ok "and is all that does" until_true again 2
# So may its name, then again where it is: nobody takes its part off it.
sed 's/at-a/moved-a/; s/host: a,/host: c,/; s/parent: a,/parent: c,/' "$dir/one" >"$dir/plan.new"
mv "$dir/plan.new" "$dir/watched"
ok "another name is the same machine" until_true again 3
mv "$dir/renamed" "$dir/watched"
ok "also when it is reached in another way later" until_true again 4
kill "$watch"
ok "and watch ends" wait "$watch"
watch=

# With a topology the tree is planned anew: b, which is not in the plan, can do what a did.
{
	echo "hosts:"
	for i in "${!hosts[@]}"; do
		case ${hosts[i]} in
		root) rate=20G cores=8 ;;
		w*) rate=10G cores=0 ;;
		*) rate=40G cores=8 ;;
		esac
		echo "- {name: ${hosts[i]}, addr: 10.0.0.$((i + 1)), where: at-${hosts[i]}, cores: 8," \
			"idle-cores: $cores, memory: 64Gi, nics: [{to: sw, rate: $rate}]}"
	done
	echo "switches: [{name: sw}]"
} >"$dir/topo"
echo "{size: 400M, workers: [{host: w0, t1: 0.1, t2: 0.1}, {host: w1, t1: 0.1, t2: 0.1}, {host: w2, t1: 0.1, t2: 0.1}]}" >"$dir/measure"

# below PARENT HOST...: these hosts have it as their parent
below()
{
	local up=$1 host
	shift
	for host; do grep -q "parent 10.0.0.$up " "$INA_FAKE/at-$host/tree-7" || return; done
}

ok "measure needs topo" says "Error: measure needs topo" run watch "$dir/one" measure "$dir/measure"
ok "so does step" says "Error: step needs topo" run watch "$dir/one" step 1
ok "and per-core" says "Error: per-core needs topo" run watch "$dir/one" per-core 1G
ok "and running" fails 2 run watch "$dir/one" running "$dir/both"
ok "watch needs a file" says "PLAN is read again when it changes: give a file, not -" \
	run watch - topo "$dir/topo"
ok "standard input is read once" fails 2 run watch "$dir/one" topo - measure -
ok "a topology that is none" fails 2 run watch "$dir/one" topo "$dir/one"
fresh "$dir/one"
: >"$INA_FAKE/log"
report 1 90
report 1 1 b
"$inaconf" plan watch "$dir/one" topo "$dir/topo" measure "$dir/measure" hook "$here/fakehost.sh" \
	interval 0.2 hold 10 >"$dir/watch" 2>&1 &
watch=$!
looks 2
report 12 90
ok "another machine takes the place of one under pressure" until_true below 6 w0 w1
ok "who has left its place ends its part" until_true test ! -e "$INA_FAKE/at-a/job-7"
ok "nobody else has moved" below 1 w2
report 12 90 b
looks 2
report 23 90 b
ok "that one is watched, too: children go up" until_true below 1 w0 w1
ok "it ends its part, though it is not in the plan" until_true test ! -e "$INA_FAKE/at-b/job-7"
report 24 1
looks 2
report 35 1
ok "the first is back with its children" until_true below 2 w0 w1
report 36 1 b
looks 2
report 47 1 b
# Neither when watch began was there anything.
nothing_again()
{
	grep -q "^b is back" "$dir/watch" && (($(grep -c "^nothing to do" "$dir/watch") == 2))
}
ok "when the second is, nothing changes" until_true nothing_again
kill "$watch"
ok "and watch ends" wait "$watch"
watch=

# b, the only other machine, does for another plan what it can: children go up.
sed 's/name: b,/&capacity: 1, /' "$dir/topo" >"$dir/narrow"
plan 9 b::0 w0:b:1 w1:b:1 >"$dir/running"
fresh "$dir/one"
: >"$INA_FAKE/log"
report 1 90
"$inaconf" plan watch "$dir/one" topo "$dir/narrow" measure "$dir/measure" running "$dir/running" \
	hook "$here/fakehost.sh" interval 0.2 hold 10 >"$dir/watch" 2>&1 &
watch=$!
looks 2
report 12 90
ok "a machine that aggregates for another plan is not taken" until_true below 1 w0 w1
ok "its children went up" until_true applied 1
kill "$watch"
ok "and watch ends" wait "$watch"
watch=

# Rates that devices make up.
rates()
{
	# shellcheck disable=SC2016 # for the shell in there
	unshare -rn sh -c 'ip link add v0 type veth peer name v1 && ip link set v0 up &&
		ip link set v1 up && "$1" -j plan load' - "$inaconf"
}
rates >"$dir/rates"
ok "veth is reported" grep -q '"name": *"v0"' "$dir/rates"
ok "without a rate" fails 1 grep -q '"rate"' "$dir/rates"

echo "1..$cases"
((failed == 0 && cases > 0))
