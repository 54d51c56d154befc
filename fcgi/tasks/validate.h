/*
 * validate.h - a JSON body as the values of a task.  Knows no requests and no
 * rows.
 */
#ifndef TASKS_VALIDATE_H
#define TASKS_VALIDATE_H

#include "tasks/faults.h"

/* What a body says about a task. */
struct task_change {
	bool has_text, has_done;
	bool done;
	struct idem_span text; /* trimmed; borrowed from the text buffer */
};

/*
 * WHOLE: matn is required, bajarildi absent is false.  PATCH: what is absent
 * stays; null removes (RFC 7396), so bajarildi becomes false, and matn, which
 * cannot be without a value, is at fault.
 */
enum validate_form { VALIDATE_WHOLE, VALIDATE_PATCH };

/*
 * Read body, a JSON text in canonical form.  Members that are not known are
 * ignored.  text is reset and holds the bytes of out->text; scratch is reset.
 *
 * IDEM_OK: *out is set.  IDEM_ESYNTAX: faults are added, all that there are.
 * IDEM_ENOMEM; IDEM_ETOOBIG past the ceiling of text, or of scratch where it
 * holds less than body.
 */
IDEM_MUST_CHECK enum idem_err
validate_task(struct idem_span body, enum validate_form form,
    struct idem_buf *scratch, struct idem_buf *text, struct faults *faults,
    struct task_change *out);

#endif
