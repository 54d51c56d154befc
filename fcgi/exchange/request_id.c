/*
 * request_id.c - chooses the name of a request.
 */
#include "exchange/request_id.h"

#include <string.h>

#include "base/text.h"

static bool
is_good(struct idem_span s)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		if (!ascii_alpha(s.p[i]) && !ascii_digit(s.p[i]) &&
		    s.p[i] != '.' && s.p[i] != '_' && s.p[i] != '-')
			return false;
	return s.n >= 1 && s.n <= REQUEST_ID_MAX;
}

void
request_id_choose(struct idem_span from_client, const unsigned char random[16],
    char out[REQUEST_ID_MAX + 1])
{
	if (is_good(from_client)) {
		memcpy(out, from_client.p, from_client.n);
		out[from_client.n] = '\0';
		return;
	}
	hex_lower(random, 16, out);
	out[32] = '\0';
}
