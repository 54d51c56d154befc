/*
 * json_string.c - JSON strings, copied in chunks; UTF-8 and \u escapes are
 * looked at elsewhere.
 */
#include "request/json_scan.h"
#include "request/json_utf8.h"

/* Copy what is left of the text; the zeros behind it end a run. */
static struct json_chunk
last_chunk(const struct json_scan *s, struct json_pos at)
{
	memset(at.o, 0, JSON_CHUNK);
	memcpy(at.o, at.p, (size_t)(s->end - at.p));
	return json_chunk_at(at.o);
}

/* Copy up to the next quote, backslash or control, or the end of the text. */
static inline struct json_pos
copy_run(struct json_scan *s, struct json_pos at)
{
	const unsigned char *from = at.p;
	uint64_t state = JSON_UTF8_START;
	struct json_chunk c;

	do {
		if (s->end - at.p >= JSON_CHUNK) {
			c = json_chunk_at(at.p);
			memcpy(at.o, at.p, JSON_CHUNK);
		} else
			c = last_chunk(s, at);
		if (c.beyond || state != JSON_UTF8_START)
			state = json_utf8_chunk(state, at.o, c.n);
		at.p += c.n;
		at.o += c.n;
	} while (c.n == JSON_CHUNK);
	if (state == JSON_UTF8_START)
		return at;
	return json_fail(s, IDEM_ESYNTAX,
	    from + json_utf8_broken(from, (size_t)(at.p - from)));
}

/* Those that stand as they are, and \/, which loses its backslash. */
static inline struct json_pos
simple_escape(struct json_scan *s, struct json_pos at)
{
	unsigned c = json_peek(s, at.p + 1);

	switch (c) {
	case '"': case '\\': case '/': case 'b': case 'f': case 'n': case 'r':
	case 't':
		*at.o = '\\';
		at.o += c != '/';
		*at.o++ = (unsigned char)c;
		at.p += 2;
		return at;
	}
	return json_fail(s, IDEM_ESYNTAX, at.p + 1);
}

struct json_pos
json_string_rest(struct json_scan *s, struct json_pos at)
{
	for (;;) {
		at = copy_run(s, at);
		if (at.p == NULL)
			return at;
		if (json_peek(s, at.p) != '\\')
			break;
		at = json_peek(s, at.p + 1) == 'u' ?
		    json_unicode_escape(s, at) : simple_escape(s, at);
		if (at.p == NULL)
			return at;
	}
	if (json_peek(s, at.p) != '"')
		return json_fail(s, IDEM_ESYNTAX, at.p);
	*at.o++ = *at.p++;
	return at;
}
