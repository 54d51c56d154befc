/*
 * spool.h - bytes that may be many: the first ones in memory, all of them in a
 * file without a name once there are more.  Knows no protocol.
 */
#ifndef FRONT_SPOOL_H
#define FRONT_SPOOL_H

#include "idem/buf.h"

#define SPOOL_MEMORY_BYTES 65536

struct spool {
	const char *dir;        /* of the file; borrowed */
	struct idem_buf memory; /* empty once there is a file */
	int fd;                 /* -1: no file yet */
	uint64_t n;             /* bytes in all */
	void *map;              /* of the file; NULL: not mapped */
	size_t mapped_bytes;
};

/* dir: where a file may be made ("/tmp"); it lives as long as the spool. */
void spool_init(struct spool *s, const char *dir);
void spool_free(struct spool *s);

/* Empty again; the file is given back, the memory kept. */
void spool_reset(struct spool *s);

/* Append n bytes.  IDEM_ENOMEM; IDEM_EIO with errno: the file.  Afterwards the
 * spool is good for spool_reset() only. */
IDEM_MUST_CHECK enum idem_err
spool_put(struct spool *s, const void *p, size_t n);

/*
 * All bytes in one run, never absent; borrowed until the next call on s.
 * IDEM_EIO with errno: the file cannot be mapped.
 */
IDEM_MUST_CHECK enum idem_err
spool_bytes(struct spool *s, struct idem_span *out);

#endif
