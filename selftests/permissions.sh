#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Who may open /dev/ina: root, until the udev rule gives it to a group; and that
# the rule we ship says what its comment says.
#
#   n: job 7 (root of its tree, one worker)
# shellcheck disable=SC2317 # ok calls the functions
. "$(dirname "$0")/lib.sh"

rules=$(dirname "$0")/../userlib/udev/60-ina.rules
group=64999

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

round=("attach 7" "mmap contrib all rw" "mmap result all r" "wait open 5000" "fill 0 10 5")

# A VM may run its own udev: the rule is applied by hand, and only once.
ok "/dev/ina belongs to root alone" test "$(mode)" = "root root 600"
ok "it is a character device" test -c /dev/ina
ok "root can attach" on n devtest "attach 7"
ok "another user cannot open it" as 65534 65534 "open = EACCES"
ok "another user cannot open it for reading" as 65534 65534 "open ro = EACCES"
ok "a user in group root cannot open it" as 65534 0 "open = EACCES"
ok "root without its capabilities is its owner and can" \
	on n setpriv --bounding-set -all --inh-caps -all devtest "attach 7"

# As the rule does: KERNEL=="ina", GROUP="ina", MODE="0660".
chgrp $group /dev/ina
chmod 0660 /dev/ina
on n inaconf job del 7
on n inaconf job add 7 capacity 1000
on n inaconf tree set job 7 workers 1
ok "a member of the group can take part in a round" as 65534 $group "${round[@]}" \
	"submit 0 10" "wait 0 5000" "result 0 10 5"
ok "a user outside of the group cannot open it" as 65534 65534 "open = EACCES"
ok "a member of the group cannot configure" \
	test "$(on n setpriv --reuid 65534 --regid 65534 --groups $group nlclient job-del id=7)" = "error EPERM"
ok "a member of the group sees only the jobs of its own namespace" \
	setpriv --reuid 65534 --regid 65534 --groups $group devtest "attach 7 = ENOENT"
chgrp 0 /dev/ina
ok "a file opened before stays usable after the device is closed to its user" \
	on n devtest "attach 7" "run chmod 0 /dev/ina" "wait open 5000"
chmod 0600 /dev/ina

# The rule itself.
rule()
{
	sed 's/#.*//' "$rules" | grep .
}
ok "there is one rule" test "$(rule | wc -l)" = 1
ok "the rule is for our device, a group and 0660" \
	test "$(rule)" = 'KERNEL=="ina", GROUP="ina", MODE="0660"'
if udevadm verify --help >/dev/null 2>&1; then
	# A system without the group knows the rule all the same.
	ok "udev accepts the rule" udevadm verify --resolve-names=never "$rules"
else
	words='[A-Z]+(==|=)"[^"]*"'
	ok "the rule has the form udev reads" bash -c \
		"! sed 's/#.*//' '$rules' | grep . | grep -Evx '$words(, $words)*'"
fi

ns_del n
ok "the module unloads" wait_for 20 unload
ok "the device goes with the module" test ! -e /dev/ina
ok "the module loads again" load
ok "the new device belongs to root alone again" test "$(mode)" = "root root 600"
ok "the module unloads again" wait_for 20 unload
done_testing
