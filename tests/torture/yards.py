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

from harness import fcgi, proc, servers
from harness.case import JSON
from harness.load import Intent
from places import (FpmWithStatus, GuardFcgid, GuardLighttpd, GuardPlace,
                    GuardProxy, OnFcgid, TasksFcgid, TasksLighttpd,
                    TasksPlace, TasksProxy)

FORM = ("Content-Type", "application/x-www-form-urlencoded")
# How the servers say that a worker was killed.
DEATHS = (b"was killed by signal 9", b"child signalled: 9",
          b"get unexpected signal 9")
TTL = "3m"      # longer than a round; the sweep then has something to do


def record_id(key):
    """Of a key in the header, by somebody who did not say who it is."""
    text = b"".join(struct.pack("!Q", len(run)) + run
                    for run in (b"", b"", b"", key.encode()))
    return hashlib.sha256(text).hexdigest()


# --- yards -------------------------------------------------------------------
class Yard:
    """servers[0]'s place is the home of the store."""
    name = what = None
    armed = False       # workers die by themselves, at checkpoints too
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


class GuardYard(Yard):
    name = "guard"
    what = ("guard.fcgi behind lighttpd, mod_fcgid and mod_proxy_fcgi, before "
            "a CGI program and php-fpm that charge outside")
    target = "/charge.php"
    program = "guard.fcgi"
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
        place = GuardPlace(settings, self.places[0] if self.places else None)
        place.install(self.program)
        return place

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
        return b"intent=%s&before=%d&after=%d&fill=%d" % (
            key.encode(), rng.randint(0, 8), rng.randint(0, 8),
            rng.choice((0, 0, 0, 2000, 6000, 40000)))

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


class Steps:
    """Each worker kills itself inside the store's steps."""
    armed = True
    one_in = 200        # of the places that it passes

    def __init__(self, seed):
        super().__init__()
        self.ndeaths = 0
        self.read = {}      # log -> how far
        for i, server in enumerate(self.servers):
            spec = "*:kill:1/%d/%d" % (self.one_in, seed + i)
            if hasattr(server, "backend"):
                server.site.preload["IDEM_FAILPOINT"] = spec
            else:
                server.armed = spec

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


class TasksSteps(Steps, TasksYard):
    name = "steps"
    what = ("tasks.fcgi behind the same servers, killed inside a step of the "
            "store")
    program = "fail/tasks.fcgi"


class GuardSteps(Steps, GuardYard):
    name = "guardsteps"
    what = ("guard.fcgi behind the same servers, killed inside a step of the "
            "store")
    program = "fail/guard.fcgi"
