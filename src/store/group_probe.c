/*
 * group_probe.c - does this machine have what the group commit needs?
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "store/group.h"

static bool
has_robust_mutex(void)
{
	pthread_mutexattr_t a;
	pthread_mutex_t m;
	bool has;

	if (pthread_mutexattr_init(&a) != 0)
		return false;
	has = pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED) == 0 &&
	    pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST) == 0 &&
	    pthread_mutex_init(&m, &a) == 0;
	if (has)
		(void)pthread_mutex_destroy(&m); /* nobody holds it */
	(void)pthread_mutexattr_destroy(&a);
	return has;
}

static bool
has_futex(void)
{
	_Atomic uint32_t word = 0;

	return syscall(SYS_futex, &word, FUTEX_WAKE, 1, NULL, NULL, 0) >= 0;
}

static bool
has_file_locks(void)
{
	struct flock l = { .l_type = F_WRLCK, .l_whence = SEEK_SET,
		.l_start = 0, .l_len = 1 };
	int fd = memfd_create("idem", MFD_CLOEXEC);
	bool has;

	if (fd < 0)
		return errno != ENOSYS; /* only the probe is not possible */
	has = fcntl(fd, F_OFD_SETLK, &l) == 0;
	(void)close(fd);
	return has;
}

bool
group_possible(void)
{
	return has_robust_mutex() && has_futex() && has_file_locks();
}
