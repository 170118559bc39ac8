#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# inaconf topo, plan tree and plan load from the outside: words, exit status, what is printed and
# what is not. KTAP on standard output.
#
#   tool.sh INACONF
set -uo pipefail

inaconf=$1
. "$(dirname "$(readlink -f "$0")")/cases.sh"

# gives STATUS TEXT WORD...: inaconf exits with STATUS and says TEXT as a line of its errors.
gives()
{
	local status=$1 text=$2
	shift 2
	"$inaconf" "$@" >out 2>err
	[[ $? == "$status" ]] && { [[ ! $text ]] || grep -qxF -- "$text" err; }
}

# refuses TEXT WORD...: exit status 2, this text, and nothing printed.
# shellcheck disable=SC2317 # called by ok
refuses()
{
	gives 2 "Error: $1" "${@:2}" && [[ ! -s out ]]
}

# holds FILTER: the JSON that was printed satisfies it.
# shellcheck disable=SC2317 # called by ok
holds()
{
	jq -e "$1" out >/dev/null
}

cat >topo.yaml <<'END'
hosts:
  - {name: ps, addr: 10.0.0.100, cores: 8, idle-cores: 8, memory: 64G, nics: [{to: l0, rate: 25G}]}
  - {name: w0, addr: 10.0.0.1, cores: 8, memory: 64G, nics: [{to: l0, rate: 25G}]}
  - {name: w1, addr: 10.0.0.2, cores: 8, memory: 64G, nics: [{to: l0, rate: 25G}]}
  - {name: w2, addr: 10.0.0.3, cores: 8, memory: 64G, nics: [{to: l0, rate: 25G}]}
  - {name: w3, addr: 10.0.0.4, where: far, cores: 8, memory: 64G, nics: [{to: l0, rate: 25G}]}
  - {name: a0, addr: 10.0.0.5, cores: 8, idle-cores: 8, memory: 64G, nics: [{to: l0, rate: 50G}]}
  - {name: a1, addr: 10.0.0.6, cores: 8, idle-cores: 8, memory: 64G, nics: [{to: l0, rate: 50G}]}
  - {name: full, cores: 8, idle-cores: 8, memory: 64G, used-memory: 60G,
     nics: [{to: l0, rate: 75G}]}
switches:
  - {name: l0, capacity: 1}
END
cat >measure.yaml <<'END'
size: 1G
workers:
  - {host: w0, t1: 0.5, t2: 0.5}
  - {host: w1, t1: 0.5, t2: 0.5}
  - {host: w2, t1: 0.5, t2: 0.5, workers: 2}
  - {host: w3, t1: 0.5, t2: 0.6}
END
sed 's/t2: 0.[56]/t2: 0.05/' measure.yaml >calm.yaml
cat >stats.json <<'END'
[{"job":7,"children":[{"addr":"10.0.0.1","late_ns":5,"first_ns":0,"last_ns":300000000,"request":125000000,"rate":100000000,"lost":0,"lost_round":0,"round":9},
{"addr":"10.0.0.2","late_ns":0,"first_ns":100000000,"last_ns":400000000}]}]
END

tree=(plan tree topo topo.yaml measure measure.yaml root ps job 7)

ok "topo show prints hosts, switches and links" gives 0 "" topo show topo.yaml
ok "a host" grep -qx "host w3 addr 10.0.0.4 where far cores 8 memory 59.6 GiB capacity 1" out
ok "a link" grep -qx "link a0 l0 rate 50G" out
"$inaconf" topo write topo.yaml >first.yaml
"$inaconf" topo write first.yaml >second.yaml
ok "topo write: what is written reads the same" cmp first.yaml second.yaml
"$inaconf" -j topo show topo.yaml >first.json
"$inaconf" topo write first.json >third.yaml
ok "-j topo show is a topology file, too" cmp first.yaml third.yaml
"$inaconf" topo write fat-tree 4 rate 25G latency 2e-6 >fat.yaml
ok "topo write fat-tree" gives 0 "" topo show fat.yaml
ok "16 hosts, 20 switches, 48 links" \
	[ "$(cut -d' ' -f1 out | sort | uniq -c | xargs)" = "16 host 48 link 20 switch" ]
ok "topo show leaf-spine" gives 0 "" topo show leaf-spine 2 2 3 rate 10G spine-rate 40G
ok "spine-rate" grep -qx "link l0 s0 rate 40G latency 1e-06" out
echo "SwitchName=s Nodes=n[1-2]" >topology.conf
ok "topo show slurm" gives 0 "" topo show slurm topology.conf rate 1G
ok "slurm: a link" grep -qx "link n1 s rate 1G latency 1e-06" out
ok "--svg" gives 0 "" topo show topo.yaml --svg
ok "--svg: well-formed, 9 nodes, 8 links" python3 - out <<'END'
import sys, xml.dom.minidom as x
d = x.parse(sys.argv[1])
sys.exit(len(d.getElementsByTagName("rect")) != 9 or len(d.getElementsByTagName("line")) != 8)
END
ok "--dot" gives 0 "" topo show topo.yaml --dot
ok "--dot: a link" grep -qF '"a0" -- "l0" [label="50G"];' out
ok "help" gives 0 "" topo help
ok "a word that is unknown" refuses 'unknown word "rat"; known: rate, latency, --dot, --svg' \
	topo show fat-tree 4 rat 1G
ok "a word that a file does not take" refuses 'unknown word "rate"; known: --dot, --svg' \
	topo show topo.yaml rate 1G
ok "a command that is unknown" refuses 'unknown command "draw"; known: show, write, help' topo draw
ok "no source" refuses "a source is needed: a file, or file, slurm, fat-tree, leaf-spine" topo show
ok "an odd degree" refuses "fat-tree: the degree must be even, 2 to 256" topo show fat-tree 3
ok "no number" refuses 'fat-tree: "x" is not a number from 1 to 16777216' topo show fat-tree x
ok "too few numbers" refuses \
	"leaf-spine needs numbers of leaves, spines and hosts at a leaf" topo show leaf-spine 2 2
ok "--dot and --svg" refuses "--dot, --svg and -j exclude each other" topo show topo.yaml --dot --svg
ok "a file that is not there" refuses "none: cannot be read: No such file or directory" topo show none
echo "hosts: [{name: a, cores: x}]" >bad.yaml
ok "file, line and field" refuses \
	'bad.yaml:1: hosts[0].cores: "x" is no number; k, M, G, T, Ki, Mi, Gi, Ti may follow' topo show bad.yaml
# shellcheck disable=SC2016 # expanded by the inner shell
ok "a full disk is an error" bash -c '! "$1" topo write fat-tree 8 >/dev/full 2>err' - "$inaconf"

ok "plan tree writes a plan" gives 0 "" "${tree[@]}"
ok "with what is expected of it" grep -qE \
	'^# predicted step: direct [0-9.]+ s, XAgg \(k [2-5]\) [0-9.]+ s, this plan [0-9.]+ s$' out
ok "the capacity holds the gradient" grep -q "options: {capacity: 250000000}" out
ok "all workers are there" [ "$(grep -c 'workers: [1-9]' out)" = 4 ]
ok "a machine that is full is not" bash -c '! grep -q full out'
cp out plan.yaml
gives 0 "" "${tree[@]}" seed 1 && ok "the same seed, the same plan" cmp out plan.yaml
ok "-j" gives 0 "" -j "${tree[@]}"
ok "-j: ours is not longer than the others" holds \
	'.predicted | .plan <= .direct and .plan <= .xagg and .plan < .direct * 0.99'
ok "--dot" gives 0 "" "${tree[@]}" --dot
ok "--dot: edges to the root" grep -q -- '-> "ps" \[label=' out
ok "options are checked as job add checks them" gives 0 "" "${tree[@]}" options dtype bf16 depth 2
ok "options are in the plan" grep -q "options: {capacity: 500000000, dtype: bf16, depth: 2}" out
ok "options: a bad word" refuses \
	'unknown dtype "x"; known: int32, fp32, bf16, fixed' "${tree[@]}" options dtype x
ok "statistics of the module" gives 0 "" plan tree topo topo.yaml measure stats.json root ps \
	job 7 step 1 size 1G
ok "statistics: two machines with workers" [ "$(grep -c 'workers: 1' out)" = 2 ]
ok "statistics need the length of a step" refuses \
	"stats.json:1: statistics do not tell how long a step is: step SECONDS is required" \
	plan tree topo topo.yaml measure stats.json root ps job 7 size 1G
ok "statistics: a step that is too short" refuses \
	"stats.json:1: the last round took 0.4 s, longer than a step of 0.3 s" \
	plan tree topo topo.yaml measure stats.json root ps job 7 size 1G step 0.3

cat >running.yaml <<'END'
jobs:
- {id: 3, options: {capacity: 1k}, tree: [{host: a0}, {host: x, parent: a0, workers: 1}, {host: a1, parent: a0, workers: 1}]}
END
gives 0 "" "${tree[@]}"
ok "a0 aggregates" grep -q "parent: a0" out
ok "running jobs" gives 0 "" "${tree[@]}" running running.yaml
ok "running: a machine whose capacity is taken does not aggregate" bash -c '! grep -q "parent: a0" out'
ok "running: one that only has workers does" grep -q "parent: a1" out
sed 's/a0/ps/g' running.yaml >root.yaml
ok "running: nor is it the root" refuses "topo.yaml:2: ps: may not be the root: no capacity is left" \
	"${tree[@]}" running root.yaml
sed 's/id: 3/id: 7/' root.yaml >self.yaml
ok "running: the job itself does not count" gives 0 "" "${tree[@]}" running self.yaml
ok "running: only one is standard input" refuses \
	"only one of topo, measure and running can be standard input" \
	plan tree topo topo.yaml measure - root ps job 7 running -

calm=("${tree[@]}")
calm[5]=calm.yaml
for more in "" --dot; do
	# shellcheck disable=SC2086 # none or one word
	ok "below 10 % communication: said so${more:+, with $more}" gives 0 \
		"communication is 9.1 % of a step, below 10 %: no tree is planned" "${calm[@]}" $more
	ok "and no plan${more:+, with $more}" [ ! -s out ]
done
sed 's/t1: 0.5, t2: 0.[56]/t1: 0.9, t2: 0.1/' measure.yaml >edge.yaml
calm[5]=edge.yaml
ok "10 % communication" gives 0 "" "${calm[@]}"
ok "is planned" grep -q "^jobs:" out
calm[5]=calm.yaml
ok "below 10 %: -j" gives 0 "" -j "${calm[@]}"
ok "below 10 %: not planned" holds '.planned == false and (has("tree") | not)'

ok "what is missing" refuses "measure is required" plan tree topo topo.yaml
ok "a root that is not there" refuses 'root: no host "x" in topo.yaml' \
	plan tree topo topo.yaml measure measure.yaml root x job 7
ok "a switch as root" refuses "topo.yaml:12: l0: a switch cannot be the root" \
	plan tree topo topo.yaml measure measure.yaml root l0 job 7
ok "a word twice" refuses "job is given twice" "${tree[@]}" job 8
sed '/name: w2/s/l0, rate: 25G/l0, rate: 25G, used: 25G/' topo.yaml >busy.yaml
ok "a worker without idle bandwidth" refuses "busy.yaml:5: w2: no idle bandwidth" \
	plan tree topo busy.yaml measure measure.yaml root ps job 7
ok "and the topology from standard input" refuses "standard input:5: w2: no idle bandwidth" \
	plan tree topo - measure measure.yaml root ps job 7 <busy.yaml
sed '/name: w2/s/l0/l1/;$s/$/\n  - {name: l1}/' topo.yaml >apart.yaml
ok "a worker that no way leads to" refuses "apart.yaml:5: w2: no way leads from here to the root" \
	plan tree topo apart.yaml measure measure.yaml root ps job 7
sed 's/10.0.0.1"/10.0.0.9"/' stats.json >far.json
ok "statistics: an address that is not there" refuses \
	"far.json:1: [0].children[0].addr: no host has the address 10.0.0.9 in topo.yaml" \
	plan tree topo topo.yaml measure far.json root ps job 7 step 1 size 1G
sed '/name: w2/s/10.0.0.3/"fd00::3"/' topo.yaml >six.yaml
ok "IPv4 and IPv6 in one tree" refuses \
	"six.yaml:5: w2 has an IPv6 address (fd00::3), ps an IPv4 one (10.0.0.100): a tree has one family" \
	plan tree topo six.yaml measure measure.yaml root ps job 7
sed '/name: a0/s/10.0.0.5/"fd00::5"/;/name: a1/s/10.0.0.6/"::ffff:10.0.0.6"/' topo.yaml >six.yaml
ok "a server of the other family" gives 0 "" plan tree topo six.yaml measure measure.yaml root ps job 7
ok "does not aggregate" bash -c 'grep -q "parent: a1" out && ! grep -q "parent: a0" out'
sed 's/w3/w9/' measure.yaml >bad.yaml
ok "a worker that is not there" refuses 'bad.yaml:6: workers[3].host: no host "w9" in topo.yaml' \
	plan tree topo topo.yaml measure bad.yaml root ps job 7
sed 's/w3/w2/' measure.yaml >bad.yaml
ok "a worker twice" refuses 'bad.yaml:6: workers[3]: "w2" is there twice' \
	plan tree topo topo.yaml measure bad.yaml root ps job 7
sed 's/size: 1G//' measure.yaml >bad.yaml
ok "no size" refuses "size is required: bad.yaml does not say it" \
	plan tree topo topo.yaml measure bad.yaml root ps job 7
ok "plan alone" gives 2 "" plan

# pressure: of the last ten seconds, as the kernel tells it, rounded; nothing if it does not
# shellcheck disable=SC2317 # called by ok
pressure()
{
	[[ ! -e /proc/pressure/cpu ]] ||
		awk '/^some/ { sub(/.*avg10=/, ""); printf "%.0f\n", $1 }' /proc/pressure/cpu
}

# A report says it, as it was just before or just after, in one of five attempts: it changes every two seconds.
# shellcheck disable=SC2317 # called by ok
reports_pressure()
{
	local before after said i
	for ((i = 0; i < 5; i++)); do
		before=$(pressure)
		gives 0 "" -j plan load || return
		after=$(pressure)
		said=$(jq -r '."cpu-pressure" // empty' out)
		[[ $before && $said ]] || { [[ ! $before && ! $said ]]; return; }
		((said < (before < after ? before : after) - 1 || said > (before > after ? before : after) + 1)) || return 0
	done
	return 1
}
ok "a report: the pressure that the kernel tells" reports_pressure

cases_end
