/*
 * setkit.c - settings and what the log was told of them.
 */
#include "setkit.h"

void
setkit_begin(struct setkit *k, enum settings_program program)
{
	settings_init(&k->s, program);
	k->log = caught_log(&k->caught);
}

enum idem_err
setkit_environment(struct setkit *k, const char *variable)
{
	const char *env[] = { "PATH=/bin", variable, NULL };

	return settings_environment(&k->s, &k->log, env, false);
}

void
setkit_option(struct setkit *k, const char *argument)
{
	const char *argv[] = { "t", argument, NULL };
	bool taken = false;
	size_t at = 1;

	assert_int_equal(settings_option(&k->s, &k->log, argv, &at, &taken),
	    IDEM_OK);
	assert_true(taken);
}
