#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Two workers and a root, a few rounds: the shortest way through everything.
#
#   w0 (10.0.0.11) --+
#   w1 (10.0.0.12) --+-- switch -- root (10.0.0.1)
. "$(dirname "$0")/lib.sh"

elements=$(full 100k 5k)

json_start
load
star_add capacity "$elements" deadline 60000

spawn w0 w0.log script -qec "ina-perf --job 7 --rank 0 --rounds 20 --elements $elements" /dev/null
p0=$!
spawn w1 w1.log ina-perf --json --job 7 --rank 1 --rounds 20 --elements "$elements"
p1=$!
ok "two workers sum 20 rounds of $elements elements" finish "$p0" "$p1"
ok "a bar on a terminal tells how far it is" grep -q '\[##*\] 20/20 rounds' "$_dir/w0.log"
n=${elements%k}000
ok "ina-perf tells the same in JSON, with percentiles" json "
	it['job'] == 7 and it['rank'] == 1 and it['workers'] == 2 and it['dtype'] == 'int32' and
	it['elements'] == $n and it['completed'] == 20 and it['failed'] == 0 and it['error'] == '' and
	it['exit'] == 0 and it['verified_elements'] == 20 * $n and it['wrong_elements'] == 0 and
	(lambda us: 0 < us['p50'] <= us['p90'] <= us['p99'] <= us['max'] < 1e6 * it['seconds'])(it['latency_us'])" \
	log w1.log
ok "no round failed" test "$(counter root 7 rounds_failed)" = 0
ns_del w0
ns_del w1
ns_del root
ok "the module unloads" wait_for 10 unload
done_testing
