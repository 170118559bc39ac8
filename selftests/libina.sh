#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The shared library: ina_allreduce() and ina_resume(), every error they document with its
# text, and that the workers can go on afterwards. Two programs, libtest, do step by step what
# they are told:
#
#   w (10.0.0.2, rank 1) -- switch -- r (10.0.0.1, root and rank 0)
#
#   jobs 7 (int32), 8 (fp32), 9 (a short deadline), 10 (degrades)
# shellcheck disable=SC2317 # ok calls the functions
. "$(dirname "$0")/lib.sh"

capacity=$(full 3000 700)
depth=4
window=$((capacity * depth))
many=$((capacity * 10 + 17)) # eleven rounds
long=$((60 * _patience * 1000))
short=2000
declare -A to=() from=() pid=()

# worker NAME RANK
worker()
{
	local fd
	mkfifo "$_dir/$1.steps" "$_dir/$1.answers"
	exec {fd}<>"$_dir/$1.steps"
	to[$1]=$fd
	exec {fd}<>"$_dir/$1.answers"
	from[$1]=$fd
	spawn "$1" "$1.answers" libtest "$2" 2 "$_dir/$1.steps"
	pid[$1]=$!
}

wrong=

# tell NAME STEP
tell()
{
	echo "$2" >&"${to[$1]}"
}

# hear NAME ANSWER: the next one; libtest.c tells what is in it.
hear()
{
	local line
	read -r -t $((3 * long / 1000)) line <&"${from[$1]}" || line="nothing"
	[[ $line =~ ^$2 ]] && return
	# A success with other sums than expected.
	[[ $line != 0\ * ]] || wrong=y
	echo "$1 says: $line"
	return 1
}

# one NAME STEP ANSWER
one()
{
	tell "$1" "$2"
	hear "$1" "$3"
}

# both STEP ANSWER: at the same time
both()
{
	local rc=0
	tell r "$1"
	tell w "$1"
	hear r "$2" || rc=1
	hear w "$2" || rc=1
	return "$rc"
}

# go_on [NAME...]: a long array is summed after ina_resume() on these.
go_on()
{
	local name rc=0
	for name; do
		one "$name" "resume $long" "0 0 -" || rc=1
	done
	both "allreduce $many $long" "0 $many -" && return "$rc"
}

# epoch NAME: of job 7, if one is open
epoch()
{
	on "$1" inaconf tree show job 7 | sed -n 's/^job 7 state open epoch \([0-9]*\) .*/\1/p'
}

closed()
{
	[[ ! $(epoch "$1") ]]
}

# reopened: w is in the epoch that the root opened.
reopened()
{
	local now
	now=$(epoch r)
	[[ $now && $now == "$(epoch w)" ]]
}

# interrupted: a signal in the middle of a call
interrupted()
{
	local seen
	seen=$(counter r 7 rx_data)
	tell w "allreduce 10 $long"
	wait_for 20 at_least r 7 rx_data $((seen + 1)) || return
	kill -USR1 "${pid[w]}"
	tell r "allreduce 10 $long"
	hear w "0 10 -" && hear r "0 10 -"
}

# away: r leaves and comes back while w, which has contributed, does not run.
away()
{
	local seen rc=0
	seen=$(counter r 7 rx_data)
	tell w "allreduce $many $long"
	wait_for 20 at_least r 7 rx_data $((seen + 1)) || return
	kill -STOP "${pid[w]}"
	one r close "0 0 -" && one r "open 7 $long" "0 0 -" && wait_for 20 reopened || rc=1
	kill -CONT "${pid[w]}"
	return "$rc"
}

# examples: the one of the library, on both
examples()
{
	local r
	spawn r example-r "$INA_BUILD/userlib/examples/allreduce" 7 "$many"
	r=$!
	on w "$INA_BUILD/userlib/examples/allreduce" 7 "$many" | tee "$_dir/example-w"
	finish "$r" && log example-r &&
		[[ $(log example-w) == "$many elements summed over 2 workers" ]] &&
		[[ $(log example-r) == "$(log example-w)" ]]
}

load
switch_add 1500
host_add r 10.0.0.1/24
host_add w 10.0.0.2/24
declare -A settings=([7]="deadline 600000" [8]="dtype fp32 deadline 600000"
	[9]="deadline $((6 * _patience))000" [10]="on-loss degrade deadline 600000")
for n in r w; do
	on $n inaconf dev add eth0
	for id in 7 8 9 10; do
		# shellcheck disable=SC2086 # words
		on $n inaconf job add $id capacity "$capacity" depth $depth ${settings[$id]}
	done
done
for id in 7 8 9 10; do
	on r inaconf tree set job $id child 10.0.0.2 workers 1
	on w inaconf tree set job $id parent 10.0.0.1
done
worker r 0
worker w 1

ok "the client runs on the shared library of this build" cmp "$INA_BUILD/userlib/libina.so.0" \
	"$(ldd "$(command -v libtest)" | awk '$1 == "libina.so.0" { print $3 }')"

# Open.
ok "a job that is not here is refused" one r "open 99 0" "ENOENT 0 job 99: no such job"
ok "a rank that is none is refused" one r "open 7 0 4096" "ERANGE 0 job 7: rank 4096 is above 4095"
ok "without the other worker there is no epoch" one r "open 7 $short" \
	"ETIMEDOUT 0 job 7: members are still missing after $short ms"
ok "both open job 7" both "open 7 $long" "0 0 -"

# Sums.
ok "an array of eleven rounds is summed" both "allreduce $many $long" "0 $many -"
ok "two workers are in each" both workers "0 2 2"
ok "in place" both "allreduce $many $long in-place" "0 $many -"
ok "one element" both "allreduce 1 $long" "0 1 -"
ok "nothing at all needs nobody" one r "allreduce 0 0" "0 0 -"
ok "from the buffer of the library" both "allreduce $capacity $long buffer" "0 $capacity -"
ok "an overflow is reported, and the sum is complete" both "allreduce $many $long overflow" \
	"EOVERFLOW $many the sum overflowed and was saturated"
ok "the next call is as any" both "allreduce $many $long" "0 $many -"
ok "a signal does not end a call" interrupted

# Refused before anything is contributed.
ok "no array to sum is refused" one r "allreduce 10 $long no-in" "EINVAL 0 no array given"
ok "no array for the sum is refused" one r "allreduce 10 $long no-out" "EINVAL 0 no array given"
ok "more than the memory can hold is refused" one r "allreduce 0xffffffffffffffff $long" \
	"EINVAL 0 18446744073709551615 elements do not fit the memory"
ok "a place in the buffer is refused" one r "allreduce 10 $long not-buffer" \
	"EINVAL 0 not the array last returned by ina_buffer"
ok "more than the buffer holds is refused" one r "allreduce $((capacity + 1)) $long buffer" \
	"EMSGSIZE 0 $((capacity + 1)) elements in an array of $capacity"
ok "a round by hand goes first" one r "submit 10" "0 0 -"
ok "poll() tells of room, and of no end yet" one r "poll 0" "0 0 out$"
ok "until it is released a call is refused" one r "allreduce 10 $long" \
	"EBUSY 0 round [0-9]+ is not released"
ok "poll() finds none" one r "poll $long asleep" "0 0 waits"
ok "and sleeps" wait_for 20 grep -q '^State:.S' "/proc/${pid[r]}/status"
ok "the other contributes to it" one w "submit 10" "0 0 -"
ok "poll() wakes when it ends" hear r "0 0 in out$"
ok "the other one's tells that it has ended" one w "poll $long" "0 0 in out$"
ok "it is summed and released" both "collect $long" "0 10 -"
ok "after all that calls go on, without ina_resume" go_on

# Out of time with all of it in flight.
ok "a call that is out of time says so" one r "allreduce $window $short" \
	"EINPROGRESS 0 0 of $window elements summed: round [0-9]+ has not ended"
ok "the next call is refused" one r "allreduce 10 $long" \
	"ESTALE 0 an earlier all-reduce failed: ina_resume"
ok "resuming waits for what is in flight" one r "resume $short" "EINPROGRESS 0 round [0-9]+ has not ended"
ok "the other completes the call" one w "allreduce $window $long" "0 $window -"
ok "then calls go on" go_on r

# Out of time before all of it was contributed.
ok "a call of eleven rounds is out of time" one r "allreduce $many $short" \
	"EINPROGRESS 0 0 of $many elements summed: round [0-9]+ has not ended"
tell w "allreduce $many $long"
ok "resuming is refused while the other waits for the rest" one r "resume $long" \
	"ESTALE 0 others may wait for parts of the failed call: close and open again"
ok "closing helps" one r close "0 0 -"
ok "the other learns who left, and keeps what was summed" hear w \
	"ECONNRESET $window $window of $many elements summed: .*10\.0\.0\.1 worker 0"
ok "it is refused until it resumes" one w "allreduce 10 $long" "ESTALE 0 an earlier all-reduce failed"
ok "who closed opens again" one r "open 7 $long" "0 0 -"
ok "calls go on after that" go_on w

# A worker that left and is back before the other looks.
ok "a worker is away in the middle of a call" away
ok "the other does not take what it is at now for the rest of that call" hear w \
	"ECONNRESET 0 0 of $many elements summed: round [0-9]+ failed: left by 10\.0\.0\.1 worker 0"
ok "calls go on after that, too" go_on w

# A worker that left between two calls.
ok "a worker closes between two calls" one r close "0 0 -"
ok "the epoch ends" wait_for 20 closed w
ok "the other is told in its next call" one w "allreduce $many $long" \
	"ECONNRESET 0 .*no epoch is open: a worker left \(10\.0\.0\.1 worker 0"
ok "it opens again" one r "open 7 $long" "0 0 -"
ok "calls go on with it" go_on w

# A round that was given up.
ok "a worker contributes" one r "submit 10" "0 0 -"
ok "closes" one r close "0 0 -"
ok "opens again" one r "open 7 $long" "0 0 -"
ok "the other is in the new epoch" wait_for 20 reopened
ok "its call is refused: that round is over" one w "allreduce 10 $long" \
	"ESTALE 0 round [0-9]+ was over before this worker contributed"
ok "calls go on in the next round" go_on w

# Workers that disagree.
tell r "allreduce 10 $long"
ok "a length that differs is told to one" one w "allreduce 11 $long" \
	"EMSGSIZE 0 round [0-9]+ failed: .*contributed 1[01] elements, others 1[01]"
ok "and to the other" hear r "EMSGSIZE 0 round [0-9]+ failed: .*contributed 1[01] elements, others 1[01]"
ok "calls go on with both" go_on r w
ok "both close" both close "0 0 -"
ok "the example sums on two workers" examples

# The deadline.
ok "both open job 9" both "open 9 $long" "0 0 -"
clocked "the late worker is named when the deadline passes" one r "allreduce 10 $long" \
	"ETIMEDOUT 0 round 0: 1 of 1 fragments without a result in time, waiting for 10\.0\.0\.2 worker 0, no fragment seen"
clocked "the late one is told, too" one w "allreduce 10 $long" "E[A-Z]+ 0 .*in time"
clocked "calls go on in time" go_on r w
ok "both close again" both close "0 0 -"

# A job that goes on without who is gone.
ok "both open job 10" both "open 10 $long" "0 0 -"
ok "both are in a sum" both "allreduce $many $long" "0 $many -"
ok "one closes" one w close "0 0 -"
ok "the other sums alone" one r "allreduce 10 $long" "0 "
ok "and is told so" one r workers "0 1 1"
ok "it closes, too" one r close "0 0 -"

# Floats, and a job that goes.
ok "both open job 8" both "open 8 $long" "0 0 -"
ok "floats are summed" both "allreduce $many $long" "0 $many -"
ok "floats are summed in place" both "allreduce $many $long in-place" "0 $many -"
ok "a call begins" one w "submit 10" "0 0 -"
ok "the job is deleted" on w inaconf job del 8
ok "its round ends by that" one w "collect $long" "E[A-Z]+ 0 .*(deleted|removed)"
ok "poll() tells that, too" one w "poll $long" "0 0 .*hup$"
ok "there is no other call" one w "allreduce 10 $long" "ENODEV 0 job 8: the node or its namespace was deleted"
ok "nothing wrong was summed" test "$wrong$(counter r 7 count_wrong)" = 0
done_testing
