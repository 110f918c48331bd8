// SPDX-License-Identifier: BSD-2-Clause
/*
 * One timer per QP in a hashed wheel.  Moving a deadline later costs one
 * store: the wheel finds out when the old slot comes round.
 */
#include "priv.h"

static void wheel_del(struct roce_qp *qp)
{
	if (!qp->wheel_at)
		return;
	*qp->wheel_prev = qp->wheel_next;
	if (qp->wheel_next)
		qp->wheel_next->wheel_prev = qp->wheel_prev;
	qp->wheel_at = 0;
	qp->dev->timers--;
}

static void wheel_add(struct roce_qp *qp, uint64_t deadline)
{
	struct roce_dev *dev = qp->dev;
	uint64_t tick = (deadline >> WHEEL_SHIFT) + 1;
	struct roce_qp **slot;

	if (tick <= dev->tick)
		tick = dev->tick + 1;
	if (tick >= dev->tick + WHEEL_SLOTS)
		tick = dev->tick + WHEEL_SLOTS - 1;
	slot = &dev->wheel[tick % WHEEL_SLOTS];
	dev->slots[tick % WHEEL_SLOTS / 64] |= 1ULL << tick % 64;
	qp->wheel_next = *slot;
	if (*slot)
		(*slot)->wheel_prev = &qp->wheel_next;
	qp->wheel_prev = slot;
	*slot = qp;
	qp->wheel_at = tick;
	if (!dev->timers++ || tick < dev->next)
		dev->next = tick;
}

void timer_set(struct roce_qp *qp, uint64_t deadline)
{
	qp->deadline = deadline;
	if (deadline == NO_DEADLINE)
		return;
	if (qp->wheel_at) {
		if ((deadline >> WHEEL_SHIFT) + 1 >= qp->wheel_at)
			return;
		wheel_del(qp);
	}
	wheel_add(qp, deadline);
}

void timer_soon(struct roce_qp *qp, uint64_t at)
{
	uint64_t deadline = qp->deadline;

	if (at < deadline)
		timer_set(qp, at);
	qp->soon = at;
	qp->deadline = deadline;
}

void timer_clear(struct roce_qp *qp)
{
	wheel_del(qp);
	qp->deadline = NO_DEADLINE;
}

static void wheel_again(struct roce_qp *qp)
{
	uint64_t at = qp->deadline;

	if (qp->soon && qp->soon < at)
		at = qp->soon;
	wheel_del(qp);
	if (at != NO_DEADLINE)
		wheel_add(qp, at);
}

static void slot_run(struct roce_dev *dev, struct roce_qp **slot, uint64_t now)
{
	struct roce_qp *due = *slot;

	/* take the slot off whole: what it re-arms lands in later slots */
	*slot = NULL;
	if (due)
		due->wheel_prev = &due;
	while (due) {
		struct roce_qp *qp = due;

		wheel_del(qp);
		if (qp->soon && qp->soon <= now) {
			qp->soon = 0;
			tx_want(qp);
		}
		if (qp->deadline <= now)
			ack_timeout(qp, now);
		if (!qp->wheel_at || qp->soon)
			wheel_again(qp);
	}
}

/* First slot from tick on that may hold a QP; the wheel is not empty. */
static uint64_t first_used(const struct roce_dev *dev, uint64_t tick)
{
	uint64_t word = dev->slots[tick % WHEEL_SLOTS / 64] >> tick % 64;

	if (word)
		return tick + __builtin_ctzll(word);
	for (unsigned i = 1; i <= WHEEL_SLOTS / 64; i++) {
		tick = (tick | 63) + 1;
		word = dev->slots[tick % WHEEL_SLOTS / 64];
		if (word)
			break;
	}
	return tick + (word ? __builtin_ctzll(word) : 0);
}

void timers_run(struct roce_dev *dev, uint64_t now)
{
	uint64_t tick = now >> WHEEL_SHIFT;
	uint64_t at = dev->tick + 1;

	if (tick <= dev->tick)
		return;
	if (!dev->timers || tick < dev->next) {
		dev->tick = tick;
		return;
	}
	if (dev->next > at)
		at = dev->next;
	if (tick - at >= WHEEL_SLOTS)
		at = tick - WHEEL_SLOTS + 1;
	dev->tick = tick;
	for (at = first_used(dev, at); at <= tick && dev->timers;
	     at = first_used(dev, at + 1)) {
		dev->slots[at % WHEEL_SLOTS / 64] &= ~(1ULL << at % 64);
		slot_run(dev, &dev->wheel[at % WHEEL_SLOTS], now);
	}
	if (dev->timers)
		dev->next = first_used(dev, tick + 1);
}

uint64_t timers_next(const struct roce_dev *dev)
{
	return dev->timers ? dev->next << WHEEL_SHIFT : NO_DEADLINE;
}
