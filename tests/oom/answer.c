/*
 * answer.c - scenarios of what is asked and answered: fingerprints, responses,
 * the heads of applications, problems, answers as a record keeps them.
 */
#include "kit.h"

#include "base/bytes.h"
#include "engine/answer.h"
#include "request/cgi_head.h"

#define MANY 400

static struct idem_buf out, scratch;
static struct idem_response res, from;
static struct idem_request req;
static struct idem_fingerprinter fp;
static struct idem_span canonical;
static unsigned char digest[IDEM_FINGERPRINT_BYTES];
static char hex[2 * sizeof digest];
static char many[MANY * 12 + 3];

static void
make_request(const char *const *vars, struct idem_span body)
{
	idem_buf_init(&out, 1 << 20);
	idem_buf_init(&scratch, 1 << 20);
	must(idem_request_init(&req, vars, &scratch) == IDEM_OK);
	req.body = body;
}

static void
end_request(void)
{
	idem_buf_free(&out);
	idem_buf_free(&scratch);
}

/* --- fingerprints -------------------------------------------------------- */

static void
must_hash(const char *want)
{
	hex_lower(digest, sizeof digest, hex);
	must_be(((struct idem_span){ hex, sizeof hex }), span_of(want));
}

static void
make_json(void)
{
	static const char *const vars[] = { "REQUEST_METHOD=POST",
		"REQUEST_URI=/v?x=1", "CONTENT_TYPE=application/json", NULL };
	size_t n = 1;

	many[0] = '{';
	for (unsigned k = MANY; k-- > 0;) {
		if (text_format(many + n, 13, "\"k%04u\":%u%s", k, k % 10,
		    k > 0 ? "," : "}") == IDEM_OK)
			n += strlen(many + n);
	}
	make_request(vars, (struct idem_span){ many, n });
}

static void
make_fingerprinter(void)
{
	make_json();
	must(idem_fingerprinter_init(&fp, 1 << 16) == IDEM_OK);
}

static void
end_fingerprinter(void)
{
	idem_fingerprinter_free(&fp);
	end_request();
}

static enum idem_err
init_fingerprinter(void)
{
	return idem_fingerprinter_init(&fp, 1 << 16);
}

static enum idem_err
fingerprint(void)
{
	return idem_fingerprint(&fp, &req, digest, &canonical);
}

/* SHA-256 of "POST /v?x=1" LF and the members in their order. */
static void
json_right(void)
{
	must_hash("21655a2d27c5c5444b3edbc74cd9455e9e66202622080769936fe8d5"
	    "ac4a94e3");
	must(canonical.n == 4001);
}

static void
new_right(void)
{
	must(fingerprint() == IDEM_OK);
	json_right();
}

static enum idem_err
fingerprint_json(void)
{
	return idem_fingerprint_json(&fp, req.body, &canonical);
}

static void
canonical_right(void)
{
	must(canonical.n == 4001);
	must_be(span_first(canonical, 12), IDEM_LIT("{\"k0000\":0,\""));
}

static enum idem_err
fingerprint_selected(void)
{
	static const struct idem_selection sel = {
		.ignore = IDEM_LIT_INIT("json:/k0007 json:/k0399") };

	canonical = IDEM_ABSENT;
	return idem_fingerprint_selected(&fp, &req, &sel, digest, &canonical);
}

static void
selected_right(void)
{
	must_hash("83c45f4f0ecc25c5af0e4ce1b17a852a6c320b9f71da44cb0c59a27a"
	    "aae4f4a6");
}

/* --- responses ----------------------------------------------------------- */

#define LONG 3000
static char long_text[LONG + 1];

static void
make_response(void)
{
	idem_response_init(&res, 1 << 20);
	idem_response_init(&from, 1 << 20);
	idem_buf_init(&out, 1 << 20);
	memset(long_text, 'l', LONG);
}

static void
end_response(void)
{
	idem_response_free(&res);
	idem_response_free(&from);
	idem_buf_free(&out);
}

static enum idem_err
build(struct idem_response *r)
{
	idem_response_reset(r);
	r->status = 201;
	idem_response_field(r, IDEM_LIT("Location"), IDEM_LIT("/v/1"));
	idem_response_field(r, IDEM_LIT("Link"), span_of(long_text));
	idem_response_field(r, IDEM_LIT("Set-Cookie"), IDEM_LIT("s=1"));
	idem_buf_puts(&r->body, span_of(long_text));
	idem_buf_puts(&r->body, IDEM_LIT("!"));
	return idem_response_err(r);
}

static enum idem_err
build_response(void)
{
	return build(&res);
}

static void
built_right(void)
{
	must(res.status == 201 && res.body.n == LONG + 1);
	must(res.fields.n == 16 + 6 + LONG + 2 + 17);
	must_be(span_first(idem_buf_span(&res.fields), 24),
	    IDEM_LIT("Location: /v/1\r\nLink: ll"));
}

static enum idem_err
parse_head(void)
{
	static const char head[] = "Status: 404 No\r\nX-A: 1\r\nX-B: 2\r\n"
	    "Content-Length: 12\r\n\r\n";
	struct cgi_head h;
	enum idem_err err = cgi_head_parse(span_of(head), &res, &h);

	must(err != IDEM_OK || (h.has_length && h.length_bytes == 12));
	return err;
}

static void
head_right(void)
{
	must(res.status == 404);
	must_be(idem_buf_span(&res.fields), IDEM_LIT("X-A: 1\r\nX-B: 2\r\n"));
}

/* --- problems ------------------------------------------------------------ */

static const struct idem_problem_note note = {
	.base = IDEM_LIT_INIT("https://x.example/"),
	.instance = IDEM_LIT_INIT("/v?<&>"), .rules = IDEM_LIT_INIT("") };

static enum idem_err
write_document(void)
{
	idem_problem_write(&res, IDEM_P_STORE_FULL,
	    (struct idem_audience){ IDEM_EN, false }, &note);
	return idem_response_err(&res);
}

static void
document_right(void)
{
	must(res.status == 503);
	must_be(span_first(idem_buf_span(&res.body), 56),
	    IDEM_LIT("{\"type\":\"https://x.example/idempotentlik-ombor-tola\""
	    ",\"ti"));
	must(res.body.p[res.body.n - 1] == '}');
}

static enum idem_err
write_page(void)
{
	idem_problem_write(&res, IDEM_P_IN_PROGRESS,
	    (struct idem_audience){ IDEM_UZ, true }, &note);
	return idem_response_err(&res);
}

static void
page_right(void)
{
	must(res.status == 409);
	must_be(span_first(idem_buf_span(&res.body), 32),
	    IDEM_LIT("<!doctype html>\n<html lang=\"uz\">"));
	must(memmem(res.body.p, res.body.n, "</html>", 7) != NULL);
}

static enum idem_err
escape_html(void)
{
	idem_buf_reset(&out);
	for (unsigned i = 0; i < 200; i++)
		idem_html_text(&out, IDEM_LIT("<&'\">"));
	return idem_buf_err(&out);
}

static void
escaped_right(void)
{
	must(out.n == 200 * 24);
	must_be(span_first(idem_buf_span(&out), 24),
	    IDEM_LIT("&lt;&amp;&#39;&quot;&gt;"));
}

/* --- answers as bytes ---------------------------------------------------- */

static size_t kept;

static enum idem_err
encode(void)
{
	static const struct answer_rules rules = {
		.max_body_bytes = 1 << 16 };

	idem_buf_reset(&out);
	return answer_encode(&from, &rules, &out, &kept);
}

static void
make_answer(void)
{
	make_response();
	must(build(&from) == IDEM_OK);
}

static void
make_encoded(void)
{
	make_answer();
	must(encode() == IDEM_OK);
}

static void
encoded_right(void)
{
	const size_t fields = 16 + 6 + LONG + 2;

	must(kept == 2 + 4 + fields + 4 + LONG + 1);
	must(out.n == kept + 4 + 17);
	must_be(span_first(idem_buf_span(&out), 14),
	    IDEM_LIT("\0\xc9\0\0\x0b\xd0" "Location"));
}

static enum idem_err
give_first(void)
{
	return answer_first(idem_buf_span(&out), &res);
}

static void
first_right(void)
{
	built_right();
}

static enum idem_err
give_replay(void)
{
	static const struct answer_reader reader = { .person = false };

	return answer_replay(span_first(idem_buf_span(&out), kept), &reader,
	    &res);
}

static void
replay_right(void)
{
	static const char tail[] = "Idempotency-Replayed: true\r\n";

	must(res.status == 201 && res.body.n == LONG + 1);
	must(memmem(res.fields.p, res.fields.n, tail, sizeof tail - 1) != NULL);
	must(memmem(res.fields.p, res.fields.n, "Set-Cookie", 10) == NULL);
}

static const struct scenario scenarios[] = {
	{ "fingerprint: made ready", make_json, init_fingerprinter, new_right,
	    .end = end_fingerprinter },
	{ "fingerprint: JSON", make_fingerprinter, fingerprint, json_right,
	    .end = end_fingerprinter },
	{ "fingerprint: the canonical form", make_fingerprinter,
	    fingerprint_json, canonical_right, .end = end_fingerprinter },
	{ "fingerprint: less than all", make_fingerprinter,
	    fingerprint_selected, selected_right, .end = end_fingerprinter },
	{ "response: fields and body", make_response, build_response,
	    built_right, .end = end_response },
	{ "head of an application", make_response, parse_head, head_right, .end
	    = end_response },
	{ "problem: a document", make_response, write_document, document_right,
	    .end = end_response },
	{ "problem: a page", make_response, write_page, page_right, .end =
	    end_response },
	{ "problem: text as HTML", make_response, escape_html, escaped_right,
	    .end = end_response },
	{ "answer: encoded", make_answer, encode, encoded_right, .end =
	    end_response },
	{ "answer: the first", make_encoded, give_first, first_right, .end =
	    end_response },
	{ "answer: a replay", make_encoded, give_replay, replay_right, .end =
	    end_response },
};

const struct part part_answer = { scenarios, COUNT(scenarios) };
