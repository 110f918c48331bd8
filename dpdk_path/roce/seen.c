// SPDX-License-Identifier: BSD-2-Clause
/*
 * Headers that were seen before.  Packets of one shape from one peer differ
 * in the PSN and what follows it; when one of them was found good, a
 * comparison of 38 bytes says all about the headers of the next, and the ICRC
 * starts behind them.  (Jacobson did so for TCP: header prediction.)
 */
#include <endian.h>

#include "priv.h"

static inline uint64_t word_at(const uint8_t *p)
{
	uint64_t w;

	memcpy(&w, p, sizeof(w));
	return w;
}

static inline bool same_headers(const struct seen *s, const uint8_t *p)
{
	return !((word_at(p + SEEN_AT) ^ s->word[0]) |
		 (word_at(p + SEEN_AT + 8) ^ s->word[1]) |
		 (word_at(p + SEEN_AT + 16) ^ s->word[2]) |
		 (word_at(p + SEEN_AT + 24) ^ s->word[3]) |
		 (word_at(p + SEEN_END - 8) ^ s->word[4]));
}

static inline bool icrc_ok(const struct seen *s, const uint8_t *psn)
{
	uint32_t want;

	memcpy(&want, psn + s->tail, sizeof(want));
	return roce_icrc_tail(s->reg, psn, s->tail) == le32toh(want);
}

/* Two of the words overlap: what no frame can have, for one says 0, one ~0. */
void seen_init(struct roce_qp *qp)
{
	for (unsigned i = 0; i < 2; i++) {
		memset(&qp->seen[i], 0, sizeof(qp->seen[i]));
		qp->seen[i].word[SEEN_WORDS - 1] = ~0ULL;
	}
}

struct roce_qp *seen_find(struct roce_dev *dev, const struct roce_frame *f,
			  const struct seen **seen)
{
	const uint8_t *p = f->data;
	const struct seen *s;
	struct roce_qp *qp;

	if (f->len < SEEN_END + 8 + ROCE_ICRC_SIZE)
		return NULL;
	qp = dev->qp[get32(p + SEEN_END - 4) & dev->qp_mask];
	if (!qp)
		return NULL;
	s = &qp->seen[p[SEEN_END - 8] == ROCE_RC_ACK];
	if (!same_headers(s, p) ||
	    f->len < (uint32_t)SEEN_END + s->tail + ROCE_ICRC_SIZE ||
	    !receives(qp) || !icrc_ok(s, p + SEEN_END))
		return NULL;
	*seen = s;
	return qp;
}

void seen_fill(const struct roce_qp *qp, const struct seen *s, const uint8_t *p,
	       struct roce_pkt *pkt)
{
	uint32_t apsn = get32(p + SEEN_END);

	*pkt = (struct roce_pkt){
		.l3 = p + SEEN_AT + 2,
		.ext = p + SEEN_END + 4,
		.payload = p + SEEN_END + 4 + s->ext,
		.payload_len = s->payload,
		.psn = apsn & ROCE_PSN_MASK,
		.qpn = qp->qpn,
		.pkey = ROCE_PKEY_DEFAULT,
		.opcode = s->opcode,
		.flags = s->flags,
		.ackreq = !!(apsn & ROCE_BTH_ACKREQ),
		.encap = ROCE_V2_IPV4,
	};
}

static unsigned pad_of(const struct roce_pkt *pkt)
{
	return (pkt->flags & ROCE_BTH_PAD_MASK) >> ROCE_BTH_PAD_SHIFT;
}

/* IPv4 without a VLAN tag, and nothing in it that has to be told of. */
static bool may_be_seen(const struct roce_qp *qp, const struct roce_frame *f,
			const struct roce_pkt *pkt)
{
	return qp->type == ROCE_RC && pkt->encap == ROCE_V2_IPV4 &&
	       pkt->l3 == f->data + SEEN_AT + 2 && !pkt->ecn_ce &&
	       pkt->opcode != ROCE_CNP &&
	       !((pkt->payload_len + pad_of(pkt)) & 3);
}

static void remember(struct seen *s, const uint8_t *p,
		     const struct roce_pkt *pkt)
{
	for (unsigned i = 0; i < SEEN_WORDS - 1; i++)
		s->word[i] = word_at(p + SEEN_AT + 8 * i);
	s->word[SEEN_WORDS - 1] = word_at(p + SEEN_END - 8);
	s->reg = roce_icrc_prefix(pkt->l3, p + SEEN_END - pkt->l3,
				  ROCE_ICRC_IPV4);
	s->payload = pkt->payload_len;
	s->ext = pkt->payload - pkt->ext;
	s->tail = pkt->payload + pkt->payload_len + pad_of(pkt) - p - SEEN_END;
	s->opcode = pkt->opcode;
	s->flags = pkt->flags;
}

/* Only what comes twice in a row: shapes that alternate cost nothing. */
void seen_note(struct roce_qp *qp, const struct roce_frame *f,
	       const struct roce_pkt *pkt)
{
	unsigned i = pkt->opcode == ROCE_RC_ACK;
	uint32_t once = (uint32_t)pkt->opcode << 16 | pkt->payload_len;

	if (!may_be_seen(qp, f, pkt))
		return;
	if (qp->seen_once[i] == once)
		remember(&qp->seen[i], f->data, pkt);
	qp->seen_once[i] = once;
}
