#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Mirror the module's source as links into a build folder, so that objects land
# there and not beside the source. Kbuild's own MO= exists from 6.13 on only.
#
#   mirror.sh FOLDER
set -euo pipefail
. "$(dirname "$0")/common.sh"

out=$1
mkdir -p "$out"
find "$out" -type l -delete
cp -rs "$INA_TOP/Kbuild" "$INA_TOP/kmod" "$INA_TOP/uapi" "$out/"
