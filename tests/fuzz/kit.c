/*
 * kit.c - checks, copies, draws and files of the fuzz targets.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/sha256.h"
#include "idem/log.h"
#include "kit.h"

#define BUF_MAX (1u << 26) /* bytes: no input that is read is so long */

/* What the run of one input holds: a block, or a buffer. */
static struct kept {
	struct kept *next;
	void *block;
	struct idem_buf buf;
} *kept;

void
kit_fail(const char *file, int line, const char *what)
{
	fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
	abort();
}

static void
show(const char *which, struct idem_span s)
{
	fprintf(stderr, "%s %zu%s: ", which, s.n, s.p == NULL ? " absent" : "");
	for (size_t i = 0; i < s.n && i < 4000; i++)
		if (s.p[i] == '\n' || (s.p[i] >= ' ' && s.p[i] <= '~'))
			fputc(s.p[i], stderr);
		else
			fprintf(stderr, "\\x%02x", (unsigned char)s.p[i]);
	fputc('\n', stderr);
}

void
kit_must_be(struct idem_span got, struct idem_span want, const char *file,
    int line)
{
	if (span_eq(got, want) && (got.p == NULL) == (want.p == NULL))
		return;
	show("got ", got);
	show("want", want);
	kit_fail(file, line, "the same bytes");
}

static struct kept *
keep(void)
{
	struct kept *k = malloc(sizeof *k);

	if (k == NULL)
		kit_fail(__FILE__, __LINE__, "there is memory");
	k->next = kept;
	k->block = NULL;
	idem_buf_init(&k->buf, BUF_MAX);
	kept = k;
	return k;
}

/* Not in one piece with what remembers it: the sanitizer is to see its end. */
void *
kit_block(size_t nbytes)
{
	struct kept *k = keep();

	k->block = malloc(nbytes);
	if (k->block == NULL)
		kit_fail(__FILE__, __LINE__, "there is memory");
	return k->block;
}

struct idem_span
kit_copy(struct idem_span s)
{
	char *block = kit_block(s.n);

	if (s.n > 0)
		memcpy(block, s.p, s.n);
	return (struct idem_span){ block, s.n };
}

const char *
kit_variable(const char *name, struct idem_span value)
{
	size_t head = strlen(name), n = span_find(value, '\0');
	char *text = kit_block(head + n + 2);

	memcpy(text, name, head);
	text[head] = '=';
	if (n > 0)
		memcpy(text + head + 1, value.p, n);
	text[head + 1 + n] = '\0';
	return text;
}

struct idem_buf *
kit_buf(void)
{
	return &keep()->buf;
}

void
kit_over(void)
{
	while (kept != NULL) {
		struct kept *first = kept;

		kept = first->next;
		free(first->block);
		idem_buf_free(&first->buf);
		free(first);
	}
}

struct idem_span
kit_line(struct idem_span *rest)
{
	size_t n = span_find(*rest, '\n');
	struct idem_span line = span_first(*rest, n);

	*rest = span_from(*rest, n < rest->n ? n + 1 : n);
	return line;
}

/* FNV-1a. */
struct kit_dice
kit_dice_of(struct idem_span input)
{
	struct kit_dice d = { UINT64_C(0xcbf29ce484222325) };

	for (size_t i = 0; i < input.n; i++)
		d.state = (d.state ^ (unsigned char)input.p[i]) *
		    UINT64_C(0x100000001b3);
	return d;
}

size_t
kit_below(struct kit_dice *d, size_t below)
{
	d->state = d->state * UINT64_C(6364136223846793005) +
	    UINT64_C(1442695040888963407);
	return (size_t)(d->state >> 33) % below;
}

struct idem_span
kit_piece(struct kit_dice *d, struct idem_span *rest)
{
	struct idem_span piece;

	if (rest->n == 0)
		return IDEM_ABSENT;
	piece = span_first(*rest, 1 + kit_below(d, kit_below(d, 4) == 0 ?
	    rest->n : rest->n < 4 ? rest->n : 4));
	*rest = span_from(*rest, piece.n);
	return kit_copy(piece);
}

bool
kit_parts(regex_t **compiled, const char *expression, struct idem_span s,
    struct idem_span *part, size_t nparts)
{
	regmatch_t found[16] = { { 0, (regoff_t)s.n } };
	char *text = kit_block(s.n + 1);
	int no;

	if (*compiled == NULL) {
		*compiled = malloc(sizeof **compiled);
		if (*compiled == NULL || regcomp(*compiled, expression,
		    REG_EXTENDED) != 0)
			kit_fail(__FILE__, __LINE__, expression);
	}
	must(nparts <= 16);
	/* the sanitizer looks for a NUL, REG_STARTEND or not */
	if (s.n > 0)
		memcpy(text, s.p, s.n);
	text[s.n] = '\0';
	no = regexec(*compiled, text, nparts, found, REG_STARTEND);
	for (size_t i = 0; no == 0 && i < nparts; i++)
		part[i] = found[i].rm_so < 0 ? IDEM_ABSENT :
		    span_first(span_from(s, (size_t)found[i].rm_so),
		    (size_t)(found[i].rm_eo - found[i].rm_so));
	return no == 0;
}

bool
kit_matches(regex_t **compiled, const char *expression, struct idem_span s)
{
	struct idem_span whole;

	return kit_parts(compiled, expression, s, &whole, 1) && whole.n == s.n;
}

void
kit_forget(regex_t **compiled)
{
	regfree(*compiled);
	free(*compiled);
	*compiled = NULL;
}

void
kit_hash(struct kit_dice *d, struct idem_span text, unsigned char out[32])
{
	struct idem_span piece;
	struct sha256 *h;

	must(sha256_create(&h) == IDEM_OK);
	sha256_start(h);
	while ((piece = kit_piece(d, &text)).p != NULL)
		sha256_update(h, piece);
	must(sha256_finish(h, out) == IDEM_OK);
	sha256_destroy(&h);
}

static void
hear(void *arg, enum idem_level level, const char *text)
{
	struct kit_log *l = arg;

	(void)level;
	l->nlines++;
	must(text_format(l->last, sizeof l->last, "%s", text) == IDEM_OK);
}

struct idem_log
kit_log_to(struct kit_log *l)
{
	*l = (struct kit_log){ .nlines = 0 };
	return (struct idem_log){ hear, l };
}

const char *
kit_file(struct idem_span text)
{
	static char path[40];
	static int fd = -1;

	if (fd < 0) {
		fd = memfd_create("fuzz", MFD_CLOEXEC);
		must(fd >= 0 && text_format(path, sizeof path,
		    "/proc/self/fd/%d", fd) == IDEM_OK);
	}
	must(ftruncate(fd, 0) == 0);
	must(text.n == 0 || pwrite(fd, text.p, text.n, 0) ==
	    (ssize_t)text.n);
	return path;
}
