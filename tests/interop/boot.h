/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The TCP connection by which the tools tell each other their queues.  While
 * one waits for it, the link goes on.
 */
#ifndef INTEROP_BOOT_H
#define INTEROP_BOOT_H

#include "mailbox.h"

struct boot {
	struct link *link;
	int fd;
	bool client;
	struct mailbox *box; /* talk on that; NULL: by TCP */
};

/* What one end tells of itself. */
struct dest {
	uint32_t qpn, psn, rkey, out_reads;
	uint64_t vaddr;
	uint8_t gid[16];
};

/* host NULL: listen, say so on stdout, and take one. */
void boot_open(struct boot *b, struct link *l, const char *host, unsigned port);
void boot_close(struct boot *b);
void boot_put(struct boot *b, const void *data, size_t len);
void boot_get(struct boot *b, void *data, size_t len);
/* The client speaks first. */
void boot_swap(struct boot *b, const void *mine, void *theirs, size_t len);

#endif /* INTEROP_BOOT_H */
