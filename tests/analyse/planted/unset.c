/*
 * unset.c - planted: one way through leaves a value unset.
 */
int size_of(int kind);

int
size_of(int kind)
{
	int n;

	if (kind == 1)
		n = 4;
	else if (kind == 2)
		n = 8;
	return n; /* FAULT: gcc, clang, clang-tidy */
}
