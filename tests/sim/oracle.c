// SPDX-License-Identifier: BSD-2-Clause
/*
 * Judges memory and completions.
 *
 * The reader knows what each message brings and in which order.  It walks
 * over memory as far as bytes have come, and then nothing may lie beyond but
 * what may be placed early: whole middle packets of the one message that is
 * under way (docs/transport.md).
 */
#include <string.h>

#include "sim.h"

static void fail(struct end *e, const char *what, unsigned msg, uint32_t at)
{
	world_fail(e->q.w, "link %u.%u: %s (message %u, byte %u)", e->link->id,
		   e->side, what, msg, at);
}

/* Where byte at of m lies at its receiver, and how many follow it there. */
static const uint8_t *place(struct end *to, const struct msg *m, uint32_t at,
			    uint32_t *run)
{
	const struct rcv *v;

	if (m->op == ROCE_OP_WRITE) {
		*run = m->len - at;
		if (m->bad == BAD_RKEY)
			return NULL;
		return region_ptr(&to->r[R_DST], m->raddr) + at;
	}
	if (m->rcv >= to->q.rq->posted)
		return NULL;
	v = &to->q.rq->rcv[m->rcv];
	for (unsigned i = 0; i < v->nsge; i++) {
		if (at < v->sge[i].len) {
			*run = v->sge[i].len - at;
			if (*run > m->len - at)
				*run = m->len - at;
			return region_ptr(to->q.rq->in, v->sge[i].addr) + at;
		}
		at -= v->sge[i].len;
	}
	return NULL; /* longer than the receive */
}

static bool touched(struct end *to, const struct msg *m, uint32_t at)
{
	uint32_t run;
	const uint8_t *p = place(to, m, at, &run);

	return p && *p;
}

static uint64_t word_of(const struct end *e)
{
	uint64_t v;

	memcpy(&v, e->r[R_WORD].mem, sizeof(v));
	return v;
}

static bool brings_bytes(const struct msg *m)
{
	return m->op == ROCE_OP_SEND || m->op == ROCE_OP_WRITE;
}

/* Bytes from e->fo on that have come. */
static void walk_bytes(struct end *e, const struct msg *m)
{
	while (e->fo < m->len) {
		uint32_t run, i = 0;
		const uint8_t *p = place(e, m, e->fo, &run);

		if (!p)
			return;
		while (i < run && p[i] == pattern(m->id, e->fo + i))
			i++;
		e->fo += i;
		if (i == run)
			continue;
		if (p[i])
			fail(e, "a wrong byte", e->fm, e->fo);
		return;
	}
}

static bool walk_one(struct end *e, const struct msg *m)
{
	if (m->changes) {
		if (word_of(e) == e->word)
			return false;
		if (word_of(e) != m->after)
			fail(e, "the word is not what the atomic makes of it",
			     e->fm, 0);
		e->word = m->after;
		return true;
	}
	if (!brings_bytes(m))
		return true;
	walk_bytes(e, m);
	if (e->fo < m->len)
		return false;
	e->fo = 0;
	return true;
}

/*
 * The reader's walk.  Of several atomics executed in one burst it sees the
 * last value only, and takes the others for done.
 */
static bool word_is_later(const struct end *e)
{
	const struct end *p = e->peer;
	uint64_t v = word_of(e);

	for (unsigned i = e->fm; i < p->posted; i++)
		if (p->msg[i].changes && p->msg[i].after == v)
			return true;
	return false;
}

static void walk(struct end *e)
{
	struct end *p = e->peer;
	bool later = word_of(e) != e->word && word_is_later(e);

	while (e->fm < p->posted) {
		const struct msg *m = &p->msg[e->fm];

		if (m->changes && later && m->after != word_of(e))
			e->word = m->after;
		else if (!walk_one(e, m))
			return;
		else if (m->changes)
			later = false;
		e->fm++;
	}
}

/* Of the message under way: neither its last packet nor half a packet. */
static void look_at_current(struct end *e, const struct msg *m)
{
	uint32_t mtu = e->link->mtu;
	uint32_t last = m->len ? (m->len - 1) / mtu * mtu : 0;

	if (e->fo % mtu && m->bad == GOOD)
		fail(e, "half a packet is visible", e->fm, e->fo);
	if (m->len && e->fo <= last && touched(e, m, m->len - 1))
		fail(e, "the last byte is visible before the rest", e->fm,
		     m->len - 1);
	if (e->link->mode == M_BACK_N && e->fo + mtu < m->len &&
	    touched(e, m, e->fo + mtu))
		fail(e, "a byte is visible beyond a gap", e->fm, e->fo + mtu);
}

static void look_at_later(struct end *e, unsigned at, bool all)
{
	const struct msg *m = &e->peer->msg[at];
	uint32_t step = all ? 1 : m->len > 1 ? m->len - 1 : 1;

	for (uint32_t i = 0; i < m->len; i += step)
		if (touched(e, m, i)) {
			fail(e, "a later message is visible before its turn",
			     at, i);
			return;
		}
}

/* UC: whatever has come of it is right, and its last byte comes last. */
static void look_at_unacked(struct end *e, unsigned at)
{
	const struct msg *m = &e->peer->msg[at];
	const uint8_t *p;
	uint32_t run;
	bool last;

	if (m->op != ROCE_OP_WRITE || !m->len || m->bad == BAD_RKEY)
		return;
	p = place(e, m, 0, &run);
	last = p[m->len - 1];
	for (uint32_t i = 0; i < m->len; i++)
		if ((p[i] || last) && p[i] != pattern(m->id, i)) {
			fail(e, "a wrong byte", at, i);
			return;
		}
}

void oracle_look(struct end *e, bool all)
{
	struct end *p = e->peer;
	unsigned last = all ? p->nmsg : p->posted;

	if (e->link->type == ROCE_UC) {
		for (unsigned i = 0; i < last; i++)
			look_at_unacked(e, i);
		return;
	}
	walk(e);
	if (word_of(e) != e->word)
		fail(e, "an atomic has been executed before its turn or twice",
		     e->fm, 0);
	for (unsigned i = e->fm; i < last && !e->q.w->lost; i++) {
		const struct msg *m = &p->msg[i];

		if (!brings_bytes(m))
			continue;
		if (i == e->fm)
			look_at_current(e, m);
		else
			look_at_later(e, i, all);
	}
}

/* ---- what a completion promises ---- */

static uint8_t read_byte(struct end *e, const struct msg *m, uint32_t at)
{
	if (m->from != NONE)
		return pattern(e->msg[m->from].id, at);
	return pattern(e->link->id,
		       (uint32_t)(m->raddr - e->peer->r[R_LIB].iova) + at);
}

static void check_read(struct end *e, const struct msg *m)
{
	uint32_t at = 0;

	for (unsigned k = 0; k < m->nsge; k++) {
		uint8_t *p = region_ptr(&e->r[R_GET], m->sge[k].addr);

		for (uint32_t n = 0; n < m->sge[k].len; n++, at++)
			if (p[n] != read_byte(e, m, at)) {
				fail(e, "a READ brought a wrong byte",
				     (unsigned)(m - e->msg), at);
				return;
			}
	}
}

static void check_atomic(struct end *e, const struct msg *m)
{
	struct node *n = e->peer->q.node;
	uint64_t was;

	memcpy(&was, region_ptr(&e->r[R_GET], m->sge[0].addr), 8);
	if (m->shared) {
		if (!e->link->cut)
			n->adds[n->nadds++] = was;
		return;
	}
	if (was != m->expect)
		fail(e, "an atomic returned a wrong value",
		     (unsigned)(m - e->msg), 0);
}

static void check_done(struct end *e, unsigned i)
{
	const struct msg *m = &e->msg[i];

	if (m->bad != GOOD)
		fail(e, "work that must fail is complete", i, 0);
	if (e->link->type == ROCE_UC)
		return; /* it means that it has been sent */
	if (e->peer->fm <= i)
		oracle_look(e->peer, false);
	if (e->peer->fm <= i)
		fail(e, "complete, but the peer's memory has it not", i,
		     e->peer->fo);
	if (m->op == ROCE_OP_READ)
		check_read(e, m);
	else if (m->op == ROCE_OP_CS || m->op == ROCE_OP_FA)
		check_atomic(e, m);
}

/* ---- send completions ---- */

/* The message a completion is for, all before it being silent and good. */
static unsigned find_msg(struct end *e, const struct roce_comp *c)
{
	unsigned i = e->resolved;

	while (i < e->posted && e->msg[i].index != c->index) {
		if (e->msg[i].flags & ROCE_WR_SIGNALLED || e->failed)
			break;
		i++;
	}
	if (i < e->posted && e->msg[i].index == c->index)
		return i;
	fail(e, "a completion out of order", i, c->index);
	return NONE;
}

static bool retry_is_due(const struct end *e)
{
	uint64_t wait = (4096ULL << e->attr.timeout) * (e->attr.retry_cnt + 1);

	return e->q.w->now - e->progress >= wait;
}

/* Its responder had to refuse work, or met a receive of no use. */
static bool is_blamed(const struct end *e)
{
	const struct end *p = e->peer;

	for (unsigned i = 0; i < p->posted; i++)
		if (p->msg[i].bad == BAD_RKEY || p->msg[i].bad == BAD_LONG ||
		    p->msg[i].bad == BAD_RCV)
			return true;
	for (unsigned i = 0; e->q.vague && i < e->q.own.posted; i++)
		if (e->q.own.rcv[i].bad)
			return true;
	return false;
}

static bool may_end_so(const struct end *e, const struct msg *m, uint8_t synd)
{
	switch (synd) {
	case WBELL_SYND_RETRY_EXC:
		return retry_is_due(e);
	case WBELL_SYND_RNR_EXC:
		/* what came behind it in its burst may have been progress */
		return e->attr.rnr_retry < 7 &&
		       e->most_rnrs > e->attr.rnr_retry;
	case WBELL_SYND_REMOTE_ACCESS:
		return m->bad == BAD_RKEY;
	case WBELL_SYND_LOCAL_PROT:
		return m->bad == BAD_LKEY;
	case WBELL_SYND_REMOTE_INVAL_REQ:
		return m->bad == BAD_LONG;
	case WBELL_SYND_REMOTE_OP:
		return m->bad == BAD_RCV;
	case WBELL_SYND_WR_FLUSH:
		return e->q.hand || is_blamed(e);
	default:
		return false;
	}
}

static void first_error(struct end *e, const struct msg *m, uint8_t synd)
{
	e->failed = true;
	e->syndrome = synd;
	if (!may_end_so(e, m, synd))
		world_fail(e->q.w,
			   "link %u.%u: message %u ends with syndrome "
			   "%02x, no reason for it (%llu ns without "
			   "progress, %u RNR NAKs)",
			   e->link->id, e->side, (unsigned)(m - e->msg), synd,
			   (unsigned long long)(e->q.w->now - e->progress),
			   e->most_rnrs);
}

static void send_comp(struct end *e, const struct roce_comp *c)
{
	unsigned i = find_msg(e, c);

	if (i == NONE)
		return;
	if (c->op == 0 && e->msg[i].op != ROCE_OP_NOP)
		fail(e, "a completion forgot its opcode", i, 0);
	for (; e->resolved < i; e->resolved++)
		check_done(e, e->resolved);
	if (!c->syndrome && e->failed)
		fail(e, "complete behind an error", i, 0);
	else if (!c->syndrome)
		check_done(e, i);
	else if (!e->failed)
		first_error(e, &e->msg[i], c->syndrome);
	else if (c->syndrome != WBELL_SYND_WR_FLUSH)
		fail(e, "a second error", i, c->syndrome);
	e->resolved = i + 1;
	e->bb_ci = e->msg[i].last_bb;
}

/* ---- receive completions ---- */

/* The message of the peer's that takes the nth receive. */
static const struct msg *sender_of(const struct end *e, unsigned nth)
{
	const struct end *p = e->peer;

	for (unsigned i = 0; i < p->posted; i++)
		if (p->msg[i].wants && !nth--)
			return &p->msg[i];
	return NULL;
}

static bool received(struct end *e, const struct msg *m)
{
	const struct rcv *v = &e->q.own.rcv[e->q.rcv_done];
	uint32_t at = 0;

	for (unsigned k = 0; k < v->nsge; k++) {
		const uint8_t *p = region_ptr(&e->r[R_RCV], v->sge[k].addr);

		for (uint32_t n = 0; n < v->sge[k].len && at < m->len; n++)
			if (p[n] != pattern(m->id, at++))
				return false;
	}
	return true;
}

#define CARRIED (ROCE_WR_IMM | ROCE_WR_SOLICITED)

/* UC: any that was sent, for some are lost and some may come twice. */
static const struct msg *unacked_sender_of(struct end *e,
					   const struct roce_comp *c)
{
	for (unsigned i = 0; i < e->peer->posted; i++) {
		const struct msg *m = &e->peer->msg[i];

		if (m->wants && m->len == c->len &&
		    (m->flags & CARRIED) == (c->flags & CARRIED) &&
		    (!(m->flags & ROCE_WR_IMM) || m->imm == c->imm) &&
		    (m->op == ROCE_OP_WRITE) ==
			    !!(c->flags & ROCE_COMP_WRITE) &&
		    (m->op == ROCE_OP_WRITE || received(e, m)))
			return m;
	}
	return NULL;
}

static void recv_good(struct end *e, const struct roce_comp *c)
{
	const struct msg *m = sender_of(e, e->q.rcv_done);
	uint8_t flags;

	if (e->link->type == ROCE_UC)
		m = unacked_sender_of(e, c);
	if (!m) {
		fail(e, "a receive completes for no message", e->q.rcv_done, 0);
		return;
	}
	flags = m->flags & CARRIED;
	if (m->op == ROCE_OP_WRITE)
		flags |= ROCE_COMP_WRITE;
	if (c->len != m->len || c->flags != flags ||
	    (flags & ROCE_WR_IMM && c->imm != m->imm))
		fail(e, "a receive says wrong length, flags or immediate",
		     (unsigned)(m - e->peer->msg), c->len);
	if (e->link->type == ROCE_RC && e->fm <= (unsigned)(m - e->peer->msg))
		fail(e, "a receive is complete before its bytes",
		     (unsigned)(m - e->peer->msg), e->fo);
}

static bool recv_may_end_so(const struct end *e, const struct msg *m,
			    unsigned at, uint8_t synd)
{
	switch (synd) {
	case WBELL_SYND_LOCAL_LENGTH:
		return m && m->bad == BAD_LONG;
	case WBELL_SYND_LOCAL_PROT:
		return e->q.rq->rcv[at].bad;
	case WBELL_SYND_WR_FLUSH:
		return roce_qp_state(e->q.qp) == ROCE_ERR;
	default:
		return false;
	}
}

static void recv_comp(struct end *e, const struct roce_comp *c)
{
	const struct msg *m = sender_of(e, e->q.rcv_done);
	unsigned at = e->q.rcv_done;

	if (e->q.rq->share)
		at = m ? m->rcv : NONE;
	if (at >= e->q.rq->posted) {
		fail(e, "a receive completes that was not taken", e->q.rcv_done,
		     c->index);
		return;
	}
	if (!c->syndrome)
		recv_good(e, c);
	else if (!recv_may_end_so(e, m, at, c->syndrome))
		fail(e, "a receive ends without a reason", at, c->syndrome);
	rcvs_done(&e->q, at, c->index, !c->syndrome,
		  m && m->op == ROCE_OP_SEND ? m->len : 0);
}

void oracle_comp(struct node *n, const struct roce_comp *c)
{
	struct end *e = (struct end *)queue_of(c->qp);

	if (e->q.is_ud) {
		ud_comp((struct ud *)e, c);
		return;
	}
	world_say(n->w, "link %u.%u completes %s %u: %02x", e->link->id,
		  e->side, c->recv ? "recv" : "send", c->index, c->syndrome);
	world_hash(n->w, (uint64_t)e->link->id << 48 | (uint64_t)e->side << 40 |
				 (uint64_t)c->recv << 32 | c->syndrome << 16 |
				 c->index);
	if (c->recv)
		recv_comp(e, c);
	else
		send_comp(e, c);
}

/* ---- at the end ---- */

static bool is_broken(const struct end *e)
{
	return e->link->cut || roce_qp_state(e->q.qp) != ROCE_RTS ||
	       roce_qp_state(e->peer->q.qp) != ROCE_RTS;
}

static void end_of_receives(struct end *e)
{
	const struct rcvs *r = e->q.rq;
	bool err = roce_qp_state(e->q.qp) == ROCE_ERR;

	for (unsigned i = 0; i < e->peer->nmsg; i++) {
		const struct msg *m = &e->peer->msg[i];

		if (err && r->share && m->wants && m->rcv != NONE &&
		    !r->rcv[m->rcv].done)
			fail(e, "a receive was taken and is lost", i, m->rcv);
	}
	if (err && !r->share && e->q.rcv_done != r->posted)
		fail(e, "receives are not flushed", e->q.rcv_done, 0);
	if (e->link->type == ROCE_UC)
		return;
	if (!is_broken(e) &&
	    (e->q.rcv_done < e->wants || e->q.rcv_done != e->q.rcv_due))
		fail(e, "a receive has not completed", e->q.rcv_done, 0);
}

static void end_of(struct end *e)
{
	oracle_look(e, true);
	if (!e->q.vague && !e->q.rq->share)
		rcvs_judge(e->q.rq, "a connection");
	if (!e->q.qp)
		return;
	if (e->posted != e->nmsg || e->resolved != e->nmsg)
		world_fail(e->q.w,
			   "link %u.%u: waits for ever: %u of %u messages "
			   "posted, %u resolved",
			   e->link->id, e->side, e->posted, e->nmsg,
			   e->resolved);
	end_of_receives(e);
}

/* Each addition of one has seen a value of its own. */
static void end_of_word(struct node *n)
{
	for (unsigned i = 0; i < n->nadds; i++) {
		if (n->adds[i] >= n->word)
			world_fail(n->w,
				   "node %u: an addition saw %llu, the "
				   "word is %llu",
				   n->id, (unsigned long long)n->adds[i],
				   (unsigned long long)n->word);
		for (unsigned k = 0; k < i; k++)
			if (n->adds[i] == n->adds[k])
				world_fail(n->w,
					   "node %u: two additions saw "
					   "%llu",
					   n->id,
					   (unsigned long long)n->adds[i]);
	}
}

static void same(const struct node *n, const char *what, unsigned counter,
		 uint64_t seen)
{
	uint64_t counted = roce_counter(n->dev, counter);

	if (counted != seen)
		world_fail(n->w, "node %u: %llu %s, %llu counted", n->id,
			   (unsigned long long)seen, what,
			   (unsigned long long)counted);
}

static void end_of_counters(struct node *n)
{
	uint64_t rx = roce_counter(n->dev, ROCE_C_RX), parse = 0, all = 0;

	for (unsigned i = 1; i < ROCE_DROP_MAX; i++) {
		all += roce_counter(n->dev, i);
		if (i < ROCE_DROP_PKEY)
			parse += roce_counter(n->dev, i);
	}
	/* what a queue refuses has been received before */
	if (rx > n->given || rx + all < n->given)
		world_fail(n->w,
			   "node %u: %llu frames given, %llu received, "
			   "%llu dropped",
			   n->id, (unsigned long long)n->given,
			   (unsigned long long)rx, (unsigned long long)all);
	parse -= n->too_long; /* for their queue, not for the device */
	if (parse && !n->got_bad)
		world_fail(n->w, "node %u: %llu good frames found malformed",
			   n->id, (unsigned long long)parse);
	same(n, "frames taken", ROCE_C_TX, n->taken);
	same(n, "queues in error", ROCE_C_QP_ERROR, n->errors);
	same(n, "acknowledges sent", ROCE_C_ACK_TX, n->said[0]);
	same(n, "RNR NAKs sent", ROCE_C_RNR_TX, n->said[1]);
	same(n, "NAKs sent", ROCE_C_NAK_TX, n->said[3]);
	same(n, "wrong Q_Keys", ROCE_DROP_QKEY, n->wrong_qkey);
	same(n, "datagrams without a receive", ROCE_DROP_NO_RECV, n->no_recv);
}

void oracle_end(struct world *w)
{
	for (unsigned i = 0; i < w->nlink; i++)
		for (unsigned k = 0; k < 2; k++)
			end_of(&w->link[i]->end[k]);
	for (unsigned i = 0; i < w->nud; i++)
		ud_end(w->ud[i]);
	for (unsigned i = 0; i < w->nshare; i++)
		share_judge(w->share[i]);
	for (unsigned i = 0; i < w->nnode; i++) {
		struct node *n = &w->node[i];

		end_of_word(n);
		if (!n->alive)
			continue;
		end_of_counters(n);
		if (roce_tx_pending(n->dev) || roce_deadline(n->dev) != ~0ULL)
			world_fail(w,
				   "node %u: not at rest with nothing left "
				   "to do",
				   i);
	}
}
