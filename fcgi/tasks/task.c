/*
 * task.c - a task's row, JSON and entity tag.
 *
 * Row: u8 layout | u64 revision | u8 done | i64 created_ms | run text
 */
#include "tasks/task.h"

#include <time.h>

#include "base/bytes.h"
#include "base/text.h"
#include "idem/json.h"
#include "tasks/words.h"

/* Goes up when the row changes; readers of the old one stay. */
#define LAYOUT 1

struct idem_span
task_key(uint64_t id, unsigned char key[TASK_KEY_BYTES])
{
	u64_to_key(id, key);
	return (struct idem_span){ (const char *)key, TASK_KEY_BYTES };
}

void
task_encode(const struct task *t, struct idem_buf *out)
{
	wr_u8(out, LAYOUT);
	wr_u64(out, t->revision);
	wr_u8(out, t->done);
	wr_i64(out, t->created_ms);
	wr_run(out, t->text);
}

enum idem_err
task_decode(struct idem_span key, struct idem_span row, struct task *out)
{
	struct reader k = reader_of(key), r = reader_of(row);
	unsigned layout = rd_u8(&r), done;

	out->id = rd_u64(&k);
	out->revision = rd_u64(&r);
	done = rd_u8(&r);
	out->done = done == 1;
	out->created_ms = rd_i64(&r);
	out->text = rd_run(&r);
	if (k.bad || k.rest.n > 0 || r.bad || r.rest.n > 0 ||
	    layout != LAYOUT || done > 1)
		return IDEM_ECORRUPT;
	return IDEM_OK;
}

static void
tags_json(struct idem_span text, struct idem_buf *out)
{
	struct idem_span tags[WORDS_TAGS_MAX];
	size_t ntags = words_tags(text, tags), i;

	idem_buf_putc(out, '[');
	for (i = 0; i < ntags; i++) {
		if (i > 0)
			idem_buf_putc(out, ',');
		idem_json_string(out, tags[i]);
	}
	idem_buf_putc(out, ']');
}

/* A number with zeros in front; first is the worth of its first digit. */
static void
padded(struct idem_buf *out, int n, int first)
{
	for (; first > n && first > 1; first /= 10)
		idem_buf_putc(out, '0');
	idem_buf_decimal(out, (uint64_t)n);
}

static void
time_of(const struct tm *tm, int ms, struct idem_buf *out)
{
	const struct {
		char before;
		int n, first;
	} parts[] = {
		{ '"', tm->tm_year + 1900, 1000 },
		{ '-', tm->tm_mon + 1, 10 },
		{ '-', tm->tm_mday, 10 },
		{ 'T', tm->tm_hour, 10 },
		{ ':', tm->tm_min, 10 },
		{ ':', tm->tm_sec, 10 },
		{ '.', ms, 100 },
	};

	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
		idem_buf_putc(out, parts[i].before);
		padded(out, parts[i].n, parts[i].first);
	}
	idem_buf_puts(out, IDEM_LIT("Z\""));
}

/* RFC 3339 in UTC with milliseconds. */
static void
time_json(int64_t ms, struct idem_buf *out)
{
	time_t s = (time_t)(ms / 1000);
	struct tm tm = { 0 };

	gmtime_r(&s, &tm);
	time_of(&tm, (int)(ms % 1000), out);
}

void
task_json(const struct task *t, struct idem_buf *out)
{
	idem_buf_puts(out, IDEM_LIT("{\"id\":"));
	idem_buf_decimal(out, t->id);
	idem_buf_puts(out, IDEM_LIT(",\"matn\":"));
	idem_json_string(out, t->text);
	idem_buf_puts(out, IDEM_LIT(",\"bajarildi\":"));
	idem_buf_puts(out, t->done ? IDEM_LIT("true") : IDEM_LIT("false"));
	idem_buf_puts(out, IDEM_LIT(",\"teglar\":"));
	tags_json(t->text, out);
	idem_buf_puts(out, IDEM_LIT(",\"yaratilgan\":"));
	time_json(t->created_ms, out);
	idem_buf_putc(out, '}');
}

struct idem_span
task_etag(const struct task *t, char out[TASK_ETAG_MAX])
{
	struct idem_buf b;

	/* Two numbers of at most 20 digits always fit. */
	idem_buf_over(&b, out, TASK_ETAG_MAX);
	idem_buf_putc(&b, '"');
	idem_buf_decimal(&b, t->id);
	idem_buf_putc(&b, '-');
	idem_buf_decimal(&b, t->revision);
	idem_buf_putc(&b, '"');
	return idem_buf_span(&b);
}
