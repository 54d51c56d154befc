/*
 * setkit.h - settings and what the log was told of them.
 */
#ifndef UNIT_SETKIT_H
#define UNIT_SETKIT_H

#include "tests.h"

#include "caught.h"
#include "settings/settings.h"

struct setkit {
	struct settings s;
	struct caught caught;
	struct idem_log log;
};

/* The defaults of a program, and an empty log. */
void setkit_begin(struct setkit *k, enum settings_program program);

/* Take one variable, as "IDEM_X=value", from an environment that holds another
 * one too.  As settings_environment(). */
IDEM_MUST_CHECK enum idem_err
setkit_environment(struct setkit *k, const char *variable);

/* Take one argument, as "--x=value", which must be a setting's. */
void setkit_option(struct setkit *k, const char *argument);

#endif
