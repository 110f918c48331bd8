/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR BSD-2-Clause */
/*
 * Static asserts over the contracts: sizes and offsets are the ABI.
 * Compiled by gcc and clang as C11 and C++17, and by nvcc.
 */
#ifndef WBELL_LAYOUT_H
#define WBELL_LAYOUT_H

#include "queue.h"
#include "roce.h"
#include "uapi.h"

#ifdef __cplusplus
#define WBELL_ASSERT(c) static_assert(c, #c)
#else
#define WBELL_ASSERT(c) _Static_assert(c, #c)
#endif
#define WBELL_AT(t, f, o) WBELL_ASSERT(__builtin_offsetof(struct t, f) == (o))
#define WBELL_SIZE(t, s)  WBELL_ASSERT(sizeof(struct t) == (s))

WBELL_SIZE(wbell_ctrl_seg, 16);
WBELL_AT(wbell_ctrl_seg, fm_ce_se, 11);
WBELL_AT(wbell_ctrl_seg, imm, 12);
WBELL_SIZE(wbell_raddr_seg, 16);
WBELL_SIZE(wbell_data_seg, 16);
WBELL_SIZE(wbell_atomic_seg, 16);
WBELL_SIZE(wbell_cqe, 64);
WBELL_AT(wbell_cqe, flags_rqpn, 24);
WBELL_AT(wbell_cqe, srqn_uidx, 32);
WBELL_AT(wbell_cqe, imm_inval_pkey, 36);
WBELL_AT(wbell_cqe, byte_cnt, 44);
WBELL_AT(wbell_cqe, timestamp, 48);
WBELL_AT(wbell_cqe, sop_drop_qpn, 56);
WBELL_AT(wbell_cqe, wqe_counter, 60);
WBELL_AT(wbell_cqe, op_own, 63);
WBELL_SIZE(wbell_err_cqe, 64);
WBELL_AT(wbell_err_cqe, vendor_err_synd, 54);
WBELL_AT(wbell_err_cqe, syndrome, 55);
WBELL_AT(wbell_err_cqe, s_wqe_opcode_qpn, 56);
WBELL_AT(wbell_err_cqe, op_own, 63);
WBELL_SIZE(wbell_dbrec, 8);
WBELL_AT(wbell_dbrec, send, 4);
WBELL_SIZE(wbell_cq_dbrec, 8);
WBELL_SIZE(wbell_error_record, 64);
WBELL_AT(wbell_error_record, index, 16);
WBELL_SIZE(wbell_dqueue, WBELL_DQUEUE_SIZE);
WBELL_AT(wbell_dqueue, qpn_ds, 48);
WBELL_AT(wbell_dqueue, error, 64);
WBELL_AT(wbell_dqueue, reserved, 128);
WBELL_AT(wbell_dqueue, ready, 192);
WBELL_AT(wbell_dqueue, cq_state, 256);
WBELL_AT(wbell_dqueue, failed, 264);
WBELL_AT(wbell_dqueue, plain, 268);
WBELL_AT(wbell_dqueue, rq_pi, 320);

WBELL_SIZE(roce_bth, 12);
WBELL_SIZE(roce_reth, 16);
WBELL_SIZE(roce_atomic_eth, 28);
WBELL_SIZE(roce_aeth, 4);
WBELL_SIZE(roce_deth, 8);
WBELL_SIZE(roce_eth, 14);
WBELL_SIZE(roce_ipv4, 20);
WBELL_SIZE(roce_ipv6, 40);
WBELL_SIZE(roce_udp, 8);

WBELL_SIZE(wbell_u_hello, 40);
WBELL_SIZE(wbell_u_provider_query, 184);
WBELL_SIZE(wbell_u_nic_query, 72);
WBELL_SIZE(wbell_u_destroy, 24);
WBELL_SIZE(wbell_u_ring_alloc, 48);
WBELL_SIZE(wbell_u_mreg_host, 56);
WBELL_SIZE(wbell_u_mreg_object, 56);
WBELL_SIZE(wbell_u_gpu_pin, 80);
WBELL_SIZE(wbell_u_gpu_import, 56);
WBELL_SIZE(wbell_u_window_alloc, 48);
WBELL_SIZE(wbell_u_nic_register, 64);
WBELL_SIZE(wbell_u_nic_accept, 40);
WBELL_SIZE(wbell_u_range, 24);
WBELL_SIZE(wbell_u_queue_create, 128);
WBELL_SIZE(wbell_u_queue_grant, 24);
WBELL_SIZE(wbell_u_queue_modify, 24);
WBELL_SIZE(wbell_u_queue_query, 48);
WBELL_SIZE(wbell_u_queue_kick, 24);
WBELL_SIZE(wbell_u_export_dmabuf, 24);
WBELL_SIZE(wbell_u_map, 24);
WBELL_SIZE(wbell_u_ep_info, 112);
WBELL_SIZE(wbell_u_ep_grant, 72);
WBELL_SIZE(wbell_u_ep_error, 24);
WBELL_SIZE(wbell_u_ep_kick, 16);
WBELL_SIZE(wbell_u_event, 32);
WBELL_AT(wbell_u_hello, err_ptr, 8);
WBELL_AT(wbell_u_hello, features, 32);
WBELL_AT(wbell_u_provider_query, caps, 32);
WBELL_AT(wbell_u_provider_query, name, 56);
WBELL_AT(wbell_u_nic_accept, fd, 24);
WBELL_AT(wbell_u_queue_create, region, 40);
WBELL_AT(wbell_u_queue_create, user, 112);
WBELL_AT(wbell_u_ep_info, region, 40);
WBELL_AT(wbell_u_ep_grant, map, 48);
WBELL_AT(wbell_u_event, data, 16);

#undef WBELL_SIZE
#undef WBELL_AT
#undef WBELL_ASSERT

#endif /* WBELL_LAYOUT_H */
