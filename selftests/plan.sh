#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# From a topology to a tree of kernels, and on while rounds run: a plan is worked out from what the
# root has measured and applied, an aggregator whose device is flooded is taken out, the tree
# planned anew without it, and comes back; and a machine that refuses leaves everything as it was.
# No round fails and no sum is wrong. Then a job is placed on the workers, as if they were in two
# racks.
#
#   w0 ... w5 --- a0, a1, a2, as planned --- root
#
#   w1 w2 --- a0 (l0) ---+
#                        a2 (s) --- w0
#   w3 w4 w5 --- a1 (l1) +
# shellcheck disable=SC2317 # ok calls the functions
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/rounds.sh"

deadline=$(full 60 240)
elements=$(full 20000 1000)
more=$(full 10 3)
declare -A addr=([root]=10.0.0.1 [a0]=10.0.0.2 [a1]=10.0.0.3 [a2]=10.0.0.4 [w0]=10.0.0.10
	[w1]=10.0.0.11 [w2]=10.0.0.12 [w3]=10.0.0.13 [w4]=10.0.0.14 [w5]=10.0.0.15)
workers=(w0 w1 w2 w3 w4 w5)

# host NAME IDLE_CORES USED_MEMORY RATE
host()
{
	echo "- {name: $1, addr: ${addr[$1]}, where: $(ns "$1"), cores: 8, idle-cores: $2," \
		"memory: 64Gi, used-memory: $3, nics: [{to: sw, rate: $4}]}"
}

# The root has a slow link, aggregators have fast ones, workers are busy.
topology()
{
	local n
	echo "hosts:"
	host root 8 1Gi 10G
	for n in a0 a1 a2; do host $n 8 1Gi 40G; done
	for n in "${workers[@]}"; do host "$n" 0 60Gi 10G; done
	echo "switches: [{name: sw}]"
}

measured()
{
	local n
	echo "size: 400M"
	echo "workers:"
	for n in "${workers[@]}"; do echo "- {host: $n, t1: 0.5, t2: 0.5}"; done
}

measure=(measure "$_dir/measure")
plan_tree()
{
	inaconf plan tree topo "$_dir/topo" "${measure[@]}" root root job 7 \
		options capacity "$elements" group 64 deadline "${deadline}000"
}

plan_and_apply()
{
	set -o pipefail
	plan_tree | inaconf plan apply -
}

# Times of the last round as the root has seen them, if a tree pays by them; what was before it is left
# out of the step.
measure_rounds()
{
	local step
	on root inaconf -j stats child job 7 >"$_dir/stats"
	step=$(json "len(it[0]['children']) == 6 and max(x.get('last_ns', 0) for x in it[0]['children']) / 1e9 * 1.001" \
		log stats) || return
	measure=(measure "$_dir/stats" size 400M step "$step")
	plan_tree | grep 'parent: a'
}

# The rounds of the window have ended, and no others have begun.
held()
{
	on root inaconf tree hold job 7 ms "$((deadline * 400))" &&
		json "it[0]['left'] == 0" on root inaconf -j tree show job 7 &&
		on root inaconf tree hold job 7 ms 0
}

# For plan place: a0 and a1 aggregate for the switches of two racks, a2 for the one above.
racks()
{
	local n at
	echo "hosts:"
	for n in "${workers[@]}" a0 a1 a2; do
		case $n in
		w[0-2] | a0) at="rack: 0, nics: [{to: l0" ;;
		a2) at="nics: [{to: s" ;;
		*) at="rack: 1, nics: [{to: l1" ;;
		esac
		echo "- {name: $n, addr: ${addr[$n]}, where: $(ns "$n"), $at, rate: 10G}]}"
	done
	echo "switches:"
	echo "- {name: l0, rack: 0, aggregator: a0}"
	echo "- {name: l1, rack: 1, aggregator: a1}"
	echo "- {name: s, level: 2, aggregator: a2}"
	echo "links: [{between: [l0, s], rate: 40G}, {between: [l1, s], rate: 40G}]"
}

place_and_apply()
{
	set -o pipefail
	inaconf plan place topo "$_dir/racks" job 8 hosts ${#workers[@]} \
		options capacity "$elements" group 64 deadline "${deadline}000" |
		tee "$_dir/placed" | inaconf plan apply -
}

# sums JOB: all workers reduce, and every element is right.
sums()
{
	local i pids=()
	for i in "${!workers[@]}"; do
		spawn "${workers[i]}" "sums-$i.log" ina-perf --job "$1" --rank "$i" --rounds "$more" \
			--timeout $((deadline * 2000)) --workers-expected ${#workers[@]}
		pids+=($!)
	done
	finish "${pids[@]}" || { grep -H . "$_dir"/sums-*.log; return 1; }
}

# added JOB NODE...: each of them has added up contributions
added()
{
	local job=$1 n
	shift
	for n; do at_least "$n" "$job" rx_data 1 || { echo "$n has added nothing" && return 1; }; done
}

# only_child NODE CHILD: of job 8
only_child()
{
	json "[x['addr'] for x in it[0]['children']] == ['${addr[$2]}']" on "$1" inaconf -j tree show job 8
}

# The operator's command: here it enters a namespace, and refuses what the file refuse-NAME has.
# All machines have the same processors, whose load says nothing of one of them.
cat >"$_dir/hook" <<END
#!/bin/bash
name=\${1#at-}
shift 2
if [[ "\$*" == *"plan load" ]]; then
	set -o pipefail
	inaconf -n "ina-$_tag-\$name" -j plan load |
		sed 's/"cpu-pressure":[0-9]*,//; s/^{/{"cpu-pressure":0,/'
	exit
fi
if [[ -e $_dir/refuse-\$name && "\$*" == *"\$(<"$_dir/refuse-\$name")"* ]]; then
	echo "Error: not today" >&2
	exit 1
fi
exec inaconf -n "ina-$_tag-\$name" "\$@"
END
chmod +x "$_dir/hook"

# Frames that nobody takes, for the device that drops them.
cat >"$_dir/flood" <<END
import socket, sys, time
device = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
device.bind(("eth0", 0))
to = bytes.fromhex(sys.argv[1].replace(":", ""))
frame = to + device.getsockname()[4] + b"\x88\xb5" + bytes(46)
while True:
    device.send(frame)
    time.sleep(0.02)
END

flood()
{
	local to
	to=$(json "it[0]['address']" on "$1" ip -j link show dev eth0)
	# Without it the switch forgets in a few minutes where one that sends nothing is.
	on sw bridge fdb replace "$to" dev "p-$1" master static
	spawn root flood.log python3 "$_dir/flood" "$to"
	flood=$!
}

has_job()
{
	on "$1" inaconf job show 7
}

has_no_job()
{
	! has_job "$1"
}

says()
{
	local text=$1
	shift
	"$@" 2>&1 | tee "$_dir/said"
	grep -q -- "$text" "$_dir/said"
}

nothing_differs()
{
	says "nothing differs" inaconf plan diff "$1" hook "$_dir/hook"
}

# The watch has changed the tree twice.
applied_twice()
{
	(($(grep -c '^applied' "$_dir/watch") >= 2))
}

# The hosts right below HOST in the plan.
below()
{
	awk -v up="$1" '$2 == "host:" { host = $3 } $1 == "parent:" && $2 == up { print host }' "$_dir/plan"
}

# The children of the one that is out have all moved, and not all of them up to the root.
planned_anew()
{
	local n parents
	parents=$(for n in $(below "$busy"); do
		json "it[0].get('parent', '${addr[$busy]}') if it else '${addr[$busy]}'" on "$n" inaconf -j tree show job 7 ||
			echo "${addr[$busy]}"
	done)
	! grep -qxF "${addr[$busy]}" <<<"$parents" && grep -qvxF "${addr[root]}" <<<"$parents"
}

# paths NODE: those it has, whatever they have carried
paths()
{
	json "sorted(([x.get(key) for key in ('peer', 'dev', 'src', 'dst', 'sport', 'weight')] for x in it), key=str)" \
		on "$1" inaconf -j path show job 7
}

same_paths()
{
	diff "$_dir/paths-$1" <(paths "$1")
}

json_start
load
switch_add 1500
for n in "${!addr[@]}"; do
	host_add "$n" "${addr[$n]}/24"
	on "$n" inaconf dev add eth0
done
# Then a round takes longer than workers begin apart from each other: there is something to gain.
for n in "${workers[@]}"; do on "$n" inaconf dev set eth0 rate 16mbit; done
topology >"$_dir/topo"
measured >"$_dir/measure"

plan_tree | sed '/parent:/s/: .*/: root/' >"$_dir/first"
ok "first, all workers are right below the root" inaconf plan apply "$_dir/first"
monitor root events
for i in "${!workers[@]}"; do
	# Not as fast as they can: the hooks need the processor, too.
	run "${workers[i]}" "$i" --delay "$((i ? 50 : $(full 50 200)))"
done
ok "rounds run" go_on
ok "they end, and no others begin, if the root is told" held
ok "until that is over" go_on
# On a slow kernel rounds are too small for that.
[[ ${INA_SIZE:-full} != full ]] || clocked "the root has measured them" wait_for 20 measure_rounds
clocked "with that a tree is planned, and applied while they run" plan_and_apply
plan_tree >"$_dir/plan"
# To whom the root hands the work: its children need a better place than the root itself.
busy=$(below root | grep -m1 '^a')
clocked "it has an aggregator" has_job "$busy" || done_testing
ok "the same again: nothing to do" says "nothing to do" inaconf plan apply "$_dir/plan"
ok "rounds go on" go_on

sed "s/where: ina-$_tag-/where: at-/" "$_dir/plan" >"$_dir/remote"
ok "a report is what this machine says" has '"time-ms":[0-9]+.*"memory-used":[0-9]+' \
	<<<"$(inaconf -n "$(ns "$busy")" -j plan load)"
sed "s/where: ina-$_tag-/where: at-/" "$_dir/topo" >"$_dir/remote-topo"
inaconf plan watch "$_dir/remote" topo "$_dir/remote-topo" measure "$_dir/measure" hook "$_dir/hook" \
	timeout 60 interval "$(full 1 4)" hold "$(full 2 5)" >"$_dir/watch" 2>&1 &
watch=$!
_pids+=("$watch")
flood "$busy"
clocked "an aggregator under pressure is taken out" wait_for 60 has_no_job "$busy"
clocked "the tree is planned anew without it" wait_for 60 planned_anew
ok "rounds go on without it" go_on
kill "$flood"
clocked "it is back when the pressure has gone" wait_for 60 has_job "$busy"
clocked "with its children" wait_for 60 applied_twice
ok "rounds go on with it" go_on
kill "$watch"
ok "the watch ends when told to" wait "$watch"

# What follows is about the tool, and takes long on a slow kernel.
if [[ ${INA_SIZE:-full} != full ]]; then
	ok "no round failed" failed_nowhere root "${workers[@]}"
	ok "no sum was wrong" stop_all
	done_testing
fi

# The last of all machines to be told refuses. An operator has paths that are to survive this.
child=${workers[0]}
up=$(awk -v child="$child" '$2 == "host:" { host = $3 } $1 == "parent:" && host == child { print $2 }' "$_dir/plan")
on "$child" inaconf path add job 7 sport 49153 weight 3
on "$child" inaconf path set job 7 id 0 weight 2
on "$up" inaconf path add job 7 peer "${addr[$child]}" sport 49154
for n in "$child" "$up"; do paths "$n" >"$_dir/paths-$n"; done
ok "an operator adds paths" json "len(it) == 2" log "paths-$child"
sed '/parent:/s/: .*/: root/' "$_dir/remote" >"$_dir/flat"
inaconf plan apply "$_dir/flat" hook "$_dir/hook" --dry-run >"$_dir/steps"
last=$(sed -n '$s/^move \(.*\): tree.*/\1/p' "$_dir/steps")
echo "tree set" >"$_dir/refuse-$last"
ok "a machine that refuses: nothing is applied" says "not applied: everything is as it was" \
	inaconf plan apply "$_dir/flat" hook "$_dir/hook"
ok "others had been changed by then" grep -q '^undo ' "$_dir/said"
ok "all is as it was" nothing_differs "$_dir/remote"
ok "with the paths of a worker that had moved" same_paths "$child"
ok "and of the aggregator that had left" same_paths "$up"
ok "rounds go on" go_on
rm "$_dir/refuse-$last"
ok "all workers right below the root" inaconf plan apply "$_dir/flat" hook "$_dir/hook"
ok "the aggregator has ended its part" has_no_job "$busy"
ok "rounds go on" go_on
ok "no round failed" failed_nowhere root "${workers[@]}"
ok "no sum was wrong" stop_all

racks >"$_dir/racks"
ok "a job is placed and applied" place_and_apply
ok "with a tree of its own" grep -qx "#   tree of its own at s" "$_dir/placed"
ok "which is what is configured" nothing_differs "$_dir/placed"
ok "all workers get the right sums" sums 8
ok "through all aggregators" added 8 a0 a1 a2
ok "of which the last one hands them to the root" only_child w0 a2
done_testing
