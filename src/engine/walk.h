/*
 * walk.h - one request on its way through the engine.  Each file of the way
 * has a header of its own, and calls go down only: wrap; take, inside, outside,
 * unprotected; claim; ask; run, respond; note and call; beside them keep and
 * apply.
 */
#ifndef ENGINE_WALK_H
#define ENGINE_WALK_H

#include "idem/wrap.h"

struct walk {
	struct idem_engine *e;
	struct idem_call *call;
	bool other;              /* the key comes from no header: it is what
	                          * the application happens to send */
	struct idem_span place;  /* IDEM_KEY_FROM's word for where it stood;
	                          * the key itself is in e->key, by parts */
	bool body_asked;         /* read_body() was called and said: */
	enum idem_err body_err;
	bool json_asked;         /* canonical was made, if there is one */
	enum idem_effect said;   /* by the handler */
	struct idem_op op;       /* the last that the store was asked, or the
	                          * next; id and fingerprint stay */
};

#endif
