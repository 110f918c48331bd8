/* SPDX-License-Identifier: BSD-2-Clause */
/* What each test of connections begins with: two plain managers on a net. */
#ifndef TESTS_CM_FIXTURE_H
#define TESTS_CM_FIXTURE_H

#include "net.h"

#define TRIES 4 /* of each MAD */

extern const struct cm_attr plain;
extern struct net net;

struct cm *cm(int end);
/* cmocka's set-up and tear-down. */
int open_plain(void **state);
int close_net(void **state);

#endif /* TESTS_CM_FIXTURE_H */
