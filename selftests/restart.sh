#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A real kernel dies under traffic, comes back and takes its place again: the aggregator is
# a machine of its own, which is killed without a word and then reboots by itself. No round
# fails, no sum is wrong. Both VMs run this file, see vm/two.sh.
#
#   VM 1, namespaces                  VM 2
#   w0, w1 --+                        (no namespaces)
#   w2 ------+-- bridge -- device --- device, agg
#   root ----+
#
#   tree: w0, w1 --- agg --+-- root
#         w2 --------------+
# shellcheck disable=SC2317 # ok calls the functions
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/rounds.sh"

# A round in flight waits for an emulated machine to boot, or to be booted once more.
deadline=600
elements=$(full 20000 5000)
more=$(full 20 5)
declare -A addr=([root]=10.0.0.1 [agg]=10.0.0.2 [w0]=10.0.0.10 [w1]=10.0.0.11
	[w2]=10.0.0.12)

# The device of the link between the VMs, whatever it was named.
link()
{
	basename "$(echo /sys/bus/virtio/drivers/virtio_net/virtio*/net/*)"
}

# VM 1
# ----

# order WORD: have it done to VM 2.
order()
{
	echo "$1" >"$INA_RESULTS/order"
}

# lose WORD: the same; returns when VM 2 is lost.
lose()
{
	order "$1"
	wait_for 60 test ! -e "$INA_RESULTS/order"
}

# kernels N: so many kernels have been the aggregator.
kernels()
{
	(($(sort -u "$INA_RESULTS"/vm2-*/boot_id | wc -l) == $1))
}

# epochs N: the root has opened at least so many.
epochs()
{
	(($(grep -c 'opened: 3 workers' "$_dir/events") >= $1))
}

workers_and_root()
{
	local n how deaths=(kill crash)
	[[ ${INA_SIZE:-full} == full ]] || deaths=(kill)
	load
	switch_add 1500
	ip link set "$(link)" netns "$(ns sw)" name eth0
	on sw ip link set eth0 master bridge0 up
	for n in root w0 w1 w2; do
		host_add $n "${addr[$n]}/24"
		on $n inaconf dev add eth0
		job_add $n
	done
	tree root - agg w2
	tree w0 agg
	tree w1 agg
	tree w2 root
	monitor root events
	for n in 0 1 2; do
		run w$n $n
	done

	ok "rounds run through another machine" go_on || return
	for how in "${deaths[@]}"; do
		ok "its kernel dies while they run: $how" lose "$how" || return
		ok "it has booted, and they go on" go_on || return
	done
	ok "each time it was another kernel" kernels $((${#deaths[@]} + 1))
	ok "the root opened an epoch for each" epochs $((${#deaths[@]} + 1))
	ok "no round failed" failed_nowhere root w0 w1 w2
	ok "all workers end with right sums" stop_all
	order end
}

# VM 2
# ----

aggregator()
{
	local dev word
	# This machine is the node.
	on()
	{
		shift
		"$@"
	}
	dev=$(link)
	load
	ip addr add "${addr[agg]}/24" dev "$dev"
	ip link set "$dev" up
	inaconf dev add "$dev"
	job_add agg
	cat /proc/sys/kernel/random/boot_id >"$INA_RESULTS/boot_id"
	ok "VM 2 takes its place" tree agg root w0 w1
	until read -r word 2>/dev/null <"$INA_RESULTS/order"; do
		sleep 0.3
	done
	[[ $word != crash ]] || echo b >/proc/sysrq-trigger
	ok "its module unloads" unload
}

case ${INA_VM:-} in
1) workers_and_root ;;
2) aggregator ;;
*) echo "# SKIP it is for two VMs: vm/two.sh" && exit 4 ;;
esac
done_testing
