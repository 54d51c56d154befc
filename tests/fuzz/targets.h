/*
 * targets.h - every fuzz target by name: its function is fuzz_NAME(), its file
 * NAME.c, its inputs lie in corpus/NAME and, kept by hand, kept/NAME.
 */
#ifndef FUZZ_TARGETS_H
#define FUZZ_TARGETS_H

#include "idem/base.h"

#define FUZZ_TARGETS(X) \
	X(key) \
	X(json) \
	X(multipart) \
	X(form) \
	X(language) \
	X(cookie) \
	X(settings) \
	X(routes) \
	X(record) \
	X(head) \
	X(wire) \
	X(request) \
	X(pointer) \
	X(fields) \
	X(target) \
	X(query) \
	X(print) \
	X(condition) \
	X(stored) \
	X(answer) \
	X(scope) \
	X(text) \
	X(server)

/* Each judges one input, which stands at the very end of its block, and aborts
 * where something does not hold. */
#define FUZZ_DECLARE(name) void fuzz_##name(struct idem_span input);
FUZZ_TARGETS(FUZZ_DECLARE)

#endif
