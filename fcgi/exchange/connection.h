/*
 * connection.h - one connection off a listening socket.
 */
#ifndef FRONT_CONNECTION_H
#define FRONT_CONNECTION_H

#include "idem/base.h"

/*
 * Accept one connection.
 * servers: the value of FCGI_WEB_SERVER_ADDRS (FastCGI 1.0, 3.2), numeric
 * addresses by commas; NULL or "": any.  It does not bind unix sockets, whose
 * file mode says who may come.
 * *conn: close-on-exec, blocking, the caller's.
 * IDEM_EBUSY: nobody there (another worker was faster, or the peer has gone or
 * was sent away); IDEM_ENOMEM: no descriptors or memory just now; IDEM_EIO with
 * errno: the socket is no good.
 */
IDEM_MUST_CHECK enum idem_err
connection_accept(int listen_fd, const char *servers, int *conn);

/* Wait for the first byte, or the end; false: there was none in time. */
bool connection_speaks(int conn, int receive_ms);

#endif
