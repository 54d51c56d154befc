/*
 * folder.h - the folder of a test program, with what lies in it.
 */
#ifndef UNIT_FOLDER_H
#define UNIT_FOLDER_H

#include "tests.h"

/* Make one below /tmp, its name in path ("/tmp/idem-x-XXXXXX"), which lives as
 * long as the folder does: the process has one. */
void folder_make(char *path);
/* Remove it and all that lies in it. */
void folder_remove(void);

/* The path of a name in it; good until it was called four times more. */
const char *folder_path(const char *name);

/* A file in it with these bytes; returns its path. */
const char *folder_write(const char *name, struct idem_span text);

/* A program in it, in the place of the one before; NULL: there is none.
 * Returns its path. */
const char *folder_program(const char *script);

/* Remove a folder and all that lies in it; one that is not there is fine. */
void tree_remove(const char *path);

#endif
