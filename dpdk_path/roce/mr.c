// SPDX-License-Identifier: BSD-2-Clause
/* Memory keys: index << 8 | generation, so that a stale key never matches. */
#include "priv.h"

static struct mr *free_slot(struct roce_dev *dev)
{
	uint32_t i, at;

	for (i = 0; i <= dev->mr_mask; i++) {
		at = (dev->mr_hint + i) & dev->mr_mask;
		if (at && !dev->mr[at].len) { /* 0 stays empty: key 0 is none */
			dev->mr_hint = at + 1;
			return &dev->mr[at];
		}
	}
	return NULL;
}

static bool wraps(uint64_t addr, uint64_t len)
{
	return len && addr + (len - 1) < addr;
}

int roce_mr_add(struct roce_dev *dev, const struct roce_mr_attr *a,
		uint32_t *key)
{
	struct mr *mr;
	uint32_t at;

	if (!a->len || wraps(a->iova, a->len) ||
	    wraps((uintptr_t)a->base, a->len))
		return -EINVAL;
	mr = a->key ? &dev->mr[(a->key >> 8) & dev->mr_mask] : free_slot(dev);
	if (!mr || mr->len)
		return -ENOSPC;
	at = mr - dev->mr;
	mr->iova = a->iova;
	mr->base = a->base;
	mr->len = a->len;
	mr->access = a->access;
	if (a->access & (ROCE_ACCESS_REMOTE_WRITE | ROCE_ACCESS_REMOTE_ATOMIC))
		mr->access |= ROCE_ACCESS_LOCAL_WRITE;
	/* the generation outlives the key in the low byte */
	mr->key = a->key ? a->key : at << 8 | ((mr->key + 1) & 0xff);
	*key = mr->key;
	return 0;
}

int roce_mr_del(struct roce_dev *dev, uint32_t key)
{
	struct mr *mr = mr_find(dev, key);

	if (!mr || !mr->len)
		return -ENOENT;
	mr->len = 0;
	mr->access = 0;
	mr->iova = 0;
	mr->base = NULL;
	return 0;
}
