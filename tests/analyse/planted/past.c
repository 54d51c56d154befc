/*
 * past.c - planted: the last turn reads behind the end of the table.
 */
int sum(void);

int
sum(void)
{
	static const int table[] = { 1, 2, 3 };
	int n = 0;

	for (int i = 0; i <= 3; i++)
		n += table[i]; /* FAULT: cppcheck, clang, clang-tidy */
	return n;
}
