/*
 * bare.c - the least that a libfcgi program can do with a POST: read the body,
 * answer 201.  What every figure of the bench is held against.
 */
#include <fcgiapp.h>
#include <stdlib.h>
#include <string.h>

static const char head[] = "Status: 201 Created\r\n"
    "Content-Type: application/json\r\nLocation: /vazifalar/1\r\n"
    "Content-Length: 105\r\n\r\n";
static const char body[] = "{\"id\":1,\"matn\":\"Non olish #uy\","
    "\"bajarildi\":false,\"teglar\":[\"uy\"],"
    "\"yaratilgan\":\"2026-11-30T15:00:00.000Z\"}";
_Static_assert(sizeof body - 1 == 105, "Content-Length above");

int
main(void)
{
	FCGX_Request req;
	char in[4096];

	if (FCGX_Init() != 0 || FCGX_InitRequest(&req, 0, 0) != 0)
		return EXIT_FAILURE;
	while (FCGX_Accept_r(&req) == 0) {
		while (FCGX_GetStr(in, sizeof in, req.in) > 0)
			continue;
		FCGX_PutStr(head, sizeof head - 1, req.out);
		FCGX_PutStr(body, sizeof body - 1, req.out);
		FCGX_Finish_r(&req);
	}
	return EXIT_SUCCESS;
}
