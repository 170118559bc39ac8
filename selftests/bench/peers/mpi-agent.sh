#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What mpirun takes for ssh: the host is an address 10.0.0.1N, its namespace that of
# worker N. BENCH_NS is what the names of all namespaces begin with. Each has a folder of
# its own for files, below BENCH_TMP, as each host would.
node=w${1#10.0.0.1}
shift
TMPDIR=$BENCH_TMP/$node
export TMPDIR
mkdir -p "$TMPDIR" && exec ip netns exec "$BENCH_NS$node" sh -c "$*"
