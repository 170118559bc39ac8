#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Check the protocol models with spin: one line per variant, and a non-zero exit
# status if one does not end as expected. A variant that leaves a rule out must
# violate just the assertion named here. All searches are exhaustive.
#
#   model.sh [VARIANT...]
#
# The way to a violation, in words, from build/model/VARIANT:
#   spin -t -T -k MODEL.trail FLAGS ../../../selftests/model/MODEL
set -euo pipefail
. "$(dirname "$0")/../vm/common.sh"

here=$INA_TOP/selftests/model
out=$INA_BUILD/model

# variant | expected | model and flags
variants()
{
	cat <<-'END'
	# Loss only; a restart of the aggregator; a change of parent; both.
	loss|ok|round.pml -DJOINING -DNO_FAILURE
	loss-frags|ok|round.pml -DJOINING -DNO_FAILURE -DROUNDS=2 -DFRAGS=2
	restart|ok|round.pml -DRESTARTS -DNO_FAILURE
	restart-again|ok|round.pml -DRESTARTS -DNO_FAILURE -DROUNDS=2 -DGENERATIONS=3
	restart-frags|ok|round.pml -DRESTARTS -DNO_FAILURE -DROUNDS=1 -DFRAGS=2
	restart-late|ok|round.pml -DRESTARTS -DNO_FAILURE -DROUNDS=1 -DLATE_JOIN
	reparent|ok|round.pml -DREPARENTS -DNO_FAILURE
	reparent-again|ok|round.pml -DREPARENTS -DNO_FAILURE -DROUNDS=1 -DGENERATIONS=3
	reparent-frags|ok|round.pml -DREPARENTS -DNO_FAILURE -DROUNDS=1 -DFRAGS=2
	reparent-any|ok|round.pml -DREPARENTS -DANY_ORDER -DCHECK -DROUNDS=2
	both|ok|round.pml -DREPARENTS -DRESTARTS -DNO_FAILURE -DROUNDS=2
	both-depth|ok|round.pml -DREPARENTS -DRESTARTS -DNO_FAILURE -DROUNDS=2 -DDEPTH=1
	both-frags|ok|round.pml -DREPARENTS -DRESTARTS -DNO_FAILURE -DROUNDS=1 -DFRAGS=2
	# Rounds fail by their deadline; the root closes a window that somebody holds up.
	late|ok|round.pml -DDEADLINES -DNO_FAILURE -DEPOCHS=1
	late-again|ok|round.pml -DDEADLINES -DNO_FAILURE -DROUNDS=2 -DEPOCHS=2
	late-restart|ok|round.pml -DDEADLINES -DRESTARTS -DNO_FAILURE -DROUNDS=1 -DEPOCHS=2
	late-reparent|ok|round.pml -DDEADLINES -DREPARENTS -DNO_FAILURE -DROUNDS=1 -DEPOCHS=2
	# Without epochs the sum is wrong; the conservation check turns that into failures.
	no-epoch|conserved|round.pml -DREPARENTS -DNO_EPOCH_RULE -DNO_CALM
	no-epoch-check|ok|round.pml -DREPARENTS -DNO_EPOCH_RULE -DNO_CALM -DCHECK
	no-epoch-fails|unfailed|round.pml -DREPARENTS -DNO_EPOCH_RULE -DNO_CALM -DCHECK -DNO_FAILURE
	# Restarted rounds must forget their results, an epoch must fix its contributors.
	keep-results|same|round.pml -DREPARENTS -DKEEP_RESULTS -DROUNDS=1 -DFRAGS=2
	live-list|conserved|round.pml -DREPARENTS -DLIVE_LIST -DROUNDS=1
	# A child can miss an epoch in which a round completes without it: if nobody checks
	# kept results it gets a sum without its own; checked by the new epoch, nobody gets any.
	kept-unchecked|conserved|round.pml -DREPARENTS -DANY_ORDER -DROUNDS=1
	kept-epoch|finishes|round.pml -DREPARENTS -DANY_ORDER -DCHECK -DCHECK_EPOCH -DROUNDS=1
	# If the old parent drops it before the new one knows it, the window may pass it.
	order|unfailed|round.pml -DREPARENTS -DANY_ORDER -DCHECK -DROUNDS=1 -DNO_FAILURE
	# The window waits for a child that is new or restarted: there are leaves below it.
	new-child|unfailed|round.pml -DREPARENTS -DNEW_NEEDS_NOTHING -DNO_FAILURE -DROUNDS=1
	forgets|unfailed|round.pml -DREPARENTS -DRESTARTS -DRESTART_FORGETS -DNO_FAILURE -DROUNDS=1
	# A late JOIN of before a restart can replace a later one: the child must hear of it.
	no-ask|finishes|round.pml -DRESTARTS -DLATE_JOIN -DNO_ASK -DROUNDS=1
	# A closed epoch says where the window is: who missed its last move refuses to hear
	# that the rounds behind its own window failed, and the root waits for it for ever.
	closed-base|finishes|round.pml -DDEADLINES -DNO_CLOSED_BASE -DEPOCHS=1
	# Who missed the epoch that is held for it cannot enter it: there must be another.
	missed|finishes|round.pml -DDEADLINES -DNO_MISSED -DROUNDS=2 -DEPOCHS=2
	# One hop; what its rules are for.
	hop|ok|hop.pml
	hop-no-credit|remembered|hop.pml -DNO_CREDIT
	hop-same-group|received|hop.pml -DSAME_GROUP -DNO_CALM
	hop-done-idle|delivers|hop.pml -DDONE_IDLE
	hop-no-una|delivers|hop.pml -DNO_UNA
	hop-earlier|received|hop.pml -DEARLIER_HEARD -DNO_CALM
	END
}

# model_build VARIANT MODEL FLAGS...: make the verifier.
model_build()
{
	local dir=$out/$1 model=$2
	shift 2
	rm -rf "$dir"
	mkdir -p "$dir"
	cd "$dir"
	spin -a "$@" "$here/$model" >spin.log 2>&1 || die "${dir##*/}: spin: $(tail -n 1 spin.log)"
	gcc -O2 -w -DSAFETY -DNOREDUCE -DMEMLIM=3500 -o pan pan.c
}

# model_got LOG: how the search ended; one that was cut short proves nothing.
model_got()
{
	if grep -q 'too small\|reached -DMEMLIM\|out of memory' "$1"; then
		echo incomplete
	elif grep -q '^pan:1: ' "$1"; then
		sed -n 's/^pan:1: \(assertion violated \)\?\(.*\) (at depth.*/\2/p' "$1"
	elif grep -q 'errors: 0$' "$1"; then
		echo ok
	else
		echo nothing
	fi
}

# model_run VARIANT EXPECTED MODEL FLAGS...: one line.
model_run()
{
	local name=$1 expected=$2 log=$out/$1/log got verdict=ok start=$SECONDS
	shift 2
	(model_build "$name" "$@")
	# Its status is not 0 when it finds an error, which may be expected.
	(cd "$out/$name" && nice -n 10 ./pan -m20000 >log 2>&1) || true
	got=$(model_got "$log")
	[[ $got == "$expected" ]] || verdict=FAILED
	printf '%-7s %-15s expected %-10s got %-10s %8d states %4d s %5d MB\n' "$verdict" "$name" \
		"$expected" "$got" "$(awk '/states, stored/ { print $1; exit }' "$log")" \
		$((SECONDS - start)) "$(awk '/total actual memory/ { print int($1); exit }' "$log")"
	[[ $verdict == ok ]]
}

command -v spin >/dev/null || die "spin is missing: apt-get install spin"
failed=0
pids=()
while IFS='|' read -r name expected args; do
	[[ $name != '#'* ]] || continue
	(($# == 0)) || [[ " $* " == *" $name "* ]] || continue
	# Two at a time; their memory adds up. How each ended is asked for below.
	while (($(jobs -rp | wc -l) >= 2)); do wait -n || continue; done
	# shellcheck disable=SC2086 # a model and its flags
	model_run "$name" "$expected" $args &
	pids+=($!)
done < <(variants)
((${#pids[@]})) || die "no such variant: $*"
for pid in "${pids[@]}"; do wait "$pid" || failed=$((failed + 1)); done
echo "${#pids[@]} variants, $SECONDS s"
((failed == 0)) || die "$failed of ${#pids[@]} variants did not end as expected"
