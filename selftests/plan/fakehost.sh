#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A machine without a kernel module, for apply.sh: fakehost.sh WHERE inaconf [-j] WORD... does
# what inaconf would and keeps it in $INA_FAKE/WHERE. What is in $INA_FAKE/fault happens once
# to the command that contains it: a line "WHERE|PART OF THE COMMAND|KIND". One that is dead stays so.
set -u

where=$1
shift 2
[[ $1 != -j ]] || shift
state=$INA_FAKE/$where
mkdir -p "$state"
words="$*"
echo "$where $words" >>"$INA_FAKE/log"

[[ ! -e $state/dead ]] || exec sleep 1000
fault=""
if [[ -s $INA_FAKE/fault ]]; then
	IFS='|' read -r at part kind <"$INA_FAKE/fault"
	if [[ $at == "$where" && $words == *"$part"* ]]; then
		fault=$kind
		rm "$INA_FAKE/fault"
	fi
fi
case $fault in
refuse) echo "Error: refused" >&2 && exit 1 ;;
garbage) echo "{[" && exit ;;
lies) echo '[{"id": 7, "capacity": "1 ; rm"}]' && exit ;;
dead) touch "$state/dead" && exec sleep 1000 ;;
hang) exec sleep 1000 ;;
signal) kill -TERM "$PPID" ;;
held) until [[ -e $INA_FAKE/go ]]; do sleep 0.1; done ;;
esac

job_show()
{
	local f id rest out=""
	for f in "$state"/job-*; do
		[[ -e $f ]] || continue
		id=${f##*-}
		read -r rest <"$f"
		out+="${out:+,}{\"id\":$id"
		# shellcheck disable=SC2086 # words
		set -- $rest
		while (($# > 1)); do
			[[ $2 != *k ]] || set -- "$1" "${2%k}000" "${@:3}"
			out+=",\"$1\":\"$2\""
			shift 2
		done
		out+='}'
	done
	echo "[$out]"
}

tree_show()
{
	local f out="" children local_ parent workers attached
	for f in "$state"/tree-*; do
		[[ -e $f ]] || continue
		children="" local_="" parent="" workers=0 attached=0
		[[ ! -e $state/attached-${f##*-} ]] || attached=1
		# shellcheck disable=SC2046 # words
		set -- $(cat "$f")
		while (($# > 1)); do
			case $1 in
			local) local_=",\"local\":\"$2\"" ;;
			parent) parent=",\"parent\":\"$2\"" ;;
			child) children+="${children:+,}{\"addr\":\"$2\"}" ;;
			workers) workers=$2 ;;
			esac
			shift 2
		done
		out+="${out:+,}{\"job\":${f##*-}$parent$local_,\"attached\":$attached"
		out+=",\"workers\":$workers,\"children\":[$children]}"
	done
	echo "[$out]"
}

case $words in
"job show") job_show ;;
"tree show") tree_show ;;
"job add id "*) [[ ! -e $state/job-$4 ]] && echo "${*:5}" >"$state/job-$4" ;;
"job del id "*) rm "$state/job-$4" && rm -f "$state/tree-$4" ;;
"tree set job "*) [[ -e $state/job-$4 ]] && echo "${*:5}" >"$state/tree-$4" ;;
"plan load") cat "$state/load" ;;
*) echo "Error: unknown words: $words" >&2 && exit 2 ;;
esac || exit
[[ $fault != late ]] || exec sleep 1000
