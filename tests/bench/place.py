"""Folders, processes and servers of the bench: made and ended here."""
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.join(ROOT, os.environ.get("BUILD", "build"))


def build_path(*names):
    return os.path.join(BUILD, *names)


@contextlib.contextmanager
def folder():
    """A folder on the disk, not in memory: durable is what is measured."""
    base = os.path.join(ROOT, "var", "bench")
    os.makedirs(base, exist_ok=True)
    path = tempfile.mkdtemp(prefix="b", dir=base)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def only_plain(store):
    """Make the group's file impossible: commits go one after another."""
    os.makedirs(store, mode=0o700, exist_ok=True)
    os.mkdir(os.path.join(store, "group.2"))


def output(argv, **more):
    done = subprocess.run(argv, capture_output=True, text=True, **more)
    if done.returncode != 0:
        raise RuntimeError("%s: exit %d: %s" % (
            os.path.basename(argv[0]), done.returncode, done.stderr[-500:]))
    return done.stdout


def figures(*argv):
    """What a program of the bench prints: numbers by tabs."""
    return [float(x) for x in
            output([build_path("bench", argv[0]),
                    *(str(a) for a in argv[1:])]).split("\t")]


def idem(command, store, *more):
    """The operator's command, its answer as a dict."""
    return json.loads(output([build_path("idem"), command, "--json", "--store",
                              store, *more]))


def end(process):
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_for(what, seconds=10):
    until = time.monotonic() + seconds
    while not what():
        if time.monotonic() > until:
            raise TimeoutError("the bench waited in vain")
        time.sleep(0.005)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def connects(family, address):
    try:
        with socket.socket(family) as s:
            s.connect(address)
        return True
    except OSError:
        return False


def children(pid):
    with open("/proc/%d/task/%d/children" % (pid, pid)) as f:
        return [int(x) for x in f.read().split()]


class Workers:
    """Workers on one unix socket."""

    def __init__(self, directory, path, pids):
        self.store = os.path.join(directory, "store")
        self.path, self.pids = path, pids


@contextlib.contextmanager
def tasks(directory, nworkers, durability, plain=False):
    """tasks.fcgi under its supervisor."""
    path = os.path.join(directory, "s")
    w = Workers(directory, path, [])
    if plain:
        only_plain(w.store)
    with open(os.path.join(directory, "log"), "ab") as log:
        process = subprocess.Popen(
            [build_path("tasks.fcgi"), "--listen", "unix:" + path,
             "--workers", str(nworkers), "--store", w.store,
             "--durability", durability, "--max-keys", "100000000",
             "--max-store", "16G"], stderr=log, stdout=log)
    try:
        wait_for(lambda: connects(socket.AF_UNIX, path))
        w.pids = children(process.pid)
        yield w
    finally:
        end(process)


@contextlib.contextmanager
def bare(directory, nworkers):
    """The least libfcgi program, started by spawn-fcgi."""
    path = os.path.join(directory, "s")
    pids = os.path.join(directory, "pids")
    subprocess.run(["spawn-fcgi", "-s", path, "-b", "1024", "-F",
                    str(nworkers), "-P", pids, "--",
                    build_path("bench", "bare")],
                   check=True, stdout=subprocess.DEVNULL)
    with open(pids) as f:
        w = Workers(directory, path, [int(x) for x in f.read().split()])
    try:
        yield w
    finally:
        for pid in w.pids:
            os.kill(pid, signal.SIGKILL)


LIGHTTPD = """
server.modules = ( "mod_fastcgi" )
server.bind = "127.0.0.1"
server.port = %(port)d
server.document-root = "%(dir)s/www"
server.errorlog = "%(dir)s/lighttpd.log"
server.upload-dirs = ( "%(dir)s" )
server.max-connections = 1024
server.max-keep-alive-requests = 1000000
fastcgi.server = ( "/" => (( "socket" => "%(socket)s",
	"check-local" => "disable", "fix-root-scriptname" => "enable" )))
"""


@contextlib.contextmanager
def lighttpd(directory, path):
    """lighttpd before that socket; gives the URL."""
    port = free_port()
    conf = os.path.join(directory, "lighttpd.conf")
    os.mkdir(os.path.join(directory, "www"))
    with open(conf, "w") as f:
        f.write(LIGHTTPD % {"port": port, "dir": directory, "socket": path})
    process = subprocess.Popen(["/usr/sbin/lighttpd", "-D", "-f", conf])
    try:
        wait_for(lambda: connects(socket.AF_INET, ("127.0.0.1", port)))
        yield "http://127.0.0.1:%d" % port
    finally:
        end(process)
