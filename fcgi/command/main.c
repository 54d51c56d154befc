/*
 * main.c - the operator's command as a process: descriptors, environment and
 * clocks of the system; it knows no command.
 */
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "base/io.h"
#include "command/command.h"
#include "process/exe.h"

/*
 * A standard descriptor that is closed would become the next file that is
 * opened, and a message would be written into the store.  What stands in for it
 * can neither be read (0) nor written (1, 2), so that using it is an error.
 */
static bool
occupy_standard(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) == -1 && open("/dev/null",
		    fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			return false;
	return true;
}

int
main(int argc, char **argv)
{
	struct exe exe;
	const struct command_world world = {
		.in_fd = STDIN_FILENO,
		.out_fd = STDOUT_FILENO,
		.err_fd = STDERR_FILENO,
		.env = (const char *const *)environ,
		.exe = exe.path,
		.fallback = SETTINGS_FALLBACK,
		.wall_ms = io_wall_ms,
		.steady_ms = io_steady_ms,
	};

	if (!occupy_standard())
		return COMMAND_FAILED;
	exe_find(&exe);
	/* A full disk or closed pipe is an error that is told, not a death. */
	(void)signal(SIGXFSZ, SIG_IGN); /* both cannot fail */
	(void)signal(SIGPIPE, SIG_IGN);
	return command_main(&world, argc, argv);
}
