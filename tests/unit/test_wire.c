/*
 * test_wire.c - FastCGI records byte for byte, whole and cut at every place.
 */
#include "tests.h"

#include "guard/wire.h"

#define BYTES(s) ((struct idem_span){ s, sizeof(s) - 1 })

static void
writes_a_request(void **state)
{
	static const char *const vars[] = { "A=bc", "no-equals", "D=", NULL };
	static const char want[] =
	    "\1\1\0\1\0\10\0\0" "\0\1\0\0\0\0\0\0"
	    "\1\4\0\1\0\10\0\0" "\1\2Abc\1\0D"
	    "\1\4\0\1\0\0\0\0"
	    "\1\5\0\1\0\2\0\0" "hi"
	    "\1\5\0\1\0\0\0\0";
	struct idem_buf out;

	(void)state;
	idem_buf_init(&out, 1000);
	wire_put_begin(&out, vars);
	wire_put_body(&out, IDEM_LIT("hi"));
	wire_put_body(&out, IDEM_LIT(""));
	assert_int_equal(idem_buf_err(&out), IDEM_OK);
	assert_span(idem_buf_span(&out), BYTES(want));
	idem_buf_free(&out);
}

/* 127 is the last length of one byte, 65,535 the last of one record. */
static void
writes_long_variables(void **state)
{
	static char var[70000];
	const char *const vars[] = { var, NULL };
	struct idem_buf out;

	(void)state;
	idem_buf_init(&out, 100000);
	memset(var, 'v', sizeof var - 1);
	memcpy(var, "AB=", 3);
	var[3 + 127] = '\0';
	wire_put_begin(&out, vars);
	assert_int_equal(out.n, 16 + 8 + 2 + 2 + 127 + 8);
	assert_memory_equal(out.p + 16 + 8, "\2\177ABv", 5);
	idem_buf_reset(&out);
	var[3 + 127] = 'v';
	var[3 + 128] = '\0';
	wire_put_begin(&out, vars);
	assert_int_equal(out.n, 16 + 8 + 5 + 2 + 128 + 8);
	assert_memory_equal(out.p + 16 + 8, "\2\x80\0\0\x80" "ABv", 8);
	idem_buf_reset(&out);
	var[3 + 128] = 'v';
	wire_put_begin(&out, vars);
	assert_int_equal(out.n, 16 + 8 + 65535 + 8 + 4468 + 8);
	assert_memory_equal(out.p + 16, "\1\4\0\1\xff\xff\0\0", 8);
	assert_memory_equal(out.p + 16 + 8 + 65535,
	    "\1\4\0\1\x11\x74\0\0", 8);
	idem_buf_free(&out);
}

/* What an answer says: "out:" or "err:" with the bytes, "end" with the
 * protocol's status, "bad". */
static void
listen_to(struct wire *w, struct idem_span bytes, struct idem_buf *said)
{
	struct idem_span piece;

	for (;;) {
		switch (wire_next(w, &bytes, &piece)) {
		case WIRE_MORE:
			return;
		case WIRE_OUT:
			idem_buf_puts(said, IDEM_LIT("o"));
			idem_buf_puts(said, piece);
			break;
		case WIRE_ERR:
			idem_buf_puts(said, IDEM_LIT("e"));
			idem_buf_puts(said, piece);
			break;
		case WIRE_END:
			idem_buf_printf(said, "[%u]", w->protocol_status);
			return;
		case WIRE_BAD:
			idem_buf_puts(said, IDEM_LIT("!"));
			return;
		}
	}
}

#define END(status) "\1\3\0\1\0\10\0\0" "\0\0\0\0" status "\0\0\0"

static const struct {
	struct idem_span bytes;
	const char *said, *said_bytewise;
} answers[] = {
	{ IDEM_LIT_INIT("\1\6\0\1\0\2\0\0hi" "\1\6\0\1\0\0\0\0" END("\0")),
	  "ohi[0]", "ohoi[0]" },
	{ IDEM_LIT_INIT("\1\6\0\1\0\1\7\0hPADDING" "\1\7\0\1\0\1\0\0w"
	  END("\2")), "ohew[2]", "ohew[2]" },
	{ IDEM_LIT_INIT(END("\1")), "[1]", "[1]" },
	/* of another request, of management, of an unknown type */
	{ IDEM_LIT_INIT("\1\6\0\2\0\1\0\0x" "\1\12\0\0\0\1\0\0x"
	  "\1\13\0\1\0\1\0\0x" "\1\6\1\1\0\1\0\0x" END("\0")), "[0]", "[0]" },
	{ IDEM_LIT_INIT("\1\3\0\1\0\7\0\0" "\0\0\0\0\0\0\0"), "!", "!" },
	{ IDEM_LIT_INIT("\1\3\0\1\0\11\0\0" "\0\0\0\0\0\0\0\0\0"), "!", "!" },
	{ IDEM_LIT_INIT("\2\6\0\1\0\2\0\0hi"), "!", "!" },
	{ IDEM_LIT_INIT("HTTP/1.1 400 Bad"), "!", "!" },
	{ IDEM_LIT_INIT("\1\6\0\1\0\2\0\0hi" "X"), "ohi!", "ohoi!" },
};

static void
reads_answers(void **state)
{
	struct idem_buf said;

	(void)state;
	idem_buf_init(&said, 1000);
	for (size_t i = 0; i < COUNT(answers); i++) {
		struct wire whole = { .nend = 0 }, bytewise = { .nend = 0 };
		struct idem_span bytes = answers[i].bytes;

		print_message("row %zu\n", i);
		idem_buf_reset(&said);
		listen_to(&whole, bytes, &said);
		assert_text(idem_buf_span(&said), answers[i].said);
		idem_buf_reset(&said);
		for (size_t at = 0; at < bytes.n && (said.n == 0 ||
		    said.p[said.n - 1] != '!'); at++) {
			char *block;
			struct idem_span one = exact_copy(span_first(
			    span_from(bytes, at), 1), &block);

			listen_to(&bytewise, one, &said);
			free(block);
		}
		assert_text(idem_buf_span(&said), answers[i].said_bytewise);
	}
	idem_buf_free(&said);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_a_request),
		cmocka_unit_test(writes_long_variables),
		cmocka_unit_test(reads_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
