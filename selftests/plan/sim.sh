#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# ina-sim from the outside: words, exit status, traces that are wrong, files it writes, that a
# seed repeats a run and that each switch of the ablation changes what it should. KTAP on
# standard output.
#
#   sim.sh INA-SIM TRACES
set -uo pipefail

sim=$(realpath "$1")
traces=$(realpath "$2")
. "$(dirname "$(readlink -f "$0")")/cases.sh"
# Looking for leaks takes seconds a run: once, at the end.
export ASAN_OPTIONS=detect_leaks=0

# gives STATUS TEXT WORD...: ina-sim exits with STATUS and says TEXT as a line of its errors.
gives()
{
	local status=$1 text=$2
	shift 2
	"$sim" --traces "$traces" "$@" >out 2>err
	[[ $? == "$status" ]] && { [[ ! $text ]] || grep -qxF -- "ina-sim: $text" err; }
}

# refuses TEXT WORD...: exit status 2, this text, and nothing printed.
# shellcheck disable=SC2317 # called by ok
refuses()
{
	gives 2 "$@" && [[ ! -s out ]]
}

# small NAME WORD...: one small trace; NAME.csv without times of the planner.
small()
{
	local name=$1
	shift
	gives 0 "" --fat-tree 8 --jobs 120 --trace 2 --csv all.csv "$@" || return
	cut -d, -f"$(head -1 all.csv | tr , '\n' | grep -vn '^plan_' | cut -d: -f1 | paste -sd,)" \
		all.csv >"$name.csv"
}

# rows FILE PLACEMENT TREES SHARING JOINING: scores and JCTs of these rows; . for either.
rows()
{
	grep "^2,[^,]*,$2,$3,$4,$5," "$1.csv" | cut -d, -f9,11
}

# below A B: so is the first figure of each row
# shellcheck disable=SC2317 # called by ok
below()
{
	awk -F, 'NR == FNR { a[NR] = $1; next } !(FNR in a) || $1 <= a[FNR] { bad = 1 }
		END { exit bad || !FNR }' <(echo "$1") <(echo "$2")
}

# differ, same: what two commands printed.
# shellcheck disable=SC2317 # called by ok
differ()
{
	[[ $1 && $2 && $1 != "$2" ]]
}

# shellcheck disable=SC2317 # called by ok
same()
{
	[[ $1 && $1 == "$2" ]]
}

ok "--help" gives 0 "" --help
ok "--help names every option" [ "$(grep -cE -- '--(jobs|seed|fat-tree|topology|traces|trace|limit|capacity|rate|speedup|latency|round|place|trees|switches|share|alpha|candidates|growth|csv)\b' out)" -ge 20 ]

ok "an option that is unknown" gives 2 "" --nothing
ok "a word that is unknown" refuses "'x': no such word; see ina-sim --help" x
ok "--share" refuses "--share: 'x': expected none or greedy" --share x
ok "--place" refuses "--place: 'x': expected first or best" --place x
ok "--trees" refuses "--trees: 'x': expected first or best" --trees x
ok "--switches" refuses "--switches: 'x': expected every or joining" --switches x
ok "--limit" refuses "--limit: 'x': expected switch or link" --limit x
ok "--jobs" refuses "--jobs: '0': expected an integer from 1 to 1000000" --jobs 0
ok "--fat-tree" refuses "--fat-tree: '5': expected an even number" --fat-tree 5
ok "--rate" refuses "--rate: 'fast': expected a number from 1000 to 1e+15" --rate fast
ok "--round" refuses "--round: '-1': expected a number from 0 to 1e+15" --round -1
ok "--trace" refuses "--trace: 'x': expected 1, 2, 3, 4, 5, 6, 7, 8, 9, 10" --trace x
ok "jobs that are too large" refuses "a job of the traces needs more than the 16 hosts" --fat-tree 4

mkdir bad
ok "a folder that is not there" refuses "none: No such file or directory" --traces none
ok "a folder without models" refuses "bad: no models: expected *.json" --traces bad
cp "$traces/vit-base.json" bad
ok "a folder without histograms" refuses \
	"bad/hosts.json: cannot be read: No such file or directory" --traces bad
printf '{"histograms": [\n{"name": "1", "hosts": [[2, 1], [x, 1]]}]}\n' >bad/hosts.json
ok "histograms: file, line and field" refuses \
	'bad/hosts.json:2: histograms[0].hosts[1][0]: "x" is no whole number' --traces bad
cp "$traces/hosts.json" bad
printf '{"name": "x",\n"step": 1,\n"allreduces": [{"start": 2, "size": 1}]}\n' >bad/x.json
ok "a model: file, line and field" refuses \
	"bad/x.json:3: allreduces[0].start: 2 is not within 0 and 1" --traces bad
printf 'hosts:\n- {name: a, rack: 0, pod: 0}\n- {name: b, rack: 0, pod: 1}\n' >topo.yaml
ok "a topology: file, line and field" refuses \
	'topo.yaml:3: hosts[1].pod: rack 0 is in pod 0 at "a"' --topology topo.yaml

ok "a run" small first --json first.json --svg first.svg --markdown first.md
ok "all variants: 4 of first fits, 8 of trees" [ "$(wc -l <first.csv)" = 13 ]
ok "standard output is what --markdown writes" cmp out first.md
ok "no progress is shown without a terminal" [ ! -s err ]
ok "on a terminal it is: from nothing to all, and gone at the end" python3 - "$sim" "$traces" <<'END'
import os, pty, re, subprocess, sys
here, there = pty.openpty()
run = subprocess.Popen([sys.argv[1], "--traces", sys.argv[2], "--fat-tree", "8", "--jobs", "120",
                        "--trace", "2"], stdout=subprocess.DEVNULL, stderr=there)
os.close(there)
shown = b""
try:
    while more := os.read(here, 4096):
        shown += more
except OSError:  # nobody writes any more
    pass
bars = re.findall(rb"\r\[(#*) *\] +(\d+)%", shown)
percent = [int(n) for _, n in bars]
sys.exit(run.wait() != 0 or len(bars) < 100 or percent != sorted(percent) or percent[0] > 1 or
         percent[-1] != 100 or any(len(bar) != int(n) * 2 // 5 for bar, n in bars if int(n) % 5 == 0) or
         not shown.endswith(b"\r" + 48 * b" " + b"\r"))
END
ok "CSV and JSON say the same" python3 - all.csv first.json <<'END'
import csv, json, sys
rows, runs = list(csv.DictReader(open(sys.argv[1]))), json.load(open(sys.argv[2]))["runs"]
same = len(rows) == len(runs) and all(
    all(float(row[key]) == float(run[key]) for key in row) for row, run in zip(rows, runs))
sys.exit(not same)
END
ok "--svg: well-formed, a bar for each variant, its JCT below" python3 - first.svg first.json <<'END'
import json, sys, xml.dom.minidom as x
svg, runs = x.parse(sys.argv[1]), json.load(open(sys.argv[2]))["runs"]
times = [t.firstChild.data for t in svg.getElementsByTagName("text") if t.hasAttribute("transform")]
sys.exit(len(svg.getElementsByTagName("rect")) != 1 + 12 + 12 or
         times != ["%.3f" % run["jct"] for run in runs])
END
ok "again" small second
ok "the same seed, the same figures" cmp first.csv second.csv
ok "another seed" small second --seed 2
ok "other figures" differ "$(cat first.csv)" "$(cat second.csv)"
while read -r option word place trees share joining; do
	small one "--$option" "$word"
	ok "--$option $word: these variants of the full run, and no others" same \
		"$(rows one . . . .)" "$(rows first "$place" "$trees" "$share" "$joining")"
done <<'END'
place first 0 . . .
place best 1 . . .
trees first . 0 . .
trees best . 1 . .
switches every . . . 0
switches joining . . . 1
END
ok "placement changes the figures" differ "$(rows first 0 1 1 0)" "$(rows first 1 1 1 0)"
ok "trees do" differ "$(rows first 1 0 0 0)" "$(rows first 1 1 1 0)"
ok "sharing does" differ "$(rows first 0 1 0 0)" "$(rows first 0 1 1 0)"
ok "joining switches do" differ "$(rows first 0 1 1 0)" "$(rows first 0 1 1 1)"
small one --share greedy
ok "--share greedy: trees that share" same "$(rows one . 1 . .)" "$(rows first . 1 1 .)"
ok "and first fits, which do not" same "$(rows one . 0 . .)" "$(rows first . 0 0 .)"
small one --share none
ok "--share none: no variant that shares" [ ! "$(rows one . . 1 .)" ]
ok "trees as in the full run" same "$(rows one . 1 0 .)" "$(rows first . 1 0 .)"
ok "first fits are not shared: nothing changes there" same "$(rows one . 0 0 .)" "$(rows first . 0 . .)"
ok "an all-reduce that asks once" small one --round 0
ok "has less of the network where trees are shared" below "$(rows one . 1 1 0)" "$(rows first . 1 1 0)"
ok "and the same with first fits" same "$(rows one . 0 . .)" "$(rows first . 0 . .)"
ok "a limit on links" small one --limit link
ok "changes the figures" differ "$(rows one 0 0 0 0)" "$(rows first 0 0 0 0)"
# growth FILE: figures of the larger fabrics that are not times
growth()
{
	python3 -c 'import json, sys
for g in json.load(open(sys.argv[1]))["growth"]: print(g["hosts"], g["score"], g["jct"])' "$1"
}
ok "larger fabrics" small one --json plain.json --growth=8
ok "with a limit on links" small one --json link.json --growth=8 --limit link
ok "which changes the figures" differ "$(growth plain.json)" "$(growth link.json)"
ok "capacity for all" small one --capacity 1000 --json all.json --growth=8
ok "there, too" grep -q "^128 1 " <(growth all.json)
ok "is a score of 1 everywhere" [ "$(cut -d, -f9 one.csv | sort -u | paste -sd,)" = "1,score" ]

# shellcheck disable=SC2016 # expanded by the inner shell
ok "a full disk is an error" bash -c \
	'! "$1" --traces "$2" --fat-tree 8 --jobs 9 --trace 2 >/dev/full 2>err' - "$sim" "$traces"
echo old >keep.csv
ok "a folder that is not there" gives 1 "none/x.csv.part: No such file or directory" \
	--fat-tree 8 --jobs 9 --trace 2 --csv none/x.csv
ln -s /dev/full keep.csv.part
ok "a file that cannot be written" gives 1 "" --fat-tree 8 --jobs 9 --trace 2 --csv keep.csv
ok "is left as it was" grep -qx old keep.csv

export ASAN_OPTIONS=detect_leaks=1
ok "nothing leaks" gives 0 "" --fat-tree 8 --jobs 50 --trace 2 --csv leak.csv
ok "after bad input, either" gives 2 "" --traces bad

cases_end
