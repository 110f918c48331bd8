/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two communication managers on a wire in memory, under a clock of its own:
 * what the tests of this folder stand on.
 */
#ifndef TESTS_CM_NET_H
#define TESTS_CM_NET_H

#include "../../dpdk_path/cm/cm.h"

#define NET_WIRE   64
#define NET_EVENTS 64
#define NET_MS	   1000000ULL
#define NET_S	   1000000000ULL
#define NET_PORT   7174

enum net_fate { NET_PASS, NET_LOSE, NET_TWICE, NET_HOLD };

struct net_end {
	struct cm *cm;
	uint8_t gid[16];
	/* what goes to this end */
	struct cm_mad wire[NET_WIRE];
	unsigned pi, ci;
	struct cm_event event[NET_EVENTS];
	unsigned nevent, taken;
};

struct net {
	struct net_end end[2];
	uint64_t now;
	/* Of each MAD that end `from` sends; NULL: all pass. */
	enum net_fate (*fate)(void *arg, int from, const struct cm_msg *m);
	void *arg;
	unsigned sent[2][CM_KIND_END]; /* by kind, lost ones too */
	struct cm_msg last[2];	       /* that each end sent */
	struct cm_mad held;	       /* behind the next one */
	bool holds;
};

/* v6: both ends' addresses.  attr: of both; gid, gid6 and path_mtu by itself */
void net_open(struct net *n, const struct cm_attr *attr, bool v6);
void net_close(struct net *n);
/* Both ends' turns, and what they sent arrives, ns long. */
void net_run(struct net *n, uint64_t ns);
/* The next event of an end, which must be of that type. */
struct cm_event net_event(struct net *n, int end, enum cm_event_type type);
bool net_no_event(struct net *n, int end);
/* To an end, as if from the other. */
void net_inject(struct net *n, int to, const struct cm_msg *m);
void net_inject_raw(struct net *n, int to, const void *mad, uint32_t len);

/* Parameters that do; each end has its own queue pair number. */
struct cm_param net_param(int end);
/* End 0 asks end 1; until both are established. */
void net_connect(struct net *n, uint32_t id[2]);

#endif /* TESTS_CM_NET_H */
