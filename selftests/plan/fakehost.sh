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
held) read -r _ <"$INA_FAKE/go" ;;
esac

port=4253

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
			out+=",\"$1\":\"$2\""
			shift 2
		done
		out+='}'
	done
	echo "[$out]"
}

# As the kernel shows it: numbers without letters, and a port.
job_add()
{
	local id=$1 words
	shift
	[[ ! -e $state/job-$id ]] || return
	words=${*/%k/000}
	[[ " $words" == *" port "* ]] || words+=" port $port"
	echo "$words" >"$state/job-$id"
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

# A line of paths-ID: ROLE PEER ID DEV SRC DST SPORT WEIGHT; - is what is not chosen.
path_show()
{
	local f role peer id dev src dst sport weight local_ out=""
	for f in "$state"/paths-*; do
		[[ -e $f ]] || continue
		local_=$(sed 's/^local \([^ ]*\).*/\1/' "$state/tree-${f##*-}")
		while read -r role peer id dev src dst sport weight; do
			[[ $src != - ]] || src=$local_
			[[ $dst != - ]] || dst=$peer
			[[ $sport != - ]] || sport=$port
			out+="${out:+,}{\"job\":${f##*-},\"peer\":\"$peer\",\"chunk\":$(cat "$state/chunk-${f##*-}")"
			out+=",\"timeout\":50,\"loss_limit_ppm\":12500,\"id\":$id,\"state\":\"up\",\"share\":0"
			out+=",\"weight\":$weight,\"sent\":0,\"lost\":0,\"sport\":$sport"
			[[ $dev == - ]] || out+=",\"dev\":\"$dev\",\"ifindex\":2"
			out+=",\"src\":\"$src\",\"dst\":\"$dst\"}"
		done <"$f"
	done
	echo "[$out]"
}

# Of the words of a tree what makes it another node: whether it is a root, address, workers.
tree_node()
{
	sed 's/ child [^ ]*//g; s/ parent [^ ]*/ parent/'
}

# As the kernel does: neighbours that stay what they are keep their paths, others have one. A node
# that is replaced has none but these, and what holds for all paths is as it was at first.
tree_set()
{
	local job=$1 role peer
	[[ -e $state/job-$job ]] || return
	shift
	[[ -e $state/tree-$job && $(tree_node <"$state/tree-$job") == "$(tree_node <<<"$*")" ]] ||
		rm -f "$state/"{paths,chunk}"-$job"
	echo "$*" >"$state/tree-$job"
	touch "$state/paths-$job"
	[[ -e $state/chunk-$job ]] || echo 50000 >"$state/chunk-$job"
	while (($# > 1)); do
		role=$1 peer=$2
		shift 2
		[[ $role == parent || $role == child ]] || continue
		grep "^$role $peer " "$state/paths-$job" || echo "$role $peer 0 - - - - 0"
	done >"$state/paths.new"
	mv "$state/paths.new" "$state/paths-$job"
}

# The line that a peer begins, the parent if it is not said.
path_peer()
{
	grep -om1 "^[a-z]* ${peer:-[^ ]*} " "$state/paths-$job"
}

# path_change add|del|set WORD VALUE...
path_change()
{
	local what=$1 job="" peer="" id="" dev=- src=- dst=- sport=- weight=0 chunk="" line
	local timeout="" loss_limit=""
	shift
	while (($# > 1)); do
		printf -v "${1/-/_}" %s "$2"
		shift 2
	done
	if [[ $what == set && -z $id ]]; then
		[[ $timeout == 50 && $loss_limit == 1.25 ]] || return
		echo "$chunk" >"$state/chunk-$job"
		return
	fi
	line=$(path_peer) || return
	if [[ $what == add ]]; then
		(($(grep -c "^$line" "$state/paths-$job") < 8)) || return
		for ((id = 0; ; id++)); do grep -q "^$line$id " "$state/paths-$job" || break; done
		! grep -q "^${line}[0-7] $dev $src $dst $sport " "$state/paths-$job" &&
			echo "$line$id $dev $src $dst $sport $weight" >>"$state/paths-$job"
	elif [[ $what == del ]]; then
		(($(grep -c "^$line" "$state/paths-$job") > 1)) && sed -i "/^$line$id /d" "$state/paths-$job"
	else
		sed -i "/^$line$id /s/[^ ]*$/$weight/" "$state/paths-$job"
	fi
}

# With a pipe "together", a and b report when both have been asked: it opens for two.
report()
{
	if [[ -p $INA_FAKE/together ]]; then
		case $state in
		*/at-a) : >"$INA_FAKE/together" ;;
		*) : <"$INA_FAKE/together" ;;
		esac
	fi
	cat "$state/load"
}

case $words in
"job show") job_show ;;
"tree show") tree_show ;;
"path show") path_show ;;
"job add id "*) job_add "${@:4}" ;;
"job del id "*) rm "$state/job-$4" && rm -f "$state/"{tree,paths,chunk}"-$4" ;;
"tree set job "*) tree_set "${@:4}" ;;
"tree hold job "*) ;; # nothing runs here
"path add "*|"path del "*|"path set "*) path_change "${@:2}" ;;
"plan load") report ;;
*) echo "Error: unknown words: $words" >&2 && exit 2 ;;
esac || exit
[[ $fault != late ]] || exec sleep 1000
