/*
 * key_place.c - keys taken from where IDEM_KEY_FROM says.  Does not know what
 * becomes of a request without one.
 */
#include "base/bytes.h"
#include "base/text.h"
#include "request/key_place.h"

static bool
good_word(struct idem_span word)
{
	struct idem_span part;
	struct source s;

	while (span_next(&word, '+', &part))
		if (source_parse(part, SOURCES_ALL, &s) != IDEM_OK)
			return false;
	return true;
}

bool
key_place_is_good(struct idem_span key_from)
{
	struct idem_span word;
	size_t n = 0;

	for (; source_word(&key_from, &word); n++)
		if (!good_word(word))
			return false;
	return n > 0;
}

bool
key_place_is_promise(struct idem_span word)
{
	struct source s;

	while (source_next(&word, '+', &s))
		if (s.kind != SOURCE_HEADER)
			return false;
	return true;
}

bool
key_place_fits(struct idem_span word, unsigned kinds,
    const struct idem_request *req)
{
	struct source s;

	while (source_next(&word, '+', &s))
		if ((SOURCE_BIT(s.kind) & kinds) != 0 &&
		    source_fits(s.kind, req))
			return true;
	return false;
}

/* The usual field is looked up before any setting is asked. */
static enum source_found
find_header(const struct source *s, const struct idem_request *req,
    struct spelled *value)
{
	if (!span_eq_nocase(s->name, IDEM_LIT("Idempotency-Key")))
		return source_find(s, req, IDEM_ABSENT, value);
	*value = (struct spelled){ req->var[IDEM_VAR_KEY], SPELLED_PLAIN };
	if (value->s.p == NULL)
		return SOURCE_ABSENT;
	return (req->twice >> IDEM_VAR_KEY & 1) != 0 ? SOURCE_TWICE :
	    SOURCE_ONCE;
}

enum key_place_found
key_place_promise(struct idem_span word, const struct idem_request *req,
    struct idem_buf *parts)
{
	bool good = true;
	struct spelled value;
	struct idem_key key;
	struct source s;

	idem_buf_reset(parts);
	while (source_next(&word, '+', &s)) {
		enum source_found found = find_header(&s, req, &value);

		if (found == SOURCE_ABSENT)
			return KEY_PLACE_ABSENT;
		good = good && found == SOURCE_ONCE &&
		    idem_key_parse(value.s, &key) == IDEM_OK;
		if (good)
			wr_run(parts, (struct idem_span){ key.b, key.n });
	}
	return good ? KEY_PLACE_FOUND : KEY_PLACE_UNUSABLE;
}

/* Append the value behind its length, which is known only afterwards. */
static bool
put_part(struct spelled value, struct idem_buf *parts)
{
	struct spelled counted = value;
	size_t n = 0;

	while (n <= KEY_PART_MAX && spelled_next(&counted) >= 0)
		n++;
	if (n == 0 || n > KEY_PART_MAX)
		return false;
	wr_u32(parts, (uint32_t)n);
	spelled_put(value, parts);
	return true;
}

enum key_place_found
key_place_value(struct idem_span word, const struct idem_request *req,
    struct idem_span canonical, struct idem_buf *parts)
{
	bool good = true;
	struct spelled value;
	struct source s;

	idem_buf_reset(parts);
	while (source_next(&word, '+', &s)) {
		enum source_found found = source_find(&s, req, canonical,
		    &value);

		if (found == SOURCE_ABSENT)
			return KEY_PLACE_ABSENT;
		good = good && found == SOURCE_ONCE && put_part(value, parts);
	}
	return good ? KEY_PLACE_FOUND : KEY_PLACE_UNUSABLE;
}
