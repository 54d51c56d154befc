/*
 * null.c - planted: a pointer that was found to be NULL is followed.
 */
#include <stddef.h>

int first_of(const int *p);

int
first_of(const int *p)
{
	int n = 0;

	if (p == NULL)
		n = *p; /* FAULT: gcc, cppcheck, clang, clang-tidy */
	return n;
}
