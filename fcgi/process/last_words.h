/*
 * last_words.h - one line in the log of a process that dies of its store: pages
 * of data.mdb are memory, and one that cannot be read is a signal.
 */
#ifndef FRONT_LAST_WORDS_H
#define FRONT_LAST_WORDS_H

#include "idem/base.h"

/*
 * On SIGBUS, SIGSEGV, SIGFPE and SIGABRT write a line to fd that begins with
 * head and names the store, then die of that signal as ever.  Once a process,
 * for as long as it lives; a signal that somebody else handles (a sanitizer)
 * stays his.  Where there is no memory for it the process dies without a word.
 */
void last_words(int fd, const char *head, struct idem_span store);

#endif
