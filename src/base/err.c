/*
 * err.c - one fixed text for each error code.
 */
#include "idem/base.h"

static const char *const texts[] = {
	[IDEM_OK] = "ok",
	[IDEM_ENOMEM] = "out of memory",
	[IDEM_ESYNTAX] = "syntax error",
	[IDEM_ETOOBIG] = "over the limit",
	[IDEM_EINEXACT] = "JSON without a canonical form",
	[IDEM_ESHORT] = "shorter than announced",
	[IDEM_EBUSY] = "busy",
	[IDEM_EFULL] = "full",
	[IDEM_EMOVED] = "the store's directory was replaced",
	[IDEM_ENEWER] = "made by a newer version",
	[IDEM_ESTORE] = "store failure",
	[IDEM_ECORRUPT] = "damaged record",
	[IDEM_EIO] = "input or output failed",
	[IDEM_EREFUSED] = "refused",
};
_Static_assert(sizeof texts / sizeof texts[0] == IDEM_NERRORS,
    "one text per error code");

const char *
idem_strerror(enum idem_err err)
{
	return (size_t)err < IDEM_NERRORS ? texts[err] : "unknown error";
}
