/*
 * group_probe.c - does this machine have what the group commit needs?
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "store/group_file.h"

static bool
has_robust_mutex(void)
{
	pthread_mutex_t m;

	if (!group_make_mutex(&m))
		return false;
	(void)pthread_mutex_destroy(&m); /* nobody holds it */
	return true;
}

static bool
has_file_locks(void)
{
	int fd = memfd_create("idem", MFD_CLOEXEC);
	bool has;

	if (fd < 0)
		return errno != ENOSYS; /* only the probe is not possible */
	has = group_lock_byte(fd, F_WRLCK, 0) == 0;
	(void)close(fd);
	return has;
}

bool
group_possible(void)
{
	_Atomic uint32_t word = 0;

	return has_robust_mutex() && group_has_futex(&word) &&
	    has_file_locks();
}
