#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Workers that die, fall silent or come too late. With `on-loss fail` all others
# are told who it was, in time; with `on-loss degrade` they go on without it, know
# who is in each result, and take it in again when it is back.
#
#   w0, w1 --- a0 --+
#   w2 ------- a1 --+-- root
#   w3 (two workers) -+
#
# and, three levels in a row with a worker on an aggregator: w0, w1 --- a0 --- a1 --- root
# shellcheck disable=SC2317 # ok calls the functions
. "$(dirname "$0")/lib.sh"

deadline=$(full 4 16)
elements=$(full 20000 3000)
more=$(full 5 2)
declare -A addr=([root]=10.0.0.1 [a0]=10.0.0.2 [a1]=10.0.0.3 [w0]=10.0.0.10
	[w1]=10.0.0.11 [w2]=10.0.0.12 [w3]=10.0.0.13)
declare -A host=([0]=w0 [1]=w1 [2]=w2 [3]=w3 [4]=w3)
declare -A running=()
wrong= # somebody has seen a wrong sum

# job ID OPTION...: on all nodes, with its tree.
job()
{
	local id=$1 n
	shift
	for n in "${!addr[@]}"; do
		on "$n" inaconf job add "$id" capacity "$elements" group 64 "$@"
	done
	on root inaconf tree set job "$id" child 10.0.0.2 child 10.0.0.3 child 10.0.0.13
	on a0 inaconf tree set job "$id" parent 10.0.0.1 child 10.0.0.10 child 10.0.0.11
	on a1 inaconf tree set job "$id" parent 10.0.0.1 child 10.0.0.12
	on w0 inaconf tree set job "$id" parent 10.0.0.2
	on w1 inaconf tree set job "$id" parent 10.0.0.2
	on w2 inaconf tree set job "$id" parent 10.0.0.3
	on w3 inaconf tree set job "$id" parent 10.0.0.1 workers 2
}

job_del()
{
	local n
	for n in "${!addr[@]}"; do
		on "$n" inaconf job del "$1"
	done
}

# run JOB RANK [OPTION...]: the first has a break before each round, so the others always wait in one.
run()
{
	local job=$1 rank=$2
	shift 2
	spawn "${host[$rank]}" "$rank.log" ina-perf --job "$job" --rank "$rank" --rounds 1M \
		--elements "$elements" --timeout $((deadline * 4000)) --delay $((rank ? 0 : _delay)) "$@"
	running[$rank]=$!
}

# run_all JOB [OPTION...]: five workers, and wait until rounds go through.
run_all()
{
	local job=$1 rank before
	shift
	before=$(counter root "$job" rounds_done)
	for rank in 0 1 2 3 4; do
		run "$job" "$rank" "$@"
	done
	wait_for $((deadline * 3)) at_least root "$job" rounds_done $((before + more))
}

# stands JOB: no round has ended at the root for a while, of which the machine itself may stand still for a part.
stands()
{
	local before i
	before=$(counter root "$1" rounds_done)
	for ((i = 0; i < 4; i++)); do
		sleep "$(full 0.2 0.6)"
		(($(counter root "$1" rounds_done) == before)) || return
	done
}

# members JOB COUNT
members()
{
	on root inaconf -j tree show job "$1" | grep -q "\"members\": *$2\b"
}

# lates: how often a deadline passed, as the root says
lates()
{
	grep -c 'deadline passed' "$_dir/events"
}

# more_lates COUNT
more_lates()
{
	(($(lates) > $1))
}

# later COUNT: the same in time
later()
{
	wait_for $((deadline * 2)) more_lates "$1" || {
		tail -n 20 "$_dir/events"
		on root inaconf tree show job 8
		on root inaconf stats child job 8
		return 1
	}
}

# goes_on JOB: more rounds complete at the root, none fails.
goes_on()
{
	local before failed
	before=$(counter root "$1" rounds_done)
	failed=$(counter root "$1" rounds_failed)
	wait_for $((deadline * 2)) at_least root "$1" rounds_done $((before + more)) &&
		(($(counter root "$1" rounds_failed) == failed))
}

# stop SIGNAL RANK...: end these and wait for them; they saw no wrong sum.
stop()
{
	local signal=$1 rank bad=0
	shift
	for rank; do
		halt "$signal" "${running[$rank]}" || bad=1
		unset "running[$rank]"
	done
	return "$bad"
}

# told RANK PATTERN: it ended by itself because of somebody with this name.
told()
{
	local rc=0
	wait "${running[$1]}" || rc=$?
	unset "running[$1]"
	((rc != 3)) || wrong=y
	[[ $rc == 1 ]] && grep -q "$2" "$_dir/$1.log" && return
	cat "$_dir/$1.log"
	tail -n 20 "$_dir/events"
	return 1
}

# all_told PATTERN RANK...: within the deadline, and thrice as much for a busy host.
all_told()
{
	local pattern=$1 start=$SECONDS rank bad=0
	shift
	for rank; do
		told "$rank" "$pattern" || bad=1
	done
	((SECONDS - start <= 4 * deadline)) || {
		echo "told after $((SECONDS - start)) s"
		bad=1
	}
	return "$bad"
}

# in_time LEAST RANK...: rounds that somebody was missing in ended before the deadline. Who was in
# no round then has no such figure; at least so many have.
in_time()
{
	local least=$1 rank ms seen=0
	shift
	for rank; do
		grep -q 'result in time' "$_dir/$rank.log" || continue
		ms=$(sed -n 's/.*result in time.* (\([0-9]*\) ms)$/\1/p' "$_dir/$rank.log" | tail -n 1)
		((ms > 0 && ms <= deadline * 1000)) || {
			echo "worker $rank was told after $ms ms"
			return 1
		}
		((++seen))
	done
	((seen >= least)) || {
		echo "$seen were in a round"
		return 1
	}
}

# quietly TEXT COMMAND...: in place of clocked, for what was judged before
quietly()
{
	"${@:2}" || failed=1
}

# timely SCENE LEAST RANK...: in_time; where the machine stood still, the scene is played once more, or twice.
timely()
{
	local scene=$1 judge=quietly failed=0 i
	shift
	for ((i = 0; i < 2; i++)); do
		in_time "$@" && return
		"$scene"
		((!failed)) || return
	done
	in_time "$@"
}

# Scenes: somebody is missing, and all are told.
judge=clocked

silent_host()
{
	"$judge" "rounds run again" run_all 7 --inflight 1
	on sw ip link set p-w2 down
	"$judge" "all are told of a host that fell silent, though its aggregator is between" all_told \
		'10\.0\.0\.12 worker 0, \(no fragment seen\|last fragment [0-9]\)' 0 1 3 4
	"$judge" "it is told itself that its parent is out of reach" told 2 '10\.0\.0\.3'
	on sw ip link set p-w2 up
}

late_worker()
{
	"$judge" "rounds run after that" run_all 7 --inflight 1
	kill -STOP "${running[1]}"
	"$judge" "all are told of a worker that is late" all_told \
		'10\.0\.0\.11 worker 0, \(no fragment seen\|last\)' 0 2 3 4
	kill -CONT "${running[1]}"
	"$judge" "it is told, too" told 1 .
}

late_of_two()
{
	"$judge" "rounds run after that, too" run_all 7 --inflight 1
	kill -STOP "${running[4]}"
	"$judge" "all are told which of two workers of a host is late" all_told \
		'10\.0\.0\.13 worker [01], \(no fragment seen\|last\)' 0 1 2 3
	kill -CONT "${running[4]}"
	"$judge" "it is told as well" told 4 .
}

silent_root()
{
	"$judge" "rounds run before the root falls silent" run_all 7 --inflight 1
	on sw ip link set p-root down
	"$judge" "all are told, and which rounds every worker has" all_told \
		'result in time.* all workers have the rounds below [1-9]' 0 1 2 3 4
	on sw ip link set p-root up
}

late_in_chain()
{
	"$judge" "rounds run over three levels" run_chain --inflight 1
	kill -STOP "${running[1]}"
	"$judge" "all are told of a worker that is late three levels below the root" all_told \
		'10\.0\.0\.11 worker 0, \(no fragment seen\|last\)' 0 2
	kill -CONT "${running[1]}"
	"$judge" "the late one is told there" told 1 .
}

silent_root_of_three()
{
	"$judge" "rounds run before the root of three levels falls silent" run_chain --inflight 1
	on sw ip link set p-root down
	"$judge" "all are told, also on an aggregator, and which rounds every worker has" all_told \
		'result in time.* all workers have the rounds below [1-9]' 0 1 2
	on sw ip link set p-root up
}

load
switch_add 1500
for n in "${!addr[@]}"; do
	host_add "$n" "${addr[$n]}/24"
	on "$n" inaconf dev add eth0
done
monitor root events
monitor w2 links

# A deadline that nobody waits for.
job 6 deadline 120000
ok "rounds run" run_all 6 --timeout 240000
# All others come to wait in a round.
kill -STOP "${running[2]}"
ok "they wait for one that is stopped" wait_for "$deadline" stands 6
on sw ip link set p-a1 down
kill -CONT "${running[2]}"
ok "a parent that does not answer is told of" event links peer-silent \
	'job 6 parent .*10\.0\.0\.3 does not answer' '"job":6,"addr":"10\.0\.0\.3"'
on sw ip link set p-a1 up
ok "and when it does again" event links peer-back \
	'job 6 parent .*10\.0\.0\.3 answers again' '"job":6,"addr":"10\.0\.0\.3"'
ok "rounds go on then" goes_on 6
kill -STOP "${running[2]}"
ok "all wait once more" wait_for "$deadline" stands 6
start=$SECONDS
ok "a worker is killed that has seen no wrong sum" stop KILL 1
clocked "all are told of a worker that was killed, and of its last fragment" all_told \
	'left by 10\.0\.0\.11 worker 0, last fragment [0-9]' 0 3 4
kill -CONT "${running[2]}"
clocked "also one that was in no round" told 2 'left.*10\.0\.0\.11 worker 0'
clocked "at once, not by the deadline" test $((SECONDS - start)) -lt 30
for what in epoch-closed round-failed; do
	clocked "the event $what names it" event events $what 'worker left \(.*10\.0\.0\.11' \
		'"job":6,"addr":"10\.0\.0\.11","worker":0,"last_fragment":[0-9]+,'
done
job_del 6

# No round runs, and none is waited for.
job 5 deadline 120000
for rank in 0 1 2 3 4; do
	run 5 "$rank" --hold-before-round 0:600
done
ok "five workers wait" wait_for "$deadline" members 5 5
on sw ip link set p-a1 down
ok "a parent that is gone is told of while no round runs" event links peer-silent \
	'job 5 parent .*10\.0\.0\.3 does not answer' '"job":5,"addr":"10\.0\.0\.3"'
ok "its parent tells of it, too" event events peer-silent \
	'job 5 child .*10\.0\.0\.3 does not answer' '"job":5,"addr":"10\.0\.0\.3"'
timed "not of the others" test "$(grep -cE 'job 5 child .*10\.0\.0\.(2|13) does' "$_dir/events")" = 0
on sw ip link set p-a1 up
ok "and when it is back" event links peer-back \
	'job 5 parent .*10\.0\.0\.3 answers again' '"job":5,"addr":"10\.0\.0\.3"'
ok "its parent, too" event events peer-back \
	'job 5 child .*10\.0\.0\.3 answers again' '"job":5,"addr":"10\.0\.0\.3"'
ok "all are members still" members 5 5
stop KILL 0 1 2 3 4
job_del 5

# With one round in flight all others come to wait in the next: the window has room for it,
# though an acknowledgement may be what is missing.
job 7 deadline "${deadline}000" depth 8
silent_host
clocked "within the deadline" timely silent_host 4 0 1 3 4
for what in down up; do
	ok "its link went $what" event links link-$what 'device eth0 has' '"ifindex":[0-9]+,"text"'
done

# The debug kernel need not see every way to be late.
if [[ $INA_SIZE == full ]]; then
	late_worker
	clocked "by the deadline" timely late_worker 4 0 2 3 4
	late_of_two
	clocked "by the deadline, too" timely late_of_two 4 0 1 2 3
	clocked "the root's events name it" wait_for 10 grep -q 'deadline passed (.*10\.0\.0\.13' "$_dir/events"
	silent_root
	clocked "by the deadline as well" timely silent_root 5 0 1 2 3 4
fi

job_del 7

# chain JOB OPTION...: three levels in a row; the worker of rank 2 is on an aggregator.
chain()
{
	local id=$1 n
	shift
	for n in root a1 a0 w0 w1; do
		on "$n" inaconf job add "$id" capacity "$elements" group 64 "$@"
	done
	on root inaconf tree set job "$id" child 10.0.0.3
	on a1 inaconf tree set job "$id" parent 10.0.0.1 child 10.0.0.2
	on a0 inaconf tree set job "$id" parent 10.0.0.3 child 10.0.0.10 child 10.0.0.11 workers 1
	on w0 inaconf tree set job "$id" parent 10.0.0.2
	on w1 inaconf tree set job "$id" parent 10.0.0.2
}

chain_del()
{
	local n
	for n in root a1 a0 w0 w1; do
		on "$n" inaconf job del 9
	done
}

# run_chain [OPTION...]: its three workers, and wait until rounds go through.
run_chain()
{
	local rank before
	before=$(counter root 9 rounds_done)
	for rank in 0 1 2; do
		run 9 "$rank" "$@"
	done
	wait_for $((deadline * 3)) at_least root 9 rounds_done $((before + more))
}

# closed RANK TIMES: it was told so often that nobody can go on, and because of whom
closed()
{
	(($(grep -c 'no epoch is open: the deadline passed (10\.' "$_dir/$1.log") >= $2))
}

# chain_goes_on: after the silent one is back
chain_goes_on()
{
	local before
	before=$(counter root 9 rounds_done)
	wait_for $((deadline * 3)) at_least root 9 rounds_done $((before + more)) && return
	tail -n 5 "$_dir"/[012].log
	return 1
}

# Who is left out goes on trying for longer than it is.
patient=(--continue-on-failure --timeout $((deadline * 20000)))

if [[ $INA_SIZE == full ]]; then
	host[2]=a0
	chain 9 deadline "${deadline}000"
	late_in_chain
	clocked "by the deadline, though nobody above the aggregator had heard of the round" \
		timely late_in_chain 2 0 2

	clocked "rounds run with a worker on an aggregator" run_chain
	ok "that is killed, without a wrong sum" stop KILL 2
	# Who is in no round then hears that none can be begun.
	clocked "all are told of it" all_told 'left.*10\.0\.0\.2 worker 0, \(no fragment seen\|last\)' 0 1

	clocked "rounds run over three levels again" run_chain "${patient[@]}"
	on sw ip link set p-w1 down
	clocked "those who go on after failed rounds are told why they cannot" \
		wait_for $((deadline * 4)) closed 0 1
	clocked "also on an aggregator" wait_for "$deadline" closed 2 1
	on sw ip link set p-w1 up
	clocked "rounds go on when the silent one is back" chain_goes_on
	# This one has not submitted what fails.
	kill -STOP "${running[1]}"
	clocked "they are told of one that is stopped" wait_for $((deadline * 4)) closed 0 2
	kill -CONT "${running[1]}"
	clocked "rounds go on when that one is back" chain_goes_on
	ok "their sums are right" stop INT 0 1 2
	chain_del

	chain 9 deadline "${deadline}000" depth 8
	silent_root_of_three
	clocked "by the deadline, three levels below" timely silent_root_of_three 3 0 1 2
	chain_del

	chain 9 deadline "${deadline}000" on-loss degrade
	clocked "a job of three levels that degrades starts with all" run_chain "${patient[@]}"
	on sw ip link set p-w1 down
	clocked "it goes on without a host three levels below the root" \
		wait_for $((deadline * 2)) members 9 2
	clocked "rounds complete without that" goes_on 9
	on sw ip link set p-w1 up
	clocked "that comes back by itself" wait_for $((deadline * 2)) members 9 3
	clocked "rounds complete with that" goes_on 9
	ok "a worker on an aggregator is killed" stop KILL 2
	clocked "it goes on without it, through the aggregator" wait_for "$deadline" members 9 2
	clocked "rounds complete without one there" goes_on 9
	run 9 2 "${patient[@]}"
	clocked "one that is started there is in" wait_for "$deadline" members 9 3
	ok "sums over three levels were right" stop INT 0 1 2
	chain_del
	host[2]=w2
fi

job 8 deadline "${deadline}000" on-loss degrade
# As fast as they can: who is killed then has packets under way.
clocked "a job that degrades starts with all" run_all 8 "${patient[@]}" --delay 0
clocked "five workers are in" wait_for "$deadline" members 8 5
ok "one is killed that has seen no wrong sum" stop KILL 1
clocked "it goes on without a worker that was killed" goes_on 8
clocked "four workers are in" wait_for "$deadline" members 8 4
clocked "the event names it" event events degraded \
	'goes on without .*10\.0\.0\.11 worker 0: 4 workers' \
	'"job":8,"addr":"10\.0\.0\.11","worker":0,("last_fragment":[0-9]+,)?"round"'
run 8 1 "${patient[@]}"
clocked "a worker that was started again is in again" wait_for "$deadline" members 8 5
clocked "rounds go on with it" goes_on 8

on sw ip link set p-w2 down
clocked "it goes on without a host that fell silent" wait_for $((deadline * 2)) members 8 4
clocked "rounds complete without it" goes_on 8
on sw ip link set p-w2 up
clocked "it comes back by itself" wait_for $((deadline * 2)) members 8 5
# Of the round it was in, if that was not complete already, or of those it was not in.
clocked "it was told" wait_for 10 grep -q 'the others went on without this node\|result in time\|deadline\|were over before' "$_dir/2.log"
clocked "rounds complete with it" goes_on 8

if [[ $INA_SIZE == full ]]; then
	on sw ip link set p-w3 down
	clocked "it goes on without a silent host of two workers" wait_for $((deadline * 2)) members 8 3
	clocked "rounds complete without both" goes_on 8
	on sw ip link set p-w3 up
	clocked "both come back by themselves" wait_for $((deadline * 2)) members 8 5
	clocked "rounds complete with both" goes_on 8

	# All others wait for a round that these two submit when nobody hears them, and give up.
	ok "both are killed" stop KILL 3 4
	run 8 3 "${patient[@]}" --inflight 1 --delay 200
	run 8 4 "${patient[@]}" --inflight 1 --delay 200
	clocked "they are started again, slow ones" wait_for "$deadline" members 8 5
	clocked "rounds complete with them" goes_on 8
	late=$(lates)
	kill -STOP "${running[3]}" "${running[4]}"
	clocked "all wait for both" wait_for "$deadline" stands 8
	on sw ip link set p-w3 down
	kill -CONT "${running[3]}" "${running[4]}"
	on sw ip link set p-a1 down
	clocked "they are left out while an aggregator is silent" wait_for $((deadline * 2)) members 8 3
	on sw ip link set p-w3 up
	clocked "they come back meanwhile" wait_for $((deadline * 2)) members 8 5
	clocked "which gives nobody more time again" later "$late"
	on sw ip link set p-a1 up
	clocked "rounds go on when the aggregator is back" wait_for $((deadline * 2)) goes_on 8
	clocked "with all" wait_for "$deadline" members 8 5
fi

kill -STOP "${running[4]}"
clocked "it goes on without one of two workers of a host" wait_for $((deadline * 2)) members 8 4
clocked "rounds complete without the late one" goes_on 8
kill -CONT "${running[4]}"
clocked "it comes back when it waits again" wait_for $((deadline * 2)) members 8 5
clocked "rounds complete with it again" goes_on 8

late=$(lates)
on sw ip link set p-a1 down
clocked "a silent aggregator is nobody's death: rounds fail, or wait for it" later "$late"
on sw ip link set p-a1 up
clocked "and go on when it is back" wait_for $((deadline * 2)) goes_on 8
clocked "nobody was left out for it" members 8 5

ok "no sum was wrong" stop INT 0 1 2 3 4
ok "nor before that" test -z "$wrong"
clocked "results without a worker were seen and were right" grep -q ' 0 overflowed, [1-9][0-9]* degraded' \
	"$_dir/0.log"
done_testing
