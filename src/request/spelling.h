/*
 * spelling.h - one name or value in the spelling of whoever wrote it: a
 * setting, a form, a pointer, a JSON text.  Read byte by byte, so that two
 * spellings are compared without a copy.
 */
#ifndef REQUEST_SPELLING_H
#define REQUEST_SPELLING_H

#include "idem/buf.h"

enum spelling {
	SPELLED_PLAIN,   /* as it stands */
	SPELLED_PERCENT, /* %41 for a byte: settings, paths */
	SPELLED_POINTER, /* the same, then ~1 for '/' and ~0 for '~' (RFC 6901
	                  * 4): one segment of a pointer in a setting */
	SPELLED_FORM,    /* '+' for a space, %41 for a byte; a '%' without two
	                  * hex digits is itself (URL Standard 5.1) */
	SPELLED_QUOTED,  /* \" for a quote, all else as it stands: what a
	                  * multipart header has between its quotes */
	SPELLED_JSON     /* the inside of a string in canonical form */
};

struct spelled {
	struct idem_span s;
	enum spelling by;
};

/* Take the next byte that it stands for off its front; -1: it is over. */
int spelled_next(struct spelled *s);

bool spelled_same(struct spelled a, struct spelled b);
/* Append what it stands for. */
void spelled_put(struct spelled s, struct idem_buf *out);

/* Every '%' has two hex digits behind it, and no byte is a space or a
 * control. */
bool spelled_is_percent(struct idem_span s);
/* The same for a segment of a pointer: every '~' has a 0 or 1 behind it. */
bool spelled_is_pointer(struct idem_span s);

#endif
