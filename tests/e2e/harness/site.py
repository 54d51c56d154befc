"""A folder for one server: its program, settings, store and logs.  Nothing in
it is shared with another test, and it goes when the test is over."""
import atexit
import os
import pwd
import random
import shutil
import socket
import subprocess
import tempfile
import threading

from clean import DISK, scratch

from . import proc

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
BUILD = os.path.join(ROOT, os.environ.get("BUILD", "build"))
AS_ROOT = os.geteuid() == 0
WORKER = pwd.getpwnam("www-data") if AS_ROOT else pwd.getpwuid(os.geteuid())


PORTS = range(15000, 32768)     # below those that Linux gives to clients
held_ports = []


def free_port():
    """A port of 127.0.0.1 that nobody holds, and that no other test is told
    as long as this process lives, also while its server is being restarted:
    who has the abstract socket of its name has the port."""
    for port in random.sample(PORTS, len(PORTS)):
        name = socket.socket(socket.AF_UNIX)
        try:
            name.bind("\0idem-test-port-%d" % port)
            with socket.socket() as sock:
                sock.bind(("127.0.0.1", port))
        except OSError:
            name.close()
            continue
        held_ports.append(name)
        return port
    raise AssertionError("no free port")


def shipped_settings():
    """The settings that the shipped configurations start with."""
    settings = {}
    with open(os.path.join(ROOT, "etc/idem.conf"), encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                name, _, value = line.strip().partition("=")
                settings[name] = value
    return settings


class Site:
    under = DISK

    def __init__(self, settings=None, program="tasks.fcgi", base=""):
        # Short: a unix socket's path ends at 107 bytes.
        self.dir = tempfile.mkdtemp(prefix="idem-",
                                    dir=scratch(self.under))
        atexit.register(self.remove)    # after the end of its servers
        os.chmod(self.dir, 0o755)
        for name in ("bin", "www", "run", "log"):
            os.mkdir(self.path(name))
        for name in (".", "run", "log"):
            os.chown(self.path(name), WORKER.pw_uid, WORKER.pw_gid)
        self.program = self.path("bin", program)
        self.install(program)
        self.base = base
        self.preload = {}   # more environment for workers and the command
        self.settings = dict(shipped_settings(), **(settings or {}))
        self.write_settings()

    def path(self, *names):
        return os.path.join(self.dir, *names)

    @property
    def store(self):
        return self.path("store")

    @property
    def config(self):
        return self.path("idem.conf")

    @property
    def socket(self):
        return self.path("run", "tasks.sock")

    def tool(self, name):
        """A built program where the workers' user can run it: the folder of
        the sources may be closed to it."""
        path = self.path("bin", os.path.basename(name))
        if not os.path.exists(path):
            # In one step, for tests with threads.
            fresh = "%s.%d" % (path, threading.get_ident())
            shutil.copy(os.path.join(BUILD, name), fresh)
            os.chmod(fresh, 0o755)
            os.rename(fresh, path)
        return path

    def install(self, program):
        """Put the program there as a package would: a new file, renamed."""
        fresh = self.program + ".new"
        shutil.copy(os.path.join(BUILD, program), fresh)
        os.chmod(fresh, 0o755)
        os.rename(fresh, self.program)

    def write_settings(self, **changes):
        self.settings.update(changes)
        with open(self.config, "w", encoding="utf-8") as file:
            for name, value in self.settings.items():
                file.write("%s=%s\n" % (name, value))
        os.chmod(self.config, 0o644)

    def environment(self):
        """What the shipped server configurations read, and what a worker
        that is started without a server needs."""
        env = {"PATH": os.environ["PATH"] + ":/usr/sbin:/sbin",
               "SITE_DIR": self.dir, "SITE_PROGRAM": self.program,
               "SITE_CONFIG": self.config, "SITE_BASE": self.base}
        return env

    def worker_environment(self):
        return dict({"PATH": os.environ["PATH"], "IDEM_CONFIG": self.config,
                     "IDEM_STORE": self.store, "IDEM_BASE": self.base},
                    **self.preload)

    def as_worker(self):
        """Popen's arguments for the user that workers run as."""
        if not AS_ROOT:
            return {}
        return {"user": WORKER.pw_uid, "group": WORKER.pw_gid,
                "extra_groups": []}

    def idem(self, *args, stdin=b"", user=None, check=False):
        """Run the operator's command on this store."""
        return subprocess.run(
            [self.tool("idem")] + list(args), input=stdin,
            env=self.worker_environment(), capture_output=True,
            timeout=60 * proc.SLOW, check=check,
            **(self.as_worker() if user is None else user))

    def log(self):
        """Everything the server and its workers wrote."""
        text = ""
        for name in sorted(os.listdir(self.path("log"))):
            with open(self.path("log", name), errors="replace",
                      encoding="utf-8") as file:
                text += file.read()
        return text

    def remove(self):
        shutil.rmtree(self.dir, ignore_errors=True)
