/*
 * store_lmdb.c - the LMDB back end, for any number of processes of one host.
 */
#include "store/backend.h"

enum idem_err
store_lmdb_open(struct idem_store *s, const struct idem_store_config *config)
{
	idem_log(s->log, IDEM_ERROR, "%.*s: only \"memory:\" can be opened yet",
	    IDEM_FMT(config->place));
	return IDEM_EREFUSED;
}
