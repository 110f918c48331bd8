// SPDX-License-Identifier: BSD-2-Clause
/* A team: one context, a window, and queues to every rank per channel. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "priv.h"

#define DEPTH	256
#define PAGE	4096
#define VERSION 1

/* What a rank tells the others. */
struct card {
	uint32_t version, ranks, channels, rkey;
	uint64_t window, user_size;
	struct wbell_address address[COLL_CHANNELS_MAX][COLL_RANKS_MAX];
};

int coll_fail(struct coll_text *why, int rc, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why->s, sizeof(why->s), fmt, ap);
	va_end(ap);
	return rc;
}

static int fail_ctx(const struct coll_team *team, struct coll_text *why, int rc)
{
	return coll_fail(why, rc, "%s", wbell_error(team->ctx));
}

void *coll_team_user(struct coll_team *team)
{
	return (char *)team->window + team->view->at.user;
}

struct wbell_ctx *coll_team_ctx(struct coll_team *team)
{
	return team->ctx;
}

const struct coll_team_view *coll_team_view(const struct coll_team *team)
{
	return team->view;
}

static int check(const struct coll_team_attr *a, struct coll_text *why)
{
	if (a->ranks < 2 || a->ranks > COLL_RANKS_MAX)
		return coll_fail(why, -EINVAL, "team: %u ranks: give 2 to %d",
				 a->ranks, COLL_RANKS_MAX);
	if (a->rank >= a->ranks)
		return coll_fail(why, -EINVAL,
				 "team: rank %u of %u: give 0 to %u", a->rank,
				 a->ranks, a->ranks - 1);
	if (!a->channels || a->channels > COLL_CHANNELS_MAX)
		return coll_fail(why, -EINVAL,
				 "team: %u channels: give 1 to %d", a->channels,
				 COLL_CHANNELS_MAX);
	if (!a->user_size || a->user_size > 1ULL << 40)
		return coll_fail(why, -EINVAL,
				 "team: a window of %llu bytes: give 1 to 2^40",
				 (unsigned long long)a->user_size);
	return 0;
}

static uint64_t place(uint64_t *end, uint64_t size)
{
	uint64_t at = *end;

	*end += (size + PAGE - 1) / PAGE * PAGE;
	return at;
}

static void lay_out(struct coll_team_view *v)
{
	uint64_t pairs = (uint64_t)v->channels * v->ranks, end = 0;
	struct coll_layout *at = &v->at;

	at->words = place(&end, pairs * sizeof(struct coll_words));
	at->outs = place(&end, pairs * sizeof(uint64_t));
	at->tables = place(&end, pairs * sizeof(struct coll_list));
	at->lists = place(&end, v->channels * sizeof(struct coll_list));
	at->fifo = place(&end, pairs * COLL_SLOTS * COLL_SLOT_SIZE);
	at->stage = place(&end,
			  (uint64_t)v->channels * COLL_SLOTS * COLL_SLOT_SIZE);
	at->user = place(&end, v->user_size);
	at->size = end;
}

static int make_window(struct coll_team *team, struct coll_text *why)
{
	struct coll_team_view *v = team->view;
	int rc;

	lay_out(v);
	team->window = wbell_launch_alloc(v->at.size);
	if (!team->window)
		return coll_fail(why, -ENOMEM,
				 "window of %llu bytes: no memory: free some, "
				 "or use smaller messages",
				 (unsigned long long)v->at.size);
	v->window = (uintptr_t)team->window;
	rc = wbell_mem_register(team->ctx, team->window, v->at.size,
				WBELL_REMOTE_WRITE | WBELL_REMOTE_READ |
					WBELL_REMOTE_ATOMIC,
				&team->mem);
	if (rc)
		return fail_ctx(team, why, rc);
	v->lkey = wbell_mem_lkey(team->mem);
	return 0;
}

static int make_queue(struct coll_team *team, uint32_t c, uint32_t r,
		      struct wbell_address *address)
{
	struct wbell_queue_attr attr = { .size = sizeof(attr),
					 .depth = DEPTH,
					 .flags = WBELL_QUEUE_EXCLUSIVE };
	int rc;

	rc = wbell_queue_create(team->ctx, &attr, &team->queue[c][r]);
	if (!rc)
		rc = wbell_queue_device(team->queue[c][r],
					&team->view->channel[c].link[r].q);
	if (!rc)
		rc = wbell_queue_address(team->queue[c][r], address);
	return rc;
}

static int make_queues(struct coll_team *team, struct card *mine,
		       struct coll_text *why)
{
	struct coll_team_view *v = team->view;
	uint32_t c, r;
	int rc;

	for (c = 0; c < v->channels; c++) {
		for (r = 0; r < v->ranks; r++) {
			if (r == v->rank)
				continue;
			rc = make_queue(team, c, r, &mine->address[c][r]);
			if (rc)
				return fail_ctx(team, why, rc);
		}
	}
	mine->version = VERSION;
	mine->ranks = v->ranks;
	mine->channels = v->channels;
	mine->user_size = v->user_size;
	mine->window = v->window;
	mine->rkey = wbell_mem_rkey(team->mem);
	return coll_map(team, why);
}

static int join_rank(struct coll_team *team, uint32_t r,
		     const struct card *card, struct coll_text *why)
{
	struct coll_team_view *v = team->view;
	uint32_t c;
	int rc;

	if (card->version != VERSION || card->ranks != v->ranks ||
	    card->channels != v->channels || card->user_size != v->user_size)
		return coll_fail(why, -EPROTO,
				 "rank %u: release %u, %u ranks, %u channels "
				 "where ours are %u, %u, %u, or another "
				 "window: start all ranks alike",
				 r, card->version, card->ranks, card->channels,
				 VERSION, v->ranks, v->channels);
	for (c = 0; c < v->channels; c++) {
		rc = wbell_queue_connect(team->queue[c][r],
					 &card->address[c][v->rank]);
		if (rc)
			return fail_ctx(team, why, rc);
		v->channel[c].link[r].window = card->window;
		v->channel[c].link[r].rkey = card->rkey;
	}
	return 0;
}

/* The caller's gather has its own words for what it meets. */
static int gather(const struct coll_team_attr *attr, const void *mine,
		  void *all, uint32_t size, struct coll_text *why)
{
	*why->s = '\0';
	return attr->gather(attr->gather_arg, mine, all, size);
}

/* The second gather says that all queues are connected. */
static int join_all(struct coll_team *team, const struct coll_team_attr *attr,
		    struct card *mine, struct coll_text *why)
{
	struct card *all = calloc(attr->ranks, sizeof(*all));
	uint32_t r, ok = 1, oks[COLL_RANKS_MAX];
	int rc;

	if (!all)
		return coll_fail(why, -ENOMEM, "team: no memory: free some");
	rc = gather(attr, mine, all, sizeof(*mine), why);
	for (r = 0; r < attr->ranks && !rc; r++)
		if (r != attr->rank)
			rc = join_rank(team, r, &all[r], why);
	free(all);
	return rc ? rc : gather(attr, &ok, oks, sizeof(ok), why);
}

static int open_ctx(struct coll_team *team, const struct coll_team_attr *attr,
		    struct coll_text *why)
{
	struct wbell_open_attr open = { .size = sizeof(open),
					.wire = attr->wire };
	int rc = wbell_open(&open, &team->ctx);

	if (rc)
		return fail_ctx(team, why, rc);
	team->view = wbell_launch_alloc(sizeof(*team->view));
	team->ring = wbell_launch_alloc(sizeof(*team->ring));
	team->args = wbell_launch_alloc(sizeof(*team->args));
	if (!team->view || !team->ring || !team->args)
		return coll_fail(why, -ENOMEM,
				 "memory for kernels: none: free some");
	team->view->rank = attr->rank;
	team->view->ranks = attr->ranks;
	team->view->channels = attr->channels;
	team->view->user_size = attr->user_size;
	team->view->timeout_us = (uint64_t)attr->timeout_ms * 1000;
	return 0;
}

int coll_team_open(const struct coll_team_attr *attr, struct coll_text *why,
		   struct coll_team **out)
{
	struct coll_team *team;
	struct card *mine;
	int rc = check(attr, why);

	if (rc)
		return rc;
	team = calloc(1, sizeof(*team));
	mine = calloc(1, sizeof(*mine));
	if (!team || !mine)
		rc = coll_fail(why, -ENOMEM, "team: no memory: free some");
	if (!rc)
		rc = open_ctx(team, attr, why);
	if (!rc)
		rc = make_window(team, why);
	if (!rc)
		rc = make_queues(team, mine, why);
	if (!rc)
		rc = join_all(team, attr, mine, why);
	free(mine);
	if (rc)
		coll_team_close(team);
	else
		*out = team;
	return rc;
}

void coll_team_close(struct coll_team *team)
{
	struct coll_text why;
	uint32_t c, r;

	if (!team)
		return;
	/* a kernel that does not end keeps its memory: better leaked */
	if (team->launch && coll_stop(team, &why))
		return;
	coll_unmap(team);
	for (c = 0; c < COLL_CHANNELS_MAX; c++)
		for (r = 0; r < COLL_RANKS_MAX; r++)
			if (team->queue[c][r])
				wbell_queue_destroy(team->queue[c][r]);
	if (team->mem)
		wbell_mem_deregister(team->mem);
	if (team->ctx)
		wbell_close(team->ctx);
	wbell_launch_free(team->window);
	wbell_launch_free(team->args);
	wbell_launch_free(team->ring);
	wbell_launch_free(team->view);
	free(team);
}
