// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finding nvidia.ko's calls at run time, so that a driver that is missing, or
 * is not for us, is a state and not a module that cannot be loaded.
 *
 * A symbol is found by its name alone, without a check of its type's CRC: the
 * page table's version is looked at instead (pin.c).  The kernel gives symbols
 * to the GPL-only interface that are exported for it; those of the proprietary
 * flavour are not.
 */
#include <linux/errno.h>
#include <linux/module.h>
#include "nvp2p.h"

static const char *const names[2][2] = {
	{ "nvidia_p2p_get_pages", "nvidia_p2p_put_pages" },
	{ "nvidia_p2p_get_pages_persistent",
	  "nvidia_p2p_put_pages_persistent" },
};

int nvp2p_bind(struct nvp2p_bind *bind, bool persistent)
{
	void *get, *put;

	get = __symbol_get(names[persistent][0]);
	if (!get)
		return -ENODEV;
	put = __symbol_get(names[persistent][1]);
	if (!put) {
		__symbol_put(names[persistent][0]);
		return -ENODEV;
	}
	bind->persistent = persistent;
	if (persistent) {
		bind->get_persistent = get;
		bind->put_persistent = put;
	} else {
		bind->get = get;
		bind->put = put;
	}
	return 0;
}

void nvp2p_unbind(const struct nvp2p_bind *bind)
{
	__symbol_put(names[bind->persistent][0]);
	__symbol_put(names[bind->persistent][1]);
}
