/*
 * handler.h - what an application writes: one shape for both kinds of handler.
 *
 * Without work(), claim, effect and answer are one commit: exactly once is then
 * a property of the transaction.  With work(), the claim is one commit, the
 * work is done outside, and effect and answer are a second one.
 */
#ifndef IDEM_HANDLER_H
#define IDEM_HANDLER_H

#include "http.h"
#include "policy.h"
#include "store.h"

#ifdef __cplusplus
extern "C" {
#endif

struct idem_call;

struct idem_handler {
	uint16_t number; /* names commit() in an operation: 1 to 65,534 */
	bool retry;      /* work() may be repeated: an orphan is claimed anew
	                  * whatever IDEM_ON_UNKNOWN says */

	/*
	 * Read and judge the request, outside the store; pure.  true: *input
	 * holds what commit() needs, all of it.  false: *res holds the answer,
	 * and neither work() nor commit() runs.  May be NULL (input empty).
	 */
	bool (*prepare)(void *app, struct idem_call *call,
	    struct idem_buf *input, struct idem_response *res);

	/*
	 * Talk to the world.  DONE or BY_STATUS: commit() follows or, where
	 * there is none, *res is the answer.  NONE, HOLD: *res is the answer
	 * and commit() does not run.  May be NULL.
	 */
	enum idem_effect (*work)(void *app, struct idem_call *call,
	    struct idem_buf *input, struct idem_response *res);

	/*
	 * Inside the write transaction: read and decide first, write last.
	 * It may run more than once and in another process of this program, so
	 * it touches nothing but the tables; input, time and random bytes come
	 * with op.  NONE, HOLD and any status of 500 and above undo its writes.
	 * The code of a table call that failed goes into res->err: the whole
	 * operation then fails with it.
	 * May be NULL.
	 */
	enum idem_effect (*commit)(void *app, struct idem_tables *t,
	    const struct idem_op *op, struct idem_response *res);
};

#ifdef __cplusplus
}
#endif
#endif
