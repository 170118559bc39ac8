#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What `make check` runs: one line per check, its findings below it, and a
# non-zero exit status if any check has a finding. Finding nothing to look at
# is a finding.
#
#   check.sh [CHECK...]
set -euo pipefail
. "$(dirname "$0")/../vm/common.sh"

vm=$INA_TOP/selftests/vm
check=$INA_TOP/selftests/check
out=$INA_BUILD/check
names=(checkpatch sparse w1 kerneldoc shellcheck cppcheck man yaml tool install dkms model)

# check_files DIR... -- NAME...: the files of these folders with these names.
check_files()
{
	local -a dirs=() names=()
	while [[ $1 != -- ]]; do
		[[ ! -e $1 ]] || dirs+=("$1")
		shift
	done
	shift
	for name; do names+=(-o -name "$name"); done
	((!${#dirs[@]})) || find "${dirs[@]}" -type f \( "${names[@]:1}" \) | sort
}

# The newest source at hand has the checkers with the fewest false findings.
kernel_source()
{
	"$vm/source.sh" 6.12
}

check_checkpatch()
{
	local src rc=0
	local -a files options=(--strict --no-tree --no-summary --terse --showfile -f)
	src=$(kernel_source)
	mapfile -t files < <(check_files kmod uapi -- '*.c' '*.h' |
		grep -v '^kmod/compat/\|^kmod/trace.h\|^kmod/sch_ina\|^kmod/pacing.c')
	"$src/scripts/checkpatch.pl" "${options[@]}" "${files[@]}" || rc=1
	# The kernel's name of a queueing discipline is Qdisc.
	"$src/scripts/checkpatch.pl" --ignore CAMELCASE "${options[@]}" kmod/sch_ina* kmod/pacing.c || rc=1
	rm -f .checkpatch-camelcase.*
	# Tracepoints have a form of their own.
	"$src/scripts/checkpatch.pl" --ignore OPEN_ENDED_LINE,PARENTHESIS_ALIGNMENT \
		"${options[@]}" kmod/trace.h || rc=1
	# Telling versions apart is what the shadow headers are for.
	mapfile -t files < <(check_files kmod/compat -- '*.h')
	((!${#files[@]})) ||
		"$src/scripts/checkpatch.pl" --ignore LINUX_VERSION_CODE "${options[@]}" "${files[@]}" || rc=1
	return "$rc"
}

# check_module NAME ARGS...: build the module with the KUnit suites from nothing;
# what is said about our files, or a failed build, is a finding.
check_module()
{
	local dir=$out/$1 kernel
	shift
	rm -rf "$dir"
	kernel=$("$vm/kernel.sh" fast)
	make -s "KDIR=$kernel/build" INA_KUNIT=1 "INA_OUT=$dir" "$@" module >"$dir.log" 2>&1 || {
		cat "$dir.log"
		return 1
	}
	# Kernel headers have findings of their own, and are noted under who includes them.
	! grep -E '^(/[^:]*/(kmod|uapi)/|kmod/|uapi/).*(warning|error|note):|^(WARNING|ERROR): modpost' "$dir.log" |
		grep -v ': note: in included file'
}

check_sparse()
{
	check_module sparse C=2
}

check_w1()
{
	check_module w1 W=1
}

check_kerneldoc()
{
	local src
	local -a files
	src=$(kernel_source)
	mapfile -t files < <(check_files kmod uapi userlib -- '*.c' '*.h')
	"$src/scripts/kernel-doc" -none -Wall -Werror "${files[@]}"
}

check_shellcheck()
{
	local -a files
	mapfile -t files < <(check_files selftests userlib netlink_tool Documentation -- '*.sh')
	shellcheck -x -P SCRIPTDIR .ci/run netlink_tool/completion/inaconf "${files[@]}"
}

check_cppcheck()
{
	local -a files
	mapfile -t files < <(check_files userlib netlink_tool selftests -- '*.c' | grep -v '\.bpf\.c$')
	cppcheck --quiet --enable=warning,style,performance,portability --inline-suppr --std=c11 \
		-D'LIBBPF_OPTS(type, name, ...)=struct type name = { __VA_ARGS__ }' \
		--error-exitcode=1 -I uapi -I userlib -I netlink_tool "${files[@]}"
}

# Whatever the formatter has to say is a finding; its exit status tells nothing.
check_man()
{
	local f
	local -a files
	mapfile -t files < <(check_files userlib/man netlink_tool/man -- '*.[1-8]')
	for f in "${files[@]}"; do
		groff -ww -z -man -K utf8 -T utf8 "$f"
	done
	[[ ${files[*]} && ! -s $out/man.findings ]]
}

check_yaml()
{
	local f
	"$check/netlink_gen.sh" "$(kernel_source)" "$out/yaml" || return
	for f in uapi/linux/ina.h kmod/netlink_gen.c kmod/netlink_gen.h; do
		diff -u "$f" "$out/yaml/$f" || return
	done
}

check_tool()
{
	make -s -C netlink_tool O="$INA_BUILD/netlink_tool" check
}

# What is installed is enough to build the README's program and the example.
check_install()
{
	local dir=$out/install kernel flags name
	rm -rf "$dir"
	kernel=$("$vm/kernel.sh" fast)
	make -s "KDIR=$kernel/build" "DESTDIR=$dir" PREFIX=/usr install
	mkdir "$dir/try"
	sed -n '/^#include <ina.h>/,/^}/p' README.md >"$dir/try/readme.c"
	cp userlib/examples/allreduce.c "$dir/try"
	export PKG_CONFIG_SYSROOT_DIR=$dir PKG_CONFIG_LIBDIR=$dir/usr/lib/pkgconfig
	flags=$(pkg-config --cflags --libs libina)
	for name in readme allreduce; do
		# shellcheck disable=SC2086 # words
		cc -Wall -Wextra -Werror -o "$dir/try/$name" "$dir/try/$name.c" $flags
		LD_LIBRARY_PATH=$dir/usr/lib ldd "$dir/try/$name" | grep "libina.so.0 => $dir"
	done
	"$dir/usr/sbin/inaconf" -V
	modinfo "$(find "$dir/lib/modules" -name ina_agg.ko)"
}

# As on a machine with DKMS, in trees of our own.
check_dkms()
{
	local dir=$out/dkms kernel version
	kernel=$("$vm/kernel.sh" fast)
	version=$(sed -n 's/^VERSION := //p' userlib/Makefile)
	rm -rf "$dir"
	mkdir -p "$dir/tree" "$dir/source"
	"$vm/mirror.sh" "$dir/source/ina_agg-$version"
	cp dkms.conf "$dir/source/ina_agg-$version"
	dkms build "ina_agg/$version" -k "$(vm_release "$kernel")" --kernelsourcedir "$kernel/build" \
		--dkmstree "$dir/tree" --sourcetree "$dir/source"
	[[ $(find "$dir/tree" -name 'ina_agg.ko*') ]]
}

check_model()
{
	selftests/model/model.sh
}

(($# == 0)) || names=("$@")
cd "$INA_TOP"
mkdir -p "$out"
failed=0
for name in "${names[@]}"; do
	start=$SECONDS
	# In the background, as `set -e` is off inside a condition.
	"check_$name" >"$out/$name.findings" 2>&1 &
	vm_watch "$name" $!
	if wait $!; then
		printf 'ok      %s (%d s)\n' "$name" $((SECONDS - start))
	else
		printf 'FAILED  %s (%d s)\n' "$name" $((SECONDS - start))
		sed 's/^/        /' "$out/$name.findings"
		failed=$((failed + 1))
	fi
done
((failed == 0)) || die "$failed of ${#names[@]} checks have findings"
