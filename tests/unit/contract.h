/*
 * contract.h - cases of the store's contract, each run on every back end.
 */
#ifndef UNIT_CONTRACT_H
#define UNIT_CONTRACT_H

#include "storekit.h"

struct contract_case {
	const char *name;
	void (*fn)(struct kit *k); /* its store is new and open */
};
#define CASE(f) { #f, f }

/* Run n cases in memory, on LMDB alone and on LMDB as a member of the group
 * commit.  Returns what cmocka's main() is to return. */
int contract_run(const struct contract_case *cases, size_t n);
#define CONTRACT_RUN(cases) contract_run((cases), COUNT(cases))

#endif
