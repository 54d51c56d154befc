/*
 * stored.c - what other processes left behind: operations and outcomes in the
 * shared file, rows of tasks.  What decodes is what an encoder writes.
 *
 * Input: a letter (o, r or t), then the bytes.
 */
#include "idem/json.h"
#include "kit.h"
#include "store/op.h"
#include "tasks/task.h"

#define ANSWER_MAX 65536 /* bytes */

static uint64_t
first_word(struct idem_span s)
{
	uint64_t v = 0;

	for (size_t i = 0; i < 8; i++)
		v = v << 8 | (unsigned char)s.p[i];
	return v;
}

static void
operation(struct idem_span bytes)
{
	struct idem_buf *again = kit_buf(), answer;
	struct idem_op op;
	size_t room;
	enum idem_err err = op_decode(bytes, &op, &room);
	op_program program;

	must(err == IDEM_OK || err == IDEM_ECORRUPT);
	if (err != IDEM_OK) {
		(void)op_is_for(bytes, 1); /* may be either, but reads */
		return;
	}
	must((unsigned)op.kind < IDEM_NOPS);
	must(op.answer == NULL && op.verdict == IDEM_ABSENT_KEY);
	must(op.kept_bytes <= op.input.n);
	must(op.apply == 0 || room > 0);
	must(op.apply != 0 || op.kind != IDEM_OP_APPLY);
	if (room > 0) {
		idem_buf_init(&answer, room);
		op.answer = &answer;
	}
	program = first_word(bytes);
	op_encode(&op, program, again);
	must_be(idem_buf_span(again), bytes);
	must(op_is_for(bytes, program) == (op.apply == 0 || program != 0));
	must(op_is_for(bytes, program + 1) == (op.apply == 0));
}

static void
outcome(struct idem_span bytes)
{
	struct idem_buf *again = kit_buf(), answer;
	struct idem_op op = { .answer = &answer,
		.verdict = IDEM_LOST, .took_over = true };
	enum idem_err carried = IDEM_EIO, err;

	idem_buf_init(&answer, ANSWER_MAX);
	err = op_decode_outcome(bytes, &op, &carried);
	if (err != IDEM_OK) {
		must(err == IDEM_ECORRUPT || bytes.n > ANSWER_MAX);
		must(op.verdict == IDEM_LOST && op.took_over);
		must(carried == IDEM_EIO);
	} else {
		must((unsigned)op.verdict < IDEM_NVERDICTS);
		op_encode_outcome(&op, carried, again);
		must_be(idem_buf_span(again), bytes);
	}
	idem_buf_free(&answer);
}

static void
task(struct idem_span bytes)
{
	static const char key[8] = { 0, 0, 0, 0, 0, 0, 1, 2 };
	struct idem_buf *again = kit_buf(), *json = kit_buf();
	struct idem_buf *canonical = kit_buf();
	struct idem_json_work work;
	struct task t;

	if (task_decode((struct idem_span){ key, sizeof key }, bytes, &t) !=
	    IDEM_OK)
		return;
	must(t.id == 258);
	task_encode(&t, again);
	must_be(idem_buf_span(again), bytes);
	/* what a task can be: validate.h sees to text, the clock to time */
	if (!utf8_is_all(t.text) || t.created_ms < 0 ||
	    t.created_ms > INT64_C(253402300799999))
		return;
	task_json(&t, json);
	idem_json_work_init(&work);
	must(idem_json_canonical(&work, idem_buf_span(json), canonical,
	    NULL) == IDEM_OK);
	idem_json_work_free(&work);
}

void
fuzz_stored(struct idem_span input)
{
	struct idem_span bytes;

	if (input.n == 0)
		return;
	bytes = kit_copy(span_from(input, 1));
	if (input.p[0] == 'o')
		operation(bytes);
	else if (input.p[0] == 'r')
		outcome(bytes);
	else if (input.p[0] == 't')
		task(bytes);
}
