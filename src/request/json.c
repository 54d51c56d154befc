/*
 * json.c - the structure of a JSON text: arrays, objects, what may follow what
 * (RFC 8259), without recursion.  Knows no media types and no hash.
 */
#include "request/json_scan.h"

void
idem_json_work_init(struct idem_json_work *w)
{
	idem_buf_init(&w->members, SIZE_MAX);
	idem_buf_init(&w->moved, SIZE_MAX);
}

void
idem_json_work_free(struct idem_json_work *w)
{
	idem_buf_free(&w->members);
	idem_buf_free(&w->moved);
}

static inline struct json_pos
skip_space(const struct json_scan *s, struct json_pos at)
{
	while (at.p < s->end && *at.p <= ' ' && (*at.p == ' ' ||
	    *at.p == '\n' || *at.p == '\r' || *at.p == '\t'))
		at.p++;
	return at;
}

/* Most strings are short and plain: one chunk holds them. */
static inline struct json_pos
string(struct json_scan *s, struct json_pos at)
{
	*at.o++ = *at.p++;
	if (s->end - at.p >= JSON_CHUNK) {
		struct json_chunk c = json_chunk_at(at.p);

		if (!c.beyond && c.n < JSON_CHUNK && at.p[c.n] == '"') {
			memcpy(at.o, at.p, JSON_CHUNK);
			at.p += c.n + 1;
			at.o += c.n + 1;
			return at;
		}
	}
	return json_string_rest(s, at);
}

static struct json_pos
literal(struct json_scan *s, struct json_pos at)
{
	static const struct {
		unsigned char text[8];
		size_t n;
	} words[] = { { "true", 4 }, { "false", 5 }, { "null", 4 } };
	unsigned c = json_peek(s, at.p);
	size_t i = c == 't' ? 0 : c == 'f' ? 1 : 2, n = 0;

	if (s->end - at.p >= 8 && ((json_word(at.p) ^ json_word(words[i].text))
	    << (64 - 8 * words[i].n)) == 0)
		n = words[i].n;
	else
		while (n < words[i].n &&
		    json_peek(s, at.p + n) == words[i].text[n])
			n++;
	if (n < words[i].n)
		return json_fail(s, IDEM_ESYNTAX, at.p + n);
	memcpy(at.o, words[i].text, 8);
	at.p += n;
	at.o += n;
	return at;
}

/*
 * The head of the name that was read at offset at and written at start.  Where
 * that will do it is taken from the text: to load what was just stored in
 * pieces has to wait.
 */
static inline uint64_t
name_head(const struct json_scan *s, size_t start, size_t at)
{
	const unsigned char *name = s->text + at + 1;
	uint64_t head;

	if (s->end - name >= 8 && json_plain_head(name, &head))
		return head;
	return json_name_head(s->base + start + 1);
}

/* Note a member of the innermost object; its name was written. */
static inline bool
add_member(struct json_scan *s, size_t start, size_t at)
{
	struct json_level *in = &s->level[s->depth - 1];
	struct json_member *m;

	if (s->nmembers == s->members_cap && !json_members_grow(s))
		return false;
	m = &s->members[s->nmembers++];
	m->head = name_head(s, start, at);
	m->start = start;
	m->at = at;
	if (in->unsorted || s->nmembers - in->first == 1)
		return true;
	if (m->head <= m[-1].head)
		in->unsorted = m->head < m[-1].head ||
		    !json_name_before(s, m - 1, m);
	return true;
}

/* From a member's name, which must come now, to behind its colon. */
static inline struct json_pos
member_name(struct json_scan *s, struct json_pos at)
{
	size_t start = (size_t)(at.o - s->base);
	size_t from = (size_t)(at.p - s->text);

	if (json_peek(s, at.p) != '"')
		return json_fail(s, IDEM_ESYNTAX, at.p);
	at = string(s, at);
	if (at.p == NULL)
		return at;
	if (s->depth <= IDEM_JSON_DEPTH && !add_member(s, start, from))
		return json_fail(s, IDEM_ENOMEM, at.p);
	at = skip_space(s, at);
	if (json_peek(s, at.p) != ':')
		return json_fail(s, IDEM_ESYNTAX, at.p);
	at.p++;
	*at.o++ = ':';
	return at;
}

/*
 * Beyond IDEM_JSON_DEPTH the text has no canonical form, but whether it is JSON
 * is still asked: one byte a level, in memory that only sorting uses.
 */
static bool
push(struct json_scan *s, bool object)
{
	struct idem_buf *deep = &s->work->moved;

	s->object = object;
	if (s->depth++ < IDEM_JSON_DEPTH) {
		s->level[s->depth - 1] = (struct json_level){
			.first = s->nmembers, .object = object };
		return true;
	}
	if (s->depth == IDEM_JSON_DEPTH + 1)
		idem_buf_reset(deep);
	idem_buf_putc(deep, object ? 1 : 0);
	return idem_buf_err(deep) == IDEM_OK;
}

static void
pop(struct json_scan *s)
{
	struct idem_buf *deep = &s->work->moved;

	if (s->depth-- > IDEM_JSON_DEPTH)
		idem_buf_cut(deep, deep->n - 1);
	else
		s->nmembers = s->level[s->depth].first;
	if (s->depth > IDEM_JSON_DEPTH)
		s->object = deep->p[deep->n - 1] != 0;
	else
		s->object = s->depth > 0 && s->level[s->depth - 1].object;
}

/*
 * From an opening bracket to where the first value is due, or behind the
 * closing one; *empty says which.
 */
static struct json_pos
open_one(struct json_scan *s, struct json_pos at, bool *empty)
{
	bool object = *at.p == '{';
	unsigned char close = object ? '}' : ']';

	if (s->depth >= IDEM_JSON_DEPTH)
		json_inexact(s, (size_t)(at.p - s->text));
	*at.o++ = *at.p++;
	at = skip_space(s, at);
	*empty = json_peek(s, at.p) == close;
	if (*empty) {
		at.p++;
		*at.o++ = close;
		return at;
	}
	if (!push(s, object))
		return json_fail(s, IDEM_ENOMEM, at.p);
	return object ? member_name(s, at) : at;
}

static struct json_pos
close_one(struct json_scan *s, struct json_pos at)
{
	if (s->depth <= IDEM_JSON_DEPTH && s->level[s->depth - 1].unsorted &&
	    !json_members_sort(s, &s->level[s->depth - 1], at.o))
		return json_fail(s, IDEM_ENOMEM, at.p);
	pop(s);
	*at.o++ = *at.p++;
	return at;
}

/* A value that holds no other, or an empty array or object, and the brackets
 * and first names that stand before it. */
static inline struct json_pos
value(struct json_scan *s, struct json_pos at)
{
	bool empty = false;

	while (at.p != NULL && !empty) {
		unsigned c;

		at = skip_space(s, at);
		c = json_peek(s, at.p);
		if (c == '"')
			return string(s, at);
		if (c == '-' || (c >= '0' && c <= '9'))
			return json_number(s, at);
		if (c != '{' && c != '[')
			return literal(s, at);
		at = open_one(s, at, &empty);
	}
	return at;
}

/* From behind a value to where the next is due, or behind the outermost. */
static inline struct json_pos
after_value(struct json_scan *s, struct json_pos at)
{
	while (at.p != NULL && s->depth > 0) {
		unsigned c;

		at = skip_space(s, at);
		c = json_peek(s, at.p);
		if (c == ',') {
			at.p++;
			*at.o++ = ',';
			return s->object ? member_name(s, skip_space(s, at)) :
			    at;
		}
		if (c != (s->object ? '}' : ']'))
			return json_fail(s, IDEM_ESYNTAX, at.p);
		at = close_one(s, at);
	}
	return at;
}

static struct json_pos
document(struct json_scan *s, struct json_pos at)
{
	do
		at = after_value(s, value(s, at));
	while (at.p != NULL && s->depth > 0);
	if (at.p == NULL)
		return at;
	at = skip_space(s, at);
	return at.p == s->end ? at : json_fail(s, IDEM_ESYNTAX, at.p);
}

/* The levels stay as they are: clearing them costs more than a small text. */
static void
begin(struct json_scan *s, struct idem_json_work *w, struct idem_span text,
    struct idem_buf *out)
{
	s->text = (const unsigned char *)(text.p == NULL ? "" : text.p);
	s->end = s->text + text.n;
	s->base = (unsigned char *)out->p;
	s->out = out;
	s->work = w;
	s->members = (struct json_member *)(void *)w->members.p;
	s->nmembers = 0;
	s->members_cap = w->members.cap / sizeof *s->members;
	s->depth = 0;
	s->object = false;
	s->inexact_at = SIZE_MAX;
	s->err = IDEM_OK;
	s->at = 0;
	idem_buf_reset(&w->members);
	idem_buf_reset(&w->moved);
}

enum idem_err
idem_json_canonical(struct idem_json_work *w, struct idem_span text,
    struct idem_buf *out, size_t *at)
{
	size_t before = out->n;
	struct json_scan s;
	struct json_pos end;

	if (idem_buf_room(out, text.n + JSON_CHUNK) == NULL)
		return idem_buf_err(out);
	begin(&s, w, text, out);
	end = document(&s, (struct json_pos){ s.text, s.base + before });
	if (s.err == IDEM_OK && s.inexact_at != SIZE_MAX) {
		s.err = IDEM_EINEXACT;
		s.at = s.inexact_at;
	}
	if (s.err == IDEM_OK)
		idem_buf_grew(out, (size_t)(end.o - s.base) - out->n);
	else
		idem_buf_cut(out, before);
	if (s.err != IDEM_OK && at != NULL)
		*at = s.at;
	return s.err;
}
