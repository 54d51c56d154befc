/*
 * front_log.c - the programs' log: one line an event, each by one write(2).
 */
#include <unistd.h>

#include "base/io.h"
#include "base/text.h"
#include "front_log.h"

#define LINE_BYTES (IDEM_LOG_MAX + 200) /* room for program, pid and level */

static void
put_line(void *arg, enum idem_level level, const char *text)
{
	static const struct idem_span words[] = { IDEM_LIT_INIT("info"),
		IDEM_LIT_INIT("warning"), IDEM_LIT_INIT("error") };
	const struct front_log *f = arg;
	char memory[LINE_BYTES];
	struct idem_buf line;

	idem_buf_over(&line, memory, sizeof memory);
	idem_buf_puts(&line, span_of(f->program));
	idem_buf_putc(&line, '[');
	idem_buf_decimal(&line, (uint64_t)getpid());
	idem_buf_puts(&line, IDEM_LIT("] "));
	idem_buf_puts(&line, words[level]);
	idem_buf_puts(&line, IDEM_LIT(": "));
	idem_buf_puts(&line, span_of(text));
	idem_buf_putc(&line, '\0');
	if (idem_buf_err(&line) != IDEM_OK)
		return; /* cannot happen: text is bounded */
	if (f->x != NULL && f->x->complain != NULL && level != IDEM_INFO)
		f->x->complain(f->x->arg, memory);
	memory[line.n - 1] = '\n';
	/* where the log itself cannot be written nobody can be told */
	if (io_write(f->fd, memory, line.n) != IDEM_OK)
		return;
}

struct idem_log
front_log_sink(struct front_log *f)
{
	return (struct idem_log){ put_line, f };
}

/* logfmt has no way to write a quote that every reader understands. */
static void
put_quoted(struct idem_buf *b, struct idem_span s)
{
	for (size_t i = 0; i < s.n; i++)
		idem_buf_putc(b, s.p[i] == '"' || s.p[i] == '\\' ? '?' :
		    s.p[i]);
	idem_buf_putc(b, '\0');
}

void
front_log_request(const struct idem_log *log,
    const struct front_log_request *r)
{
	char id[9] = "-", memory[IDEM_LOG_MAX];
	struct idem_buf route;

	idem_buf_over(&route, memory, sizeof memory);
	put_quoted(&route, r->route);
	if (r->id != NULL)
		hex_lower(r->id, 4, id);
	id[r->id != NULL ? 8 : 1] = '\0';
	idem_log(log, IDEM_INFO, "outcome=%s status=%u route=\"%.300s\" "
	    "ms=%lld id=%s request_id=%s", r->outcome, r->status,
	    idem_buf_err(&route) == IDEM_OK ? route.p : "?",
	    (long long)r->ms, id, r->request_id);
}
