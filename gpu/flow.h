/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Flows of control that take turns on one OS thread; launch_host.c makes a
 * GPU thread of each.
 *
 * A flow is begun by setcontext(); after that _longjmp() goes to it, which
 * leaves the signal mask alone and so needs no system call.  Sanitizers
 * follow swapcontext() only, and a fortified longjmp takes another stack for
 * an error.
 */
#ifndef WBELL_GPU_FLOW_H
#define WBELL_GPU_FLOW_H

#include <setjmp.h>
#include <ucontext.h>

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#define TSAN_NO_SYNC 1 /* flag of __tsan_switch_to_fiber */
#endif
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__) || \
	(defined(_FORTIFY_SOURCE) && _FORTIFY_SOURCE > 0)
#define FLOW_BY_CONTEXT 1
#endif

/* Words of the runtime that are used on both sides of a switch. */
#define UNSEEN __attribute__((no_sanitize("thread")))

struct flow {
	ucontext_t uc; /* where it begins */
	jmp_buf at;    /* where it goes on */
};

/* begun: to has run before. */
UNSEEN static inline void flow_switch(struct flow *from, struct flow *to,
				      int begun)
{
#ifdef FLOW_BY_CONTEXT
	swapcontext(&from->uc, &to->uc);
#else
	if (_setjmp(from->at))
		return;
	if (begun)
		_longjmp(to->at, 1);
	setcontext(&to->uc);
#endif
}

#endif /* WBELL_GPU_FLOW_H */
