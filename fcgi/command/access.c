/*
 * access.c - who may open a store: the owner of its directory and nobody else,
 * since a file of the store that another user made locks the workers out.
 */
#include <errno.h>
#include <grp.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/command.h"
#include "process/names.h"

static bool
look(struct command *c, const char *dir, struct stat *st)
{
	int saved = stat(dir, st) == 0 ? 0 : errno;

	if (saved == ENOENT)
		idem_log(c->log, IDEM_ERROR, "%.*s does not exist: the web "
		    "program makes the store when it starts; is IDEM_STORE "
		    "what it uses? (idem --check-config)", IDEM_LOG_PATH,
		    dir);
	else if (saved != 0)
		idem_log(c->log, IDEM_ERROR, "cannot look at %.*s: %s; run "
		    "this as root or as the user of the web program",
		    IDEM_LOG_PATH, dir, strerror(saved));
	else if (!S_ISDIR(st->st_mode))
		idem_log(c->log, IDEM_ERROR, "%.*s is not a directory: "
		    "IDEM_STORE names the directory that the store lies in",
		    IDEM_LOG_PATH, dir);
	else
		return true;
	return false;
}

static void
refuse(struct command *c, const char *dir, uid_t owner)
{
	const char *name = names_user(owner);
	const char *command = c->options.command;

	if (name != NULL)
		idem_log(c->log, IDEM_ERROR, "%.*s belongs to %s: run this as "
		    "root, from the crontab of %s, or with "
		    "su -s /bin/sh %s -c 'idem %s --store %.*s'",
		    IDEM_LOG_PATH, dir, name, name, name, command,
		    IDEM_LOG_PATH, dir);
	else
		idem_log(c->log, IDEM_ERROR, "%.*s belongs to user id %lu, "
		    "which has no name here: run this as root, or as that "
		    "user", IDEM_LOG_PATH, dir, (unsigned long)owner);
}

/* All three user and group ids, no other group, and no way back. */
static bool
is_all(uid_t uid, gid_t gid)
{
	uid_t u[3];
	gid_t g[3];

	return getresuid(&u[0], &u[1], &u[2]) == 0 &&
	    getresgid(&g[0], &g[1], &g[2]) == 0 &&
	    u[0] == uid && u[1] == uid && u[2] == uid &&
	    g[0] == gid && g[1] == gid && g[2] == gid &&
	    getgroups(0, NULL) == 0 && setuid(0) != 0;
}

static bool
become(struct command *c, const char *dir, uid_t uid, gid_t gid)
{
	const char *call = NULL;
	int saved;

	if (setgroups(0, NULL) != 0)
		call = "setgroups";
	else if (setgid(gid) != 0)
		call = "setgid";
	else if (setuid(uid) != 0)
		call = "setuid";
	saved = errno;
	if (call == NULL && is_all(uid, gid))
		return true;
	idem_log(c->log, IDEM_ERROR, "cannot become user id %lu, the owner of "
	    "%.*s: %s: %s", (unsigned long)uid, IDEM_LOG_PATH, dir,
	    call == NULL ? "setuid" : call,
	    call == NULL ? "it had no effect" : strerror(saved));
	return false;
}

bool
command_become_owner(struct command *c, const char *dir)
{
	struct stat st;

	if (!look(c, dir, &st))
		return false;
	if (geteuid() == st.st_uid)
		return true;
	if (geteuid() == 0)
		return become(c, dir, st.st_uid, st.st_gid);
	refuse(c, dir, st.st_uid);
	return false;
}
