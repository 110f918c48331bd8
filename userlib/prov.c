// SPDX-License-Identifier: BSD-2-Clause
/* Providers: which there are, in what order, and which one opens. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

static const struct prov *const provs[] = {
	&prov_engine,
	&prov_fake,
};
#define PROVS (sizeof(provs) / sizeof(*provs))

static const struct prov *find(const char *name)
{
	size_t i;

	for (i = 0; i < PROVS; i++)
		if (!strcmp(provs[i]->name, name))
			return provs[i];
	return NULL;
}

static int try_open(struct wbell_ctx *ctx, const struct prov *p,
		    const struct wbell_prov_open *open, struct error_text *e)
{
	struct wbell_err err = { "" };
	int rc;

	rc = p->get(&ctx->ops, &err);
	if (!rc)
		rc = ctx->ops->open(open, &ctx->nic, &err);
	err.text[sizeof(err.text) - 1] = '\0';
	if (rc && err.text[0])
		return error_set(e, rc, "%s", err.text);
	if (rc)
		return error_set(e, rc,
				 "cannot open wire '%.200s': %s from provider "
				 "%s: see its log",
				 open->wire, error_name(rc), p->name);
	return 0;
}

static int open_first(struct wbell_ctx *ctx, const struct wbell_prov_open *open,
		      struct error_text *e)
{
	int rc = -ENODEV;
	size_t i;

	for (i = 0; i < PROVS; i++) {
		if (provs[i]->by_name)
			continue;
		rc = try_open(ctx, provs[i], open, e);
		if (!rc)
			return 0;
		log_say(&ctx->log, WBELL_LOG_WARN, "provider %s not used: %s",
			provs[i]->name, e->text);
	}
	return rc;
}

int prov_open(struct wbell_ctx *ctx, const char *name,
	      const struct wbell_prov_open *open, struct error_text *e)
{
	const struct prov *p;
	int rc;

	if (!name)
		name = wire_is_fake(open->wire) ? "fake" : env_provider();
	if (name) {
		p = find(name);
		if (!p)
			return error_set(e, -ENODEV,
					 "provider '%.40s': not one of this "
					 "library: use engine",
					 name);
		rc = try_open(ctx, p, open, e);
	} else {
		rc = open_first(ctx, open, e);
	}
	if (!rc)
		log_say(&ctx->log, WBELL_LOG_INFO, "provider %s on wire %s",
			ctx->ops->name, open->wire);
	return rc;
}

int wbell_provider_probe(unsigned index, struct wbell_provider_info *info)
{
	errno_kept();
	const struct wbell_provider_ops *ops;
	struct wbell_err err = { "" };
	int rc;

	if (!info)
		return error_no_object("wbell_provider_probe", "result");
	if (index >= PROVS)
		return -ENOENT;
	memset(info, 0, sizeof(*info));
	snprintf(info->name, sizeof(info->name), "%s", provs[index]->name);
	rc = provs[index]->get(&ops, &err);
	if (rc) {
		snprintf(info->text, sizeof(info->text), "%.*s",
			 (int)sizeof(info->text) - 1, err.text);
		return 0;
	}
	info->usable = !ops->probe(info->text, sizeof(info->text));
	info->text[sizeof(info->text) - 1] = '\0';
	return 0;
}
