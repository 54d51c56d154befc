/*
 * sightings.h - which key and content came under which record lately: a small
 * table that the processes of a store share, lossy on purpose.
 */
#ifndef STORE_SIGHTINGS_H
#define STORE_SIGHTINGS_H

#include "idem/store.h"

#define SIGHTINGS_SLOTS 16384         /* a power of two; 128 KiB */
#define SIGHTINGS_WINDOW_S (10 * 60)  /* how long one is remembered */

struct sightings {
	_Atomic uint64_t *slots; /* mapped; NULL: there is no table */
};

/*
 * Map the file, made if it is not there; path NULL: a table of this process
 * alone.  A failure is logged, and the table then remembers nothing.
 */
void sightings_open(struct sightings *s, const char *path,
    const struct idem_log *log);
void sightings_close(struct sightings *s);

/* As idem_store_other_scope(). */
bool sightings_other(struct sightings *s, uint64_t what,
    const unsigned char id[IDEM_ID_BYTES], int64_t now_ms);

#endif
