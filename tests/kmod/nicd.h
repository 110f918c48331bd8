/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A NIC in a process: serves the queues of its own name and carries RDMA
 * writes from one to the other.  It trusts no byte of theirs.
 */
#ifndef KMOD_NICD_H
#define KMOD_NICD_H

#include "kmod.h"
#include "wbell/queue.h"

#define NICD_NAME "nicd"

/* Runs until it is killed.  arg: int *, a pipe it says "ready" to. */
int nicd(void *arg);

#endif /* KMOD_NICD_H */
