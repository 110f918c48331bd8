/* SPDX-License-Identifier: GPL-2.0-only */
/* Checks of what user space says about a queue.  Pure. */
#ifndef WBELL_KMOD_DESC_H
#define WBELL_KMOD_DESC_H

#include "../include/wbell/uapi.h"

/* What is wrong: member, and what is expected of it. */
struct wbell_desc_fault {
	const char *member, *want;
};

/*
 * All that can be said without looking at the objects: depth, sizes,
 * alignment, overlap, and which members go together.
 * Errors: EINVAL, EOVERFLOW; fault says which member.
 */
int wbell_desc_check(const struct wbell_u_queue_create *desc,
		     struct wbell_desc_fault *fault);

/* A name: [a-z0-9._-], not empty, NUL-terminated and NUL-padded. */
int wbell_desc_name(const char name[WBELL_NAME_MAX]);

#endif /* WBELL_KMOD_DESC_H */
