/*
 * last_words.c - what a process says that dies of a signal.  The line is made
 * beforehand and lies below the stack that its handler runs on, where the
 * handler finds it without any variable.
 */
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "idem/log.h"

#include "base/io.h"
#include "base/text.h"
#include "process/last_words.h"

#define STACK_BYTES 65536
#define LINE_BYTES 1024

struct words {
	int fd;
	size_t nline;
	char line[LINE_BYTES];
};

static void
say(int sig)
{
	stack_t stack;

	if (sigaltstack(NULL, &stack) == 0 && stack.ss_sp != NULL) {
		const struct words *w = stack.ss_sp;
		enum idem_err told = io_write(w->fd, w->line, w->nline);

		(void)told; /* there is nobody else to tell */
	}
	(void)raise(sig); /* SA_RESETHAND: this one is deadly */
}

static void
handle(int sig)
{
	struct sigaction sa = { .sa_handler = say,
		.sa_flags = (int)(SA_ONSTACK | SA_RESETHAND) };
	struct sigaction old;

	if (sigaction(sig, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
		(void)sigaction(sig, &sa, NULL); /* cannot fail */
}

static bool
write_line(struct words *w, int fd, const char *head, struct idem_span store)
{
	w->fd = fd;
	store = span_first(store, store.n < IDEM_LOG_PATH ? store.n :
	    IDEM_LOG_PATH);
	if (text_format(w->line, sizeof w->line, "%sstore %.*s: this process "
	    "dies of a signal: one of its files is cut short or damaged, or "
	    "the disk is full or cannot be read (or this program has a fault): "
	    "see \"idem check\", and where it finds damage put a copy of the "
	    "store in its place\n", head, IDEM_FMT(store)) != IDEM_OK)
		return false;
	w->nline = strlen(w->line);
	return true;
}

void
last_words(int fd, const char *head, struct idem_span store)
{
	static const int deadly[] = { SIGBUS, SIGSEGV, SIGFPE, SIGABRT };
	void *p = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t stack = { .ss_sp = p, .ss_size = STACK_BYTES };

	if (p == MAP_FAILED || !write_line(p, fd, head, store) ||
	    sigaltstack(&stack, NULL) != 0)
		return;
	for (size_t i = 0; i < sizeof deadly / sizeof deadly[0]; i++)
		handle(deadly[i]);
}
