/*
 * keeper.c - opens the store of a web program and watches over it.
 */
#include "exchange/keeper.h"

#include <string.h>

#include "base/io.h"
#include "base/text.h"
#include "process/exe.h"

#define PATH_MAX_BYTES 4096

int64_t
keeper_now_ms(void *arg)
{
	(void)arg; /* there is one clock */
	return io_wall_ms();
}

enum idem_err
keeper_random(void *arg, void *p, size_t n)
{
	struct keeper *k = arg;
	enum idem_err err;

	if (n > sizeof k->random)
		return io_random(p, n);
	if (n > k->nrandom) {
		if ((err = io_random(k->random, sizeof k->random)) != IDEM_OK)
			return err;
		k->nrandom = sizeof k->random;
	}
	memcpy(p, k->random + sizeof k->random - k->nrandom, n);
	k->nrandom -= n;
	return IDEM_OK;
}

/* A root too long to be kept is judged again, each time. */
static void
keep_root(struct keeper *k, struct idem_span root)
{
	idem_buf_reset(&k->root);
	idem_buf_puts(&k->root, root);
	if (idem_buf_err(&k->root) != IDEM_OK)
		idem_buf_reset(&k->root);
}

static void
open_store(struct keeper *k, struct idem_span root)
{
	const struct idem_store_config config = {
		.place = k->settings->store,
		.document_root = root,
		.create = true,
		.worker = true,
		.durable = k->settings->durable,
		.max_bytes = k->settings->max_store_bytes,
		.tables = k->tables,
		.ntables = k->ntables,
		.apply = idem_engine_apply,
		.apply_arg = k->engine,
		.program = exe_number(),
		.wait_ms = k->settings->store_wait_ms,
		.log = k->log,
	};

	k->tried_ms = k->engine->now_ms(k->engine->arg);
	if (idem_store_open(&config, &k->store) != IDEM_OK)
		k->store = NULL;
	k->outside = true;
	keep_root(k, root);
}

void
keeper_open(struct keeper *k, struct idem_span document_root)
{
	idem_buf_init(&k->root, PATH_MAX_BYTES);
	open_store(k, document_root);
}

void
keeper_close(struct keeper *k)
{
	idem_store_close(&k->store);
	idem_buf_free(&k->root);
}

static void
judge_root(struct keeper *k, struct idem_span root)
{
	keep_root(k, root);
	k->outside = idem_store_outside(k->store, root) == IDEM_OK;
}

/* A clock that was set back counts as a second that went by. */
static bool
is_second_later(const struct keeper *k)
{
	int64_t now = k->engine->now_ms(k->engine->arg);

	return now < k->tried_ms || now - k->tried_ms >= 1000;
}

void
keeper_ready(struct keeper *k, struct idem_span document_root)
{
	if (k->store == NULL && is_second_later(k))
		open_store(k, document_root);
	if (k->store != NULL && document_root.n > 0 &&
	    !span_eq(document_root, idem_buf_span(&k->root)))
		judge_root(k, document_root);
	k->engine->store = k->outside ? k->store : NULL;
}

enum idem_err
keeper_read(struct keeper *k, idem_reader fn, void *arg)
{
	enum idem_err err;

	if (k->engine->store == NULL)
		return IDEM_ESTORE;
	err = idem_store_read(k->engine->store, fn, arg);
	k->leave = k->leave || err == IDEM_EMOVED;
	return err;
}

static enum idem_err
read_nothing(void *arg, struct idem_tables *t)
{
	(void)arg;
	(void)t; /* only to hear whether there is a snapshot to be had */
	return IDEM_OK;
}

void
keeper_probe(struct keeper *k)
{
	enum idem_err err;

	if (k->store == NULL)
		return;
	err = idem_store_read(k->store, read_nothing, NULL);
	k->leave = k->leave || err == IDEM_EMOVED || err == IDEM_ECORRUPT ||
	    idem_store_stuck(k->store);
}
