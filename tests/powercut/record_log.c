/*
 * record_log.c - the log that record.c writes, and what a disk and a killer do
 * to the process.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "record.h"

#define PIECES 128 /* of one writev() */

static int log_fd = -1;
static uint32_t ncalls;
static uint64_t dice;

/* --- the log ---------------------------------------------------------------*/

static int
number_of(const char *name)
{
	const char *text = getenv(name);
	int n = 0;

	for (; text != NULL && *text >= '0' && *text <= '9'; text++)
		n = n * 10 + (*text - '0');
	return n;
}

static int
the_log(void)
{
	static __typeof__(&open) real;

	if (real == NULL)
		real = (__typeof__(&open))dlsym(RTLD_NEXT, "open");
	if (log_fd < 0 && getenv("POWERCUT_LOG") != NULL)
		log_fd = real(getenv("POWERCUT_LOG"),
		    O_WRONLY | O_APPEND | O_CLOEXEC);
	if (log_fd < 0)
		abort();
	return log_fd;
}

void
record_bytes(struct trace_entry *e, const struct iovec *bytes, int nbytes)
{
	static __typeof__(&writev) real;
	struct iovec all[PIECES + 2];
	size_t n = sizeof *e;

	if (real == NULL)
		real = (__typeof__(&writev))dlsym(RTLD_NEXT, "writev");
	if (nbytes > PIECES)
		abort();
	e->magic = TRACE_MAGIC;
	e->pid = (uint32_t)getpid();
	all[0] = (struct iovec){ e, sizeof *e };
	e->n = 0;
	for (int i = 0; i < nbytes; i++) {
		all[i + 1] = bytes[i];
		e->n += bytes[i].iov_len;
	}
	n += e->n + TRACE_PAD(e->n);
	all[nbytes + 1] = (struct iovec){ (char[8]){ 0 }, TRACE_PAD(e->n) };
	if (real(the_log(), all, nbytes + 2) != (ssize_t)n)
		abort();
}

void
record_name(char to[TRACE_NAME], const char *name)
{
	size_t n = strnlen(name, TRACE_NAME - 1);

	memcpy(to, name, n);
	to[n] = '\0';
}

struct trace_entry
record_entry(enum trace_kind kind, const char *name, uint64_t at)
{
	struct trace_entry e = { .kind = kind, .call = ++ncalls, .at = at };

	record_name(e.name, name);
	return e;
}

void
record_note(enum trace_kind kind, const char *name, uint64_t at)
{
	struct trace_entry e = record_entry(kind, name, at);
	int saved = errno;

	record_bytes(&e, NULL, 0);
	errno = saved;
}

void
record_end(const char *name, bool whole)
{
	struct trace_entry e = record_entry(TRACE_END, name, 0);
	int saved = errno;

	e.call = --ncalls;
	e.durable = whole;
	record_bytes(&e, NULL, 0);
	errno = saved;
}

/* --- what a disk and a killer do -------------------------------------------*/

bool
record_unlucky(const char *permille)
{
	if (dice == 0)
		dice = (uint64_t)number_of("POWERCUT_SEED") * 2654435761u +
		    (uint64_t)getpid() * 40503u + 1;
	dice ^= dice << 13;
	dice ^= dice >> 7;
	dice ^= dice << 17;
	return (int)(dice % 1000) < number_of(permille);
}

void
record_perhaps_die(void)
{
	if (record_unlucky("POWERCUT_KILL"))
		(void)kill(getpid(), SIGKILL);
}

/* A journal's commit, for a directory, takes longer. */
void
record_take_time(const char *name)
{
	struct timespec t = { .tv_nsec = number_of("POWERCUT_FLUSH_US") *
		(name[0] == '.' ? 20000L : 1000L) };

	if (t.tv_nsec > 0)
		(void)nanosleep(&t, NULL);
}
