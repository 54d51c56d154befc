"""The servers of the tests, each started with the file that is shipped:
lighttpd, Apache with mod_fcgid, mod_proxy_fcgi and mod_cgid; and the program
alone, spoken to in FastCGI."""
import atexit
import os
import shutil
import signal
import socket
import subprocess
import sys
import time

from clean import shared_memory

from . import fcgi, http, proc
from .site import ROOT, free_port


class Pending:
    """A request that was sent and whose answer was not read."""

    def __init__(self, conn, method):
        self.conn, self.method = conn, method

    def answer(self):
        try:
            return self.conn.answer(self.method)
        finally:
            self.conn.close()

    def leave(self):
        """The client goes away without reading."""
        self.conn.close()

    def reset(self):
        self.conn.reset()


class DirectPending(Pending):
    def answer(self):
        try:
            return self.conn.answer()
        finally:
            self.conn.close()

    reset = Pending.leave


class Server:
    name = "server"

    def __init__(self, site):
        self.site = site
        self.process = None

    # --- life -------------------------------------------------------------
    def start(self):
        raise NotImplementedError

    def spawn(self, argv, env, log, **more):
        atexit.register(self.destroy)   # also when the test run is stopped
        with open(self.site.path("log", log), "ab") as out:
            self.process = subprocess.Popen(
                argv, stdin=more.pop("stdin", subprocess.DEVNULL), stdout=out,
                stderr=out, env=env, start_new_session=True, **more)

    def check_running(self):
        if self.process.poll() is not None:
            raise AssertionError("%s ended at once (%d):\n%s" % (
                self.name, self.process.returncode, self.site.log()))

    def workers(self):
        """The pids of the workers: what runs the program and is not the
        process that was started."""
        return [pid for pid in proc.running(self.site.program)
                if pid != self.process.pid]

    def until_ready(self, nworkers):
        """Until all workers wait for requests, with all open that they need.
        """
        def ready():
            pids = self.workers()
            return len(pids) == nworkers and all(map(proc.polls, pids))
        proc.wait_until(ready, "workers that wait for requests")

    def signal(self, number):
        self.process.send_signal(number)

    def stop(self):
        """End the server as an administrator would; it may leave nothing."""
        if self.process.poll() is None:
            self.process.terminate()
        try:
            self.process.wait(30)
            proc.wait_until(lambda: not proc.running(self.site.program),
                            "end of the workers of " + self.name)
        except BaseException:
            sys.stderr.write(self.site.log() + "".join(
                proc.describe(pid) for pid in
                proc.running(self.site.program)))
            raise
        finally:
            self.destroy()

    def destroy(self):
        """End everything at once: what was started here, and no other.  The
        process group is the server's own; Apache's children would outlive
        their parent."""
        if self.process is not None and self.process.poll() is None:
            segments = shared_memory([self.process.pid])
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            for path in filter(os.path.exists, segments):
                os.unlink(path)
        proc.end(proc.running(self.site.program))

    # --- requests ---------------------------------------------------------
    def send(self, method, target, fields=(), body=None, pieces=None,
             seconds=http.SECONDS):
        raise NotImplementedError

    def request(self, method, target, fields=(), body=None, **more):
        return self.send(method, self.site.base + target, fields, body,
                         **more).answer()


class WebServer(Server):
    conf = None

    def __init__(self, site):
        super().__init__(site)
        self.port = None

    def conf_path(self):
        """The shipped file, where lighttpd can read it again when it reloads,
        which it does as the workers' user."""
        path = shutil.copy(os.path.join(ROOT, self.conf), self.site.dir)
        if self.site.preload:
            with open(path, "r+", encoding="utf-8") as file:
                text = self.with_environment(file.read())
                file.seek(0)
                file.write(text)
        return path

    def with_environment(self, text):
        """The file with what a test adds to its workers' environment."""
        raise NotImplementedError

    def start(self):
        again = self.port is not None     # after stop(): where it was
        for _ in range(1 if again else 3):
            self.port = self.port if again else free_port()
            env = dict(self.site.environment(), SITE_PORT=str(self.port))
            self.spawn([os.path.join(ROOT, "tools/serve.sh"),
                        self.conf_path()], env, "server.log")
            if proc.wait_until(self.listening_or_ended, "start of "
                               + self.name) == "listening":
                return
        self.check_running()

    def listening_or_ended(self):
        if self.process.poll() is not None:
            return "ended"
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
            return "listening"
        except ConnectionRefusedError:
            return None

    def send(self, method, target, fields=(), body=None, pieces=None,
             seconds=http.SECONDS):
        conn = http.Connection(self.port, seconds)
        conn.send(http.request_bytes(method, target, fields, body, pieces))
        return Pending(conn, method)


class Lighttpd(WebServer):
    name = "lighttpd"
    conf = "lighttpd/lighttpd.conf"
    reload_signal = signal.SIGUSR1
    max_procs = 4
    environment = '"bin-environment" => (\n'

    def with_environment(self, text):
        before, mark, after = text.partition(self.environment)
        assert mark, text
        return before + mark + "".join(
            '"%s" => "%s",\n' % pair
            for pair in self.site.preload.items()) + after

    def stop(self):
        """A SIGTERM that reaches a child of lighttpd before it has become a
        worker is taken by lighttpd's own handler there, and the worker then
        lives on.  So all of them have to be workers first."""
        end = time.monotonic() + 3      # one that died comes back in a second
        proc.wait_until(lambda: self.process.poll() is not None or (
            time.monotonic() > end or len(self.workers()) >= self.max_procs)
            and not self.unborn(), "children of lighttpd to be workers")
        super().stop()

    def unborn(self):
        """Its children that are not yet workers."""
        try:
            return [pid for pid in proc.children(self.process.pid)
                    if proc.alive(pid) and not proc.runs(
                        pid, self.site.program)]
        except OSError:     # it has ended
            return []


class ApacheFcgid(WebServer):
    name = "Apache with mod_fcgid"
    conf = "apache/httpd.conf"
    reload_signal = signal.SIGUSR1

    def with_environment(self, text):
        return text + "".join('FcgidInitialEnv %s "%s"\n' % pair
                              for pair in self.site.preload.items())


class ApacheCgi(WebServer):
    name = "Apache with mod_cgid"
    conf = "apache/httpd-cgi.conf"


class Direct(Server):
    """tasks.fcgi on a socket of its own, with --workers where n is given."""
    name = "tasks.fcgi"
    nworkers = None

    def __init__(self, site, nworkers=None, address=None):
        super().__init__(site)
        self.nworkers = nworkers or self.nworkers
        self.address = address or site.socket

    def argv(self):
        where = ("unix:" + self.address if isinstance(self.address, str)
                 else "%s:%d" % self.address)
        argv = [self.site.program, "--listen", where]
        if self.nworkers:
            argv += ["--workers", str(self.nworkers)]
        return argv

    def start(self):
        self.spawn(self.argv(), self.site.worker_environment(), "workers.log",
                   cwd=self.site.dir, **self.site.as_worker())
        proc.wait_until(self.listening, "start of " + self.name)

    def listening(self):
        self.check_running()
        try:
            fcgi.connect(self.address, 1).close()
            return True
        except (FileNotFoundError, ConnectionRefusedError):
            return False

    def workers(self):
        if not self.nworkers:
            return proc.running(self.site.program)
        return super().workers()

    def send(self, method, target, fields=(), body=None, pieces=None,
             seconds=fcgi.SECONDS, length_said=None, more=()):
        if pieces is not None:
            body = b"".join(pieces)
        pairs = fcgi.variables(method, target, fields, body, length_said, more)
        exchange = fcgi.Exchange(self.address, seconds)
        exchange.send(fcgi.whole(pairs, body or b""))
        return DirectPending(exchange, method)


class Workers(Direct):
    """tasks.fcgi with a supervisor and four workers."""
    name = "tasks.fcgi --workers 4"
    nworkers = 4


class SocketVariant(Lighttpd):
    """lighttpd.conf with the lines behind "#socket " in the place of the
    block that starts workers."""
    name = "lighttpd with workers of their own"
    backend_class = Workers

    def __init__(self, site):
        super().__init__(site)
        self.backend = self.backend_class(site)

    def conf_path(self):
        with open(os.path.join(ROOT, self.conf), encoding="utf-8") as file:
            text = file.read()
        before, block = text.split("\nfastcgi.server = ", 1)
        variant = [line[len("#socket "):] for line in block.split("\n")
                   if line.startswith("#socket")]
        path = self.site.path("lighttpd-socket.conf")
        with open(path, "w", encoding="utf-8") as file:
            file.write(before + "\n" + "\n".join(variant) + "\n")
        return path

    def start(self):
        if self.backend.process is None:
            self.backend.start()
        super().start()

    def stop(self):
        self.process.terminate()
        self.process.wait(30)

    def destroy(self):
        super().destroy()
        self.backend.destroy()

    def workers(self):
        return self.backend.workers()


class Proxy(WebServer):
    """A web server before one socket, whose workers it did not start."""
    backend_class = Workers

    def __init__(self, site):
        super().__init__(site)
        self.backend = self.backend_class(site)

    def with_environment(self, text):
        return text

    def start(self):
        self.backend.start()
        super().start()

    def workers(self):
        return self.backend.workers()

    def stop(self):
        try:
            if self.process is not None and self.process.poll() is None:
                self.process.terminate()
                self.process.wait(30)
        finally:
            self.backend.stop()

    def destroy(self):
        super().destroy()
        self.backend.destroy()


class ApacheProxy(Proxy):
    """One socket, four workers that Apache did not start."""
    name = "Apache with mod_proxy_fcgi"
    conf = "apache/httpd-proxy.conf"
    reload_signal = signal.SIGUSR1


class Inherited(Direct):
    """One worker on a listening socket at fd 0, as web servers start it."""
    name = "tasks.fcgi on fd 0"

    def start(self):
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(self.address)
        listener.listen(64)
        self.spawn([self.site.program], self.site.worker_environment(),
                   "workers.log", stdin=listener, cwd=self.site.dir,
                   **self.site.as_worker())
        os.chmod(self.address, 0o666)
        listener.close()
        # The socket listened before the program was there; an answer shows
        # that it is.
        self.send("GET", "/").answer()
