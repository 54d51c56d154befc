/*
 * test_group_probe.c - what the group commit needs of a machine, taken away one
 * by one.  The functions here stand before those of the C library.
 */
#include "tests.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <unistd.h>

#include "idem/store.h"
#include "store/group_file.h"

static struct {
	int robust; /* what setting a robust mutex answers */
	int memfd;  /* errno of these calls; 0: none */
	int locks;
} lacks;

int
pthread_mutexattr_setrobust(pthread_mutexattr_t *a, int kind)
{
	int (*real)(pthread_mutexattr_t *, int);

	if (lacks.robust != 0)
		return lacks.robust;
	*(void **)&real = dlsym(RTLD_NEXT, "pthread_mutexattr_setrobust");
	return real(a, kind);
}

int
memfd_create(const char *name, unsigned flags)
{
	int (*real)(const char *, unsigned);

	if (lacks.memfd != 0) {
		errno = lacks.memfd;
		return -1;
	}
	*(void **)&real = dlsym(RTLD_NEXT, "memfd_create");
	return real(name, flags);
}

int
fcntl(int fd, int what, ...)
{
	int (*real)(int, int, ...);
	va_list ap;
	void *arg;

	if (lacks.locks != 0 && what == F_OFD_SETLK) {
		errno = lacks.locks;
		return -1;
	}
	va_start(ap, what);
	arg = va_arg(ap, void *);
	va_end(ap);
	*(void **)&real = dlsym(RTLD_NEXT, "fcntl");
	return real(fd, what, arg);
}

static void
what_a_machine_lacks(void **state)
{
	static const struct {
		int robust, memfd, locks;
		bool possible;
	} rows[] = {
		{ 0, 0, 0, true },
		{ ENOTSUP, 0, 0, false },
		{ 0, ENOSYS, 0, false },
		{ 0, EMFILE, 0, true }, /* only the probe is not possible */
		{ 0, 0, EINVAL, false },
		{ 0, 0, 0, true },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		lacks.robust = rows[i].robust;
		lacks.memfd = rows[i].memfd;
		lacks.locks = rows[i].locks;
		assert_int_equal(group_possible(), rows[i].possible);
		assert_string_equal(idem_store_commits(true),
		    rows[i].possible ? "many at once, by one flush" :
		    "one at a time: no robust mutex, futex or file locks "
		    "here");
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_machine_lacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
