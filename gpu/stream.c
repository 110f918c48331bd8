// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include "stream.h"
#include "wbell/wbell.h"

uint64_t stream_now(void)
{
	return wbell_host_now() / 1000000;
}

int stream_wait(int fd, short events, uint64_t deadline)
{
	struct pollfd p = { .fd = fd, .events = events };
	uint64_t now;
	int rc;

	do {
		now = stream_now();
		if (now >= deadline)
			return -ETIMEDOUT;
		rc = poll(&p, 1, (int)(deadline - now));
		if (rc < 0 && errno != EINTR)
			return -errno;
	} while (rc <= 0);
	return 0;
}

int stream_read(int fd, void *buf, size_t size, uint64_t deadline)
{
	char *p = buf;
	ssize_t n;
	int rc;

	while (size) {
		n = recv(fd, p, size, MSG_DONTWAIT);
		if (!n)
			return -EPIPE;
		if (n > 0) {
			p += n;
			size -= (size_t)n;
			continue;
		}
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
		rc = stream_wait(fd, POLLIN, deadline);
		if (rc)
			return rc;
	}
	return 0;
}

int stream_write(int fd, const void *buf, size_t size, uint64_t deadline)
{
	const char *p = buf;
	ssize_t n;
	int rc;

	while (size) {
		n = send(fd, p, size, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n >= 0) {
			p += n;
			size -= (size_t)n;
			continue;
		}
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
		rc = stream_wait(fd, POLLOUT, deadline);
		if (rc)
			return rc;
	}
	return 0;
}
