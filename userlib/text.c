// SPDX-License-Identifier: BSD-2-Clause
/* Words for the numbers of queue.h.  Statuses read as verbs users know them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define STRING2(x) #x
#define STRING(x)  STRING2(x)

const char *wbell_version(void)
{
	return STRING(WBELL_VERSION_MAJOR) "." STRING(
		WBELL_VERSION_MINOR) "." STRING(WBELL_VERSION_PATCH);
}

static const char *const wc_texts[] = {
	[WBELL_WC_SUCCESS] = "success",
	[WBELL_WC_LOC_LEN_ERR] = "local length error",
	[WBELL_WC_LOC_QP_OP_ERR] = "local QP operation error",
	[3] = "local EE context operation error",
	[WBELL_WC_LOC_PROT_ERR] = "local protection error",
	[WBELL_WC_WR_FLUSH_ERR] = "Work Request Flushed Error",
	[WBELL_WC_MW_BIND_ERR] = "memory management operation error",
	[WBELL_WC_BAD_RESP_ERR] = "bad response error",
	[WBELL_WC_LOC_ACCESS_ERR] = "local access error",
	[WBELL_WC_REM_INV_REQ_ERR] = "remote invalid request error",
	[WBELL_WC_REM_ACCESS_ERR] = "remote access error",
	[WBELL_WC_REM_OP_ERR] = "remote operation error",
	[WBELL_WC_RETRY_EXC_ERR] = "transport retry counter exceeded",
	[WBELL_WC_RNR_RETRY_EXC_ERR] = "RNR retry counter exceeded",
	[14] = "local RDD violation error",
	[15] = "remote invalid RD request",
	[WBELL_WC_REM_ABORT_ERR] = "aborted error",
	[17] = "invalid EE context number",
	[18] = "invalid EE context state",
	[19] = "fatal error",
	[20] = "response timeout error",
	[WBELL_WC_GENERAL_ERR] = "general error",
	[22] = "TM error",
	[23] = "TM software rendezvous",
};

const char *wbell_wc_text(int status)
{
	if (status < 0 ||
	    (size_t)status >= sizeof(wc_texts) / sizeof(*wc_texts))
		return "unknown status";
	return wc_texts[status];
}

/* What device calls return for work that never reached the NIC. */
static const struct {
	int rc;
	const char *text;
} refusals[] = {
	{ EAGAIN, "queue full, or not yet complete" },
	{ ETIMEDOUT, "deadline passed before the completion" },
	{ ECANCELED, "context aborted" },
	{ EINVAL, "invalid argument" },
	{ EPROTO, "queue has another layout than the code that runs on it" },
};

const char *wbell_status_text(int status)
{
	const char *text;
	size_t i;

	if (status >= 0)
		return wbell_wc_text(status);
	for (i = 0; i < sizeof(refusals) / sizeof(*refusals); i++)
		if (refusals[i].rc == -status)
			return refusals[i].text;
	/* No strerror(): it is not thread-safe and follows the locale. */
	text = strerrordesc_np(abs(status));
	return text ? text : "unknown status";
}

const char *wbell_opcode_text(unsigned opcode)
{
	switch (opcode) {
	case WBELL_OP_NOP:
		return "NOP";
	case WBELL_OP_SEND_INVAL:
		return "SEND_INVAL";
	case WBELL_OP_WRITE:
		return "RDMA_WRITE";
	case WBELL_OP_WRITE_IMM:
		return "RDMA_WRITE_IMM";
	case WBELL_OP_SEND:
		return "SEND";
	case WBELL_OP_SEND_IMM:
		return "SEND_IMM";
	case WBELL_OP_WAIT:
		return "WAIT";
	case WBELL_OP_READ:
		return "RDMA_READ";
	case WBELL_OP_CS:
		return "ATOMIC_CS";
	case WBELL_OP_FA:
		return "ATOMIC_FA";
	default:
		return "unknown opcode";
	}
}

int wbell_syndrome_wc(unsigned syndrome)
{
	switch (syndrome) {
	case WBELL_SYND_LOCAL_LENGTH:
		return WBELL_WC_LOC_LEN_ERR;
	case WBELL_SYND_LOCAL_QP_OP:
		return WBELL_WC_LOC_QP_OP_ERR;
	case WBELL_SYND_LOCAL_PROT:
		return WBELL_WC_LOC_PROT_ERR;
	case WBELL_SYND_WR_FLUSH:
		return WBELL_WC_WR_FLUSH_ERR;
	case WBELL_SYND_MW_BIND:
		return WBELL_WC_MW_BIND_ERR;
	case WBELL_SYND_BAD_RESP:
		return WBELL_WC_BAD_RESP_ERR;
	case WBELL_SYND_LOCAL_ACCESS:
		return WBELL_WC_LOC_ACCESS_ERR;
	case WBELL_SYND_REMOTE_INVAL_REQ:
		return WBELL_WC_REM_INV_REQ_ERR;
	case WBELL_SYND_REMOTE_ACCESS:
		return WBELL_WC_REM_ACCESS_ERR;
	case WBELL_SYND_REMOTE_OP:
		return WBELL_WC_REM_OP_ERR;
	case WBELL_SYND_RETRY_EXC:
		return WBELL_WC_RETRY_EXC_ERR;
	case WBELL_SYND_RNR_EXC:
		return WBELL_WC_RNR_RETRY_EXC_ERR;
	case WBELL_SYND_REMOTE_ABORTED:
		return WBELL_WC_REM_ABORT_ERR;
	default:
		return WBELL_WC_GENERAL_ERR;
	}
}

int wbell_error_record_text(const struct wbell_error_record *rec, char *text,
			    size_t size)
{
	int n;

	if (!rec || !text || !size)
		return -EINVAL;
	if (rec->state != WBELL_ERR_WHOLE) {
		*text = '\0';
		return -ENOENT;
	}
	n = snprintf(text, size,
		     "queue 0x%x to peer 0x%x: %s index %llu failed: %s "
		     "(syndrome 0x%02x, vendor 0x%02x)",
		     rec->qpn, rec->peer_qpn,
		     wbell_opcode_text(rec->wqe_opcode),
		     (unsigned long long)rec->index, wbell_wc_text(rec->status),
		     rec->syndrome, rec->vendor_syndrome);
	return (size_t)n < size ? 0 : -ENOSPC;
}
