// SPDX-License-Identifier: BSD-2-Clause
/* A queue of the software NIC: rings it was given, a QP of the transport. */
#include <stdio.h>
#include <stdlib.h>

#include "priv.h"

#define ADDRESS_MAGIC	    0x5742454cU /* "WBEL" */
#define ADDRESS_VERSION	    2 /* 1 had an IPv4 address in place of the GID */
#define ADDRESS_KIND_ENGINE 1
#define ADDRESS_HOLES	    0x01 /* takes NAKs that name single holes */

/* What struct wbell_address holds between engines; big-endian. */
struct address {
	uint32_t magic;
	uint16_t version;
	uint16_t kind;
	uint32_t qpn;
	uint32_t psn;
	uint32_t path_mtu;
	uint8_t gid[GID_SIZE];
	uint8_t mac[6];
	uint8_t max_rd_atomic;
	uint8_t flags; /* ADDRESS_* */
	uint8_t rsvd[84];
};
_Static_assert(sizeof(struct address) == WBELL_ADDRESS_SIZE, "address size");
_Static_assert(sizeof(((struct wbell_prov_stat *)0)->peer_address) >= GID_TEXT,
	       "room for the text of a GID");

#define say(err, ...) snprintf((err)->text, sizeof((err)->text), __VA_ARGS__)

/* ---- create ---- */

static int check_mtu(struct nic *nic, uint32_t path_mtu, struct wbell_err *err)
{
	if (!path_mtu || path_mtu <= nic->path_mtu)
		return 0;
	say(err,
	    "path MTU %u: the port carries %u at most: raise the link's MTU "
	    "to %u or ask for %u",
	    path_mtu, nic->path_mtu,
	    path_mtu + (gid_is_ipv4(nic->gid) ? 80 : 100), nic->path_mtu);
	return -EINVAL;
}

static void take_rings(struct nic_queue *q, const struct wbell_prov_queue *a)
{
	q->sq = a->sq;
	q->depth_mask = a->depth - 1;
	q->fetched = a->first_index;
	q->cq = a->cq;
	q->log_cq = a->log_cq;
	q->dbrec = a->dbrec;
	if (a->attr.flags & WBELL_QUEUE_COMPAT)
		wqe_late(q, q->nic->seed);
	if (!a->recv_depth)
		return;
	q->rq = a->rq;
	q->rq_mask = a->recv_depth - 1;
	q->rq_stride = a->recv_stride;
	q->rcq = a->rcq;
	q->log_rcq = a->log_rcq;
}

static int create_qp(struct nic_queue *q, const struct wbell_prov_queue *a)
{
	struct roce_qp_attr qp = {
		.user = q,
		.depth = a->depth,
		.recv_depth = a->recv_depth,
		.recv_sge = a->recv_depth ? a->recv_stride / WBELL_SEG_SIZE : 0,
		.timeout = a->attr.timeout,
		.retry_cnt = a->attr.retry_cnt - 1,
		.rnr_retry = a->attr.rnr_retry - 1,
		.min_rnr_timer = a->attr.min_rnr_timer,
		.max_rd_atomic = a->attr.max_rd_atomic,
		.traffic_class = a->attr.traffic_class,
		.cc = true,
	};

	/* any PSN will do; one that is not the last queue's finds old packets */
	q->nic->seed = q->nic->seed * 6364136223846793005ULL + 1;
	q->sq_psn = q->nic->seed >> 40;
	qp.sq_psn = q->sq_psn;
	return roce_qp_create(q->nic->dev, &qp, &q->qp);
}

int nic_queue_create(struct nic *nic, const struct wbell_prov_queue *attr,
		     struct nic_queue **out, uint32_t *qpn,
		     struct wbell_err *err)
{
	struct nic_queue *q;
	int rc;

	if (attr->index >= nic->max_queues || nic->queue[attr->index]) {
		say(err,
		    "queue %u: its doorbell is taken: a defect of the "
		    "library",
		    attr->index);
		return -EINVAL;
	}
	if (attr->recv_depth && (attr->recv_stride < WBELL_SEG_SIZE ||
				 attr->recv_stride > 4 * WBELL_SEG_SIZE)) {
		say(err,
		    "receive WQE of %u bytes: 16 to 64 are served: "
		    "use 1 to 4 segments",
		    attr->recv_stride);
		return -EINVAL;
	}
	rc = check_mtu(nic, attr->attr.path_mtu, err);
	if (rc)
		return rc;
	q = aligned_alloc(64, (sizeof(*q) + 63) & ~63UL);
	if (!q)
		return -ENOMEM;
	memset(q, 0, sizeof(*q));
	q->nic = nic;
	q->index = attr->index;
	q->attr = attr->attr;
	take_rings(q, attr);
	rc = create_qp(q, attr);
	if (rc) {
		say(err, "queue of depth %u: %s: use fewer or smaller queues",
		    attr->depth, strerror(-rc));
		free(q);
		return rc;
	}
	q->qpn = roce_qp_num(q->qp);
	nic->queue[q->index] = q;
	nic->taken[q->index] = attr->first_index;
	if (nic->top <= q->index)
		nic->top = q->index + 1;
	*out = q;
	*qpn = q->qpn;
	return 0;
}

static bool is_loop(const struct nic_queue *q)
{
	return q->connected && gid_equal(q->peer_gid, q->nic->gid);
}

void nic_queue_destroy(struct nic_queue *q)
{
	struct nic *nic = q->nic;
	struct nic_queue **p = &nic->failed;

	while (*p && *p != q)
		p = &(*p)->failed_next;
	if (*p)
		*p = q->failed_next;
	if (q->wants_mac)
		nic->unresolved--;
	if (is_loop(q))
		nic->loops--;
	nic->queue[q->index] = NULL;
	nic->taken[q->index] =
		__atomic_load_n(&nic->doorbells[q->index], __ATOMIC_RELAXED);
	while (nic->top && !nic->queue[nic->top - 1])
		nic->top--;
	roce_qp_destroy(q->qp);
	free(q);
}

/* ---- address and connect ---- */

int nic_queue_address(struct nic_queue *q, struct wbell_address *out)
{
	struct address a = {
		.magic = __builtin_bswap32(ADDRESS_MAGIC),
		.version = __builtin_bswap16(ADDRESS_VERSION),
		.kind = __builtin_bswap16(ADDRESS_KIND_ENGINE),
		.qpn = __builtin_bswap32(q->qpn),
		.psn = __builtin_bswap32(q->sq_psn),
		.path_mtu = __builtin_bswap32(
			q->attr.path_mtu ? q->attr.path_mtu : q->nic->path_mtu),
		.max_rd_atomic = q->attr.max_rd_atomic,
		.flags = ADDRESS_HOLES,
	};

	memcpy(a.gid, q->nic->gid, GID_SIZE);
	memcpy(a.mac, q->nic->mac, 6);
	memcpy(out, &a, sizeof(a));
	return 0;
}

static bool sane(const struct address *a)
{
	uint32_t mtu = __builtin_bswap32(a->path_mtu);

	return mtu >= ROCE_MTU_MIN && mtu <= ROCE_MTU_MAX &&
	       !(mtu & (mtu - 1)) && a->max_rd_atomic && gid_is_host(a->gid) &&
	       __builtin_bswap32(a->qpn) > 1 &&
	       __builtin_bswap32(a->qpn) < ROCE_QPN_MULTICAST &&
	       __builtin_bswap32(a->psn) <= ROCE_PSN_MASK;
}

static int read_address(const struct wbell_address *in, struct address *a,
			struct wbell_err *err)
{
	memcpy(a, in, sizeof(*a));
	if (a->magic != __builtin_bswap32(ADDRESS_MAGIC)) {
		say(err, "peer address: does not start with an address's "
			 "mark: pass the bytes wbell_queue_address() gave");
		return -EINVAL;
	}
	if (a->version != __builtin_bswap16(ADDRESS_VERSION)) {
		say(err,
		    "peer address: version %u, this engine speaks %u: "
		    "update the older side",
		    __builtin_bswap16(a->version), ADDRESS_VERSION);
		return -EPROTO;
	}
	if (a->kind != __builtin_bswap16(ADDRESS_KIND_ENGINE)) {
		say(err,
		    "peer address: of provider kind %u, this is the "
		    "engine (%u): use the same provider on both sides",
		    __builtin_bswap16(a->kind), ADDRESS_KIND_ENGINE);
		return -EINVAL;
	}
	if (!sane(a)) {
		say(err, "peer address: a field is out of range: carry the "
			 "bytes unchanged");
		return -EINVAL;
	}
	return 0;
}

/* One NIC, one address: of the other family's peers nothing can come. */
static int check_family(const struct nic *nic, const uint8_t *peer,
			struct wbell_err *err)
{
	bool v4 = gid_is_ipv4(nic->gid);
	char ours[GID_TEXT], theirs[GID_TEXT];

	if (v4 == gid_is_ipv4(peer))
		return 0;
	say(err,
	    "peer address: %s is an IPv%c address, this NIC's %s an IPv%c one: "
	    "open both ends with ip= of one family",
	    gid_text(peer, theirs), v4 ? '6' : '4', gid_text(nic->gid, ours),
	    v4 ? '4' : '6');
	return -EINVAL;
}

static uint32_t min_mtu(const struct nic_queue *q, uint32_t peers)
{
	uint32_t mtu = q->attr.path_mtu ? q->attr.path_mtu : q->nic->path_mtu;

	if (mtu > q->nic->path_mtu)
		mtu = q->nic->path_mtu; /* the link shrank since */
	return mtu < peers ? mtu : peers;
}

int nic_queue_connect(struct nic_queue *q, const struct wbell_address *peer,
		      uint32_t *peer_qpn, struct wbell_err *err)
{
	struct roce_peer p = { 0 };
	struct address a;
	int rc = read_address(peer, &a, err);

	if (!rc)
		rc = check_family(q->nic, a.gid, err);
	if (rc)
		return rc;
	p.v6 = !gid_is_ipv4(a.gid);
	if (p.v6)
		memcpy(p.ip6, a.gid, GID_SIZE);
	else
		memcpy(p.ip, gid_ipv4(a.gid), 4);
	p.qpn = __builtin_bswap32(a.qpn);
	/* constant for the connection: ECMP keeps its packets in order */
	p.flow_label = (q->qpn * 31 + p.qpn) & 0xfffff;
	p.rq_psn = __builtin_bswap32(a.psn);
	p.path_mtu = min_mtu(q, __builtin_bswap32(a.path_mtu));
	p.max_rd_atomic = a.max_rd_atomic;
	p.holes = a.flags & ADDRESS_HOLES;
	p.has_mac = gid_equal(a.gid, q->nic->gid);
	memcpy(p.mac, q->nic->mac, 6);
	rc = roce_qp_connect(q->qp, &p, 0);
	if (rc) {
		say(err, "connect: %s: connect a queue once",
		    rc == -EISCONN ? "the queue is connected already"
				   : "the queue is in error");
		return rc;
	}
	q->connected = true;
	q->path_mtu = p.path_mtu;
	q->peer_qpn = p.qpn;
	memcpy(q->peer_gid, a.gid, GID_SIZE);
	q->wants_mac = !p.has_mac;
	q->nic->unresolved += q->wants_mac;
	q->nic->loops += p.has_mac;
	*peer_qpn = p.qpn;
	return 0;
}

/* ---- addresses on the link ---- */

static bool listed(uint8_t (*gid)[GID_SIZE], unsigned n, const uint8_t *one)
{
	for (unsigned i = 0; i < n; i++)
		if (gid_equal(gid[i], one))
			return true;
	return false;
}

static bool asks(struct nic_queue *q, uint64_t now)
{
	if (!q->wants_mac || q->failed)
		return false;
	if (!q->asked_since)
		q->asked_since = now;
	return now - q->asked_since < NIC_ASK_NS || roce_qp_waits(q->qp);
}

unsigned nic_unresolved(struct nic *nic, uint64_t now, uint8_t (*gid)[GID_SIZE],
			unsigned n)
{
	unsigned k = 0;

	if (!nic->unresolved)
		return 0;
	for (uint32_t i = 0; i < nic->top && k < n; i++) {
		struct nic_queue *q = nic->queue[i];

		if (q && asks(q, now) && !listed(gid, k, q->peer_gid))
			memcpy(gid[k++], q->peer_gid, GID_SIZE);
	}
	return k;
}

void nic_resolved(struct nic *nic, const uint8_t gid[GID_SIZE],
		  const uint8_t mac[6])
{
	for (uint32_t i = 0; i < nic->top; i++) {
		struct nic_queue *q = nic->queue[i];

		if (!q || !q->connected || !gid_equal(q->peer_gid, gid))
			continue;
		nic->unresolved -= q->wants_mac;
		q->wants_mac = false;
		roce_qp_mac(q->qp, mac);
	}
}

/* ---- port and state ---- */

void nic_set_path_mtu(struct nic *nic, uint32_t path_mtu)
{
	nic->path_mtu = path_mtu;
	for (uint32_t i = 0; i < nic->top; i++) {
		struct nic_queue *q = nic->queue[i];
		struct wbell_event e = { .kind = WBELL_EVENT_MTU,
					 .value = path_mtu };

		if (!q || q->path_mtu <= path_mtu)
			continue;
		e.qpn = q->qpn;
		if (nic->event)
			nic->event(nic->event_arg, &e);
	}
}

int nic_queue_stat(struct nic_queue *q, struct wbell_prov_stat *stat)
{
	struct roce_qp_stat s;

	roce_qp_stat(q->qp, &s);
	memset(stat, 0, sizeof(*stat));
	stat->state = s.state;
	stat->peer_qpn = q->peer_qpn;
	stat->path_mtu = q->path_mtu;
	stat->fetched = q->fetched;
	stat->retries = s.retries;
	stat->rnr_naks = s.rnr_naks;
	stat->timeouts = s.timeouts;
	stat->packets_tx = s.packets_tx;
	stat->packets_rx = s.packets_rx;
	if (q->connected)
		gid_text(q->peer_gid, stat->peer_address);
	return 0;
}
