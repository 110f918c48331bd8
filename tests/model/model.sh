#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Searches every interleaving of the queue's protocol (queue.pml) with Spin,
# for each kind of queue and each way it can end; then searches mutants, each
# with one rule of the protocol taken out, which must be caught.
#
#	safe	no assertion fails, and no wait is left that nothing ends
#	finite	no interleaving goes on for ever: there is no cycle at all
set -u
cd "$(dirname "$(readlink -f "$0")")" || exit 2
# shellcheck source=tests/tap.bash
. ../tap.bash

CC=${CC:-gcc}
memory=1024  # MiB of one search
search=120   # seconds of one search; the longest takes 4 on an idle CPU
depth=200000 # steps of one interleaving; fewer than 1000 are needed

# name, what is shown, gcc's -O, flags of queue.pml
cases='
word safe 1
word_finite finite 0 -DPUTS=1
three_posters safe 1 -DPOSTERS=3 -DPUTS=1 -DNO_WAIT
three_posters_finite finite 0 -DPOSTERS=3 -DPUTS=1 -DNO_WAIT
uar safe 1 -DKIND=UAR
proxy safe 1 -DKIND=PROXY -DQUIET
put_signal safe 1 -DSHAPE=PAIR -DDEPTH=4
wide safe 0 -DSHAPE=WIDE -DDEPTH=4
wide_beside_narrow safe 1 -DSHAPE=MIXED -DDEPTH=4
three_sizes safe 1 -DSHAPE=MIXED -DPOSTERS=3 -DPUTS=1 -DNO_WAIT
cq_record safe 1 -DCQ_RECORD
cq_record_finite finite 0 -DCQ_RECORD -DPUTS=1
exclusive_word safe 0 -DEXCLUSIVE -DPOSTERS=1 -DPUTS=8
exclusive_uar safe 0 -DEXCLUSIVE -DPOSTERS=1 -DPUTS=8 -DKIND=UAR
exclusive_error safe 0 -DEXCLUSIVE -DPOSTERS=1 -DPUTS=6 -DERROR
more_and_flush safe 1 -DMORE
more_finite finite 0 -DMORE -DERROR -DPUTS=1
quiet safe 1 -DQUIET
error_word safe 1 -DERROR
error_uar safe 0 -DERROR -DKIND=UAR -DPUTS=1
error_proxy safe 0 -DERROR -DKIND=PROXY -DPUTS=1
error_put_signal safe 0 -DERROR -DSHAPE=PAIR -DPUTS=1
error_cq_record safe 0 -DERROR -DCQ_RECORD -DPUTS=1
error_finite finite 0 -DERROR -DPUTS=1
error_quiet safe 1 -DERROR -DQUIET
error_quiet_finite finite 0 -DERROR -DQUIET -DPUTS=1
abort_word safe 1 -DABORT -DQUIET
abort_uar safe 0 -DABORT -DKIND=UAR -DPUTS=1
abort_and_error safe 0 -DABORT -DERROR -DPUTS=1
abort_quiet safe 0 -DABORT -DQUIET -DPUTS=1
abort_finite finite 0 -DABORT -DPUTS=1
deadline_word safe 1 -DDEADLINE
deadline_uar safe 0 -DDEADLINE -DKIND=UAR -DPUTS=1
'

# name, what catches it (words of the models, blanks as dots), flags
mutants='
no_turn index.n.<=ready -DM_NO_TURN
no_turn_uar ready==reserved|index.n.>dbrec|ctrl.i.==fetched -DM_NO_TURN -DKIND=UAR
store_for_max index.n.>=word -DM_NO_MAX
ready_before_write ctrl.i.==fetched -DM_READY_FIRST
ready_before_write_uar ctrl.i.==fetched -DM_READY_FIRST -DKIND=UAR
ready_before_write_alone ctrl.i.==fetched -DM_READY_FIRST -DEXCLUSIVE -DPOSTERS=1
cq_state_without_cas at>=done -DM_NO_CAS
doorbell_behind_the_turn index.n.>(uar|dbrec) -DM_BELL_LATE -DKIND=UAR
register_before_record invalid.end.state -DM_BELL_FIRST -DKIND=UAR
abort_not_looked_at invalid.end.state -DM_NO_ABORT -DABORT
abort_not_looked_at_quiet invalid.end.state -DM_NO_ABORT -DABORT -DQUIET
slot_freed_early completed>.index- -DM_FREE_EARLY
slot_freed_early_alone completed>.index- -DM_FREE_EARLY -DEXCLUSIVE -DPOSTERS=1 -DPUTS=4
failed_behind_cq_state rc==fate -DM_FAILED_LATE -DERROR
record_without_cas records==1 -DM_RECORD_TWICE -DERROR
owner_bit_not_judged <=completed -DM_OWNER
plain_with_wide done==reserved -DM_STAYS_PLAIN -DSHAPE=MIXED
plain_with_wide_alone invalid.end.state -DM_STAYS_PLAIN -DSHAPE=WIDE
cq_record_without_second_look cq_record==ci -DM_CQ_ONCE -DCQ_RECORD
'

# What Spin says of one model goes to DIR/out; compile errors as well.
search() { # DIR, safe-or-finite, gcc's -O, flags...
	local run=$1 what=$2 opt=$3 claim=(-DSAFETY) args=()

	shift 3
	if [ "$what" = finite ]; then
		# no progress is marked: any cycle is one without
		claim=(-DNP)
		args=(-l)
	fi
	mkdir -p "$run" && cd "$run" || return
	{
		timeout 60 spin -a "$@" "$model" &&
			timeout 120 "$CC" "-O$opt" -w "${claim[@]}" \
				"-DMEMLIM=$memory" -o pan pan.c &&
			timeout -k 5 "$search" ./pan "-m$depth" -w22 \
				"${args[@]}" || echo "exit $?"
	} >out 2>&1
	rm -f pan pan.? model.trail
}

# The figures of a search that was whole and found nothing; else why not.
whole() { # DIR
	awk '/errors: 0$/ { good = 1 }
	/^pan:1: |errors: [1-9]|max search depth|MEMLIM bound|not completed/ {
		why = why " " $0
	}
	/states, stored/ { states = $1 }
	{ last = $0 }
	END {
		if (good && why == "")
			print states " states"
		else
			print (why == "" ? "the search did not end: " last : why)
		exit !(good && why == "")
	}' "$1/out"
}

each() { # list of lines, function
	local line words

	while read -r line; do
		read -ra words <<<"$line"
		[ -z "$line" ] || "$2" "${words[@]}"
	done <<<"$1"
}

# Two searches at a time, results in the order of the lists.
queue_up() { # DIR, safe-or-finite, gcc's -O, flags...
	while [ "$(jobs -rp | wc -l)" -ge 2 ]; do
		wait -n
	done
	(search "$@") &
}

start_case() { queue_up "$dir/$1" "${@:2}"; }
start_mutant() { queue_up "$dir/m_$1" safe 0 "${@:3}"; }

judge_case() { # name, what...
	local figures

	if figures=$(whole "$dir/$1"); then
		result ok "$1 is $2: $figures"
	else
		sed 's/^/# /' "$dir/$1/out" | head -20
		result "not ok" "$1 is $2: $figures"
	fi
}

judge_mutant() { # name, pattern...
	local found

	found=$(grep -m1 '^pan:1: ' "$dir/m_$1/out")
	if grep -Eq "$2" <<<"$found"; then
		result ok "mutant $1 is caught: ${found#pan:1: }"
	else
		sed 's/^/# /' "$dir/m_$1/out" | head -20
		result "not ok" "mutant $1 is caught: ${found:-nothing found}"
	fi
}

for tool in spin "$CC"; do
	command -v "$tool" >/dev/null && continue
	echo 1..1
	echo "ok 1 - models of the queue # SKIP no $tool here"
	exit 0
done
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
model=$PWD/queue.pml
each "$cases" start_case
each "$mutants" start_mutant
wait
each "$cases" judge_case
each "$mutants" judge_mutant
echo "1..$count"
exit $failed
