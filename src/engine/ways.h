/*
 * ways.h - the three ways to run a handler and answer: inside.c, outside.c and
 * unprotected.c.
 */
#ifndef ENGINE_WAYS_H
#define ENGINE_WAYS_H

#include "engine/walk.h"

/* A keyed request whose handler has no work(). */
void way_inside(struct walk *w);

/* A keyed request whose handler has work(), with commit() or without. */
void way_outside(struct walk *w);

/* A request without a key. */
void way_unprotected(struct walk *w);

#endif
