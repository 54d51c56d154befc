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
#include "store/place.h"

#define FDS_MAX 1024 /* descriptors looked at */
#define NEAR_BYTES 65536 /* to the end of the disk, or of a limit */
/* LMDB's page: a number, eight bytes, and in a head page the magic. */
#define HEAD_BYTES 512 /* what LMDB looks at */
#define HEAD_MAGIC UINT32_C(0xbeefc0de)
#define HEAD_VERSION 1
#define HEAD_AT ((off_t)sizeof(size_t) + 8)
#define PAGE_BYTES_MAX (1 << 16)
#define UNFINISHED_BYTES (1 << 20) /* more than the first commit needs */
/* LMDB's lock file: a slot for each reader behind its two locks, a cache line
 * each.  It makes more slots of a longer file, and a shorter one longer. */
#define READER_BYTES 64
#define LOCKS_HEAD_BYTES (2 * 64)

enum idem_err
datafile_expect(const char *dir, const struct idem_log *log)
{
	char path[PATH_MAX];
	struct stat st;
	int err;

	if (text_format(path, sizeof path, "%s/data.mdb", dir) != IDEM_OK)
		return IDEM_ESTORE;
	err = stat(path, &st) == 0 ? 0 : errno;
	if (err == 0 && st.st_size > 0)
		return IDEM_OK;
	idem_log(log, IDEM_ERROR, "%s: %s: %s", path, err == 0 ? "is empty" :
	    strerror(err), err == 0 || err == ENOENT ?
	    "start the web program first, it makes the store" :
	    place_advice(err));
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

/* What LMDB 0.9 keeps in a head; a head of another shape has another magic or
 * version. */
struct head {
	uint32_t magic, version;
	size_t address, map_bytes;
	uint32_t page_bytes, free_flags;
	size_t free_counts[5];
	uint32_t names_pad, names_flags;
	size_t names_counts[5];
	size_t last_page, commit;
};

static bool
read_head(int fd, off_t page, struct head *h)
{
	return pread(fd, h, sizeof *h, page + HEAD_AT) == (ssize_t)sizeof *h &&
	    h->magic == HEAD_MAGIC && h->version == HEAD_VERSION &&
	    h->page_bytes > 0 && h->page_bytes <= PAGE_BYTES_MAX;
}

/* LMDB goes by the head of the last commit. */
static bool
newest_head(int fd, struct head *h)
{
	struct head second;

	if (!read_head(fd, 0, h))
		return false;
	if (read_head(fd, (off_t)h->page_bytes, &second) &&
	    second.commit > h->commit)
		*h = second;
	return true;
}

bool
datafile_last_page(const char *dir, uint64_t *npages, uint64_t *page_bytes,
    uint64_t *file_bytes)
{
	char path[PATH_MAX];
	struct head h;
	struct stat st;
	bool there;
	int fd;

	if (text_format(path, sizeof path, "%s/data.mdb", dir) != IDEM_OK)
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	there = newest_head(fd, &h) && fstat(fd, &st) == 0;
	(void)close(fd);
	if (!there)
		return false;
	*npages = h.last_page;
	*npages += *npages < UINT64_MAX;
	*page_bytes = h.page_bytes;
	*file_bytes = (uint64_t)st.st_size;
	return true;
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

static bool
unfinished(int fd)
{
	off_t page = (off_t)sysconf(_SC_PAGESIZE);
	struct stat st;
	struct head h;

	if (fstat(fd, &st) != 0 || st.st_size == 0 ||
	    st.st_size > UNFINISHED_BYTES)
		return false;
	return never_written(fd, 0) ||
	    (st.st_size >= 2 * page && read_head(fd, 0, &h) &&
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

void
datafile_take_back(const char *dir)
{
	char path[PATH_MAX];

	if (text_format(path, sizeof path, "%s/data.mdb", dir) == IDEM_OK)
		(void)unlink(path); /* stays: MDB_INVALID says what to do */
}

int
datafile_make_locks(const char *dir, unsigned nreaders)
{
	const off_t least = (off_t)nreaders * READER_BYTES;
	char path[PATH_MAX];
	struct stat st;
	int fd, err = 0;

	if (text_format(path, sizeof path, "%s/lock.mdb", dir) != IDEM_OK)
		return ENAMETOOLONG;
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno;
	if (fstat(fd, &st) != 0)
		err = errno;
	else if (st.st_size < least)
		err = posix_fallocate(fd, 0, least + LOCKS_HEAD_BYTES);
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
