/*
 * front_log.c - the programs' log: one line an event, each by one write(2).
 */
#include <unistd.h>

#include "base/io.h"
#include "base/text.h"
#include "process/front_log.h"

#define LINE_BYTES (IDEM_LOG_MAX + 200) /* room for program, pid and level */

/* FNV-1a; never 0. */
static uint64_t
hash_text(const char *text)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (; *text != '\0'; text++)
		h = (h ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return h | 1;
}

/* Was this text written less than a minute ago?  Else it is noted in the place
 * of the oldest, and *nmore is how often it was left out since. */
static bool
said_just_now(struct front_log *f, const char *text, unsigned *nmore)
{
	int64_t now = f->now_ms != NULL ? f->now_ms() : io_steady_ms();
	struct front_log_said *place = &f->said[0];
	uint64_t hash = hash_text(text);

	*nmore = 0;
	for (size_t i = 0; i < sizeof f->said / sizeof f->said[0]; i++) {
		struct front_log_said *s = &f->said[i];

		if (s->hash == hash && now - s->at_ms < FRONT_LOG_AGAIN_MS) {
			s->nmore++;
			return true;
		}
		if (s->hash == hash) {
			*nmore = s->nmore;
			place = s;
			break;
		}
		if (s->hash == 0 || s->at_ms < place->at_ms)
			place = s;
	}
	*place = (struct front_log_said){ hash, now, 0 };
	return false;
}

static void
put_line(void *arg, enum idem_level level, const char *text)
{
	static const struct idem_span words[] = { IDEM_LIT_INIT("info"),
		IDEM_LIT_INIT("warning"), IDEM_LIT_INIT("error") };
	struct front_log *f = arg;
	char memory[LINE_BYTES];
	struct idem_buf line;
	unsigned nmore = 0;

	if (level != IDEM_INFO && said_just_now(f, text, &nmore))
		return;
	idem_buf_over(&line, memory, sizeof memory);
	idem_buf_puts(&line, span_of(f->program));
	idem_buf_putc(&line, '[');
	idem_buf_decimal(&line, (uint64_t)getpid());
	idem_buf_puts(&line, IDEM_LIT("] "));
	idem_buf_puts(&line, words[level]);
	idem_buf_puts(&line, IDEM_LIT(": "));
	idem_buf_puts(&line, span_of(text));
	if (nmore > 0)
		idem_buf_printf(&line, " (and %u times since it was last "
		    "said)", nmore);
	idem_buf_puts(&line, IDEM_LIT("\n\0"));
	if (idem_buf_err(&line) != IDEM_OK)
		return; /* cannot happen: text is bounded */
	if (f->x != NULL && f->x->complain != NULL && level != IDEM_INFO)
		f->x->complain(f->x->arg, memory);
	/* where the log itself cannot be written nobody can be told */
	if (io_write(f->fd, memory, line.n - 1) != IDEM_OK)
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
