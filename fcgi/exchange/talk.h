/*
 * talk.h - bytes to and from a peer that may be slow, silent or gone, within
 * limits of time.  It does not know what they mean.
 */
#ifndef FRONT_TALK_H
#define FRONT_TALK_H

#include "exchange/patience.h"
#include "idem/buf.h"

#define TALK_IN_BYTES 16384
#define TALK_OUT_BYTES 32768

/*
 * A peer that sends a byte now and then is as bad as one that sends none: what
 * counts is how long we have waited for it in all.  pace_bytes buy it the whole
 * time again; 0: nothing does.  No silence may last longer than receive_ms.
 */
struct talk {
	int fd; /* a socket */
	int receive_ms;
	int pace_ms, left_ms; /* of it */
	size_t pace_bytes, npaced;
	struct idem_span unread; /* of in */
	struct idem_buf out;     /* not sent yet; over memory */
	uint64_t nsent;
	struct patience patience; /* with all of it */
	char in[TALK_IN_BYTES];
	char memory[TALK_OUT_BYTES];
};

void talk_open(struct talk *t, int fd, int receive_ms, int send_ms);
/* From now on pace_ms, and again after each pace_bytes. */
void talk_pace(struct talk *t, size_t pace_bytes, int pace_ms);

/* Get more into t->unread, which must have been used up.  false: there is
 * none, or not in time. */
bool talk_receive(struct talk *t);

/*
 * Send all of t->out: a peer that takes nothing has send_ms, and more for what
 * it took since talk_open(); see patience.h.  What still stands in our own
 * socket was not taken.  false: it is gone.
 */
bool talk_send(struct talk *t);

#endif
