/* SPDX-License-Identifier: BSD-2-Clause */
/* The warpbell command: the first client of wbell.h. */
#ifndef WARPBELL_CLI_H
#define WARPBELL_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <wbell/wbell.h>

/* Exit statuses. */
enum { CLI_GOOD = 0, CLI_FAILED = 1, CLI_USAGE = 2 };

#define CLI_JSON_VERSION 1

struct cli {
	bool json;
};

struct command {
	const char *object;
	const char *verb; /* NULL: the object alone is the command */
	const char *args; /* for the usage line */
	const char *what;
	const char *example;
	/* argv[0] is the first argument behind the name */
	int (*run)(struct cli *cli, int argc, char **argv);
	bool raw; /* every argument is run's, options too */
};
extern const struct command commands[];
extern const size_t commands_count;

/* main.c */
int cli_complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
int cli_help(struct cli *cli, int argc, char **argv);
int cli_version(struct cli *cli, int argc, char **argv);
/* name.c: the nearest object or verb, NULL where none is near */
const char *cli_nearest(const char *name, const char *object);
/* device.c, show.c, demo.c, bench.c */
int cli_device_show(struct cli *cli, int argc, char **argv);
int cli_queue_show(struct cli *cli, int argc, char **argv);
int cli_demo(struct cli *cli, int argc, char **argv);
int cli_bench(struct cli *cli, int argc, char **argv);

/* json.c: members of one object or elements of one array, commas kept */
struct json {
	FILE *f;
	bool comma;
};
void json_open(struct json *j, const char *key, char bracket);
void json_close(struct json *j, char bracket);
void json_string(struct json *j, const char *key, const char *value);
void json_number(struct json *j, const char *key, uint64_t value);
void json_hex(struct json *j, const char *key, uint64_t value);
void json_bool(struct json *j, const char *key, bool value);

/* wqe.c: what the first basic block of a WQE says */
struct wqe {
	unsigned opcode;
	unsigned index; /* 16 bits, as it lies in the control segment */
	unsigned ds;
	bool has_raddr, whole; /* whole: length counts every segment */
	uint64_t raddr, laddr, length;
	uint32_t rkey, lkey;
};
void wqe_decode(const uint8_t block[WBELL_BB_SIZE], struct wqe *wqe);
int wqe_print(FILE *f, const struct wqe *wqe, uint64_t index);
void wqe_json(struct json *j, const struct wqe *wqe, uint64_t index);

#endif /* WARPBELL_CLI_H */
