#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Pack init.c, built statically for an architecture, and the given module into an
# initramfs.
#
#   initramfs.sh ARCH OUTPUT [MODULE.ko]
set -euo pipefail
. "$(dirname "$0")/common.sh"

here=$(cd "$(dirname "$0")" && pwd)
out=$(realpath -m "$2")
vm_arch_set "$1"
mkdir -p "$(dirname "$out")"
tmp=$(mktemp -d "$out.XXXXXX")
trap 'rm -rf "$tmp"' EXIT

mkdir "$tmp/tree"
"${VM_CROSS}gcc" -O1 -Wall -static -o "$tmp/tree/init" "$here/init.c"
[[ ! ${3:-} ]] || cp "$3" "$tmp/tree/ina_agg.ko"
(cd "$tmp/tree" && find . | cpio --quiet -o -H newc | gzip -1) >"$tmp/cpio"
mv "$tmp/cpio" "$out"
