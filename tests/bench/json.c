/*
 * bench_json.c - what the canonical form costs: beside SHA-256 of the same
 * bytes alone, and beside cJSON_Parse.  Medians of rounds that alternate, in
 * processor time: what else the machine does counts as little as it can.
 */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/sha256.h"
#include "base/text.h"
#include "idem/json.h"

#define ROUNDS 31
#define ROUND_BYTES 2000000 /* worked through in each round, per contender */

struct bench {
	bool tsv;
	struct idem_json_work work;
	struct idem_buf text, out;
	struct sha256 *hash;
	uint64_t seed;
};

static unsigned
draw(struct bench *b, unsigned below)
{
	b->seed = b->seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(b->seed >> 33) % below;
}

static const char *
pick(struct bench *b, const char *const *words, size_t n)
{
	return words[draw(b, (unsigned)n)];
}
#define PICK(b, words) pick(b, words, sizeof(words) / sizeof(words)[0])

static void
put_order(struct bench *b)
{
	static const char *const names[] = { "Ali Valiyev", "Guli", "O'tkir",
		"Dilnoza Karimova", "Bek" };
	static const char *const cities[] = { "Toshkent", "Samarqand", "Xiva" };

	idem_buf_printf(&b->text, "{\"id\":%u,\"name\":\"%s\","
	    "\"amount\":%u.%02u,\"paid\":%s,", draw(b, 1000000), PICK(b, names),
	    draw(b, 10000), draw(b, 100), draw(b, 2) ? "true" : "false");
	idem_buf_printf(&b->text, "\"address\":{\"street\":\"Navoiy %u\","
	    "\"city\":\"%s\",\"zip\":\"%06u\"},\"lines\":[", draw(b, 200),
	    PICK(b, cities), draw(b, 1000000));
	for (unsigned i = draw(b, 3) + 1; i > 0; i--)
		idem_buf_printf(&b->text, "{\"sku\":\"AB-%u\",\"qty\":%u,"
		    "\"note\":null}%s", draw(b, 100000), draw(b, 20),
		    i > 1 ? "," : "");
	idem_buf_puts(&b->text, IDEM_LIT("],\"comment\":\"Iltimos, eshik "
	    "oldida qoldiring\"}"));
}

/* A comment: mostly words, of which some are not ASCII; an escape or two. */
static void
put_string(struct bench *b)
{
	static const char *const words[] = { "non ", "olish ", "kilometr ",
		"bo\xca\xbblim ", "\xd0\xb2\xd0\xb0\xd0\xb7\xd0\xb8\xd1\x84"
		"\xd0\xb0 ", "g\xca\xbbisht ", "haftalik ", "\xe2\x82\xac ",
		"uy ", "ta'mirlash ", "\xf0\x9f\x98\x80 " };
	static const char *const escapes[] = { "\\n", "\\\"", "\\u00e9",
		"\\/", "\\t" };

	idem_buf_putc(&b->text, '"');
	for (unsigned i = draw(b, 12) + 1; i > 0; i--) {
		idem_buf_puts(&b->text, span_of(PICK(b, words)));
		if (draw(b, 12) == 0)
			idem_buf_puts(&b->text, span_of(PICK(b, escapes)));
	}
	idem_buf_putc(&b->text, '"');
}

/* A row of measurements: whole, negative, short, long, small. */
static void
put_numbers(struct bench *b)
{
	idem_buf_printf(&b->text, "[%u,-%u.%u,0.%u%u,%u.0,%u.%ue-%u]",
	    draw(b, 2000000000), draw(b, 90), draw(b, 1000000),
	    draw(b, 100000000), draw(b, 100000000), draw(b, 1000),
	    draw(b, 9) + 1, draw(b, 1000000), draw(b, 30));
}

static int64_t
now_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* cannot fail */
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void
check(enum idem_err err)
{
	if (err != IDEM_OK) {
		fprintf(stderr, "bench: %s\n", idem_strerror(err));
		exit(1);
	}
}

static void
hash(struct bench *b, struct idem_span s)
{
	unsigned char digest[SHA256_BYTES];

	sha256_start(b->hash);
	sha256_update(b->hash, s);
	check(sha256_finish(b->hash, digest));
}

static void
run_hash(struct bench *b)
{
	hash(b, idem_buf_span(&b->text));
}

static void
run_canonical(struct bench *b)
{
	idem_buf_reset(&b->out);
	check(idem_json_canonical(&b->work, idem_buf_span(&b->text), &b->out,
	    NULL));
}

static void
run_both(struct bench *b)
{
	run_canonical(b);
	hash(b, idem_buf_span(&b->out));
}

static void
run_cjson(struct bench *b)
{
	cJSON *tree = cJSON_ParseWithLength(b->text.p, b->text.n);

	if (tree == NULL)
		check(IDEM_ESYNTAX);
	cJSON_Delete(tree);
}

enum { HASH, CANONICAL, BOTH, CJSON, NRUNS };
static void (*const runs[NRUNS])(struct bench *) = { [HASH] = run_hash,
	[CANONICAL] = run_canonical, [BOTH] = run_both, [CJSON] = run_cjson };

static int
by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void
measure(struct bench *b, double median_ns[NRUNS])
{
	double ns[NRUNS][ROUNDS];
	size_t times = ROUND_BYTES / b->text.n;

	for (size_t round = 0; round < ROUNDS; round++)
		for (size_t r = 0; r < NRUNS; r++) {
			int64_t from = now_ns();

			for (size_t i = 0; i < times; i++)
				runs[r](b);
			ns[r][round] = (double)(now_ns() - from) /
			    (double)times;
		}
	for (size_t r = 0; r < NRUNS; r++) {
		qsort(ns[r], ROUNDS, sizeof ns[r][0], by_value);
		median_ns[r] = ns[r][ROUNDS / 2];
	}
}

static void
report(const struct bench *b, const char *kind, const double ns[NRUNS])
{
	if (b->tsv)
		printf("%s\t%zu\t%.0f\t%.0f\t%.0f\t%.0f\n", kind, b->text.n,
		    ns[HASH], ns[CANONICAL], ns[BOTH], ns[CJSON]);
	else
		printf("%-8s %7zu %9.0f %9.0f %9.0f %9.0f %8.2f %8.2f\n", kind,
		    b->text.n, ns[HASH], ns[CANONICAL],
		    (double)b->text.n * 1e3 / ns[CANONICAL], ns[CJSON],
		    ns[BOTH] / ns[HASH], ns[CANONICAL] / ns[CJSON]);
}

static void
fill(struct bench *b, void (*put)(struct bench *), size_t nbytes)
{
	idem_buf_reset(&b->text);
	idem_buf_putc(&b->text, '[');
	do {
		if (b->text.n > 1)
			idem_buf_putc(&b->text, ',');
		put(b);
	} while (b->text.n + 1 < nbytes);
	idem_buf_putc(&b->text, ']');
	check(idem_buf_err(&b->text));
}

int
main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*put)(struct bench *);
	} kinds[] = { { "objects", put_order }, { "strings", put_string },
		{ "numbers", put_numbers } };
	static const size_t sizes[] = { 100, 1000, 100000 };
	struct bench b = { .seed = 1, .tsv = argc == 2 &&
		strcmp(argv[1], "--tsv") == 0 };
	double ns[NRUNS];

	idem_json_work_init(&b.work);
	idem_buf_init(&b.text, 1 << 20);
	idem_buf_init(&b.out, 1 << 24);
	check(sha256_create(&b.hash));
	if (!b.tsv)
		printf("%-8s %7s %9s %9s %9s %9s %8s %8s\n", "kind",
		    "bytes", "sha ns", "canon ns", "MB/s", "cJSON ns",
		    "both/sha", "/cJSON");
	for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
		for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
			fill(&b, kinds[k].put, sizes[i]);
			measure(&b, ns);
			report(&b, kinds[k].name, ns);
		}
	sha256_destroy(&b.hash);
	idem_buf_free(&b.text);
	idem_buf_free(&b.out);
	idem_json_work_free(&b.work);
	return 0;
}
