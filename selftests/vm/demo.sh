#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What `make demo` runs: selftests/demo.sh in a VM with the distribution's own
# kernel (the fast test kernel if there is none), its output live.
set -euo pipefail
. "$(dirname "$0")/common.sh"

here=$(cd "$(dirname "$0")" && pwd)
kind=stock
"$here/kernel.sh" stock >/dev/null || kind=fast
say "booting a $kind kernel: the first lines take up to a minute"
exec "$here/run.sh" --kernel "$kind" --name demo --live --memory "${MEMORY:-3G}" demo
