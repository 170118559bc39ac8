#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# One case that passes and one that is skipped.
echo "TAP version 13"
echo "1..2"
echo "ok 1 - passes"
echo "ok 2 - is skipped # SKIP on purpose"
