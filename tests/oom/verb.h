/*
 * verb.h - what the scenarios of the store share: what is there, what is done
 * to it, and what is there then.
 */
#ifndef OOM_VERB_H
#define OOM_VERB_H

#include "kit.h"

#include "../unit/storekit.h"

enum flavour { MEMORY, ALONE, GROUP };

struct verb {
	enum flavour flavour;
	const struct step *before;
	size_t nbefore;
	struct step step;
	/* Where there was no memory for the answer it has happened all the
	 * same, and the second time says this. */
	bool may_have_happened;
	enum idem_verdict again;
};
const struct verb *verb(void); /* of the scenario that runs */

#define VERB_BIG_BYTES (20 * 1024 * 1024) /* over the first map */
extern struct kit k;
extern struct idem_op op;
extern char verb_big[VERB_BIG_BYTES + 1], verb_medium[20001];
extern char verb_long_script[6005]; /* its answer fits no slot */

/* A kit whose store is not opened; and one with what was there before. */
void verb_make_kit(enum flavour flavour);
void verb_make(void);
enum idem_err verb_run(void);
/* The same, on a new handle where the last one broke: a process would begin
 * anew. */
enum idem_err verb_run_anew(void);
void verb_unharmed(void);
void verb_right(void);
void verb_end(void);

#endif
