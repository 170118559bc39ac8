#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What mpirun takes for ssh: the host is an address 10.0.0.1N, its namespace that of
# worker N. BENCH_NS is what the names of all namespaces begin with.
host=$1
shift
exec ip netns exec "${BENCH_NS}w${host#10.0.0.1}" sh -c "$*"
