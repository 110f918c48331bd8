// SPDX-License-Identifier: BSD-2-Clause
/*
 * memif:PATH - shared memory with another process, a socket to set it up.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "priv.h"

#define MEMIF_MTU      4200
#define MEMIF_LOG_RING 8U /* 256 buffers: what stays in L2 */
#define MEMIF_BUFFER   4352U
#define MEMIF_MBUFS    1023

/*
 * Does somebody listen?  Asked with a socket of the wrong type: Linux finds
 * the listener, says EPROTOTYPE and tells it nothing.  A connection opened
 * and closed would do harm: DPDK's listener (22.11) then panics, with the
 * process.  A socket file that nobody serves is in the way.
 */
static bool listened(const char *path, bool *stale)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	struct stat st;
	int fd, rc;

	*stale = false;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return false;
	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", path);
	rc = connect(fd, (struct sockaddr *)&sa, sizeof(sa)) ? errno : 0;
	close(fd);
	if (rc == ECONNREFUSED)
		*stale = !lstat(path, &st) && S_ISSOCK(st.st_mode);
	return !rc || rc == EPROTOTYPE || rc == EAGAIN;
}

static int refuse(struct wbell_err *err, int rc, const char *path,
		  const char *fact, const char *mend)
{
	snprintf(err->text, sizeof(err->text), "wire: memif:%.104s: %s: %s",
		 path, fact, mend);
	return rc;
}

static int choose_role(const struct wire *w, enum wire_role *role,
		       struct wbell_err *err)
{
	struct stat st;
	bool stale, live = listened(w->arg, &stale);

	*role = w->role;
	if (*role == WIRE_ROLE_ANY)
		*role = live ? WIRE_ROLE_CLIENT : WIRE_ROLE_SERVER;
	if (*role == WIRE_ROLE_CLIENT)
		return 0;
	if (live)
		return refuse(err, -EADDRINUSE, w->arg,
			      "another server listens there",
			      "use role=client or another path");
	if (stale)
		unlink(w->arg);
	else if (!lstat(w->arg, &st))
		return refuse(err, -EEXIST, w->arg,
			      "the path is there and no socket",
			      "choose another path");
	return 0;
}

/* The server must be able to make its socket: DPDK says this worse. */
static int check_folder(const char *path, struct wbell_err *err)
{
	char folder[WIRE_ARG_MAX];
	char *slash;

	snprintf(folder, sizeof(folder), "%s", path);
	slash = strrchr(folder, '/');
	if (slash == folder)
		slash[1] = 0;
	else if (slash)
		*slash = 0;
	if (!access(slash ? folder : ".", W_OK | X_OK))
		return 0;
	return refuse(err, -errno, path, strerror(errno),
		      "give a path in a folder that can be written");
}

static int memif_open(struct port *p, const struct wire *w,
		      struct wbell_err *err)
{
	bool relative = w->arg[0] != '/';
	enum wire_role role;
	char args[320];
	int rc;

	rc = choose_role(w, &role, err);
	if (!rc && role == WIRE_ROLE_SERVER)
		rc = check_folder(w->arg, err);
	if (rc)
		return rc;
	rc = port_pool_create(MEMIF_BUFFER, MEMIF_MBUFS, &p->pool, err);
	if (rc)
		return rc;
	snprintf(p->name, sizeof(p->name), "net_memif%u", eal_unique());
	/*
	 * DPDK keys its sockets by path and wants one role per socket:
	 * the client's spelling differs, so that both ends fit a process.
	 */
	snprintf(args, sizeof(args),
		 "role=%s,id=0,socket-abstract=no,socket=%s%s,rsize=%u,"
		 "bsize=%u,mac=%02x:%02x:%02x:%02x:%02x:%02x",
		 role == WIRE_ROLE_SERVER ? "server" : "client",
		 role == WIRE_ROLE_SERVER ? ""
		 : relative		  ? "./"
					  : "/.",
		 w->arg, MEMIF_LOG_RING, MEMIF_BUFFER, w->mac[0], w->mac[1],
		 w->mac[2], w->mac[3], w->mac[4], w->mac[5]);
	rc = port_vdev_create(p, args, err);
	if (rc) {
		rte_mempool_free(p->pool);
		return rc;
	}
	p->mtu = MEMIF_MTU;
	p->frame_max = MEMIF_BUFFER;
	return 0;
}

static void memif_close(struct port *p)
{
	port_vdev_destroy(p);
	rte_mempool_free(p->pool);
}

static void memif_link(struct port *p, struct port_link *link)
{
	struct rte_eth_link l;

	if (!rte_eth_link_get_nowait(p->id, &l))
		link->up = l.link_status == RTE_ETH_LINK_UP;
}

const struct port_kind port_memif = {
	.open = memif_open,
	.close = memif_close,
	.link = memif_link,
};
