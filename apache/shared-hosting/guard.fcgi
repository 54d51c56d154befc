#!/bin/sh
# public_html/guard.fcgi: starts the program, which lies outside public_html.
# Mode 755 and never 775, owner you and no link: suexec refuses all else, and
# says why only in a log of the host's.
#
# "exec", or the program would live on when the server ends its shell.  No
# umask: what the shop writes has to be readable for the web server.
exec /home/USER/idem/guard.fcgi
