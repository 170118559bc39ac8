#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A guest that panics in the middle of its tests.
echo 1 >/proc/sys/kernel/sysrq
echo c >/proc/sysrq-trigger
sleep 3600
