#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Boot two VMs that are joined by a link and run one test in both; INA_VM, 1 or 2,
# tells it where it is. VM 2 is there to be lost and to be booted again.
#
#   two.sh --name RUN [OPTION of run.sh]... TEST
#
# The test in VM 1 orders what happens to VM 2 by a word in the file `order` of its
# results. When VM 2 was lost, the file goes and VM 2 is booted again:
#   kill     QEMU is killed
#   crash    goes to the test in VM 2, which ends its kernel
#   end      goes to the test in VM 2, which ends; VM 2 stays off, the file stays
#
# Results: build/results/RUN/ of VM 1, with the verdict of both; vm2-N/ in it has those
# of the Nth boot of VM 2. A VM 2 that ends without an order has failed.
set -euo pipefail
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/splats.sh"

here=$(cd "$(dirname "$0")" && pwd)
[[ ${1:-} == --name && $# -ge 3 ]] || die "usage: two.sh --name RUN [OPTION]... TEST"
name=$2 test=${!#}
options=("${@:3:$#-3}")
results=$INA_BUILD/results/$name
end_limit=600
# The link is a pair of UDP sockets: like a cable, it does not hold up a sender whose
# packets nobody takes. An address of our own needs no search for a free port.
net=127.$((RANDOM % 254 + 1)).$((RANDOM % 254 + 1))
pid1='' pid2='' boots=0 order='' peer=''

# two_run VM RUN OPTION...: run the test in this VM.
two_run()
{
	local vm=$1 run=$2
	shift 2
	INA_VM=$vm exec "$here/run.sh" --name "$run" "${options[@]}" "$@" --qemu \
		"-netdev socket,id=link,localaddr=$net.$vm:4253,udp=$net.$((3 - vm)):4253 \
		-device virtio-net-pci,netdev=link,mac=52:54:00:00:00:0$vm,romfile=" "$test"
}

two_boot()
{
	boots=$((boots + 1)) order=''
	peer=$results/vm2-$boots
	INA_NO_BUILD=1 two_run 2 "$name/vm2-$boots" --cpus 1 --quiet \
		>"$results/vm2-$boots.log" 2>&1 &
	pid2=$!
}

# What VM 2 has reported before it is lost counts; what is said of the loss does not.
two_order()
{
	order=$(<"$results/order")
	cp "$peer/verdict" "$results/vm2-$boots.verdict"
	case $order in
	# It may have ended by itself.
	kill) kill -KILL "$(<"$peer/qemu.pid")" || true ;;
	*) echo "$order" >"$peer/order" ;;
	esac
}

# One look at both: carry an order out, boot VM 2 again once it has ended by one.
two_look()
{
	if kill -0 "$pid2" 2>/dev/null; then
		# An order waits until VM 2 is up.
		[[ $order || ! -s $results/order || ! -s $peer/verdict ]] || two_order
	elif [[ $order == kill || $order == crash ]]; then
		say "VM 2 has ended ($order), boot it again"
		two_boot
		rm "$results/order"
	fi
}

# two_stop PID: end a run, if it still goes on; it ends its VM itself. How it ended is
# in its verdict.
two_stop()
{
	[[ ! $1 ]] || ! kill "$1" 2>/dev/null || wait "$1" 2>/dev/null || true
}

# The end of its console, which a quiet run does not show; there is none if it never started.
two_tail()
{
	say "--- the end of $peer/console.log"
	tail -n 40 "$peer/console.log" | tr -d '\r' >&2 || true
	say "---"
}

# The verdict of VM 2: of its boots up to their loss, of the last one as a whole. Those
# that were lost could not search their kernel log.
two_verdict()
{
	local log hit
	cp "$peer/verdict" "$results/vm2-$boots.verdict"
	# None may have got to a verdict, which is found next.
	cat "$results"/vm2-*.verdict | grep -v '^end$' || true
	[[ $order == end && $(tail -n 1 "$peer/verdict") == end ]] ||
		echo "fail $test VM 2 did not end its test, boot $boots"
	[[ $(tail -n 1 "$peer/verdict") == end ]] || two_tail
	for log in "$results"/vm2-*/console.log; do
		hit=$(sed -n '/ina-test: /,$p' "$log" | tr -d '\r' | grep -aE "$INA_SPLATS") || continue
		hit=${hit%%$'\n'*}
		echo "fail $test kernel log of VM 2: ${hit#*] }"
	done
}

trap 'two_stop "$pid2"; two_stop "$pid1"' EXIT
rm -rf "$results"
two_run 1 "$name" &
pid1=$!
# What is to be built has been built when VM 1 starts.
until [[ -e $results/qemu.pid ]] || ! kill -0 "$pid1" 2>/dev/null; do
	sleep 0.3
done
[[ -e $results/qemu.pid ]] || die "VM 1 was not started"
two_boot
while kill -0 "$pid1" 2>/dev/null; do
	two_look
	sleep 0.3
done
two_look
end=$((SECONDS + end_limit))
while [[ $order == end ]] && kill -0 "$pid2" 2>/dev/null && ((SECONDS < end)); do
	sleep 0.3
done
two_stop "$pid2"
two_verdict | tee -a "$results/verdict"
"$here/count.sh" "$results/verdict"
