/*
 * sightings.c - the table of what came under which record lately.  A slot is
 * one atomic word, so it is never torn and nobody waits.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "store/sightings.h"

#include "base/bytes.h"

/*
 * tag of what 24 bits, of the id 22 bits, second of the sighting 18 bits: the
 * clock of a slot comes round after three days, and of a million sightings
 * less than one is mistaken for another.
 */
#define ID_BITS 22
#define TIME_BITS 18
#define LOW(v, bits) ((v) & ((UINT64_C(1) << (bits)) - 1))
#define TABLE_BYTES (SIGHTINGS_SLOTS * sizeof(uint64_t))

static void *
map_file(const char *path, const struct idem_log *log)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	void *p = MAP_FAILED;
	int err = fd < 0 ? errno : 0;

	/* A hole in the file would be a SIGBUS on a full disk. */
	if (err == 0)
		err = posix_fallocate(fd, 0, TABLE_BYTES);
	if (err == 0) {
		p = mmap(NULL, TABLE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
		    fd, 0);
		err = p == MAP_FAILED ? errno : 0;
	}
	if (fd >= 0)
		(void)close(fd); /* the mapping holds the file */
	if (err != 0)
		idem_log(log, IDEM_WARN, "%s: %s: one key under two users will "
		    "not be noticed", path, strerror(err));
	return p;
}

void
sightings_open(struct sightings *s, const char *path,
    const struct idem_log *log)
{
	void *p = path != NULL ? map_file(path, log) :
	    mmap(NULL, TABLE_BYTES, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	s->slots = p == MAP_FAILED ? NULL : p;
}

void
sightings_close(struct sightings *s)
{
	if (s->slots != NULL)
		(void)munmap((void *)s->slots, TABLE_BYTES);
	s->slots = NULL;
}

bool
sightings_other(struct sightings *s, uint64_t what,
    const unsigned char id[IDEM_ID_BYTES], int64_t now_ms)
{
	uint64_t now_s = LOW((uint64_t)(now_ms / 1000), TIME_BITS);
	uint64_t tag = what >> (ID_BITS + TIME_BITS);
	uint64_t short_id = LOW(u64_from_key(id), ID_BITS);
	uint64_t new, old;

	if (s->slots == NULL)
		return false;
	new = tag << (ID_BITS + TIME_BITS) | short_id << TIME_BITS | now_s;
	old = atomic_exchange_explicit(&s->slots[what % SIGHTINGS_SLOTS], new,
	    memory_order_relaxed);
	return old != 0 && old >> (ID_BITS + TIME_BITS) == tag &&
	    LOW(old >> TIME_BITS, ID_BITS) != short_id &&
	    LOW(now_s - old, TIME_BITS) < SIGHTINGS_WINDOW_S;
}
