// SPDX-License-Identifier: BSD-2-Clause
/*
 * A work request in words, by its first basic block.  The block is another
 * process's memory: any bytes may be in it.
 */
#include <endian.h>
#include <inttypes.h>
#include <string.h>

#include "cli.h"

static bool op_has_raddr(unsigned opcode)
{
	switch (opcode) {
	case WBELL_OP_WRITE:
	case WBELL_OP_WRITE_IMM:
	case WBELL_OP_READ:
	case WBELL_OP_CS:
	case WBELL_OP_FA:
		return true;
	default:
		return false;
	}
}

static void add_data(const uint8_t *seg, struct wqe *wqe)
{
	struct wbell_data_seg data;
	uint32_t count;

	memcpy(&data, seg, sizeof(data));
	count = be32toh(data.byte_count);
	/* An inline segment holds all the bytes there are. */
	if (count & WBELL_INLINE) {
		wqe->length += count & ~WBELL_INLINE;
		wqe->whole = true;
		return;
	}
	if (!wqe->laddr) {
		wqe->laddr = be64toh(data.addr);
		wqe->lkey = be32toh(data.lkey);
	}
	wqe->length += count ? count : WBELL_MSG_MAX;
}

static bool is_inline(const uint8_t *seg)
{
	return seg[0] & 0x80;
}

static void decode_data(const uint8_t *block, unsigned seg, struct wqe *wqe)
{
	unsigned end = wqe->ds < WBELL_SEGS_PER_BB ? wqe->ds
						   : WBELL_SEGS_PER_BB;

	wqe->whole = wqe->ds <= WBELL_SEGS_PER_BB;
	for (; seg < end; seg++) {
		add_data(block + seg * WBELL_SEG_SIZE, wqe);
		if (is_inline(block + seg * WBELL_SEG_SIZE))
			return;
	}
}

void wqe_decode(const uint8_t block[WBELL_BB_SIZE], struct wqe *wqe)
{
	struct wbell_ctrl_seg ctrl;
	struct wbell_raddr_seg raddr;
	unsigned seg = 1;

	memset(wqe, 0, sizeof(*wqe));
	memcpy(&ctrl, block, sizeof(ctrl));
	wqe->opcode = be32toh(ctrl.opmod_idx_opcode) & 0xff;
	wqe->index = be32toh(ctrl.opmod_idx_opcode) >> 8 & 0xffff;
	wqe->ds = be32toh(ctrl.qpn_ds) & WBELL_DS_MAX;
	if (op_has_raddr(wqe->opcode) && wqe->ds > 1) {
		memcpy(&raddr, block + sizeof(ctrl), sizeof(raddr));
		wqe->has_raddr = true;
		wqe->raddr = be64toh(raddr.raddr);
		wqe->rkey = be32toh(raddr.rkey);
		seg++;
	}
	if (wqe->opcode == WBELL_OP_CS || wqe->opcode == WBELL_OP_FA)
		seg++;
	decode_data(block, seg, wqe);
}

int wqe_print(FILE *f, const struct wqe *wqe, uint64_t index)
{
	fprintf(f, "%s index %" PRIu64, wbell_opcode_text(wqe->opcode), index);
	if (wqe->index != (index & 0xffff))
		fprintf(f, " (its control segment says %u)", wqe->index);
	fprintf(f, ", %s%" PRIu64 " bytes", wqe->whole ? "" : "at least ",
		wqe->length);
	if (wqe->laddr)
		fprintf(f, ", local 0x%" PRIx64 " lkey 0x%x", wqe->laddr,
			wqe->lkey);
	if (wqe->has_raddr)
		fprintf(f, ", remote 0x%" PRIx64 " rkey 0x%x", wqe->raddr,
			wqe->rkey);
	return fputc('\n', f);
}

void wqe_json(struct json *j, const struct wqe *wqe, uint64_t index)
{
	json_open(j, "oldest", '{');
	json_string(j, "opcode", wbell_opcode_text(wqe->opcode));
	json_number(j, "index", index);
	json_number(j, "control_index", wqe->index);
	json_number(j, "length_bytes", wqe->length);
	json_bool(j, "length_whole", wqe->whole);
	json_hex(j, "laddr", wqe->laddr);
	json_hex(j, "lkey", wqe->lkey);
	if (wqe->has_raddr) {
		json_hex(j, "raddr", wqe->raddr);
		json_hex(j, "rkey", wqe->rkey);
	}
	json_close(j, '}');
}
