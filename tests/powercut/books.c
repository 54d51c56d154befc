/*
 * books.c - effects against records.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "books.h"

#include "base/bytes.h"
#include "base/text.h"

#define ENTRIES 16384

struct row {
	unsigned char id[IDEM_ID_BYTES];
	unsigned char random[IDEM_RANDOM_BYTES];
	bool used; /* a record, or its kind, accounts for it */
};

struct entry {
	unsigned char id[IDEM_ID_BYTES];
	enum idem_state state;
};

struct books {
	struct row row[ENTRIES];
	size_t nrows;
	struct entry entry[ENTRIES];
	size_t nentries;
	uint32_t at[2 * ENTRIES];     /* of entries, by id: 1 + place */
	uint32_t done[2 * ENTRIES];   /* of rows that count, by id: 1 + place */
	char *what;
	size_t nwhat;
};

struct books *
books_new(void)
{
	struct books *b = calloc(1, sizeof *b);

	if (b == NULL)
		abort();
	return b;
}

void
books_free(struct books **b)
{
	free(*b);
	*b = NULL;
}

#define SAY(b, ...) \
	((b)->what[0] != '\0' ? (void)0 : \
	deed_say((b)->what, (b)->nwhat, __VA_ARGS__))

static void
say_id(struct books *b, const unsigned char *id, const char *text)
{
	SAY(b, "%s: kind %u, %u/%u", text, id[IDEM_ID_BYTES - 4],
	    id[IDEM_ID_BYTES - 3], (unsigned)id[IDEM_ID_BYTES - 2] << 8 |
	    id[IDEM_ID_BYTES - 1]);
}

static bool
take_row(void *arg, struct idem_span key, struct idem_span value)
{
	struct books *b = arg;
	struct row *r = &b->row[b->nrows];

	if (b->nrows == ENTRIES || key.n != 8 || value.n != DEED_ROW_BYTES) {
		SAY(b, "a row that is none");
		return false;
	}
	if (u64_from_key((const unsigned char *)key.p) != b->nrows + 1)
		SAY(b, "row %" PRIu64 " comes as number %zu",
		    u64_from_key((const unsigned char *)key.p), b->nrows + 1);
	memcpy(r->id, value.p, sizeof r->id);
	memcpy(r->random, value.p + sizeof r->id, sizeof r->random);
	r->used = false;
	b->nrows++;
	return true;
}

static enum idem_err
take_rows(void *arg, struct idem_tables *t)
{
	return idem_tables_each(t, 0, IDEM_ABSENT, take_row, arg);
}

static uint32_t *
entry_at(struct books *b, const unsigned char *id)
{
	size_t i = u64_from_key(id) % (2 * ENTRIES);

	while (b->at[i] != 0 && memcmp(b->entry[b->at[i] - 1].id, id,
	    IDEM_ID_BYTES) != 0)
		i = (i + 1) % (2 * ENTRIES);
	return &b->at[i];
}

static bool
same_row(const struct books *b, const unsigned char *id,
    struct idem_span answer, uint64_t *number)
{
	unsigned char random[IDEM_RANDOM_BYTES];
	const struct row *r;

	if (!deed_read_answer(answer, number, random) || *number == 0 ||
	    *number > b->nrows)
		return false;
	r = &b->row[*number - 1];
	return memcmp(r->id, id, sizeof r->id) == 0 &&
	    memcmp(r->random, random, sizeof random) == 0;
}

static bool
take_record(void *arg, uint64_t number, const struct idem_record *r)
{
	struct books *b = arg;
	uint32_t *at;
	uint64_t row;

	if (r == NULL || b->nentries == ENTRIES) {
		SAY(b, "record %" PRIu64 " does not decode", number);
		return false;
	}
	at = entry_at(b, r->id);
	if (*at != 0)
		say_id(b, r->id, "two records");
	memcpy(b->entry[b->nentries].id, r->id, sizeof r->id);
	b->entry[b->nentries++].state = r->state;
	*at = (uint32_t)b->nentries;
	if (r->state != IDEM_STATE_DONE || !deed_has_row(deed_kind_of(r->id)))
		return true;
	if (same_row(b, r->id, r->answer, &row))
		b->row[row - 1].used = true;
	else
		say_id(b, r->id, "done, and without its effect");
	return true;
}

/* Each key once; of what is short the record may be gone. */
static void
account(struct books *b)
{
	memset(b->done, 0, sizeof b->done);
	for (size_t i = 0; i < b->nrows; i++) {
		const struct row *r = &b->row[i];
		enum deed_kind kind = deed_kind_of(r->id);
		size_t at = u64_from_key(r->id) % (2 * ENTRIES);

		if (!r->used && kind != DEED_SHORT && kind != DEED_APPLY)
			say_id(b, r->id, "an effect without its record");
		while (b->done[at] != 0 && memcmp(b->row[b->done[at] - 1].id,
		    r->id, sizeof r->id) != 0)
			at = (at + 1) % (2 * ENTRIES);
		if (b->done[at] != 0 && kind != DEED_SHORT)
			say_id(b, r->id, "an effect twice");
		b->done[at] = (uint32_t)i + 1;
	}
}

bool
books_read(struct books *b, struct idem_store *s, char *what, size_t n)
{
	uint64_t from = 0;
	bool more;
	enum idem_err err;

	b->nrows = b->nentries = 0;
	memset(b->at, 0, sizeof b->at);
	b->what = what;
	b->nwhat = n;
	what[0] = '\0';
	if ((err = idem_store_read(s, take_rows, b)) != IDEM_OK ||
	    (err = idem_store_walk(s, &from, ENTRIES, &more, take_record,
	    b)) != IDEM_OK)
		SAY(b, "reading: %s", idem_strerror(err));
	account(b);
	return what[0] == '\0';
}

bool
books_have_record(struct books *b, const unsigned char *id,
    enum idem_state *state)
{
	uint32_t at = *entry_at(b, id);

	if (at == 0)
		return false;
	*state = b->entry[at - 1].state;
	return true;
}

bool
books_have_row(struct books *b, const unsigned char *id,
    struct idem_span answer)
{
	uint64_t number;

	return same_row(b, id, answer, &number);
}
