/*
 * reply.h - an application's answer as it comes: its head taken apart, its body
 * counted and passed on.  Knows no protocol beneath CGI's.
 */
#ifndef GUARD_REPLY_H
#define GUARD_REPLY_H

#include "request/cgi_head.h"

struct reply {
	/* Set these first. */
	struct idem_response *res; /* gets status and fields; its body is left
	                            * alone */
	bool head_only;  /* HEAD: a Content-Length is of no body */
	/* Called once, when res is complete; NULL: not wanted.  Anything but
	 * IDEM_OK ends the reply. */
	enum idem_err (*begin)(void *arg, const struct reply *r);
	/* Some bytes of the body, n > 0. */
	enum idem_err (*put)(void *arg, const void *p, size_t n);
	/* For now there are no more; NULL: not wanted. */
	void (*pause)(void *arg);
	void *arg;

	struct cgi_head head;
	bool has_head;
	bool empty;          /* not one byte came */
	uint64_t nbody;      /* bytes passed on */
	enum idem_err err;   /* IDEM_ESYNTAX: no answer of a program; else of
	                      * begin() or put(), or of what was to be asked */
	struct idem_buf raw; /* the head, until it is complete; owned */
	size_t scanned;
};

/* Ready for an answer; release with reply_free(). */
void reply_init(struct reply *r, struct idem_response *res);
void reply_free(struct reply *r);

/* Take some bytes.  false: r->err says why they, and all that follow, are
 * dropped. */
bool reply_take(struct reply *r, struct idem_span bytes);

/* More may come, but has not yet: call it before waiting. */
void reply_pause(const struct reply *r);

/*
 * After the last byte: is it a whole answer, with a head and not shorter than
 * its Content-Length?  Bytes past that length were dropped.
 */
bool reply_is_whole(const struct reply *r);

#endif
