#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Generate uapi/linux/ina.h and kmod/netlink_gen.[ch] from the netlink spec
# with the kernel's own generator.
# usage: netlink_gen.sh KERNEL_SOURCE OUTPUT_DIR  (6.12's source has tools/net/ynl)
set -euo pipefail

ksrc=$(realpath "$1")
out=$2
top=$(realpath "$(dirname "$0")/../..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The generator names its input relative to the folder with MAINTAINERS.
mkdir -p "$work/Documentation/netlink/specs" "$out/uapi/linux" "$out/kmod"
cp "$ksrc"/Documentation/netlink/genetlink*.yaml "$work/Documentation/netlink/"
touch "$work/MAINTAINERS"
cp "$top/Documentation/netlink/specs/ina.yaml" "$work/Documentation/netlink/specs/"

generate() { # mode header|source file
	local raw
	raw=$work/$(basename "$3")
	(cd "$work" && /usr/bin/python3 "$ksrc/tools/net/ynl/ynl-gen-c.py" \
		--spec Documentation/netlink/specs/ina.yaml \
		--mode "$1" "--$2" -o "$raw")
	# The group table belongs to the family, which netlink.c defines.
	sed '/^static const struct genl_multicast_group/,/^};/d' "$raw" |
		cat -s > "$out/$3"
}

generate uapi header uapi/linux/ina.h
generate kernel header kmod/netlink_gen.h
generate kernel source kmod/netlink_gen.c
