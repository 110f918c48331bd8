// SPDX-License-Identifier: BSD-2-Clause
/*
 * A NIC that moves no data: it takes work requests and completes them, or
 * fails as its wire says.  For tests of programs that use the library, and
 * never chosen unless asked for.
 *
 * Wire: fake:NAME[,KEY=VALUE ...]
 *	open, mem, queue, connect = errno's name: that call fails so
 *	syndrome=N	every work request fails with this CQE syndrome
 *	hold=1		nothing completes
 */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"

#define ADDRESS_MAGIC	"WBELLFAK"
#define ADDRESS_VERSION 1
#define PATH_MTU	4096
#define KEY_SHIFT	8
#define VENDOR_SYNDROME 0x83

struct fake_address {
	char magic[8];
	uint32_t version;
	uint32_t qpn;
	int32_t pid;
};

struct fake_queue {
	struct fake_queue *next;
	struct fake *fake;
	struct wbell_prov_queue attr;
	uint32_t qpn, peer_qpn;
	int32_t peer_pid;
	uint32_t state;
	uint64_t fetched;
	uint32_t cq_pi;
};

struct fake {
	struct wbell_prov_open attr;
	int open_rc, mem_rc, queue_rc, connect_rc;
	uint32_t syndrome;
	bool hold;
	uint32_t next_key, next_qpn;
	uint64_t wqes, cqes;
	unsigned mems;
	struct fake_queue *queues;
};

static int fail(struct wbell_err *e, int rc, const char *what)
{
	snprintf(e->text, sizeof(e->text),
		 "%s: the fake NIC was told to fail: take it off the wire",
		 what);
	return rc;
}

/* ---- wire ---- */

static int errno_parse(const char *name, int *rc)
{
	const char *known;
	int i;

	for (i = 1; i < 134; i++) {
		known = strerrorname_np(i);
		if (!known || strcmp(known, name))
			continue;
		*rc = -i;
		return 0;
	}
	return -EINVAL;
}

static int number_parse(const char *text, uint32_t max, uint32_t *value)
{
	unsigned long n;
	char *end;

	n = strtoul(text, &end, 0);
	if (*end || end == text || n > max)
		return -EINVAL;
	*value = n;
	return 0;
}

static int key_parse(struct fake *f, const char *key, const char *value)
{
	uint32_t on = 0;
	int rc;

	if (!strcmp(key, "open"))
		return errno_parse(value, &f->open_rc);
	if (!strcmp(key, "mem"))
		return errno_parse(value, &f->mem_rc);
	if (!strcmp(key, "queue"))
		return errno_parse(value, &f->queue_rc);
	if (!strcmp(key, "connect"))
		return errno_parse(value, &f->connect_rc);
	if (!strcmp(key, "syndrome"))
		return number_parse(value, 0xff, &f->syndrome);
	if (strcmp(key, "hold"))
		return -EINVAL;
	rc = number_parse(value, 1, &on);
	f->hold = on;
	return rc;
}

static int wire_parse(struct fake *f, const char *wire, struct wbell_err *e)
{
	char text[1024], *save, *key, *value;

	if (!wire_is_fake(wire)) {
		snprintf(e->text, sizeof(e->text),
			 "wire '%.100s': the fake NIC has no such wire: use "
			 "fake:NAME",
			 wire);
		return -EINVAL;
	}
	snprintf(text, sizeof(text), "%s", strchr(wire, ',') ?: "");
	for (key = strtok_r(text, ",", &save); key;
	     key = strtok_r(NULL, ",", &save)) {
		value = strchr(key, '=');
		if (value)
			*value++ = '\0';
		if (value && !key_parse(f, key, value))
			continue;
		snprintf(e->text, sizeof(e->text),
			 "wire '%.100s': key '%.40s' or its value is not "
			 "known: use open, mem, queue, connect=ERRNO, "
			 "syndrome=N, hold=1",
			 wire, key);
		return -EINVAL;
	}
	return 0;
}

/* ---- NIC ---- */

static int fake_probe(char *text, size_t size)
{
	snprintf(text, size, "moves no data, for tests; only when asked for");
	return 0;
}

static int fake_open(const struct wbell_prov_open *attr, void **nic,
		     struct wbell_err *err)
{
	struct fake *f = calloc(1, sizeof(*f));
	int rc;

	if (!f)
		return -ENOMEM;
	f->attr = *attr;
	f->next_qpn = 0x11;
	f->next_key = 1;
	rc = wire_parse(f, attr->wire, err);
	if (!rc && f->open_rc)
		rc = fail(err, f->open_rc, "cannot open the NIC");
	if (rc)
		free(f);
	else
		*nic = f;
	return rc;
}

/* What the library must have given back shows as a leak under ASan. */
static void fake_close(void *nic)
{
	struct fake *f = nic;

	if (f->queues || f->mems)
		f->attr.log(f->attr.log_arg, WBELL_LOG_ERROR,
			    "fake: closed with queues or memory left");
	else
		free(f);
}

static int fake_info(void *nic, struct wbell_ctx_info *info)
{
	struct fake *f = nic;

	snprintf(info->nic, sizeof(info->nic), "fake, no wire%s",
		 f->hold ? ", holds all work" : "");
	snprintf(info->address, sizeof(info->address), "192.0.2.1");
	info->mtu = PATH_MTU;
	return 0;
}

static int fake_counters(void *nic, struct wbell_counter *c, unsigned n,
			 unsigned *count)
{
	struct fake *f = nic;
	const struct wbell_counter all[] = { { "wqes", f->wqes },
					     { "cqes", f->cqes } };

	*count = 2;
	if (n)
		memcpy(c, all, (n < 2 ? n : 2) * sizeof(*c));
	return 0;
}

static int fake_mem_register(void *nic, void *addr, size_t len, uint32_t access,
			     uint32_t *key, struct wbell_err *err)
{
	struct fake *f = nic;

	if (f->mem_rc)
		return fail(err, f->mem_rc, "cannot pin");
	*key = f->next_key++ << KEY_SHIFT;
	f->mems++;
	return 0;
}

static int fake_mem_deregister(void *nic, uint32_t key)
{
	struct fake *f = nic;

	f->mems--;
	return 0;
}

/* ---- queues ---- */

static int fake_queue_create(void *nic, const struct wbell_prov_queue *attr,
			     void **out, uint32_t *qpn, struct wbell_err *err)
{
	struct fake *f = nic;
	struct fake_queue *q;

	if (f->queue_rc)
		return fail(err, f->queue_rc, "cannot create queue");
	q = calloc(1, sizeof(*q));
	if (!q)
		return -ENOMEM;
	q->fake = f;
	q->attr = *attr;
	q->fetched = attr->first_index;
	q->state = WBELL_QUEUE_INIT;
	q->qpn = f->next_qpn++ & 0xffffff;
	q->next = f->queues;
	f->queues = q;
	*out = q;
	*qpn = q->qpn;
	return 0;
}

static void fake_queue_destroy(void *queue)
{
	struct fake_queue *q = queue, **p = &q->fake->queues;

	while (*p != q)
		p = &(*p)->next;
	*p = q->next;
	free(q);
}

static int fake_queue_address(void *queue, struct wbell_address *addr)
{
	struct fake_queue *q = queue;
	struct fake_address a = { .version = ADDRESS_VERSION,
				  .qpn = q->qpn,
				  .pid = getpid() };

	memcpy(a.magic, ADDRESS_MAGIC, sizeof(a.magic));
	memcpy(addr->bytes, &a, sizeof(a));
	return 0;
}

static int fake_queue_connect(void *queue, const struct wbell_address *peer,
			      uint32_t *peer_qpn, struct wbell_err *err)
{
	struct fake_queue *q = queue;
	struct fake_address a;

	if (q->fake->connect_rc)
		return fail(err, q->fake->connect_rc, "cannot connect");
	memcpy(&a, peer->bytes, sizeof(a));
	if (memcmp(a.magic, ADDRESS_MAGIC, sizeof(a.magic))) {
		snprintf(err->text, sizeof(err->text),
			 "peer's address: its first bytes are none of "
			 "warpbell's: carry wbell_queue_address() unchanged");
		return -EINVAL;
	}
	if (a.version != ADDRESS_VERSION) {
		snprintf(err->text, sizeof(err->text),
			 "peer's address: version %u, this NIC knows %d: run "
			 "one release on both ends",
			 a.version, ADDRESS_VERSION);
		return -EPROTO;
	}
	q->peer_qpn = *peer_qpn = a.qpn;
	q->peer_pid = a.pid;
	q->state = WBELL_QUEUE_RTS;
	return 0;
}

static int fake_queue_stat(void *queue, struct wbell_prov_stat *stat)
{
	struct fake_queue *q = queue;

	memset(stat, 0, sizeof(*stat));
	stat->state = q->state;
	stat->peer_qpn = q->peer_qpn;
	stat->path_mtu = q->attr.attr.path_mtu ? q->attr.attr.path_mtu
					       : PATH_MTU;
	stat->fetched = q->fetched;
	if (q->peer_pid)
		snprintf(stat->peer_address, sizeof(stat->peer_address),
			 "process %d", q->peer_pid);
	return 0;
}

/* ---- work ---- */

static void cqe_push(struct fake_queue *q, const struct wbell_ctrl_seg *ctrl,
		     uint16_t index, uint32_t syndrome)
{
	uint32_t slot = q->cq_pi & ((1U << q->attr.log_cq) - 1);
	uint8_t owner = q->cq_pi >> q->attr.log_cq & WBELL_CQE_OWNER;
	uint8_t opcode = syndrome ? WBELL_CQE_REQ_ERR : WBELL_CQE_REQ;
	struct wbell_cqe *cqe = &q->attr.cq[slot];
	struct wbell_err_cqe *err = (void *)cqe;
	uint32_t wqe_op = be32toh(ctrl->opmod_idx_opcode) & 0xff;

	/* The first half of the last quarter differs only in an error. */
	if (syndrome) {
		err->vendor_err_synd = VENDOR_SYNDROME;
		err->syndrome = syndrome;
	}
	cqe->sop_drop_qpn = htobe32(wqe_op << 24 | q->qpn);
	cqe->wqe_counter = htobe16(index);
	__atomic_store_n(&cqe->op_own, opcode << 4 | owner, __ATOMIC_RELEASE);
	q->cq_pi++;
	q->fake->cqes++;
}

static void go_error(struct fake_queue *q)
{
	struct wbell_event event = { .kind = WBELL_EVENT_QUEUE_ERROR,
				     .qpn = q->qpn };

	q->state = WBELL_QUEUE_ERR;
	q->fake->attr.event(q->fake->attr.event_arg, &event);
}

static void wqe_run(struct fake_queue *q)
{
	uint32_t slot = q->fetched & (q->attr.depth - 1);
	const struct wbell_ctrl_seg *ctrl =
		(void *)((char *)q->attr.sq + (slot << WBELL_BB_SHIFT));
	uint32_t ds = be32toh(ctrl->qpn_ds) & WBELL_DS_MAX;
	uint32_t syndrome = q->fake->syndrome;

	if (q->state == WBELL_QUEUE_ERR)
		syndrome = WBELL_SYND_WR_FLUSH;
	else if (!ds)
		syndrome = WBELL_SYND_LOCAL_QP_OP;
	if (syndrome || ctrl->fm_ce_se & WBELL_CTRL_CQ_UPDATE)
		cqe_push(q, ctrl, q->fetched, syndrome);
	if (syndrome && q->state != WBELL_QUEUE_ERR)
		go_error(q);
	q->fetched += ds ? (ds + WBELL_SEGS_PER_BB - 1) / WBELL_SEGS_PER_BB : 1;
	q->fake->wqes++;
}

/* A doorbell that runs away is served for one lap per turn, no more. */
static int queue_run(struct fake_queue *q)
{
	uint64_t pi = __atomic_load_n(&q->fake->attr.doorbells[q->attr.index],
				      __ATOMIC_ACQUIRE);
	uint32_t n;

	if (q->state < WBELL_QUEUE_RTS)
		return 0;
	for (n = 0; q->fetched < pi && n < q->attr.depth; n++)
		wqe_run(q);
	return n;
}

static int fake_poll(void *nic)
{
	struct fake *f = nic;
	struct fake_queue *q;
	int n = 0;

	for (q = f->queues; q && !f->hold; q = q->next)
		n += queue_run(q);
	return n;
}

static const struct wbell_provider_ops fake_ops = {
	.version = WBELL_PROVIDER_VERSION,
	.size = sizeof(fake_ops),
	.name = "fake",
	.probe = fake_probe,
	.open = fake_open,
	.close = fake_close,
	.info = fake_info,
	.counters = fake_counters,
	.poll = fake_poll,
	.mem_register = fake_mem_register,
	.mem_deregister = fake_mem_deregister,
	.queue_create = fake_queue_create,
	.queue_address = fake_queue_address,
	.queue_connect = fake_queue_connect,
	.queue_stat = fake_queue_stat,
	.queue_destroy = fake_queue_destroy,
};

static int get_fake(const struct wbell_provider_ops **ops, struct wbell_err *e)
{
	*ops = &fake_ops;
	return 0;
}

const struct prov prov_fake = {
	.name = "fake",
	.by_name = true,
	.get = get_fake,
};
