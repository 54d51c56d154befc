/*
 * fcgi_client.h - the web server's side of FastCGI 1.0, one record at a time,
 * so that tests can send halves.  Written apart from what it tests.
 */
#ifndef UNIT_FCGI_CLIENT_H
#define UNIT_FCGI_CLIENT_H

#include "idem/buf.h"

enum { FCGI_RESPONDER_ROLE = 1, FCGI_AUTHORIZER_ROLE = 2 };

/* Each appends one record of request 1 to out. */
void fcgi_begin(struct idem_buf *out, unsigned role, bool keep_conn);
void fcgi_params(struct idem_buf *out, const char *const *vars);
void fcgi_params_end(struct idem_buf *out);
/* Any number of records of 60,000 bytes or less. */
void fcgi_stdin(struct idem_buf *out, struct idem_span body);
void fcgi_stdin_end(struct idem_buf *out);

/* A whole request. */
void fcgi_request(struct idem_buf *out, const char *const *vars,
    struct idem_span body);

/* What came back up to the end of the connection. */
struct fcgi_answer {
	struct idem_buf text;   /* STDOUT */
	struct idem_buf errors; /* STDERR */
	bool ended;             /* END_REQUEST came as the last record */
	unsigned app_status, protocol_status;
};

/* Read fd up to its end; the test fails on a broken record.  A connection that
 * was reset has ended too.  Release with fcgi_answer_free(). */
void fcgi_read_answer(int fd, struct fcgi_answer *a);
void fcgi_answer_free(struct fcgi_answer *a);

#endif
