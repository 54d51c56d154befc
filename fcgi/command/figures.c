/*
 * figures.c - named numbers as a JSON object, as one line and as a list; it
 * does not know what they count.
 */
#include <inttypes.h>

#include "command/command.h"

static void
put_value(struct idem_buf *out, const struct figure *f, const char *yes,
    const char *no)
{
	if (f->truth)
		idem_buf_printf(out, "%s", f->value != 0 ? yes : no);
	else
		idem_buf_printf(out, "%" PRIu64, f->value);
}

void
figures_json(struct idem_buf *out, const struct figure *f, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		idem_buf_printf(out, "%c\"%s\":", i == 0 ? '{' : ',',
		    f[i].name);
		put_value(out, &f[i], "true", "false");
	}
	idem_buf_puts(out, IDEM_LIT("}\n"));
}

void
figures_line(struct idem_buf *out, const struct figure *f, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		idem_buf_printf(out, "%s%s=", i == 0 ? "" : " ", f[i].name);
		put_value(out, &f[i], "yes", "no");
	}
	idem_buf_putc(out, '\n');
}

void
figures_list(struct idem_buf *out, const struct figure *f, size_t n)
{
	for (size_t i = 0; i < n; i++)
		idem_buf_printf(out, "%-12s %15" PRIu64 "\n", f[i].name,
		    f[i].value);
}
