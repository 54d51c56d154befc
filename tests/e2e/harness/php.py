"""guard.fcgi in front of PHP: a site with the shop in its document root,
php-fpm, and the servers before them."""
import atexit
import glob
import os
import shutil
import signal
import subprocess

from . import fcgi, proc
from .servers import Direct, DirectPending, Lighttpd, Proxy, WebServer
from .site import AS_ROOT, ROOT, WORKER, Site, free_port

PHP_CGI = "/usr/bin/php-cgi"


def find_fpm():
    found = sorted(glob.glob("/usr/sbin/php-fpm*"))
    return found[-1] if found else "php-fpm"


class Fpm:
    """php-fpm with four workers on a socket of the site's."""
    user = WORKER.pw_name
    more = []       # lines for its pool

    def __init__(self, site, by_number=False):
        self.site, self.process = site, None
        self.address = (("127.0.0.1", free_port()) if by_number
                        else site.path("run", "fpm.sock"))

    @property
    def where(self):
        """As a setting names it."""
        return ("unix:" + self.address if isinstance(self.address, str)
                else "%s:%d" % self.address)

    def start(self):
        conf = self.site.path("fpm.conf")
        lines = ["[global]", "daemonize = no",
                 "error_log = " + self.site.path("log", "fpm.log"),
                 "[www]", "listen = " + self.where.replace("unix:", ""),
                 "pm = static",
                 "pm.max_children = 4", "listen.mode = 0666",
                 "catch_workers_output = no"] + self.more
        if AS_ROOT:
            lines.append("user = " + self.user)
        with open(conf, "w", encoding="ascii") as file:
            file.write("\n".join(lines) + "\n")
        atexit.register(self.destroy)
        with open(self.site.path("log", "fpm.out"), "ab") as out:
            self.process = subprocess.Popen(
                [find_fpm(), "--fpm-config", conf, "--nodaemonize"],
                stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                start_new_session=True)
        proc.wait_until(self.listening, "start of php-fpm")

    def listening(self):
        if self.process.poll() is not None:
            raise AssertionError("php-fpm ended:\n" + self.site.log())
        try:
            fcgi.connect(self.address, 1).close()
            return True
        except (FileNotFoundError, ConnectionRefusedError):
            return False

    def stop(self):
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(30)

    def destroy(self):
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class Shop(Site):
    """A site whose document root holds the shop, and what it did."""

    def __init__(self, settings=None):
        super().__init__(settings, program="guard.fcgi")
        for script in glob.glob(os.path.join(ROOT, "tests/e2e/shop/*.php")):
            shutil.copy(script, self.path("www"))
        os.mkfifo(self.path("run", "go"))
        os.chmod(self.path("run", "go"), 0o666)

    def write_routes(self, text):
        """Where the guard finds it: beside its settings."""
        with open(self.path(".htidem.routes"), "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(self.path(".htidem.routes"), 0o644)

    def lines(self, name):
        try:
            with open(self.path("run", name), encoding="utf-8") as file:
                return file.read().split("\n")[:-1]
        except FileNotFoundError:
            return []

    def charges(self, amount):
        return self.lines("ledger").count(amount)

    def waiting(self):
        """The processes that wait, or did, in order."""
        return [int(line) for line in self.lines("waits")]

    def let_go(self):
        """Opens when somebody waits."""
        with open(self.path("run", "go"), "w", encoding="ascii") as file:
            file.write("go\n")


class GuardDirect(Direct):
    """guard.fcgi alone, spoken to in FastCGI."""
    name = "guard.fcgi"

    def send(self, method, target, fields=(), body=None, pieces=None,
             seconds=fcgi.SECONDS, length_said=None, more=()):
        script = target.partition("?")[0]
        www = self.site.path("www")
        own = dict([("SCRIPT_NAME", script), ("DOCUMENT_ROOT", www),
                    ("SCRIPT_FILENAME", www + script),
                    ("REDIRECT_STATUS", "200")] + list(more))
        pairs = [(n, v) for n, v in fcgi.variables(
            method, target, fields, body, length_said)
            if n != "PATH_INFO" and n not in own]
        pairs += [(n, v) for n, v in own.items() if v is not None]
        exchange = fcgi.Exchange(self.address, seconds)
        exchange.send(fcgi.whole(pairs, body or b""))
        return DirectPending(exchange, method)


class GuardWorkers(GuardDirect):
    name = "guard.fcgi --workers 8"
    nworkers = 8


class GuardLighttpd(Lighttpd):
    conf = "lighttpd/lighttpd-guard.conf"


class GuardNginx(Proxy):
    name = "nginx"
    conf = "nginx/nginx.conf"
    backend_class = GuardWorkers
    reload_signal = signal.SIGHUP

    def conf_path(self):
        """The shipped file with this site's values in the lines that say so:
        nginx takes none from its environment."""
        values = {
            "user": WORKER.pw_name,
            "pid": self.site.path("run", "nginx.pid"),
            "error_log": self.site.path("log", "error.log"),
            "client_body_temp_path": self.site.path("run", "body"),
            "fastcgi_temp_path": self.site.path("run", "answers"),
            "listen": "127.0.0.1:%d" % self.port,
            "root": self.site.path("www")}
        servers = ["unix:" + self.backend.address,
                   "unix:" + self.site.path("run", "fpm.sock")]
        lines = []
        with open(os.path.join(ROOT, self.conf), encoding="utf-8") as file:
            for line in file:
                if line.endswith("; # yours\n"):
                    name = line.split()[0]
                    value = (servers.pop(0) if name == "server"
                             else values.pop(name))
                    line = "%s %s;\n" % (name, value)
                lines.append(line)
                if line.startswith("http {"):
                    # Not used, but made at the start where nginx was told
                    # when it was built, in folders of root.
                    lines += ["\t%s_temp_path %s;\n" % (
                        name, self.site.path("run", name))
                              for name in ("proxy", "uwsgi", "scgi")]
        if values or servers:
            raise AssertionError("%s lacks lines" % self.conf)
        path = self.site.path("nginx.conf")
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(lines)
        return path


class GuardFcgid(WebServer):
    name = "Apache with mod_fcgid before the guard"
    conf = "apache/httpd-guard.conf"


class GuardSocket(GuardWorkers):
    """Where the file for mod_proxy_fcgi looks for it."""

    def __init__(self, site):
        super().__init__(site, address=site.path("run", "guard.sock"))


class GuardProxyFcgi(Proxy):
    name = "Apache with mod_proxy_fcgi before the guard"
    conf = "apache/httpd-guard-proxy.conf"
    backend_class = GuardSocket
