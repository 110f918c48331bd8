/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bytes of a perftest buffer: rand() from a seed that is the second in
 * which the program filled it.  So what arrives can be checked, though the
 * program itself never does: the seed must be one of the last minute.
 */
#ifndef INTEROP_STREAM_H
#define INTEROP_STREAM_H

#include <stddef.h>
#include <stdint.h>

void stream_open(size_t len); /* of the program's buffer */
void stream_close(void);
/* Dies when bytes are not those that lie at off of the buffer. */
void stream_check(const uint8_t *bytes, size_t len, size_t off);

#endif /* INTEROP_STREAM_H */
