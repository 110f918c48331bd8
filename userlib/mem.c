// SPDX-License-Identifier: BSD-2-Clause
/* Registered memory. */
#include <errno.h>
#include <stdlib.h>

#include "internal.h"

#define ACCESS_KNOWN                                                  \
	(WBELL_LOCAL_WRITE | WBELL_REMOTE_WRITE | WBELL_REMOTE_READ | \
	 WBELL_REMOTE_ATOMIC)
#define ACCESS_WRITES \
	(WBELL_LOCAL_WRITE | WBELL_REMOTE_WRITE | WBELL_REMOTE_ATOMIC)

static int check_args(struct wbell_ctx *ctx, void *addr, size_t len,
		      uint32_t access)
{
	struct error_text *e = &ctx->error;

	if (!len)
		return error_set(
			e, -EINVAL,
			"memory at %p of 0 bytes: nothing to register: "
			"give a length of at least 1",
			addr);
	if (len - 1 > UINTPTR_MAX - (uintptr_t)addr)
		return error_set(e, -EINVAL,
				 "memory at %p of %zu bytes: the range wraps "
				 "past the end of the address space: check the "
				 "length",
				 addr, len);
	if (access & ~ACCESS_KNOWN)
		return error_set(e, -EINVAL,
				 "memory at %p of %zu bytes: access 0x%x: 0x%x "
				 "is not known: use WBELL_LOCAL_WRITE and "
				 "WBELL_REMOTE_*",
				 addr, len, access, access & ~ACCESS_KNOWN);
	return 0;
}

static int check_mapped(struct wbell_ctx *ctx, void *addr, size_t len,
			uint32_t access)
{
	struct maps_hole hole;
	int rc;

	rc = maps_check((uintptr_t)addr, len, access & ACCESS_WRITES, &hole);
	if (rc == -EFAULT)
		return error_set(&ctx->error, rc,
				 "memory at %p of %zu bytes: EFAULT: 0x%zx is "
				 "%s: map the whole range first (GPU memory "
				 "needs a mapping the CPU can reach)",
				 addr, len, (size_t)hole.addr, hole.why);
	if (rc)
		log_say(&ctx->log, WBELL_LOG_WARN,
			"memory at %p of %zu bytes: not checked to be mapped: "
			"/proc/self/maps: %s",
			addr, len, error_name(rc));
	return 0;
}

static const char *hint(int rc)
{
	switch (rc) {
	case -EFAULT:
		return "for GPU memory load the GPU driver's peer-memory "
		       "client, or register it as a dma-buf";
	case -ENOMEM:
		return "raise RLIMIT_MEMLOCK (ulimit -l) or, for GPU memory, "
		       "its BAR1 size; or register less";
	case -EOPNOTSUPP:
		return "this NIC cannot reach such memory: use host memory";
	case -ENOSPC:
		return "deregister memory that is no longer used";
	case -EPERM:
		return "ask for the right to pin memory (CAP_IPC_LOCK or "
		       "ulimit -l)";
	default:
		return "see the provider's log";
	}
}

/* Every line holds address, length, errno's name and one hint. */
static int say_refused(struct wbell_ctx *ctx, void *addr, size_t len, int rc,
		       struct wbell_err *err)
{
	err->text[sizeof(err->text) - 1] = '\0';
	return error_set(&ctx->error, rc,
			 "cannot register memory at %p of %zu bytes with NIC "
			 "%s: %s%s%s (%u registrations hold %llu bytes): %s",
			 addr, len, ctx->ops->name, error_name(rc),
			 err->text[0] ? ", " : "", err->text, ctx->mems,
			 (unsigned long long)ctx->mem_bytes, hint(rc));
}

int mem_register_locked(struct wbell_ctx *ctx, void *addr, size_t len,
			uint32_t access, uint32_t *key)
{
	struct wbell_err err = { "" };
	int rc;

	if (access & (WBELL_REMOTE_WRITE | WBELL_REMOTE_ATOMIC))
		access |= WBELL_LOCAL_WRITE;
	rc = ctx->ops->mem_register(ctx->nic, addr, len, access, key, &err);
	return rc ? say_refused(ctx, addr, len, rc, &err) : 0;
}

static int register_checked(struct wbell_mem *mem, uint32_t access)
{
	struct wbell_ctx *ctx = mem->ctx;
	int rc;

	rc = check_args(ctx, mem->addr, mem->len, access);
	if (!rc)
		rc = check_mapped(ctx, mem->addr, mem->len, access);
	if (!rc)
		rc = mem_register_locked(ctx, mem->addr, mem->len, access,
					 &mem->key);
	if (rc)
		return rc;
	ctx->mems++;
	ctx->mem_bytes += mem->len;
	return 0;
}

int wbell_mem_register(struct wbell_ctx *ctx, void *addr, size_t len,
		       uint32_t access, struct wbell_mem **out)
{
	errno_kept();
	struct wbell_mem *mem;
	int rc;

	if (!ctx || !out)
		return error_no_object("wbell_mem_register",
				       ctx ? "result" : "context");
	*out = NULL;
	mem = malloc(sizeof(*mem));
	pthread_mutex_lock(&ctx->lock);
	if (mem) {
		*mem = (struct wbell_mem){ .ctx = ctx,
					   .addr = addr,
					   .len = len };
		rc = register_checked(mem, access);
	} else {
		rc = error_set(&ctx->error, -ENOMEM,
			       "memory at %p of %zu bytes: ENOMEM: no memory "
			       "for its handle: free some",
			       addr, len);
	}
	pthread_mutex_unlock(&ctx->lock);
	if (rc)
		free(mem);
	else
		*out = mem;
	return rc;
}

int wbell_mem_deregister(struct wbell_mem *mem)
{
	errno_kept();
	struct wbell_ctx *ctx;
	int rc;

	if (!mem)
		return error_no_object("wbell_mem_deregister", "memory");
	ctx = mem->ctx;
	pthread_mutex_lock(&ctx->lock);
	rc = ctx->ops->mem_deregister(ctx->nic, mem->key);
	if (rc) {
		error_set(&ctx->error, rc,
			  "cannot deregister memory at %p of %zu bytes: %s: "
			  "wait for transfers that use it, then repeat",
			  mem->addr, mem->len, error_name(rc));
	} else {
		ctx->mems--;
		ctx->mem_bytes -= mem->len;
	}
	pthread_mutex_unlock(&ctx->lock);
	if (!rc)
		free(mem);
	return rc;
}

uint32_t wbell_mem_lkey(const struct wbell_mem *mem)
{
	return mem ? mem->key : 0;
}

uint32_t wbell_mem_rkey(const struct wbell_mem *mem)
{
	return mem ? mem->key : 0;
}
