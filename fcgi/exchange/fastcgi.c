/*
 * fastcgi.c - one FastCGI request on one connection: the application's side of
 * FastCGI 1.0, for the role of a responder.
 */
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/text.h"
#include "exchange/fastcgi.h"
#include "exchange/records.h"
#include "exchange/talk.h"

#define PARAMS_MAX (4 * 1024 * 1024) /* bytes, all variables */
#define VARS_MAX (4 * 1024 * 1024)   /* bytes, the pointers to them */
#define NOTE_MAX 1024 /* content of BEGIN_REQUEST and of management records */
/* Not every web server gathers a body before it passes it on, and a telephone
 * may be slow: 1 KiB for three times the longest silence. */
#define BODY_PACE_BYTES 1024
#define BODY_PACE_SILENCES 3
#define END_ROOM 64 /* for the records at the end of an answer */

/* FastCGI 1.0, 5.5 */
enum { REQUEST_COMPLETE = 0, CANT_MPX_CONN = 1, OVERLOADED = 2 };
#define NO_STDOUT SIZE_MAX

struct request {
	struct talk *talk;
	struct records records;
	uint16_t id;
	unsigned role;
	bool begun, params_ended, body_ended;
	bool broken; /* what comes is no request, or no more comes */
	bool deaf;   /* the peer takes no answer */
	bool complained;
	struct idem_buf params;
	struct idem_buf vars; /* pointers into params */
	struct idem_buf note; /* over memory */
	struct idem_span body; /* what came of it and was not read */
	size_t stdout_at; /* in talk.out: the head of the open record */
	char memory[NOTE_MAX];
};

/* --- writing -------------------------------------------------------------- */

static void
close_stdout(struct request *r)
{
	struct idem_buf *out = &r->talk->out;

	if (r->stdout_at != NO_STDOUT)
		record_set_length(out, r->stdout_at, out->n - r->stdout_at -
		    RECORD_HEAD_BYTES);
	r->stdout_at = NO_STDOUT;
}

static void
send_out(struct request *r)
{
	close_stdout(r);
	r->deaf = r->deaf || !talk_send(r->talk);
}

static size_t
room(const struct request *r)
{
	return TALK_OUT_BYTES - END_ROOM - r->talk->out.n;
}

/* A record between those of STDOUT, at most NOTE_MAX bytes. */
static void
put_record(struct request *r, unsigned type, uint16_t id,
    struct idem_span content)
{
	if (room(r) < RECORD_HEAD_BYTES + content.n)
		send_out(r);
	close_stdout(r);
	if (!r->deaf)
		record_put(&r->talk->out, type, id, content);
}

static enum idem_err
write_stdout(void *arg, const void *p, size_t n)
{
	struct request *r = arg;
	struct idem_buf *out = &r->talk->out;
	struct idem_span rest = { p, n }, some;

	while (rest.n > 0 && !r->deaf) {
		if (room(r) <= RECORD_HEAD_BYTES) {
			send_out(r);
			continue;
		}
		if (r->stdout_at == NO_STDOUT) {
			r->stdout_at = out->n;
			record_put_head(out, RECORD_STDOUT, r->id, 0);
		}
		some = span_first(rest, rest.n < room(r) ? rest.n : room(r));
		idem_buf_puts(out, some);
		rest = span_from(rest, some.n);
	}
	return r->deaf ? IDEM_EIO : IDEM_OK;
}

static void
flush_stdout(void *arg)
{
	send_out(arg); /* who is gone is met by the next write */
}

static void
write_stderr(void *arg, const char *line)
{
	struct request *r = arg;
	struct idem_span text = span_of(line);

	text = span_first(text, text.n < NOTE_MAX ? text.n : NOTE_MAX);
	put_record(r, RECORD_STDERR, r->id, text);
	r->complained = true;
}

static void
put_end(struct request *r, uint16_t id, unsigned protocol_status)
{
	char content[8] = { 0 };

	content[4] = (char)protocol_status;
	put_record(r, RECORD_END_REQUEST, id, (struct idem_span){ content,
	    sizeof content });
}

/* --- management records (FastCGI 1.0, 4) ---------------------------------- */

static void
answer_values(struct request *r)
{
	static const struct {
		struct idem_span name, value;
	} known[] = {
		{ IDEM_LIT_INIT("FCGI_MAX_CONNS"), IDEM_LIT_INIT("1") },
		{ IDEM_LIT_INIT("FCGI_MAX_REQS"), IDEM_LIT_INIT("1") },
		{ IDEM_LIT_INIT("FCGI_MPXS_CONNS"), IDEM_LIT_INIT("0") },
	};
	struct reader asked = reader_of(idem_buf_span(&r->note));
	struct idem_span name, value;
	char memory[NOTE_MAX];
	struct idem_buf values;

	idem_buf_over(&values, memory, sizeof memory);
	while (pair_next(&asked, &name, &value))
		for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
			if (span_eq(name, known[i].name))
				pair_put(&values, name, known[i].value);
	if (asked.bad || idem_buf_err(&values) != IDEM_OK)
		r->broken = true;
	else
		put_record(r, RECORD_GET_VALUES_RESULT, 0,
		    idem_buf_span(&values));
}

static void
manage(struct request *r)
{
	char unknown[8] = { 0 };

	unknown[0] = (char)r->records.type;
	if (r->records.type == RECORD_GET_VALUES)
		answer_values(r);
	else
		put_record(r, RECORD_UNKNOWN_TYPE, 0,
		    (struct idem_span){ unknown, sizeof unknown });
	send_out(r);
}

/* --- reading -------------------------------------------------------------- */

/* BEGIN_REQUEST is whole. */
static void
begin(struct request *r)
{
	struct reader content = reader_of(idem_buf_span(&r->note));

	r->role = rd_u16(&content);
	r->begun = true;
}

static void
begin_record(struct request *r)
{
	const struct records *rec = &r->records;

	idem_buf_reset(&r->note);
	if (rec->id == 0) {
		if (rec->content_left == 0)
			manage(r);
	} else if (!r->begun) {
		r->id = rec->id;
		r->broken = rec->type != RECORD_BEGIN_REQUEST ||
		    rec->content_left != 8;
	} else if (rec->id != r->id) {
		/* one request at a time; what else comes of it is nobody's */
		if (rec->type == RECORD_BEGIN_REQUEST)
			put_end(r, rec->id, CANT_MPX_CONN);
	} else if (rec->type == RECORD_PARAMS && !r->params_ended) {
		r->params_ended = rec->content_left == 0;
	} else if (rec->type == RECORD_STDIN && r->params_ended) {
		r->body_ended = rec->content_left == 0;
	} else {
		r->broken = true; /* also ABORT_REQUEST */
	}
}

static void
take_part(struct request *r, struct idem_span part)
{
	const struct records *rec = &r->records;

	if (rec->id == 0 || !r->begun) {
		idem_buf_puts(&r->note, part);
		r->broken = idem_buf_err(&r->note) != IDEM_OK;
		if (rec->content_left > 0 || r->broken)
			return;
		if (rec->id == 0)
			manage(r);
		else
			begin(r);
	} else if (rec->id == r->id && rec->type == RECORD_PARAMS) {
		idem_buf_puts(&r->params, part);
		r->broken = idem_buf_err(&r->params) != IDEM_OK;
	} else if (rec->id == r->id) {
		r->body = part;
	}
}

/* Read on by one step. */
static void
step(struct request *r)
{
	struct idem_span part;

	switch (records_next(&r->records, &r->talk->unread, &part)) {
	case RECORD_MORE:
		r->broken = !talk_receive(r->talk);
		break;
	case RECORD_HEAD:
		begin_record(r);
		break;
	case RECORD_PART:
		take_part(r, part);
		break;
	case RECORD_BAD:
		r->broken = true;
		break;
	}
}

static long
read_stdin(void *arg, void *p, size_t n)
{
	struct request *r = arg;

	while (r->body.n == 0 && !r->body_ended && !r->broken)
		step(r);
	if (r->body.n == 0)
		return r->body_ended ? 0 : -1;
	n = n < r->body.n ? n : r->body.n;
	memcpy(p, r->body.p, n);
	r->body = span_from(r->body, n);
	return (long)n;
}

static bool
can_be_variable(struct idem_span name, struct idem_span value)
{
	return name.n > 0 && memchr(name.p, '=', name.n) == NULL &&
	    memchr(name.p, '\0', name.n) == NULL &&
	    (value.n == 0 || memchr(value.p, '\0', value.n) == NULL);
}

/* Make "NAME=value" of each pair, where it stands: what is written is never
 * longer than what was read, as each has two lengths before it. */
static bool
make_vars(struct request *r)
{
	struct reader rest = reader_of(idem_buf_span(&r->params));
	struct idem_span name, value;
	char *at = r->params.p;

	while (pair_next(&rest, &name, &value)) {
		if (!can_be_variable(name, value))
			return false;
		idem_buf_put(&r->vars, &at, sizeof at);
		memmove(at, name.p, name.n);
		at += name.n;
		*at++ = '=';
		if (value.n > 0)
			memmove(at, value.p, value.n);
		at += value.n;
		*at++ = '\0';
	}
	at = NULL;
	idem_buf_put(&r->vars, &at, sizeof at);
	return !rest.bad && idem_buf_err(&r->vars) == IDEM_OK;
}

/* Without memory nothing ran, and FastCGI has a word for that. */
static enum fastcgi_end
refuse(struct request *r)
{
	if (idem_buf_err(&r->params) != IDEM_ENOMEM &&
	    idem_buf_err(&r->vars) != IDEM_ENOMEM)
		return FASTCGI_CUT;
	put_end(r, r->id, OVERLOADED);
	send_out(r);
	return FASTCGI_NO_MEMORY;
}

static enum fastcgi_end
read_head(struct request *r)
{
	while (!r->params_ended && !r->broken &&
	    (!r->begun || r->role == RECORD_RESPONDER))
		step(r);
	if (!r->begun)
		return FASTCGI_NOTHING;
	if (r->role != RECORD_RESPONDER)
		return FASTCGI_ROLE;
	if (r->broken || !make_vars(r))
		return refuse(r);
	talk_pace(r->talk, BODY_PACE_BYTES,
	    BODY_PACE_SILENCES * r->talk->receive_ms);
	return FASTCGI_SERVED;
}

/* --- one request ---------------------------------------------------------- */

/*
 * To close while something was not read may cost the peer the answer.  A peer
 * that is late with it gets no more time, nor one whose body has no end.
 */
static void
linger(struct request *r)
{
	if (r->body_ended || r->broken ||
	    shutdown(r->talk->fd, SHUT_WR) != 0)
		return;
	talk_pace(r->talk, 0, r->talk->receive_ms);
	while (!r->body_ended && !r->broken)
		step(r);
}

/* The end of the answer and of the request go out at once: a web server that
 * has counted the answer's bytes may close before a second write. */
static enum fastcgi_end
finish(struct request *r)
{
	if (r->complained)
		put_record(r, RECORD_STDERR, r->id, IDEM_LIT(""));
	put_record(r, RECORD_STDOUT, r->id, IDEM_LIT(""));
	put_end(r, r->id, REQUEST_COMPLETE);
	send_out(r);
	if (r->deaf)
		return r->talk->patience.left_ms == 0 ? FASTCGI_UNTAKEN :
		    FASTCGI_UNHEARD;
	linger(r);
	return FASTCGI_SERVED;
}

static enum fastcgi_end
serve_request(struct request *r, exchange_fn serve, void *arg)
{
	struct exchange x = { .read = read_stdin, .write = write_stdout,
		.complain = write_stderr, .arg = r, .flush = flush_stdout };
	enum fastcgi_end end = read_head(r);

	if (end != FASTCGI_SERVED)
		return end;
	x.vars = (const char *const *)(const void *)r->vars.p;
	serve(arg, &x);
	return x.broke_off ? FASTCGI_BROKE_OFF : finish(r);
}

enum fastcgi_end
fastcgi_serve(int conn, int receive_ms, exchange_fn serve, void *arg)
{
	struct talk talk;
	struct request r = { .talk = &talk, .stdout_at = NO_STDOUT };
	enum fastcgi_end end;

	talk_open(&talk, conn, receive_ms, FASTCGI_SEND_MS);
	idem_buf_init(&r.params, PARAMS_MAX);
	idem_buf_init(&r.vars, VARS_MAX);
	idem_buf_over(&r.note, r.memory, sizeof r.memory);
	end = serve_request(&r, serve, arg);
	idem_buf_free(&r.params);
	idem_buf_free(&r.vars);
	(void)close(conn);
	return end;
}
