"""What is tortured: one store, the web servers that serve it all at once, and
the places in them that can be broken."""
import glob
import hashlib
import json
import os
import shutil
import signal
import struct
import subprocess
import time

from harness import fcgi, php, proc, servers
from harness.case import JSON
from harness.load import Intent
from harness.php import Fpm, Shop
from harness.site import Site

HERE = os.path.dirname(os.path.abspath(__file__))
FORM = ("Content-Type", "application/x-www-form-urlencoded")
# One that is killed is missed for a second; mod_fcgid starts no more of a
# program that ends often, which is meant for programs that end by themselves.
FCGID = """
FcgidSpawnScoreUpLimit 1000000
FcgidZombieScanInterval 1
FcgidErrorScanInterval 1
LogLevel fcgid:info
"""
# How the servers say that a worker was killed.
DEATHS = (b"was killed by signal 9", b"child signalled: 9",
          b"get unexpected signal 9")
TTL = "3m"      # longer than a round; the sweep then has something to do


def record_id(key):
    """Of a key in the header, by somebody who did not say who it is."""
    text = b"".join(struct.pack("!Q", len(run)) + run
                    for run in (b"", b"", b"", key.encode()))
    return hashlib.sha256(text).hexdigest()


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
    pass


class GuardWorkers(php.GuardSocket):
    nworkers = 24


class GuardProxy(OnApache, php.GuardProxyFcgi):
    backend_class = GuardWorkers


# --- yards -------------------------------------------------------------------
class Yard:
    """servers[0]'s place is the home of the store."""
    name = what = None
    target = "/"
    content_type = JSON
    settings = {}
    server_classes = ()
    shares = (4, 1, 5)      # of the requests: mod_fcgid waits in whole seconds
    # What is done to servers and supervisors, and how often.
    troubles = {"reload": 4, "restart": 1, "kill_boss": 8, "stop_boss": 2,
                "renew_boss": 2}

    def __init__(self):
        self.places, self.servers = [], []
        for server_class, more in self.server_classes:
            place = self.make_place(dict(self.settings, IDEM_TTL=TTL, **more))
            self.places.append(place)
            self.servers.append(server_class(place))
        self.home = self.places[0]

    def make_place(self, settings):
        raise NotImplementedError

    @property
    def backends(self):
        """The supervisors: no web server starts their workers."""
        return [s.backend for s in self.servers if hasattr(s, "backend")]

    def start(self):
        for server in self.servers:
            server.start()

    def stop(self):
        for server in self.servers:
            server.stop()

    def remove(self):
        for server in self.servers:
            server.destroy()
        for place in self.places:
            place.remove()

    # --- what can be broken -----------------------------------------------
    def victims(self):
        programs = [s.site.program for s in self.servers if not s.calm]
        bosses = {b.process.pid for b in self.backends}
        return [pid for pid in proc.running(*programs) if pid not in bosses]

    def is_victim(self, pid):
        return any(proc.runs(pid, p.program) for p in self.places)

    def reload(self, rng):
        """A fourth by SIGHUP: Apache then ends its children at once, lighttpd
        opens its logs anew."""
        server = rng.choice(self.servers)
        if rng.random() < 0.25 and not isinstance(server, OnFcgid):
            server.signal(signal.SIGHUP)
        else:
            server.reload()
        return "reloads of a web server"

    def restart(self, rng):
        server = rng.choice(self.servers)
        if hasattr(server, "backend"):      # its workers are not its own
            server.process.terminate()
            server.process.wait(30)
            servers.WebServer.start(server)
        else:
            server.stop()
            server.start()
        return "stops of a web server"

    def kill_boss(self, rng):
        backend = rng.choice(self.backends)
        backend.process.send_signal(signal.SIGKILL)
        backend.process.wait(30)
        self.revive(backend)
        return "kills of a supervisor"

    def stop_boss(self, rng):
        backend = rng.choice(self.backends)
        backend.process.send_signal(signal.SIGTERM)
        backend.process.wait(30)
        self.revive(backend)
        return "stops of a supervisor"

    def renew_boss(self, rng):
        rng.choice(self.backends).process.send_signal(signal.SIGHUP)
        return "renewals of a supervisor"

    @staticmethod
    def revive(backend):
        """Again and again, as an init system would, while the last worker of
        the old one still holds the socket, and takes the connection that
        looks whether the new one listens."""
        def once():
            try:
                backend.start()
                return proc.wait_until(
                    lambda: backend.process.poll() is not None or
                    proc.children(backend.process.pid), "workers") is not True
            except AssertionError:
                return False
        proc.wait_until(once, "a new " + backend.name)

    # --- clients ----------------------------------------------------------
    def fresh(self, rng):
        key = "%032x" % rng.getrandbits(128)
        return Intent(key, self.body_of(key, rng))

    def body_of(self, key, rng):
        raise NotImplementedError

    def send(self, intent, rng, seconds, body=None):
        server, = rng.choices(self.servers, self.shares)
        return server.send("POST", self.target, [
            self.content_type, ("Idempotency-Key", intent.key)],
            body or intent.body, seconds=seconds)

    # --- what is left -----------------------------------------------------
    def idem(self, *args):
        return self.home.idem(*args)

    def ask_copy(self, place, intent):
        """Send the intent to the program as a CGI program, over a copy of the
        store; by another name, so that nobody kills it."""
        program = self.home.path("bin", "of-copy.fcgi")
        if not os.path.exists(program):
            shutil.copy(self.home.program, program)
        env = dict(self.home.worker_environment(), IDEM_STORE=place)
        env.update(self.variables(intent))
        run = subprocess.run([program], input=intent.body, env=env,
                             capture_output=True, timeout=60, check=False,
                             **self.home.as_worker())
        if not run.stdout:
            raise AssertionError("over a copy: %d, %r" % (
                run.returncode, run.stderr))
        return fcgi.parse_cgi(run.stdout)

    def variables(self, intent):
        return dict(fcgi.variables("POST", self.target, [
            self.content_type, ("Idempotency-Key", intent.key)], intent.body))

    def stats(self):
        return json.loads(self.idem("stats", "--json").stdout)

    def logs(self):
        return [path for place in self.places
                for path in glob.glob(place.path("log", "*"))]

    def forget_logs(self):
        """They would grow for hours."""
        for path in self.logs():
            os.truncate(path, 0)

    def last_words(self):
        """The ends of the logs, without each request's line."""
        lines = []
        for path in self.logs():
            with open(path, encoding="utf-8", errors="replace") as file:
                lines += [line for line in file
                          if "outcome=" not in line][-20:]
        return "".join(lines)

    def programs(self):
        """What may not outlive the servers."""
        return [place.program for place in self.places] + [
            self.home.tool("idem")]

    def busy(self):
        """Is somebody at work who was not answered to?"""
        stats = self.stats()
        return stats["running"] > 0

    def locks_left(self):
        """Locks on the store's files that are held now, as /proc/locks has
        them."""
        inodes = {os.stat(path).st_ino: path for path in
                  glob.glob(os.path.join(self.home.store, "*"))}
        with open("/proc/locks", encoding="ascii") as file:
            held = [int(line.split()[-3].split(":")[2])
                    for line in file if "->" not in line]
        return [inodes[inode] for inode in held if inode in inodes]


class TasksYard(Yard):
    name = "tasks"
    what = ("tasks.fcgi behind lighttpd, mod_fcgid and mod_proxy_fcgi on one "
            "store")
    target = "/vazifalar"
    program = "tasks.fcgi"
    # Work outside the store, two commits, where mod_fcgid starts it.
    server_classes = ((TasksLighttpd, {}),
                      (TasksFcgid, {"IDEM_TASK_DELAY_MS": "5"}),
                      (TasksProxy, {"IDEM_WAIT": "500ms"}))
    effects_seen = 0

    def make_place(self, settings):
        place = TasksPlace(settings)
        place.install(self.program)
        place.home = self.places[0] if self.places else None
        return place

    def body_of(self, key, rng):
        return json.dumps({"matn": "%s %s" % (
            key, "z" * rng.choice((0, 20, 300)))}).encode()

    def get(self, target):
        """The answer of whichever server has a worker that lives."""
        def once():
            for server in self.servers:
                try:
                    answer = server.request("GET", target)
                except OSError:
                    continue
                if answer.status == 200:
                    return answer
            return None
        return proc.wait_until(once, "an answer to GET")

    def effects(self):
        """What was done since the last time: a list of keys.  The numbers of
        tasks have no gaps."""
        keys = []
        while True:
            page = self.get("/vazifalar?soni=200&keyin=%d"
                            % self.effects_seen)
            for task in page.json["vazifalar"]:
                self.effects_seen += 1
                if task["id"] != self.effects_seen:
                    raise AssertionError("task %d follows %d" % (
                        task["id"], self.effects_seen - 1))
                keys.append(task["matn"].split(" ")[0])
            if page.json["keyingi"] is None:
                return keys


class StepsYard(TasksYard):
    """Each worker kills itself inside the store's steps."""
    name = "steps"
    what = ("tasks.fcgi behind the same servers, killed inside a step of the "
            "store")
    program = "fail/tasks.fcgi"

    def __init__(self, seed):
        super().__init__()
        for i, server in enumerate(self.servers):
            server.armed = "*:kill:1/200/%d" % ((seed + i) % 1000000)
            if hasattr(server, "backend"):
                server.armed, spec = None, server.armed
                server.site.preload["IDEM_FAILPOINT"] = spec

        self.ndeaths = 0
        self.read = {}      # log -> how far

    def deaths(self):
        """As the servers' logs tell."""
        for path in self.logs():
            with open(path, "rb") as file:
                file.seek(self.read.get(path, 0))
                text = file.read()
            text = text[:text.rfind(b"\n") + 1]
            self.read[path] = self.read.get(path, 0) + len(text)
            self.ndeaths += sum(text.count(death) for death in DEATHS)
        return self.ndeaths

    def forget_logs(self):
        self.deaths()
        self.read.clear()
        super().forget_logs()


class GuardYard(Yard):
    name = "guard"
    what = ("guard.fcgi behind lighttpd, mod_fcgid and mod_proxy_fcgi, before "
            "a CGI program and php-fpm that charge outside")
    target = "/charge.php"
    content_type = FORM
    troubles = dict(Yard.troubles, kill_charge=6)
    settings = {"IDEM_ANONYMOUS": "allow", "IDEM_ON_UNKNOWN": "hold"}
    server_classes = ((GuardLighttpd, {}), (GuardFcgid, {}),
                      (GuardProxy, {"IDEM_WAIT": "500ms"}))

    def __init__(self):
        super().__init__()
        self.charge = self.home.tool("tests/charge")
        self.fpm = FpmWithStatus(self.home)
        self.ledger = self.home.path("run", "ledger")
        with open(self.ledger, "wb"):
            os.chmod(self.ledger, 0o666)
        self.at = 0
        for place, where in zip(self.places, (
                "cgi:" + self.charge, "fcgi:" + self.fpm.where,
                "cgi:" + self.charge)):
            place.write_settings(IDEM_BACKEND=where)

    def make_place(self, settings):
        return GuardPlace(settings, self.places[0] if self.places else None)

    def start(self):
        self.fpm.start()
        super().start()

    def stop(self):
        super().stop()
        self.fpm.stop()

    def remove(self):
        self.fpm.destroy()
        super().remove()

    def body_of(self, key, rng):
        return b"intent=%s&before=%d&after=%d" % (
            key.encode(), rng.randint(0, 8), rng.randint(0, 8))

    def kill_charge(self, rng):
        """The application itself; the guard lives."""
        end = time.monotonic() + 1
        while time.monotonic() < end:
            pids = proc.running(self.charge)
            if pids:
                proc.send_signal(rng.choice(pids), signal.SIGKILL)
                return "kills of the application"
        return None

    def variables(self, intent):
        www = self.home.path("www")
        return dict(super().variables(intent), SCRIPT_NAME=self.target,
                    PATH_INFO="", DOCUMENT_ROOT=www, REDIRECT_STATUS="200",
                    SCRIPT_FILENAME=www + self.target)

    def programs(self):
        return super().programs() + [self.charge]

    def busy(self):
        return (proc.running(self.charge) or self.fpm.busy() or super().busy())

    def effects(self):
        """The ledger's lines since the last time."""
        with open(self.ledger, "rb") as file:
            file.seek(self.at)
            lines = file.read()
        self.at += len(lines)
        return lines.decode().split("\n")[:-1]


class FpmWithStatus(Fpm):
    more = ["pm.status_path = /status"]

    def busy(self):
        """Has it requests, or some that wait, beside this one?"""
        exchange = fcgi.Exchange(self.address)
        exchange.send(fcgi.begin() + fcgi.stream(fcgi.PARAMS, fcgi.pairs_bytes(
            [("REQUEST_METHOD", "GET"), ("SCRIPT_NAME", "/status"),
             ("SCRIPT_FILENAME", "/status"), ("QUERY_STRING", "json")])) +
            fcgi.stream(fcgi.STDIN, b""))
        exchange.read()
        exchange.close()
        text = json.loads(exchange.out.partition(b"\r\n\r\n")[2])
        return text["active processes"] > 1 or text["listen queue"] > 0
