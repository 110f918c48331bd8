/* SPDX-License-Identifier: GPL-2.0-only */
/* Tracepoints: each change of state.  Numbers only, no addresses. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM warpbell

#if !defined(WBELL_KMOD_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define WBELL_KMOD_TRACE_H

#include <linux/tracepoint.h>

#ifndef WBELL_TRACE_MAKE
#define WBELL_TRACE_MAKE 0
#define WBELL_TRACE_MMAP 1
#define WBELL_TRACE_KILL 2
#define WBELL_TRACE_FREE 3
#endif

/* clang-format off */
TRACE_EVENT(wbell_ctx,
	TP_PROTO(int pid, bool open),
	TP_ARGS(pid, open),
	TP_STRUCT__entry(
		__field(int, pid)
		__field(bool, open)
	),
	TP_fast_assign(
		__entry->pid = pid;
		__entry->open = open;
	),
	TP_printk("pid=%d %s", __entry->pid,
		  __entry->open ? "open" : "close")
);

TRACE_EVENT(wbell_object,
	TP_PROTO(unsigned int type, u32 handle, unsigned int state, u32 reason),
	TP_ARGS(type, handle, state, reason),
	TP_STRUCT__entry(
		__field(unsigned int, type)
		__field(u32, handle)
		__field(unsigned int, state)
		__field(u32, reason)
	),
	TP_fast_assign(
		__entry->type = type;
		__entry->handle = handle;
		__entry->state = state;
		__entry->reason = reason;
	),
	TP_printk("type=%s handle=%u state=%s reason=%u",
		  __print_symbolic(__entry->type, { 0, "ring" },
				   { 1, "gpumem" }, { 2, "mreg" },
				   { 3, "window" }, { 4, "queue" },
				   { 5, "nic" }),
		  __entry->handle,
		  __print_symbolic(__entry->state, { 0, "live" },
				   { 1, "revoking" }, { 2, "dead" }),
		  __entry->reason)
);

TRACE_EVENT(wbell_map,
	TP_PROTO(unsigned long start, unsigned long pages, unsigned int what),
	TP_ARGS(start, pages, what),
	TP_STRUCT__entry(
		__field(unsigned long, start)
		__field(unsigned long, pages)
		__field(unsigned int, what)
	),
	TP_fast_assign(
		__entry->start = start;
		__entry->pages = pages;
		__entry->what = what;
	),
	TP_printk("offset=%lu pages=%lu %s", __entry->start, __entry->pages,
		  __print_symbolic(__entry->what, { 0, "make" }, { 1, "mmap" },
				   { 2, "kill" }, { 3, "free" }))
);

TRACE_EVENT(wbell_queue,
	TP_PROTO(u32 id, u32 state, u32 reason, u32 code),
	TP_ARGS(id, state, reason, code),
	TP_STRUCT__entry(
		__field(u32, id)
		__field(u32, state)
		__field(u32, reason)
		__field(u32, code)
	),
	TP_fast_assign(
		__entry->id = id;
		__entry->state = state;
		__entry->reason = reason;
		__entry->code = code;
	),
	TP_printk("id=%u state=%s reason=%u code=%u", __entry->id,
		  __print_symbolic(__entry->state, { 0, "reset" },
				   { 1, "ready" }, { 2, "error" }),
		  __entry->reason, __entry->code)
);

TRACE_EVENT(wbell_quarantine,
	TP_PROTO(u32 provider, u32 pages, bool enter, u32 now),
	TP_ARGS(provider, pages, enter, now),
	TP_STRUCT__entry(
		__field(u32, provider)
		__field(u32, pages)
		__field(bool, enter)
		__field(u32, now)
	),
	TP_fast_assign(
		__entry->provider = provider;
		__entry->pages = pages;
		__entry->enter = enter;
		__entry->now = now;
	),
	TP_printk("provider=%u pages=%u %s now=%u", __entry->provider,
		  __entry->pages, __entry->enter ? "enter" : "leave",
		  __entry->now)
);

TRACE_EVENT(wbell_limit,
	TP_PROTO(u32 uid, unsigned int what, u64 asked, u64 limit),
	TP_ARGS(uid, what, asked, limit),
	TP_STRUCT__entry(
		__field(u32, uid)
		__field(unsigned int, what)
		__field(u64, asked)
		__field(u64, limit)
	),
	TP_fast_assign(
		__entry->uid = uid;
		__entry->what = what;
		__entry->asked = asked;
		__entry->limit = limit;
	),
	TP_printk("uid=%u what=%u asked=%llu limit=%llu", __entry->uid,
		  __entry->what, __entry->asked, __entry->limit)
);
/* clang-format on */

#endif /* WBELL_KMOD_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
