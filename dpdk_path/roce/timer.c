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
	qp->wheel_next = *slot;
	if (*slot)
		(*slot)->wheel_prev = &qp->wheel_next;
	qp->wheel_prev = slot;
	*slot = qp;
	qp->wheel_at = tick;
	dev->timers++;
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

void timer_clear(struct roce_qp *qp)
{
	wheel_del(qp);
	qp->deadline = NO_DEADLINE;
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
		if (qp->deadline == NO_DEADLINE)
			continue;
		if (qp->deadline > now)
			wheel_add(qp, qp->deadline);
		else
			ack_timeout(qp, now);
	}
}

void timers_run(struct roce_dev *dev, uint64_t now)
{
	uint64_t tick = now >> WHEEL_SHIFT;
	uint64_t from = dev->tick + 1;

	if (tick <= dev->tick)
		return;
	if (tick - dev->tick >= WHEEL_SLOTS)
		from = tick - WHEEL_SLOTS + 1;
	dev->tick = tick;
	if (!dev->timers)
		return;
	for (; from <= tick; from++)
		slot_run(dev, &dev->wheel[from % WHEEL_SLOTS], now);
}

uint64_t timers_next(const struct roce_dev *dev)
{
	if (!dev->timers)
		return NO_DEADLINE;
	for (uint64_t t = dev->tick + 1; t < dev->tick + WHEEL_SLOTS; t++)
		if (dev->wheel[t % WHEEL_SLOTS])
			return t << WHEEL_SHIFT;
	return (dev->tick + WHEEL_SLOTS) << WHEEL_SHIFT;
}
