/*
 * place_judge.c - may a store lie in this directory, which is there: whose it
 * is, on which file system it lies, what lies in it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "store/place.h"

/* File systems on which locks or shared mappings are not those of one kernel.
 * Numbers: statfs(2) and linux/magic.h. */
static const struct {
	unsigned long type;
	const char *name;
} remote[] = {
	{ 0x6969, "NFS" },
	{ 0x517b, "SMB" },
	{ 0xff534d42, "CIFS" },
	{ 0xfe534d42, "SMB2" },
	{ 0x65735546, "FUSE" },
	{ 0x01021997, "9P" },
	{ 0x5346414f, "AFS" },
	{ 0x73757245, "Coda" },
	{ 0x564c, "NCP" },
	{ 0x00c36400, "Ceph" },
	{ 0x0bd00bd0, "Lustre" },
	{ 0x7461636f, "OCFS2" },
	{ 0x01161970, "GFS2" },
};

long
place_fs_type(int fd)
{
	struct statfs fs;

	if (fstatfs(fd, &fs) != 0)
		return -1;
	/* The type is a 32-bit number, whatever the width and sign of its
	 * field. */
	return (long)((unsigned long)fs.f_type & 0xffffffff);
}

static const char *
remote_name(long type)
{
	for (size_t i = 0; i < sizeof remote / sizeof remote[0]; i++)
		if (remote[i].type == (unsigned long)type)
			return remote[i].name;
	return NULL;
}

static enum idem_err
judge_owner(const struct place *p, int fd)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return place_fail(p, "fstat", errno, place_advice(errno));
	if (st.st_uid != geteuid()) {
		idem_log(p->log, IDEM_ERROR, "store %s: belongs to user %u, "
		    "and this program runs as %u: run it as its owner",
		    p->path, (unsigned)st.st_uid, (unsigned)geteuid());
		return IDEM_EREFUSED;
	}
	/* Whoever writes there can put another file in the place of one. */
	if ((st.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
		idem_log(p->log, IDEM_ERROR, "store %s: other users may write "
		    "in it (mode %04o): chmod 700 it", p->path,
		    (unsigned)st.st_mode & 07777);
		return IDEM_EREFUSED;
	}
	return IDEM_OK;
}

static bool
is_link(int dirfd, const struct dirent *entry)
{
	struct stat st;

	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type == DT_LNK;
	return fstatat(dirfd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISLNK(st.st_mode);
}

/*
 * No file of a store is a symbolic link: it would lie where nothing of this was
 * judged, and LMDB follows it.
 */
static enum idem_err
judge_links(const struct place *p)
{
	DIR *dir = opendir(p->path);
	enum idem_err err = IDEM_OK;
	struct dirent *entry;

	if (dir == NULL)
		return place_fail(p, "opendir", errno, place_advice(errno));
	while (err == IDEM_OK && (entry = readdir(dir)) != NULL)
		if (is_link(dirfd(dir), entry)) {
			idem_log(p->log, IDEM_ERROR, "store %s: %s in it is a "
			    "symbolic link: put the file itself there, or "
			    "remove the link", p->path, entry->d_name);
			err = IDEM_EREFUSED;
		}
	(void)closedir(dir);
	return err;
}

static enum idem_err
judge_file_system(const struct place *p, int fd, place_fs_fn fs_type)
{
	long type = fs_type(fd);
	const char *name;

	if (type < 0)
		return place_fail(p, "statfs", errno, place_advice(errno));
	if ((name = remote_name(type)) == NULL)
		return IDEM_OK;
	idem_log(p->log, IDEM_ERROR, "store %s: lies on a network file system "
	    "(%s), where locks do not hold: set IDEM_STORE to a directory on a "
	    "local disk", p->path, name);
	return IDEM_EREFUSED;
}

enum idem_err
place_judge(const struct place *p, place_fs_fn fs_type)
{
	int fd = open(p->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	enum idem_err err;

	if (fd < 0 && errno == ENOTDIR) {
		idem_log(p->log, IDEM_ERROR, "store %s: is not a directory: "
		    "set IDEM_STORE to one", p->path);
		return IDEM_EREFUSED;
	}
	if (fd < 0)
		return place_fail(p, "open", errno, errno == ENOENT ?
		    "start the web program first, it makes the store" :
		    place_advice(errno));
	if ((err = judge_owner(p, fd)) == IDEM_OK)
		err = judge_file_system(p, fd, fs_type);
	(void)close(fd);
	return err != IDEM_OK ? err : judge_links(p);
}
