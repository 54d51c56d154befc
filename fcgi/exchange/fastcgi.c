/*
 * fastcgi.c - one FastCGI request on one connection, by libfcgi: the only file
 * that knows it.
 */
#include <fcgiapp.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "exchange/fastcgi.h"

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
flush_stdout(void *arg)
{
	FCGX_Request *req = arg;

	/* who is gone is met by the next write */
	(void)FCGX_FFlush(req->out);
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

/*
 * Write the end of the answer and of the request at once: a web server that has
 * counted the answer's bytes may close before a second write.  FCGX_Finish_r()
 * closes the streams in this order, too, but does not say how that went.
 * Where all that the web server sends was read, nothing is lost by closing
 * without waiting for it to close first, as libfcgi otherwise does.
 */
static enum fastcgi_end
finish(FCGX_Request *req)
{
	bool unheard;

	(void)FCGX_FClose(req->err); /* its lines went to descriptor 2 before */
	unheard = FCGX_FClose(req->out) != 0;
	if (FCGX_GetChar(req->in) == EOF && FCGX_GetError(req->in) == 0)
		(void)FCGX_Detach(req); /* an open connection: cannot fail */
	return unheard ? FASTCGI_UNHEARD : FASTCGI_SERVED;
}

static enum fastcgi_end
serve_accepted(FCGX_Request *req, exchange_fn serve, void *arg)
{
	struct exchange x = { .read = read_stdin, .write = write_stdout,
		.complain = write_stderr, .arg = req,
		.flush = flush_stdout };

	if (FCGX_GetError(req->in) != 0)
		return FASTCGI_CUT;
	if (req->role != ROLE_RESPONDER)
		return FASTCGI_ROLE;
	x.vars = (const char *const *)req->envp;
	serve(arg, &x);
	if (x.broke_off)
		return FASTCGI_BROKE_OFF;
	return finish(req);
}

enum fastcgi_end
fastcgi_serve(int conn, exchange_fn serve, void *arg)
{
	FCGX_Request req;
	enum fastcgi_end end;

	if (take_over(&req, conn) != 0)
		return FASTCGI_NOTHING;
	end = serve_accepted(&req, serve, arg);
	FCGX_Free(&req, 1);
	return end;
}
