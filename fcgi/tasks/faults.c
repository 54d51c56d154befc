/*
 * faults.c - the texts of what is wrong with a value.
 */
#include "tasks/faults.h"

#include "base/text.h"
#include "idem/json.h"

static const char *const texts[][IDEM_NLANGS] = {
	[FAULT_NOT_OBJECT] = { "JSON obyekt kerak",
	    "must be a JSON object", "bir JSON nesnesi olmalı" },
	[FAULT_REQUIRED] = { "majburiy maydon",
	    "is required", "zorunlu alan" },
	[FAULT_NOT_STRING] = { "satr bo'lishi kerak",
	    "must be a string", "bir dize olmalı" },
	[FAULT_EMPTY] = { "bo'sh bo'lmasligi kerak",
	    "must not be empty", "boş olmamalı" },
	[FAULT_TOO_LONG] = { "500 belgidan oshmasligi kerak",
	    "must not exceed 500 characters",
	    "500 karakteri aşmamalı" },
	[FAULT_NUL] = { "\\u0000 belgisi bo'lmasligi kerak",
	    "must not contain \\u0000", "\\u0000 içermemeli" },
	[FAULT_NOT_BOOL] = { "true yoki false bo'lishi kerak",
	    "must be true or false", "true ya da false olmalı" },
	[FAULT_TAG] = { "# belgisisiz teg bo'lishi kerak",
	    "must be a tag without #", "# işareti olmadan bir etiket olmalı" },
	[FAULT_FROM] = { "nomanfiy butun son bo'lishi kerak",
	    "must be a whole number, not negative",
	    "negatif olmayan bir tam sayı olmalı" },
	[FAULT_COUNT] = { "1 dan 200 gacha butun son bo'lishi kerak",
	    "must be a whole number from 1 to 200",
	    "1 ile 200 arasında bir tam sayı olmalı" },
	[FAULT_TWICE] = { "bir marta berilishi kerak",
	    "must be given once", "bir kez verilmeli" },
};
_Static_assert(sizeof texts / sizeof texts[0] == NFAULTS,
    "one row of texts per fault");

void
faults_add(struct faults *f, const char *field, enum fault fault)
{
	if (f->out->n == 0)
		idem_buf_puts(f->out, IDEM_LIT("\"xatolar\":["));
	else
		idem_buf_putc(f->out, ',');
	idem_buf_puts(f->out, IDEM_LIT("{\"maydon\":"));
	idem_json_string(f->out, span_of(field));
	idem_buf_puts(f->out, IDEM_LIT(",\"xabar\":"));
	idem_json_string(f->out, span_of(texts[fault][f->lang]));
	idem_buf_putc(f->out, '}');
}

bool
faults_end(struct faults *f)
{
	if (f->out->n == 0 && f->out->err == IDEM_OK)
		return false;
	idem_buf_putc(f->out, ']');
	return true;
}
