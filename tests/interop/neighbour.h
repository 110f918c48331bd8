/* SPDX-License-Identifier: BSD-2-Clause */
/* Answers to who asks for our IPv6 address (RFC 4861). */
#ifndef INTEROP_NEIGHBOUR_H
#define INTEROP_NEIGHBOUR_H

#include <stdbool.h>

#include "link.h"

#define NEIGHBOUR_FRAME LINK_REPLY

/* true: the frame asks for us, and out is what to answer. */
bool neighbour_reply(const uint8_t *frame, uint32_t len,
		     const struct link_attr *us, uint8_t out[NEIGHBOUR_FRAME]);

#endif /* INTEROP_NEIGHBOUR_H */
