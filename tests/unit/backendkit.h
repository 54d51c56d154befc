/*
 * backendkit.h - what the tests of both kinds of backend need: one request, and
 * what came of it.
 */
#ifndef BACKENDKIT_H
#define BACKENDKIT_H

#include "tests.h"

#include "guard/backend.h"

#define SHORT_MS 60     /* for what never answers */
#define MIDDLE_MS 1500  /* for what begins to, on a busy machine */
#define PATIENT_MS 30000 /* for what does */

struct asking {
	struct backend_job job; /* vars, body and timeout may be changed */
	struct reply reply;
	struct idem_response res;
	struct idem_buf body;
	struct idem_buf said;   /* the log */
	struct idem_log log;
	bool hurry;
};

void asking_open(struct asking *a);
void asking_close(struct asking *a);
/* Ready for another one: answer and log are forgotten. */
void asking_again(struct asking *a);

/* Is this part in the log? */
void assert_log(const struct asking *a, const char *part);

/* Status and body of what came. */
void assert_answer(const struct asking *a, unsigned status,
    struct idem_span body);

#endif
