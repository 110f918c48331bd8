// SPDX-License-Identifier: BSD-2-Clause
/*
 * Every operation of wbell/device.h, run by many threads of one queue: one
 * text for nvcc and for gcc.  A thread that meets what it does not expect
 * notes the line and stops; each wait ends by status, deadline or abort.
 */
#define SELF_FILE 0
#include "self.h"

/* Sizes of one round each: nothing, odd ones, all of the part. */
WBELL_FN uint32_t self_size(uint32_t round)
{
	return round % 4 == 0	? 64
	       : round % 4 == 1 ? 1
	       : round % 4 == 2 ? 0
				: SELF_PART;
}

/* The last round's bytes lie at the peer: the host looks. */
WBELL_KERNEL(self_put, struct self_args, a)
{
	struct self s = self_start(a);
	struct wbell_ticket t;
	uint32_t r;

	for (r = 0; r < a->each; r++) {
		self_fill(s.local, s.index, r, self_size(r));
		POST(s, wbell_put(s.q, s.local, a->lkey, s.remote, a->rkey,
				  self_size(r), &t));
		WAIT(s, t);
	}
}

/* The host has filled the peer's parts as round 0. */
WBELL_KERNEL(self_get, struct self_args, a)
{
	struct self s = self_start(a);
	struct wbell_ticket t;
	uint32_t r;
	int rc;

	for (r = 0; r < a->each; r++) {
		POST(s, wbell_get(s.q, s.local, a->lkey, s.remote, a->rkey,
				  self_size(r), &t));
		do { /* by test, for a change */
			rc = wbell_test(s.q, t);
		} while (rc == WBELL_EAGAIN && !wbell_pause(s.q, s.deadline));
		EXPECT(s, rc, 0);
		EXPECT(s, self_differs(s.local, s.index, 0, self_size(r)), 0);
		self_fill(s.local, 0xee, r, self_size(r));
	}
}

/* n bytes at 32 * n of the part, for each n. */
WBELL_KERNEL(self_put_inline, struct self_args, a)
{
	struct self s = self_start(a);
	struct wbell_ticket t = { 0 };
	uint8_t data[WBELL_INLINE_ONE_BB];
	uint32_t n, i;

	for (n = 1; n <= WBELL_INLINE_ONE_BB; n++) {
		for (i = 0; i < n; i++)
			data[i] = SELF_BYTE(s.index, n, i);
		POST(s, wbell_put_inline(s.q, data, n, s.remote + n * 32,
					 a->rkey, &t));
	}
	WAIT(s, t);
}

/* Word 0 of the peer counts; what a thread reads back only grows. */
WBELL_KERNEL(self_fetch_add, struct self_args, a)
{
	struct self s = self_start(a);
	const uint64_t *seen = (const uint64_t *)(uintptr_t)s.local;
	struct wbell_ticket t;
	uint64_t last = 0;
	uint32_t r;

	for (r = 0; r < a->each; r++) {
		POST(s, wbell_fetch_add(s.q, s.local, a->lkey, a->remote,
					a->rkey, 1, &t));
		WAIT(s, t);
		EXPECT(s, r && *(const volatile uint64_t *)seen <= last, 0);
		last = *(const volatile uint64_t *)seen;
	}
	/* the old value to nowhere */
	POST(s, wbell_fetch_add(s.q, 0, 0, a->remote, a->rkey, 1, &t));
	WAIT(s, t);
}

/* Word 1 of the peer counts those that won; each thread wins each times. */
WBELL_KERNEL(self_compare_swap, struct self_args, a)
{
	struct self s = self_start(a);
	const volatile uint64_t *seen =
		(const volatile uint64_t *)(uintptr_t)s.local;
	struct wbell_ticket t;
	uint64_t guess = 0;
	uint32_t won = 0;

	while (won < a->each) {
		EXPECT(s, wbell_now_ns() >= s.deadline, 0);
		POST(s, wbell_compare_swap(s.q, s.local, a->lkey, a->remote + 8,
					   a->rkey, guess, guess + 1, &t));
		WAIT(s, t);
		won += *seen == guess;
		guess = *seen + (*seen == guess);
	}
}

/* Word 2 of the peer counts messages, in each way of ordering. */
WBELL_KERNEL(self_put_signal, struct self_args, a)
{
	struct self s = self_start(a);
	struct wbell_ticket t;
	int order;

	for (order = WBELL_ORDER_NIC; order <= WBELL_ORDER_WAIT; order++) {
		self_fill(s.local, s.index, (uint32_t)order, 1000);
		POST(s, wbell_put_signal(s.q, s.local, a->lkey, s.remote,
					 a->rkey, 1000, a->remote + 16, a->rkey,
					 1, order, &t));
		WAIT(s, t);
	}
}

WBELL_FN struct wbell_wr self_wr(const struct self *s, uint32_t opcode,
				 const struct wbell_sge *sge, uint32_t n)
{
	struct wbell_wr wr = { 0 };

	wr.opcode = (uint8_t)opcode;
	wr.raddr = s->remote;
	wr.rkey = s->a->rkey;
	wr.sge = sge;
	wr.num_sge = (uint8_t)n;
	return wr;
}

/* A list, then inline bytes of two blocks, NOP, an atomic into the sink. */
WBELL_KERNEL(self_post, struct self_args, a)
{
	struct self s = self_start(a);
	struct wbell_sge sge[2];
	struct wbell_ticket t = { 0 };
	struct wbell_wr wr;

	self_fill(s.local, s.index, 0, 600);
	sge[0].addr = s.local;
	sge[0].len = 100;
	sge[1].addr = s.local + 100;
	sge[1].len = 500;
	sge[0].lkey = sge[1].lkey = a->lkey;
	wr = self_wr(&s, WBELL_OP_WRITE, sge, 2);
	wr.flags = WBELL_POST_UNSIGNALLED;
	POST(s, wbell_post(s.q, &wr, &t));
	sge[0].len = 50;
	wr = self_wr(&s, WBELL_OP_WRITE, sge, 1);
	wr.flags = WBELL_POST_INLINE;
	wr.raddr += 1024;
	POST(s, wbell_post(s.q, &wr, &t));
	wr = self_wr(&s, WBELL_OP_NOP, sge, 0);
	POST(s, wbell_post(s.q, &wr, &t));
	wr = self_wr(&s, WBELL_OP_FA, sge, 0);
	wr.raddr = a->remote;
	wr.swap_add = 1;
	wr.flags = WBELL_POST_FENCE;
	POST(s, wbell_post(s.q, &wr, &t));
	WAIT(s, t);
}

/* One put by hand, its doorbell left to a later flush. */
WBELL_KERNEL(self_batch, struct self_args, a)
{
	struct self s = self_start(a);
	__u64 index = 0;
	uint64_t slot;
	uint32_t r;

	self_fill(s.local, s.index, 0, 256);
	for (r = 0; r < a->each; r++) {
		/* who waits for room rings first: nobody else might */
		while (wbell_reserve(s.q, 1, &index) == WBELL_EAGAIN) {
			(void)wbell_flush(s.q);
			EXPECT(s, wbell_pause(s.q, s.deadline), 0);
		}
		slot = wbell_slot(s.q, index);
		wbell_wqe_raddr(slot + 16, s.remote + r * 64, a->rkey);
		wbell_wqe_data(slot + 32, s.local + r * 64, a->lkey, 64);
		wbell_wqe_ctrl(s.q, index, WBELL_OP_WRITE, 3,
			       WBELL_CTRL_CQ_UPDATE, 0);
		EXPECT(s, wbell_publish(s.q, index, 1, WBELL_MORE), 0);
	}
	POST(s, wbell_flush(s.q));
	EXPECT(s, wbell_quiet(s.q, s.deadline), 0);
}

/* One thread's key is wrong: it learns why, others that they were flushed. */
WBELL_KERNEL(self_one_fails, struct self_args, a)
{
	struct self s = self_start(a);
	uint32_t rkey = s.index == s.count / 2 ? SELF_BAD : a->rkey;
	struct wbell_ticket t = { 0 };
	int rc;

	RETRY(s, rc, wbell_put(s.q, s.local, a->lkey, s.remote, rkey, 64, &t));
	if (rc) { /* the queue had failed before */
		EXPECT(s, rc, WBELL_WC_REM_ACCESS_ERR);
		return;
	}
	rc = wbell_wait(s.q, t, s.deadline);
	s.lane->cause = rc == WBELL_WC_REM_ACCESS_ERR;
	if (rkey == SELF_BAD)
		EXPECT(s, rc, WBELL_WC_REM_ACCESS_ERR);
	else if (rc)
		EXPECT(s, rc, WBELL_WC_WR_FLUSH_ERR);
}

/* The NIC is silent; the host sets the abort word. */
WBELL_KERNEL(self_abort, struct self_args, a)
{
	struct self s = self_start(a);
	struct wbell_ticket t = { 0 };
	int rc;

	RETRY(s, rc,
	      wbell_put(s.q, s.local, a->lkey, s.remote, a->rkey, 64, &t));
	if (!rc)
		rc = wbell_wait(s.q, t, s.deadline);
	EXPECT(s, rc, WBELL_ECANCELED);
	EXPECT(s, wbell_quiet(s.q, s.deadline), WBELL_ECANCELED);
}

/* ---- one thread ---- */

WBELL_FN void self_receive(struct self *s, uint32_t opcode, uint32_t round,
			   uint32_t n, uint32_t imm)
{
	struct wbell_recv_done d;

	EXPECT(*s, wbell_recv_wait(s->peer, &d, s->deadline), 0);
	EXPECT(*s, d.opcode, (int)opcode);
	EXPECT(*s, d.len, (int)n);
	EXPECT(*s, d.index, (int)round);
	if (opcode != WBELL_CQE_RESP_SEND)
		EXPECT(*s, d.imm, (int)imm);
}

/* Receives posted at the peer, then send, send_imm, put_imm into them. */
WBELL_KERNEL(self_two_sided, struct self_args, a)
{
	struct self s = self_start(a);
	struct wbell_recv_done d;
	struct wbell_ticket t = { 0 };
	uint32_t r;

	EXPECT(s, wbell_recv_test(s.peer, &d), WBELL_EAGAIN);
	for (r = 0; r < a->each && !s.lane->line; r += 3) {
		self_fill(s.local, s.index, r, 200);
		EXPECT(s, wbell_recv(s.peer, s.remote, a->peer_key, 512), 0);
		EXPECT(s, wbell_recv(s.peer, s.remote, a->peer_key, 512), 0);
		EXPECT(s, wbell_recv(s.peer, 0, 0, 0), 0);
		POST(s, wbell_send(s.q, s.local, a->lkey, 200, &t));
		WAIT(s, t);
		self_receive(&s, WBELL_CQE_RESP_SEND, r, 200, 0);
		EXPECT(s, self_differs(s.remote, s.index, r, 200), 0);
		POST(s,
		     wbell_send_imm(s.q, s.local, a->lkey, 0, 0x1000 + r, &t));
		self_receive(&s, WBELL_CQE_RESP_SEND_IMM, r + 1, 0, 0x1000 + r);
		POST(s, wbell_put_imm(s.q, s.local, a->lkey, s.remote + 512,
				      a->rkey, 200, r, &t));
		self_receive(&s, WBELL_CQE_RESP_WR_IMM, r + 2, 200, r);
		EXPECT(s, self_differs(s.remote + 512, s.index, r, 200), 0);
		WAIT(s, t);
	}
}

/* A status each, and nothing reserved. */
WBELL_KERNEL(self_bad_input, struct self_args, a)
{
	struct self s = self_start(a);
	__u64 before = wbell_ld_relaxed(WBELL_ADDR(&s.q->reserved));
	struct wbell_dqueue *stranger =
		(struct wbell_dqueue *)(uintptr_t)s.local; /* zeroed */
	struct wbell_ticket t = { 0 };
	struct wbell_wr wr = self_wr(&s, 0x3f, NULL, 0);
	uint8_t byte = 0;

	EXPECT(s, wbell_put(NULL, 0, 0, 0, 0, 8, &t), WBELL_EINVAL);
	EXPECT(s, wbell_put(stranger, 0, 0, 0, 0, 8, &t), WBELL_EPROTO);
	EXPECT(s, wbell_wait(NULL, t, 0), WBELL_EINVAL);
	EXPECT(s, wbell_test(stranger, t), WBELL_EPROTO);
	EXPECT(s, wbell_quiet(stranger, 0), WBELL_EPROTO);
	EXPECT(s, wbell_put(s.q, 0, 0, 0, 0, WBELL_MSG_MAX + 1ULL, &t),
	       WBELL_EINVAL);
	EXPECT(s, wbell_put_inline(s.q, &byte, 0, 0, 0, &t), WBELL_EINVAL);
	EXPECT(s, wbell_put_inline(s.q, &byte, 29, 0, 0, &t), WBELL_EINVAL);
	EXPECT(s, wbell_put_inline(s.q, NULL, 1, 0, 0, &t), WBELL_EINVAL);
	EXPECT(s, wbell_fetch_add(s.q, 0, 0, 4, 0, 1, &t), WBELL_EINVAL);
	EXPECT(s, wbell_put_signal(s.q, 0, 0, 0, 0, 8, 0, 0, 1, 3, &t),
	       WBELL_EINVAL);
	EXPECT(s, wbell_post(s.q, NULL, &t), WBELL_EINVAL);
	EXPECT(s, wbell_post(s.q, &wr, &t), WBELL_EINVAL);
	EXPECT(s, wbell_reserve(s.q, 0, &before), WBELL_EINVAL);
	EXPECT(s, wbell_ld_relaxed(WBELL_ADDR(&s.q->reserved)) != before, 0);
}

/* After an error: every call says so, and goes on saying so. */
WBELL_KERNEL(self_sticky, struct self_args, a)
{
	struct self s = self_start(a);
	struct wbell_ticket good = { 0 }, bad = { 0 }, t = { 0 };
	__u64 index;

	POST(s, wbell_put(s.q, s.local, a->lkey, s.remote, a->rkey, 8, &good));
	POST(s, wbell_put(s.q, s.local, SELF_BAD, s.remote, a->rkey, 8, &bad));
	EXPECT(s, wbell_wait(s.q, bad, s.deadline), WBELL_WC_LOC_PROT_ERR);
	EXPECT(s, wbell_wait(s.q, good, s.deadline), 0);
	EXPECT(s, wbell_put(s.q, s.local, a->lkey, s.remote, a->rkey, 8, &t),
	       WBELL_WC_LOC_PROT_ERR);
	EXPECT(s, wbell_reserve(s.q, 1, &index), WBELL_WC_LOC_PROT_ERR);
	EXPECT(s, wbell_quiet(s.q, s.deadline), WBELL_WC_LOC_PROT_ERR);
	EXPECT(s, wbell_test(s.q, bad), WBELL_WC_LOC_PROT_ERR);
}

/* The NIC is silent: as many posts as blocks, then a status, and no wait. */
WBELL_KERNEL(self_full, struct self_args, a)
{
	struct self s = self_start(a);
	struct wbell_ticket t = { 0 };
	__u64 index;
	uint32_t n;

	for (n = 0; n < wbell_depth(s.q); n++)
		EXPECT(s,
		       wbell_put(s.q, s.local, a->lkey, s.remote, a->rkey, 8,
				 &t),
		       0);
	EXPECT(s, wbell_put(s.q, s.local, a->lkey, s.remote, a->rkey, 8, &t),
	       WBELL_EAGAIN);
	EXPECT(s, wbell_reserve(s.q, 1, &index), WBELL_EAGAIN);
	EXPECT(s, wbell_test(s.q, t), WBELL_EAGAIN);
	EXPECT(s, wbell_wait(s.q, t, wbell_deadline_us(2000)), WBELL_ETIMEDOUT);
	EXPECT(s, wbell_quiet(s.q, wbell_deadline_us(2000)), WBELL_ETIMEDOUT);
}

/* ---- bench ---- */

/* A window of puts, and the last one's completion stands for all. */
WBELL_KERNEL(self_rate, struct self_args, a)
{
	struct self s = self_start(a);
	uint64_t start = wbell_now_ns();
	struct wbell_ticket t = { 0 };
	uint32_t left, n;

	for (left = a->each; left; left -= n) {
		for (n = 0; n < a->window && n < left; n++)
			POST(s, wbell_put(s.q, a->local, a->lkey, a->remote,
					  a->rkey, a->size, &t));
		WAIT(s, t);
		s.deadline = wbell_deadline_us(a->timeout_us);
	}
	s.lane->ops = a->each;
	s.lane->ns = wbell_now_ns() - start;
}

/* One at a time: post, then its completion. */
WBELL_KERNEL(self_latency, struct self_args, a)
{
	struct self s = self_start(a);
	uint64_t start = wbell_now_ns();
	struct wbell_ticket t = { 0 };
	uint64_t value = 0;
	uint32_t r;

	for (r = 0; r < a->each; r++, value++) {
		POST(s, wbell_put_inline(s.q, &value, sizeof(value), s.remote,
					 a->rkey, &t));
		WAIT(s, t);
	}
	s.lane->ops = a->each;
	s.lane->ns = wbell_now_ns() - start;
}
