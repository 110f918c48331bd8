// SPDX-License-Identifier: BSD-2-Clause
/* A queue with both its ends: see pair.h. */
#include "pair.h"

struct pair pair_make(uint32_t flags)
{
	struct pair p = { .app = ctx_open(), .daemon = ctx_open() };

	p.nic = nic(p.daemon, "pair", 8, &p.nic_id);
	p.object = ring(p.app, 3 * PAGE, &p.cookie, &p.len);
	p.mem = map(p.app, p.cookie, p.len, PROT_READ | PROT_WRITE);
	assert_non_null(p.mem);
	assert_int_equal(queue(p.app, p.nic_id, p.object, &p.queue), 0);
	p.ep = accept_queue(p.daemon, p.nic, flags);
	assert_true(p.ep >= 0);
	assert_int_equal(event_get(p.app).type, WBELL_EVENT_QUEUE_READY);
	return p;
}

void pair_end(struct pair *p)
{
	if (p->mem)
		munmap(p->mem, p->len);
	if (p->ep >= 0)
		fd_close(p->ep);
	if (p->app >= 0)
		fd_close(p->app);
	if (p->daemon >= 0)
		fd_close(p->daemon);
	counters_zero();
}

struct wbell_u_ep_info info_of(int ep)
{
	struct wbell_u_ep_info info = {};

	assert_int_equal(call(ep, WBELL_IOC_EP_INFO, &info), 0);
	return info;
}

uint32_t state_of(struct pair *p, uint32_t *reason)
{
	struct wbell_u_queue_query q = { .queue = p->queue };

	assert_int_equal(call(p->app, WBELL_IOC_QUEUE_QUERY, &q), 0);
	if (reason)
		*reason = q.reason;
	return q.state;
}

char *region(int ep, int i, int prot)
{
	struct wbell_u_ep_info info = info_of(ep);

	return map(ep, info.region[i].cookie, info.region[i].map_len, prot);
}

int grant(struct pair *p, uint32_t mreg, uint32_t flags)
{
	struct wbell_u_queue_grant arg = {
		.flags = flags,
		.queue = p->queue,
		.mreg = mreg,
	};

	return call(p->app, WBELL_IOC_QUEUE_GRANT, &arg);
}

int grant_at(int ep, uint32_t index, struct wbell_u_ep_grant *out)
{
	memset(out, 0, sizeof(*out));
	out->index = index;
	return call(ep, WBELL_IOC_EP_GRANT, out);
}
