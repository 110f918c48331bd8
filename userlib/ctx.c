// SPDX-License-Identifier: BSD-2-Clause
/* Contexts: open, close, what they tell. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

static void ctx_event(void *arg, const struct wbell_event *event)
{
	struct wbell_ctx *ctx = arg;
	uint64_t lost;
	bool kept;

	pthread_mutex_lock(&ctx->events.lock);
	if (event->kind == WBELL_EVENT_QUEUE_ERROR)
		queue_event_error(ctx, event->qpn);
	kept = events_push(&ctx->events, event);
	lost = ctx->events.lost;
	pthread_mutex_unlock(&ctx->events.lock);
	if (!kept && !(lost & (lost - 1)))
		log_say(&ctx->log, WBELL_LOG_WARN,
			"events lost: %llu, as %d wait unread: call "
			"wbell_event_next()",
			(unsigned long long)lost, EVENT_RING);
}

static int prepare(struct wbell_ctx *ctx, const struct wbell_open_attr *attr,
		   struct error_text *e)
{
	int rc;

	rc = log_open(&ctx->log, attr, e);
	if (rc)
		return rc;
	rc = events_open(&ctx->events);
	if (rc) {
		error_set(e, rc,
			  "cannot make an eventfd: %s: raise the limit of open "
			  "files (ulimit -n)",
			  error_name(rc));
		goto err_log;
	}
	rc = ring_open(&ctx->ring, attr->max_queues);
	if (rc) {
		error_set(e, rc,
			  "cannot make the context's shared memory for %u "
			  "queues: %s: free memory or descriptors, or lower "
			  "max_queues",
			  attr->max_queues, error_name(rc));
		goto err_events;
	}
	pthread_mutex_init(&ctx->lock, NULL);
	return 0;

err_events:
	events_close(&ctx->events);
err_log:
	log_close(&ctx->log);
	return rc;
}

static void unprepare(struct wbell_ctx *ctx)
{
	pthread_mutex_destroy(&ctx->lock);
	ring_close(&ctx->ring);
	events_close(&ctx->events);
	log_close(&ctx->log);
}

static int open_nic(struct wbell_ctx *ctx, const struct wbell_open_attr *attr,
		    struct error_text *e)
{
	struct wbell_prov_open open = {
		.wire = attr->wire,
		.flags = attr->flags,
		.max_queues = attr->max_queues,
		.cpu = attr->cpu,
		.doorbells = ctx->ring.doorbells,
		.log = log_provider,
		.log_arg = &ctx->log,
		.event = ctx_event,
		.event_arg = ctx,
	};
	struct wbell_ctx_info info;
	int rc;

	rc = prov_open(ctx, attr->provider, &open, e);
	if (rc)
		return rc;
	ctx->flags = attr->flags;
	rc = wbell_info(ctx, &info);
	ring_set_nic(&ctx->ring, rc ? ctx->ops->name : info.nic);
	return 0;
}

int wbell_open(const struct wbell_open_attr *attr, struct wbell_ctx **out)
{
	errno_kept();
	struct error_text *e = error_thread();
	struct wbell_open_attr a;
	struct wbell_ctx *ctx;
	int rc;

	if (!out)
		return error_no_object("wbell_open", "result");
	*out = NULL;
	rc = attr_take(&a, sizeof(a), sizeof(a), attr, "open attribute", e);
	if (!rc)
		rc = attr_open(&a, e);
	if (!rc)
		rc = wire_check(a.wire, e);
	if (rc)
		return rc;
	ctx = calloc(1, sizeof(*ctx));
	if (!ctx)
		return error_set(e, -ENOMEM,
				 "context: out of memory: free some");
	rc = prepare(ctx, &a, e);
	if (rc)
		goto err_free;
	rc = open_nic(ctx, &a, e);
	if (rc)
		goto err_unprepare;
	*out = ctx;
	return 0;

err_unprepare:
	unprepare(ctx);
err_free:
	free(ctx);
	return rc;
}

static int close_locked(struct wbell_ctx *ctx)
{
	if (ctx->mems || ctx->queues)
		return error_set(&ctx->error, -EBUSY,
				 "context still holds %u memory and %u queues: "
				 "deregister and destroy them first",
				 ctx->mems, ctx->queues);
	if (ctx->has_sink)
		ctx->ops->mem_deregister(ctx->nic, ctx->sink_key);
	ctx->ops->close(ctx->nic);
	return 0;
}

int wbell_close(struct wbell_ctx *ctx)
{
	errno_kept();
	int rc;

	if (!ctx)
		return error_no_object("wbell_close", "context");
	pthread_mutex_lock(&ctx->lock);
	rc = close_locked(ctx);
	pthread_mutex_unlock(&ctx->lock);
	if (rc)
		return rc;
	unprepare(ctx);
	free(ctx);
	return 0;
}

int wbell_info(struct wbell_ctx *ctx, struct wbell_ctx_info *info)
{
	errno_kept();
	int rc;

	if (!ctx || !info)
		return error_no_object("wbell_info",
				       ctx ? "result" : "context");
	memset(info, 0, sizeof(*info));
	pthread_mutex_lock(&ctx->lock);
	rc = ctx->ops->info(ctx->nic, info);
	if (rc)
		error_set(&ctx->error, rc,
			  "cannot read the NIC's facts: %s from provider %s: "
			  "see its log",
			  error_name(rc), ctx->ops->name);
	pthread_mutex_unlock(&ctx->lock);
	snprintf(info->provider, sizeof(info->provider), "%s", ctx->ops->name);
	if (!info->gpu[0])
		strcpy(info->gpu, "none, CPU threads");
	return rc;
}

int wbell_counters(struct wbell_ctx *ctx, struct wbell_counter *c, unsigned n,
		   unsigned *count)
{
	errno_kept();
	int rc;

	if (!ctx || !count || (n && !c))
		return error_no_object("wbell_counters",
				       ctx ? "result" : "context");
	pthread_mutex_lock(&ctx->lock);
	rc = ctx->ops->counters(ctx->nic, c, n, count);
	if (rc)
		error_set(&ctx->error, rc,
			  "cannot read the NIC's counters: %s from provider "
			  "%s: see its log",
			  error_name(rc), ctx->ops->name);
	pthread_mutex_unlock(&ctx->lock);
	return rc;
}

int wbell_poll(struct wbell_ctx *ctx)
{
	errno_kept();
	int rc;

	if (!ctx)
		return error_no_object("wbell_poll", "context");
	pthread_mutex_lock(&ctx->lock);
	if (ctx->flags & WBELL_OPEN_POLLED)
		rc = ctx->ops->poll(ctx->nic);
	else
		rc = error_set(&ctx->error, -EINVAL,
			       "wbell_poll: the context runs its engine in a "
			       "thread: open it with WBELL_OPEN_POLLED");
	pthread_mutex_unlock(&ctx->lock);
	return rc;
}

void wbell_abort(struct wbell_ctx *ctx)
{
	if (ctx)
		__atomic_store_n(&ctx->ring.head->abort, 1, __ATOMIC_RELEASE);
}
