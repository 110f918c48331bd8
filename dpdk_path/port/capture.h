/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A capture of RoCEv2 frames in pcapng (draft-ietf-opsawg-pcapng), written
 * without DPDK: rte_pcapng is experimental, changed its calls in 23.03 and
 * 23.11, and cannot say that a disk is full.
 *
 * A capture that cannot go on stops with one line in the log; the traffic
 * does not.
 */
#ifndef WBELL_CAPTURE_H
#define WBELL_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

#include <wbell/provider.h>

struct capture;

struct capture_attr {
	const char *path;
	const char *interface; /* what the file calls the port */
	uint64_t now;	       /* of the clock capture_frame() is told */
	wbell_log_fn log;
	void *log_arg;
};

/* The pcapng word epb_flags. */
enum capture_direction { CAPTURE_IN = 1, CAPTURE_OUT = 2 };

int capture_open(const struct capture_attr *attr, struct capture **c,
		 struct wbell_err *err);
void capture_close(struct capture *c);
/* Frames that are not RoCEv2 are passed over. */
void capture_frame(struct capture *c, uint64_t now, enum capture_direction dir,
		   const uint8_t *frame, uint32_t len);
void capture_flush(struct capture *c);
unsigned capture_counters(const struct capture *c, struct wbell_counter *cnt,
			  unsigned n);

#endif /* WBELL_CAPTURE_H */
