// SPDX-License-Identifier: GPL-2.0-only
/* probe: WBELL_API_IMPORT_NS 2 */
/*
 * 1: MODULE_IMPORT_NS(NAME); 2: MODULE_IMPORT_NS("NAME") (from 6.13).  The
 * second compiles everywhere, with the quotes doubled where it is wrong, and
 * only modpost would complain: so the text that comes out is what is checked.
 */
#include <linux/module.h>

#undef MODULE_INFO
#define MODULE_INFO(tag, text) \
	_Static_assert(sizeof(text) == sizeof("DMA_BUF"), "text")

#if TRY == 1
MODULE_IMPORT_NS(DMA_BUF);
#else
MODULE_IMPORT_NS("DMA_BUF");
#endif
