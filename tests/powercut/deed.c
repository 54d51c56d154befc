/*
 * deed.c - keys, answers and rows of the load.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "deed.h"

#include "base/bytes.h"
#include "base/text.h"

#define AT_KIND (IDEM_ID_BYTES - 4)
#define ANSWER_HEAD 24 /* number, random */

uint64_t
deed_random(uint64_t *seed)
{
	uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

void
deed_say(char *to, size_t cap, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(to, cap, fmt, ap);
	va_end(ap);
}

static void
fill(unsigned char *p, size_t n, uint64_t *seed)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (unsigned char)deed_random(seed);
}

void
deed_id(unsigned char id[IDEM_ID_BYTES], enum deed_kind kind, unsigned worker,
    unsigned number)
{
	uint64_t seed = (uint64_t)kind << 40 | (uint64_t)worker << 32 | number;

	fill(id, IDEM_ID_BYTES, &seed);
	id[AT_KIND] = (unsigned char)kind;
	id[AT_KIND + 1] = (unsigned char)worker;
	id[AT_KIND + 2] = (unsigned char)(number >> 8);
	id[AT_KIND + 3] = (unsigned char)number;
}

enum deed_kind
deed_kind_of(const unsigned char id[IDEM_ID_BYTES])
{
	return (enum deed_kind)id[AT_KIND];
}

bool
deed_has_row(enum deed_kind kind)
{
	return kind == DEED_ONCE || kind == DEED_BIG || kind == DEED_SHORT ||
	    kind == DEED_WORK || kind == DEED_HUGE;
}

/* How long the answer of this key is behind its head. */
static size_t
filler(const unsigned char id[IDEM_ID_BYTES])
{
	switch (deed_kind_of(id)) {
	case DEED_BIG:
		return 3000 + (size_t)id[0] * 64;
	case DEED_HUGE:
		return 200000 + (size_t)id[0] * 1000;
	case DEED_ONCE:
	case DEED_SHORT:
	case DEED_WORK:
	case DEED_OUTSIDE:
	case DEED_HOLD:
	case DEED_RELEASE:
	case DEED_LEFT:
	case DEED_APPLY:
		break;
	}
	return (size_t)id[0] % 200;
}

void
deed_op(struct idem_op *op, enum idem_op_kind what,
    const unsigned char id[IDEM_ID_BYTES], uint64_t *seed,
    struct idem_buf *answer)
{
	*op = (struct idem_op){ .kind = what, .recipe = 1,
		.now_ms = DEED_NOW, .unknown_ttl_ms = DEED_TTL,
		.ttl_ms = deed_kind_of(id) == DEED_SHORT ? 1 : DEED_TTL,
		.max_keys = 1000000, .answer = answer };
	memcpy(op->id, id, sizeof op->id);
	memset(op->fingerprint, id[1], sizeof op->fingerprint);
	fill(op->token, sizeof op->token, seed);
	fill(op->random, sizeof op->random, seed);
	if (what == IDEM_OP_ONCE || what == IDEM_OP_FINISH ||
	    what == IDEM_OP_APPLY)
		op->apply = 1;
}

void
deed_outside(const unsigned char id[IDEM_ID_BYTES], struct idem_buf *out)
{
	idem_buf_reset(out);
	idem_buf_put(out, id, IDEM_ID_BYTES);
	for (size_t i = 0; i < (size_t)id[2] * 8; i++)
		idem_buf_putc(out, (char)('a' + i % 26));
}

/* The next task: its row, and the answer that tells which one it is. */
static enum idem_err
apply(void *arg, struct idem_tables *t, const struct idem_op *op,
    struct idem_buf *answer, struct idem_applied *out)
{
	struct idem_span last, value;
	unsigned char key[8], row[DEED_ROW_BYTES];
	uint64_t number;
	enum idem_err err = idem_tables_last(t, 0, &last, &value);

	(void)arg; /* an op says all */
	if (err != IDEM_OK)
		return err;
	number = last.p == NULL ? 1 :
	    u64_from_key((const unsigned char *)last.p) + 1;
	wr_u64(answer, number);
	idem_buf_put(answer, op->random, sizeof op->random);
	for (size_t i = 0; i < filler(op->id); i++)
		idem_buf_putc(answer, (char)('A' + i % 26));
	*out = (struct idem_applied){ .effect = IDEM_DONE,
		.kept_bytes = answer->n };
	if ((err = idem_buf_err(answer)) != IDEM_OK)
		return err;
	u64_to_key(number, key);
	memcpy(row, op->id, IDEM_ID_BYTES);
	memcpy(row + IDEM_ID_BYTES, op->random, IDEM_RANDOM_BYTES);
	return idem_tables_put(t, 0, (struct idem_span){ (char *)key, 8 },
	    (struct idem_span){ (char *)row, sizeof row });
}

bool
deed_read_answer(struct idem_span answer, uint64_t *number,
    unsigned char random[IDEM_RANDOM_BYTES])
{
	struct reader r = reader_of(answer);

	if (answer.n < ANSWER_HEAD)
		return false;
	*number = rd_u64(&r);
	rd_copy(&r, random, IDEM_RANDOM_BYTES);
	return !r.bad;
}

enum idem_err
deed_open(const char *dir, bool durable, const struct idem_log *log,
    struct idem_store **out)
{
	static const char *const tables[] = { "tasks" };
	const struct idem_store_config config = { .place = span_of(dir),
		.create = true, .worker = true, .durable = durable,
		.max_bytes = 64 << 20, .tables = tables, .ntables = 1,
		.apply = apply, .program = 1, .log = log };

	return idem_store_open(&config, out);
}
