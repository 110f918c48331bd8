// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "endpoint.h"

#define HOST_MAX 256

/* The host, without brackets, into host; gives the port or NULL. */
static const char *split(const char *where, char host[HOST_MAX])
{
	const char *colon = strrchr(where, ':');
	size_t len = colon ? (size_t)(colon - where) : 0;

	if (!len || !colon[1] || len >= HOST_MAX)
		return NULL;
	memcpy(host, where, len);
	host[len] = '\0';
	if (host[0] == '[') {
		if (len < 3 || host[len - 1] != ']')
			return NULL;
		host[len - 1] = '\0';
		memmove(host, host + 1, len - 1);
	} else if (strchr(host, ':')) {
		return NULL; /* where would the port of fd00::1:7 begin? */
	}
	return colon + 1;
}

int endpoint_resolve(const char *where, int flags, struct addrinfo **list,
		     const char **fact, const char **mend)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
					.ai_flags = flags };
	char host[HOST_MAX];
	const char *port = where ? split(where, host) : NULL;
	int rc;

	if (!port) {
		*fact = "not HOST:PORT";
		*mend = "give one like 10.0.0.1:7471 or [fd00::1]:7471";
		return -EINVAL;
	}
	rc = getaddrinfo(host, port, &hints, list);
	if (!rc)
		return 0;
	*fact = gai_strerror(rc);
	*mend = "give an address of this network and a port";
	return -ENOENT;
}
