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

static uint64_t first_used(const struct roce_dev *dev)
{
	uint64_t t = dev->tick + 1;

	while (t < dev->tick + WHEEL_SLOTS && !dev->wheel[t % WHEEL_SLOTS])
		t++;
	return t;
}

void timers_run(struct roce_dev *dev, uint64_t now)
{
	uint64_t tick = now >> WHEEL_SHIFT;
	uint64_t from = dev->tick + 1;

	if (tick <= dev->tick)
		return;
	if (!dev->timers || tick < dev->next) {
		dev->tick = tick;
		return;
	}
	if (dev->next > from)
		from = dev->next;
	if (tick - from >= WHEEL_SLOTS)
		from = tick - WHEEL_SLOTS + 1;
	dev->tick = tick;
	for (; from <= tick; from++)
		slot_run(dev, &dev->wheel[from % WHEEL_SLOTS], now);
	dev->next = first_used(dev);
}

uint64_t timers_next(const struct roce_dev *dev)
{
	return dev->timers ? dev->next << WHEEL_SHIFT : NO_DEADLINE;
}
