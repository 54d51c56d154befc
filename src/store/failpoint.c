/*
 * failpoint.c - what happens at the places where a test may break the process.
 * Empty in the shipped programs.
 */
#include "base/text.h"
#include "store/failpoint.h"

#ifdef IDEM_FAILPOINTS
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *const names[] = {
	/* attaching */
	"group-attach", "group-zeroed", "group-initialised", "group-attached",
	"group-slot", "group-take-over", "group-taken-over",
	/* a request */
	"group-write", "group-written", "group-pending", "group-hear",
	"group-heard", "group-sleep", "group-locked", "group-inherited",
	"group-give-up", "group-given-up", "group-verdict", "group-idle",
	/* recovery */
	"group-flushed", "group-found", "group-blamed", "group-put-back",
	"group-back",
	/* a batch */
	"group-begin", "group-begun", "group-take", "group-taken", "group-run",
	"group-running", "group-ran", "group-aborted", "group-mark",
	"group-marked", "group-open", "group-opened", "group-committed",
	"group-publish", "group-published", "group-woke", "group-close",
	"group-closed",
	/* the hand-off */
	"group-unlock", "group-unlocked", "group-ask", "group-asked",
	"group-left",
};
#define NNAMES (sizeof names / sizeof names[0])

enum action { NOTHING, KILL, STOP, DELAY };

struct armed {
	bool ready;         /* environment read, or armed by hand */
	enum action action;
	struct idem_span name;
	char text[128];     /* what name points into */
	uint64_t delay_ms;
	uint64_t nth;       /* counts down; 0: by chance */
	uint64_t one_in;
	uint64_t seed;
};

static struct armed *
state(void)
{
	static struct armed s;

	return &s;
}

static bool
known(struct idem_span name)
{
	for (size_t i = 0; i < NNAMES; i++)
		if (span_eq(name, span_of(names[i])))
			return true;
	return span_eq(name, IDEM_LIT("*"));
}

static bool
parse_action(struct armed *a, struct idem_span text)
{
	struct idem_span delay = IDEM_LIT("delay=");

	if (span_eq(text, IDEM_LIT("kill")))
		a->action = KILL;
	else if (span_eq(text, IDEM_LIT("stop")))
		a->action = STOP;
	else if (span_starts(text, delay) && parse_u64(span_from(text, delay.n),
	    3600000, &a->delay_ms) == IDEM_OK)
		a->action = DELAY;
	return a->action != NOTHING;
}

/* N, or 1/N/SEED. */
static bool
parse_when(struct armed *a, struct idem_span text)
{
	struct idem_span one, field;

	if (!span_next(&text, '/', &one) ||
	    parse_u64(one, UINT64_MAX, &a->nth) != IDEM_OK || a->nth == 0)
		return false;
	if (!span_next(&text, '/', &field))
		return true;
	if (a->nth != 1 ||
	    parse_u64(field, UINT64_MAX, &a->one_in) != IDEM_OK ||
	    a->one_in == 0 || !span_next(&text, '/', &field) ||
	    parse_u64(field, UINT64_MAX, &a->seed) != IDEM_OK)
		return false;
	a->nth = 0;
	return text.p == NULL;
}

static bool
parse(struct armed *a, struct idem_span rest)
{
	struct idem_span action, when = IDEM_LIT("1");

	if (!span_next(&rest, ':', &a->name) || !known(a->name) ||
	    !span_next(&rest, ':', &action) || !parse_action(a, action))
		return false;
	(void)span_next(&rest, ':', &when); /* absent: the first pass */
	return rest.p == NULL && parse_when(a, when);
}

bool
failpoint_arm(const char *spec)
{
	struct armed *a = state();

	*a = (struct armed){ .ready = true };
	if (spec == NULL)
		return true;
	if (text_format(a->text, sizeof a->text, "%s", spec) == IDEM_OK &&
	    parse(a, span_of(a->text)))
		return true;
	*a = (struct armed){ .ready = true };
	return false;
}

/* xorshift64*; a forked process has its parent's state, but not its number. */
static uint64_t
draw(struct armed *a)
{
	uint64_t x = a->seed;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	a->seed = x;
	return (x * UINT64_C(2685821657736338717)) >> 16;
}

static bool
due(struct armed *a)
{
	if (a->one_in == 0)
		return a->nth > 0 && --a->nth == 0;
	if (a->nth == 0) {
		a->nth = 1; /* seeded for this process */
		a->seed = (a->seed + 1) * UINT64_C(0x9e3779b97f4a7c15) ^
		    (uint64_t)getpid() << 20;
		a->seed += a->seed == 0;
	}
	return draw(a) % a->one_in == 0;
}

static void
act(const struct armed *a)
{
	struct timespec t = { .tv_sec = (time_t)(a->delay_ms / 1000),
		.tv_nsec = (long)(a->delay_ms % 1000 * 1000000) };

	switch (a->action) {
	case NOTHING:
		break;
	case KILL:
		(void)kill(getpid(), SIGKILL);
		break;
	case STOP:
		(void)kill(getpid(), SIGSTOP);
		break;
	case DELAY:
		(void)nanosleep(&t, NULL);
		break;
	}
}

void
failpoint(const char *name)
{
	struct armed *a = state();

	if (!known(span_of(name)) || (!a->ready &&
	    !failpoint_arm(getenv("IDEM_FAILPOINT"))))
		abort(); /* a wrong test must not pass as a quiet one */
	if (a->action != NOTHING && (span_eq(a->name, span_of(name)) ||
	    span_eq(a->name, IDEM_LIT("*"))) && due(a))
		act(a);
}

const char *
failpoint_name(unsigned i)
{
	return i < NNAMES ? names[i] : NULL;
}
#endif
