/*
 * unchecked.c - planted: nobody looks at the result that must be looked at.
 */
#include "idem/buf.h"

void add(struct idem_buf *b);

void
add(struct idem_buf *b)
{
	idem_buf_putc(b, 'x');
	idem_buf_err(b); /* FAULT: gcc */
}
