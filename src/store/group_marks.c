/*
 * group_marks.c - the bytes in the store that tell which batches are in it.
 */
#include <string.h>

#include "store/group.h"

#define GROUP_BYTES 8 /* of a batch, name its group */

void
group_marks_set(unsigned char marks[GROUP_MARKS_BYTES],
    const unsigned char batch[GROUP_BATCH_BYTES])
{
	size_t at = 0;

	/* the older one of the same group goes, else the oldest of all */
	while (at < GROUP_MARKS_BYTES - GROUP_BATCH_BYTES &&
	    memcmp(marks + at, batch, GROUP_BYTES) != 0)
		at += GROUP_BATCH_BYTES;
	memmove(marks + GROUP_BATCH_BYTES, marks, at);
	memcpy(marks, batch, GROUP_BATCH_BYTES);
}

bool
group_marks_have(const unsigned char marks[GROUP_MARKS_BYTES],
    const unsigned char batch[GROUP_BATCH_BYTES])
{
	for (size_t at = 0; at < GROUP_MARKS_BYTES; at += GROUP_BATCH_BYTES)
		if (memcmp(marks + at, batch, GROUP_BATCH_BYTES) == 0)
			return true;
	return false;
}
