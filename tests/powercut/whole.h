/*
 * whole.h - did the log miss anything?
 */
#ifndef WHOLE_H
#define WHOLE_H

#include "disk.h"

/*
 * Is what programs saw at the end of the log, written down in scratch, what the
 * load left in the directory real: the same names, and in those that are no
 * shared memory the same bytes?  false: a line on stderr says what differs.
 */
bool whole_log(const struct disk *d, const char *scratch, const char *real);

#endif
