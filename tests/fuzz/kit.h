/*
 * kit.h - what the fuzz targets share: checks, copies whose last byte is the
 * last of their block, and numbers drawn from the input.
 */
#ifndef FUZZ_KIT_H
#define FUZZ_KIT_H

#include <regex.h>
#include <string.h>

#include "base/text.h"
#include "idem/http.h"
#include "targets.h"

/* Stop the program where what must hold does not. */
#define must(holds) \
	((holds) ? (void)0 : kit_fail(__FILE__, __LINE__, #holds))
_Noreturn void kit_fail(const char *file, int line, const char *what);

/* Equal as bytes and in length, both absent or neither. */
#define must_be(got, want) kit_must_be((got), (want), __FILE__, __LINE__)
void kit_must_be(struct idem_span got, struct idem_span want,
    const char *file, int line);

/* Blocks that live until the run of this input is over; exact in size. */
void *kit_block(size_t nbytes);
struct idem_span kit_copy(struct idem_span s);
/* "NAME=value" with its NUL; of the value what stands before a NUL. */
const char *kit_variable(const char *name, struct idem_span value);
/* A buffer without a ceiling that matters; freed with the blocks. */
struct idem_buf *kit_buf(void);
void kit_over(void);

/* Take a line off the front, without its end; what is left is *rest. */
struct idem_span kit_line(struct idem_span *rest);

/* Numbers that depend on the input alone, so that each run can be repeated. */
struct kit_dice {
	uint64_t state;
};
struct kit_dice kit_dice_of(struct idem_span input);
size_t kit_below(struct kit_dice *d, size_t below); /* below > 0 */
/* Take a piece of at least one byte off the front; absent at the end. */
struct idem_span kit_piece(struct kit_dice *d, struct idem_span *rest);

/* Does all of s match the extended expression?  No NUL in s.  *compiled is
 * made by the first call. */
bool kit_matches(regex_t **compiled, const char *expression,
    struct idem_span s);
void kit_forget(regex_t **compiled);
/* The same; part[i] is the i-th parenthesis, absent where it took no part. */
bool kit_parts(regex_t **compiled, const char *expression, struct idem_span s,
    struct idem_span *part, size_t nparts);

/* SHA-256 of text, given to the hash in pieces. */
void kit_hash(struct kit_dice *d, struct idem_span text,
    unsigned char out[32]);

/* What was logged while an input was judged. */
struct kit_log {
	unsigned nlines;
	char last[1001];
};
struct idem_log;
struct idem_log kit_log_to(struct kit_log *l);

/* Write text to an unnamed file; the path by which it can be read. */
const char *kit_file(struct idem_span text);

#endif
