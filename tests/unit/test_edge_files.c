/*
 * test_edge_files.c - files, answers of backends and other processes' requests
 * against pages that cannot be touched: each row, and every prefix of it.
 */
#include "tests.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/io.h"
#include "edge.h"
#include "guard/wire.h"
#include "request/cgi_head.h"
#include "settings/routes_file.h"
#include "store/op.h"

static char path[] = "/tmp/idem-edge-XXXXXX";

static int
make_file(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	return fd < 0 ? -1 : close(fd);
}

static int
remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

static void
write_file(struct idem_span text)
{
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(io_write(fd, text.p, text.n), IDEM_OK);
	assert_int_equal(close(fd), 0);
}

static void
hear(void *arg, enum idem_level level, const char *text)
{
	(void)level;
	idem_buf_puts(arg, span_of(text));
}

/* The bytes of the file end where nothing more can be read. */
static void
end_at_edge(struct idem_buf *b, struct idem_span text)
{
	size_t n = sizeof path + text.n;

	write_file(text);
	idem_buf_over(b, edge_room(n), n);
}

static void
say_settings(struct idem_span in, struct idem_buf *said)
{
	const struct idem_log log = { hear, said };
	struct settings s;
	struct idem_buf file;

	settings_init(&s, SETTINGS_GUARD);
	end_at_edge(&file, in);
	idem_buf_printf(said, "%d\n", settings_file(&s, &log, path, &file));
	settings_print(&s, said);
}

/* Of a good file a part that ends with a line is good. */
static bool
lines_hold(const struct edge_case *c)
{
	size_t n = c->prefix.n;

	return c->said_whole.p[0] != '0' || c->said.p[0] == '0' ||
	    (n > 0 && c->prefix.p[n - 1] != '\n');
}

static void
settings_files(void **state)
{
	static const struct edge_grammar g = { "settings", false,
	    say_settings, lines_hold };

	(void)state;
	edge_prefixes(&g, IDEM_LIT("# a comment\n; another\n\n"
	    "IDEM_STORE=/var/lib/x\nIDEM_TTL = 24h \r\n\tIDEM_MAX_BODY=1M\n"
	    "IDEM_SCOPE=\"cookie:a\"\nIDEM_KEEP_HEADERS='X-A, X-B'\n"
	    "IDEM_WHEN=form:a=b|c\\\n query:d\nIDEM_LANG=uz"));
	edge_prefixes(&g, IDEM_LIT("IDEM_TTL=\"1h\nIDEM_X=1\n"));
	edge_prefixes(&g, IDEM_LIT("IDEM_PAY_LEDGER=\"a\\\"b\\\\c\" \n\xff="));
	edge_prefixes(&g, IDEM_LIT("IDEM_TTL=1h\0\nIDEM_LANG=en\n"));
}

static void
say_routes(struct idem_span in, struct idem_buf *said)
{
	const struct idem_log log = { hear, said };
	const struct route *found;
	struct settings base;
	struct routes r;

	settings_init(&base, SETTINGS_GUARD);
	routes_init(&r);
	end_at_edge(&r.text, in);
	idem_buf_printf(said, "%d\n", routes_read(&r, &base, &log, path,
	    false));
	found = routes_find(&r, IDEM_LIT("POST"), IDEM_LIT("/shop/a"));
	if (found != NULL)
		settings_print(&found->settings, said);
	idem_buf_free(&r.list);
}

static void
routes_files(void **state)
{
	static const struct edge_grammar g = { "routes", false, say_routes,
	    lines_hold };

	(void)state;
	edge_prefixes(&g, IDEM_LIT("# c\n\nPOST /pay\n  IDEM_TTL=1h\n\t# in\n"
	    "\n\tIDEM_KEEP_HEADERS = X-A, X-B \r\nPOST,PUT /shop/*\n"
	    "    IDEM_KEY_FROM=form:a+form:b json:/c\n    IDEM_KEEP=3xx\n"
	    "* /any*\n    IDEM_WHEN=form:x=1|2\nGET /*"));
	edge_prefixes(&g, IDEM_LIT("  IDEM_TTL=1h\nPOST\nPOST x\nPOST /y z"));
}

/* --- answers ---------------------------------------------------------------*/

static void
say_head(struct idem_span in, struct idem_buf *said)
{
	struct idem_response res;
	struct cgi_head head = { .has_length = false };
	size_t from = 0;
	enum idem_err err;

	idem_response_init(&res, 4096);
	idem_buf_printf(said, "%zu\n", cgi_head_end(in, &from));
	err = cgi_head_parse(in, &res, &head);
	idem_buf_printf(said, "%d ", err);
	if (err == IDEM_OK)
		idem_buf_printf(said, "%u %d %llu ", res.status,
		    head.has_length, (unsigned long long)head.length_bytes);
	idem_buf_puts(said, idem_buf_span(&res.fields));
	idem_response_free(&res);
}

/* Where a head ends does not depend on what follows. */
static bool
head_holds(const struct edge_case *c)
{
	struct idem_span mine = span_first(c->said, span_find(c->said, '\n'));
	struct idem_span end = span_first(c->said_whole,
	    span_find(c->said_whole, '\n'));

	return span_eq(mine, IDEM_LIT("0")) || span_eq(mine, end);
}

static void
heads(void **state)
{
	static const struct edge_grammar g = { "head", false, say_head,
	    head_holds };
	static const char *const rows[] = {
		"Status: 201 Created\r\nX-A:b\r\nX-A:  c \t\r\n\r\nbody\n\n",
		"HTTP/1.1 404 Not Found\nContent-Length: 12\n\nx",
		"Location: /a\r\nConnection: close\r\n\r\n", "\n", "\r\n\r\n",
		"Content-Length: 18446744073709551616\n\n", "X: y\n z\n\n",
		"Content-Type: text/html\n\r\n<p>", "hello world", ":\n\n",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		edge_prefixes(&g, span_of(rows[i]));
}

/* STDOUT, then STDERR, then how it ended. */
static void
listen_to(struct wire *w, struct idem_span bytes, struct idem_buf *out,
    struct idem_buf *err, int *ended)
{
	struct idem_span piece;
	enum wire_event event = WIRE_MORE;

	while (*ended == 0 &&
	    (event = wire_next(w, &bytes, &piece)) != WIRE_MORE) {
		if (event == WIRE_OUT)
			idem_buf_puts(out, piece);
		else if (event == WIRE_ERR)
			idem_buf_puts(err, piece);
		else
			*ended = event == WIRE_BAD ? '!' : 'E';
	}
}

static void
say_wire(struct idem_span in, struct idem_buf *said)
{
	struct wire w = { .nend = 0 };
	struct idem_buf err;
	int ended = 0;

	idem_buf_init(&err, 4096);
	listen_to(&w, in, said, &err, &ended);
	idem_buf_puts(said, idem_buf_span(&err));
	idem_buf_printf(said, "%d", ended);
	idem_buf_free(&err);
}

/* Read in two pieces it is the same. */
static bool
wire_holds(const struct edge_case *c)
{
	struct wire w = { .nend = 0 };
	struct idem_span rest = span_from(c->whole, c->prefix.n);
	struct idem_buf out, err;
	int ended = 0;
	bool same;

	idem_buf_init(&out, 4096);
	idem_buf_init(&err, 4096);
	listen_to(&w, c->prefix, &out, &err, &ended);
	listen_to(&w, rest, &out, &err, &ended);
	idem_buf_puts(&out, idem_buf_span(&err));
	idem_buf_printf(&out, "%d", ended);
	same = span_eq(idem_buf_span(&out), c->said_whole);
	idem_buf_free(&out);
	idem_buf_free(&err);
	return same;
}

static void
wires(void **state)
{
	static const struct edge_grammar g = { "wire", false, say_wire,
	    wire_holds };

	(void)state;
#define END "\1\3\0\1\0\10\0\0" "\0\0\0\7\0\0\0\0"
	edge_prefixes(&g, IDEM_LIT("\1\6\0\1\0\2\3\0hiPAD" "\1\7\0\1\0\1\0\0w"
	    "\1\6\0\1\0\1\0\0x" "\1\6\0\1\0\0\0\0" END));
	edge_prefixes(&g, IDEM_LIT("\1\6\0\2\0\1\0\0x" "\1\12\0\0\0\1\7\0x"
	    "PADDING" "\1\13\0\1\0\1\0\0x" END));
	edge_prefixes(&g, IDEM_LIT("\1\3\0\1\0\7\0\0" "\0\0\0\0\0\0\0"));
	edge_prefixes(&g, IDEM_LIT("\2\6\0\1\0\2\0\0hi"));
}

/* --- what another process asks for -----------------------------------------*/

static void
say_op(struct idem_span in, struct idem_buf *said)
{
	struct idem_op op;
	size_t room = 0;
	enum idem_err err = op_decode(in, &op, &room);

	idem_buf_printf(said, "%d %d ", err, op_is_for(in, 7));
	if (err == IDEM_OK)
		idem_buf_puts(said, op.input);
}

static void
say_outcome(struct idem_span in, struct idem_buf *said)
{
	struct idem_buf answer;
	struct idem_op op = { .answer = &answer };
	enum idem_err failure = IDEM_OK;

	idem_buf_init(&answer, 4096);
	idem_buf_printf(said, "%d ", op_decode_outcome(in, &op, &failure));
	idem_buf_printf(said, "%d %d ", op.verdict, failure);
	idem_buf_puts(said, idem_buf_span(&answer));
	idem_buf_free(&answer);
}

/* Nothing that was cut short is taken for whole. */
static bool
only_whole(const struct edge_case *c)
{
	return (c->said.p[0] == '0') == (c->prefix.n == c->whole.n);
}

static void
operations(void **state)
{
	static const struct edge_grammar request = { "operation", false,
	    say_op, only_whole };
	static const struct edge_grammar outcome = { "outcome", false,
	    say_outcome, only_whole };
	struct idem_buf b, answer;
	struct idem_op op = { .kind = IDEM_OP_ONCE, .apply = 3, .recipe = 1,
		.ttl_ms = 5, .input = IDEM_LIT_INIT("in\0put"),
		.kept_bytes = 6, .answer = &answer };

	(void)state;
	idem_buf_init(&b, 4096);
	idem_buf_init(&answer, 4096);
	op_encode(&op, 7, &b);
	edge_prefixes(&request, idem_buf_span(&b));
	idem_buf_reset(&b);
	idem_buf_puts(&answer, IDEM_LIT("the answer"));
	op.verdict = IDEM_REPLAY;
	op_encode_outcome(&op, IDEM_OK, &b);
	edge_prefixes(&outcome, idem_buf_span(&b));
	idem_buf_free(&b);
	idem_buf_free(&answer);
	assert_in_range(edge_count(), 1000, 1000000);
	print_message("%lu prefixes\n", edge_count());
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(settings_files),
		cmocka_unit_test(routes_files),
		cmocka_unit_test(heads),
		cmocka_unit_test(wires),
		cmocka_unit_test(operations),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
