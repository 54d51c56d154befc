/*
 * kit.h - scenarios in which every allocation fails once: what each has to say,
 * and what they share.
 *
 * A scenario runs in a process of its own and begins anew for every try.  Its
 * state may stand in file-scope variables.
 */
#ifndef OOM_KIT_H
#define OOM_KIT_H

#include "../unit/tests.h"

#include "idem/idem.h"
#include "fault.h"

struct scenario {
	const char *name;
	/* Everything that run() needs; nothing fails here.  May be NULL. */
	void (*make)(void);
	/*
	 * The operation, with failing allocations and then once more without,
	 * on the same things.
	 */
	enum idem_err (*run)(void);
	/* The operation succeeded: is what it made right, byte for byte?  NULL
	 * where its code is all there is. */
	void (*right)(void);
	/* Give everything back: what is left then is a leak.  May be NULL. */
	void (*end)(void);
	/* run() failed: what must still be as it was?  May be NULL. */
	void (*unharmed)(void);
	uint32_t errors; /* bits of enum idem_err that a failure may be; 0:
	                  * IDEM_ENOMEM alone */
	bool logs;       /* a failure must be a warning or error in the log */
	const void *with; /* the part's own */
};
/* That of the scenario that runs. */
const void *oom_with(void);
#define ERR(e) (1u << (IDEM_##e))

/* A check of the scenario that runs; it goes on where one fails. */
#define must(that) \
	((that) ? (void)0 : must_not_be(#that, __FILE__, __LINE__))
void must_not_be(const char *what, const char *file, int line);

/* Equal as bytes. */
#define must_be(got, want) must_be_at((got), (want), __FILE__, __LINE__)
void must_be_at(struct idem_span got, struct idem_span want, const char *file,
    int line);

/* A sink that allocates nothing, and what came to it since run() began. */
extern const struct idem_log oom_log;
struct idem_span oom_logged(void);

/* A folder of this try's own; removed with all that is in it. */
const char *oom_dir(void);
/* One for all tries of the scenario. */
const char *oom_dir_for_all(void);

/* One file with all scenarios of a part of the house. */
struct part {
	const struct scenario *scenarios;
	size_t n;
};
extern const struct part part_request, part_answer, part_whole, part_store,
    part_engine, part_front, part_tasks, part_guard;

#endif
