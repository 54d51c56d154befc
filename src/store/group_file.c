/*
 * group_file.c - makes, maps and locks the shared file of the group commit.
 *
 * Locks are open-file-description locks on bytes behind the content: one for
 * who attaches, one that every attached process shares, one a slot.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "base/text.h"
#include "store/failpoint.h"
#include "store/group_file.h"

#define MAGIC "idemgrp"
#define LOCK_INIT ((off_t)1 << 40)
#define LOCK_ATTACHED (LOCK_INIT + 1)
#define LOCK_SLOT (LOCK_INIT + 16)
_Static_assert(sizeof(off_t) == 8, "locks lie behind any content");

#ifdef __GLIBC__
#define LIBC 1u
#else
#define LIBC 0u
#endif
#define BUILD (LIBC << 16 | (uint32_t)sizeof(pthread_mutex_t) << 8 | \
	(uint32_t)sizeof(long))

#define ASK_FIRST_NS 500000
#define ASK_LAST_NS 32000000
#define SLOTS_IN_ORDER 64u

/* The code of a system call that failed just now, and why. */
static enum idem_err
failed(const char **why)
{
	*why = strerror(errno);
	return IDEM_EIO;
}

int
group_lock_byte(int fd, short type, off_t at)
{
	struct flock l = { .l_type = type, .l_whence = SEEK_SET,
		.l_start = at, .l_len = 1 };
	int rc;

	do
		rc = fcntl(fd, F_OFD_SETLK, &l);
	while (rc != 0 && errno == EINTR);
	return rc;
}

/*
 * No lock can be waited for with a limit, and its holder may be stopped.  Who
 * asks in vain asks less often: thousands that ask again and again would leave
 * the holder no time.
 */
static enum idem_err
lock_init(int fd, int64_t wait_ms, const char **why)
{
	struct timespec pause = { .tv_nsec = ASK_FIRST_NS };
	int64_t end = io_steady_ms() + wait_ms;

	while (group_lock_byte(fd, F_WRLCK, LOCK_INIT) != 0) {
		if (errno == EINVAL) {
			*why = "no open-file-description locks here";
			return IDEM_EREFUSED;
		}
		if (errno != EAGAIN && errno != EACCES)
			return failed(why);
		if (io_steady_ms() >= end) {
			*why = "a process stands still while it attaches, or "
			    "too many come at once";
			return IDEM_EBUSY;
		}
		(void)nanosleep(&pause, NULL); /* cut short: asks earlier */
		if (pause.tv_nsec < ASK_LAST_NS)
			pause.tv_nsec *= 2;
	}
	return IDEM_OK;
}

static uint64_t
pid_namespace(void)
{
	struct stat st;

	/* no /proc: 0, and all who see none share it */
	return stat("/proc/self/ns/pid", &st) == 0 ? (uint64_t)st.st_ino : 0;
}

bool
group_make_mutex(pthread_mutex_t *m)
{
	pthread_mutexattr_t a;
	bool made;

	if (pthread_mutexattr_init(&a) != 0)
		return false;
	made = pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED) == 0 &&
	    pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST) == 0 &&
	    pthread_mutex_init(m, &a) == 0;
	(void)pthread_mutexattr_destroy(&a);
	return made;
}

bool
group_has_futex(_Atomic uint32_t *word)
{
	return syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0) >= 0;
}

/* Nobody is attached: nothing that stands in the file is believed.  What a
 * request or a result left is read by nobody. */
static enum idem_err
initialise(struct group_shared *s, const char **why)
{
	memset(s, 0, offsetof(struct group_shared, payload));
	FAILPOINT("group-zeroed");
	if (!group_make_mutex(&s->mutex) ||
	    !group_has_futex(&s->slot[0].word)) {
		*why = "no robust mutex or no futex here";
		return IDEM_EREFUSED;
	}
	if (io_random(&s->incarnation, sizeof s->incarnation) != IDEM_OK)
		return failed(why);
	s->layout = GROUP_LAYOUT;
	s->build = BUILD;
	s->size = sizeof *s;
	s->pid_namespace = pid_namespace();
	memcpy(s->magic, MAGIC, sizeof MAGIC);
	FAILPOINT("group-initialised");
	return IDEM_OK;
}

static enum idem_err
check(const struct group_shared *s, const char **why)
{
	if (memcmp(s->magic, MAGIC, sizeof MAGIC) != 0 ||
	    s->layout != GROUP_LAYOUT || s->build != BUILD ||
	    s->size != sizeof *s)
		*why = "used by another build of the program";
	else if (s->pid_namespace != pid_namespace())
		*why = "used in another pid namespace";
	else
		return IDEM_OK;
	return IDEM_EREFUSED;
}

/* Filled with blocks, so that a write to the map never meets a full disk, which
 * would be a SIGBUS. */
static enum idem_err
make_room(int fd, const char **why)
{
	int rc = ftruncate(fd, sizeof(struct group_shared)) == 0 ? 0 : errno;

	if (rc == 0)
		do
			rc = posix_fallocate(fd, 0,
			    sizeof(struct group_shared));
		while (rc == EINTR);
	if (rc == 0)
		return IDEM_OK;
	*why = strerror(rc);
	return rc == ENOSPC || rc == EDQUOT || rc == EFBIG ? IDEM_EFULL :
	    IDEM_EIO;
}

static enum idem_err
map(struct group_file *f, const char **why)
{
	struct stat st;
	void *p;

	if (fstat(f->fd, &st) != 0)
		return failed(why);
	if (st.st_size != (off_t)sizeof(struct group_shared)) {
		*why = "used by another build of the program, or cut short";
		return IDEM_EREFUSED;
	}
	p = mmap(NULL, sizeof(struct group_shared), PROT_READ | PROT_WRITE,
	    MAP_SHARED, f->fd, 0);
	if (p == MAP_FAILED)
		return errno == ENOMEM ? IDEM_ENOMEM : failed(why);
	f->shared = p;
	return IDEM_OK;
}

/*
 * The nth slot to try.  Few processes take the first ones, so that a leader has
 * few to look at; where they are taken, a lottery: to ask for each in order
 * costs a thousand processes a million looks at locks, one after another.
 */
static uint32_t
nth_slot(uint32_t n, uint32_t chance)
{
	return n < SLOTS_IN_ORDER ? n : SLOTS_IN_ORDER +
	    (n + chance) % (GROUP_NSLOTS - SLOTS_IN_ORDER);
}

static enum idem_err
take_slot(struct group_file *f, const char **why)
{
	uint32_t chance = 0, i;

	(void)!io_random(&chance, sizeof chance); /* 0 is as good */
	for (uint32_t n = 0; n < GROUP_NSLOTS; n++) {
		i = nth_slot(n, chance % GROUP_NSLOTS);
		if (group_lock_byte(f->fd, F_WRLCK, LOCK_SLOT + (off_t)i) != 0)
			continue;
		f->me = i;
		if (i >= f->shared->nslots)
			f->shared->nslots = i + 1;
		return IDEM_OK;
	}
	*why = "no free slot: too many processes";
	return IDEM_EBUSY;
}

/* Under the initialisation lock. */
static enum idem_err
attach(struct group_file *f, const struct group_work *work, const char **why)
{
	bool first = group_lock_byte(f->fd, F_WRLCK, LOCK_ATTACHED) == 0;
	enum idem_err err;

	FAILPOINT("group-attach");
	if (first && ((err = make_room(f->fd, why)) != IDEM_OK ||
	    (err = work->flush(work->arg)) != IDEM_OK))
		return err;
	if ((err = map(f, why)) != IDEM_OK)
		return err;
	if ((err = first ? initialise(f->shared, why) :
	    check(f->shared, why)) != IDEM_OK)
		return err;
	if (group_lock_byte(f->fd, F_RDLCK, LOCK_ATTACHED) != 0)
		return failed(why);
	FAILPOINT("group-attached");
	return take_slot(f, why);
}

enum idem_err
group_file_open(const char *dir, const struct group_work *work,
    int64_t wait_ms, const struct idem_log *log, struct group_file *out)
{
	struct group_file f = { .fd = -1 };
	const char *why = NULL;
	char path[4096];
	enum idem_err err;

	if ((err = text_format(path, sizeof path, "%s/group.%d", dir,
	    GROUP_LAYOUT)) != IDEM_OK) {
		idem_log(log, IDEM_WARN, "%.80s...: too long a path", dir);
		return err;
	}
	f.fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	err = f.fd < 0 ? failed(&why) : lock_init(f.fd, wait_ms, &why);
	if (err == IDEM_OK)
		err = attach(&f, work, &why);
	if (err != IDEM_OK) {
		idem_log(log, IDEM_WARN, "%s: no group commit: %s", path,
		    why != NULL ? why : idem_strerror(err));
		group_file_close(&f);
		return err;
	}
	(void)group_lock_byte(f.fd, F_UNLCK, LOCK_INIT);
	FAILPOINT("group-slot");
	*out = f;
	return IDEM_OK;
}

void
group_file_close(struct group_file *f)
{
	if (f->shared != NULL)
		(void)munmap(f->shared, sizeof *f->shared);
	if (f->fd >= 0)
		(void)close(f->fd); /* all its locks go with it */
	*f = (struct group_file){ .fd = -1 };
}

bool
group_sleep(_Atomic uint32_t *word, uint32_t value, int64_t ms)
{
	struct timespec t = { .tv_sec = ms / 1000,
		.tv_nsec = ms % 1000 * 1000000 };

	return syscall(SYS_futex, word, FUTEX_WAIT, value, &t, NULL, 0) == 0 ||
	    errno != ETIMEDOUT;
}

bool
group_wake(_Atomic uint32_t *word)
{
	return syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0) > 0;
}

static int
lock_until(pthread_mutex_t *m, int64_t end_ms)
{
	struct timespec t = { .tv_sec = end_ms / 1000,
		.tv_nsec = end_ms % 1000 * 1000000 };

	return pthread_mutex_clocklock(m, CLOCK_MONOTONIC, &t);
}

bool
group_lock(struct group_shared *s, int64_t wait_ms)
{
	int rc = wait_ms == 0 ? pthread_mutex_trylock(&s->mutex) :
	    lock_until(&s->mutex, io_steady_ms() + wait_ms);

	if (rc == EOWNERDEAD) {
		FAILPOINT("group-inherited");
		rc = pthread_mutex_consistent(&s->mutex);
	}
	return rc == 0;
}

void
group_unlock(struct group_shared *s)
{
	(void)pthread_mutex_unlock(&s->mutex); /* held: cannot fail */
}
