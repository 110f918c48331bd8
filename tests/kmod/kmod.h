/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tests of /dev/warpbell share; they run as root in a guest. */
#ifndef KMOD_TEST_H
#define KMOD_TEST_H

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "wbell/uapi.h"

#define PAGE	4096UL
#define NOBODY	65534
#define TIMEOUT 10000 /* ms; no wait of a test is longer */

extern char call_err[WBELL_ERR_TEXT]; /* text of the last call, or "" */
extern unsigned int call_count;	      /* of ioctls, so far */

int ctx_open(void);
void fd_close(int fd);
/* ioctl by the struct at arg, whose size is filled in: 0 or -errno. */
int call_size(int fd, unsigned int cmd, void *arg, uint32_t size);
#define call(fd, cmd, arg) call_size(fd, cmd, arg, sizeof(*(arg)))

/* mmap() that gives NULL and leaves errno when it fails. */
void *map(int fd, uint64_t cookie, uint64_t len, int prot);
/* Does a load, or a store, raise SIGBUS?  SIGSEGV fails the test. */
bool dies_reading(const volatile void *at);
bool dies_writing(volatile void *at);

uint64_t counter(const char *name); /* of sysfs */
/* Waits for it to get there; fails the test when it does not. */
void counter_wait(const char *name, uint64_t value);
/* None is left of anything that is counted. */
void counters_zero(void);
void param_set(const char *name, const char *value);

/* Runs fn in a child: its exit status, or 256 + the signal it died of. */
int child(int (*fn)(void *arg), void *arg);
/* Starts one and returns its pid; child_end() waits, kill it before. */
int child_start(int (*fn)(void *arg), void *arg);
int child_end(int pid);
/* In a child, assertions of cmocka cannot be used: exits with the line. */
#define must(c)                                             \
	do {                                                \
		if (!(c))                                   \
			child_fail(__FILE__, __LINE__, #c); \
	} while (0)
void child_fail(const char *file, int line, const char *what);

void fd_send(int sock, int fd);
int fd_receive(int sock);

/* One event within TIMEOUT; fails the test when there is none. */
struct wbell_u_event event_get(int fd);
/* Those of other types are skipped. */
struct wbell_u_event event_wait(int fd, uint32_t type);
int poll_now(int fd);

uint32_t ring(int fd, uint64_t bytes, uint64_t *cookie, uint64_t *len);
uint32_t mreg_ring(int fd, uint32_t object, uint64_t len, uint32_t access,
		   uint64_t iova);
int destroy(int fd, uint32_t handle);
uint32_t nic(int fd, const char *name, uint32_t max, uint32_t *id);
/* Three pages of one ring: sq, cq, db; depth 64.  0 or -errno. */
int queue(int fd, uint32_t nic, uint32_t object, uint32_t *handle);
/* Endpoint, or -errno. */
int accept_queue(int fd, uint32_t nic, uint32_t flags);

/* The provider with that in its name; false: none. */
bool provider(int fd, const char *part, struct wbell_u_provider_query *out);

#endif /* KMOD_TEST_H */
