/*
 * fastcgi.c - one FastCGI request on one connection, by libfcgi: the only file
 * that knows it.
 */
#include <fcgiapp.h>
#include <limits.h>
#include <unistd.h>

#include "fastcgi.h"

#define ROLE_RESPONDER 1 /* FastCGI 1.0, 5.1 */

static long
read_stdin(void *arg, void *p, size_t n)
{
	FCGX_Request *req = arg;
	int got = FCGX_GetStr(p, n > INT_MAX ? INT_MAX : (int)n, req->in);

	return got > 0 ? got : FCGX_GetError(req->in) != 0 ? -1 : 0;
}

static enum idem_err
write_stdout(void *arg, const void *p, size_t n)
{
	FCGX_Request *req = arg;
	const char *at = p;

	while (n > 0) {
		int some = n > INT_MAX ? INT_MAX : (int)n;

		if (FCGX_PutStr(at, some, req->out) != some)
			return IDEM_EIO;
		at += some;
		n -= (size_t)some;
	}
	return IDEM_OK;
}

static void
write_stderr(void *arg, const char *line)
{
	FCGX_Request *req = arg;

	/* the line went to descriptor 2 before: nobody else to tell */
	(void)FCGX_FPrintF(req->err, "%s\n", line);
}

/*
 * Hand conn over to libfcgi, which would otherwise accept by itself, without
 * time-outs.  keepConnection keeps FCGX_Accept_r(), which finishes the last
 * request first, from closing it; without a listening socket it comes back when
 * this connection holds no request.
 */
static int
take_over(FCGX_Request *req, int conn)
{
	if (FCGX_Init() != 0 || FCGX_InitRequest(req, -1, 0) != 0) {
		(void)close(conn);
		return -1;
	}
	req->listen_sock = -1;
	req->ipcFd = conn;
	req->keepConnection = 1;
	return FCGX_Accept_r(req);
}

static enum fastcgi_end
serve_accepted(FCGX_Request *req, exchange_fn serve, void *arg)
{
	struct exchange x = { .read = read_stdin, .write = write_stdout,
		.complain = write_stderr, .arg = req };

	if (FCGX_GetError(req->in) != 0)
		return FASTCGI_CUT;
	if (req->role != ROLE_RESPONDER)
		return FASTCGI_ROLE;
	x.vars = (const char *const *)req->envp;
	serve(arg, &x);
	/* a stream that failed before is closed, and flushing it succeeds */
	return FCGX_FFlush(req->out) != 0 || FCGX_GetError(req->out) != 0 ?
	    FASTCGI_UNHEARD : FASTCGI_SERVED;
}

enum fastcgi_end
fastcgi_serve(int conn, exchange_fn serve, void *arg)
{
	FCGX_Request req;
	enum fastcgi_end end;

	if (take_over(&req, conn) != 0)
		return FASTCGI_NOTHING;
	end = serve_accepted(&req, serve, arg);
	if (end == FASTCGI_SERVED || end == FASTCGI_UNHEARD)
		FCGX_Finish_r(&req);
	if (req.ipcFd >= 0)
		FCGX_Free(&req, 1);
	return end;
}
