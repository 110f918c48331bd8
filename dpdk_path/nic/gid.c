// SPDX-License-Identifier: BSD-2-Clause
#include <arpa/inet.h>

#include "gid.h"

bool gid_is_host(const uint8_t gid[GID_SIZE])
{
	static const uint8_t zero[GID_SIZE - 1];
	const uint8_t *ip = gid_ipv4(gid);

	if (gid_is_ipv4(gid))
		return ip[0] && ip[0] != 127 && ip[0] < 224;
	if (!memcmp(gid, zero, sizeof(zero)) && gid[15] < 2)
		return false; /* :: and ::1 */
	return gid[0] != 0xff;
}

const char *gid_text(const uint8_t gid[GID_SIZE], char text[GID_TEXT])
{
	if (gid_is_ipv4(gid))
		inet_ntop(AF_INET, gid_ipv4(gid), text, GID_TEXT);
	else
		inet_ntop(AF_INET6, gid, text, GID_TEXT);
	return text;
}
