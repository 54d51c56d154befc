/*
 * barecgi.c - the least that a CGI program can do with a POST.
 */
#include <stdio.h>
#include <unistd.h>

int
main(void)
{
	char in[4096];

	while (read(0, in, sizeof in) > 0)
		continue;
	fputs("Status: 201 Created\r\nContent-Type: application/json\r\n\r\n"
	    "{\"id\":1,\"matn\":\"Non olish #uy\"}", stdout);
	return 0;
}
