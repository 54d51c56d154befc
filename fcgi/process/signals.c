/*
 * signals.c - signals as events on a descriptor.
 *
 * A handler under ppoll() would do too, but there a ready socket goes before a
 * pending signal: a busy worker would not hear of SIGTERM until it is idle.
 */
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/io.h"
#include "process/signals.h"

static void
dispose(int sig, void (*to)(int))
{
	struct sigaction sa = { .sa_handler = to };

	(void)sigaction(sig, &sa, NULL); /* fails for wrong numbers only */
}

enum idem_err
signals_open(bool children, int *fd)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	if (children)
		sigaddset(&set, SIGCHLD);
	if (sigprocmask(SIG_SETMASK, &set, NULL) != 0)
		return IDEM_EIO;
	/* what is ignored is dropped before the descriptor sees it */
	dispose(SIGTERM, SIG_DFL);
	dispose(SIGUSR1, SIG_DFL);
	dispose(SIGCHLD, SIG_DFL);
	dispose(SIGPIPE, SIG_IGN);
	dispose(SIGXFSZ, SIG_IGN);
	*fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	return *fd < 0 ? IDEM_EIO : IDEM_OK;
}

int
signals_take(int fd)
{
	struct signalfd_siginfo info;

	if (io_read(fd, &info, sizeof info) != (long)sizeof info)
		return 0;
	return (int)info.ssi_signo;
}
