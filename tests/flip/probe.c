/*
 * probe.c - the questions, each as the programs ask them.
 */
#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "base/text.h"
#include "probe.h"
#include "process/last_words.h"

#define TTL_MS 86400000

struct child {
	struct probe *p;
	struct idem_store *store;
	struct idem_buf answer;
	struct idem_log log;
	size_t nlines;  /* that name the store, until now */
};

static void
line(void *arg, enum idem_level level, const char *text)
{
	struct child *c = arg;
	size_t n = strlen(text);

	if (level != IDEM_INFO && (strstr(text, c->p->dir) != NULL ||
	    strncmp(text, "the store is full: ", 19) == 0))
		c->nlines++;
	if (io_write(c->p->log_fd, text, n) != IDEM_OK ||
	    io_write(c->p->log_fd, "\n", 1) != IDEM_OK)
		_exit(2);
}

static enum idem_err
open_store(struct child *c, bool create)
{
	const struct idem_store_config config = {
		.place = span_of(c->p->dir), .create = create,
		.max_bytes = 64 << 20, .log = &c->log };

	return idem_store_open(&config, &c->store);
}

static void
child_init(struct child *c, struct probe *p)
{
	*c = (struct child){ .p = p };
	c->log = (struct idem_log){ line, c };
	idem_buf_init(&c->answer, 1 << 24);
}

/* --- the good store --------------------------------------------------------*/

static bool
learn_one(void *arg, uint64_t number, const struct idem_record *r)
{
	struct probe *p = arg;
	struct probe_known *k = &p->known[p->nknown];

	(void)number;
	if (r == NULL || p->nknown == PROBE_KEYS_MAX ||
	    r->answer.n > PROBE_ANSWER_MAX)
		_exit(3);
	p->nknown++;
	k->state = r->state;
	memcpy(k->id, r->id, sizeof k->id);
	memcpy(k->fingerprint, r->fingerprint, sizeof k->fingerprint);
	k->nanswer = r->answer.n;
	if (r->answer.n > 0)
		memcpy(k->answer, r->answer.p, r->answer.n);
	return true;
}

static int
wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		assert(errno == EINTR);
	return status;
}

void
probe_learn(struct probe *p)
{
	struct child c;
	uint64_t from = 0, nbad;
	bool more;
	pid_t pid = fork();

	assert(pid >= 0);
	if (pid > 0) {
		assert(wait_for(pid) == 0);
		return;
	}
	child_init(&c, p);
	if (open_store(&c, false) != IDEM_OK ||
	    idem_store_walk(c.store, &from, PROBE_KEYS_MAX, &more, learn_one,
	    p) != IDEM_OK || more ||
	    idem_store_check(c.store, &nbad) != IDEM_OK || nbad != 0)
		_exit(4);
	idem_store_close(&c.store);
	_exit(0);
}

/* --- a damaged one ---------------------------------------------------------*/

static struct idem_op
ask_for(struct child *c, const struct probe_known *k)
{
	struct idem_op op = { .kind = IDEM_OP_ONCE, .recipe = IDEM_RECIPE,
		.now_ms = c->p->now_ms, .ttl_ms = TTL_MS,
		.unknown_ttl_ms = TTL_MS, .max_keys = 1000000,
		.input = IDEM_LIT_INIT("again"), .kept_bytes = 5,
		.answer = &c->answer };

	memcpy(op.id, k->id, sizeof op.id);
	memcpy(op.fingerprint, k->fingerprint, sizeof op.fingerprint);
	memset(op.token, 7, sizeof op.token);
	return op;
}

static void
wrong(struct child *c, const struct probe_known *k, const struct idem_op *op,
    enum idem_err err)
{
	char id[17] = "";

	hex_lower(k->id, 8, id);
	if (c->p->nwrong++ == 0 && text_format(c->p->wrong,
	    sizeof c->p->wrong, "record %s, state %d: %s, verdict %d, %zu "
	    "bytes", id, k->state, idem_strerror(err), op->verdict,
	    op->answer->n) != IDEM_OK)
		_exit(5);
}

/* What is done already is replayed, what is held or orphaned is not. */
static bool
is_right(const struct probe_known *k, const struct idem_op *op)
{
	if (k->state == IDEM_STATE_DONE)
		return op->verdict == IDEM_REPLAY &&
		    span_eq(idem_buf_span(op->answer),
		    (struct idem_span){ k->answer, k->nanswer });
	return op->verdict == IDEM_UNKNOWN || op->verdict == IDEM_ORPHAN;
}

static void
judge(struct child *c, const struct probe_known *k, const struct idem_op *op,
    enum idem_err err, size_t nlines_before)
{
	struct probe *p = c->p;

	if (err != IDEM_OK) {
		p->nerrors++;
		if (c->nlines == 0)
			wrong(c, k, op, err); /* an error without a word */
	} else if (op->verdict == IDEM_STORED) {
		p->nagain++;
		if (nlines_before > 0)
			p->nagain_told++;
	} else if (is_right(k, op)) {
		p->nright++;
	} else {
		wrong(c, k, op, err);
	}
}

/* As a worker: look, and claim what is not answered from there. */
static void
ask(struct child *c, const struct probe_known *k)
{
	struct idem_op op = ask_for(c, k);
	size_t nlines = c->nlines;
	enum idem_err err = idem_store_look(c->store, &op);

	if (err == IDEM_OK && op.verdict == IDEM_ABSENT_KEY) {
		op = ask_for(c, k);
		err = idem_store_submit(c->store, &op);
	}
	judge(c, k, &op, err, nlines);
}

static bool
count_one(void *arg, uint64_t number, const struct idem_record *r)
{
	(void)arg; /* only read, as `idem list` does */
	return number > 0 && (r == NULL || r->state != 0);
}

/* What the operator would see before anything is written; what the log says
 * then no worker has said. */
static void
look_over(struct child *c)
{
	struct idem_room room;
	size_t nlines = c->nlines;
	uint64_t from = 0;
	bool more = true;

	c->p->check_ran = idem_store_check(c->store, &c->p->nbad) == IDEM_OK;
	while (more && idem_store_walk(c->store, &from, 100, &more, count_one,
	    NULL) == IDEM_OK)
		continue;
	if (idem_store_room(c->store, &room) != IDEM_OK)
		c->p->check_ran = false;
	c->nlines = nlines;
}

/* A new request is done once and then replayed; or forgotten again, where a
 * damaged list of free pages let it be overwritten. */
static void
ask_new(struct child *c)
{
	static const struct probe_known fresh = { .state = IDEM_STATE_DONE,
		.id = "a key that was never there", .nanswer = 5,
		.answer = "again" };
	struct idem_op op = ask_for(c, &fresh);
	enum idem_err err = idem_store_submit(c->store, &op);

	if (err == IDEM_OK && op.verdict == IDEM_STORED) {
		op = ask_for(c, &fresh);
		err = idem_store_look(c->store, &op);
		if (err == IDEM_OK && op.verdict == IDEM_ABSENT_KEY)
			op.verdict = IDEM_STORED; /* as it would be */
		judge(c, &fresh, &op, err, c->nlines);
	} else if (err == IDEM_OK || c->nlines == 0) {
		wrong(c, &fresh, &op, err);
	}
}

static void
question(struct probe *p)
{
	struct child c;

	child_init(&c, p);
	last_words(p->log_fd, "error: ", span_of(p->dir));
	(void)alarm(PROBE_SECONDS);
	if (open_store(&c, true) != IDEM_OK) {
		if (c.nlines == 0)
			_exit(6);
		_exit(0);
	}
	p->opened = true;
	look_over(&c);
	for (size_t i = 0; i < p->nknown; i++)
		ask(&c, &p->known[i]);
	ask_new(&c);
	p->finished = true;
	idem_store_close(&c.store);
	_exit(0);
}

enum probe_end
probe_run(struct probe *p)
{
	int status;
	pid_t pid;

	p->opened = p->check_ran = p->finished = false;
	p->nright = p->nerrors = p->nwrong = p->nagain = p->nagain_told = 0;
	p->nbad = 0;
	p->wrong[0] = '\0';
	if (ftruncate(p->log_fd, 0) != 0 ||
	    lseek(p->log_fd, 0, SEEK_SET) != 0 || (pid = fork()) < 0)
		abort(); /* no room for a child */
	if (pid == 0)
		question(p);
	status = wait_for(pid);
	if (WIFEXITED(status)) {
		if (WEXITSTATUS(status) != 0 && p->nwrong++ == 0)
			(void)memcpy(p->wrong, "refused without a word", 23);
		return PROBE_DONE;
	}
	return WTERMSIG(status) == SIGALRM ? PROBE_HUNG : PROBE_DIED;
}

bool
probe_said(const struct probe *p)
{
	char text[65536];
	ssize_t n = pread(p->log_fd, text, sizeof text - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	return strstr(text, p->dir) != NULL;
}
