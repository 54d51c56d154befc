/*
 * kv_env.c - an LMDB environment as a whole: opening and closing, what its
 * errors mean, its size.
 *
 * Flags: MDB_NOTLS, so that an idle process keeps no reader's slot; never
 * MDB_WRITEMAP, which turns a full disk and a growing file into SIGBUS.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include "store/kv_lmdb.h"

#include "base/io.h"
#include "base/text.h"
#include "store/datafile.h"
#include "store/openlock.h"
#include "store/place.h"

#define READERS_MAX 2048
#define MAP_FIRST_BYTES (UINT64_C(16) << 20)
#define MAP_STEP_BYTES (UINT64_C(256) << 20) /* doubled up to here */
#define MAP_UNIT_BYTES (UINT64_C(1) << 16) /* whole pages everywhere */
#define OPEN_TRIES 10
#define OPEN_PAUSE_NS 20000000

static const struct {
	int rc;
	enum idem_err err;
	const char *advice; /* NULL: place_advice() */
} meanings[] = {
	{ MDB_CORRUPTED, IDEM_ECORRUPT,
	    "put a copy of the store in its place" },
	{ MDB_PAGE_NOTFOUND, IDEM_ECORRUPT,
	    "put a copy of the store in its place" },
	{ MDB_INVALID, IDEM_ECORRUPT, "put a copy of the store in its place" },
	{ MDB_VERSION_MISMATCH, IDEM_ENEWER, "it was made by another LMDB: "
	    "install the version that made it" },
	{ MDB_PANIC, IDEM_EMOVED, "the disk failed before: look at the disk; "
	    "this process leaves" },
	{ EINVAL, IDEM_EMOVED, "the locks in lock.mdb are gone: stop all "
	    "programs that use the store, then start them" },
	{ EAGAIN, IDEM_ESTORE, "programs in several pid namespaces share the "
	    "store: run them in one" },
	{ MDB_READERS_FULL, IDEM_ESTORE, "too many processes read at once: run "
	    "fewer" },
	{ MDB_MAP_FULL, IDEM_EFULL, "sweep, or raise IDEM_MAX_STORE" },
	{ ENOSPC, IDEM_EFULL, NULL },
	{ EDQUOT, IDEM_EFULL, NULL },
	{ EFBIG, IDEM_EFULL, NULL },
	{ ENOMEM, IDEM_ENOMEM, "raise the limit on address space, or lower "
	    "IDEM_MAX_STORE" },
	{ EACCES, IDEM_ESTORE, "its files must belong to the user that this "
	    "program runs as" },
	{ EPERM, IDEM_ESTORE, "its files must belong to the user that this "
	    "program runs as" },
};

enum idem_err
kv_fail(const struct kv *kv, const char *what, int rc)
{
	enum idem_err err = IDEM_ESTORE;
	const char *advice = place_advice(rc);

	for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++)
		if (meanings[i].rc == rc) {
			err = meanings[i].err;
			if (meanings[i].advice != NULL)
				advice = meanings[i].advice;
		}
	idem_log(kv->log, IDEM_ERROR, "store %s: %s: %s: %s", kv->dir, what,
	    mdb_strerror(rc), advice);
	return err;
}

/* LMDB prints the rest of this message and aborts. */
static void
say_damaged(MDB_env *env, const char *text)
{
	const struct kv *kv = mdb_env_get_userctx(env);

	(void)text;
	(void)kv_fail(kv, "data.mdb", MDB_CORRUPTED);
}

static int
open_once(struct kv *kv)
{
	uint64_t map = kv->max_bytes < MAP_FIRST_BYTES ? kv->max_bytes :
	    MAP_FIRST_BYTES;
	int rc;

	if ((rc = mdb_env_create(&kv->env)) != 0)
		return rc;
	if ((rc = mdb_env_set_userctx(kv->env, kv)) != 0 ||
	    (rc = mdb_env_set_assert(kv->env, say_damaged)) != 0 ||
	    (rc = mdb_env_set_mapsize(kv->env, map)) != 0 ||
	    (rc = mdb_env_set_maxdbs(kv->env, KV_TABLES_MAX)) != 0 ||
	    (rc = mdb_env_set_maxreaders(kv->env, READERS_MAX)) != 0 ||
	    (rc = mdb_env_open(kv->env, kv->dir, kv->flags, 0600)) != 0) {
		mdb_env_close(kv->env);
		kv->env = NULL;
	}
	return rc;
}

/* LMDB's files appear one after the other, so a process that comes in between
 * may miss one. */
static int
open_patiently(struct kv *kv)
{
	const struct timespec pause = { 0, OPEN_PAUSE_NS };
	int rc = open_once(kv);

	for (int i = 1; i < OPEN_TRIES && (rc == ENOENT || rc == EAGAIN ||
	    rc == EBUSY || rc == EINVAL); i++) {
		(void)nanosleep(&pause, NULL);
		rc = open_once(kv);
	}
	return rc;
}

static int
put_aside(const struct kv *kv)
{
	bool aside;
	int rc = datafile_put_aside(kv->dir, &aside);

	if (rc == 0 && aside)
		idem_log(kv->log, IDEM_WARN, "store %s: data.mdb was never "
		    "finished, as after a power cut while it was made: made "
		    "anew; the old one is data.mdb.unfinished", kv->dir);
	return rc;
}

static int
open_locked(struct kv *kv, bool fresh)
{
	bool new;
	int rc;

	if (fresh && (rc = put_aside(kv)) != 0)
		return rc;
	if ((rc = datafile_make_locks(kv->dir, READERS_MAX)) != 0)
		return rc;
	new = datafile_is_lost(kv->dir);
	rc = open_patiently(kv);
	if (rc != 0 && new)
		datafile_take_back(kv->dir);
	return rc;
}

/*
 * A data file ends where IDEM_MAX_STORE lets it, or at most that much behind
 * where it ends now.  Seen before LMDB believes in a damaged number, and maps
 * that many bytes.
 */
static enum idem_err
judge_last_page(const struct kv *kv)
{
	uint64_t npages, page_bytes, file_bytes;

	if (!datafile_last_page(kv->dir, &npages, &page_bytes, &file_bytes) ||
	    npages <= (kv->max_bytes + (file_bytes > kv->max_bytes ?
	    file_bytes : kv->max_bytes)) / page_bytes)
		return IDEM_OK;
	idem_log(kv->log, IDEM_ERROR, "store %s: data.mdb: the number of its "
	    "last page is damaged, %" PRIu64 " pages in %" PRIu64 " bytes: put "
	    "a copy of the store in its place", kv->dir, npages, file_bytes);
	return IDEM_ECORRUPT;
}

/* A data file that was cut off: see datafile_reach(). */
static enum idem_err
reach_last_page(struct kv *kv)
{
	struct kv_pages pages;
	struct kv_txn t;
	enum idem_err err = kv_pages(kv, false, &pages);
	off_t end;
	int rc;

	if (err != IDEM_OK)
		return err;
	end = (off_t)(pages.end * pages.page_bytes);
	if (!datafile_ends_before(kv_fd(kv), end))
		return IDEM_OK;
	if ((err = kv_begin(kv, true, &t)) != IDEM_OK)
		return err;
	rc = datafile_reach(kv_fd(kv), end);
	kv_abort(&t);
	return rc != 0 ? kv_fail(kv, "data.mdb", rc) : IDEM_OK;
}

static enum idem_err
start(struct kv *kv, const struct kv_config *config)
{
	enum idem_err err;
	int rc;

	if (!config->create &&
	    (err = datafile_expect(kv->dir, kv->log)) != IDEM_OK)
		return err;
	if ((err = judge_last_page(kv)) != IDEM_OK)
		return err;
	if ((err = openlock_take(kv->dir, kv->log, &kv->open_lock)) != IDEM_OK)
		return err;
	rc = open_locked(kv, config->create && config->fresh);
	openlock_give(kv->open_lock);
	if (rc == MDB_INVALID && config->fresh)
		idem_log(kv->log, IDEM_WARN, "store %s: no worker ever used "
		    "it: if data.mdb is a copy, bring it once more, else "
		    "remove it", kv->dir);
	return rc != 0 ? kv_fail(kv, "open", rc) : IDEM_OK;
}

enum idem_err
kv_open(const struct kv_config *config, struct kv **out)
{
	struct kv *kv = calloc(1, sizeof *kv);
	enum idem_err err;

	if (kv == NULL)
		return IDEM_ENOMEM;
	kv->max_bytes = config->max_bytes - config->max_bytes % MAP_UNIT_BYTES;
	kv->flags = MDB_NOTLS | (config->durable ? 0 : MDB_NOSYNC);
	kv->log = config->log;
	kv->open_lock = -1;
	kv_wait_until(kv, io_steady_ms() + config->wait_ms);
	kv->dbi[KV_FREE] = 0; /* fixed by LMDB, as the next */
	kv->dbi[KV_NAMES] = 1;
	if ((err = text_format(kv->dir, sizeof kv->dir, "%s", config->dir)) !=
	    IDEM_OK || (err = start(kv, config)) != IDEM_OK) {
		openlock_close(&kv->open_lock);
		free(kv);
		return err;
	}
	datafile_close_on_exec(kv_fd(kv));
	kv_check_readers(kv);
	if ((err = reach_last_page(kv)) != IDEM_OK) {
		kv_close(&kv);
		return err;
	}
	*out = kv;
	return IDEM_OK;
}

void
kv_wait_until(struct kv *kv, int64_t end_ms)
{
	kv->until_ms = end_ms;
}

void
kv_close(struct kv **kv)
{
	if (*kv == NULL)
		return;
	/* not taken: logged, and closed all the same */
	(void)!openlock_take((*kv)->dir, (*kv)->log, &(*kv)->open_lock);
	mdb_env_close((*kv)->env);
	openlock_close(&(*kv)->open_lock);
	free(*kv);
	*kv = NULL;
}

int
kv_fd(struct kv *kv)
{
	mdb_filehandle_t fd = -1;

	return mdb_env_get_fd(kv->env, &fd) == 0 ? fd : -1;
}

/* LMDB unmaps before it maps, and is lost where the second fails: so see first
 * whether that much can be had. */
static bool
can_map(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_NONE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return false;
	/* cppcheck-suppress nullPointerOutOfMemory ; it is MAP_FAILED */
	(void)munmap(p, bytes);
	return true;
}

static bool
set_map(struct kv *kv, size_t bytes)
{
	int rc = mdb_env_set_mapsize(kv->env, bytes);

	if (rc == 0)
		return true;
	kv->broken = true; /* there is no map now */
	(void)kv_fail(kv, "the map", rc);
	return false;
}

enum idem_err
kv_grow(struct kv *kv, bool beyond)
{
	uint64_t limit = beyond ? 2 * kv->max_bytes : kv->max_bytes;
	uint64_t bytes;
	MDB_envinfo info;
	int rc;

	if (kv->broken)
		return IDEM_EMOVED;
	if ((rc = mdb_env_info(kv->env, &info)) != 0)
		return kv_fail(kv, "the map", rc);
	if (info.me_mapsize >= limit)
		return kv_fail(kv, "data.mdb", MDB_MAP_FULL);
	bytes = info.me_mapsize + (info.me_mapsize < MAP_STEP_BYTES ?
	    info.me_mapsize : MAP_STEP_BYTES);
	if (bytes > limit)
		bytes = limit;
	if (!can_map(bytes))
		return kv_fail(kv, "growing the map", ENOMEM);
	return set_map(kv, bytes) ? IDEM_OK : IDEM_EMOVED;
}

enum idem_err
kv_flush(struct kv *kv)
{
	int rc = mdb_env_sync(kv->env, 1);

	return rc == 0 ? IDEM_OK : kv_fail(kv, "flush", rc);
}

void
kv_adopt_size(struct kv *kv)
{
	(void)set_map(kv, 0); /* failed: the environment counts as broken */
}

void
kv_check_readers(struct kv *kv)
{
	int rc = mdb_reader_check(kv->env, NULL);

	if (rc != 0)
		(void)kv_fail(kv, "checking the readers", rc);
}
