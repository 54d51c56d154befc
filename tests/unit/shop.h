/*
 * shop.h - a small application behind the engine, for the tests of the engine:
 * it counts what it does, does what its script says, and its clock, its random
 * bytes and its store's failures are the test's.
 */
#ifndef UNIT_SHOP_H
#define UNIT_SHOP_H

#include "tests.h"

#include "idem/idem.h"
#include "store/backend.h"

#define SHOP_ROWS 0        /* the table: one row for each commit that stands */
#define SHOP_MAX_BYTES 4096 /* of body and answer */

struct shop;

/* What the handlers do with the next request. */
struct shop_script {
	bool refuse;             /* prepare() answers */
	unsigned status;
	const char *fields[4];   /* name, value, name, value */
	struct idem_span body;
	enum idem_effect effect; /* what work() says, and commit() */
	enum idem_effect commit_effect;
	enum idem_err table_err; /* a table call of commit() fails */
	bool bad_field;          /* the answer is none */
	size_t input_bytes;      /* more of prepare()'s input */
	void (*meanwhile)(struct shop *shop); /* during work() */
};

/* What submit() and look() do instead of their work. */
struct shop_fault {
	enum idem_err err;    /* IDEM_OK: nothing */
	enum idem_op_kind kind;
	bool look;            /* look() instead of kind */
	unsigned times;
};

struct shop {
	struct idem_store *store;
	struct idem_policy policy;
	struct idem_engine engine; /* a worker */
	struct idem_engine other;  /* another one on the same store */
	struct idem_log log;
	struct idem_buf lines;     /* of the log, each with its end */
	int64_t now_ms;
	unsigned ndrawn;           /* random values */
	bool no_random;

	struct shop_script script;
	unsigned nprepared, nworked, ncommitted, nread;
	uint64_t next_row;
	enum idem_err body_err;
	struct idem_span body;
	const char *type;   /* "CONTENT_TYPE=..."; NULL: JSON */
	bool handler_reads; /* as in struct idem_call */
	bool keep_cors;

	/* What the running record's end is that a waiter hears of. */
	enum shop_ends { SHOP_ENDS_NOT, SHOP_ENDS_DONE, SHOP_ENDS_RELEASED,
		SHOP_ENDS_DEAD } ends;
	unsigned nasked;    /* whether it runs */
	bool break_look;    /* the look after the wait fails */
	bool stopping;

	struct shop_fault fault[2];
	bool cut_answers;   /* that come from the store: one byte of each */
	const struct backend *backend; /* the real one */
	void *self;

	const char *method;        /* default "POST" */
	const char *more[4];       /* more variables, ended by NULL */
	struct idem_call call;
	struct idem_request req;
	struct idem_response res;
	struct idem_buf scratch, line, var;
};

enum shop_handler {
	SHOP_ONCE,  /* prepare, commit */
	SHOP_WORK,  /* prepare, work */
	SHOP_BOTH,  /* prepare, work, commit */
	SHOP_AGAIN, /* as SHOP_BOTH, and its work may be repeated */
	SHOP_NHANDLERS
};

/* cmocka's setup and teardown: *state is a struct shop. */
int shop_open(void **state);
int shop_close(void **state);

/* Put the failures of s->fault between the store and its back end. */
void shop_break_into(struct shop *s);

/* Let time pass until every key is new again; counts and log lines go. */
void shop_clear(struct shop *s);

bool shop_logged(const struct shop *s, const char *text);

/* Send a request; key NULL: none.  Returns the status. */
unsigned shop_send(struct shop *s, enum shop_handler handler, const char *key,
    const char *body);
/* The same to the other worker, while the first one works; it has a call and a
 * response of its own.  The script of both is the same. */
unsigned shop_send_other(struct shop *s, enum shop_handler handler,
    const char *key, const char *body, struct idem_response *res);

/* The worker that works now dies: its claim is an orphan from now on. */
void shop_die(struct shop *s);

/* The running record ends as s->ends says, not by its worker. */
void shop_end(struct shop *s);

uint64_t shop_nrows(struct shop *s);    /* of the table */
uint64_t shop_nrecords(struct shop *s);

/* Value of a field of the last answer; absent: p == NULL. */
struct idem_span shop_field(const struct idem_response *res, const char *name);

/* The last request: status and outcome. */
#define assert_ended(s, status, outcome) \
	assert_ended_at((s), (status), (outcome), __FILE__, __LINE__)
void assert_ended_at(const struct shop *s, unsigned status,
    enum idem_outcome outcome, const char *file, int line);

/* The last answer is this problem ("code":"..."). */
#define assert_problem(s, code) \
	assert_problem_at(&(s)->res, (code), __FILE__, __LINE__)
void assert_problem_at(const struct idem_response *res, const char *code,
    const char *file, int line);

#endif
