/*
 * lane.c - builds a state and has it judged, each in a process of its own.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hunt.h"

#include "base/text.h"

#define FAULTS_SHOWN 8
#define REFUSALS_SHOWN 3
#define SECONDS_MAX 20 /* for one state */

void
hunt_empty(const char *dir)
{
	char path[4400];
	struct dirent *e;
	DIR *d = opendir(dir);

	while (d != NULL && (e = readdir(d)) != NULL)
		if (text_format(path, sizeof path, "%s/%s", dir, e->d_name) ==
		    IDEM_OK)
			(void)unlink(path);
	if (d != NULL)
		(void)closedir(d);
	(void)rmdir(dir);
}

static void
report(struct hunt *h, struct lane *l)
{
	static const char *const names[] = { "", "refused", "LOST", "BAD" };
	const struct verdict *v = l->verdict;
	uint64_t shown = v->what == JUDGED_REFUSED ? h->f.nrefused :
	    h->f.nlost + h->f.nbad;

	if (shown <= (v->what == JUDGED_REFUSED ? REFUSALS_SHOWN :
	    FAULTS_SHOWN))
		(void)fprintf(stderr, "%s: cut behind entry %" PRIu64
		    ", %s: %s\n", names[v->what], l->entry, l->how, v->text);
}

static void
count(struct hunt *h, struct lane *l, int status)
{
	static const enum judgement said[] = { JUDGED_GOOD, JUDGED_LOST,
		JUDGED_BAD, JUDGED_REFUSED };
	struct verdict *v = l->verdict;

	if (h->with != NULL && WIFEXITED(status) && WEXITSTATUS(status) < 4) {
		*v = (struct verdict){ .what = said[WEXITSTATUS(status)] };
		deed_say(v->text, sizeof v->text, "as said above");
	} else if (status != 0) {
		v->what = JUDGED_BAD;
		deed_say(v->text, sizeof v->text, "the program died: "
		    "%s %d", WIFSIGNALED(status) ? "signal" : "exit status",
		    WIFSIGNALED(status) ? WTERMSIG(status) :
		    WEXITSTATUS(status));
	}
	h->f.nretried += v->nretried;
	h->f.nrequests += v->nrequests;
	h->f.nrefused += v->what == JUDGED_REFUSED;
	h->f.nlost += v->what == JUDGED_LOST;
	h->f.nbad += v->what == JUDGED_BAD;
	if (v->what != JUDGED_GOOD)
		report(h, l);
	l->pid = 0;
}

static void
wait_for_one(struct hunt *h)
{
	int status;
	pid_t pid = waitpid(-1, &status, 0);

	for (size_t i = 0; i < LANES; i++)
		if (pid > 0 && h->lane[i].pid == pid)
			count(h, &h->lane[i], status);
}

static struct lane *
free_lane(struct hunt *h)
{
	for (;;) {
		for (size_t i = 0; i < LANES; i++)
			if (h->lane[i].pid == 0)
				return &h->lane[i];
		wait_for_one(h);
	}
}

static void
judge_with(struct hunt *h, const char *dir)
{
	char over[24];

	deed_say(over, sizeof over, "%" PRIu64, h->over);
	(void)execl(h->with, h->with, dir, h->log_path, over, (char *)NULL);
	_exit(127);
}

void
hunt_launch(struct hunt *h, uint64_t entry)
{
	struct lane *l = free_lane(h);
	char images[4096];

	l->entry = entry;
	deed_say(l->how, sizeof l->how, "%.40s (%zu pages)",
	    h->state.how, h->state.npages);
	h->f.nstates++;
	l->pid = fork();
	if (l->pid < 0)
		abort();
	if (l->pid > 0)
		return;
	(void)alarm(SECONDS_MAX);
	hunt_empty(l->dir);
	if (text_format(images, sizeof images, "%s.image", h->log_path) !=
	    IDEM_OK)
		abort();
	state_write(&h->state, &h->disk, l->dir, images);
	if (h->with != NULL)
		judge_with(h, l->dir);
	if (h->state.dir || !h->copied)
		judge(l->dir, &h->tale, h->seed + entry, l->verdict);
	else {
		l->verdict->what = JUDGED_LOST;
		deed_say(l->verdict->text, sizeof l->verdict->text,
		    "the copy is not there");
	}
	_exit(0);
}

void
hunt_wait(struct hunt *h)
{
	for (size_t i = 0; i < LANES; i++) {
		while (h->lane[i].pid != 0)
			wait_for_one(h);
		hunt_empty(h->lane[i].dir);
	}
}
