/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the parser's tests share.  Every frame is parsed where unmapped memory
 * follows its last byte.
 */
#ifndef PKT_FIXTURE_H
#define PKT_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "frame.h"
#include "guard.h"
#include "icrc.h"
#include "pkt.h"
#include "vectors.h"

#define FRAME_MAX 4300

static struct guard edge;
static struct roce_pkt pkt;
static uint8_t buf[FRAME_MAX];

static inline enum roce_drop parse(const uint8_t *frame, uint32_t len)
{
	uint8_t *at = edge.end - len;

	memcpy(at, frame, len);
	memset(&pkt, 0x5a, sizeof(pkt));
	return roce_parse(at, len, &pkt);
}

/* The number is a name in what cmocka prints. */
#define assert_drop(got, want) \
	assert_string_equal(roce_drop_name(got), roce_drop_name(want))

static inline const struct vec_frame *vec(const char *id)
{
	for (size_t i = 0; i < VEC_COUNT(vec_frames); i++)
		if (!strcmp(vec_frames[i].id, id))
			return &vec_frames[i];
	fail_msg("no vector %s", id);
	return NULL;
}

/* A vector's copy in buf, to change. */
static inline uint32_t take(const char *id)
{
	const struct vec_frame *v = vec(id);

	memcpy(buf, v->frame, v->len);
	return v->len;
}

/* Make the checksum and ICRC of the untagged IPv4 frame in buf right. */
static inline void seal4(uint32_t len)
{
	uint8_t *l3 = buf + FRAME_L3;

	frame_csum(l3);
	frame_icrc(buf + len - 4, roce_icrc_ipv4(l3, len - FRAME_L3 - 4));
}

static inline int setup(void **state)
{
	roce_icrc_init();
	edge = guard_new();
	return 0;
}

static inline int teardown(void **state)
{
	guard_free(edge);
	return 0;
}

#endif /* PKT_FIXTURE_H */
