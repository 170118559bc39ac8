#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The first time, a clocked case and another one fail.
. "$(dirname "$0")/../../lib.sh"

seen=/run/ina-selftest-both
clocked "keeps time" test -e $seen
ok "fails the first time" test -e $seen
touch $seen
done_testing
