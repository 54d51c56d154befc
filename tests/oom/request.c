/*
 * request.c - scenarios of the lowest layers: buffers, the canonical form,
 * requests, keys.
 */
#include "kit.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/io.h"
#include "base/sha256.h"
#include "request/key_place.h"
#include "request/pointer.h"

static struct idem_buf out, spare;
static struct idem_request req;
static struct idem_json_work work;
static unsigned char digest[IDEM_FINGERPRINT_BYTES];
static char hex[2 * sizeof digest + 1];

static void
make_out(void)
{
	idem_buf_init(&out, 1 << 20);
	idem_buf_init(&spare, 1 << 20);
}

static void
end_out(void)
{
	idem_buf_free(&out);
	idem_buf_free(&spare);
}

/* --- buffers ------------------------------------------------------------- */

static enum idem_err
fill_buffer(void)
{
	idem_buf_reset(&out);
	for (unsigned i = 0; i < 200; i++)
		idem_buf_printf(&out, "%03u,", i);
	idem_buf_putc(&out, ';');
	idem_buf_decimal(&out, 18446744073709551615u);
	return idem_buf_err(&out);
}

static void
buffer_right(void)
{
	must(out.n == 821);
	must_be(span_first(idem_buf_span(&out), 12),
	    IDEM_LIT("000,001,002,"));
	must_be(span_from(idem_buf_span(&out), 796),
	    IDEM_LIT("199,;18446744073709551615"));
}

/* What was there before the failure is still there. */
static enum idem_err
ask_for_room(void)
{
	char *room;

	idem_buf_reset(&out);
	idem_buf_puts(&out, IDEM_LIT("kept"));
	if ((room = idem_buf_room(&out, 70000)) == NULL)
		return idem_buf_err(&out);
	memset(room, 'r', 70000);
	idem_buf_grew(&out, 70000);
	return IDEM_OK;
}

static void
room_right(void)
{
	must(out.n == 70004);
	must_be(span_first(idem_buf_span(&out), 6), IDEM_LIT("keptrr"));
}

static void
room_unharmed(void)
{
	must(out.n == 0 || out.n == 4);
	must(out.n == 0 || memcmp(out.p, "kept", 4) == 0);
}

static enum idem_err
read_file(void)
{
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	enum idem_err err;

	idem_buf_reset(&out);
	err = io_read_all(fd, &out);
	(void)close(fd);
	return err;
}

static void
file_right(void)
{
	must(out.n > 0);
}

/* --- SHA-256 ------------------------------------------------------------- */

static struct sha256 *hash;

static enum idem_err
create_hash(void)
{
	return sha256_create(&hash);
}

static void
hash_right(void)
{
	sha256_start(hash);
	sha256_update(hash, IDEM_LIT("abc"));
	must(sha256_finish(hash, digest) == IDEM_OK);
	hex_lower(digest, sizeof digest, hex);
	must_be(((struct idem_span){ hex, 64 }), IDEM_LIT("ba7816bf8f01cfea"
	    "414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
}

static void
destroy_hash(void)
{
	sha256_destroy(&hash);
}

/* --- the canonical form -------------------------------------------------- */

/* More members than fit the scanner's first memory, the last names first. */
#define MANY 400
static char many[MANY * 12 + 3], many_sorted[MANY * 12 + 3];

static void
write_many(char *p, bool sorted)
{
	size_t n = 0;

	p[n++] = '{';
	for (unsigned i = 0; i < MANY; i++) {
		unsigned k = sorted ? i : MANY - 1 - i;

		if (text_format(p + n, 13, "%s\"k%04u\":%d", i > 0 ? "," : "",
		    k, (int)(k % 10)) == IDEM_OK)
			n += strlen(p + n);
	}
	p[n++] = '}';
	p[n] = '\0';
}

static void
make_json(void)
{
	make_out();
	write_many(many, false);
	write_many(many_sorted, true);
	idem_json_work_init(&work);
}

static void
end_json(void)
{
	idem_json_work_free(&work);
	end_out();
}

static enum idem_err
canonical_many(void)
{
	if (idem_buf_err(&out) != IDEM_OK)
		idem_buf_reset(&out);
	idem_buf_cut(&out, 0);
	return idem_json_canonical(&work, span_of(many), &out, NULL);
}

static void
many_right(void)
{
	must_be(idem_buf_span(&out), span_of(many_sorted));
}

static enum idem_err
canonical_nested(void)
{
	idem_buf_reset(&out);
	return idem_json_canonical(&work, IDEM_LIT(
	    " {\"b\":[1e2,{\"\\u0062\":\"\\u00fc\",\"a\":1.50}],"
	    "\"a\" : 12345678901234567890.0e1 } "), &out, NULL);
}

static void
nested_right(void)
{
	must_be(idem_buf_span(&out), IDEM_LIT("{\"a\":123456789012345678900,"
	    "\"b\":[100,{\"a\":1.5,\"b\":\"\303\274\"}]}"));
}

static enum idem_err
canonical_string(void)
{
	idem_buf_reset(&out);
	idem_json_string(&out, span_of(many));
	return idem_buf_err(&out);
}

static void
string_right(void)
{
	must(out.n == strlen(many) + 2 + 2 * MANY);
	must_be(span_first(idem_buf_span(&out), 14),
	    IDEM_LIT("\"{\\\"k0399\\\":9,"));
}

/* A text that is no JSON is refused whatever memory there is, but never for
 * another reason and never taken. */
static enum idem_err
refuse_bad(void)
{
	size_t at_byte = 0;
	enum idem_err err;

	idem_buf_reset(&out);
	many[strlen(many) - 1] = ',';
	err = idem_json_canonical(&work, span_of(many), &out, &at_byte);
	if (err == IDEM_ESYNTAX && at_byte == strlen(many) && out.n == 0)
		return IDEM_OK;
	return err == IDEM_OK || err == IDEM_ESYNTAX ? IDEM_ESTORE : err;
}

static void
bad_right(void)
{
	must(out.n == 0);
}

/* --- requests ------------------------------------------------------------ */

static const char *const no_uri[] = { "REQUEST_METHOD=POST",
	"SCRIPT_NAME=/cgi-bin/tasks.fcgi", "PATH_INFO=/a%20b",
	"QUERY_STRING=c=d", NULL };

static enum idem_err
init_request(void)
{
	return idem_request_init(&req, no_uri, &out);
}

static void
request_right(void)
{
	must_be(req.target, IDEM_LIT("/cgi-bin/tasks.fcgi/a%20b?c=d"));
}

static enum idem_err
request_path(void)
{
	req = (struct idem_request){ .target = IDEM_LIT(
	    "/api/vazifalar/%31?x") };
	return idem_request_path(&req, IDEM_LIT("/api"), &out);
}

static void
path_right(void)
{
	must_be(idem_buf_span(&out), IDEM_LIT("/vazifalar/1"));
}

/* --- keys ---------------------------------------------------------------- */

static const char *const keyed[] = { "REQUEST_METHOD=POST",
	"REQUEST_URI=/p?a=%41b", "HTTP_X_KEY=\"k-1\"",
	"CONTENT_TYPE=application/json", NULL };
static char long_value[2000];

static void
make_keyed(void)
{
	make_out();
	memset(long_value, 'v', sizeof long_value);
	memcpy(long_value, "{\"id\":\"", 7);
	memcpy(long_value + sizeof long_value - 2, "\"}", 2);
	must(idem_request_init(&req, keyed, &spare) == IDEM_OK);
}

static enum idem_err
read_promise(void)
{
	enum key_place_found found = key_place_promise(
	    IDEM_LIT("header:X-Key"), &req, &out);

	must(idem_buf_err(&out) != IDEM_OK || found == KEY_PLACE_FOUND);
	return idem_buf_err(&out);
}

static void
promise_right(void)
{
	must_be(idem_buf_span(&out), IDEM_LIT("\0\0\0\3k-1"));
}

static enum idem_err
read_value(void)
{
	enum key_place_found found = key_place_value(
	    IDEM_LIT("query:a+json:/id"), &req,
	    (struct idem_span){ long_value, sizeof long_value }, &out);

	must(idem_buf_err(&out) != IDEM_OK || found == KEY_PLACE_FOUND);
	return idem_buf_err(&out);
}

static void
value_right(void)
{
	must(out.n == 4 + 2 + 4 + sizeof long_value - 9);
	must_be(span_first(idem_buf_span(&out), 12),
	    IDEM_LIT("\0\0\0\2Ab\0\0\7\307vv"));
}

static enum idem_err
cut_pointer(void)
{
	struct pointer_value value;

	idem_buf_reset(&out);
	must(pointer_find(span_of(many_sorted), IDEM_LIT("/k0001"), &value));
	pointer_cut(span_of(many_sorted), &value, &out);
	return idem_buf_err(&out);
}

static void
cut_right(void)
{
	must(out.n == strlen(many_sorted) - strlen("\"k0001\":1,"));
	must_be(span_first(idem_buf_span(&out), 21),
	    IDEM_LIT("{\"k0000\":0,\"k0002\":2,"));
}

static enum idem_err
put_spelled(void)
{
	idem_buf_reset(&out);
	for (unsigned i = 0; i < 200; i++)
		spelled_put((struct spelled){ IDEM_LIT("%41+b"),
		    SPELLED_FORM }, &out);
	return idem_buf_err(&out);
}

static void
spelled_right(void)
{
	must(out.n == 600);
	must_be(span_first(idem_buf_span(&out), 6), IDEM_LIT("A bA b"));
}

static const struct scenario scenarios[] = {
	{ "buffer: append", make_out, fill_buffer, buffer_right, .end = end_out
	    },
	{ "buffer: room", make_out, ask_for_room, room_right, .end = end_out,
	    .unharmed = room_unharmed },
	{ "buffer: a file", make_out, read_file, file_right, .end = end_out },
	{ "SHA-256", NULL, create_hash, hash_right, .end = destroy_hash },
	{ "canonical JSON: many members", make_json, canonical_many,
	    many_right, .end = end_json },
	{ "canonical JSON: nested", make_json, canonical_nested, nested_right,
	    .end = end_json },
	{ "canonical JSON: a string", make_json, canonical_string,
	    string_right, .end = end_json },
	{ "canonical JSON: what is none", make_json, refuse_bad, bad_right,
	    .end = end_json },
	{ "request: a target from its parts", make_out, init_request,
	    request_right, .end = end_out },
	{ "request: its path", make_out, request_path, path_right, .end =
	    end_out },
	{ "key: a promise", make_keyed, read_promise, promise_right, .end =
	    end_out },
	{ "key: a value of the body", make_keyed, read_value, value_right, .end
	    = end_out },
	{ "pointer: a value cut out", make_json, cut_pointer, cut_right, .end =
	    end_json },
	{ "spelling: a form's", make_out, put_spelled, spelled_right, .end =
	    end_out },
};

const struct part part_request = { scenarios, COUNT(scenarios) };
