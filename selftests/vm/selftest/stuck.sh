#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A guest that never ends: the time limit is stopped as well.
kill -STOP $PPID
sleep 3600
