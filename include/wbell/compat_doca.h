/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR BSD-2-Clause */
/*
 * What the device code inside NCCL takes for a queue pair: its struct
 * doca_gpu_dev_verbs_qp, described by size and offset so that one of our
 * queues can be shown to it (compat.h fills them).
 *
 *	v1: NCCL 2.28 and 2.29 (GDAKI handle version 100), QP 280 B, CQ 56 B
 *	v2: NCCL 2.30 (version 200), QP 296 B, CQ 64 B
 *
 * Pointers are __u64 addresses valid where the device code runs.  Fields
 * with _be in their name are big-endian, the rest in host order.
 *
 * That code keeps its counters in the struct, posts WQEs of one basic block,
 * each with a CQE, and takes CQE n for that of WQE n.  Memory keys it wants
 * big-endian.
 */
#ifndef WBELL_COMPAT_DOCA_H
#define WBELL_COMPAT_DOCA_H

#include <linux/types.h>

/* nic_handler: who rings.  Ours is the first: a max of *sq_db. */
#define WBELL_DOCA_CPU_PROXY 1
#define WBELL_DOCA_GPU_SM_DB 2

/* mem_type of rings */
#define WBELL_DOCA_MEM_HOST 1
#define WBELL_DOCA_MEM_GPU  2

struct wbell_doca_cq_v1 {
	__u64 cqe; /* ring of CQE64 */
	__u32 cqn; /* what a WAIT names */
	__u32 cqe_num;
	__u64 dbrec;
	__u64 ci; /* all below have been seen */
	__u32 cqe_mask;
	__u8 cqe_size; /* bytes */
	__u8 rsvd37[3];
	__u64 reserved; /* next to be waited for in turn */
	__u32 mem_type;
	__u32 rsvd52;
};

struct wbell_doca_cq_v2 {
	__u64 cqe;
	__u32 cqn;
	__u32 cqe_num;
	__u64 dbrec;
	__u64 ci;
	__u32 cqe_mask;
	__u8 cqe_size;
	__u8 rsvd37[3];
	__u64 reserved;
	__u32 mem_type;
	__u8 rsvd52[12];
};

struct wbell_doca_qp_v1 {
	__u64 sq_reserved; /* next index to hand out */
	__u64 sq_ready;	   /* all below may be rung */
	__u64 sq_pi;	   /* rung, by handler GPU_SM_DB only */
	__u32 qpn;
	__u32 qpn_shift8;
	__u32 qpn_shift8_be;
	__u32 qpn_ds_be[4]; /* qpn << 8 | ds for ds 1..4 */
	__u32 sq_lock;
	__u16 sq_num; /* basic blocks */
	__u16 sq_mask;
	__u64 sq;
	__u64 sq_dbrec; /* the send half of the doorbell record */
	__u64 sq_db;
	/* receive side: no code of NCCL's uses it */
	__u32 rq_num;
	__u32 rsvd92;
	__u64 rq_pi;
	__u32 rq_wqe_num;
	__u32 rq_wqe_mask;
	__u64 rq;
	__u64 rq_dbrec;
	__u32 rq_wqe_size; /* bytes */
	__u32 rsvd132;
	__u64 rq_reserved;
	__u64 rq_ready;
	__u32 rq_lock;
	__u32 rsvd156;
	struct wbell_doca_cq_v1 cq_sq;
	struct wbell_doca_cq_v1 cq_rq;
	__u32 nic_handler;
	__u32 mem_type;
};

struct wbell_doca_qp_v2 {
	__u64 sq_reserved;
	__u64 sq_ready;
	__u64 sq_pi;
	__u32 qpn;
	__u32 qpn_shift8;
	__u32 qpn_shift8_be;
	__u32 qpn_ds_be[5]; /* ds 1..5 */
	__u32 sq_lock;
	__u16 sq_num;
	__u16 sq_mask;
	__u64 sq;
	__u64 sq_dbrec;
	__u64 sq_db;
	__u8 rsvd88[72];
	struct wbell_doca_cq_v2 cq_sq;
	__u8 rsvd224[64];
	__u32 nic_handler;
	__u32 mem_type;
};

#ifdef __cplusplus
#define WBELL_ASSERT(c) static_assert(c, #c)
#else
#define WBELL_ASSERT(c) _Static_assert(c, #c)
#endif
#define WBELL_AT(t, f, o) WBELL_ASSERT(__builtin_offsetof(struct t, f) == (o))
#define WBELL_SIZE(t, s)  WBELL_ASSERT(sizeof(struct t) == (s))

WBELL_SIZE(wbell_doca_cq_v1, 56);
WBELL_AT(wbell_doca_cq_v1, cqn, 8);
WBELL_AT(wbell_doca_cq_v1, cqe_num, 12);
WBELL_AT(wbell_doca_cq_v1, dbrec, 16);
WBELL_AT(wbell_doca_cq_v1, ci, 24);
WBELL_AT(wbell_doca_cq_v1, cqe_mask, 32);
WBELL_AT(wbell_doca_cq_v1, cqe_size, 36);
WBELL_AT(wbell_doca_cq_v1, reserved, 40);
WBELL_AT(wbell_doca_cq_v1, mem_type, 48);

WBELL_SIZE(wbell_doca_cq_v2, 64);
WBELL_AT(wbell_doca_cq_v2, cqn, 8);
WBELL_AT(wbell_doca_cq_v2, cqe_num, 12);
WBELL_AT(wbell_doca_cq_v2, dbrec, 16);
WBELL_AT(wbell_doca_cq_v2, ci, 24);
WBELL_AT(wbell_doca_cq_v2, cqe_mask, 32);
WBELL_AT(wbell_doca_cq_v2, cqe_size, 36);
WBELL_AT(wbell_doca_cq_v2, reserved, 40);
WBELL_AT(wbell_doca_cq_v2, mem_type, 48);

WBELL_SIZE(wbell_doca_qp_v1, 280);
WBELL_AT(wbell_doca_qp_v1, sq_ready, 8);
WBELL_AT(wbell_doca_qp_v1, sq_pi, 16);
WBELL_AT(wbell_doca_qp_v1, qpn, 24);
WBELL_AT(wbell_doca_qp_v1, qpn_shift8, 28);
WBELL_AT(wbell_doca_qp_v1, qpn_shift8_be, 32);
WBELL_AT(wbell_doca_qp_v1, qpn_ds_be, 36);
WBELL_AT(wbell_doca_qp_v1, sq_lock, 52);
WBELL_AT(wbell_doca_qp_v1, sq_num, 56);
WBELL_AT(wbell_doca_qp_v1, sq_mask, 58);
WBELL_AT(wbell_doca_qp_v1, sq, 64);
WBELL_AT(wbell_doca_qp_v1, sq_dbrec, 72);
WBELL_AT(wbell_doca_qp_v1, sq_db, 80);
WBELL_AT(wbell_doca_qp_v1, rq_num, 88);
WBELL_AT(wbell_doca_qp_v1, rq_pi, 96);
WBELL_AT(wbell_doca_qp_v1, rq_wqe_num, 104);
WBELL_AT(wbell_doca_qp_v1, rq_wqe_mask, 108);
WBELL_AT(wbell_doca_qp_v1, rq, 112);
WBELL_AT(wbell_doca_qp_v1, rq_dbrec, 120);
WBELL_AT(wbell_doca_qp_v1, rq_wqe_size, 128);
WBELL_AT(wbell_doca_qp_v1, rq_reserved, 136);
WBELL_AT(wbell_doca_qp_v1, rq_ready, 144);
WBELL_AT(wbell_doca_qp_v1, rq_lock, 152);
WBELL_AT(wbell_doca_qp_v1, cq_sq, 160);
WBELL_AT(wbell_doca_qp_v1, cq_rq, 216);
WBELL_AT(wbell_doca_qp_v1, nic_handler, 272);
WBELL_AT(wbell_doca_qp_v1, mem_type, 276);

WBELL_SIZE(wbell_doca_qp_v2, 296);
WBELL_AT(wbell_doca_qp_v2, sq_ready, 8);
WBELL_AT(wbell_doca_qp_v2, sq_pi, 16);
WBELL_AT(wbell_doca_qp_v2, qpn, 24);
WBELL_AT(wbell_doca_qp_v2, qpn_shift8, 28);
WBELL_AT(wbell_doca_qp_v2, qpn_shift8_be, 32);
WBELL_AT(wbell_doca_qp_v2, qpn_ds_be, 36);
WBELL_AT(wbell_doca_qp_v2, sq_lock, 56);
WBELL_AT(wbell_doca_qp_v2, sq_num, 60);
WBELL_AT(wbell_doca_qp_v2, sq_mask, 62);
WBELL_AT(wbell_doca_qp_v2, sq, 64);
WBELL_AT(wbell_doca_qp_v2, sq_dbrec, 72);
WBELL_AT(wbell_doca_qp_v2, sq_db, 80);
WBELL_AT(wbell_doca_qp_v2, cq_sq, 160);
WBELL_AT(wbell_doca_qp_v2, nic_handler, 288);
WBELL_AT(wbell_doca_qp_v2, mem_type, 292);

#undef WBELL_SIZE
#undef WBELL_AT
#undef WBELL_ASSERT

#endif /* WBELL_COMPAT_DOCA_H */
