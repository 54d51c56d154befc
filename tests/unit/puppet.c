/*
 * puppet.c - processes that the tests of the group commit start, script and
 * wait for.
 */
#include "tests.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "base/text.h"
#include "puppet.h"
#include "store/failpoint.h"
#include "store/group_lead.h"

pid_t
proc_start(int (*fn)(void *arg), void *arg)
{
	static const int caught[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT,
		SIGSYS };
	pid_t parent = getpid(), pid = fork();

	assert_true(pid >= 0);
	if (pid > 0)
		return pid;
	/* cmocka's handlers would go on with the tests in here */
	for (size_t i = 0; i < COUNT(caught); i++)
		if (signal(caught[i], SIG_DFL) == SIG_ERR)
			_exit(120);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
		_exit(120);
	_exit(fn(arg));
}

int
proc_wait(pid_t pid, bool stopped)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0), status = 0;
	struct pollfd p = { .fd = fd, .events = POLLIN };

	if (stopped || fd < 0) { /* no descriptor tells of that; or valgrind */
		(void)alarm(PATIENCE_MS / 1000); /* ends the whole program */
		assert_int_equal(waitpid(pid, &status,
		    stopped ? WUNTRACED : 0), pid);
		(void)alarm(0);
		(void)close(fd);
		return status;
	}
	if (poll(&p, 1, PATIENCE_MS) != 1) {
		print_error("process %d does not end\n", (int)pid);
		(void)kill(pid, SIGKILL);
	}
	(void)close(fd);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

/* --- the puppet's own side --- */

struct life {
	struct puppet *puppet;
	struct fake *fake;
	const char *dir;
	uint8_t program;
	int fd;
	struct fake_client client;
	struct group *group;
	struct idem_buf result;
};

static void
note(void *arg, enum idem_level level, const char *text)
{
	struct puppet *p = arg;

	(void)level; /* a callback's */
	if (text_format(p->log, sizeof p->log, "%s", text) != IDEM_OK)
		p->log[0] = '\0';
}

static enum idem_err
open_group(struct life *l, const struct puppet_order *o)
{
	const struct idem_log log = { note, l->puppet };
	const struct group_work work = fake_work(&l->client);
	enum idem_err err = group_open(l->dir, &work,
	    o->wait_ms > 0 ? o->wait_ms : PATIENCE_MS, &log, &l->group);

	if (err == IDEM_OK && o->net_ms > 0)
		l->group->net_ms = o->net_ms;
	return err;
}

static enum idem_err
carry_out(struct life *l, const struct puppet_order *o)
{
	char bytes[8192] = "";
	struct idem_span request = { bytes,
		o->nrequest > 0 ? o->nrequest : sizeof o->request };

	memcpy(bytes, &o->request, sizeof o->request);
	return o->verb == PUPPET_LEAD ?
	    group_lead(l->group, request, &l->result) :
	    group_submit(l->group, request, &l->result);
}

static enum idem_err
obey(struct life *l, const struct puppet_order *o)
{
	switch (o->verb) {
	case PUPPET_OPEN:
		return open_group(l, o);
	case PUPPET_CLOSE:
		group_close(&l->group);
		return IDEM_OK;
	case PUPPET_SUBMIT:
	case PUPPET_LEAD:
		return carry_out(l, o);
	case PUPPET_ARM:
		return failpoint_arm(o->text) ? IDEM_OK : IDEM_ESYNTAX;
	case PUPPET_DIE_AT:
		l->client.die_at = o->step;
		l->client.nth = o->nth;
		return IDEM_OK;
	case PUPPET_SICK:
		l->client.sick = true;
		return IDEM_OK;
	case PUPPET_END:
		break;
	}
	return IDEM_OK;
}

static int
live(void *arg)
{
	struct life *l = arg;
	struct puppet_order o;

	fake_client_init(&l->client, l->fake, l->program);
	idem_buf_init(&l->result, 1 << 20);
	while (io_read(l->fd, &o, sizeof o) == sizeof o &&
	    o.verb != PUPPET_END) {
		struct puppet_reply r = { .err = obey(l, &o) };

		r.nresult = (uint32_t)l->result.n;
		if (r.err == IDEM_OK && l->result.n >= sizeof r.result)
			memcpy(&r.result, l->result.p, sizeof r.result);
		r.durable = fake_times_durable(l->fake, o.request.id) == 1;
		if (l->group != NULL) {
			r.slot = l->group->file.me;
			r.in_doubt = group_in_doubt(l->group);
			r.counts = group_counts(l->group);
		}
		if (io_write(l->fd, &r, sizeof r) != IDEM_OK)
			return 121;
	}
	group_close(&l->group);
	fake_client_free(&l->client);
	idem_buf_free(&l->result);
	return 0;
}

/* --- the side of the test --- */

struct puppet *
puppet_make(struct fake *f, const char *dir, uint8_t program)
{
	int pair[2];
	struct puppet *p = mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct life l = { .puppet = p, .fake = f, .dir = dir,
		.program = program };

	assert_ptr_not_equal(p, MAP_FAILED);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0,
	    pair), 0);
	p->fd = pair[0];
	l.fd = pair[1];
	p->pid = proc_start(live, &l);
	(void)close(pair[1]);
	return p;
}

void
puppet_tell(struct puppet *p, struct puppet_order order)
{
	assert_int_equal(io_write(p->fd, &order, sizeof order), IDEM_OK);
}

struct puppet_reply
puppet_reply(struct puppet *p)
{
	struct puppet_reply r;
	struct pollfd in = { .fd = p->fd, .events = POLLIN };

	assert_int_equal(poll(&in, 1, PATIENCE_MS), 1);
	assert_int_equal(io_read(p->fd, &r, sizeof r), sizeof r);
	return r;
}

struct puppet_reply
puppet_ask(struct puppet *p, struct puppet_order order)
{
	puppet_tell(p, order);
	return puppet_reply(p);
}

int
puppet_end(struct puppet **p)
{
	const struct puppet_order end = { .verb = PUPPET_END };
	int status;

	/* or it is dead */
	(void)send((*p)->fd, &end, sizeof end, MSG_NOSIGNAL);
	status = proc_wait((*p)->pid, false);
	(void)close((*p)->fd);
	assert_int_equal(munmap(*p, sizeof **p), 0);
	*p = NULL;
	if (WIFSIGNALED(status))
		return WTERMSIG(status);
	assert_int_equal(WEXITSTATUS(status), 0);
	return 0;
}

void
puppet_killed(struct puppet **p)
{
	int status = proc_wait((*p)->pid, false);

	(void)close((*p)->fd);
	assert_int_equal(munmap(*p, sizeof **p), 0);
	*p = NULL;
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGKILL);
}

void
puppet_until_stopped(struct puppet *p)
{
	assert_true(WIFSTOPPED(proc_wait(p->pid, true)));
}

void
puppet_go_on(struct puppet *p)
{
	assert_int_equal(kill(p->pid, SIGCONT), 0);
}
