/*
 * robust.c - what gcc's ThreadSanitizer does not know of mutexes: waiting for
 * one by a clock, and that a dead owner's steps are over for whoever gets its
 * mutex.
 */
#include <errno.h>
#include <pthread.h>
#include <time.h>

void __tsan_acquire(void *at);
int __real_pthread_mutex_consistent(pthread_mutex_t *m);
int __wrap_pthread_mutex_consistent(pthread_mutex_t *m);
int __wrap_pthread_mutex_clocklock(pthread_mutex_t *m, clockid_t clock,
    const struct timespec *end);

/* By what it knows, again and again. */
int
__wrap_pthread_mutex_clocklock(pthread_mutex_t *m, clockid_t clock,
    const struct timespec *end)
{
	const struct timespec pause = { 0, 200000 };
	struct timespec now;
	int rc;

	while ((rc = pthread_mutex_trylock(m)) == EBUSY) {
		(void)clock_gettime(clock, &now);
		if (now.tv_sec > end->tv_sec || (now.tv_sec == end->tv_sec &&
		    now.tv_nsec >= end->tv_nsec))
			return ETIMEDOUT;
		(void)nanosleep(&pause, NULL);
	}
	return rc;
}

/* The other half stands where a thread dies. */
int
__wrap_pthread_mutex_consistent(pthread_mutex_t *m)
{
	__tsan_acquire(m);
	return __real_pthread_mutex_consistent(m);
}
