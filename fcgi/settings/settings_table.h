/*
 * settings_table.h - the one table of settings, and the kinds of their values.
 * Inside the settings reader only.
 */
#ifndef FRONT_SETTINGS_TABLE_H
#define FRONT_SETTINGS_TABLE_H

#include "settings/settings.h"

enum setting_kind {
	SETTING_DURATION, /* "24h" to int64_t milliseconds */
	SETTING_MS,       /* plain milliseconds to int64_t */
	SETTING_SIZE,     /* "1G" to uint64_t */
	SETTING_MEMORY,   /* "1M" to size_t */
	SETTING_COUNT,    /* to uint64_t */
	SETTING_SWITCH,   /* the first of two words is true: to bool */
	SETTING_LANG,     /* to enum idem_lang */
	SETTING_SCOPE,    /* to struct idem_scope_rule */
	SETTING_METHODS,  /* the rest are spans, checked */
	SETTING_FIELDS,
	SETTING_ORIGINS,
	SETTING_BASE,
	SETTING_URI,
	SETTING_STORE,
	SETTING_PATH,
	SETTING_BACKEND,
	SETTING_ENDINGS,
	SETTING_KEY_FROM,
	SETTING_WHEN,
	SETTING_KEEP,
	SETTING_FINGERPRINT,
	SETTING_IGNORE
};
#define SETTING_NKINDS ((size_t)SETTING_IGNORE + 1)

/* Bits of setting.users. */
#define USED_BY(program) (1u << (program))

struct setting {
	const char *name;
	enum setting_kind kind;
	bool route;             /* may come with one request */
	unsigned users;         /* which programs act on it */
	size_t at;              /* offset in struct settings */
	const char *dflt[SETTINGS_NPROGRAMS]; /* NULL: not set */
	uint64_t min, max;      /* of numbers, in the kind's unit */
	const char *words[2];   /* of a switch */
	const char *allowed;    /* behind the kind's own text; NULL: nothing */
	const char *help;
};

extern const struct setting settings_table[];
extern const size_t settings_nrows;

/* Where a value comes from. */
struct settings_origin {
	enum settings_source source;
	const char *path; /* of the file */
	unsigned line;
};

/*
 * Check a value and store it in its field.  IDEM_ESYNTAX or IDEM_ETOOBIG: not
 * allowed, and s is as it was.
 */
IDEM_MUST_CHECK enum idem_err
settings_value_store(struct settings *s, const struct setting *row,
    enum settings_source source, struct idem_span value);

/* Case counts: "post" would protect nothing. */
bool settings_is_method(struct idem_span s);

/* What is allowed, for people. */
void settings_allowed(const struct setting *row, struct idem_buf *out);

/*
 * Set one setting by name, where no higher source has done so.  IDEM_ESYNTAX
 * with its log line: an unknown name, a wrong value, or one that may not come
 * from there.
 */
IDEM_MUST_CHECK enum idem_err
settings_set(struct settings *s, const struct idem_log *log,
    const struct settings_origin *from, struct idem_span name,
    struct idem_span value);

#endif
