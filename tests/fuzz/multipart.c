/*
 * multipart.c - multipart/form-data against a reader that cuts the body at its
 * boundaries first and looks at the pieces afterwards.
 *
 * Input: the line of the Content-Type, then the body.
 */
#include "base/sha256.h"
#include "kit.h"
#include "request/form.h"
#include "slow.h"

/* name is as it is written between quotes. */
static void
field_is_found(struct idem_span content_type, struct idem_span body,
    const struct multipart_part *parts, size_t n, struct idem_span name)
{
	struct spelled value, wanted = { name, SPELLED_QUOTED };
	enum form_found want = FORM_ABSENT, got;
	struct idem_span first = IDEM_ABSENT;

	for (size_t i = n; i-- > 0;)
		if (parts[i].filename.p == NULL &&
		    span_eq(parts[i].name, name)) {
			want = want == FORM_ABSENT ? FORM_ONCE : FORM_TWICE;
			first = parts[i].content;
		}
	got = form_find_part(content_type, body, wanted, &value);
	must(got == want);
	if (got != FORM_ABSENT) {
		must(value.by == SPELLED_PLAIN);
		must(span_eq(value.s, first));
	}
}

static void
hash_is_of(struct idem_span content_type, struct idem_span body,
    const struct multipart_part *parts, size_t n)
{
	struct kit_dice dice = kit_dice_of(body);
	struct idem_buf *text = kit_buf();
	unsigned char got[SHA256_BYTES], want[SHA256_BYTES];
	struct sha256 *h;

	for (size_t i = 0; i < n; i++) {
		slow_netstring(slow_unescaped(parts[i].name), text);
		slow_netstring(slow_unescaped(parts[i].filename), text);
		slow_netstring(parts[i].type, text);
		slow_netstring(parts[i].content, text);
	}
	kit_hash(&dice, idem_buf_span(text), want);
	must(sha256_create(&h) == IDEM_OK);
	sha256_start(h);
	must(multipart_hash(content_type, body, NULL, NULL, h) == IDEM_OK);
	must(sha256_finish(h, got) == IDEM_OK);
	sha256_destroy(&h);
	must(memcmp(got, want, sizeof want) == 0);
}

void
fuzz_multipart(struct idem_span input)
{
	static struct multipart_part parts[SLOW_PARTS_MAX];
	struct idem_span content_type = kit_line(&input);
	struct idem_span body = kit_copy(input);
	struct multipart_part part;
	struct multipart m;
	size_t n;

	content_type = kit_copy(span_first(content_type,
	    span_find(content_type, '\0')));
	n = slow_parts(content_type, body, parts);
	must(multipart_open(&m, content_type, body) == (n != SIZE_MAX));
	if (n > 12)
		return;
	for (size_t i = 0; i < n; i++) {
		must(multipart_next(&m, &part));
		must_be(part.name, parts[i].name);
		must_be(part.filename, parts[i].filename);
		must_be(part.type, parts[i].type);
		must_be(part.content, parts[i].content);
		field_is_found(content_type, body, parts, n, parts[i].name);
	}
	must(!multipart_next(&m, &part));
	hash_is_of(content_type, body, parts, n);
}
