// SPDX-License-Identifier: BSD-2-Clause
/*
 * Holds three queues of the fake NIC for the command's tests: one at rest,
 * one with a write rung and not completed, one in error.  Says "ready", and
 * stays until stdin ends.
 */
#include <endian.h>
#include <stdio.h>
#include <string.h>

#include <wbell/wbell.h>

static int make(struct wbell_ctx *ctx, struct wbell_queue **q,
		struct wbell_dqueue **dq)
{
	struct wbell_queue_attr attr = { .depth = 16, .first_index = 65535 };
	struct wbell_address addr;

	return wbell_queue_create(ctx, &attr, q) ||
	       wbell_queue_address(*q, &addr) ||
	       wbell_queue_connect(*q, &addr) || wbell_queue_device(*q, dq);
}

static void post_write(struct wbell_dqueue *dq)
{
	struct {
		struct wbell_ctrl_seg ctrl;
		struct wbell_raddr_seg raddr;
		struct wbell_data_seg data;
	} wqe = {
		.ctrl = { .opmod_idx_opcode =
				  htobe32(0xffff << 8 | WBELL_OP_WRITE),
			  .qpn_ds = htobe32(dq->qpn_ds | 3) },
		.raddr = { .raddr = htobe64(0x7f0012345678),
			   .rkey = htobe32(0x180ead) },
		.data = { .byte_count = htobe32(4096),
			  .lkey = htobe32(0x12300),
			  .addr = htobe64(0x7f00aabbc000) },
	};

	memcpy((char *)(uintptr_t)dq->sq + 15 * WBELL_BB_SIZE, &wqe,
	       sizeof(wqe));
	dq->reserved = dq->ready = 65536;
	*(uint64_t *)(uintptr_t)dq->db = 65536;
}

static void record_error(struct wbell_dqueue *dq)
{
	struct wbell_error_record *rec = (void *)(uintptr_t)dq->error;

	rec->qpn = dq->qpn_ds >> 8;
	rec->peer_qpn = dq->peer_qpn;
	rec->index = 65535;
	rec->wqe_opcode = WBELL_OP_WRITE;
	rec->syndrome = WBELL_SYND_RETRY_EXC;
	rec->vendor_syndrome = 0x83;
	rec->status = WBELL_WC_RETRY_EXC_ERR;
	__atomic_store_n(&rec->state, WBELL_ERR_WHOLE, __ATOMIC_RELEASE);
}

int main(void)
{
	struct wbell_open_attr attr = { .wire = "fake:x,hold=1" };
	struct wbell_dqueue *dq[3];
	struct wbell_queue *q[3];
	struct wbell_ctx *ctx;
	int i;

	if (wbell_open(&attr, &ctx)) {
		fprintf(stderr, "holder: %s\n", wbell_error(NULL));
		return 2;
	}
	for (i = 0; i < 3; i++) {
		if (!make(ctx, &q[i], &dq[i]))
			continue;
		fprintf(stderr, "holder: %s\n", wbell_error(ctx));
		return 2;
	}
	post_write(dq[1]);
	record_error(dq[2]);
	puts("ready");
	fflush(stdout);
	while (getchar() != EOF)
		;
	for (i = 0; i < 3; i++)
		wbell_queue_destroy(q[i]);
	return wbell_close(ctx) ? 1 : 0;
}
