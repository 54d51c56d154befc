/*
 * kit.c - what the bench programs share.
 */
#include "kit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "base/text.h"
#include "store/lmdb_store.h"

void
kit_die(const char *what, enum idem_err err)
{
	fprintf(stderr, "bench: %s: %s\n", what, idem_strerror(err));
	_exit(1);
}

void
kit_check(const char *what, enum idem_err err)
{
	if (err != IDEM_OK)
		kit_die(what, err);
}

static void
print_line(void *arg, enum idem_level level, const char *text)
{
	(void)arg; /* one sink, no state */
	if (level != IDEM_INFO)
		fprintf(stderr, "%s\n", text);
}

struct idem_store *
kit_store(const char *path, bool durable)
{
	static const struct idem_log log = { print_line, NULL };
	const struct idem_store_config config = { .place = span_of(path),
		.create = true, .durable = durable, .log = &log,
		.max_bytes = UINT64_C(64) << 30 };
	struct idem_store *s;

	kit_check(path, idem_store_open(&config, &s));
	return s;
}

uint64_t
kit_number(const char *text, uint64_t max)
{
	uint64_t n;

	kit_check(text, parse_u64(span_of(text), max, &n));
	return n;
}

int64_t
kit_now_us(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

void
kit_random(void *p, size_t n)
{
	kit_check("random bytes", io_random(p, n));
}

struct idem_op
kit_op(enum idem_op_kind kind, struct idem_buf *answer)
{
	struct idem_op op = { .kind = kind, .recipe = IDEM_RECIPE,
		.now_ms = io_wall_ms(), .ttl_ms = 86400000,
		.max_keys = UINT64_C(1) << 40, .answer = answer };

	kit_random(op.id, sizeof op.id);
	kit_random(op.token, sizeof op.token);
	return op;
}

struct idem_span
kit_answer(void)
{
	static const char text[300] = "an answer";

	return (struct idem_span){ text, sizeof text };
}

struct group_counts
kit_counts(struct idem_store *s)
{
	struct lmdb_store *lmdb = s->self;
	bool ready;

	kit_check("group", lmdb_group_ready(lmdb, &ready));
	return ready ? group_counts(lmdb->group) : (struct group_counts){ 0 };
}

static int
compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

uint32_t
kit_quantile(uint32_t *v, size_t n, double q)
{
	size_t at = (size_t)((double)n * q);

	qsort(v, n, sizeof *v, compare);
	return v[at < n ? at : n - 1];
}
