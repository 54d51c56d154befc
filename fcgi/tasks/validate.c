/*
 * validate.c - the members of a task's JSON, read by cJSON after the canonical
 * scanner has said that it is JSON.
 */
#include "tasks/validate.h"

#include <cjson/cJSON.h>

#include "base/text.h"
#include "tasks/plain.h"
#include "tasks/task.h"
#include "tasks/words.h"

/* One body being read. */
struct reading {
	enum validate_form form;
	const cJSON *object;
	bool text_has_nul;
	struct idem_buf *text;
	struct faults *faults;
	struct task_change *out;
	unsigned nfaults;
};

static void
fail(struct reading *r, const char *field, enum fault fault)
{
	faults_add(r->faults, field, fault);
	r->nfaults++;
}

static void
read_text(struct reading *r)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(r->object, "matn");
	struct idem_span text;
	size_t count;

	if (item == NULL && r->form == VALIDATE_PATCH)
		return;
	if (item == NULL) {
		fail(r, "matn", FAULT_REQUIRED);
	} else if (!cJSON_IsString(item)) {
		fail(r, "matn", FAULT_NOT_STRING);
	} else if (r->text_has_nul) {
		fail(r, "matn", FAULT_NUL);
	} else {
		text = words_trim(span_of(item->valuestring));
		count = words_count(text);
		if (count == 0)
			fail(r, "matn", FAULT_EMPTY);
		if (count > TASK_TEXT_MAX)
			fail(r, "matn", FAULT_TOO_LONG);
		idem_buf_puts(r->text, text);
		r->out->has_text = true;
		r->out->text = idem_buf_span(r->text);
	}
}

static void
read_done(struct reading *r)
{
	const cJSON *item =
	    cJSON_GetObjectItemCaseSensitive(r->object, "bajarildi");
	bool patch = r->form == VALIDATE_PATCH;

	r->out->done = cJSON_IsTrue(item);
	r->out->has_done = item != NULL || !patch;
	if (item != NULL && !cJSON_IsBool(item) &&
	    !(patch && cJSON_IsNull(item)))
		fail(r, "bajarildi", FAULT_NOT_BOOL);
}

static void
read_members(struct reading *r, bool other_has_nul)
{
	if (!cJSON_IsObject(r->object)) {
		fail(r, "", FAULT_NOT_OBJECT);
		return;
	}
	read_text(r);
	read_done(r);
	if (other_has_nul)
		fail(r, "", FAULT_NUL);
}

enum idem_err
validate_task(struct idem_span body, enum validate_form form,
    struct idem_buf *scratch, struct idem_buf *text, struct faults *faults,
    struct task_change *out)
{
	struct reading r = { .form = form, .text = text, .faults = faults,
	    .out = out };
	struct plain plain;
	enum idem_err err;
	cJSON *root;

	*out = (struct task_change){ 0 };
	idem_buf_reset(text);
	plain_make(&plain, body, IDEM_LIT("matn"), scratch);
	if ((err = idem_buf_err(scratch)) != IDEM_OK)
		return err;
	root = cJSON_ParseWithLength(scratch->p, scratch->n);
	if (root == NULL)
		return IDEM_ENOMEM; /* the grammar was checked before */
	r.object = root;
	r.text_has_nul = plain.nul_in_member;
	read_members(&r, plain.nul_elsewhere);
	err = r.nfaults > 0 ? IDEM_ESYNTAX : idem_buf_err(text);
	cJSON_Delete(root);
	return err;
}
