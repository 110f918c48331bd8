// SPDX-License-Identifier: BSD-2-Clause
/* Life of a QP: made, connected, failed, destroyed. */
#include <stdlib.h>

#include "priv.h"

/* IBTA 10.3.1; SQD and SQE come with the verbs that need them. */
static const uint8_t may_go[ROCE_ERR + 1] = {
	[ROCE_RESET] = 1 << ROCE_INIT | 1 << ROCE_ERR,
	[ROCE_INIT] = 1 << ROCE_RTR | 1 << ROCE_ERR | 1 << ROCE_RESET,
	[ROCE_RTR] = 1 << ROCE_RTS | 1 << ROCE_ERR | 1 << ROCE_RESET,
	[ROCE_RTS] = 1 << ROCE_RTS | 1 << ROCE_SQD | 1 << ROCE_SQE |
		     1 << ROCE_ERR | 1 << ROCE_RESET,
	[ROCE_SQD] = 1 << ROCE_RTS | 1 << ROCE_ERR | 1 << ROCE_RESET,
	[ROCE_SQE] = 1 << ROCE_RTS | 1 << ROCE_ERR | 1 << ROCE_RESET,
	[ROCE_ERR] = 1 << ROCE_RESET,
};

int set_state(struct roce_qp *qp, enum roce_state state)
{
	if (!(may_go[qp->state] & 1 << state))
		return -EINVAL;
	qp->state = state;
	return 0;
}

/* ---- create ---- */

static bool pow2(uint32_t n)
{
	return n && !(n & (n - 1));
}

static int check(const struct roce_qp_attr *a)
{
	if (!pow2(a->depth) || a->depth > WBELL_DEPTH_MAX || a->type > ROCE_UD)
		return -EINVAL;
	if (a->recv_depth && (!pow2(a->recv_depth) || a->srq ||
			      a->recv_depth > WBELL_DEPTH_MAX || !a->recv_sge ||
			      a->recv_sge > 64))
		return -EINVAL;
	if (!a->max_rd_atomic || a->max_rd_atomic > 128 || a->timeout > 31 ||
	    a->retry_cnt > 7 || a->rnr_retry > 7 || a->min_rnr_timer > 31)
		return -EINVAL;
	return 0;
}

static void free_rings(struct roce_qp *qp)
{
	free(qp->wr);
	free(qp->store);
	free(qp->hist);
	free(qp->out);
	free(qp->held);
	rq_free(&qp->own);
	free(qp->cur_sge);
	free(qp->rcomp);
}

static int alloc_receives(struct roce_qp *qp, const struct roce_qp_attr *a)
{
	uint32_t depth = a->recv_depth;
	uint32_t max_sge = a->recv_sge;

	if (a->srq) {
		qp->srq = a->srq;
		qp->rq = &a->srq->rq;
		depth = qp->rq->mask + 1;
		max_sge = qp->rq->max_sge;
	} else if (depth) {
		if (rq_init(&qp->own, depth, max_sge))
			return -ENOMEM;
		qp->rq = &qp->own;
	} else {
		return 0;
	}
	qp->rcomp_mask = depth - 1;
	qp->rcomp = calloc(depth, sizeof(*qp->rcomp));
	qp->cur_sge = calloc(max_sge, sizeof(*qp->cur_sge));
	return qp->rcomp && qp->cur_sge ? 0 : -ENOMEM;
}

static int alloc_rings(struct roce_qp *qp, const struct roce_qp_attr *a)
{
	unsigned hist = 1;

	while (hist < a->max_rd_atomic)
		hist <<= 1;
	qp->wr_mask = a->depth - 1;
	qp->hist_mask = hist - 1;
	qp->out_mask = hist * 2 - 1;
	qp->wr = aligned_alloc(64, a->depth * sizeof(*qp->wr));
	qp->store = aligned_alloc(64, (a->depth + STORE_SPILL) * 64UL);
	qp->hist = calloc(hist, sizeof(*qp->hist));
	qp->out = calloc(hist * 2, sizeof(*qp->out));
	qp->held = calloc(HELD_WINDOW, sizeof(*qp->held));
	if (!qp->wr || !qp->store || !qp->hist || !qp->out || !qp->held)
		return -ENOMEM;
	memset(qp->wr, 0, a->depth * sizeof(*qp->wr));
	return alloc_receives(qp, a);
}

static uint64_t next_random(struct roce_dev *dev)
{
	uint64_t z = dev->seed += 0x9e3779b97f4a7c15ULL; /* splitmix64 */

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

/* Low bits index the table; the rest are random so that a QPN is not soon
 * another queue's.  0 and 1 (the management QPs) are never given. */
static uint32_t pick_qpn(struct roce_dev *dev)
{
	uint32_t start = next_random(dev) & dev->qp_mask;
	uint32_t high;

	for (uint32_t i = 0; i <= dev->qp_mask; i++) {
		uint32_t at = (start + i) & dev->qp_mask;

		if (dev->qp[at])
			continue;
		do {
			high = next_random(dev) & ROCE_QPN_MASK & ~dev->qp_mask;
		} while ((high | at) < 2 || (high | at) == ROCE_QPN_MULTICAST);
		return high | at;
	}
	return 0;
}

static void set_requester(struct roce_qp *qp, uint32_t sq_psn, uint8_t timeout,
			  uint8_t retry_cnt, uint8_t rnr_retry)
{
	qp->psn_next = qp->psn_max = qp->psn_una = sq_psn & ROCE_PSN_MASK;
	qp->recover_psn = qp->shrunk_at = qp->psn_una;
	qp->timeout = timeout ? 4096ULL << timeout : 0;
	qp->retry_cnt = retry_cnt;
	qp->rnr_retry = qp->rnr_left = rnr_retry;
}

int roce_qp_create(struct roce_dev *dev, const struct roce_qp_attr *attr,
		   struct roce_qp **out)
{
	uint32_t qpn = attr->qpn ? attr->qpn : pick_qpn(dev);
	struct roce_qp *qp;
	int rc = check(attr);

	if (rc)
		return rc;
	if (!qpn || dev->qp[qpn & dev->qp_mask])
		return -ENOSPC;
	qp = aligned_alloc(64, (sizeof(*qp) + 63) & ~63UL);
	if (!qp)
		return -ENOMEM;
	memset(qp, 0, sizeof(*qp));
	rc = alloc_rings(qp, attr);
	if (rc)
		goto err_free_rings;
	qp->dev = dev;
	seen_init(qp);
	qp->user = attr->user;
	qp->type = attr->type;
	qp->qkey = attr->qkey;
	qp->traffic_class = attr->traffic_class;
	qp->keep_nothing = attr->keep_nothing;
	qp->cc.on = attr->cc;
	if (attr->cc) /* the mark of an ECN-capable transport */
		qp->traffic_class = (attr->traffic_class & ~3) | 2;
	qp->qpn = qpn;
	qp->window_max = attr->window ? attr->window : WINDOW_DEFAULT;
	qp->window = qp->window_max < WINDOW_START ? qp->window_max
						   : WINDOW_START;
	qp->rd_max = attr->max_rd_atomic;
	set_requester(qp, attr->sq_psn, attr->timeout, attr->retry_cnt,
		      attr->rnr_retry);
	qp->min_rnr_timer = attr->min_rnr_timer;
	qp->rto = RTO_START_NS;
	qp->deadline = NO_DEADLINE;
	set_state(qp, ROCE_INIT);
	dev->qp[qpn & dev->qp_mask] = qp;
	*out = qp;
	return 0;

err_free_rings:
	free_rings(qp);
	free(qp);
	return rc;
}

static void list_del(struct list *l, struct roce_qp *qp, size_t next_at)
{
	struct roce_qp **p = &l->head;
	struct roce_qp *last = NULL;

	while (*p && *p != qp) {
		last = *p;
		p = (struct roce_qp **)((char *)*p + next_at);
	}
	if (!*p)
		return;
	*p = *(struct roce_qp **)((char *)qp + next_at);
	if (l->tail == qp)
		l->tail = last;
}

void roce_qp_destroy(struct roce_qp *qp)
{
	struct roce_dev *dev = qp->dev;

	timer_clear(qp);
	hold_clear(qp);
	list_del(&dev->tx, qp, offsetof(struct roce_qp, tx_next));
	list_del(&dev->comp, qp, offsetof(struct roce_qp, comp_next));
	list_del(&dev->failed, qp, offsetof(struct roce_qp, failed_next));
	dev->qp[qp->qpn & dev->qp_mask] = NULL;
	free_rings(qp);
	free(qp);
}

/* ---- connect ---- */

/* As they lie in what the peer sends: its address, then ours. */
static void expect_addresses(struct roce_qp *qp, const struct roce_peer *peer)
{
	uint8_t *p = (uint8_t *)qp->rx_addr;

	if (peer->v6) {
		memcpy(p, peer->ip6, 16);
		memcpy(p + 16, qp->dev->ip6, 16);
	} else {
		memcpy(p, peer->ip, 4);
		memcpy(p + 4, qp->dev->ip, 4);
	}
}

static bool peer_ok(const struct roce_qp *qp, const struct roce_peer *peer)
{
	if (peer->path_mtu < ROCE_MTU_MIN || peer->path_mtu > ROCE_MTU_MAX ||
	    (peer->path_mtu & (peer->path_mtu - 1)))
		return false;
	if (qp->type == ROCE_UD)
		return true;
	return peer->qpn <= ROCE_QPN_MASK && peer->vlan <= 4094 &&
	       peer->pcp <= 7 && (qp->type == ROCE_UC || peer->max_rd_atomic);
}

int roce_qp_connect(struct roce_qp *qp, const struct roce_peer *peer,
		    uint64_t now)
{
	if (qp->state != ROCE_INIT)
		return qp->state == ROCE_ERR ? -EIO : -EISCONN;
	if (!peer_ok(qp, peer))
		return -EINVAL;
	qp->mtu = peer->path_mtu;
	qp->log_mtu = __builtin_ctz(peer->path_mtu);
	qp->peer_qpn = peer->qpn;
	qp->holes = peer->holes;
	if (peer->holes)
		qp->peer_mode = PEER_HOLDS;
	qp->epsn = peer->rq_psn & ROCE_PSN_MASK;
	qp->held_high = qp->epsn;
	if (peer->max_rd_atomic < qp->rd_max)
		qp->rd_max = peer->max_rd_atomic;
	path_fill(&qp->path, qp->dev, peer, qp->traffic_class);
	if (qp->type == ROCE_UD)
		qp->path.has_mac = 1; /* each datagram brings its own */
	expect_addresses(qp, peer);
	qp->progress = now;
	qp->cc.since = now;
	set_state(qp, ROCE_RTR);
	set_state(qp, ROCE_RTS);
	if (req_has_work(qp, now))
		tx_want(qp);
	return 0;
}

int roce_qp_requester(struct roce_qp *qp, uint32_t sq_psn, uint8_t timeout,
		      uint8_t retry_cnt, uint8_t rnr_retry)
{
	if (sq_psn > ROCE_PSN_MASK || timeout > 31 || retry_cnt > 7 ||
	    rnr_retry > 7)
		return -EINVAL;
	if (qp->state != ROCE_INIT)
		return -EISCONN;
	set_requester(qp, sq_psn, timeout, retry_cnt, rnr_retry);
	return 0;
}

void roce_qp_mac(struct roce_qp *qp, const uint8_t mac[6])
{
	path_mac(&qp->path, mac);
	tx_want(qp);
}

bool roce_qp_waits(const struct roce_qp *qp)
{
	return !qp->path.has_mac &&
	       (qp->wr_tx != qp->wr_pi || reply_has_work(qp));
}

/* ---- failure ---- */

void qp_fail(struct roce_qp *qp, uint8_t syndrome, uint8_t vendor)
{
	if (set_state(qp, ROCE_ERR))
		return; /* the first error stays */
	qp->failed_syndrome = syndrome;
	qp->failed_vendor = vendor;
	timer_clear(qp);
	hold_clear(qp);
	recv_flush(qp);
	comp_want(qp);
	count(qp->dev, ROCE_C_QP_ERROR);
	qp->in_failed = 1;
	qp->failed_next = NULL;
	if (qp->dev->failed.head)
		qp->dev->failed.tail->failed_next = qp;
	else
		qp->dev->failed.head = qp;
	qp->dev->failed.tail = qp;
}

void roce_qp_fail(struct roce_qp *qp)
{
	qp_fail(qp, 0, 0);
	qp->out_ci = qp->out_pi;
	qp->ack_pending = qp->nak_pending = 0;
	qp->report.ci = qp->report.pi;
}

/* ---- what others may ask ---- */

enum roce_state roce_qp_state(const struct roce_qp *qp)
{
	return qp->state;
}

uint32_t roce_qp_num(const struct roce_qp *qp)
{
	return qp->qpn;
}

void *roce_qp_user(const struct roce_qp *qp)
{
	return qp->user;
}

struct roce_qp *roce_qp_find(struct roce_dev *dev, uint32_t qpn)
{
	struct roce_qp *qp = dev->qp[qpn & dev->qp_mask];

	return qp && qp->qpn == qpn ? qp : NULL;
}

void roce_qp_stat(const struct roce_qp *qp, struct roce_qp_stat *stat)
{
	stat->state = qp->state;
	stat->retries = qp->retries;
	stat->rnr_naks = qp->rnr_naks;
	stat->timeouts = qp->n_timeouts;
	stat->packets_tx = qp->packets_tx;
	stat->packets_rx = qp->packets_rx;
	stat->rate_mbps = cc_rate_mbps(qp);
}

/* The lines that struct roce_qp names, and the next work requests. */
void roce_qp_expect(const struct roce_qp *qp)
{
	const uint8_t *p = (const uint8_t *)qp;

	__builtin_prefetch(p, 1);
	for (unsigned line = 5; line < 11; line++)
		__builtin_prefetch(p + line * 64, 1);
}
