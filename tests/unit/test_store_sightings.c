/*
 * test_store_sightings.c - the store's contract: one request under two scopes
 * is noticed.
 */
#include "contract.h"

static void
another_scope_is_noticed_for_ten_minutes(struct kit *k)
{
	static const struct {
		uint64_t what;
		char id;
		int64_t now_ms;
		bool other;
	} rows[] = {
		{ 0xfeed00000000abcd, 'a', 1000, false },
		{ 0xfeed00000000abcd, 'a', 2000, false },
		{ 0xfeed00000000abcd, 'b', 601999, true },
		{ 0xfeed00000000abcd, 'a', 602000, true },
		{ 0xfeed00000000abcd, 'b', 1202000, false },
		/* another hash in the same place */
		{ 0xbeef00000000abcd, 'c', 1202000, false },
		{ 0xfeed00000000abcd, 'a', 1203000, false },
		/* a clock that was set back */
		{ 0xfeed00000000abcd, 'b', 1000, false },
	};
	unsigned char id[IDEM_ID_BYTES];

	for (size_t i = 0; i < COUNT(rows); i++) {
		memset(id, rows[i].id, sizeof id);
		assert_int_equal(idem_store_other_scope(k->store, rows[i].what,
		    id, rows[i].now_ms), rows[i].other);
	}
}

int
main(void)
{
	static const struct contract_case cases[] = {
		CASE(another_scope_is_noticed_for_ten_minutes),
	};

	return CONTRACT_RUN(cases);
}
