/*
 * datafile.c - LMDB's files seen from outside; of what is in them it knows the
 * heads of the data file.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "store/datafile.h"

#include "base/text.h"

#define FDS_MAX 1024 /* descriptors looked at */
#define NEAR_BYTES 65536 /* to the end of the disk, or of a limit */
/* LMDB's page: a number, eight bytes, and in a head page the magic. */
#define HEAD_BYTES 512 /* what LMDB looks at */
#define HEAD_MAGIC UINT32_C(0xbeefc0de)
#define HEAD_MAGIC_AT ((off_t)sizeof(size_t) + 8)
#define UNFINISHED_BYTES (1 << 20) /* more than the first commit needs */

enum idem_err
datafile_expect(const char *dir, const struct idem_log *log)
{
	char path[PATH_MAX];
	struct stat st = { .st_size = -1 };

	if (text_format(path, sizeof path, "%s/data.mdb", dir) != IDEM_OK)
		return IDEM_ESTORE;
	if (stat(path, &st) == 0 && st.st_size > 0)
		return IDEM_OK;
	idem_log(log, IDEM_ERROR, "%s: %s: start the web program first, it "
	    "makes the store", path, st.st_size == 0 ? "is empty" :
	    strerror(errno));
	return IDEM_ESTORE;
}

bool
datafile_is_lost(const char *dir)
{
	char path[PATH_MAX];
	struct stat st;

	if (text_format(path, sizeof path, "%s/data.mdb", dir) != IDEM_OK)
		return false;
	return stat(path, &st) == 0 ? st.st_size == 0 : errno == ENOENT;
}

/* Nothing but zeroes at this offset, as far as the file goes. */
static bool
never_written(int fd, off_t at)
{
	static const char zeroes[HEAD_BYTES];
	char head[HEAD_BYTES];
	ssize_t n = pread(fd, head, sizeof head, at);

	return n >= 0 && memcmp(head, zeroes, (size_t)n) == 0;
}

/* Is there a head of LMDB's at the front of the file? */
static bool
has_head(int fd)
{
	const uint32_t magic = HEAD_MAGIC;
	uint32_t there;

	return pread(fd, &there, sizeof there, HEAD_MAGIC_AT) ==
	    (ssize_t)sizeof there && there == magic;
}

static bool
unfinished(int fd)
{
	off_t page = (off_t)sysconf(_SC_PAGESIZE);
	struct stat st;

	if (fstat(fd, &st) != 0 || st.st_size == 0 ||
	    st.st_size > UNFINISHED_BYTES)
		return false;
	return never_written(fd, 0) ||
	    (st.st_size >= 2 * page && has_head(fd) &&
	    never_written(fd, page));
}

int
datafile_put_aside(const char *dir, bool *aside)
{
	char path[PATH_MAX], other[PATH_MAX];
	int fd;

	*aside = false;
	if (text_format(path, sizeof path, "%s/data.mdb", dir) != IDEM_OK ||
	    text_format(other, sizeof other, "%s/data.mdb.unfinished", dir) !=
	    IDEM_OK)
		return ENAMETOOLONG;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return errno == ENOENT ? 0 : errno;
	*aside = unfinished(fd);
	(void)close(fd);
	return *aside && rename(path, other) != 0 ? errno : 0;
}

bool
datafile_has_locks(const char *dir)
{
	char path[PATH_MAX];
	struct stat st;

	return text_format(path, sizeof path, "%s/lock.mdb", dir) == IDEM_OK &&
	    stat(path, &st) == 0;
}

int
datafile_fill_locks(const char *dir)
{
	char path[PATH_MAX];
	struct stat st;
	int fd, err = 0;

	if (text_format(path, sizeof path, "%s/lock.mdb", dir) != IDEM_OK)
		return ENAMETOOLONG;
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return errno;
	if (fstat(fd, &st) != 0)
		err = errno;
	else if (st.st_blocks * 512 < st.st_size)
		err = posix_fallocate(fd, 0, st.st_size);
	(void)close(fd);
	return err;
}

void
datafile_close_on_exec(int fd)
{
	struct stat data, st;
	int nfound = 0;

	if (fstat(fd, &data) != 0)
		return;
	/* LMDB opened the other one behind it, and a descriptor is always the
	 * lowest that is free. */
	for (int i = fd; i < FDS_MAX && nfound < 2; i++)
		if (fstat(i, &st) == 0 && st.st_dev == data.st_dev &&
		    st.st_ino == data.st_ino) {
			(void)fcntl(i, F_SETFD, FD_CLOEXEC);
			nfound++;
		}
}

bool
datafile_ends_before(int fd, off_t end)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_size < end;
}

int
datafile_reach(int fd, off_t end)
{
	if (datafile_ends_before(fd, end) && ftruncate(fd, end) != 0)
		return errno;
	return 0;
}

bool
datafile_may_grow(int fd, off_t end, uint64_t bytes)
{
	struct statvfs fs;
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
	    limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < (rlim_t)end)
		return false;
	return fstatvfs(fd, &fs) != 0 || fs.f_bavail >= bytes / fs.f_frsize;
}

int
datafile_why_short(int fd)
{
	struct stat st;
	struct statvfs fs;

	if (fstatvfs(fd, &fs) == 0 &&
	    fs.f_bavail < NEAR_BYTES / fs.f_frsize)
		return ENOSPC;
	return fstat(fd, &st) == 0 &&
	    !datafile_may_grow(fd, st.st_size + NEAR_BYTES, 0) ? EFBIG : EIO;
}
