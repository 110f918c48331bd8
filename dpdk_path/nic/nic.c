// SPDX-License-Identifier: BSD-2-Clause
/* The software NIC: its turn, its keys, its counters. */
#include <stdio.h>
#include <stdlib.h>

#include "priv.h"

static void refill(struct roce_qp *qp)
{
	wqe_take_recv(roce_qp_user(qp));
}

int nic_create(const struct nic_attr *attr, struct nic **out)
{
	struct roce_dev_attr dev = {
		.max_qp = attr->max_queues,
		.max_mr = attr->max_queues * 2 + 1024,
		.seed = attr->seed,
		.refill = refill,
	};
	struct nic *nic = calloc(1, sizeof(*nic));
	int rc;

	if (!nic)
		return -ENOMEM;
	if (gid_is_ipv4(attr->gid))
		memcpy(dev.ip, gid_ipv4(attr->gid), 4);
	else
		memcpy(dev.ip6, attr->gid, GID_SIZE);
	memcpy(dev.mac, attr->mac, 6);
	memcpy(nic->gid, attr->gid, GID_SIZE);
	memcpy(nic->mac, attr->mac, 6);
	nic->max_queues = attr->max_queues;
	nic->doorbells = attr->doorbells;
	nic->path_mtu = attr->path_mtu;
	nic->event = attr->event;
	nic->event_arg = attr->event_arg;
	nic->seed = attr->seed;
	rc = -ENOMEM;
	nic->taken = calloc(attr->max_queues, sizeof(*nic->taken));
	if (!nic->taken)
		goto err_free_nic;
	nic->queue = calloc(attr->max_queues, sizeof(*nic->queue));
	if (!nic->queue)
		goto err_free_taken;
	rc = roce_dev_create(&dev, &nic->dev);
	if (rc)
		goto err_free_queues;
	*out = nic;
	return 0;

err_free_queues:
	free(nic->queue);
err_free_taken:
	free(nic->taken);
err_free_nic:
	free(nic);
	return rc;
}

void nic_destroy(struct nic *nic)
{
	for (uint32_t i = 0; i < nic->max_queues; i++)
		if (nic->queue[i])
			nic_queue_destroy(nic->queue[i]);
	roce_dev_destroy(nic->dev);
	free(nic->queue);
	free(nic->taken);
	free(nic);
}

/* ---- memory ---- */

int nic_mem_register(struct nic *nic, void *addr, size_t len, uint32_t access,
		     uint32_t *key, struct wbell_err *err)
{
	struct roce_mr_attr mr = {
		.iova = (uintptr_t)addr,
		.base = addr,
		.len = len,
		.access = access,
	};
	int rc = roce_mr_add(nic->dev, &mr, key);

	if (rc == -ENOSPC)
		snprintf(err->text, sizeof(err->text),
			 "memory key: all %u of this NIC are taken: "
			 "deregister memory or open with more max_queues",
			 nic->max_queues * 2 + 1024);
	else if (rc)
		snprintf(err->text, sizeof(err->text),
			 "memory of %zu bytes at %p: empty or wraps: "
			 "give a range that exists",
			 len, addr);
	return rc;
}

int nic_mem_deregister(struct nic *nic, uint32_t key)
{
	return roce_mr_del(nic->dev, key);
}

/* ---- a turn ---- */

static void tell_failed(struct nic *nic)
{
	struct roce_qp *qp;

	while ((qp = roce_failed(nic->dev))) {
		struct nic_queue *q = roce_qp_user(qp);
		struct wbell_event e = { .kind = WBELL_EVENT_QUEUE_ERROR,
					 .qpn = q->qpn };

		q->failed = true;
		if (q->rq) {
			q->failed_next = nic->failed;
			nic->failed = q;
		}
		if (nic->event)
			nic->event(nic->event_arg, &e);
	}
}

/* Completions and news, after anything that may have made some. */
static void settle(struct nic *nic)
{
	tell_failed(nic);
	for (struct nic_queue *q = nic->failed; q; q = q->failed_next)
		wqe_take_recv(q);
	cqe_flush(nic);
}

void nic_rx(struct nic *nic, uint64_t now, const struct roce_frame *f,
	    unsigned n)
{
	nic->quiet = 0;
	roce_rx(nic->dev, now, f, n);
	settle(nic);
}

unsigned nic_doorbells(struct nic *nic, uint64_t now)
{
	unsigned n = doorbells_take(nic, now);

	if (n)
		settle(nic); /* a queue in error flushes what is posted */
	return n;
}

/* Frames from this NIC to itself never see a wire. */
static unsigned loop_back(struct nic *nic, uint64_t now, struct roce_frame *f,
			  unsigned n)
{
	struct roce_frame kept;
	unsigned out = 0;

	for (unsigned i = 0; i < n; i++) {
		if (!memcmp(f[i].data, nic->mac, 6)) {
			roce_rx(nic->dev, now, &f[i], 1);
			continue;
		}
		kept = f[out];
		f[out++] = f[i];
		f[i] = kept;
	}
	return out;
}

unsigned nic_tx(struct nic *nic, uint64_t now, struct roce_frame *f, unsigned n)
{
	unsigned k = roce_tx(nic->dev, now, f, n);

	if (nic->loops)
		k = loop_back(nic, now, f, k);
	settle(nic);
	return k;
}

uint64_t nic_deadline(const struct nic *nic)
{
	return roce_deadline(nic->dev);
}

bool nic_tx_pending(const struct nic *nic)
{
	return roce_tx_pending(nic->dev);
}

/* ---- counters ---- */

static void put_counter(struct wbell_counter *c, unsigned n, unsigned at,
			const char *name, uint64_t value)
{
	if (at >= n)
		return;
	snprintf(c[at].name, sizeof(c[at].name), "%s", name);
	c[at].value = value;
}

int nic_counters(struct nic *nic, struct wbell_counter *c, unsigned n,
		 unsigned *count)
{
	unsigned at = 0;

	for (unsigned i = 1; i < ROCE_C_MAX; i++) {
		char name[32];

		snprintf(name, sizeof(name), "%s%s",
			 i < ROCE_DROP_MAX ? "rx_drop_" : "",
			 roce_counter_name(i));
		put_counter(c, n, at++, name, roce_counter(nic->dev, i));
	}
	put_counter(c, n, at++, "bad_wqe", nic->bad_wqe);
	*count = at;
	return 0;
}
