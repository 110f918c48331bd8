// SPDX-License-Identifier: BSD-2-Clause
/*
 * Congestion: ECN marks answered by CNPs (IBTA A17.9.3), and the rate that a
 * sender keeps after one (DCQCN: Zhu et al., SIGCOMM 2015, section 5).
 *
 * A queue without a rate pays one comparison a packet.  Rates are bytes per
 * microsecond in 16.16 fixed point; 1 Gb/s is 125 of them.
 */
#include "priv.h"

#define CNP_GAP_NS     50000	     /* at most one CNP per QP in this time */
#define CNP_BODY       16	     /* reserved bytes behind the BTH */
#define ALPHA_ONE      65536	     /* 16 bits of fraction */
#define ALPHA_SHIFT    8	     /* g = 1/256 */
#define ALPHA_NS       55000	     /* without a CNP: alpha shrinks */
#define INCREASE_NS    300000	     /* the timer's step up */
#define INCREASE_BYTES (10U << 20)   /* the byte counter's */
#define FAST_STEPS     5	     /* back toward the old rate, then beyond */
#define RATE_ADD       (5ULL << 16)  /* 40 Mb/s */
#define RATE_HYPER     (50ULL << 16) /* 400 Mb/s */
#define RATE_MIN       (1ULL << 16)  /* 8 Mb/s */
#define RATE_MAX       (12500ULL << 16) /* 100 Gb/s: above it, no rate */
#define PACE_AHEAD_NS  20000		/* what a burst may run ahead */

/* ---- notification point ---- */

void cc_marked(struct roce_qp *qp)
{
	uint64_t now = qp->dev->now;

	count(qp->dev, ROCE_C_ECN_RX);
	if (now - qp->cc.cnp_at < CNP_GAP_NS)
		return;
	qp->cc.cnp_at = now;
	qp->cc.cnp_pending = 1;
}

void cc_send_cnp(struct roce_qp *qp, struct roce_frame *f)
{
	uint8_t *ext = frame_ext(&qp->path, f);

	memset(ext, 0, CNP_BODY);
	frame_finish(&qp->path, f, (struct head){ 0, ROCE_CNP, CNP_BODY }, NULL,
		     0);
	ext[-8] = 0x40; /* BECN; the ICRC takes this byte as ones */
	qp->cc.cnp_pending = 0;
	count(qp->dev, ROCE_C_CNP_TX);
}

/* ---- reaction point ---- */

/* What the queue really sends at: the rate cut first is that one. */
static uint64_t measured(const struct roce_qp *qp, uint64_t now)
{
	uint64_t ns = now - qp->cc.since;
	uint64_t rate = ns ? qp->cc.bytes * 1000 / ns << 16 : RATE_MAX;

	return rate < RATE_MIN ? RATE_MIN : rate < RATE_MAX ? rate : RATE_MAX;
}

static void restart(struct roce_qp *qp, uint64_t now)
{
	qp->cc.since = now;
	qp->cc.alpha_at = now;
	qp->cc.step_at = now;
	qp->cc.bytes = 0;
	qp->cc.time_steps = qp->cc.byte_steps = 0;
}

void cc_cnp(struct roce_qp *qp, uint64_t now)
{
	struct cc *cc = &qp->cc;

	count(qp->dev, ROCE_C_CNP_RX);
	if (!cc->on)
		return;
	if (!cc->rate) {
		cc->rate = measured(qp, now);
		cc->alpha = ALPHA_ONE;
		cc->pace_at = now;
	}
	cc->target = cc->rate;
	cc->rate -= cc->rate * cc->alpha >> 17; /* by alpha / 2 */
	if (cc->rate < RATE_MIN)
		cc->rate = RATE_MIN;
	cc->alpha += (ALPHA_ONE - cc->alpha) >> ALPHA_SHIFT;
	restart(qp, now);
	count(qp->dev, ROCE_C_RATE_CUT);
}

static void increase(struct cc *cc)
{
	unsigned most = cc->time_steps > cc->byte_steps ? cc->time_steps
							: cc->byte_steps;
	unsigned least = cc->time_steps < cc->byte_steps ? cc->time_steps
							 : cc->byte_steps;

	if (least > FAST_STEPS)
		cc->target += RATE_HYPER;
	else if (most > FAST_STEPS)
		cc->target += RATE_ADD;
	cc->rate = (cc->target + cc->rate) / 2;
	if (cc->rate >= RATE_MAX)
		cc->rate = 0; /* free again */
}

/* Time has passed: alpha and rate follow, also over a quiet stretch. */
static void catch_up(struct cc *cc, uint64_t now)
{
	while (cc->rate && now - cc->alpha_at >= ALPHA_NS && cc->alpha > 1) {
		cc->alpha -= (cc->alpha >> ALPHA_SHIFT) + 1;
		cc->alpha_at += ALPHA_NS;
	}
	while (cc->rate && now - cc->step_at >= INCREASE_NS) {
		cc->step_at += INCREASE_NS;
		cc->time_steps++;
		increase(cc);
	}
}

void cc_sent(struct roce_qp *qp, uint32_t bytes, uint64_t now)
{
	struct cc *cc = &qp->cc;

	cc->bytes += bytes;
	if (__builtin_expect(!cc->rate, 1))
		return;
	if (cc->bytes >= INCREASE_BYTES) {
		cc->bytes -= INCREASE_BYTES;
		cc->byte_steps++;
		increase(cc);
	}
	catch_up(cc, now);
	if (!cc->rate)
		return;
	if (cc->pace_at + PACE_AHEAD_NS < now)
		cc->pace_at = now - PACE_AHEAD_NS; /* no credit for silence */
	cc->pace_at += ((uint64_t)bytes * 1000 << 16) / cc->rate;
}

uint64_t cc_rate_mbps(const struct roce_qp *qp)
{
	return qp->cc.rate * 8 >> 16;
}
