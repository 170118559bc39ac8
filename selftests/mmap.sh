#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# /dev/ina: what can be mapped and how, what each request refuses, what poll()
# says. All jobs are roots without children in one namespace, so that a round
# needs nobody else:
#
#   n: job 7 (1 worker), job 8 (2 workers), job 9 (no tree), job 10 (2 workers,
#      a deadline of 200 ms), job 12 (2 workers, goes on without one that is late),
#      job 13 (1 worker, much to submit)
# shellcheck disable=SC2317 # ok calls the functions
# All of it happens in a network namespace of the test's own: n.
[[ ${INA_OWN_NET:-} ]] || INA_OWN_NET=y exec unshare -n bash "$0"
. "$(dirname "$0")/lib.sh"

# 5000 elements are a page or more a round, two rounds.
page=$(getconf PAGESIZE)
load
ns_add m
ip link set lo up
inaconf job add 9 capacity 5000

# node JOB WORKERS: a job whose node has seen no round.
declare -A settings=([7]="depth 2 deadline 600000" [8]="depth 2 deadline 600000" [10]="deadline 200"
	[12]="depth 2 deadline 4000 on-loss degrade" [13]="depth 2 deadline 600000")
node()
{
	# There may be none.
	inaconf job del "$1" 2>/dev/null
	# shellcheck disable=SC2086 # words
	inaconf job add "$1" capacity $(($1 == 13 ? 500000 : 5000)) ${settings[$1]} &&
		inaconf tree set job "$1" workers "$2"
}

node 7 1
node 8 2
node 10 2

# fresh JOB WORKERS STEP...: attach to a node that has seen no round.
fresh()
{
	local id=$1 workers=$2
	shift 2
	node "$id" "$workers" && devtest "attach $id" "$@"
}

# shows JOB FIELD VALUE: what the kernel says of a job.
shows()
{
	[[ $(nlclient job-get id="$1" | sed -n "s/^$2=//p") == "$3" ]]
}

# hold LOG STEP...: devtest in the background; its PID in $held.
hold()
{
	local log=$1
	shift
	devtest "$@" pause >"$_dir/$log" 2>&1 &
	_pids+=($!)
	wait_for 20 grep -q '^pid ' "$_dir/$log" || log "$log"
	held=$(said "$log" pid)
}

# said LOG WORD: the number after it.
said()
{
	log "$1" | sed -n "s/^$2 //p"
}

map_all=("mmap ctl all r" "mmap contrib all rw" "mmap result all r")

# Attach.
ok "a job that does not exist is refused" devtest "attach 99 = ENOENT"
ok "job 0 does not exist" devtest "attach 0 = ENOENT"
ok "a job of another namespace does not exist" on m devtest "attach 7 = ENOENT"
ok "a job without a tree is refused" devtest "attach 9 = ENOTCONN"
ok "unknown flags are refused" devtest "attach 7 1 = EINVAL"
ok "a second attach of a file is refused" devtest "attach 7" "attach 7 = EISCONN"
ok "a second attach to another job is refused" devtest "attach 7" "attach 8 = EISCONN"
ok "one worker too many is refused" devtest "attach 7" "use 1" "attach 7 = EBUSY"
ok "a refused file can attach once there is room" \
	devtest "attach 7" "use 1" "attach 7 = EBUSY" "use 0" "close" "use 1" "attach 7"
ok "two workers have two numbers" devtest "attach 8" "index 0" "use 1" "attach 8" "index 1"
ok "two workers with one rank are refused, not two with two" devtest "attach 8 0 5" "use 1" \
	"attach 8 0 5 = EEXIST" "attach 8 0 4095"
ok "a rank above the last is refused" devtest "attach 8 0 4096 = ERANGE" "attach 8 0 0"
ok "an attach whose answer cannot be written takes no place" \
	devtest "open" "attach-read-only 7 = EFAULT" "attach 7"
ok "nobody is attached after all files are closed" shows 7 attached 0
bare=$(nlclient job-get id=7 | sed -n 's/^memory=//p')

# Requests.
ok "requests before attach are refused" devtest "open" "submit 0 1 = ENOTCONN" \
	"wait open 0 = ENOTCONN" "release 0 = ENOTCONN" "poll err"
ok "mappings before attach are refused" \
	devtest "open" "mmap ctl $page r = ENOTCONN" "mmap contrib $page rw = ENOTCONN"
ok "an unknown request of ours is refused" devtest "attach 7" "ioctl 0xc040a609 = ENOTTY"
ok "a request of another device is refused" \
	devtest "open" "ioctl 0xc040a701 = ENOTTY" "attach 7" "ioctl 0x5401 = ENOTTY"
ok "a request with another size is refused" devtest "attach 7" "ioctl 0x4008a602 = ENOTTY"
ok "bad pointers are refused" devtest "open" "bad-pointer attach = EFAULT" "attach 7" \
	"bad-pointer submit = EFAULT" "bad-pointer wait = EFAULT" "bad-pointer release = EFAULT"

# Mappings.
ok "all three areas can be mapped" devtest "attach 7" "${map_all[@]}" "touch ctl 0" \
	"touch contrib all-4" "touch result all-4"
for area in ctl contrib result; do
	ok "$area: one page beyond the end is refused" \
		devtest "attach 7" "mmap $area all+$page r = EINVAL"
	ok "$area: a huge length is refused" devtest "attach 7" "mmap $area 0x40000000 r = EINVAL"
	ok "$area: an offset at the end is refused" \
		devtest "attach 7" "mmap-at $area all $page r = EINVAL"
	ok "$area: an offset far beyond the end is refused" \
		devtest "attach 7" "mmap-at $area 0x8000000000 $page r = EINVAL"
	ok "$area: an offset that is no page is refused" \
		devtest "attach 7" "mmap-at $area 4 $page r = EINVAL"
	ok "$area: a private mapping is refused" devtest "attach 7" "mmap $area all r private = EINVAL"
	ok "$area: a mapping cannot grow" \
		devtest "attach 7" "mmap $area all r" "mremap $area all+$page = EFAULT"
	ok "$area: a mapping can move and stays readable" \
		devtest "attach 7" "mmap $area all r" "mremap $area all" "touch $area all-4"
	ok "$area: a mapping cannot be made executable" \
		devtest "attach 7" "mmap $area all r" "mprotect $area rx = EACCES"
	ok "$area: a child does not inherit it" \
		devtest "attach 7" "mmap $area all r" "touch $area 0" "fork-touch $area 0 = SIGSEGV"
done
for area in ctl result; do
	ok "$area: a writable mapping is refused" devtest "attach 7" "mmap $area all rw = EACCES"
	ok "$area: a mapping cannot be made writable" \
		devtest "attach 7" "mmap $area all r" "mprotect $area rw = EACCES"
	ok "$area: a write is a fault" \
		devtest "attach 7" "mmap $area all r" "touch $area 0 1 = SIGSEGV"
done
for area in contrib result; do
	ok "$area: the last page alone can be mapped" \
		devtest "attach 7" "mmap-at $area all-$page $page r" "touch $area $((page - 4))"
	ok "$area: the last page and one more are refused" \
		devtest "attach 7" "mmap-at $area all-$page $((2 * page)) r = EINVAL"
	ok "$area: what is unmapped is a fault, the rest is not" devtest "attach 7" "mmap $area all r" \
		"munmap $area $page $page" "touch $area $page = SIGSEGV" "touch $area $((page - 4))"
done
# A node outside of /dev, which some systems mount noexec.
mknod -m 600 "$_dir/dev" c "0x$(stat -c %t /dev/ina)" "0x$(stat -c %T /dev/ina)"
for area in ctl contrib result; do
	ok "$area: an executable mapping is refused" \
		env INA_DEV="$_dir/dev" devtest "attach 7" "mmap $area all rx = EACCES"
done
ok "a file opened for reading maps nothing writable" \
	devtest "open ro" "attach 7" "mmap contrib all rw = EACCES"
ok "what is written to a contribution is there for another mapping" devtest "attach 7" \
	"mmap contrib all rw" "touch contrib 0 77" "touch contrib all-4 78" "mmap contrib all r" \
	"value contrib 0 77" "value contrib all-4 78" "mprotect contrib rw"
ok "a new worker's arrays are zero" fresh 7 1 "${map_all[@]}" "wait open 20000" \
	"submit 0 5000" "wait 0 20000" "result 0 5000 0"

# Rounds of one worker.
ok "an epoch opens as soon as the only worker is attached" fresh 7 1 "mmap ctl all r" \
	"wait open 20000" "ctl abi 2" "ctl state 1" "ctl workers 1" "ctl next 0" "poll out"
ok "a round of one worker returns its contribution" fresh 7 1 "${map_all[@]}" \
	"wait open 20000" "fill 0 5000 -3" "submit 0 5000" "wait 0 20000" "round 0 2 0 0" \
	"result 0 5000 -3" "ctl next 1"
ok "three rounds take turns in two buffers" fresh 7 1 "${map_all[@]}" \
	"wait open 20000" "fill 0 10 1" "submit 0 10" "fill 1 10 2" "submit 1 10" \
	"wait 1 20000" "result 0 10 1" "result 1 10 2" "fill 2 10 3" "submit 2 10" \
	"wait 2 20000" "result 2 10 3" "wait 0 0 = EINVAL"
ok "poll says that a round has ended until it is released" fresh 7 1 "wait open 20000" \
	"poll out" "submit 0 10" "poll-until 20000 in" "poll in out" "release 0" "poll out"
ok "a submit of nothing is refused" fresh 7 1 "wait open 20000" "submit 0 0 = EMSGSIZE"
ok "a submit above the capacity is refused" fresh 7 1 "wait open 20000" \
	"submit 0 5001 = EMSGSIZE" "submit 0 0xffffffff = EMSGSIZE" "submit 0 5000"
ok "a submit of another round is refused" fresh 7 1 "wait open 20000" \
	"submit 1 10 = ESTALE" "submit 0 10" "submit 0 10 = ESTALE" "submit 2 10 = ESTALE" \
	"submit 0xffffffffffffffff 10 = ESTALE" "submit 1 10"
ok "a submit with unknown flags is refused" fresh 7 1 "wait open 20000" \
	"submit 0 10 1 = EINVAL"
ok "a wait for a round not submitted is refused" fresh 7 1 "wait open 20000" \
	"wait 0 20000 = EINVAL" "submit 0 10" "wait 0 20000" "wait 1 20000 = EINVAL"
ok "a worker that comes later cannot wait for rounds before its time" fresh 7 1 \
	"wait open 20000" "submit 0 10" "wait 0 20000" "close" "attach 7" "wait open 20000" \
	"wait 0 20000 = EINVAL" "release 0 = EINVAL"
ok "a wait with unknown flags is refused" fresh 7 1 "wait open 20000 1 = EINVAL"
ok "a release of a round not submitted is refused" fresh 7 1 "wait open 20000" \
	"release 0 = EINVAL" "release 0xffffffffffffffff = EINVAL"

# Rounds of two workers.
ok "without all workers there is no epoch" fresh 8 2 "mmap ctl all r" "ctl state 0" \
	"submit 0 10 = ENOTCONN" "wait open 0 = ETIMEDOUT" "wait open 50 = ETIMEDOUT" "poll"
ok "a wait ends by its timeout" fresh 8 2 "use 1" "attach 8" "wait open 20000" \
	"submit 0 10" "wait 0 0 = ETIMEDOUT" "wait 0 50 = ETIMEDOUT"
ok "a round not ended cannot be released" fresh 8 2 "use 1" "attach 8" \
	"wait open 20000" "submit 0 10" "release 0 = EBUSY"
ok "a full window is refused" fresh 8 2 "use 1" "attach 8" "wait open 20000" \
	"submit 0 10" "poll out" "submit 1 10" "poll" "submit 2 10 = EAGAIN"
ok "two workers on one node get their sum" fresh 8 2 "${map_all[@]}" "fill 0 5000 40" \
	"use 1" "attach 8" "${map_all[@]}" "fill 0 5000 2" "wait open 20000" "submit 0 5000" \
	"use 0" "submit 0 5000" "wait 0 20000" "result 0 5000 42" "use 1" "wait 0 20000" \
	"result 0 5000 42" "round 0 2 0 0"
ok "a result nobody released keeps the window full" fresh 8 2 "use 1" "attach 8" \
	"wait open 20000" "submit 0 10" "submit 1 10" "use 0" "submit 0 10" "submit 1 10" \
	"wait 1 20000" "submit 2 10 = EAGAIN" "release 1" "submit 2 10 = EAGAIN" \
	"use 1" "wait 1 20000" "release 1" "poll out" "use 0" "poll out" "submit 2 10"
ok "a sum out of range is saturated and reported" fresh 8 2 "${map_all[@]}" \
	"fill 0 10 2147483647" "use 1" "attach 8" "${map_all[@]}" "fill 0 10 1" \
	"wait open 20000" "submit 0 10" "use 0" "submit 0 10" "wait 0 20000" \
	"round 0 2 75 0" "result 0 10 2147483647"
ok "workers that differ in length fail the round" fresh 8 2 "mmap ctl all r" \
	"use 1" "attach 8" "mmap ctl all r" "wait open 20000" "submit 0 10" "use 0" \
	"submit 0 11" "wait 0 20000" "round 0 3 90 3" "use 1" "wait 0 20000" "round 0 3 90 3"
ok "a worker that leaves fails the round of the other at once" fresh 8 2 \
	"mmap ctl all r" "use 1" "attach 8" "wait open 20000" "use 0" "submit 0 10" "use 1" \
	"close" "use 0" "wait 0 20000" "round 0 3 104 4" "ctl state 0" "submit 1 10 = ENOTCONN"
ok "a round nobody completes fails by the deadline" fresh 10 2 "mmap ctl all r" \
	"use 1" "attach 10" "use 0" "wait open 20000" "submit 0 10" "wait 0 20000" \
	"round 0 3 110 1"

# A worker that does not release holds the whole window up.
clocked "who was left out while it read cannot rely on it" fresh 12 2 "use 1" "attach 12" \
	"mmap ctl all r" "wait open 20000" "submit 0 10" "submit 1 10" "use 0" "submit 0 10" \
	"submit 1 10" "wait 1 20000" "release 1" "poll-until 30000 out" "use 1" "round 0 3 104 12" \
	"release 0 = ESTALE"

# Two workers of this node, below a root with one, which does not hear that one is back.
ip link add eth0 up type veth peer name eth0 netns "$(ns m)"
ip addr add 10.0.0.2/24 dev eth0
on m ip link set eth0 up
on m ip addr add 10.0.0.1/24 dev eth0
for prefix in "" "on m"; do
	$prefix inaconf job add 14 capacity 5000 deadline $((3 * _patience))000 on-loss degrade
done
on m inaconf tree set job 14 child 10.0.0.2 workers 1
inaconf tree set job 14 parent 10.0.0.1 workers 2
spawn m other devtest "attach 14" "wait open 20000" "submit 0 10" "wait 0 60000" "release 0" pause
clocked "who was left out and dies before it is back in is not waited for" devtest "use 1" "attach 14" \
	"use 0" "attach 14" "wait open 20000" "submit 0 10" "wait 0 60000" "release 0" \
	"run ip link set eth0 down" "use 1" "wait open 0 = ETIMEDOUT" "close" "use 0" \
	"run ip link set eth0 up" "wait open 30000"
halt KILL $!
ip link del eth0

# Signals.
ok "a signal ends a wait" fresh 8 2 "use 1" "attach 8" "wait open 20000" "submit 0 10" \
	"alarm 20" "wait 0 -1 = EINTR"
ok "one whose handler restarts ends a wait with a timeout" fresh 8 2 "use 1" "attach 8" \
	"wait open 20000" "submit 0 10" "alarm 20 restart" "wait 0 60000 = EINTR"
ok "a signal ends the wait for another submit of the file" fresh 13 1 "wait open 20000" \
	"alarm 1" "submit-beside 500000 20000 = EINTR"

# The job goes.
del="run inaconf job del"
inaconf job add 11 capacity 5000
inaconf tree set job 11 workers 1
ok "after the job is deleted requests fail and the mappings stay readable" devtest "attach 11" \
	"${map_all[@]}" "wait open 20000" "fill 0 5000 9" "submit 0 5000" "wait 0 20000" "$del 11" \
	"poll hup err" "submit 1 10 = ENODEV" "wait 0 0 = ENODEV" "wait open 0 = ENODEV" \
	"release 0" "ctl state 2" "result 0 5000 9" "touch contrib all-4 1" "attach 11 = EISCONN"
inaconf job add 11 capacity 5000
inaconf tree set job 11 workers 1
ok "areas not touched before the job was deleted can still be mapped" devtest "attach 11" \
	"$del 11" "${map_all[@]}" "touch contrib all-4 1" "touch result all-4" "ctl state 2"

# Files that outlive their process, and the module.
hold first "attach 7" "${map_all[@]}" "fork"
ok "the worker is attached" shows 7 attached 1
kill -9 "$held"
ok "a killed worker leaves at once though its child has the file open" \
	wait_for 5 shows 7 attached 0
ok "the child still has the file open" kill -0 "$(said first child)"
ok "its place can be taken" fresh 7 1 "wait open 20000" "submit 0 10" "wait 0 20000"
ok "the module cannot be removed while a file is open" bash -c '! rmmod ina_agg'
kill -9 "$(said first child)"
node 8 2
hold second "attach 8" "use 1" "attach 8" "${map_all[@]}" "wait open 20000" "submit 0 10"
kill -9 "$held"
ok "a worker killed in a round leaves" wait_for 5 shows 8 attached 0
ok "the memory of a job without workers is that of its node" wait_for 10 shows 7 memory "$bare"
on m inaconf job add 7 capacity 5000
on m inaconf tree set job 7 workers 2
ok "a worker that has left its namespace loses its node with it, and keeps its mappings" on m devtest \
	"use 1" "attach 7" "use 0" "attach 7" "${map_all[@]}" "wait open 20000" "fill 0 5000 9" \
	"submit 0 5000" "leave" "run ip netns del $(ns m)" "poll-until 30000 hup" "poll hup err" \
	"round 0 3 125 7" "submit 1 10 = ENODEV" "wait 0 0 = ENODEV" "ctl state 2" \
	"touch result all-4" "touch contrib all-4 1"
ok "the module unloads" wait_for 20 unload
done_testing
