/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tests of libwarpbell share: a context on the fake NIC. */
#ifndef LIB_TEST_H
#define LIB_TEST_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <wbell/wbell.h>

#define assert_has(text, part)                                          \
	do {                                                            \
		if (!strstr(text, part))                                \
			fail_msg("\"%s\" does not hold \"%s\"", (text), \
				 (part));                               \
	} while (0)

static inline struct wbell_ctx *open_wire(const char *wire)
{
	struct wbell_open_attr attr = { .wire = wire,
					.flags = WBELL_OPEN_POLLED,
					.max_queues = 64 };
	struct wbell_ctx *ctx;
	int rc = wbell_open(&attr, &ctx);

	if (rc)
		fail_msg("%s", wbell_error(NULL));
	return ctx;
}

static inline struct wbell_queue *create_queue(struct wbell_ctx *ctx,
					       uint32_t depth)
{
	struct wbell_queue_attr attr = { .depth = depth };
	struct wbell_queue *q;
	int rc = wbell_queue_create(ctx, &attr, &q);

	if (rc)
		fail_msg("%s", wbell_error(ctx));
	return q;
}

#endif /* LIB_TEST_H */
