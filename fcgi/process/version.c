/*
 * version.c - what --version prints.  A static build has the packages inside
 * that -DIDEM_INSIDE names: who hears of a hole in one of them looks here.
 */
#include "process/version.h"

void
version_put(struct idem_buf *out, const char *name)
{
	idem_buf_printf(out, "%s " IDEM_VERSION "\n", name);
#ifdef IDEM_INSIDE
	idem_buf_puts(out, IDEM_LIT("inside: " IDEM_INSIDE "\n"));
#endif
}
