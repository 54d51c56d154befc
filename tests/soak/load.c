/*
 * load.c - the clients of the soak: many connections kept open to two web
 * servers, one request at a time on each, each answer judged.
 *
 * usage: load SECONDS SEED THINK_MS PORT CLIENTS [PORT CLIENTS]...
 * A client thinks for at most so long before each request.
 * It prints a line for each answer that is wrong, then the figures as JSON.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "mix.h"

#include "base/io.h"
#include "base/text.h"

#define CLIENTS_MAX 1000
#define SERVERS_MAX 4
#define ANSWER_MAX 65536
#define STUCK_MS 60000
#define CLOSE_ONE_IN 100 /* answers */
#define WRONG_SHOWN 20

struct server {
	uint16_t port;
	uint64_t nanswers, sum_ms;
	int64_t worst_ms;
	uint64_t within_ms[16]; /* below 1, 2, 4, ... ms */
};

struct client {
	int fd; /* -1: none */
	struct server *server;
	struct mix_asked asked;
	bool asking;
	int64_t next_ms; /* not asking: when it does; 0: no more */
	int64_t began_ms;
	size_t nsent;
	struct idem_buf out, in;
};

struct load {
	struct mix *mix;
	int epoll_fd;
	int64_t end_ms;
	uint32_t think_ms; /* at most, before the next request; not 0 */
	size_t nclients, nleft; /* who has something to do */
	uint64_t nwrong, nopened, nkind[MIX_NKINDS];
	struct server servers[SERVERS_MAX];
	struct client clients[CLIENTS_MAX];
};

static void
die(const char *what)
{
	perror(what);
	exit(2);
}

static void
wrong(struct load *l, const struct client *c, const char *why)
{
	struct idem_span in = idem_buf_span(&c->in);

	if (l->nwrong++ < WRONG_SHOWN)
		printf("wrong: %s, number %u, port %u: %s: %.*s\n",
		    mix_names[c->asked.kind], c->asked.of.number,
		    c->server->port, why, (int)(in.n > 700 ? 700 : in.n),
		    in.p != NULL ? in.p : "");
}

/* --- a connection --------------------------------------------------------- */

static void
hang_up(struct client *c)
{
	if (c->fd >= 0)
		(void)close(c->fd);
	c->fd = -1;
}

static void
dial(struct load *l, struct client *c)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
		.sin_port = htons(c->server->port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct epoll_event e = { .events = EPOLLIN | EPOLLOUT | EPOLLET,
		.data.ptr = c };
	const int on = 1;

	c->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	if (c->fd < 0 || setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on,
	    sizeof on) != 0 ||
	    (connect(c->fd, (struct sockaddr *)&to, sizeof to) != 0 &&
	    errno != EINPROGRESS) ||
	    epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, c->fd, &e) != 0)
		die("connect");
	l->nopened++;
}

static void
send_more(struct client *c)
{
	while (c->fd >= 0 && c->nsent < c->out.n) {
		ssize_t n = send(c->fd, c->out.p + c->nsent,
		    c->out.n - c->nsent, MSG_NOSIGNAL);

		if (n < 0)
			return; /* later, or the next read says why */
		c->nsent += (size_t)n;
	}
}

static void
ask(struct load *l, struct client *c)
{
	idem_buf_reset(&c->out);
	idem_buf_reset(&c->in);
	c->nsent = 0;
	mix_ask(l->mix, &c->asked, &c->out);
	if (idem_buf_err(&c->out) != IDEM_OK)
		abort();
	c->asking = true;
	c->began_ms = io_steady_ms();
	if (c->fd < 0)
		dial(l, c);
	send_more(c);
}

/* --- an answer ------------------------------------------------------------ */

static struct idem_span
field(struct idem_span head, const char *name)
{
	struct idem_span line, before;

	while (span_next(&head, '\n', &line)) {
		before = span_first(line, span_find(line, ':'));
		if (before.n < line.n && span_eq_nocase(before, span_of(name)))
			return span_trim((struct idem_span){ line.p + before.n +
			    1, line.n - before.n - 2 });
	}
	return IDEM_ABSENT;
}

/* Split what came; false: there is more to come. */
static bool
whole(struct idem_span in, struct idem_span *head, struct mix_got *got)
{
	const char *end = memmem(in.p, in.n, "\r\n\r\n", 4);
	uint64_t n = 0;

	if (in.n < 16 || end == NULL)
		return false;
	*head = (struct idem_span){ in.p, (size_t)(end - in.p) + 2 };
	if (parse_u64(field(*head, "Content-Length"), ANSWER_MAX, &n) !=
	    IDEM_OK)
		n = ANSWER_MAX; /* every answer of the mix has one */
	if (in.n - head->n - 2 < n)
		return false;
	got->body = (struct idem_span){ end + 4, (size_t)n };
	n = 0;
	if (parse_u64((struct idem_span){ in.p + 9, 3 }, 999, &n) != IDEM_OK)
		n = 0;
	got->status = (unsigned)n;
	got->replayed = span_eq(field(*head, "Idempotency-Replayed"),
	    IDEM_LIT("true"));
	got->retry_after = field(*head, "Retry-After").n > 0;
	return true;
}

static void
count(struct load *l, struct client *c)
{
	int64_t ms = io_steady_ms() - c->began_ms;
	unsigned i = 0;

	while (i < 15 && ms >= INT64_C(1) << i)
		i++;
	c->server->within_ms[i]++;
	c->server->nanswers++;
	c->server->sum_ms += (uint64_t)ms;
	if (ms > c->server->worst_ms)
		c->server->worst_ms = ms;
	l->nkind[c->asked.kind]++;
}

static void
go_on(struct load *l, struct client *c)
{
	c->asking = false;
	c->next_ms = io_steady_ms() + mix_draw(l->mix, l->think_ms);
	if (c->next_ms < l->end_ms)
		return;
	c->next_ms = 0;
	l->nleft--;
	hang_up(c);
}

static void
answered(struct load *l, struct client *c)
{
	struct idem_span head;
	struct mix_got got;
	const char *why;

	if (!whole(idem_buf_span(&c->in), &head, &got))
		return;
	count(l, c);
	if ((why = mix_judge(l->mix, &c->asked, &got)) != NULL)
		wrong(l, c, why);
	if (span_eq_nocase(field(head, "Connection"), IDEM_LIT("close")) ||
	    c->server->nanswers % CLOSE_ONE_IN == 0)
		hang_up(c);
	go_on(l, c);
}

static void
read_more(struct load *l, struct client *c)
{
	char part[16384];
	ssize_t n = -1;

	while (c->fd >= 0 && (n = recv(c->fd, part, sizeof part, 0)) > 0)
		idem_buf_put(&c->in, part, (size_t)n);
	if (idem_buf_err(&c->in) != IDEM_OK)
		abort();
	if (n == 0 || (n < 0 && errno != EAGAIN)) {
		hang_up(c);
		/* closed while idle is the server's right */
		if (c->asking && c->nsent > 0) {
			answered(l, c);
			if (c->fd < 0 && c->asking && c->in.n == 0)
				wrong(l, c, "closed without an answer");
		}
		return;
	}
	if (c->asking)
		answered(l, c);
}

/* --- all of them ---------------------------------------------------------- */

static void
ask_due(struct load *l)
{
	int64_t now = io_steady_ms();

	for (size_t i = 0; i < l->nclients; i++) {
		struct client *c = &l->clients[i];

		if (!c->asking && c->next_ms != 0 && c->next_ms <= now)
			ask(l, c);
	}
}

static void
check_stuck(struct load *l)
{
	for (size_t i = 0; i < l->nclients; i++) {
		struct client *c = &l->clients[i];

		if (c->asking && (c->fd < 0 ||
		    io_steady_ms() - c->began_ms > STUCK_MS)) {
			if (c->fd >= 0)
				wrong(l, c, "no whole answer in a minute");
			hang_up(c);
			go_on(l, c);
		}
	}
}

static void
run(struct load *l)
{
	struct epoll_event events[64];
	int64_t looked_ms = 0;

	for (size_t i = 0; i < l->nclients; i++)
		l->clients[i].next_ms = io_steady_ms() +
		    mix_draw(l->mix, l->think_ms);
	l->nleft = l->nclients;
	while (l->nleft > 0) {
		int n = epoll_wait(l->epoll_fd, events, 64, 5);

		for (int i = 0; i < n; i++) {
			struct client *c = events[i].data.ptr;

			send_more(c);
			read_more(l, c);
		}
		ask_due(l);
		if (io_steady_ms() - looked_ms > 1000) {
			check_stuck(l);
			looked_ms = io_steady_ms();
		}
	}
}

static uint64_t
number(const char *text, uint64_t max)
{
	uint64_t n;

	if (parse_u64(span_of(text), max, &n) == IDEM_OK)
		return n;
	fprintf(stderr, "load: %s is no number up to %llu\n", text,
	    (unsigned long long)max);
	exit(2);
}

static void
print_server(const struct server *s)
{
	uint64_t seen = 0;
	unsigned i = 0;

	while (i < 15 && (seen += s->within_ms[i]) * 100 < s->nanswers * 99)
		i++;
	printf("{\"port\":%u,\"answers\":%llu,\"mean_ms\":%.1f,"
	    "\"p99_below_ms\":%u,\"worst_ms\":%lld}", s->port,
	    (unsigned long long)s->nanswers, (double)s->sum_ms /
	    (double)(s->nanswers + (s->nanswers == 0)), 1u << i,
	    (long long)s->worst_ms);
}

static void
print(const struct load *l, size_t nservers)
{
	printf("{\"wrong\":%llu,\"opened\":%llu,\"effects\":%llu,"
	    "\"conflicts\":%llu,\"kinds\":{", (unsigned long long)l->nwrong,
	    (unsigned long long)l->nopened,
	    (unsigned long long)mix_effects(l->mix),
	    (unsigned long long)mix_conflicts(l->mix));
	for (size_t i = 0; i < MIX_NKINDS; i++)
		printf("%s\"%s\":%llu", i > 0 ? "," : "", mix_names[i],
		    (unsigned long long)l->nkind[i]);
	printf("},\"servers\":[");
	for (size_t i = 0; i < nservers; i++) {
		printf("%s", i > 0 ? "," : "");
		print_server(&l->servers[i]);
	}
	printf("]}\n");
}

static void
add_server(struct load *l, size_t i, const char *port, const char *n)
{
	size_t end = l->nclients + (size_t)number(n, CLIENTS_MAX -
	    l->nclients);

	l->servers[i].port = (uint16_t)number(port, 65535);
	for (; l->nclients < end; l->nclients++) {
		struct client *c = &l->clients[l->nclients];

		*c = (struct client){ .fd = -1, .server = &l->servers[i] };
		idem_buf_init(&c->out, ANSWER_MAX);
		idem_buf_init(&c->in, ANSWER_MAX);
	}
}

int
main(int argc, char **argv)
{
	struct load *l = calloc(1, sizeof *l);
	size_t nservers = ((size_t)argc - 4) / 2;

	if (l == NULL || argc < 6 || argc % 2 != 0 || nservers > SERVERS_MAX)
		return 2;
	for (size_t i = 0; i < nservers; i++)
		add_server(l, i, argv[4 + 2 * i], argv[5 + 2 * i]);
	l->mix = mix_new(number(argv[2], UINT64_MAX));
	l->think_ms = (uint32_t)number(argv[3], 100000) + 1;
	if ((l->epoll_fd = epoll_create1(EPOLL_CLOEXEC)) < 0)
		die("epoll");
	l->end_ms = io_steady_ms() + (int64_t)number(argv[1], 1000000) * 1000;
	run(l);
	print(l, nservers);
	for (size_t i = 0; i < l->nclients; i++) {
		idem_buf_free(&l->clients[i].out);
		idem_buf_free(&l->clients[i].in);
	}
	mix_free(l->mix);
	free(l);
	return 0;
}
