#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The transport with one of its rules taken out must fail in the simulator: a
# judge that lets it pass sees nothing.
set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit 2
# shellcheck source=tests/tap.bash
. tests/tap.bash

CC=${CC:-gcc}
seeds=(--seed=1 --count=10000)
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT

compile() { # source, object
	timeout 100 "$CC" -std=gnu11 -D_GNU_SOURCE -I"$dir/include" -O1 -c \
		"$1" -o "$2" >"$dir/cc.log" 2>&1 && return
	sed 's/^/# /' "$dir/cc.log"
	return 1
}

# The whole once; a mutant compiles one file of it again.
whole() {
	local f

	cp -r include "$dir/include"
	mkdir -p "$dir/dpdk_path" "$dir/tests" "$dir/obj" "$dir/mutant"
	cp -r dpdk_path/roce "$dir/dpdk_path/roce"
	cp -r tests/sim "$dir/tests/sim"
	for f in "$dir"/dpdk_path/roce/*.c "$dir"/tests/sim/*.c; do
		compile "$f" "$dir/obj/$(basename "$f" .c).o" || return 1
	done
	"$CC" "$dir"/obj/*.o -o "$dir/sim"
}

# name, file, what to do to it (sed); the verdict must match the pattern
must_fail() {
	local name=$1 file=$2 edit=$3 pattern=$4
	local src="$dir/dpdk_path/roce/$file" o=${file%.c}.o

	cp "$src" "$dir/kept"
	sed -E "$edit" "$dir/kept" >"$src"
	if cmp -s "$src" "$dir/kept"; then
		result "not ok" "$name: its rule is not where it was"
		return
	fi
	rm -f "$dir"/mutant/*
	cp "$dir"/obj/*.o "$dir/mutant/"
	if ! compile "$src" "$dir/mutant/$o" ||
		! "$CC" "$dir"/mutant/*.o -o "$dir/sim.mutant"; then
		result "not ok" "$name: does not build"
	elif timeout 170 "$dir/sim.mutant" "${seeds[@]}" --no-shrink \
		>"$dir/log"; then
		result "not ok" "$name: passes"
	elif grep -Eq "$pattern" "$dir/log"; then
		result ok "$name"
		grep '^# seed' "$dir/log"
	else
		grep '^#' "$dir/log"
		result "not ok" "$name: fails for another reason"
	fi
	cp "$dir/kept" "$src"
}

# A WRITE of one packet, put into memory when it comes before its turn.
to='mr_ptr(qp->dev, get32(pkt->ext + 8), get64(pkt->ext), pkt->payload_len, 0)'
early="\\n\\tif (pkt->opcode == ROCE_RC_WRITE_ONLY \\&\\& pkt->payload_len"
early="$early \\&\\& $to) memcpy($to, pkt->payload, pkt->payload_len);"

echo 1..33
if ! whole; then
	echo "Bail out! the simulator does not build"
	exit 1
fi
# The same command without a mutant: the failures below are the mutants'.
if timeout 170 "$dir/sim" "${seeds[@]}" >"$dir/log"; then
	result ok whole_code_passes
else
	grep '^#' "$dir/log"
	result "not ok" whole_code_passes
fi
must_fail acknowledges_one_too_many reply.c \
	's/psn_add\(qp->epsn, ROCE_PSN_MASK\)/qp->epsn/' \
	'acknowledge says|memory has it not'
must_fail executes_duplicates resp.c \
	's/\(ahead < 0\)/(ahead < -100000)/' \
	'before its turn or twice|receive|wrong|acknowledge|no reason'
must_fail executes_an_atomic_again resp.c \
	'/^static void duplicate/,/^}/s/^\tif \(atomic\)$/\tif (atomic \&\& pkt->ackreq \&\& (qp->epsn = pkt->psn, rx_atomic(qp, pkt), 1))\n\t\t;\n\telse if (atomic)/' \
	'before its turn or twice|wrong value|acknowledge|responds'
must_fail answers_an_atomic_anew resp.c \
	's/^\tremember\(qp, &op\);$/\top.va += op.atomic; remember(qp, \&op);/' \
	'atomic returned a wrong value|two additions|an addition saw'
must_fail shows_what_came_early resp.c \
	"/^static void out_of_sequence/,/^}/s/^\\tcount\\(.*OOS_RX\\);/&$early/" \
	'visible before'
must_fail never_tells_of_a_gap resp.c \
	's/^\treply_nak\(qp, ROCE_NAK_PSN_SEQ, qp->epsn\);/\t(void)qp;/' \
	'no NAK of a gap'
must_fail ignores_its_window req.c \
	's/psn_diff\(qp->psn_next, qp->psn_una\) >= qp->window\)/psn_diff(qp->psn_next, qp->psn_una) >= 100000)/' \
	'window'
must_fail has_no_timer ack.c \
	'/^void ack_timeout/,/^}/s/^\tif \(!waits\)$/\tif (waits || !waits)/' \
	'waits for ever'
must_fail forgets_to_wait_for_a_receive ack.c \
	's/^\tqp->hold = now \+ .*$/\tqp->hold = 0;/' \
	'RNR time|waits for ever'
must_fail gives_up_early ack.c \
	's/\+\+qp->timeouts > qp->retry_cnt/++qp->timeouts >= qp->retry_cnt/' \
	'no reason for it'
must_fail starts_fenced_work_at_once req.c \
	's/wr->flags & ROCE_WR_FENCE && qp->rd_out/0 \&\& qp->rd_out/' \
	'starts early'
must_fail accepts_a_bad_icrc pkt.c \
	's/return ROCE_DROP_ICRC/(void)want/' \
	'.'
must_fail leaves_receives_unflushed qp.c \
	's/^\trecv_flush\(qp\);//' \
	'not flushed'
must_fail tells_of_a_gap_that_has_filled resp.c \
	'/^static void accept/,/^}/s/qp->nak_pending = 0;//' \
	'a NAK says|no acknowledge|acknowledge says'
must_fail waits_for_a_receive_that_came ack.c \
	'/^static void progress/,/^}/s/qp->hold = 0;//' \
	'waits for ever|has not completed'
must_fail forgets_holes_at_a_refusal resp.c \
	'/^static void rnr/,/^}/s/^\tqp->held_high = .*//' \
	'no NAK of a gap'
must_fail accepts_a_bad_icrc_behind_known_headers seen.c \
	's/return roce_icrc_tail\(.*$/return 1;/' \
	'.'
must_fail takes_a_plain_write_amid_a_message plain.c \
	's/qp->disturbed \|\| //' \
	'.'
must_fail takes_a_plain_write_early plain.c \
	's/\(apsn & ROCE_PSN_MASK\) != qp->epsn \|\| //' \
	'before its turn|visible before|acknowledge|twice|wrong'
must_fail refuses_in_silence resp.c \
	'/^static void rnr/,/^}/s/^\tqp->nak_pending = .*/\tqp->nak_pending = 0;/' \
	'no refusal for want of a receive'
must_fail takes_any_q_key dgram.c \
	's/get32\(pkt->ext\) != qp->qkey/0/' \
	'completes for no datagram|wrong Q_Keys|receive'
must_fail sends_the_high_bit_as_a_q_key dgram.c \
	's/wr->rkey >> 31 \? qp->qkey : wr->rkey/wr->rkey/' \
	'not what was posted'
must_fail puts_the_ip_header_elsewhere dgram.c \
	's/memcpy\(grh \+ 20,/memcpy(grh,/' \
	'GRH area'
must_fail forgets_who_sent dgram.c \
	's/^\t\t\.src_qpn = .*//' \
	'wrong length, flags or sender'
must_fail spends_a_receive_that_is_too_short dgram.c \
	's/^\tif \(qp->srq\)/\tif (qp->qpn)/' \
	'completes for no datagram'
must_fail keeps_a_shared_one_that_is_too_short dgram.c \
	's/^\tif \(qp->srq\)/\tif (!qp->qpn)/' \
	'as it should not|asks for a receive'
must_fail drops_in_silence_what_it_may_not_write dgram.c \
	's/^\t\trecv_unusable\(qp\);/\t\tqp->has_cur = 0;/' \
	'not delivered|lives with a receive|as it should not'
must_fail loses_a_receive_with_its_queue rq.c \
	'/^void recv_flush/,/^}/s/if \(qp->has_cur\)/if (qp->has_cur \&\& !qp->srq)/' \
	'taken and is lost|not flushed'
must_fail tells_a_limit_again_and_again rq.c \
	's/^\t\tqp->srq->limit = 0;.*//' \
	'limit events'
must_fail tells_no_limit rq.c \
	's/^\t\tqp->srq->low\(qp->srq->user\);//' \
	'limit events'
must_fail overruns_places_for_completions rq.c \
	's/rq->ci == rq->pi \|\| qp->rcomp_pi - qp->rcomp_ci > qp->rcomp_mask/rq->ci == rq->pi/' \
	'receive'
must_fail skips_a_shared_receive rq.c \
	's/at = rq->ci\+\+ & rq->mask;/rq->ci += qp->srq \&\& rq->pi - rq->ci > 5; &/' \
	'receive|limit'
exit $failed
