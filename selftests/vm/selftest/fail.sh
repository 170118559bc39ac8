#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The deliberately failing case.
echo "TAP version 13"
echo "1..2"
echo "ok 1 - passes"
echo "not ok 2 - fails on purpose"
exit 1
