#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Who may open /dev/ina: root, until udev gives it to a group by the rule we ship.
#
#   n: job 7 (root of its tree, one worker)
# shellcheck disable=SC2317 # ok calls the functions
. "$(dirname "$0")/lib.sh"

rules=$(dirname "$0")/../userlib/udev/60-ina.rules
group=899 # of the system: udev gives a device to no other

load
ns_add n
on n inaconf job add 7 capacity 1000
on n inaconf tree set job 7 workers 1

# as USER GROUP STEP...: the device as somebody else.
as()
{
	local user=$1 groups=$2
	shift 2
	on n setpriv --reuid "$user" --regid "$user" --groups "$groups" devtest "$@"
}

mode()
{
	stat -c '%U %G %a' /dev/ina
}

# udev with our rule alone, on a system that has the group. What is mounted here is seen by it alone,
# and goes with it.
udev_start()
{
	printf 'root:x:0:\nina:x:%s:\n' $group >"$_dir/group"
	mkdir -p /run/udev
	# shellcheck disable=SC2016 # its own parameters
	unshare -m bash -ec '
		mount --bind "$1" /etc/group
		mount -t tmpfs none /usr/lib/udev/rules.d
		mount -t tmpfs none /run/udev
		mkdir /run/udev/rules.d
		cp "$2" /run/udev/rules.d
		exec /usr/lib/systemd/systemd-udevd' - "$_dir/group" "$rules" >"$_dir/udev" 2>&1 &
	udev=$!
	_pids+=("$udev")
}

# It has read its rules and listens. Until it is udev, it may have nothing mounted yet.
udev_up()
{
	[[ $(</proc/"$udev"/comm) == systemd-udevd ]] && nsenter -t "$udev" -m udevadm control --ping
}

given()
{
	[[ $(stat -c '%u %g %a' /dev/ina) == "0 $group 660" ]]
}

# It gives the device to the group, else what it said is shown.
gives()
{
	wait_for 20 given && return
	stat -c '%u %g %a' /dev/ina
	cat "$_dir/udev"
	return 1
}

# by_udev TEXT COMMAND...: a case that needs a udev of ours
by_udev()
{
	if [[ $udev ]]; then ok "$@"; else skip "$1" "another udev runs, which does not know the rule"; fi
}

round=("attach 7" "mmap contrib all rw" "mmap result all r" "wait open 20000" "fill 0 10 5")

ok "/dev/ina belongs to root alone" test "$(mode)" = "root root 600"
ok "it is a character device" test -c /dev/ina
ok "root can attach" on n devtest "attach 7"
ok "another user cannot open it" as 65534 65534 "open = EACCES"
ok "another user cannot open it for reading" as 65534 65534 "open ro = EACCES"
ok "a user in group root cannot open it" as 65534 0 "open = EACCES"
ok "root without its capabilities is its owner and can" \
	on n setpriv --bounding-set -all --inh-caps -all devtest "attach 7"

# virtme starts one on the stock kernel: two of them would not agree, so the rule is applied by hand.
udev=
if [[ -S /run/udev/control ]]; then
	chgrp $group /dev/ina
	chmod 0660 /dev/ina
else
	udev_start
fi
by_udev "udev listens" wait_for 20 udev_up
# As udevadm trigger does.
[[ ! $udev ]] || echo add >/sys/class/misc/ina/uevent
by_udev "udev gives the device to the group" gives
on n inaconf job del 7
on n inaconf job add 7 capacity 1000
on n inaconf tree set job 7 workers 1
ok "a member of the group can take part in a round" as 65534 $group "${round[@]}" \
	"submit 0 10" "wait 0 20000" "result 0 10 5"
ok "a user outside of the group cannot open it" as 65534 65534 "open = EACCES"
ok "a member of the group cannot configure" \
	test "$(on n setpriv --reuid 65534 --regid 65534 --groups $group nlclient job-del id=7)" = "error EPERM"
ok "a member of the group sees only the jobs of its own namespace" \
	setpriv --reuid 65534 --regid 65534 --groups $group devtest "attach 7 = ENOENT"
chgrp 0 /dev/ina
ok "a file opened before stays usable after the device is closed to its user" \
	on n devtest "attach 7" "run chmod 0 /dev/ina" "wait open 20000"
chmod 0600 /dev/ina

# The rule itself.
rule()
{
	sed 's/#.*//' "$rules" | grep .
}
ok "there is one rule" test "$(rule | wc -l)" = 1
ok "the rule is for our device, a group and 0660" \
	test "$(rule)" = 'KERNEL=="ina", GROUP="ina", MODE="0660"'

ns_del n
ok "the module unloads" wait_for 20 unload
ok "the device goes with the module" test ! -e /dev/ina
ok "the module loads again" load
by_udev "udev gives the new device to the group, too" gives
ok "the module unloads again" wait_for 20 unload
[[ ! $udev ]] || halt TERM "$udev"
ok "the module loads without our udev" load
ok "the new device belongs to root alone again" test "$(mode)" = "root root 600"
ok "the module unloads at last" wait_for 20 unload
done_testing
