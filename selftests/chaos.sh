#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Rounds without a pause while at random workers are killed, links flap and lose,
# nodes move, restart and go away with their namespace. Whatever happens, a round is
# summed right or fails with a reason, and when the disturbances end it all works
# again. The first half of the time with `on-loss fail`, the second with `on-loss degrade`.
# At first, and in the end, the tree is this; m is a worker as well.
#
#   w0, w1 ----- a0 --+
#   w2 --- m --- a1 --+-- root
#   w3 ---------------+
#
# INA_SEED repeats the actions, INA_CHAOS_SECONDS says for how long. What follows from
# an action is different each time. A small pass without it does each once, with
# `on-loss degrade`.
# shellcheck disable=SC2317 # ok calls the functions
. "$(dirname "$0")/lib.sh"

seconds=${INA_CHAOS_SECONDS:-$(full 40 0)}
on_loss=$( ((seconds)) && echo fail || echo degrade)
seed=${INA_SEED:-$((RANDOM * 32768 + RANDOM))}
deadline=$(full 2000 8000) # milliseconds
pause=$deadline
delay=0 # before each round: what all are busy with makes everything else slow
((seconds)) || pause=1000 delay=200
patience=$((deadline * 30)) # of a worker: what hangs must not end by it
elements=$(full 5000 1000)
more=$(full 10 3)
nodes=(root a0 a1 m w0 w1 w2 w3)
workers=(w0 w1 w2 w3 m) # in the order of their ranks
declare -A addr=([root]=10.0.0.1 [a0]=10.0.0.2 [a1]=10.0.0.3 [m]=10.0.0.4
	[w0]=10.0.0.10 [w1]=10.0.0.11 [w2]=10.0.0.12 [w3]=10.0.0.13)
declare -A home=([a0]=root [a1]=root [m]=a1 [w0]=a0 [w1]=a0 [w2]=m [w3]=root)
declare -A parent=() # of each node, as it is meant to be
declare -A was=()    # of those that move
declare -A due=()    # KIND.NODE: when it is over
declare -A happened=()
clock=0 # milliseconds that were drawn: what ends, ends by it and not by the true time
miscounted=0
refused=0
stalled=0

# Kinds of disturbances, and how often each is drawn.
declare -A kinds=([kill]=5 [flap]=5 [outage]=1 [loss]=2 [move-worker]=5 [move-inner]=3
	[restart]=2 [restart-root]=1 [gone-worker]=2 [gone-inner]=2 [gone-root]=1)
order=(kill flap outage loss move-worker move-inner restart restart-root gone-worker
	gone-inner gone-root)

# draw N: a number below N, in $drawn. All decisions come from here.
_random=$seed
draw()
{
	_random=$((_random * 6364136223846793005 + 1442695040888963407))
	drawn=$(((_random >> 33 & 0x7fffffff) % $1))
}

conf()
{
	inaconf -n "$(ns "$1")" "${@:2}"
}

note()
{
	local ms=$(((${EPOCHREALTIME/./} - began) / 1000))
	printf '# %d.%03d s  %s\n' $((ms / 1000)) $((ms % 1000)) "$*"
}

is_worker()
{
	[[ $1 == w* || $1 == m ]]
}

# away NODE: is its namespace deleted
away()
{
	[[ ${due[gone.$1]:-} ]]
}

# below NODE: its children, and those it is to lose
below()
{
	local n
	for n in "${nodes[@]}"; do
		[[ ${parent[$n]:-} != "$1" && ${was[$n]:-} != "$1" ]] || echo "$n"
	done
}

# within NODE TOP: is it TOP, or somewhere below
within()
{
	local n=$1
	while [[ $n && $n != "$2" ]]; do
		n=${parent[$n]:-}
	done
	[[ $n ]]
}

# try COMMAND...: a change that is to be accepted
try()
{
	"$@" || {
		refused=$((refused + 1))
		note "refused: $*"
	}
}

# apply NODE...: give them their place
apply()
{
	local n child args
	for n; do
		! away "$n" || continue
		args=()
		[[ $n == root ]] || args+=(parent "${addr[${parent[$n]}]}")
		! is_worker "$n" || args+=(workers 1)
		for child in $(below "$n"); do
			args+=(child "${addr[$child]}")
		done
		try conf "$n" tree set job 7 "${args[@]}"
	done
}

# rearrange: nodes in $was have another parent now. It takes them in before the old
# one lets them go: never is there a tree without one of the workers, the sums of
# which would be others.
rearrange()
{
	local n old=()
	for n in "${nodes[@]}"; do
		[[ ! ${was[$n]:-} ]] || apply "${parent[$n]}"
	done
	for n in "${nodes[@]}"; do
		[[ ! ${was[$n]:-} ]] || apply "$n"
	done
	old=("${was[@]}")
	was=()
	for n in "${nodes[@]}"; do
		[[ " ${old[*]} " != *" $n "* ]] || apply "$n"
	done
}

job_add()
{
	try conf "$1" job add 7 capacity "$elements" group 64 depth 4 deadline "$deadline" \
		on-loss "$on_loss"
}

# node_add NODE
node_add()
{
	host_add "$1" "${addr[$1]}/24"
	try conf "$1" dev add eth0
	job_add "$1"
}

# collect NODE: what it has counted, before that is gone
collect()
{
	local -A now=()
	counters "$1" 7 now
	((${now[count_wrong]:-0} == 0)) || note "$1 has miscounted ${now[count_wrong]} sums"
	miscounted=$((miscounted + ${now[count_wrong]:-0}))
}

# supervise WORKER RANK: start it again whenever it has ended, unless told otherwise.
# Its log has the last words of each incarnation, also of those that were killed.
supervise()
{
	local w=$1 pid rc
	trap 'kill $pid; exit' TERM
	while [[ ! -e $_dir/stop ]]; do
		if [[ -e $_dir/$w.away ]]; then
			: >"$_dir/$w.idle"
			sleep 0.05
			continue
		fi
		rc=0
		enter "$(ns "$w")" ina-perf --job 7 --rank "$2" --rounds 1G \
			--elements "$elements" --timeout "$patience" --interval 0.1 --delay "$delay" \
			--continue-on-failure &
		pid=$!
		echo "$pid" >"$_dir/$w.pid"
		wait "$pid" || rc=$?
		rm -f "$_dir/$w.pid"
		echo "ended with $rc"
		sleep 0.1
	done >>"$_dir/$w.log" 2>&1
}

# signal SIGNAL WORKER: by its PID; fails if it does not run, or has just ended
signal()
{
	local pid
	read -r pid 2>/dev/null <"$_dir/$2.pid" && kill "-$1" "$pid" 2>/dev/null
}

idle()
{
	signal KILL "$1"
	[[ -e $_dir/$1.idle ]]
}

# A port of the switch whose node is gone, too, goes in the background.
port_gone()
{
	! on sw ip link show "p-$1"
}

# node_del NODE: with its namespace, in which no process may be left
node_del()
{
	if is_worker "$1"; then
		: >"$_dir/$1.away"
		try wait_for 20 idle "$1"
	fi
	collect "$1"
	ns_del "$1"
}

node_return()
{
	try wait_for 30 port_gone "$1"
	node_add "$1"
	apply "$1"
	rm -f "$_dir/$1.idle" "$_dir/$1.away"
}

# over KIND NODE: the disturbance ends
over()
{
	note "$1 of $2 is over"
	unset "due[$1.$2]"
	case $1 in
	link) on sw ip link set "p-$2" up ;;
	loss) tc -n "$(ns sw)" qdisc del dev "p-$2" root ;;
	gone) node_return "$2" ;;
	esac
}

# pass MILLISECONDS: time goes on, and what is due ends.
pass()
{
	local n kind
	clock=$((clock + $1))
	sleep "$(($1 / 1000)).$(printf '%03d' $(($1 % 1000)))"
	for n in "${nodes[@]}"; do
		for kind in link loss gone; do
			[[ ! ${due[$kind.$n]:-} ]] || ((due[$kind.$n] > clock)) || over $kind "$n"
		done
	done
}

# pick NODE...: one of those that are there, in $picked
pick()
{
	local n there=()
	for n; do
		away "$n" || there+=("$n")
	done
	((${#there[@]})) || return
	draw ${#there[@]}
	picked=${there[drawn]}
}

# disturb_port KIND MILLISECONDS: the port of some node, for about that long
disturb_port()
{
	local ms=$2
	pick "${nodes[@]}" && [[ ! ${due[$1.$picked]:-} ]] || return
	draw "$ms"
	due[$1.$picked]=$((clock + ms + drawn))
	if [[ $1 == link ]]; then
		note "link of $picked down for $((ms + drawn)) ms"
		on sw ip link set "p-$picked" down
		return
	fi
	draw 25
	note "port of $picked loses $((drawn + 5)) % and reorders"
	tc -n "$(ns sw)" qdisc add dev "p-$picked" root netem delay 3ms reorder 25% \
		loss "$((drawn + 5))%" duplicate 5% limit 1000
}

# move NODE...: one of them to some other parent, where that makes a tree
move()
{
	local n to moves=()
	for n; do
		for to in root a0 a1 m; do
			# An aggregator has children.
			[[ ${parent[$n]} != "$to" ]] && ! within "$to" "$n" &&
				[[ ${parent[$n]} != a? || $(below "${parent[$n]}") != "$n" ]] &&
				moves+=("$n $to")
		done
	done
	((${#moves[@]})) || return
	draw ${#moves[@]}
	read -r n to <<<"${moves[drawn]}"
	note "$n moves from ${parent[$n]} to $to"
	was[$n]=${parent[$n]}
	parent[$n]=$to
	rearrange
}

# anew NODE...: they lose what they know
anew()
{
	local n
	for n; do
		collect "$n"
		try conf "$n" job del 7
		job_add "$n"
	done
	apply "$@"
}

# restart NODE...: one of them does
restart()
{
	pick "$@" || return
	note "$picked restarts"
	anew "$picked"
}

# gone NODE...: the namespace of one of them is deleted for a while
gone()
{
	pick "$@" || return
	draw "$deadline"
	note "$picked is gone for $((drawn + 100)) ms"
	node_del "$picked"
	unset "due[link.$picked]" "due[loss.$picked]"
	due[gone.$picked]=$((clock + drawn + 100))
}

# disturb KIND: fails if there is nobody to do it to
disturb()
{
	case $1 in
	kill)
		pick "${workers[@]}" && note "$picked is killed" &&
			try wait_for 20 signal KILL "$picked"
		;;
	flap) disturb_port link $((deadline / 10)) ;;
	outage) disturb_port link $((deadline * 3 / 2)) ;;
	loss) disturb_port loss "$deadline" ;;
	move-worker) move w0 w1 w2 w3 ;;
	move-inner) move a0 a1 m ;;
	restart) restart a0 a1 m w0 w1 w2 w3 ;;
	restart-root) restart root ;;
	gone-worker) gone m w0 w1 w2 w3 ;;
	gone-inner) gone a0 a1 ;;
	gone-root) gone root ;;
	esac
}

# next_kind: in $kind; at first more of those that have not been. One may need others before
# it: where every aggregator has one child, none can move.
next_kind()
{
	local k sum=0
	draw 2
	if (((drawn || !seconds) && ${#todo[@]})); then
		draw ${#todo[@]}
		kind=${todo[drawn]}
		return
	fi
	draw "$(IFS=+ && echo $((${kinds[*]})))"
	for kind in "${order[@]}"; do
		sum=$((sum + kinds[$kind]))
		((drawn >= sum)) || return
	done
}

# home_all: the tree is that of the beginning. One after the other, who is above first:
# two that change places are never each other's parent.
home_all()
{
	local n
	for n in "${nodes[@]}"; do
		[[ $n != root && ${parent[$n]} != "${home[$n]}" ]] || continue
		was[$n]=${parent[$n]}
		parent[$n]=${home[$n]}
		rearrange
	done
}

show_all()
{
	local n
	for n in "${nodes[@]}"; do
		conf "$n" tree show job 7
		conf "$n" stats show job 7 | sed "s/^/$n /"
	done
	for n in "${workers[@]}"; do
		echo "$n: $(tail -n 3 "$_dir/$n.log")"
	done
}

# go_on: more rounds complete, on every worker
go_on()
{
	local w
	local -A before=()
	for w in "${workers[@]}"; do
		before[$w]=$(counter "$w" 7 rounds_done)
	done
	for w in "${workers[@]}"; do
		wait_for 40 at_least "$w" 7 rounds_done $((before[$w] + more)) || {
			echo "$w does not go on after ${before[$w]} rounds"
			show_all
			return 1
		}
	done
}

# rest: whatever was disturbed is over. In the tree as it is rounds must go on.
rest()
{
	local n kind since
	for n in "${nodes[@]}"; do
		for kind in link loss gone; do
			[[ ! ${due[$kind.$n]:-} ]] || over $kind "$n"
		done
	done
	since=${EPOCHREALTIME/./}
	if go_on >"$_dir/rest" 2>&1; then
		note "rounds go on after $(((${EPOCHREALTIME/./} - since) / 1000)) ms"
		return
	fi
	stalled=$((stalled + 1))
	note "rounds do not go on"
	sed 's/^/# /' "$_dir/rest"
}

# chaos: for half of the time, and until each kind has happened
chaos()
{
	local kind k todo=("${order[@]}") left actions=0 end=$((SECONDS + seconds / 2))
	while ((SECONDS < end || ${#todo[@]})); do
		# Mostly one close upon another, at times with time for some rounds.
		draw 4
		draw $((drawn ? pause / 2 : pause * 2))
		pass $((drawn + 20))
		next_kind
		disturb "$kind" || continue
		happened[$kind]=$((${happened[$kind]:-0} + 1))
		left=()
		for k in "${todo[@]}"; do
			[[ $k == "$kind" ]] || left+=("$k")
		done
		todo=("${left[@]}")
		((++actions % 12)) || rest
	done
}

all_happened()
{
	local k bad=0
	for k in "${order[@]}"; do
		echo "$k ${happened[$k]:-0}"
		[[ ${happened[$k]:-} ]] || bad=1
	done
	return "$bad"
}

# stop_all: every worker ends by itself.
stop_all()
{
	local w
	: >"$_dir/stop"
	for w in "${workers[@]}"; do
		signal INT "$w"
	done
	for w in "${workers[@]}"; do
		wait_for $((patience / 1000)) test ! -e "$_dir/$w.pid" || {
			echo "$w does not end: $(tail -n 3 "$_dir/$w.log")"
			return 1
		}
	done
}

# reports PATTERN: how many lines of the workers match
reports()
{
	cat "${workers[@]/%/.log}" | grep -cE "$1"
}

# rounds: completed and failed ones, by the last line of each incarnation
rounds()
{
	cat "${workers[@]/%/.log}" | awk '
		/ completed, [0-9]+ failed of / {
			for (i = 2; i <= NF; i++) {
				if ($i == "completed,") done = $(i - 1)
				if ($i == "failed") failed = $(i - 1)
			}
		}
		/^rounds / { done = $2; failed = $4 + $6 }
		/^ended with / { all += done; lost += failed; done = failed = 0 }
		END { print all + done, lost + failed }'
}

# Memory of jobs that is in use. Every region is one line.
regions()
{
	grep -c 'ina_region_alloc.*\[ina_agg\]' /proc/vmallocinfo
}

no_regions()
{
	(($(regions) == 0))
}

# kmemleak: objects nobody refers to, if the kernel looks for them. The first scan
# only colours.
unreferenced()
{
	if [[ ! ${INA_KMEMLEAK:-} ]]; then
		echo 0
	elif echo scan >"$INA_KMEMLEAK"; then
		# It does not report what is younger than 5 s.
		sleep 6
		echo scan >"$INA_KMEMLEAK"
		grep -c '^unreferenced' "$INA_KMEMLEAK"
	else
		# Without memory it stops, and a leak is not seen.
		echo "# kmemleak has switched itself off" >&2
		echo 1
	fi
}

# splats: in the kernel log since the mark
splats()
{
	dmesg | awk -v mark="$mark" 'index($0, mark) { on = 1; next } on' |
		grep -cE "${INA_SPLATS:?}"
}

# zero NUMBER [COMMAND...]: if it is not, the command tells more.
zero()
{
	(($1 == 0)) && return
	echo "$1"
	shift
	"$@"
	return 1
}

mark="ina-chaos: $RANDOM$RANDOM"
echo "$mark" >/dev/kmsg
echo "# INA_SEED=$seed INA_CHAOS_SECONDS=$seconds"
began=${EPOCHREALTIME/./}
load
switch_add 1500
for n in "${nodes[@]}"; do
	node_add "$n"
	[[ $n == root ]] || parent[$n]=${home[$n]}
done
apply "${nodes[@]}"
for i in "${!workers[@]}"; do
	: >"$_dir/${workers[i]}.log"
	supervise "${workers[i]}" "$i" &
	_pids+=($!)
done
cd "$_dir" || exit
ok "rounds run" go_on
ok "memory of jobs can be seen" test "$(regions)" -gt 0

read -r before _ < <(rounds)
chaos
if ((seconds)); then
	rest
	on_loss=degrade
	note "on-loss $on_loss"
	anew "${nodes[@]}"
	chaos
fi
read -r after _ < <(rounds)
note "the end, $((after - before)) rounds were completed meanwhile"
rest
home_all
# The little that happens in a small pass may leave no round to complete, or none to be without
# somebody.
((!seconds)) || clocked "rounds completed meanwhile" test "$after" -gt "$before"
ok "in the end more rounds complete on every worker" go_on
ok "each time the disturbances paused, rounds went on" zero "$stalled"
ok "each kind of disturbance happened" all_happened
sed 's/^/# /' "$_dir/case"
ok "every change of the tree was accepted" zero "$refused"
ok "every worker ends by itself" stop_all
wait "${_pids[@]}"
for n in "${nodes[@]}"; do
	collect "$n"
	ns_del "$n"
done

read -r completed failed < <(rounds)
wrong=$(reports 'elements are wrong|reported an overflow where')
stuck=$(reports 'has not ended (after|everywhere)')
# Whom a node told of it that was gone before its counters were read.
((miscounted)) || miscounted=$(reports 'failed: counted [0-9]+ of')
leaks=0
wait_for 30 no_regions || leaks=$(regions)
wait_for 30 unload || leaks=$((leaks + 1))
leaks=$((leaks + $(unreferenced)))
splats=$(splats)
for w in "${workers[@]}"; do
	grep -v ' failed of ' "$w.log" >"${INA_RESULTS:-$_dir}/chaos-$w.log"
done

clocked "rounds failed, with a reason" test "$failed" -gt 0
((!seconds)) || clocked "rounds completed without somebody, where that is wanted" \
	test "$(reports ', [1-9][0-9]* degraded')" -gt 0
ok "no round was silent beyond its deadline" zero "$stuck" grep -hE 'has not ended' -- *.log
ok "no sum was wrong" zero "$wrong" grep -hE 'wrong, first' -- *.log
ok "no sum miscounted the workers" zero "$miscounted"
ok "nothing leaked" zero "$leaks"
ok "no splat in the kernel log" zero "$splats"
echo "chaos: rounds completed $completed, failed loudly $failed, wrong sums $wrong," \
	"conservation failures $miscounted, leaks $leaks, splats $splats"
done_testing
