/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * HOST:PORT, as users write where a bootstrap listens: a name, an IPv4
 * address, or an IPv6 address in brackets (RFC 3986 3.2.2).
 */
#ifndef WBELL_GPU_ENDPOINT_H
#define WBELL_GPU_ENDPOINT_H

#include <netdb.h>

/*
 * 0: *list is for freeaddrinfo().  -EINVAL, -ENOENT: *fact says what is
 * wrong, *mend what to do; both are constant.  where NULL: as if empty.
 * flags: AI_PASSIVE to listen, 0 to connect.  May ask a name server, which
 * takes its own time.  Safe from any thread.
 */
int endpoint_resolve(const char *where, int flags, struct addrinfo **list,
		     const char **fact, const char **mend);

#endif /* WBELL_GPU_ENDPOINT_H */
