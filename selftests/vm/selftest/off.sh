#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A guest that powers off in the middle of its tests.
echo 1 >/proc/sys/kernel/sysrq
echo o >/proc/sysrq-trigger
sleep 3600
