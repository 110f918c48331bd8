/* SPDX-License-Identifier: BSD-2-Clause */
/* A thread of a kernel of the self test, and what it expects of a call. */
#ifndef WBELL_SELFTEST_SELF_H
#define WBELL_SELFTEST_SELF_H

#include "kernels.h"

struct self {
	struct wbell_dqueue *q, *peer;
	const struct self_args *a;
	struct self_lane *lane;
	uint32_t index, count;
	uint64_t deadline;
	uint64_t local, remote; /* this thread's part */
};

WBELL_FN struct self self_start(struct self_args *a)
{
	struct wbell_thread t = wbell_thread();
	struct self s;

	s.index = t.block * t.threads + t.thread;
	s.count = t.blocks * t.threads;
	s.a = a;
	s.q = a->q[s.index % a->queues];
	s.peer = a->peer;
	s.lane = &a->lane[s.index];
	s.deadline = wbell_deadline_us(a->timeout_us);
	s.local = a->local + (uint64_t)SELF_PART * (1 + s.index);
	s.remote = a->remote + (uint64_t)SELF_PART * (1 + s.index);
	return s;
}

WBELL_FN void self_note(struct self_lane *lane, int line, int got, int want)
{
	lane->file = SELF_FILE;
	lane->got = got;
	lane->want = want;
	lane->line = line;
}

/* Ends the kernel's thread when call gives something else. */
#define EXPECT(s, call, value)                                        \
	do {                                                          \
		int got_ = (int)(call);                               \
                                                                      \
		if (got_ != (value)) {                                \
			self_note((s).lane, __LINE__, got_, (value)); \
			return;                                       \
		}                                                     \
	} while (0)

/* A full ring is tried again until deadline or abort. */
#define RETRY(s, rc, call)                               \
	while (((rc) = (call)) == WBELL_EAGAIN) {        \
		(rc) = wbell_pause((s).q, (s).deadline); \
		if (rc)                                  \
			break;                           \
	}

#define POST(s, call)                \
	do {                         \
		int rc_;             \
                                     \
		RETRY(s, rc_, call); \
		EXPECT(s, rc_, 0);   \
	} while (0)

#define WAIT(s, t) EXPECT(s, wbell_wait((s).q, (t), (s).deadline), 0)

WBELL_FN uint8_t *self_bytes(uint64_t addr)
{
	return (uint8_t *)(uintptr_t)addr;
}

WBELL_FN void self_fill(uint64_t addr, uint32_t index, uint32_t round,
			uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		self_bytes(addr)[i] = SELF_BYTE(index, round, i);
}

/* 0, or 1 + the place of the first wrong byte. */
WBELL_FN int self_differs(uint64_t addr, uint32_t index, uint32_t round,
			  uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		if (self_bytes(addr)[i] != SELF_BYTE(index, round, i))
			return (int)i + 1;
	return 0;
}

#endif /* WBELL_SELFTEST_SELF_H */
