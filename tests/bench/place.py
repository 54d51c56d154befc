"""Folders, processes and servers of the bench: made and ended here."""
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
BUILD = os.path.join(ROOT, "build")


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
    os.mkdir(os.path.join(store, "group.1"))


def output(argv, **more):
    return subprocess.run(argv, check=True, capture_output=True, text=True,
                          **more).stdout


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
        time.sleep(0.01)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def answers(path):
    try:
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(path)
        return True
    except OSError:
        return False


@contextlib.contextmanager
def tasks(directory, nworkers, durability, plain=False, more=()):
    """tasks.fcgi with its workers on one socket; gives the socket's path."""
    store = os.path.join(directory, "store")
    path = os.path.join(directory, "s")
    if plain:
        only_plain(store)
    with open(os.path.join(directory, "log"), "ab") as log:
        process = subprocess.Popen(
            [build_path("tasks.fcgi"), "--listen", "unix:" + path,
             "--workers", str(nworkers), "--store", store,
             "--durability", durability, "--max-keys", "100000000",
             "--max-store", "8G", *more], stderr=log, stdout=log)
    try:
        wait_for(lambda: answers(path))
        yield path
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
    try:
        yield path
    finally:
        with open(pids) as f:
            for pid in f.read().split():
                os.kill(int(pid), signal.SIGKILL)


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
        wait_for(lambda: connects(port))
        yield "http://127.0.0.1:%d" % port
    finally:
        end(process)


def connects(port):
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    except OSError:
        return False
