/*
 * note.h - what the log is told of a request.
 */
#ifndef ENGINE_NOTE_H
#define ENGINE_NOTE_H

#include "engine/walk.h"

/* One line with the request's name and the record's first bytes; why may be
 * NULL. */
void note_line(const struct walk *w, enum idem_level level, const char *what,
    const char *why);

/* One intent under two scopes is done twice: the owner has to hear of it. */
void note_other_scope(struct walk *w);

/* The claim took the record of an earlier try over. */
void note_take_over(struct walk *w);

#endif
