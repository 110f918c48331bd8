// SPDX-License-Identifier: BSD-2-Clause
/* Scatter-gather lists: keys are looked up at each use, so that memory that
 * was deregistered meanwhile is not touched. */
#include "priv.h"

uint64_t sge_total(const struct roce_sge *sge, unsigned nsge)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < nsge; i++)
		sum += sge[i].len;
	return sum;
}

bool sge_gather(struct roce_dev *dev, const struct roce_sge *sge, unsigned nsge,
		uint64_t off, uint8_t *to, uint32_t n)
{
	for (; nsge && n; sge++, nsge--) {
		uint32_t part;
		uint8_t *p;

		if (off >= sge->len) {
			off -= sge->len;
			continue;
		}
		part = sge->len - off < n ? sge->len - (uint32_t)off : n;
		p = mr_ptr(dev, sge->lkey, sge->addr + off, part, 0);
		if (!p)
			return false;
		memcpy(to, p, part);
		to += part;
		n -= part;
		off = 0;
	}
	return !n;
}

bool sge_scatter(struct roce_dev *dev, const struct roce_sge *sge,
		 unsigned nsge, uint64_t off, const uint8_t *from, uint32_t n)
{
	for (; nsge && n; sge++, nsge--) {
		uint32_t part;
		uint8_t *p;

		if (off >= sge->len) {
			off -= sge->len;
			continue;
		}
		part = sge->len - off < n ? sge->len - (uint32_t)off : n;
		p = mr_ptr(dev, sge->lkey, sge->addr + off, part,
			   ROCE_ACCESS_LOCAL_WRITE);
		if (!p)
			return false;
		memcpy(p, from, part);
		from += part;
		n -= part;
		off = 0;
	}
	return !n;
}
