/*
 * program.h - what a web program is to the shared front: a few calls.  The
 * front owns arguments, settings, sockets, signals and processes; a program
 * sees one exchange at a time.
 */
#ifndef FRONT_PROGRAM_H
#define FRONT_PROGRAM_H

#include "exchange/exchange.h"
#include "settings/settings.h"

#include "idem/log.h"

struct program {
	enum settings_program id;
	const char *name;    /* "tasks.fcgi" */
	const char *summary; /* one line for --help */

	/*
	 * At the start, after the settings themselves were found good: files
	 * that they name.  exe: path of the running program, "" where unknown.
	 * Anything but IDEM_OK ends the program, and the cause must be in the
	 * log.  NULL: nothing to check.
	 */
	enum idem_err (*check)(const struct settings *settings,
	    const struct idem_log *log, const char *exe);

	/*
	 * Once in every worker, after the fork; settings and log live as long
	 * as the process.  document_root: the web server's, where it is known
	 * before a request is read (plain CGI), else absent; borrowed.  A store
	 * that cannot be opened is no error here: the program answers 503 and
	 * says why in the log.  Anything but IDEM_OK ends the worker, which
	 * says so; what the code does not tell must be in the log.
	 */
	enum idem_err (*open)(const struct settings *settings,
	    const struct idem_log *log, struct idem_span document_root,
	    void **app);

	/* Answer one request: one exchange_answer() that gets through. */
	void (*serve)(void *app, struct exchange *x);

	/* Every PROGRAM_IDLE_MS while nothing comes; NULL: nothing to do. */
	void (*idle)(void *app);

	/*
	 * Asked after every serve() and idle(): true ends this worker (the
	 * store was replaced or is damaged).  NULL: never.
	 */
	bool (*leave)(void *app);

	void (*close)(void *app);
};

#define PROGRAM_IDLE_MS 5000

/*
 * main() of a web program: read arguments and settings, find out how the
 * program was started, serve.  Returns the exit status: 0, 64 (usage), 70
 * (cannot go on), 71 (no socket) or 78 (a wrong setting), as in sysexits.h.
 */
int front_main(const struct program *program, int argc, char **argv);

#endif
