/*
 * fault.c - the allocator's front: linked into a test, or preloaded into a
 * program.  The real one is the next in the order of libraries, which is
 * AddressSanitizer's where that is there.
 */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fault.h"

static struct fault own;
struct fault *fault = &own;

#define NEXT(name) \
	static __typeof__(&name) next; \
	if (next == NULL) \
		next = (__typeof__(&name))(uintptr_t)dlsym(RTLD_NEXT, #name)

static void *
map_raw(size_t n, int prot, int flags, int fd)
{
	long p = syscall(SYS_mmap, NULL, n, prot, flags, fd, 0L);

	return (void *)(uintptr_t)p;
}

/* The first call of backtrace() loads a library, so it comes before all. */
static void __attribute__((constructor))
attach(void)
{
	const char *path = getenv("OOM_FILE");
	void *frames[1], *p;
	int fd;

	if (path == NULL || (fd = open(path, O_RDWR | O_CLOEXEC)) < 0)
		return;
	p = map_raw(sizeof *fault, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
	(void)close(fd);
	if (p == MAP_FAILED)
		return;
	if (((struct fault *)p)->trace)
		(void)backtrace(frames, 1);
	fault = p;
	fault->attached = 1;
	/* for this program alone, not for those that it starts */
	(void)unsetenv("OOM_FILE");
	(void)unsetenv("LD_PRELOAD");
}

static void
say_where(void)
{
	void *frames[24];
	int n;

	fault->armed = 0;
	n = backtrace(frames, 24);
	backtrace_symbols_fd(frames, n, STDERR_FILENO);
	fault->armed = 1;
}

static int
fails(void)
{
	if (!fault->armed)
		return 0;
	fault->ncalls++;
	if (fault->mode == FAULT_COUNT || fault->ncalls < fault->n ||
	    (fault->mode == FAULT_ONE && fault->ncalls > fault->n))
		return 0;
	fault->nfailed++;
	if (fault->trace)
		say_where();
	errno = ENOMEM;
	return 1;
}

void
fault_arm(enum fault_mode mode, uint64_t n)
{
	fault->mode = mode;
	fault->n = n;
	fault->ncalls = fault->nfailed = 0;
	fault->armed = 1;
}

void
fault_disarm(void)
{
	fault->armed = 0;
}

static void *
lives(void *p)
{
	fault->nlive += p != NULL;
	return p;
}

void *
malloc(size_t n)
{
	NEXT(malloc);
	return fails() ? NULL : lives(next(n));
}

void *
calloc(size_t n, size_t size)
{
	NEXT(calloc);
	return fails() ? NULL : lives(next(n, size));
}

void *
realloc(void *p, size_t n)
{
	void *q;

	NEXT(realloc);
	if (fails())
		return NULL;
	q = next(p, n);
	fault->nlive += (q != NULL) - (p != NULL && (q != NULL || n == 0));
	return q;
}

/* dlsym() gives back what it kept of an earlier error, so it may come here
 * while it looks for this. */
void
free(void *p)
{
	static void (*next)(void *);
	static int looking;

	if (next == NULL && looking)
		return;
	if (next == NULL) {
		looking = 1;
		next = (void (*)(void *))(uintptr_t)dlsym(RTLD_NEXT, "free");
	}
	fault->nlive -= p != NULL;
	next(p);
}

int
posix_memalign(void **out, size_t align, size_t n)
{
	int rc;

	NEXT(posix_memalign);
	if (fails())
		return ENOMEM;
	rc = next(out, align, n);
	fault->nlive += rc == 0;
	return rc;
}

void *
aligned_alloc(size_t align, size_t n)
{
	NEXT(aligned_alloc);
	return fails() ? NULL : lives(next(align, n));
}

/* AddressSanitizer's own of the next three would not come by malloc(); with a
 * long path this one allocates whoever's the result is. */
char *
realpath(const char *restrict path, char *restrict out)
{
	char *p = out;

	NEXT(realpath);
	if (p == NULL ? (p = malloc(PATH_MAX)) == NULL : fails())
		return NULL;
	if (next(path, p) != NULL)
		return p;
	if (out == NULL)
		free(p);
	return NULL;
}

char *
strndup(const char *s, size_t max)
{
	size_t n = strnlen(s, max);
	char *p = malloc(n + 1);

	if (p == NULL)
		return NULL;
	p[n] = '\0';
	return memcpy(p, s, n);
}

char *
strdup(const char *s)
{
	return strndup(s, strlen(s));
}

static void *
maps(void *p)
{
	fault->nlive += p != MAP_FAILED;
	return p;
}

void *
mmap(void *at, size_t n, int prot, int flags, int fd, off_t from)
{
	NEXT(mmap);
	return fails() ? MAP_FAILED : maps(next(at, n, prot, flags, fd, from));
}

void *
mmap64(void *at, size_t n, int prot, int flags, int fd, off64_t from)
{
	NEXT(mmap64);
	return fails() ? MAP_FAILED : maps(next(at, n, prot, flags, fd, from));
}

int
munmap(void *at, size_t n)
{
	int rc;

	NEXT(munmap);
	rc = next(at, n);
	fault->nlive -= rc == 0;
	return rc;
}
