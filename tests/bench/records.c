/*
 * records.c - how long a durable claim takes among many records.
 *
 *   records DIR N
 * fills the store to N records where it has fewer; prints median and 99th
 * percentile of 3,000 claims in microseconds, and bytes on disk a record.
 */
#include <inttypes.h>
#include <stdio.h>

#include "kit.h"

#define NCLAIMS 3000

static void
fill(const char *dir, uint64_t n)
{
	struct idem_store *s = kit_store(dir, false);
	struct idem_room room;
	struct idem_buf answer;

	idem_buf_init(&answer, 65536);
	kit_check("room", idem_store_room(s, &room));
	for (uint64_t i = room.nrecords; i < n; i++) {
		struct idem_op op = kit_op(IDEM_OP_ONCE, &answer);

		op.input = kit_answer();
		op.kept_bytes = op.input.n;
		kit_check("fill", idem_store_submit(s, &op));
	}
	idem_store_close(&s);
	idem_buf_free(&answer);
}

/* Each claim is given back, so the store stays as large as it was. */
static void
claims(struct idem_store *s, uint32_t *us)
{
	struct idem_buf answer;

	idem_buf_init(&answer, 65536);
	for (size_t i = 0; i < NCLAIMS; i++) {
		struct idem_op op = kit_op(IDEM_OP_CLAIM, &answer);
		int64_t began = kit_now_us();

		kit_check("claim", idem_store_submit(s, &op));
		us[i] = (uint32_t)(kit_now_us() - began);
		op.kind = IDEM_OP_RELEASE;
		kit_check("release", idem_store_submit(s, &op));
		idem_store_leave(s, op.token);
	}
	idem_buf_free(&answer);
}

int
main(int argc, char **argv)
{
	static uint32_t us[NCLAIMS];
	struct idem_store *s;
	struct idem_room room;

	if (argc != 3) {
		fputs("usage: records DIR N\n", stderr);
		return 2;
	}
	fill(argv[1], kit_number(argv[2], UINT32_MAX));
	s = kit_store(argv[1], true);
	claims(s, us);
	kit_check("room", idem_store_room(s, &room));
	printf("%u\t%u\t%.1f\n", kit_quantile(us, NCLAIMS, 0.5),
	    kit_quantile(us, NCLAIMS, 0.99),
	    (double)room.used_bytes / (double)room.nrecords);
	idem_store_close(&s);
	return 0;
}
