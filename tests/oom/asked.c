/*
 * asked.c - one request to a program's serve(), and what came back.
 */
#include "asked.h"

#define BIG_BYTES 100000
#define ANSWER_BYTES (1 << 20)

static char answer[ANSWER_BYTES], big[BIG_BYTES + 1];
static size_t nanswer;
static struct idem_span rest; /* of the body, not read yet */

static long
give(void *arg, void *p, size_t n)
{
	(void)arg; /* one request at a time */
	n = n < rest.n ? n : rest.n;
	if (n > 0)
		memcpy(p, rest.p, n);
	rest = span_from(rest, n);
	return (long)n;
}

static enum idem_err
take(void *arg, const void *p, size_t n)
{
	(void)arg;
	if (n > sizeof answer - nanswer)
		return IDEM_EIO;
	memcpy(answer + nanswer, p, n);
	nanswer += n;
	return IDEM_OK;
}

struct idem_span
asked_big(void)
{
	static const char head[] = "{\"matn\":\"Non\",\"izoh\":\"";

	if (big[0] == '\0') {
		memset(big, 'b', BIG_BYTES);
		memcpy(big, head, sizeof head - 1);
		memcpy(big + BIG_BYTES - 2, "\"}", 2);
	}
	return (struct idem_span){ big, BIG_BYTES };
}

void
asked_serve(const struct asked *a,
    void (*serve)(void *app, struct exchange *x), void *app)
{
	static char method[64], uri[256], key[64], length[64];
	const char *vars[ASKED_VARS + 3] = { method, uri, length,
		"HTTP_X_REQUEST_ID=r1" };
	struct exchange x = { .vars = vars, .read = give, .write = take };
	size_t n = 4;

	rest = a->big ? asked_big() : span_of(a->body != NULL ? a->body : "");
	must(text_format(method, sizeof method, "REQUEST_METHOD=%s",
	    a->method != NULL ? a->method : "POST") == IDEM_OK);
	must(text_format(uri, sizeof uri, "REQUEST_URI=%s",
	    a->uri != NULL ? a->uri : "/vazifalar") == IDEM_OK);
	must(text_format(length, sizeof length, "CONTENT_LENGTH=%zu", rest.n) ==
	    IDEM_OK);
	if (a->key != NULL) {
		must(text_format(key, sizeof key, "HTTP_IDEMPOTENCY_KEY=%s",
		    a->key) == IDEM_OK);
		vars[n++] = key;
	}
	for (size_t i = 0; i < COUNT(a->more) && a->more[i] != NULL; i++)
		vars[n++] = a->more[i];
	nanswer = 0;
	serve(app, &x);
}

unsigned
asked_status(void)
{
	static const char name[] = "Status: ";
	const char *at = nanswer == 0 ? NULL :
	    memmem(answer, nanswer, name, sizeof name - 1);
	uint64_t status = 0;

	if (at == NULL || parse_u64((struct idem_span){
	    at + sizeof name - 1, 3 }, 999, &status) != IDEM_OK)
		return 0;
	return (unsigned)status;
}

struct idem_span
asked_answer(void)
{
	return (struct idem_span){ answer, nanswer };
}

bool
asked_has(const char *text)
{
	return memmem(answer, nanswer, text, strlen(text)) != NULL;
}
