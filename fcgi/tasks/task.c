/*
 * task.c - a task's row, JSON and entity tag.
 *
 * Row: u8 layout | u64 revision | u8 done | i64 created_ms | run text
 */
#include "tasks/task.h"

#include <inttypes.h>
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

/* RFC 3339 in UTC with milliseconds. */
static void
time_json(int64_t ms, struct idem_buf *out)
{
	time_t s = (time_t)(ms / 1000);
	struct tm tm = { 0 };

	gmtime_r(&s, &tm);
	idem_buf_printf(out, "\"%04d-%02d-%02dT%02d:%02d:%02d.%03dZ\"",
	    tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour,
	    tm.tm_min, tm.tm_sec, (int)(ms % 1000));
}

void
task_json(const struct task *t, struct idem_buf *out)
{
	idem_buf_printf(out, "{\"id\":%" PRIu64 ",\"matn\":", t->id);
	idem_json_string(out, t->text);
	idem_buf_printf(out, ",\"bajarildi\":%s,\"teglar\":",
	    t->done ? "true" : "false");
	tags_json(t->text, out);
	idem_buf_puts(out, IDEM_LIT(",\"yaratilgan\":"));
	time_json(t->created_ms, out);
	idem_buf_putc(out, '}');
}

struct idem_span
task_etag(const struct task *t, char out[TASK_ETAG_MAX])
{
	/* Two numbers of at most 20 digits always fit. */
	if (text_format(out, TASK_ETAG_MAX, "\"%" PRIu64 "-%" PRIu64 "\"",
	    t->id, t->revision) != IDEM_OK)
		return IDEM_ABSENT;
	return span_of(out);
}
