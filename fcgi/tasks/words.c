/*
 * words.c - Unicode text by the tables of libunistring: the only file that
 * knows it.
 */
#include "tasks/words.h"

#include <unictype.h>

#include "base/text.h"

enum kind { KIND_OTHER, KIND_LETTER, KIND_DIGIT, KIND_APOSTROPHE };

/* Two of the apostrophes are letters by their category (Lm): asked first. */
static enum kind
kind_of(uint32_t cp)
{
	if (cp == '\'' || cp == 0x2BB || cp == 0x2BC)
		return KIND_APOSTROPHE;
	if (cp == '_' ||
	    uc_is_general_category_withtable(cp, UC_CATEGORY_MASK_Nd))
		return KIND_DIGIT;
	if (uc_is_general_category_withtable(cp, UC_CATEGORY_MASK_L))
		return KIND_LETTER;
	return KIND_OTHER;
}

/* The kind of the code point at the front; its length in bytes in *n. */
static enum kind
front_kind(struct idem_span s, size_t *n)
{
	uint32_t cp;

	if (s.n == 0 || (*n = utf8_decode(s, &cp)) == 0)
		return KIND_OTHER;
	return kind_of(cp);
}

/* Length of the code point that ends s, which is not empty. */
static size_t
last_length(struct idem_span s)
{
	size_t n = 1;

	while (n < s.n && n < 4 && ((unsigned char)s.p[s.n - n] & 0xC0) == 0x80)
		n++;
	return n;
}

static bool
is_space(struct idem_span s)
{
	uint32_t cp;

	return utf8_decode(s, &cp) != 0 && uc_is_property_white_space(cp);
}

struct idem_span
words_trim(struct idem_span s)
{
	uint32_t cp;
	size_t n;

	while (s.n > 0 && is_space(s))
		s = span_from(s, utf8_decode(s, &cp));
	while (s.n > 0) {
		n = last_length(s);
		if (!is_space(span_from(s, s.n - n)))
			break;
		s = span_first(s, s.n - n);
	}
	return s;
}

size_t
words_count(struct idem_span s)
{
	size_t count = 0, n;
	uint32_t cp;

	while (s.n > 0 && (n = utf8_decode(s, &cp)) != 0) {
		s = span_from(s, n);
		count++;
	}
	return count;
}

size_t
words_length(struct idem_span s)
{
	enum kind kind, before = KIND_OTHER;
	size_t at = 0, n, unused;

	while ((kind = front_kind(span_from(s, at), &n)) != KIND_OTHER) {
		if (kind == KIND_APOSTROPHE && (before != KIND_LETTER ||
		    front_kind(span_from(s, at + n), &unused) != KIND_LETTER))
			break;
		before = kind;
		at += n;
	}
	return at;
}

static bool
is_listed(const struct idem_span *tags, size_t ntags, struct idem_span tag)
{
	size_t i;

	for (i = 0; i < ntags; i++)
		if (span_eq(tags[i], tag))
			return true;
	return false;
}

size_t
words_tags(struct idem_span s, struct idem_span tags[WORDS_TAGS_MAX])
{
	struct idem_span tag;
	size_t ntags = 0, at;

	while (ntags < WORDS_TAGS_MAX && (at = span_find(s, '#')) < s.n) {
		s = span_from(s, at + 1);
		tag = span_first(s, words_length(s));
		s = span_from(s, tag.n);
		if (tag.n > 0 && !is_listed(tags, ntags, tag))
			tags[ntags++] = tag;
	}
	return ntags;
}
