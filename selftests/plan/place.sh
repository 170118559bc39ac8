#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# inaconf plan place from the outside: jobs come one by one, and what is printed is applied to machines
# that are scripts (fakehost.sh). KTAP on standard output.
#
#   place.sh INACONF
#
#     b0--s0        s1--b1        s0 joins l0, l1 and l2, s1 only l0 and l1; a0, b0, ... aggregate
#        /| \______/|
#   a0--l0 l1--a1   l2--a2        l0: n1 n2   l1: n3 n4   l2: n5 n6 n7
# shellcheck disable=SC2016,SC2317 # ok calls the functions, inner shells expand
set -uo pipefail

inaconf=$1
here=$(dirname "$(readlink -f "$0")")
. "$here/cases.sh"
export INA_FAKE=$tmp/fake
mkdir fake

# place STATUS WORD...: plan place exits with STATUS.
place()
{
	local status=$1
	shift
	"$inaconf" plan place topo topo.yaml "$@" >out 2>err
	[[ $? == "$status" ]]
}

refuses()
{
	place 2 "${@:2}" && [[ ! -s out && $(<err) == "Error: $1" ]]
}

# says LINE...: the remarks on top of the plan.
says()
{
	[[ $(grep '^#' out) == "$(printf '%s\n' "$@")" ]]
}

holds()
{
	jq -e "$1" out >/dev/null
}

applied()
{
	"$inaconf" plan "$@" hook "$here/fakehost.sh" >applied 2>&1
}

{
	echo "hosts:"
	for i in 1 2 3 4 5 6 7; do
		rack=$((i < 7 ? (i - 1) / 2 : 2))
		echo "- {name: n$i, addr: 10.0.0.$i, rack: $rack, nics: [{to: l$rack, rate: 10G}]}"
	done
	for i in 0 1 2; do
		echo "- {name: a$i, addr: 10.0.1.$i, rack: $i, nics: [{to: l$i, rate: 40G}]}"
	done
	for i in 0 1; do
		echo "- {name: b$i, addr: 10.0.2.$i, nics: [{to: s$i, rate: 40G}]}"
	done
	echo "switches:"
	for i in 0 1 2; do
		echo "- {name: l$i, rack: $i, aggregator: a$i}"
	done
	echo "- {name: s0, level: 2, aggregator: b0}"
	echo "- {name: s1, level: 2, aggregator: b1}"
	echo "links:"
	for ends in l0,s0 l1,s0 l2,s0 l0,s1 l1,s1; do
		echo "- {between: [$ends], rate: 40G}"
	done
} >topo.yaml
cat >now.yaml <<'END'
jobs:
- {id: 1, options: {capacity: 1k}, tree: [{host: n6, addr: 10.0.0.6, workers: 1}, {host: b0, addr: 10.0.2.0, parent: n6},
   {host: n1, addr: 10.0.0.1, parent: b0, workers: 2},
   {host: n3, addr: 10.0.0.3, parent: b0, workers: 1}]}
- {id: 5, options: {capacity: 1k}, tree: [{host: n7, addr: 10.0.0.7, workers: 1}]}
END
cat >direct.yaml <<'END'
jobs:
- {id: 1, options: {capacity: 1k}, tree: [{host: n6, addr: 10.0.0.6, workers: 1}, {host: b0, addr: 10.0.2.0, parent: n6, workers: 0},
   {host: n1, addr: 10.0.0.1, parent: n6, workers: 2},
   {host: n3, addr: 10.0.0.3, parent: n6, workers: 1}]}
END
new=(job 2 hosts 3 size 4M)

ok "the first job" place 0 job 1 hosts 3 workers 2 options capacity 1k dtype bf16
ok "a rack, and its aggregator" says "# fragments: score 2" \
	"# trees of their own: 1, at most 1; moved: 0; optimal" "# job 1: n5 n6 n7" "#   tree of its own at l2"
ok "options and workers are in the plan" bash -c \
	'grep -q "options: {capacity: 1k, dtype: bf16}" out && [[ $(grep -c "workers: 2" out) == 3 ]]'
ok "what runs is applied" applied apply now.yaml
touch fake/n{1,3,6}/attached-1
ok "the root alone sums, while workers are attached" applied apply direct.yaml
ok "it gets a tree" bash -c '"$1" plan place topo topo.yaml running direct.yaml >own.yaml &&
	grep -qx "#   tree of its own at s[01]" own.yaml' - "$inaconf"
ok "while they are" applied apply own.yaml
ok "and the one it had" applied apply now.yaml from own.yaml
ok "a job that only s0 can join" place 0 running now.yaml "${new[@]}"
ok "another tree moves for it" says "# fragments: score 3" \
	"# trees of their own: 2, at most 2; moved: 1; optimal" \
	"# job 1: n6 n1 n3" "#   tree of its own at s1; moved" \
	"# job 2: n2 n4 n5" "#   tree of its own at s0" "# job 5: n7" "#   needs no aggregator; its first machine sums"
ok "what is printed can be applied while workers are attached" bash -c \
	'"$1" plan place topo topo.yaml running now.yaml job 2 hosts 3 size 4M |
	 "$1" plan apply - hook "$2/fakehost.sh" >applied 2>&1' - "$inaconf" "$here"
cp out next.yaml
ok "then nothing differs" bash -c '"$1" plan diff next.yaml hook "$2/fakehost.sh" >diff &&
	! grep -q "tree set" diff' - "$inaconf" "$here"
ok "and b0 sums for job 2 alone" bash -c 'grep -q "10.0.0.5" "$1/b0/tree-2" && [[ ! -e $1/b0/tree-1 ]]' - "$INA_FAKE"
ok "planned again, nothing moves" bash -c '"$1" plan place topo topo.yaml running next.yaml >again &&
	[[ $(grep -v "^#" again) == "$(grep -v "^#" next.yaml)" ]]' - "$inaconf"
sed 's/n7/x/' now.yaml >strange.yaml
ok "a tree that is not ours" place 0 running strange.yaml
ok "stays" says "# trees of their own: 1, at most 1; moved: 0; optimal" \
	"# job 1: n6 n1 n3" "#   tree of its own at s0" "# job 5: x" "#   not a tree of plan place: stays"
sed 's/b0/b1/;s/parent: b0/parent: b1/g;s/10.0.2.0/10.0.2.1/' now.yaml >b1.yaml
sed 's/{host: n7, addr: 10.0.0.7, workers: 1}/{host: b0, addr: 10.0.2.0}, {host: n7, addr: 10.0.0.7, parent: b0, workers: 1}/' \
	b1.yaml >full.yaml
ok "what a tree that is not ours takes is taken" place 0 running full.yaml "${new[@]}"
ok "the new job waits" grep -qx "#   no tree of its own fits; its first machine sums" out
ok "without an aggregator" bash -c '! grep -A3 "^- id: 2" out | grep -q "host: b"'
# n2 sends to a2: over the link of l0 and s0, where the tree of job 1 is.
sed 's/{host: n7, addr: 10.0.0.7, workers: 1}/{host: a2, addr: 10.0.1.2}, {host: n2, addr: 10.0.0.2, parent: a2, workers: 1}/' \
	now.yaml >crossing.yaml
cp topo.yaml good.yaml
ok "a link that a tree that is not ours crosses" place 0 running crossing.yaml
ok "is enough for both, without a limit" grep -qx "#   tree of its own at s0" out
sed '/l0,s0/s/rate: 40G/&, capacity: 1/' good.yaml >topo.yaml
ok "with one, a running tree" place 0 running crossing.yaml
ok "moves" says "# trees of their own: 1, at most 1; moved: 1; optimal" "# job 1: n6 n1 n3" \
	"#   tree of its own at s1; moved" "# job 5: n2" "#   not a tree of plan place: stays"
sed -i '/name: s1/s/, aggregator: b1//' topo.yaml
ok "without another place" place 0 running crossing.yaml
ok "it is lost" says "# trees of their own: 0, at most 0; moved: 1; optimal" "# job 1: n6 n1 n3" \
	"#   no tree of its own fits; its first machine sums; moved" "# job 5: n2" \
	"#   not a tree of plan place: stays"
ok "and what sums for it gives it up" bash -c '[[ $(grep -c "parent: n6" out) == 3 ]] && ! grep -q "parent: b0" out'
mv good.yaml topo.yaml
ok "-j" bash -c '"$1" -j plan place topo topo.yaml running now.yaml job 2 hosts 3 size 4M >out' - "$inaconf"
ok "-j: the same" holds '.own == 2 and .bound == 2 and .moved == 1 and .optimal and .score == 3 and
	.jobs[0] == {job: 1, hosts: ["n6", "n1", "n3"], tree: "own", root: "s1", moved: true}'
ok "too many machines" place 1 running now.yaml job 2 hosts 4 size 1
ok "is said" grep -qx "Error: topo.yaml: job 2 needs 4 machines, 3 are free" err
ok "a job that runs" refuses "job 1 runs already" running now.yaml job 1 hosts 1 size 1
mv topo.yaml good.yaml
sed 's/ {host: b0[^}]*},//' direct.yaml >waits.yaml
for addr in 'addr: "fd00::2",' ''; do
	sed "/name: b0/s/addr: 10.0.2.0,/$addr/" good.yaml >topo.yaml
	ok "an aggregator with ${addr:-no address}" place 0 running waits.yaml
	ok "is passed over" grep -qx "#   tree of its own at s1" out
	ok "also if no other joins the machines" place 0 running b1.yaml "${new[@]}"
	ok "and their first sums" grep -qx "#   no aggregators join its machines; its first machine sums" out
	ok "an address of the plan counts" place 0 running now.yaml
	ok "more than that of the topology" grep -qx "#   tree of its own at s0" out
done
sed '/name: n[24]/s/10.0.0.\([24]\)/"fd00::\1"/' good.yaml >topo.yaml
ok "machines of one family" place 0 running now.yaml job 2 hosts 2 size 1
ok "are taken" grep -qx "# job 2: n2 n4" out
sed '/name: n2/s/10.0.0.2/"fd00::2"/' good.yaml >topo.yaml
ok "of the one that has enough" place 0 running now.yaml job 2 hosts 2 size 1
ok "not one of each" grep -qx "# job 2: n4 n5" out
{
	echo "- {name: z, addr: 10.9.9.9, rack: 9}"
	sed '1d; /name: n[136]/s/10.0.0.\([136]\)/"fd00::\1"/; /name: b1/s/10.0.2.1/"fd00::b"/' good.yaml
} | sed '1i hosts:' >topo.yaml
sed 's/addr: [^,]*, //g' waits.yaml >bare.yaml
ok "a job whose plan has no addresses" place 0 running bare.yaml
ok "has those of the topology" grep -qx "#   tree of its own at s1" out
sed 's/parent: n6, workers: 2/&}, {host: b1, parent: n6, workers: 0/' bare.yaml >left.yaml
ok "an aggregator that it had" place 0 running left.yaml
ok "gets its address, too" bash -c 'grep -A 1 "host: b1" out | grep -q "fd00::b"'
{
	echo "hosts:"
	for host in a:1:10.0.0.1 b:1:fd00::1 g:2:10.0.0.2 h:2:10.0.0.3 f:3:fd00::2 i:4:10.0.0.4 j:4:10.0.0.5; do
		IFS=: read -r name rack addr <<<"$host"
		echo "- {name: $name, rack: $rack, addr: \"$addr\"}"
	done
} >topo.yaml
ok "two families with enough machines" place 0 job 2 hosts 2 size 1
ok "the one with fewer fragments" grep -qx "# job 2: g h" out
ok "of all that are free" grep -qx "# fragments: score 2.5" out
sed '/name: n2/s/10.0.0.2/"fd00::2"/' good.yaml >topo.yaml
ok "neither has enough" place 1 running now.yaml "${new[@]}"
ok "is said" grep -qxF "Error: topo.yaml:5: job 2: n4 has an IPv4 address (10.0.0.4), n2 an IPv6 one (fd00::2): \
a tree has one family, and no 3 machines of one are free: ask for fewer hosts, or change addr" err
mv good.yaml topo.yaml
ok "no hosts" refuses "hosts is required: how many machines the job needs" job 1 size 1
ok "no job" refuses "job is required" hosts 1
ok "workers, but no job" refuses "job is required" running now.yaml workers 3
sed 's/\(name: n[245]\),/\1, capacity: 0,/' topo.yaml >good.yaml
mv topo.yaml all.yaml
mv good.yaml topo.yaml
ok "machines that may not sum" place 1 running now.yaml "${new[@]}"
ok "are said" grep -qx "Error: topo.yaml:3: job 2: n2 and its 2 other machines have no capacity to sum" err
sed 's/\(name: n2\),/\1, capacity: 0,/' all.yaml >topo.yaml
ok "who may not sum is not the root" bash -c '"$1" plan place topo topo.yaml running now.yaml job 2 hosts 3 size 4M |
	grep -qx "# job 2: n4 n2 n5"' - "$inaconf"
mv all.yaml topo.yaml
ok "nothing" refuses "job or running is required"
ok "no capacity" refuses "capacity is required" job 1 hosts 2
ok "a bad plan" refuses "none: cannot be read: No such file or directory" running none
sed 's/aggregator: a1/aggregator: a0/' topo.yaml >two.yaml
mv topo.yaml good.yaml
mv two.yaml topo.yaml
ok "an aggregator of two switches" refuses \
	'topo.yaml:16: switches[1].aggregator: "a0" aggregates for "l0"' "${new[@]}"
sed 's/aggregator: a1/aggregator: a1, capacity: 2/' good.yaml >topo.yaml
ok "two capacities" refuses \
	'topo.yaml:16: switches[1].capacity: a switch with an aggregator has its capacity' "${new[@]}"
sed 's/aggregator: a1/aggregator: s0/' good.yaml >topo.yaml
ok "an aggregator that is no host" refuses 'topo.yaml:16: switches[1].aggregator: no host "s0"' "${new[@]}"

# large LEAVES SPINES JOBS: links with one unit, and jobs that wait on three racks each.
large()
{
	local i k r seed=1
	{
		echo "hosts:"
		for ((i = 0; i < $1; i++)); do
			for ((k = 0; k < $3; k++)); do
				echo "- {name: h$i-$k, rack: $i, nics: [{to: l$i, rate: 1G}]}"
			done
			echo "- {name: a$i, capacity: 99}"
		done
		for ((i = 0; i < $2; i++)); do
			echo "- {name: b$i, capacity: 99}"
		done
		echo "switches:"
		for ((i = 0; i < $1; i++)); do
			echo "- {name: l$i, level: 1, rack: $i, aggregator: a$i}"
		done
		for ((i = 0; i < $2; i++)); do
			echo "- {name: s$i, level: 2, aggregator: b$i}"
		done
		echo "links:"
		for ((i = 0; i < $1 * $2; i++)); do
			echo "- {between: [l$((i / $2)), s$((i % $2))], rate: 1G, capacity: 1}"
		done
	} >topo.yaml
	echo "jobs:" >large.yaml
	for ((i = 0; i < $3; i++)); do
		seed=$(((seed * 1103515245 + 12345) & 0x7fffffff))
		r=($((seed / 65536 % ($1 - 2))))
		r+=($((r[0] + 1 + seed / 1024 % ($1 - r[0] - 2))))
		r+=($((r[1] + 1 + seed / 4096 % ($1 - r[1] - 1))))
		echo "- {id: $i, options: {capacity: 1}, tree: [{host: h${r[0]}-$i, workers: 1},
   {host: h${r[1]}-$i, parent: h${r[0]}-$i, workers: 1}, {host: h${r[2]}-$i, parent: h${r[0]}-$i, workers: 1}]}"
	done >>large.yaml
}
large 20 6 60
ok "a large case" place 0 running large.yaml
ok "says how far it may be from the best" grep -qE \
	'^# trees of their own: [0-9]+, at most [0-9]+; moved: 0; not proven optimal$' out

cases_end
