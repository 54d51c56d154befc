/*
 * judge.h - opens a store that a power cut left, as the next start would, and
 * says what is wrong with it.
 */
#ifndef JUDGE_H
#define JUDGE_H

#include "told.h"

enum judgement {
	JUDGED_GOOD,
	JUDGED_REFUSED, /* does not open, says why, and nothing was lost */
	JUDGED_LOST,    /* an answer that had left is missing or another one */
	JUDGED_BAD      /* anything else that must not be */
};

struct verdict {
	enum judgement what;
	char text[600];
	unsigned nretried;   /* requests on their way, sent again */
	unsigned nrequests;  /* all that were made of the store afterwards */
};

void judge(const char *dir, struct tale *t, uint64_t seed, struct verdict *v);

#endif
