/*
 * test_group_file.c - the shared file of the group commit: what is refused, and
 * what becomes of those who use it when it is full, left over, removed or cut.
 */
#include "tests.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "base/text.h"
#include "stage.h"

static const struct puppet_order open_order = { .verb = PUPPET_OPEN,
	.wait_ms = 300 };

static void
path_of(const struct stage *s, char path[100])
{
	assert_int_equal(text_format(path, 100, "%s/group.2", s->dir),
	    IDEM_OK);
}

static void
write_file(const char *path, char byte, size_t n)
{
	char block[4096];
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	memset(block, byte, sizeof block);
	for (; n >= sizeof block; n -= sizeof block)
		assert_int_equal(io_write(fd, block, sizeof block), IDEM_OK);
	assert_int_equal(io_write(fd, block, n), IDEM_OK);
	assert_int_equal(close(fd), 0);
}

static void
assert_refused(struct stage *s, enum idem_err err, const char *why)
{
	struct puppet *p = puppet_make(s->fake, s->dir, 1);

	assert_int_equal(puppet_ask(p, open_order).err, err);
	if (strstr(p->log, why) == NULL)
		print_error("log: %s\n", p->log);
	assert_non_null(strstr(p->log, why));
	assert_ends(p);
}

static void
assert_works(struct stage *s, uint32_t id)
{
	struct puppet *p = puppet_open(s, 1, 0);

	assert_outcome(puppet_ask(p, order(id, FAKE_ADD)), id, FAKE_DID);
	assert_ends(p);
}

/* What stands in a file that nobody uses is not believed, whatever it is. */
static void
a_file_left_over_is_made_anew(void **state)
{
	static const struct { char byte; size_t n; } rows[] = {
		{ 'x', 0 }, { 'x', 10 },
		{ '\xff', sizeof(struct group_shared) },
		{ '\1', sizeof(struct group_shared) },
		{ '\2', sizeof(struct group_shared) + 100000 },
	};
	struct stage *s = *state;
	char path[100];
	struct stat st;

	path_of(s, path);
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		write_file(path, rows[i].byte, rows[i].n);
		assert_works(s, i + 1);
		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(st.st_size, sizeof(struct group_shared));
		assert_true(st.st_blocks * 512 >= st.st_size);
		assert_int_equal(st.st_mode & 0777, 0600);
	}
}

/* The first to attach flushes, and nobody else gets in before. */
static void
the_first_to_attach_flushes(void **state)
{
	struct stage *s = *state;
	struct puppet *p = puppet_open(s, 1, 0);

	assert_int_equal(s->fake->nflushes, 1);
	puppet_ask(p, (struct puppet_order){ .verb = PUPPET_DIE_AT,
	    .step = FAKE_VISIBLE, .nth = 1 });
	puppet_tell(p, order(1, FAKE_ADD));
	puppet_killed(&p);
	assert_int_equal(fake_times(s->fake, 1), 1);
	assert_int_equal(fake_times_durable(s->fake, 1), 0);
	p = puppet_open(s, 1, 0);
	assert_int_equal(fake_times_durable(s->fake, 1), 1);
	assert_int_equal(s->fake->nflushes, 2);
	assert_works(s, 2);
	assert_int_equal(s->fake->nflushes, 2); /* that one was not the first */
	assert_ends(p);
	s->fake->flush_err = IDEM_EIO;
	errno = 0;
	p = puppet_make(s->fake, s->dir, 1);
	assert_int_equal(puppet_ask(p, open_order).err, IDEM_EIO);
	s->fake->flush_err = IDEM_OK;
	assert_int_equal(puppet_ask(p, open_order).err, IDEM_OK);
	assert_ends(p);
}

static void
others_are_refused(void **state)
{
	struct stage *s = *state;
	struct puppet *p = puppet_open(s, 1, 0);
	struct group_shared *shared = group_peek(s->dir);

	shared->layout++;
	assert_refused(s, IDEM_EREFUSED, "used by another build");
	shared->layout--;
	shared->build++;
	assert_refused(s, IDEM_EREFUSED, "used by another build");
	shared->build--;
	shared->size--;
	assert_refused(s, IDEM_EREFUSED, "used by another build");
	shared->size++;
	shared->magic[0]++;
	assert_refused(s, IDEM_EREFUSED, "used by another build");
	shared->magic[0]--;
	shared->pid_namespace++;
	assert_refused(s, IDEM_EREFUSED, "another pid namespace");
	shared->pid_namespace--;
	assert_works(s, 1);
	assert_outcome(puppet_ask(p, order(2, FAKE_ADD)), 2, FAKE_DID);
	assert_ends(p);
	group_unpeek(&shared);
}

static int
in_other_namespace(void *arg)
{
	struct stage *s = arg;
	pid_t pid;
	int status;

	if (unshare(CLONE_NEWPID) != 0)
		return errno == EPERM ? 77 : 1;
	if ((pid = fork()) == 0) {
		/* /proc is the old one's: ns/pid is right all the same */
		struct fake_client c;
		struct group *g = NULL;

		fake_client_init(&c, s->fake, 1);
		const struct group_work work = fake_work(&c);
		_exit(group_open(s->dir, &work, 300, NULL, &g) ==
		    IDEM_EREFUSED ? 0 : 2);
	}
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ?
	    WEXITSTATUS(status) : 3;
}

static void
another_pid_namespace_is_refused(void **state)
{
	struct stage *s = *state;
	struct puppet *p = puppet_open(s, 1, 0);
	int status = proc_wait(proc_start(in_other_namespace, s), false);

	assert_ends(p);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip(); /* only root may make one */
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void
no_slot_is_free(void **state)
{
	struct stage *s = *state;
	struct puppet *p = puppet_open(s, 1, 0);
	/* as 1,023 other processes would */
	struct flock l = { .l_type = F_WRLCK, .l_whence = SEEK_SET,
		.l_start = ((off_t)1 << 40) + 16 + 1, .l_len = 1023 };
	char path[100];
	int fd;

	path_of(s, path);
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_int_equal(fcntl(fd, F_OFD_SETLK, &l), 0);
	assert_refused(s, IDEM_EBUSY, "no free slot");
	l.l_start += 1022;
	l.l_len = 1;
	l.l_type = F_UNLCK;
	assert_int_equal(fcntl(fd, F_OFD_SETLK, &l), 0);
	assert_works(s, 1); /* the very last one */
	assert_outcome(puppet_ask(p, order(2, FAKE_ADD)), 2, FAKE_DID);
	assert_int_equal(close(fd), 0);
	assert_ends(p);
}

static int
without_room(void *arg)
{
	struct stage *s = arg;
	const struct rlimit limit = { 100000, 100000 };
	struct fake_client c;
	struct group *g = NULL;

	if (signal(SIGXFSZ, SIG_IGN) == SIG_ERR ||
	    setrlimit(RLIMIT_FSIZE, &limit) != 0)
		return 1;
	fake_client_init(&c, s->fake, 1);
	const struct group_work work = fake_work(&c);
	return (int)group_open(s->dir, &work, 300, NULL, &g);
}

static void
places_without_room_or_rights(void **state)
{
	struct stage *s = *state;
	char path[100];

	assert_int_equal(WEXITSTATUS(proc_wait(proc_start(without_room, s),
	    false)), IDEM_EFULL);
	assert_works(s, 1);
	path_of(s, path);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_refused(s, IDEM_EIO, "group.2: no group commit: Is a directory");
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(symlink("elsewhere", path), 0);
	assert_refused(s, IDEM_EIO, "Too many levels of symbolic links");
	assert_int_equal(unlink(path), 0);
	assert_works(s, 2);
}

/*
 * The file goes while two use it.  They go on among themselves, newcomers make
 * another one, and a recovery in either group finds its own last batch although
 * the other one has committed since.
 */
static void
a_removed_file_makes_two_groups(void **state)
{
	struct stage *s = *state;
	struct puppet *old[2] = { puppet_open(s, 1, 0), puppet_open(s, 1, 0) },
	    *new;
	struct group_shared *shared = group_peek(s->dir);
	const struct puppet_order o[2] = { order(1, FAKE_ADD),
		order(2, FAKE_ADD) };
	struct puppet_reply r;
	char path[100];

	path_of(s, path);
	assert_int_equal(unlink(path), 0);
	new = puppet_open(s, 1, 0);
	assert_int_equal(puppet_ask(new, order(9, FAKE_ADD)).slot, 0);
	puppet_ask(old[0], (struct puppet_order){ .verb = PUPPET_DIE_AT,
	    .step = FAKE_VISIBLE, .nth = 1 });
	/* the survivor is not to recover before the other group commits */
	puppet_ask(old[1], arm("group-inherited:stop"));
	stage_gather(s, shared, old, o, 2);
	puppet_killed(&old[0]);
	puppet_until_stopped(old[1]);
	assert_outcome(puppet_ask(new, order(3, FAKE_ADD)), 3, FAKE_DID);
	puppet_go_on(old[1]);
	r = puppet_reply(old[1]);
	assert_outcome(r, 2, FAKE_DID);
	assert_int_equal(r.counts.nrecovered, 1);
	assert_int_equal(fake_times(s->fake, 1), 1);
	assert_int_equal(fake_times(s->fake, 2), 1);
	assert_ends(old[1]);
	assert_ends(new);
	group_unpeek(&shared);
}

/* Nothing can prevent it: whoever touches what is no longer there dies of it.
 * What was answered stays, and the last one's end makes it whole. */
static void
a_file_cut_short_kills_who_uses_it(void **state)
{
	struct stage *s = *state;
	struct puppet *p[2] = { puppet_open(s, 1, 0), puppet_open(s, 1, 0) };
	char path[100];

	path_of(s, path);
	assert_outcome(puppet_ask(p[0], order(1, FAKE_ADD)), 1, FAKE_DID);
	assert_int_equal(truncate(path, 0), 0);
	assert_refused(s, IDEM_EREFUSED, "or cut short");
	for (int i = 0; i < 2; i++) {
		puppet_tell(p[i], order(2, FAKE_ADD));
		assert_int_equal(puppet_end(&p[i]), SIGBUS);
	}
	assert_int_equal(fake_times(s->fake, 1), 1);
	assert_int_equal(fake_times(s->fake, 2), 0);
	assert_works(s, 3);
}

int
main(void)
{
	const struct CMUnitTest all[] = {
		STAGE(a_file_left_over_is_made_anew),
		STAGE(the_first_to_attach_flushes),
		STAGE(others_are_refused),
		STAGE(another_pid_namespace_is_refused),
		STAGE(no_slot_is_free),
		STAGE(places_without_room_or_rights),
		STAGE(a_removed_file_makes_two_groups),
		STAGE(a_file_cut_short_kills_who_uses_it),
	};

	return cmocka_run_group_tests(all, NULL, NULL);
}
