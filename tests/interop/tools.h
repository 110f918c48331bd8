/* SPDX-License-Identifier: BSD-2-Clause */
/* The tools whose part we play. */
#ifndef INTEROP_TOOLS_H
#define INTEROP_TOOLS_H

#include "end.h"

/* ibv_rc_pingpong, ibv_uc_pingpong, ibv_ud_pingpong of rdma-core 44 */
void pingpong_run(struct end *e, const struct link_attr *link);

/* rping of rdmacm-utils 44; attr.rdma_cm */
void rping_run(struct end *e, const struct link_attr *link);

/* ib_write_bw and so on of perftest 4.5 */
struct perftest;
const struct perftest *perftest_find(const char *name);
void perftest_run(struct end *e, const struct link_attr *link,
		  const struct perftest *test);

#endif /* INTEROP_TOOLS_H */
