// SPDX-License-Identifier: BSD-2-Clause
#include "fixture.h"

const struct cm_attr plain = { .response_timeout = 14,
			       .max_retries = TRIES - 1 };
struct net net;

struct cm *cm(int end)
{
	return net.end[end].cm;
}

int open_plain(void **state)
{
	net_open(&net, &plain, false);
	return 0;
}

int close_net(void **state)
{
	net_close(&net);
	return 0;
}
