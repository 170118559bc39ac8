#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A test that ends before its plan.
echo "TAP version 13"
echo "1..3"
echo "ok 1 - passes"
