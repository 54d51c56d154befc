/*
 * stage.h - what each test of the group commit has: a store that counts, a
 * directory, puppets; and how a test has them meet.
 */
#ifndef STAGE_H
#define STAGE_H

#include "tests.h"

#include "puppet.h"

/* A look into the shared file; ends with group_unpeek(). */
struct group_shared *group_peek(const char *dir);
void group_unpeek(struct group_shared **s);
/* Wait until that slot's word has that state. */
void group_until(struct group_shared *s, uint32_t slot,
    enum group_state state);

/* What every test has, as cmocka's state: a store and a directory. */
struct stage {
	struct fake *fake;
	char dir[64];
	int64_t net_ms; /* of the puppets opened from here on; 0: as built in */
};
int stage_set(void **state);
int stage_strike(void **state);
#define STAGE(f) cmocka_unit_test_setup_teardown(f, stage_set, stage_strike)

/* A puppet that has attached. */
struct puppet *puppet_open(struct stage *s, uint8_t program, int64_t wait_ms);
/* Orders: a request for anybody; for one program; a failpoint. */
struct puppet_order order(uint32_t id, enum fake_kind kind);
struct puppet_order order_of(uint32_t id, uint8_t program);
struct puppet_order arm(const char *spec);

/* Have this puppet lead, and keep the store's own lock, so that it stands
 * before its batch; let it go on. */
void stage_lead(struct stage *s, struct puppet *p, struct puppet_order o);
void stage_go(struct stage *s);
/* The first of n puppets, in the slots 0 to n - 1, leads a batch of all. */
void stage_gather(struct stage *s, struct group_shared *shared,
    struct puppet **p, const struct puppet_order *o, size_t n);

/* The verdict is this one and that of this request; DID: and it is durable. */
void assert_outcome(struct puppet_reply r, uint32_t id,
    enum fake_outcome outcome);
void assert_failed(struct puppet_reply r, enum idem_err err);
void assert_ends(struct puppet *p);

#endif
