/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR BSD-2-Clause */
/*
 * The queue in memory: what device code writes and a NIC reads, and back.
 *
 * The format is mlx5's (rdma-core providers/mlx5/mlx5dv.h, NVIDIA PRM "Work
 * Queues" and "Completion Queues") on every path, so that one device source
 * drives a ConnectX and the software NIC alike.  Multi-byte fields of rings
 * and doorbell records are big-endian; struct wbell_dqueue and struct
 * wbell_error_record are ours and in host order.
 */
#ifndef WBELL_QUEUE_H
#define WBELL_QUEUE_H

#include <linux/types.h>

/* A send WQE is 1..n basic blocks of 64 B; ds counts its 16 B segments. */
#define WBELL_BB_SHIFT	  6
#define WBELL_BB_SIZE	  64
#define WBELL_SEG_SIZE	  16
#define WBELL_SEGS_PER_BB 4
#define WBELL_DS_MAX	  63 /* 6 bits of qpn_ds */

/* Send queue depth, in basic blocks: a power of two. */
#define WBELL_LOG_DEPTH_MAX 15
#define WBELL_DEPTH_MAX	    (1 << WBELL_LOG_DEPTH_MAX)

/* Largest message of one WQE (IBTA 9.7.8: 2^31 bytes). */
#define WBELL_MSG_MAX 0x80000000U

/* Opcodes of the control segment. */
#define WBELL_OP_NOP	    0x00
#define WBELL_OP_SEND_INVAL 0x01
#define WBELL_OP_WRITE	    0x08
#define WBELL_OP_WRITE_IMM  0x09
#define WBELL_OP_SEND	    0x0a
#define WBELL_OP_SEND_IMM   0x0b
#define WBELL_OP_WAIT	    0x0f
#define WBELL_OP_READ	    0x10
#define WBELL_OP_CS	    0x11
#define WBELL_OP_FA	    0x12

/* fm_ce_se of the control segment. */
#define WBELL_CTRL_SOLICITED   0x02
#define WBELL_CTRL_CQ_UPDATE   0x08
#define WBELL_CTRL_SMALL_FENCE 0x20
#define WBELL_CTRL_FENCE       0x80

struct wbell_ctrl_seg {
	__be32 opmod_idx_opcode; /* opmod 8 | index of first BB 16 | opcode 8 */
	__be32 qpn_ds;		 /* qpn 24 | rsvd 2 | ds 6 */
	__u8 signature;
	__u8 dci_stream[2];
	__u8 fm_ce_se;
	__be32 imm; /* immediate, or rkey to invalidate; sent as it lies */
};

struct wbell_raddr_seg {
	__be64 raddr;
	__be32 rkey;
	__be32 rsvd;
};

/* byte_count 0 means 2^31 bytes on mlx5; see WBELL_INLINE for the other form */
struct wbell_data_seg {
	__be32 byte_count;
	__be32 lkey;
	__be64 addr;
};

struct wbell_atomic_seg {
	__be64 swap_add;
	__be64 compare;
};

/* An inline segment is a __be32 (length | WBELL_INLINE), then the bytes. */
#define WBELL_INLINE	    0x80000000U
#define WBELL_INLINE_ONE_BB 28 /* bytes that fit one BB behind ctrl and raddr */
#define WBELL_LKEY_INVALID  0x100

/* CQE64.  op_own: opcode 4 | format 2 | solicited 1 | owner 1. */
struct wbell_cqe {
	__u8 rsvd0[24];
	__be32 flags_rqpn;
	__u8 rsvd28[4];
	__be32 srqn_uidx;
	__be32 imm_inval_pkey; /* as it came from the wire */
	__u8 rsvd40[4];
	__be32 byte_cnt;
	__be64 timestamp;
	__be32 sop_drop_qpn; /* opcode of the WQE 8 | qpn 24 */
	__be16 wqe_counter;  /* index of the WQE's first BB */
	__u8 signature;
	__u8 op_own;
};

/* The same 64 bytes when the opcode is REQ_ERR or RESP_ERR. */
struct wbell_err_cqe {
	__u8 rsvd0[32];
	__be32 srqn;
	__u8 rsvd36[16];
	__u8 hw_err_synd;
	__u8 hw_synd_type;
	__u8 vendor_err_synd;
	__u8 syndrome;
	__be32 s_wqe_opcode_qpn; /* opcode of the WQE 8 | qpn 24 */
	__be16 wqe_counter;
	__u8 signature;
	__u8 op_own;
};

#define WBELL_CQE_REQ		0x0
#define WBELL_CQE_RESP_WR_IMM	0x1
#define WBELL_CQE_RESP_SEND	0x2
#define WBELL_CQE_RESP_SEND_IMM 0x3
#define WBELL_CQE_RESP_SEND_INV 0x4
#define WBELL_CQE_REQ_ERR	0xd
#define WBELL_CQE_RESP_ERR	0xe
#define WBELL_CQE_INVALID	0xf
#define WBELL_CQE_OWNER		0x1

/* Syndromes of an error CQE (rdma-core providers/mlx5/cq.c). */
#define WBELL_SYND_LOCAL_LENGTH	    0x01
#define WBELL_SYND_LOCAL_QP_OP	    0x02
#define WBELL_SYND_LOCAL_PROT	    0x04
#define WBELL_SYND_WR_FLUSH	    0x05
#define WBELL_SYND_MW_BIND	    0x06
#define WBELL_SYND_BAD_RESP	    0x10
#define WBELL_SYND_LOCAL_ACCESS	    0x11
#define WBELL_SYND_REMOTE_INVAL_REQ 0x12
#define WBELL_SYND_REMOTE_ACCESS    0x13
#define WBELL_SYND_REMOTE_OP	    0x14
#define WBELL_SYND_RETRY_EXC	    0x15
#define WBELL_SYND_RNR_EXC	    0x16
#define WBELL_SYND_REMOTE_ABORTED   0x22

/*
 * Status of a work request, numbered as enum ibv_wc_status.  Device calls
 * return 0, one of these (> 0), or a negative errno for what never reached
 * the NIC.
 */
#define WBELL_WC_SUCCESS	   0
#define WBELL_WC_LOC_LEN_ERR	   1
#define WBELL_WC_LOC_QP_OP_ERR	   2
#define WBELL_WC_LOC_PROT_ERR	   4
#define WBELL_WC_WR_FLUSH_ERR	   5
#define WBELL_WC_MW_BIND_ERR	   6
#define WBELL_WC_BAD_RESP_ERR	   7
#define WBELL_WC_LOC_ACCESS_ERR	   8
#define WBELL_WC_REM_INV_REQ_ERR   9
#define WBELL_WC_REM_ACCESS_ERR	   10
#define WBELL_WC_REM_OP_ERR	   11
#define WBELL_WC_RETRY_EXC_ERR	   12
#define WBELL_WC_RNR_RETRY_EXC_ERR 13
#define WBELL_WC_REM_ABORT_ERR	   16
#define WBELL_WC_GENERAL_ERR	   21

/*
 * Doorbell record of a QP: producer counters modulo 2^16, in basic blocks
 * (send) and in receive WQEs (receive).
 */
struct wbell_dbrec {
	__be32 recv;
	__be32 send;
};

/* Doorbell record of a CQ. */
struct wbell_cq_dbrec {
	__be32 ci; /* 24 bits */
	__be32 arm;
};

/* What db points at, and so how device code rings. */
#define WBELL_DB_WORD  0 /* a producer index, read by the software NIC */
#define WBELL_DB_PROXY 1 /* the same word; a host thread rings the UAR */
#define WBELL_DB_UAR   2 /* doorbell record, then an 8-byte MMIO store */

/* struct wbell_dqueue.flags */
#define WBELL_DQ_EXCLUSIVE 0x01 /* one poster at a time: no atomics */

/*
 * First error of a queue.  Written once by whoever consumes the error CQE,
 * in memory the host reads without running device code.  Sticky: the queue
 * never leaves the error state.
 */
struct wbell_error_record {
	__u32 state; /* 0 none, 1 being written, 2 whole; read with acquire */
	__u32 qpn;
	__u32 peer_qpn;
	__u32 cq_index; /* index of the CQE, 24 bits */
	__u64 index;	/* ticket of the failed WQE (widened wqe_counter) */
	__u16 wqe_counter;
	__u8 wqe_opcode;
	__u8 syndrome;
	__u8 vendor_syndrome;
	__u8 status;	 /* WBELL_WC_* */
	__u8 cqe_opcode; /* REQ_ERR or RESP_ERR */
	__u8 rsvd[33];
};
#define WBELL_ERR_NONE	  0
#define WBELL_ERR_WRITING 1
#define WBELL_ERR_WHOLE	  2

/*
 * The device view of a queue.  The library fills it; kernels get its
 * address.  Pointers are __u64 addresses valid where device code runs.
 * First two lines never change; each word that threads fight over has a
 * line of its own.
 *
 * Indices count basic blocks and never wrap (64 bits); the ring slot is
 * index & (depth - 1), the wire carries the low 16 bits.
 */
struct wbell_dqueue {
	/* line 0 */
	__u64 magic;	/* WBELL_DQUEUE_MAGIC: checked by every operation */
	__u64 sq;	/* send ring, depth << WBELL_BB_SHIFT bytes */
	__u64 cq;	/* CQ ring of the send queue */
	__u64 db;	/* see WBELL_DB_* */
	__u64 dbrec;	/* struct wbell_dbrec */
	__u64 abort;	/* __u32 of the context: non-zero ends every wait */
	__u32 qpn_ds;	/* qpn << 8, host order */
	__u8 db_kind;	/* WBELL_DB_* */
	__u8 log_depth; /* send ring, basic blocks */
	__u8 log_cq;	/* CQ ring, CQEs; >= log_depth, so it never overruns */
	__u8 flags;	/* WBELL_DQ_* */
	__u64 rsvd0;
	/* line 1 */
	__u64 error;	/* struct wbell_error_record */
	__u64 sink;	/* 8 bytes that take results nobody asked for */
	__u64 cq_dbrec; /* struct wbell_cq_dbrec of the send CQ, or 0 */
	__u64 rq; /* receive ring: 1 << log_rq entries of 1 << log_rq_stride B */
	__u64 rcq;	 /* CQ ring of the receive queue */
	__u64 rcq_dbrec; /* struct wbell_cq_dbrec of the receive CQ, or 0 */
	__u32 sink_lkey;
	__u32 peer_qpn;
	__u16 max_inline; /* bytes */
	__u8 max_sge;
	__u8 log_rq;	    /* receive WQEs; 0xff: none */
	__u8 log_rq_stride; /* bytes of a receive WQE */
	__u8 log_rcq;
	__u8 rsvd1[2];
	/* line 2 */
	__u64 reserved; /* next index to hand out */
	__u8 pad2[56];
	/* line 3 */
	__u64 ready; /* all below is written and may be rung */
	__u8 pad3[56];
	/* line 4: done << 24 | ci; done: all below has completed (40 bits),
	 * ci: next CQE to look at (24 bits).  One word so that one atomic
	 * consumes a CQE.
	 */
	__u64 cq_state;
	__u32 failed; /* hint: there may be an error record to look at */
	__u32 plain;  /* what waits know of its WQEs; starts at 0 */
	__u8 pad4[48];
	/* line 5: receive side, one consumer */
	__u64 rq_pi;  /* receive WQEs posted */
	__u64 rcq_ci; /* receive CQEs consumed */
	__u8 pad5[48];
};

#define WBELL_CQ_CI_BITS 24
#define WBELL_CQ_CI_MASK 0xffffffULL

/* Change the version when a field moves; the hash when a meaning does. */
#define WBELL_DQUEUE_SIZE    384ULL
#define WBELL_DQUEUE_VERSION 1ULL
#define WBELL_DQUEUE_HASH    0x57e11001ULL
#define WBELL_DQUEUE_MAGIC                                      \
	(WBELL_DQUEUE_SIZE << 48 | WBELL_DQUEUE_VERSION << 32 | \
	 WBELL_DQUEUE_HASH)

/* What a post returns and a wait takes: index of the (last) WQE's first BB. */
struct wbell_ticket {
	__u64 index;
};

#endif /* WBELL_QUEUE_H */
