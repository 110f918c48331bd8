/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bytes over a connected stream socket: all of them, or an error by a
 * deadline.  The socket may block or not; no call here does past its deadline.
 *
 * Deadlines are of stream_now().  All give 0 or an error: -ETIMEDOUT, -EPIPE
 * at the stream's end, -errno of poll(2), recv(2) and send(2).  Safe from any
 * thread; one reader and one writer at a time per socket.
 */
#ifndef WBELL_GPU_STREAM_H
#define WBELL_GPU_STREAM_H

#include <stddef.h>
#include <stdint.h>

uint64_t stream_now(void); /* ms, monotonic */

/* events: as poll(2)'s; an error or a hang-up of the socket ends it too. */
int stream_wait(int fd, short events, uint64_t deadline);

/* size bytes and none beyond; after an error buf is partly written. */
int stream_read(int fd, void *buf, size_t size, uint64_t deadline);

/* No SIGPIPE; after an error part of buf may have gone. */
int stream_write(int fd, const void *buf, size_t size, uint64_t deadline);

#endif /* WBELL_GPU_STREAM_H */
