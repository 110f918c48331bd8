// SPDX-License-Identifier: BSD-2-Clause
/* warpbell queue show: a hung queue explains itself. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

struct show {
	struct cli *cli;
	struct json json;
	int32_t pid; /* 0: all */
	int32_t last_pid;
	unsigned count;
};

static const char *state_name(uint32_t state)
{
	static const char *const names[] = {
		[WBELL_QUEUE_RESET] = "RESET", [WBELL_QUEUE_INIT] = "INIT",
		[WBELL_QUEUE_RTR] = "RTR",     [WBELL_QUEUE_RTS] = "RTS",
		[WBELL_QUEUE_SQD] = "SQD",     [WBELL_QUEUE_SQE] = "SQE",
		[WBELL_QUEUE_ERR] = "ERR",
	};

	return state <= WBELL_QUEUE_ERR ? names[state] : "unknown";
}

/* The first stage of a work request that lags behind the one before it. */
static const char *waits_for(const struct wbell_queue_stat *s)
{
	if (s->doorbell != s->done && s->ready == s->doorbell)
		return "the NIC or its poller: rung, no completion taken";
	if (s->ready != s->doorbell)
		return "its doorbell: published, not rung";
	if (s->reserved != s->ready)
		return "its poster: reserved, not published";
	return NULL;
}

static void print_trouble(const struct wbell_queue_stat *s)
{
	const char *why = waits_for(s);
	struct wqe wqe;
	char text[256];

	if (why)
		printf("    waits for %s\n", why);
	if (s->ready != s->done) {
		wqe_decode(s->oldest, &wqe);
		printf("    oldest: ");
		wqe_print(stdout, &wqe, s->done);
	}
	if (!wbell_error_record_text(&s->error, text, sizeof(text)))
		printf("    error: %s\n", text);
}

static void show_text(struct show *show, const struct wbell_queue_seen *seen)
{
	const struct wbell_queue_stat *s = &seen->stat;

	if (seen->pid != show->last_pid)
		printf("process %d (%s), NIC %s\n", seen->pid, seen->command,
		       seen->nic);
	show->last_pid = seen->pid;
	printf("  queue 0x%x %s depth %u reserved %" PRIu64 " ready %" PRIu64
	       " doorbell %" PRIu64 " done %" PRIu64,
	       s->qpn, state_name(s->state), s->depth, s->reserved, s->ready,
	       s->doorbell, s->done);
	if (s->peer_qpn)
		printf(" peer 0x%x at %s mtu %u", s->peer_qpn, s->peer_address,
		       s->path_mtu);
	putchar('\n');
	print_trouble(s);
}

static void json_error(struct json *j, const struct wbell_error_record *rec)
{
	char text[256];

	if (wbell_error_record_text(rec, text, sizeof(text)))
		return;
	json_open(j, "error", '{');
	json_string(j, "text", text);
	json_number(j, "index", rec->index);
	json_string(j, "opcode", wbell_opcode_text(rec->wqe_opcode));
	json_number(j, "status", rec->status);
	json_hex(j, "syndrome", rec->syndrome);
	json_hex(j, "vendor_syndrome", rec->vendor_syndrome);
	json_close(j, '}');
}

static void show_json(struct json *j, const struct wbell_queue_seen *seen)
{
	const struct wbell_queue_stat *s = &seen->stat;
	struct wqe wqe;

	json_open(j, NULL, '{');
	json_number(j, "pid", seen->pid);
	json_string(j, "command", seen->command);
	json_string(j, "nic", seen->nic);
	json_number(j, "qpn", s->qpn);
	json_number(j, "peer_qpn", s->peer_qpn);
	json_string(j, "peer_address", s->peer_address);
	json_string(j, "state", state_name(s->state));
	json_number(j, "depth_blocks", s->depth);
	json_number(j, "path_mtu_bytes", s->path_mtu);
	json_number(j, "reserved_index", s->reserved);
	json_number(j, "ready_index", s->ready);
	json_number(j, "doorbell_index", s->doorbell);
	json_number(j, "done_index", s->done);
	if (waits_for(s))
		json_string(j, "waits_for", waits_for(s));
	if (s->ready != s->done) {
		wqe_decode(s->oldest, &wqe);
		wqe_json(j, &wqe, s->done);
	}
	json_error(j, &s->error);
	json_close(j, '}');
}

static int see(void *arg, const struct wbell_queue_seen *seen)
{
	struct show *show = arg;

	if (show->pid && seen->pid != show->pid)
		return 0;
	show->count++;
	if (show->cli->json)
		show_json(&show->json, seen);
	else
		show_text(show, seen);
	return 0;
}

static int parse_pid(const char *text, int32_t *pid)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(text, &end, 10);
	if (errno || *end || end == text || n < 1 || n > INT32_MAX)
		return -EINVAL;
	*pid = n;
	return 0;
}

static int conclude(const struct show *show)
{
	if (show->count)
		return CLI_GOOD;
	if (show->pid) {
		cli_complain("process %d: no queue seen: give a process that "
			     "holds one, or run as its user or root",
			     show->pid);
		return CLI_FAILED;
	}
	if (!show->cli->json)
		printf("no queues (those of other users are seen by root)\n");
	return CLI_GOOD;
}

int cli_queue_show(struct cli *cli, int argc, char **argv)
{
	struct show show = { .cli = cli, .json = { .f = stdout } };
	struct json *j = &show.json;
	int rc;

	if (argc > 1)
		return cli_complain("queue show: '%s' is one argument too many",
				    argv[1]);
	if (argc && parse_pid(argv[0], &show.pid))
		return cli_complain("queue show: '%s' is no process: give its "
				    "number",
				    argv[0]);
	if (cli->json) {
		json_open(j, NULL, '{');
		json_number(j, "version", CLI_JSON_VERSION);
		json_open(j, "queues", '[');
	}
	rc = wbell_queue_each(see, &show);
	if (cli->json) {
		json_close(j, ']');
		json_close(j, '}');
		putchar('\n');
	}
	if (rc)
		return cli_complain("%s", wbell_error(NULL));
	return conclude(&show);
}
