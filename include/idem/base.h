/*
 * base.h - the words every other header uses: byte spans and error codes.
 */
#ifndef IDEM_BASE_H
#define IDEM_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define IDEM_MUST_CHECK __attribute__((warn_unused_result))
#define IDEM_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define IDEM_MUST_CHECK
#define IDEM_PRINTF(f, a)
#endif

/*
 * A run of n bytes that belongs to someone else.  It may hold NUL bytes and
 * need not end in one.  p == NULL means "absent"; p != NULL with n == 0 means
 * "present and empty".
 */
struct idem_span {
	const char *p;
	size_t n;
};

/* The span of a string literal, without its NUL: in an expression, and as the
 * initialiser of a static table. */
#define IDEM_LIT(s) ((struct idem_span){ "" s, sizeof(s) - 1 })
#define IDEM_LIT_INIT(s) { "" s, sizeof(s) - 1 }
#define IDEM_ABSENT ((struct idem_span){ NULL, 0 })

/* For "%.*s"; the caller knows that the span is short and printable. */
#define IDEM_FMT(s) (int)(s).n, (s).p == NULL ? "" : (s).p

/*
 * Every fallible function returns one of these and nothing else; errno is
 * never part of the interface.  A business outcome (replayed, running, ...)
 * is not an error: see enum idem_verdict in store.h.
 */
enum idem_err {
	IDEM_OK = 0,
	IDEM_ENOMEM,   /* an allocation failed */
	IDEM_ESYNTAX,  /* the input breaks its grammar */
	IDEM_ETOOBIG,  /* a documented limit was passed */
	IDEM_EINEXACT, /* valid JSON that has no canonical form */
	IDEM_ESHORT,   /* fewer bytes than were announced */
	IDEM_EBUSY,    /* not to be had right now; later it may be */
	IDEM_EFULL,    /* the store has no room until it is swept or grown */
	IDEM_EMOVED,   /* this handle on the store is of no more use: its place
	                * was replaced or it broke; leave, and open anew */
	IDEM_ENEWER,   /* made by a newer version of the program */
	IDEM_ESTORE,   /* any other store failure; the cause went to the log */
	IDEM_ECORRUPT, /* a stored record, or a page of the store, is damaged */
	IDEM_EIO,      /* a system call failed; the cause went to the log */
	IDEM_EREFUSED  /* refused on purpose; the reason went to the log */
};
#define IDEM_NERRORS ((size_t)IDEM_EREFUSED + 1)

/* A short fixed English text for err.  Static storage; never NULL. */
const char *idem_strerror(enum idem_err err);

#ifdef __cplusplus
}
#endif
#endif
