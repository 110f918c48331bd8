// SPDX-License-Identifier: BSD-2-Clause
/* Objects as the tests need them; usable in children, too. */
#include "kmod.h"

uint32_t ring(int fd, uint64_t bytes, uint64_t *cookie, uint64_t *len)
{
	struct wbell_u_ring_alloc arg = { .bytes = bytes };

	must(!call(fd, WBELL_IOC_RING_ALLOC, &arg));
	if (cookie)
		*cookie = arg.cookie;
	if (len)
		*len = arg.map_len;
	return arg.handle;
}

uint32_t mreg_ring(int fd, uint32_t object, uint64_t len, uint32_t access,
		   uint64_t iova)
{
	struct wbell_u_mreg_object arg = {
		.object = object,
		.len = len,
		.access = access,
		.iova = iova,
	};

	must(!call(fd, WBELL_IOC_MREG_OBJECT, &arg));
	return arg.handle;
}

int destroy(int fd, uint32_t handle)
{
	struct wbell_u_destroy arg = { .handle = handle };

	return call(fd, WBELL_IOC_DESTROY, &arg);
}

uint32_t nic(int fd, const char *name, uint32_t max, uint32_t *id)
{
	struct wbell_u_nic_register arg = { .max_queues = max };

	strncpy(arg.name, name, sizeof(arg.name) - 1);
	must(!call(fd, WBELL_IOC_NIC_REGISTER, &arg));
	if (id)
		*id = arg.id;
	return arg.handle;
}

int queue(int fd, uint32_t nic, uint32_t object, uint32_t *handle)
{
	struct wbell_u_queue_create arg = {
		.nic = nic,
		.depth = 64,
		.cq_eventfd = -1,
		.user = 4711,
	};
	int i, rc;

	for (i = 0; i < WBELL_REGION_COUNT; i++) {
		arg.region[i].object = object;
		arg.region[i].offset = i * PAGE;
		arg.region[i].len = PAGE;
	}
	rc = call(fd, WBELL_IOC_QUEUE_CREATE, &arg);
	if (handle)
		*handle = arg.handle;
	return rc;
}

int accept_queue(int fd, uint32_t nic, uint32_t flags)
{
	struct wbell_u_nic_accept arg = { .nic = nic, .flags = flags };
	int rc = call(fd, WBELL_IOC_NIC_ACCEPT, &arg);

	return rc ? rc : arg.fd;
}

bool provider(int fd, const char *part, struct wbell_u_provider_query *out)
{
	uint32_t i;

	for (i = 0;; i++) {
		memset(out, 0, sizeof(*out));
		out->index = i;
		if (call(fd, WBELL_IOC_PROVIDER_QUERY, out))
			return false;
		if (strstr(out->name, part))
			return true;
	}
}
