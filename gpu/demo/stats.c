// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>
#include <string.h>

#include "demo.h"

/* The middle of what a bucket holds, in us; the inverse of demo_record(). */
static double bucket_us(uint32_t at)
{
	uint32_t shift = 0;
	uint64_t low;

	if (at >= 2U << DEMO_BUCKET_BITS)
		shift = (at >> DEMO_BUCKET_BITS) - 1;
	low = (uint64_t)(at - (shift << DEMO_BUCKET_BITS)) << shift;
	return (low + (double)(1ULL << shift) / 2) / 1000;
}

static double quantile(const uint64_t *bucket, uint64_t total, double q)
{
	uint64_t rank = (uint64_t)(q * total);
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < DEMO_BUCKETS; i++) {
		sum += bucket[i];
		if (sum > rank)
			return bucket_us(i);
	}
	return 0;
}

static void latency_of(const struct demo_lane *lanes, uint32_t n,
		       struct latency *out)
{
	uint64_t bucket[DEMO_BUCKETS] = { 0 };
	uint64_t total = 0;
	uint32_t i, j;

	for (i = 0; i < n; i++) {
		for (j = 0; j < DEMO_BUCKETS; j++) {
			bucket[j] += lanes[i].bucket[j];
			total += lanes[i].bucket[j];
		}
	}
	out->p50_us = quantile(bucket, total, 0.5);
	out->p99_us = quantile(bucket, total, 0.99);
	out->p999_us = quantile(bucket, total, 0.999);
}

void phase_take(struct phase *p, const struct job *job, uint64_t count,
		uint64_t bytes)
{
	p->count = count;
	p->bytes = bytes;
	p->elapsed_ns = job->elapsed_ns ? job->elapsed_ns : 1;
	latency_of(job->lanes, job->blocks * job->threads, &p->latency);
}

/* A context knows of no GPU that only runs kernels. */
static const char *gpu_name(const struct nic *nic)
{
	const char *name = wbell_launch_device();

	return strcmp(name, "CPU threads") ? name : nic->info.gpu;
}

/* What the two ends run on; before anything is measured. */
void report_paths(const struct nic *nic)
{
	printf("GPU: %s\n", gpu_name(nic));
	printf("NIC: %s\n", nic->info.nic);
	printf("address: %s, path MTU up to %u\n", nic->info.address,
	       nic->info.mtu);
	fflush(stdout);
}

static void print_phase(const struct phase *p)
{
	printf("%-11s %8llu x %7llu B %10.0f messages/s %7.3f GB/s", p->name,
	       (unsigned long long)p->count,
	       (unsigned long long)(p->bytes / p->count),
	       p->count * 1e9 / p->elapsed_ns,
	       (double)p->bytes / p->elapsed_ns);
	printf("  p50 %.1f p99 %.1f p99.9 %.1f us\n", p->latency.p50_us,
	       p->latency.p99_us, p->latency.p999_us);
}

static void print_text(const struct report *r)
{
	int i;

	for (i = 0; i < PHASES; i++)
		print_phase(&r->phase[i]);
	printf("SHA-256 %s %s\n", r->sha, r->match ? "match" : "DIFFERS");
	if (r->nic->info.capture[0])
		printf("capture: %s\n", r->nic->info.capture);
}

static void print_json(const struct report *r)
{
	const struct phase *p;

	printf("{\"version\": 1, \"gpu\": \"%s\", \"nic\": \"%s\", "
	       "\"size_bytes\": %llu, \"sha256\": \"%s\", "
	       "\"match\": %s, \"phases\": [",
	       gpu_name(r->nic), r->nic->info.nic, (unsigned long long)r->size,
	       r->sha, r->match ? "true" : "false");
	for (p = r->phase; p < r->phase + PHASES; p++)
		printf("%s{\"name\": \"%s\", \"count\": %llu, "
		       "\"bytes\": %llu, \"elapsed_ns\": %llu, "
		       "\"p50_us\": %.1f, \"p99_us\": %.1f, "
		       "\"p999_us\": %.1f}",
		       p == r->phase ? "" : ", ", p->name,
		       (unsigned long long)p->count,
		       (unsigned long long)p->bytes,
		       (unsigned long long)p->elapsed_ns, p->latency.p50_us,
		       p->latency.p99_us, p->latency.p999_us);
	printf("]}\n");
}

void report_print(const struct report *r)
{
	if (r->opt->json)
		print_json(r);
	else
		print_text(r);
	fflush(stdout);
}
