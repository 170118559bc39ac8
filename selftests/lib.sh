# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# What all system tests share: KTAP, the module, namespaces joined by a switch,
# nodes of a job, waiting for a condition. Sourced, never run.
#
# A cluster is a set of namespaces, each with one veth to a bridge in the
# namespace of the switch:
#
#   w0 --- veth --+
#   w1 --- veth --+-- bridge (sw) --+-- veth --- agg
#   ...           |                 +-- veth --- root
set -u

_tag=$(printf '%04x' $((RANDOM * RANDOM % 65536)))
_cases=0
_failed=0
_namespaces=()
_pids=()
_dir=$(mktemp -d /tmp/ina.XXXXXX)
# Programs and subshells take long on the debug kernel, so that what is called often makes do
# with few. A pipe that nobody writes to: waiting for it is a sleep without a program.
exec {_never}<> <(:)

echo "TAP version 13"

# ok TEXT COMMAND...: one case; the command's output is shown if it fails.
ok()
{
	local text=$1
	shift
	_cases=$((_cases + 1))
	if "$@" >"$_dir/case" 2>&1; then
		echo "ok $_cases - $text"
		return 0
	fi
	_failed=$((_failed + 1))
	sed 's/^/# /' "$_dir/case"
	echo "not ok $_cases - $text${_clocked:-}"
	return 1
}

# skip TEXT WHY
skip()
{
	_cases=$((_cases + 1))
	echo "ok $_cases - $1 # SKIP $2"
}

# not COMMAND...: for ok
not()
{
	! "$@"
}

# How much longer a time limit is on the slow kernel; a pause between two looks; milliseconds before each
# round of those that run until they are stopped: what all are busy with makes everything else slow.
_patience=1 _pause=0.05 _delay=0
[[ ${INA_KIND:-} != debug ]] || _patience=4 _pause=0.4 _delay=100

# wait_for SECONDS COMMAND...: until it succeeds; thrice as long, for a busy host.
wait_for()
{
	local end=$((SECONDS + 3 * _patience * $1))
	shift
	until "$@" >/dev/null 2>&1; do
		((SECONDS < end)) || return 1
		read -rt "$_pause" -u "$_never"
	done
	return 0 # not that of read
}

# one_of N COMMAND...: it succeeds in one of N attempts. A machine that stands still for a moment
# spoils one measurement; what is broken spoils all.
one_of()
{
	local _left=$1
	shift
	while ((_left-- > 0)); do
		"$@" && return
	done
	return 1
}

# full A B: A at full size, B in a small pass.
full()
{
	[[ ${INA_SIZE:-full} == full ]] && echo "$1" || echo "$2"
}

# load_with PARAMETER...: the module and what it needs.
load_with()
{
	local need
	need=$(modinfo -F depends "$INA_KO" | tr , ' ')
	# shellcheck disable=SC2086 # a list of modules
	[[ -z $need ]] || modprobe -a $need || return 1
	insmod "$INA_KO" "$@"
}

load()
{
	load_with max_job_mb=0 # the default
}

unload()
{
	rmmod ina_agg
}

ns()
{
	echo "ina-$_tag-$1"
}

# on NAME COMMAND...: run it in a namespace of ours.
on()
{
	local name=ina-$_tag-$1 program=$2
	shift 2
	case $program in
	inaconf | ip | tc) "$program" -n "$name" "$@" ;;
	*) enter "$name" "$program" "$@" ;;
	esac
}

ns_add()
{
	ip netns add "ina-$_tag-$1"
	_namespaces+=("$1")
	on "$1" ip link set lo up
}

ns_del()
{
	ip netns del "ina-$_tag-$1"
}

# switch_add MTU
switch_add()
{
	_mtu=$1
	ns_add sw
	on sw ip link add bridge0 up mtu "$_mtu" type bridge
}

# mtu MTU NODE...: of the switch and of these
mtu()
{
	local n mtu=$1
	shift
	on sw ip link set bridge0 mtu "$mtu"
	for n; do
		on sw ip link set "p-$n" mtu "$mtu"
		on "$n" ip link set eth0 mtu "$mtu"
	done
}

# host_add NAME ADDRESS/LEN...: a namespace with eth0 at the switch. A host that returns has the
# same device address, lest others send to the old one for as long as they believe in it.
host_add()
{
	local name=$1 mac octets addresses
	shift
	IFS=./ read -ra octets <<<"$1"
	printf -v mac '02:00:%02x:%02x:%02x:%02x' "${octets[@]:0:4}"
	printf -v addresses 'addr add %s dev eth0\n' "$@"
	ip netns add "ina-$_tag-$name"
	_namespaces+=("$name")
	on sw ip -batch - <<-END &&
		link add p-$name mtu $_mtu type veth peer name eth0 netns ina-$_tag-$name address $mac mtu $_mtu
		link set p-$name master bridge0 up
	END
		on "$name" ip -batch - <<-END
			link set lo up
			$addresses
			link set eth0 up
		END
}

# spawn NAME LOG COMMAND...: in the background in a namespace; its PID in $!.
spawn()
{
	local name=$1 log=$2
	shift 2
	# It becomes the command, so that $! is its PID.
	enter "ina-$_tag-$name" "$@" >"$_dir/$log" 2>&1 &
	_pids+=($!)
}

# monitor NAME LOG: events of a namespace go there, and as JSON to LOG.json, from when this
# returns.
monitor()
{
	spawn "$1" "$2" inaconf monitor
	spawn "$1" "$2.json" inaconf -j monitor
	wait_for 10 _listens "$1" "$2" && wait_for 10 _listens "$1" "$2.json"
}

# event LOG EVENT WORDS JSON: it was told in both forms; patterns of what follows its name.
event()
{
	wait_for 10 grep -Eq "^[^ ]+ $2 .*$3" "$_dir/$1" &&
		wait_for 10 grep -Eq "\"event\":\"$2\",$4" "$_dir/$1.json" && return
	grep -e "^[^ ]* $2 " -e "\"$2\"" "$_dir/$1" "$_dir/$1.json"
	return 1
}

_listens()
{
	on "$1" inaconf job add 4294967295 capacity 1
	on "$1" inaconf job del 4294967295
	[[ -s $_dir/$2 ]]
}

log()
{
	cat "$_dir/$1"
}

# finish PID...: wait for each; fails if one failed.
finish()
{
	local pid rc=0
	for pid; do
		wait "$pid" || rc=1
	done
	return $rc
}

# halt SIGNAL PID...: end workers; fails if one has seen a wrong sum.
halt()
{
	local signal=$1 pid bad=0
	shift
	kill "-$signal" "$@" 2>/dev/null
	for pid; do
		wait "$pid" 2>/dev/null # bash tells that it was killed
		(($? != 3)) || { echo "worker $pid has seen a wrong sum" && bad=1; }
	done
	return "$bad"
}

# job_fresh NODES ID OPTION...: on each of these nodes, a job without a past
job_fresh()
{
	local nodes=$1 n
	shift
	for n in $nodes; do
		on "$n" inaconf job del "$1" 2>/dev/null # at first there is none
		on "$n" inaconf job add "$@" || return
	done
}

# star_add OPTION...: workers' hosts w0 and w1 below a root, with job 7 of these options
star_add()
{
	local n
	switch_add 1500
	host_add root 10.0.0.1/24
	host_add w0 10.0.0.11/24
	host_add w1 10.0.0.12/24
	for n in root w0 w1; do
		on $n inaconf dev add eth0
		on $n inaconf job add 7 "$@"
	done
	on root inaconf tree set job 7 child 10.0.0.11 child 10.0.0.12
	on w0 inaconf tree set job 7 parent 10.0.0.1
	on w1 inaconf tree set job 7 parent 10.0.0.1
}

# counters NAME JOB|- ARRAY: all of them into an associative array, at once.
counters()
{
	local -n _into=$3
	local name value of=()
	[[ $2 == - ]] || of=(job "$2")
	while read -r name value; do
		[[ ! $value =~ ^[0-9]+$ ]] || _into["$name"]=$value
	done < <(exec inaconf -n "ina-$_tag-$1" stats show "${of[@]}" all)
}

# counter NAME JOB|- COUNTER
counter()
{
	local -A now=()
	counters "$1" "$2" now
	[[ ${now[$3]:-} ]] && echo "${now[$3]}"
}

# at_least NAME JOB|- COUNTER VALUE
at_least()
{
	local -A now=()
	counters "$1" "$2" now
	((${now[$3]:--1} >= $4))
}

# node_state NAME JOB STATE
node_state()
{
	[[ $(exec inaconf -n "ina-$_tag-$1" tree show job "$2") =~ (^|$'\n')"job $2 state $3 " ]]
}

_cleanup()
{
	local pid
	for pid in "${_pids[@]}"; do
		kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null
	done
	# Some may be gone.
	((${#_namespaces[@]} == 0)) || printf "netns del ina-$_tag-%s\n" "${_namespaces[@]}" |
		ip -force -batch - 2>/dev/null
	# Namespaces are taken down in the background; the module follows.
	if grep -q '^ina_agg ' /proc/modules; then
		wait_for 30 rmmod ina_agg
	fi
	rm -rf "$_dir"
}
trap _cleanup EXIT

# leaves_add NAME ADDRESS NEXT PREFIX: a host to whom every address of PREFIX
# belongs; NEXT is told the way. For rawnode, which speaks for many children.
leaves_add()
{
	host_add "$1" "$2/24"
	on "$1" ip route add local "$4" dev lo
	on "$3" ip route add "$4" via "$2"
}

# root_of NAME JOB N [OPTION...]: a new job, NAME its root, with the first N
# addresses of 10.1.0.0/16 as children.
root_of()
{
	local name=$1 job=$2 n=$3 i children=()
	shift 3
	on "$name" inaconf job del "$job" 2>/dev/null
	on "$name" inaconf job add "$job" "$@" || return
	for ((i = 1; i <= n; i++)); do
		children+=(child "10.1.$((i / 256)).$((i % 256))")
	done
	on "$name" inaconf tree set job "$job" "${children[@]}"
}

# has PATTERN...: standard input matches every one of them, else it is shown.
has()
{
	local text pattern
	text=$(cat)
	for pattern; do
		if ! grep -Eq -- "$pattern" <<<"$text"; then
			echo "no '$pattern' in: $text"
			return 1
		fi
	done
}

# json_start: what answers json; once, before the first.
json_start()
{
	coproc _python { exec python3 -ISc '
import json, sys
while name := sys.stdin.readline():
    expression = sys.stdin.readline()
    try:
        with open(name[:-1]) as file:
            it = json.load(file)
        answer = eval(expression)
        text = answer if isinstance(answer, str) else json.dumps(answer)
        if answer is False or answer is None:
            text += " of " + json.dumps(it)[:4000]
        holds = int(bool(answer))
    except Exception as error:
        holds, text = "wrong", repr(error)
    print(holds, ascii(text)[1:-1], flush=True)
'; }
	# Subshells have no others.
	exec {_ask}>&"${_python[1]}" {_told}<&"${_python[0]}"
	_pids+=("$_python_PID")
}

# json EXPRESSION COMMAND...: a Python expression of what the command prints, which is `it`. The answer
# is printed, text without quotes; fails if it is false, 0 or empty; of what false is, is shown, too. One
# interpreter answers all, one at a time: to start one takes as long as many a case.
json()
{
	local expression=$1 holds answer
	shift
	"$@" >"$_dir/json" || return
	printf '%s\n' "$_dir/json" "${expression//[$'\n\t']/ }" >&"$_ask"
	read -r holds answer <&"$_told" || return
	[[ $holds != wrong ]] || { echo "$answer" >&2 && return 1; }
	echo "$answer"
	[[ $holds == 1 ]]
}

# clocked TEXT COMMAND...: ok, of what depends on how evenly the machine runs. Where nothing else
# fails, the whole test is run once more.
clocked()
{
	local _clocked=' # CLOCKED'
	ok "$@"
}

# timed TEXT COMMAND...: the same, but not in a small pass, whose kernel is too slow to measure rates or
# times.
timed()
{
	[[ ${INA_SIZE:-full} == full ]] && clocked "$@"
}

# The plan and the exit status; the last line of every test.
done_testing()
{
	echo "1..$_cases"
	((_cases > 0 && _failed == 0))
	exit
}
