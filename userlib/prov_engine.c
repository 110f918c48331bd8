// SPDX-License-Identifier: BSD-2-Clause
/*
 * The software NIC, loaded when first asked for: DPDK is no dependency of
 * programs that do not use it.  Never unloaded, as DPDK cannot be.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"

#define ENGINE "libwarpbell-engine.so"

static int check_ops(const struct wbell_provider_ops *ops, const char *path,
		     struct wbell_err *e)
{
	if (ops->version == WBELL_PROVIDER_VERSION && ops->size >= sizeof(*ops))
		return 0;
	snprintf(e->text, sizeof(e->text),
		 "cannot use the engine: %.100s has provider version %u of %u "
		 "bytes, this library needs version %d of %zu: install both "
		 "from one release",
		 path, ops->version, ops->size, WBELL_PROVIDER_VERSION,
		 sizeof(*ops));
	return -EPROTONOSUPPORT;
}

static int say_dlerror(struct wbell_err *e)
{
	snprintf(e->text, sizeof(e->text),
		 "cannot load the engine: %.170s: install it beside "
		 "libwarpbell.so or set WBELL_ENGINE",
		 dlerror());
	return -ENODEV;
}

static int load(const char *path, const struct wbell_provider_ops **ops,
		struct wbell_err *e)
{
	const struct wbell_provider_ops *found;
	void *so;
	int rc;

	so = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (!so)
		return say_dlerror(e);
	found = dlsym(so, WBELL_PROVIDER_SYMBOL);
	rc = found ? check_ops(found, path, e) : say_dlerror(e);
	if (rc)
		dlclose(so);
	else
		*ops = found;
	return rc;
}

/* Beside this library: DIR/, else DIR/warpbell/. */
static void beside(char *path, size_t size)
{
	static const char *const under[] = { "", "warpbell/" };
	const char *slash;
	Dl_info self;
	size_t i;
	int dir = 0;

	if (dladdr((void *)wbell_open, &self) && self.dli_fname) {
		slash = strrchr(self.dli_fname, '/');
		dir = slash ? slash + 1 - self.dli_fname : 0;
	}
	for (i = 0; dir && i < 2; i++) {
		snprintf(path, size, "%.*s%s" ENGINE, dir, self.dli_fname,
			 under[i]);
		if (!access(path, F_OK))
			return;
	}
	/* The loader's own search, and so its own words on failure. */
	snprintf(path, size, ENGINE);
}

static int get_engine(const struct wbell_provider_ops **ops,
		      struct wbell_err *e)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static const struct wbell_provider_ops *loaded;
	const char *asked = env_engine();
	char path[4096];
	int rc = 0;

	pthread_mutex_lock(&lock);
	if (!loaded) {
		if (!asked)
			beside(path, sizeof(path));
		rc = load(asked ? asked : path, &loaded, e);
	}
	*ops = loaded;
	pthread_mutex_unlock(&lock);
	return rc;
}

const struct prov prov_engine = {
	.name = "engine",
	.get = get_engine,
};
