"""Where a yard's servers live: a folder for each with one store for all, and
the shipped configurations with more workers in them."""
import json
import os
import shutil
import signal

from harness import fcgi, php, proc, servers
from harness.php import Fpm, Shop
from harness.site import Site

HERE = os.path.dirname(os.path.abspath(__file__))
# One that is killed is missed for a second; mod_fcgid starts no more of a
# program that ends often, which is meant for programs that end by themselves.
FCGID = """
FcgidSpawnScoreUpLimit 1000000
FcgidZombieScanInterval 1
FcgidErrorScanInterval 1
LogLevel fcgid:info
"""


# --- places: a folder for each server, one store for all ---------------------
class Lent:
    home = None     # whose store it is; None: its own

    @property
    def store(self):
        return self.path("store") if self.home is None else self.home.store


class TasksPlace(Lent, Site):
    pass


class GuardPlace(Lent, Shop):
    """All write into one ledger."""

    def __init__(self, settings, home):
        super().__init__(settings)
        self.home = home
        shutil.copy(os.path.join(HERE, "charge.php"), self.path("www"))
        if home is not None:
            os.symlink(home.path("run", "ledger"), self.path("run", "ledger"))


# --- servers: the shipped files, with more processes and the lent store -------
class Changed:
    """armed: the failpoint that its workers have, or None."""
    changes = ()
    more = ""
    armed = None

    def conf_path(self):
        path = super().conf_path()
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for old, new in self.changes + self.arming():
            if old not in text:
                raise AssertionError("%s lacks %r" % (self.conf, old))
            text = text.replace(old, new.replace("STORE", self.site.store))
        with open(path, "w", encoding="utf-8") as file:
            file.write(text + self.more)
        return path

    def arming(self):
        return ()


class OnLighttpd(Changed):
    changes = (('var.dir + "/store"', '"STORE"'),
               ('"max-procs" => ',
                '"min-procs" => 16, "max-procs" => 16, # '))
    calm = False    # nobody is killed
    nmissed = 0     # signals that lighttpd sent to itself

    def arming(self):
        return (('"IDEM_CONFIG" =>', '"IDEM_FAILPOINT" => "%s",\n'
                 '\t\t"IDEM_CONFIG" =>' % self.armed),) if self.armed else ()

    def settle(self):
        """Nobody is killed, so nobody is started, and who was has become a
        worker: until then lighttpd's own handler takes a SIGTERM."""
        self.calm = True
        proc.wait_until(lambda: all(
            proc.runs(pid, self.site.program)
            for pid in proc.children(self.process.pid) if proc.alive(pid)),
            "workers of " + self.name)

    def reload(self):
        self.settle()
        before = self.workers()
        self.signal(signal.SIGUSR1)
        self.away(before)

    def stop(self):
        self.settle()
        before = self.workers()
        self.process.terminate()
        self.process.wait(30)
        self.away(before)
        servers.WebServer.stop(self)

    def away(self, pids):
        """Who was started by a request meanwhile may have missed the signal,
        see above, and gets it again."""
        try:
            proc.wait_until(lambda: not self.still(pids), "", 3)
        except AssertionError:
            for pid in self.still(pids):
                proc.send_signal(pid, signal.SIGTERM)
                self.nmissed += 1
            proc.wait_until(lambda: not self.still(pids),
                            "end of workers of " + self.name)
        finally:
            self.calm = False

    def still(self, pids):
        return [pid for pid in pids if proc.runs(pid, self.site.program)]


class OnApache(Changed):
    calm = False

    def reload(self):
        self.signal(signal.SIGUSR1)


class OnFcgid(OnApache):
    changes = (("${SITE_DIR}/store", "STORE"),)
    more = FCGID
    nreloads = 0

    def reload(self):
        """A thread of mod_fcgid 2.3.9 that asks for a worker while the one who
        starts them is replaced waits for ever, and after a few reloads there
        is no other thread.  A restart cures it."""
        self.nreloads += 1
        if self.nreloads % 3:
            super().reload()
        else:
            self.stop()
            self.start()

    def arming(self):
        return (("FcgidInitialEnv IDEM_BASE", "FcgidInitialEnv "
                 "IDEM_FAILPOINT %s\nFcgidInitialEnv IDEM_BASE" % self.armed),
                ) if self.armed else ()


class TasksLighttpd(OnLighttpd, servers.Lighttpd):
    pass


class TasksFcgid(OnFcgid, servers.ApacheFcgid):
    pass


class TasksWorkers(servers.Workers):
    nworkers = 24


class TasksProxy(OnApache, servers.ApacheProxy):
    backend_class = TasksWorkers


class GuardLighttpd(OnLighttpd, php.GuardLighttpd):
    pass


class GuardFcgid(OnFcgid, php.GuardFcgid):
    def arming(self):
        return (('InitialEnv "IDEM_CONFIG', 'InitialEnv "IDEM_FAILPOINT=%s" '
                 '\\\n\tInitialEnv "IDEM_CONFIG' % self.armed),
                ) if self.armed else ()


class GuardWorkers(php.GuardSocket):
    nworkers = 24


class GuardProxy(OnApache, php.GuardProxyFcgi):
    backend_class = GuardWorkers


class FpmWithStatus(Fpm):
    more = ["pm.status_path = /status"]

    def busy(self):
        """Has it requests, or some that wait, beside this one?"""
        exchange = fcgi.Exchange(self.address)
        exchange.send(fcgi.whole(
            [("REQUEST_METHOD", "GET"), ("SCRIPT_NAME", "/status"),
             ("SCRIPT_FILENAME", "/status"), ("QUERY_STRING", "json")]))
        exchange.read()
        exchange.close()
        text = json.loads(exchange.out.partition(b"\r\n\r\n")[2])
        return text["active processes"] > 1 or text["listen queue"] > 0
