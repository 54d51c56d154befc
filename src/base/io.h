/*
 * io.h - system calls on files and descriptors, with EINTR and short counts
 * handled once, here.
 */
#ifndef BASE_IO_H
#define BASE_IO_H

#include "idem/buf.h"
#include "idem/log.h"

/* Write all n bytes.  IDEM_EIO: errno says why (read it on the next line). */
IDEM_MUST_CHECK enum idem_err io_write(int fd, const void *p, size_t n);

/*
 * Read up to the end of file into b.  IDEM_EIO with errno; IDEM_ETOOBIG past
 * the buffer's ceiling; IDEM_ENOMEM.
 */
IDEM_MUST_CHECK enum idem_err io_read_all(int fd, struct idem_buf *b);

/* As io_read_all() for a named file.  IDEM_EIO with errno, as above. */
IDEM_MUST_CHECK enum idem_err
io_read_file(const char *path, struct idem_buf *b);

/* Read at most n bytes once; 0 at the end of file, -1 with errno. */
long io_read(int fd, void *p, size_t n);

/* Fill p with n random bytes from the kernel.  IDEM_EIO where it has none. */
IDEM_MUST_CHECK enum idem_err io_random(void *p, size_t n);

/* Milliseconds since the epoch, and of a clock that never steps. */
int64_t io_wall_ms(void);
int64_t io_steady_ms(void);

#endif
