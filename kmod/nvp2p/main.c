// SPDX-License-Identifier: GPL-2.0-only
/* The provider "nvp2p": what it says of itself, coming and going. */
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include "nvp2p.h"

static struct wbell_provider *provider;

static int status(void *data, char *text, size_t size)
{
	struct nvp2p_bind bind;
	bool persistent = true;

	if (nvp2p_bind(&bind, true)) {
		persistent = false;
		if (nvp2p_bind(&bind, false)) {
			strscpy(text,
				"no nvidia.ko that serves GPL modules: load "
				"the one of NVIDIA's open kernel modules",
				size);
			return -ENODEV;
		}
	}
	nvp2p_unbind(&bind);
	strscpy(text, persistent ? "persistent pages" : "pages with a callback",
		size);
	return 0;
}

static const struct wbell_provider_ops ops = {
	.owner = THIS_MODULE,
	.kind = WBELL_PROVIDER_GPU,
	.status = status,
	.pin = nvp2p_pin,
	.unpin = nvp2p_unpin,
};

static int __init nvp2p_init(void)
{
	const struct wbell_provider_attr attr = {
		.name = "nvp2p",
		.ops = &ops,
		.caps = WBELL_CAP_VA | WBELL_CAP_WC | WBELL_CAP_PERSISTENT |
			WBELL_CAP_REVOKE,
		.page_size = NVP2P_ALIGN,
	};

	provider = wbell_provider_register(&attr);
	return PTR_ERR_OR_ZERO(provider);
}

static void __exit nvp2p_exit(void)
{
	wbell_provider_unregister(provider, WBELL_REASON_PROVIDER);
}

module_init(nvp2p_init);
module_exit(nvp2p_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("GPU memory of NVIDIA's open kernel modules for warpbell");
MODULE_SOFTDEP("pre: warpbell");
