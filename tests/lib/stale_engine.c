// SPDX-License-Identifier: BSD-2-Clause
/* An engine of a release to come; without STALE, no engine at all. */
#include <wbell/provider.h>

#ifdef STALE
extern const struct wbell_provider_ops wbell_provider;

__attribute__((visibility("default")))
const struct wbell_provider_ops wbell_provider = {
	.version = 99,
	.size = sizeof(wbell_provider),
	.name = "engine",
};
#endif
