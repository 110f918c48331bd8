/* SPDX-License-Identifier: GPL-2.0-only */
/* warpbell_nvp2p.ko: its own header. */
#ifndef WBELL_NVP2P_H
#define WBELL_NVP2P_H

#include "../provider.h"
#include "abi.h"

/* The two calls of one API, with a reference on nvidia.ko while bound. */
struct nvp2p_bind {
	bool persistent;
	union {
		struct {
			nvp2p_get_persistent_fn *get_persistent;
			nvp2p_put_persistent_fn *put_persistent;
		};
		struct {
			nvp2p_get_fn *get;
			nvp2p_put_fn *put;
		};
	};
};

/*
 * Finds the calls of one API, 0 or -ENODEV: no nvidia.ko, or one whose symbols
 * are not for modules under the GPL, or too old for this API.
 */
int nvp2p_bind(struct nvp2p_bind *bind, bool persistent);
void nvp2p_unbind(const struct nvp2p_bind *bind);

/* provider.h's calls; err of nvp2p_pin has WBELL_ERR_TEXT bytes. */
int nvp2p_pin(void *data, struct wbell_gpumem *mem,
	      const struct wbell_gpu_want *want, struct wbell_gpu_pages *pages,
	      char *err);
void nvp2p_unpin(void *data, struct wbell_gpumem *mem,
		 struct wbell_gpu_pages *pages);

#endif /* WBELL_NVP2P_H */
