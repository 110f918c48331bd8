// SPDX-License-Identifier: GPL-2.0-only
/* probe: WBELL_API_EVENTFD_SIGNAL 2 */
/* 1: eventfd_signal(ctx, n); 2: eventfd_signal(ctx) (from 6.8). */
#include <linux/eventfd.h>

void probe(struct eventfd_ctx *ctx);
void probe(struct eventfd_ctx *ctx)
{
#if TRY == 1
	eventfd_signal(ctx, 1);
#else
	eventfd_signal(ctx);
#endif
}
