/*
 * json_scan.h - one pass over a JSON text, writing its canonical form: what
 * structure, strings, numbers and members share.
 */
#ifndef REQUEST_JSON_SCAN_H
#define REQUEST_JSON_SCAN_H

#include "idem/json.h"
#include "request/json_chunk.h"

/*
 * A member of an open object.  Offsets count from the start of out, at counts
 * from the start of the text.
 */
struct json_member {
	uint64_t head; /* of the name: names order as their heads do, if these
	                * differ */
	size_t start;  /* of the name's opening quote */
	size_t at;     /* of the name's opening quote */
};

struct json_level {
	size_t first; /* index of an object's first member */
	bool object;
	bool unsorted; /* its names did not come in ascending order */
};

/*
 * Invariant: behind the place where output goes, out has room for as many
 * bytes as the text still holds, and JSON_CHUNK more.  Whoever writes more than
 * it reads asks json_room() first.
 */
struct json_scan {
	const unsigned char *text, *end;
	unsigned char *base; /* out->p */
	struct idem_buf *out;
	struct idem_json_work *work;
	struct json_member *members; /* in work->members */
	size_t nmembers, members_cap;
	size_t depth;
	struct json_level level[IDEM_JSON_DEPTH];
	bool object;       /* the innermost open one is an object */
	size_t inexact_at; /* SIZE_MAX: nothing inexact was met yet */
	enum idem_err err;
	size_t at;
};

/* Where the scan reads and writes.  p == NULL: it failed, see s->err. */
struct json_pos {
	const unsigned char *p;
	unsigned char *o;
};

/* The byte at p; 0, which stands nowhere in JSON, at the end. */
static inline unsigned
json_peek(const struct json_scan *s, const unsigned char *p)
{
	return p < s->end ? *p : 0;
}

struct json_pos json_fail(struct json_scan *s, enum idem_err err,
    const unsigned char *p);
/* The text has no canonical form, because of what stands at offset at. */
void json_inexact(struct json_scan *s, size_t at);
/* Room for n bytes at o, which moves; NULL with s->err set. */
unsigned char *json_room(struct json_scan *s, unsigned char *o, size_t n);

/* The rest of a string, from behind its quote. */
struct json_pos json_string_rest(struct json_scan *s, struct json_pos at);
/* A \u escape, from its backslash. */
struct json_pos json_unicode_escape(struct json_scan *s, struct json_pos at);
/* A number, from its sign or first digit. */
struct json_pos json_number(struct json_scan *s, struct json_pos at);
/*
 * The same number laid out anew.  Its digits end at end, and point (NULL: there
 * is none) is among them; an exponent is read here.
 */
struct json_pos json_decimal(struct json_scan *s, struct json_pos at,
    const unsigned char *point, const unsigned char *end);

/* ECMA-262 Number::toString, 6.1.6.1.20: more digits before the point, or more
 * zeros behind it, are written with an exponent. */
#define JSON_PLAIN_DIGITS 21
#define JSON_PLAIN_ZEROS 5

/* More memory for members; false: there is none. */
bool json_members_grow(struct json_scan *s);
/* The head of the name at p in the output. */
uint64_t json_name_head(const unsigned char *p);
/* Is the name of a to stand before that of b?  Equal names are noted. */
bool json_name_before(struct json_scan *s, const struct json_member *a,
    const struct json_member *b);
/* Put the members of the innermost object in order; its output stops at end.
 * false: no memory. */
bool json_members_sort(struct json_scan *s, const struct json_level *in,
    const unsigned char *end);

#endif
