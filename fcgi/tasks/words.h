/*
 * words.h - Unicode text as the tasks see it: white space at the ends, the
 * number of characters, and the #words.  Knows neither tasks nor JSON.
 */
#ifndef TASKS_WORDS_H
#define TASKS_WORDS_H

#include "idem/base.h"

/* All spans here are valid UTF-8; what is not UTF-8 ends the text. */

/* Without Unicode White_Space at both ends; borrowed from s. */
struct idem_span words_trim(struct idem_span s);

/* The number of code points. */
size_t words_count(struct idem_span s);

/*
 * Length in bytes of the word at the front of s, 0 where there is none: letters
 * (general category L), decimal digits (Nd), '_', and between two letters one
 * apostrophe: ' U+0027, U+02BB, U+02BC.
 */
size_t words_length(struct idem_span s);

/*
 * Collect the words that follow a '#', each once, in their order, borrowed from
 * s.  Returns how many, at most WORDS_TAGS_MAX: more do not fit into a text of
 * 500 code points.  Words are compared byte for byte.
 */
#define WORDS_TAGS_MAX 250
size_t words_tags(struct idem_span s, struct idem_span tags[WORDS_TAGS_MAX]);

#endif
