// SPDX-License-Identifier: BSD-2-Clause
#include <time.h>

#include "cases.h"

static uint8_t *part(struct run *run, uint32_t i)
{
	return rig_payload(run->rig, 1) + (size_t)SELF_PART * (1 + i);
}

static uint64_t word(struct run *run, unsigned i)
{
	return ((volatile uint64_t *)rig_payload(run->rig, 1))[i];
}

/* n bytes of round r at off of a thread's part, at the peer. */
static int whole(struct run *run, uint32_t lane, uint32_t off, uint32_t r,
		 uint32_t n)
{
	const uint8_t *at = part(run, lane) + off;
	uint32_t i;

	for (i = 0; i < n; i++)
		if (at[i] != SELF_BYTE(lane, r, i))
			return run_fail(run,
					"part of thread %u, byte %u: "
					"%#x at the peer, %#x was sent",
					lane, off + i, at[i],
					SELF_BYTE(lane, r, i));
	return 0;
}

static int counted(struct run *run, unsigned i, uint64_t want)
{
	uint64_t got = word(run, i);

	if (got == want)
		return 0;
	return run_fail(run, "word %u of the peer: %llu, expected %llu", i,
			(unsigned long long)got, (unsigned long long)want);
}

static int check_put(struct run *run)
{
	uint32_t i;
	int rc = 0;

	for (i = 0; i < run->lanes && !rc; i++)
		rc = whole(run, i, 0, run->args->each - 1, SELF_PART);
	return rc;
}

static void fill_peer(struct run *run)
{
	uint32_t i, k;

	for (i = 0; i < run->lanes; i++)
		for (k = 0; k < SELF_PART; k++)
			part(run, i)[k] = SELF_BYTE(i, 0, k);
}

static int check_put_inline(struct run *run)
{
	uint32_t i, n;
	int rc = 0;

	for (i = 0; i < run->lanes && !rc; i++)
		for (n = 1; n <= WBELL_INLINE_ONE_BB && !rc; n++) {
			rc = whole(run, i, n * 32, n, n);
			if (!rc && part(run, i)[n * 32 + n])
				rc = run_fail(run, "%u inline bytes: more came",
					      n);
		}
	return rc;
}

static int check_fetch_add(struct run *run)
{
	return counted(run, 0, (uint64_t)run->lanes * (run->args->each + 1));
}

static int check_compare_swap(struct run *run)
{
	return counted(run, 1, (uint64_t)run->lanes * run->args->each);
}

static int check_put_signal(struct run *run)
{
	uint32_t i;
	int rc = counted(run, 2, 3ULL * run->lanes);

	for (i = 0; i < run->lanes && !rc; i++)
		rc = whole(run, i, 0, WBELL_ORDER_WAIT, 1000);
	return rc;
}

static int check_post(struct run *run)
{
	uint32_t i;
	int rc = counted(run, 0, run->lanes);

	for (i = 0; i < run->lanes && !rc; i++)
		rc = whole(run, i, 0, 0, 600);
	for (i = 0; i < run->lanes && !rc; i++)
		rc = whole(run, i, 1024, 0, 50);
	return rc;
}

static int check_batch(struct run *run)
{
	uint32_t i;
	int rc = 0;

	for (i = 0; i < run->lanes && !rc; i++)
		rc = whole(run, i, 0, 0, 64 * run->args->each);
	return rc;
}

static int check_lanes(struct run *run)
{
	uint32_t i;
	int rc = counted(run, 0, run->lanes);

	if (!rc)
		rc = counted(run, 2, run->lanes);
	for (i = 0; i < run->lanes && !rc; i++)
		rc = whole(run, i, 0, run->args->each - 1, 1000);
	return rc;
}

/* One message, addition and signal of each group. */
static int check_groups(struct run *run, uint32_t threads)
{
	uint32_t per_block = (run->grid.threads + threads - 1) / threads;
	uint32_t i, n, groups = per_block * run->grid.blocks;
	int rc = counted(run, 0, groups);

	if (!rc)
		rc = counted(run, 1, 7);
	if (!rc)
		rc = counted(run, 2, groups);
	for (i = 0; i < groups && !rc; i++) {
		n = run->grid.threads - i % per_block * threads;
		rc = whole(run,
			   i / per_block * run->grid.threads +
				   i % per_block * threads,
			   0, run->args->each - 1,
			   SELF_SHARE * (n < threads ? n : threads));
	}
	return rc;
}

static int check_warps(struct run *run)
{
	return check_groups(run, WBELL_WARP);
}

static int check_blocks(struct run *run)
{
	return check_groups(run, run->grid.threads);
}

static int check_record(struct run *run, uint8_t status, uint8_t opcode)
{
	const struct wbell_error_record *e = rig_error(run->rig, 0, 0);

	if (e->state == WBELL_ERR_WHOLE && e->status == status &&
	    e->wqe_opcode == opcode && e->qpn == run->args->q[0]->qpn_ds >> 8 &&
	    e->peer_qpn == run->args->q[0]->peer_qpn)
		return 0;
	return run_fail(run,
			"error record: state %u, status %u, opcode %#x, "
			"queue %#x: not the error that was made",
			e->state, e->status, e->wqe_opcode, e->qpn);
}

static int check_one_fails(struct run *run)
{
	uint32_t i, causes = 0;

	for (i = 0; i < run->lanes; i++)
		causes += (uint32_t)run->args->lane[i].cause;
	/* nobody learns it where the bad one could not be posted: never */
	if (causes != 1)
		return run_fail(run, "%u threads were told the cause: one must",
				causes);
	return check_record(run, WBELL_WC_REM_ACCESS_ERR, WBELL_OP_WRITE);
}

static int check_sticky(struct run *run)
{
	return check_record(run, WBELL_WC_LOC_PROT_ERR, WBELL_OP_WRITE);
}

/* Some threads wait for a completion, some for room, some for their turn. */
static void abort_soon(struct run *run)
{
	const struct timespec ts = { .tv_nsec = 20000000 };

	nanosleep(&ts, NULL);
	rig_abort(run->rig);
}

const struct self_case self_cases[] = {
	{ "put", self_put, 0, 0, 8, NULL, NULL, check_put },
	{ "get, test", self_get, 0, 0, 4, fill_peer, NULL, NULL },
	{ "put_inline", self_put_inline, 0, 0, 1, NULL, NULL,
	  check_put_inline },
	{ "fetch_add", self_fetch_add, 0, 0, 8, NULL, NULL, check_fetch_add },
	{ "compare_swap", self_compare_swap, 0, 0, 1, NULL, NULL,
	  check_compare_swap },
	{ "put_signal, 3 orders", self_put_signal, 0, 0, 1, NULL, NULL,
	  check_put_signal },
	{ "post: list, inline, NOP, atomic", self_post, 0, 0, 1, NULL, NULL,
	  check_post },
	{ "reserve, publish, flush, quiet", self_batch, 0, 0, 4, NULL, NULL,
	  check_batch },
	{ "calls of lanes", self_lanes, 0, 0, 6, NULL, NULL, check_lanes },
	{ "calls of warps", self_warp, 0, 0, 6, NULL, NULL, check_warps },
	{ "calls of blocks", self_block, 0, 0, 6, NULL, NULL, check_blocks },
	{ "send, send_imm, put_imm, recv", self_two_sided, 1, 0, 150, NULL,
	  NULL, NULL },
	{ "bad input", self_bad_input, 1, 0, 1, NULL, NULL, NULL },
	{ "one WQE fails", self_one_fails, 0, 0, 1, NULL, NULL,
	  check_one_fails },
	{ "errors stay", self_sticky, 1, 0, 1, NULL, NULL, check_sticky },
	{ "full ring, deadlines", self_full, 1, 1, 1, NULL, NULL, NULL },
	{ "abort ends every wait", self_abort, 0, 1, 1, NULL, abort_soon,
	  NULL },
};
const unsigned self_cases_count = sizeof(self_cases) / sizeof(self_cases[0]);

int self_case_run(const struct self_case *c, const struct rig_attr *rig,
		  uint32_t blocks, uint32_t threads, struct run *run)
{
	int rc = run_open(run, rig, c->alone ? 1 : blocks,
			  c->alone ? 1 : threads);

	if (!rc) {
		run->args->each = c->each;
		if (c->silent)
			rig_silence(run->rig);
		if (c->prepare)
			c->prepare(run);
		rc = run_kernel(run, c->kernel, c->during);
	}
	if (!rc && c->check)
		rc = c->check(run);
	run_close(run);
	return rc;
}
