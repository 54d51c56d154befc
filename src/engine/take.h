/*
 * take.h - the steps before the record, in this order.  Each is false where the
 * request is answered.
 */
#ifndef ENGINE_TAKE_H
#define ENGINE_TAKE_H

#include "engine/walk.h"

/* Sets call->keyed, w->other, w->place and e->key. */
bool take_key(struct walk *w);

/* Read the body where it counts; it may be that there is no key after all. */
bool take_body(struct walk *w);

/* Of a keyed call: fingerprint and id of its record; here too it may be that
 * there is no key after all. */
bool take_identity(struct walk *w);

#endif
