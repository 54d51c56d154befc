/*
 * version.h - what --version prints.
 */
#ifndef FRONT_VERSION_H
#define FRONT_VERSION_H

#include "idem/buf.h"

/* "NAME VERSION" and, in a static build, a line with the libraries inside. */
void version_put(struct idem_buf *out, const char *name);

#endif
