/*
 * main.c - one target as libFuzzer calls it.  Compiled once for each, with
 * FUZZ_TARGET its function.
 */
#include "kit.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

int
LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	FUZZ_TARGET(kit_copy((struct idem_span){ (const char *)p, n }));
	kit_over();
	return 0;
}
