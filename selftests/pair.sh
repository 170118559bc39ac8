# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# Two workers, on w0 and w1, in job 7. Sourced behind lib.sh, never run.
# shellcheck disable=SC2154,SC2317 # who sources it has elements and rounds; lib.sh has _dir

# start [OPTION...]: both workers
start()
{
	local i
	started=()
	for i in 0 1; do
		spawn "w$i" "w$i.log" ina-perf --job 7 --rank "$i" --elements "$elements" "$@"
		started+=($!)
	done
}

# sums: a few rounds, every element checked
sums()
{
	start --rounds "$rounds"
	finish "${started[@]}" && return
	grep -H . "$_dir"/w[01].log
	return 1
}
