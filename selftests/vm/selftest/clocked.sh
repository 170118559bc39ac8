#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A clocked case that fails the first time only.
. "$(dirname "$0")/../../lib.sh"

seen=/run/ina-selftest-clocked
clocked "keeps time" test -e $seen
touch $seen
done_testing
