#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A clocked case that always fails.
. "$(dirname "$0")/../../lib.sh"

clocked "never keeps time" false
done_testing
