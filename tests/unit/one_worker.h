/*
 * one_worker.h - a worker in a process of its own with a small program in it,
 * and the web server's side of a talk with it.
 */
#ifndef UNIT_ONE_WORKER_H
#define UNIT_ONE_WORKER_H

#include <sys/un.h>

#include "process/worker.h"

#define BIG_BYTES ((size_t)3000000)

/*
 * The program answers 200 with "ERROR TARGET BODY": the code and the content of
 * the body it read.  /big: BIG_BYTES of 'b'.  /wait: it waits for
 * one_worker_go() first.  /warn: it says "look here" in the log.  /leave: it
 * asks to leave.  It tells the test what it does by letters: 'O'pened,
 * 'S'erving, 'I'dle, 'C'losed.
 */
struct one_worker {
	char dir[64];
	struct sockaddr_un sa;
	int listen_fd;
	int log_fd;
	struct worker w; /* may be changed before the start */
	struct front_log log;
	struct settings settings;
	pid_t pid;       /* 0: none runs */
	bool say_idle;   /* say 'I' too */
	bool leaving;
	/* pipes: the worker's ends first */
	int say, hear;
	int wait, go;
};

/* For cmocka: *state is the struct. */
int one_worker_setup(void **state);
int one_worker_teardown(void **state);

void one_worker_start(struct one_worker *o);
/* Wait for the next letter and compare it. */
void one_worker_hear(const struct one_worker *o, char want);
void one_worker_go(const struct one_worker *o);
/* The worker has left or will soon, without being asked: its exit status. */
int one_worker_end(struct one_worker *o);
/* Ask an idle worker to leave. */
void one_worker_stop(struct one_worker *o);

int one_worker_dial(const struct one_worker *o);
/* Send all of b and release it. */
void send_all(int fd, struct idem_buf *b);
void send_request(int fd, const char *const *vars, struct idem_span body);

/* What an answer begins with; length is a literal. */
#define HEAD(length) "Status: 200 OK\r\nContent-Length: " length "\r\n\r\n"

/* Read the whole answer, compare it, close. */
void expect_answer(int fd, const char *want);
/* The same where nothing may come. */
void expect_nothing(int fd);
void expect_logged(const struct one_worker *o, const char *text);

/* A request that is served shows that the worker is there and free. */
extern const char *const get_a[];
#define ANSWER_A HEAD("5") "0 /a "
void expect_served(const struct one_worker *o);

#endif
