#!/usr/bin/env python3
"""Two hundred clients for a long time, with slow, silent and senseless ones
beside them: every answer is the one that it has to be, memory stays flat, no
descriptor is lost, nobody waits long, and nothing that was cut short has an
effect.

environment: SECONDS, SEED, BUILD; KEEP_SITE: leave the folders behind
"""
import json
import os
import subprocess
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../e2e"), os.path.join(HERE, "../proof")]

import attack                                                  # noqa: E402
import judge                                                   # noqa: E402
import proof                                                   # noqa: E402
import watch                                                   # noqa: E402
from harness import proc                                       # noqa: E402
from harness.servers import ApacheFcgid, SocketVariant, Workers  # noqa: E402
from harness.site import BUILD, Site                           # noqa: E402

CLIENTS = 192, 8        # lighttpd; Apache, as many as mod_fcgid has processes
THINK_MS = 140          # at most, of a client before each request
WARM_UP = 4             # seconds without that, so that batches are large
LONG = "\U0001f511" * 490       # 200 of these fill a socket's buffer
# Keys end after two minutes and are swept, so that the store, too, is in a
# state that could go on for ever.  The clients ask for none older than one.
SETTINGS = {"IDEM_TTL": "2m"}
SWEEP_EVERY = 20        # seconds


class Eight(Workers):
    nworkers = 8


class Lighttpd(SocketVariant):
    backend_class = Eight


class Sweeps(threading.Thread):
    """What cron does."""

    def __init__(self, soak):
        super().__init__(daemon=True)
        self.soak = soak
        self.n, self.nexpired, self.failed = 0, 0, []

    def run(self):
        while not self.soak.stopping.wait(SWEEP_EVERY):
            run = self.soak.site.idem("sweep", "--json")
            self.n += 1
            if run.returncode != 0:
                self.failed.append(run.stderr.decode())
            else:
                self.nexpired += json.loads(run.stdout)["expired"]


class Soak:
    """The servers: lighttpd before eight workers of one socket, Apache with
    mod_fcgid; both on one store."""

    def __init__(self, seed):
        self.seed = seed
        self.stopping = threading.Event()
        self.site = Site(SETTINGS)
        self.apache_site = Site(dict(SETTINGS, IDEM_TASK_DELAY_MS="20"))
        os.symlink(self.site.store, self.apache_site.store)
        self.lighttpd = Lighttpd(self.site)
        self.apache = ApacheFcgid(self.apache_site)
        self.socket = self.site.socket
        self.effects = 0

    def __enter__(self):
        self.lighttpd.start()
        self.lighttpd.request("GET", "/vazifalar")      # the store is made
        self.apache.start()
        self.ports = self.lighttpd.port, self.apache.port
        return self

    def __exit__(self, *_):
        self.stopping.set()
        for server in (self.apache, self.lighttpd):
            server.stop()
        self.lighttpd.backend.stop()
        for site in (self.site, self.apache_site):
            if "KEEP_SITE" in os.environ:
                proof.keep(site.dir)
            else:
                site.remove()

    def workers(self):
        """(those on the socket, those of mod_fcgid)"""
        return self.lighttpd.workers(), self.apache.workers()

    def programs(self):
        return self.site.program, self.apache_site.program

    def web_processes(self):
        """lighttpd, and Apache's processes."""
        apache = self.apache.process.pid
        pids = [self.lighttpd.process.pid, apache]
        exe = os.readlink("/proc/%d/exe" % apache)
        return pids + [pid for pid in proc.running(exe)
                       if proc.parent_of(pid) == apache]

    def make_long_tasks(self):
        for _ in range(200):
            got = self.lighttpd.request(
                "POST", "/vazifalar", [("Content-Type", "application/json")],
                json.dumps({"matn": LONG}).encode())
            if got.status != 201:
                raise AssertionError("no task: %r" % got)
            self.effects += 1

    def load(self, seconds, seed, think_ms=THINK_MS):
        argv = [os.path.join(BUILD, "soak/load"), str(seconds), str(seed),
                str(think_ms)]
        for port, n in zip(self.ports, CLIENTS):
            argv += [str(port), str(n)]
        run = subprocess.run(argv, stdout=subprocess.PIPE, check=True,
                             encoding="utf-8", errors="replace")
        lines = run.stdout.strip().split("\n")
        for line in lines[:-1]:
            print("soak: " + line)
        got = json.loads(lines[-1])
        self.effects += got["effects"]
        return got


def attackers(soak):
    return ([attack.Garbage(soak, n) for n in (attack.ENDS, attack.WAITS)]
            + [attack.SlowDirect(soak, n) for n in range(2)]
            + [attack.SlowWeb(soak, n) for n in range(18)])


def main():
    seconds = proof.number("SECONDS", 600)
    seed = proof.seed()
    proof.begin("soak", SEED=seed, SECONDS=seconds)
    with Soak(seed) as soak:
        run = judge.Run(soak, seconds)
        proof.reached("before its load")
        soak.make_long_tasks()
        soak.load(WARM_UP, seed + 1, 0)
        run.before()
        memory = watch.Memory(soak.programs())
        proof.reached("under load")
        beside = attackers(soak)
        sweeps = Sweeps(soak)
        for thread in [memory, sweeps] + beside:
            thread.start()
        got = soak.load(seconds, seed)
        soak.stopping.set()
        for thread in [sweeps] + beside:
            thread.join(90)
        memory.finish()
        run.after(got, memory, beside, sweeps)
    return run.report()


if __name__ == "__main__":
    sys.exit(proof.run("soak", main))
