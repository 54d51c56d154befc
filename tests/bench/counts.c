/*
 * counts.c - what happened in the group commit of a store that is in use.
 *
 *   counts DIR
 * prints, by tabs: commits, requests in them, sleeps that nobody ended, batches
 * of dead leaders.
 */
#include <inttypes.h>
#include <stdio.h>

#include "kit.h"

int
main(int argc, char **argv)
{
	struct idem_store *s;
	struct group_counts c;

	if (argc != 2) {
		fputs("usage: counts DIR\n", stderr);
		return 2;
	}
	s = kit_store(argv[1], true);
	c = kit_counts(s);
	printf("%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n",
	    c.ncommits, c.nrequests, c.ntimeouts, c.nrecoveries);
	idem_store_close(&s);
	return 0;
}
