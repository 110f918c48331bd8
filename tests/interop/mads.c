// SPDX-License-Identifier: BSD-2-Clause
#include "mads.h"
#include "../../dpdk_path/cm/gsi.h"

#define ETH 14
#define UDP 8

/* The MAD of a datagram to queue pair 1, from its header on; NULL: none. */
static const uint8_t *mad_of(const uint8_t *f, uint32_t len)
{
	uint32_t at = ETH + UDP;

	if (len < ETH)
		return NULL;
	if (f[12] == 0x08 && f[13] == 0x00)
		at += 20;
	else if (f[12] == 0x86 && f[13] == 0xdd)
		at += 40;
	else
		return NULL;
	if (len < at + 12 + 8 + MAD_SIZE || f[at] != ROCE_UD_SEND_ONLY ||
	    f[at + 5] || f[at + 6] || f[at + 7] != GSI_QPN)
		return NULL;
	return f + at + 12 + 8;
}

static unsigned lost;

unsigned mads_count(void)
{
	return lost;
}

bool mads_lost(enum mads_loss how, bool out, const uint8_t *frame, uint32_t len)
{
	static uint32_t seen[2];
	const uint8_t *mad = how == MADS_PASS ? NULL : mad_of(frame, len);
	uint32_t kind;

	if (!mad)
		return false;
	if (how == MADS_LOSE_ALL) {
		lost++;
		return true;
	}
	/* a process that ends takes its DREQ back: no second one comes */
	if (!out && mad[17] == CM_DREQ)
		return false;
	kind = 1U << mad[17] % 32;
	if (seen[out] & kind)
		return false;
	seen[out] |= kind;
	lost++;
	return true;
}
