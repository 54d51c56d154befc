/*
 * leak.c - planted: the way out after an error forgets what was allocated.
 */
#include <stdlib.h>
#include <string.h>

int starts_with_digit(const char *text, size_t n);

int
starts_with_digit(const char *text, size_t n)
{
	char *p = malloc(n + 1);
	int digit;

	if (p == NULL)
		return -1;
	memcpy(p, text, n);
	p[n] = '\0';
	if (p[0] == '\0')
		return -1; /* FAULT: gcc, cppcheck, clang, clang-tidy */
	digit = p[0] >= '0' && p[0] <= '9';
	free(p);
	return digit;
}
