"""Rows of guard.fcgi before php-fpm, against php-fpm alone: the same lighttpd,
the same scripts, the same children."""
import contextlib
import glob
import itertools
import os
import shutil
import socket
import sqlite3
import subprocess

import place
from measure import rounds, row_of

HERE = os.path.dirname(os.path.abspath(__file__))
CHILDREN = 8
WORKERS = 16
CONNECTIONS = 32

FPM = """
[global]
daemonize = no
error_log = %(dir)s/fpm.log
[www]
user = root
listen = %(dir)s/fpm
pm = static
pm.max_children = %(children)d
env[SHOP_DIR] = %(dir)s
"""

LIGHTTPD = """
server.modules = ( "mod_fastcgi" )
server.bind = "127.0.0.1"
server.port = %(port)d
server.document-root = "%(dir)s/www"
server.errorlog = "%(dir)s/lighttpd.log"
server.upload-dirs = ( "%(dir)s" )
server.max-connections = 1024
server.max-keep-alive-requests = 1000000
fastcgi.server = ( ".php" => (( "socket" => "%(dir)s/fpm" )) )
"""
AT = '$SERVER["socket"] == "127.0.0.1:%d" {\n%s}\n'
KEYED = '$REQUEST_HEADER["Idempotency-Key"] =~ "." {\n%s}\n'
GUARD = 'fastcgi.server = ( ".php" => (( "socket" => "%s/guard" )) )\n'


@contextlib.contextmanager
def running(argv, ready):
    process = subprocess.Popen(argv, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    try:
        place.wait_for(ready)
        yield
    finally:
        place.end(process)


@contextlib.contextmanager
def php(d):
    """The shop, and php-fpm on the socket fpm."""
    os.mkdir(d + "/www")
    for script in glob.glob(HERE + "/*.php"):
        shutil.copy(script, d + "/www")
    with contextlib.closing(sqlite3.connect(d + "/orders.db")) as db:
        db.execute("CREATE TABLE orders(id INTEGER PRIMARY KEY, item, amount)")
        db.commit()
    with open(d + "/fpm.conf", "w") as f:
        f.write(FPM % {"dir": d, "children": CHILDREN})
    program = sorted(glob.glob("/usr/sbin/php-fpm*"))[-1]
    with running([program, "-R", "-F", "-y", d + "/fpm.conf"],
                 lambda: place.connects(socket.AF_UNIX, d + "/fpm")):
        yield


@contextlib.contextmanager
def guard(d):
    """guard.fcgi on the socket guard."""
    with open(d + "/guard.conf", "w") as f:
        f.write("IDEM_STORE=%s/store\nIDEM_BACKEND=fcgi:unix:%s/fpm\n"
                "IDEM_ANONYMOUS=allow\nIDEM_MAX_KEYS=100000000\n"
                "IDEM_MAX_STORE=8G\n" % (d, d))
    with running([place.build_path("guard.fcgi"), "--config",
                  d + "/guard.conf", "--listen", "unix:" + d + "/guard",
                  "--workers", str(WORKERS)],
                 lambda: place.connects(
                     socket.AF_UNIX, d + "/guard")):
        yield


@contextlib.contextmanager
def site():
    """One lighttpd before both; a URL for each way: php-fpm alone, everything
    through the guard, what has a key through the guard."""
    with place.folder() as d, php(d), guard(d):
        ports = {way: place.free_port() for way in ("php", "guard", "keyed")}
        through = GUARD % d
        with open(d + "/lighttpd.conf", "w") as f:
            f.write(LIGHTTPD % {"port": ports["php"], "dir": d}
                    + AT % (ports["guard"], through)
                    + AT % (ports["keyed"], KEYED % through))
        with running(["/usr/sbin/lighttpd", "-D", "-f",
                      d + "/lighttpd.conf"],
                     lambda: all(
                         place.connects(socket.AF_INET, ("127.0.0.1", port))
                         for port in ports.values())):
            yield {way: "http://127.0.0.1:%d" % port
                   for way, port in ports.items()}


def wrk(url, script, mode, prefix, seconds, nconnections=CONNECTIONS):
    """Requests a second."""
    env = dict(os.environ, MODE=mode, PREFIX=prefix, TARGET="/" + script,
               BODY="item=non&amount=12000")
    out = place.output(["wrk", "-t1", "-c%d" % nconnections,
                        "-d%ds" % seconds, "--timeout", "30s", "-s",
                        HERE + "/post.lua", url], env=env)
    line = [l for l in out.splitlines() if l.startswith("RESULT")][0]
    _, done, micros, errors, _ = line.split()
    if int(errors) > 0:
        raise RuntimeError("wrk saw %s errors:\n%s" % (errors, out))
    return int(done) / (int(micros) / 1e6)


def compared(o, script, mode, way):
    """Both ways in turn, on one site."""
    prefixes = map("k{}".format, itertools.count())
    with site() as urls:
        for url in (urls[way], urls["php"]):
            # two at once: never one of the few keys twice
            wrk(url, script, mode, "warm", 3 if mode == "replay" else 1, 2)
        return rounds(o.rounds if o.quick else 5, {
            name: (lambda url=url: wrk(
                url, script, mode, "warm" if mode == "replay" else
                next(prefixes), o.seconds))
            for name, url in (("guard", urls[way]), ("php", urls["php"]))})


# behind SQLite's one writer claims and ends come one by one
QUEUE = "SQLite syncs four times an order, the guard twice: none shared"
HOP = "one more connection and process for each request"
SAME = "the same path twice: how far chance goes"
ROWS = (
    ("PHP order, new keys", "order.php", "new", "guard", 0.7, QUEUE),
    ("PHP order, replays", "order.php", "replay", "guard", 1,
     "PHP is not asked"),
    ("PHP order, without a key", "order.php", "unkeyed", "guard", 0.9, HOP),
    ("PHP order, kept away", "order.php", "unkeyed", "keyed", 0.95, SAME),
    ("trivial PHP, without a key", "thanks.php", "unkeyed", "guard", 0.9, HOP),
    ("trivial PHP, kept away", "thanks.php", "unkeyed", "keyed", 0.95, SAME))


def guard_rows(o):
    for name, script, mode, way, least, note in ROWS:
        got = compared(o, script, mode, way)
        row = row_of(got, "guard", "php", "guard",
                     "%s, %d workers" % (name, WORKERS), "requests/s",
                     "php-fpm alone, %d children" % CHILDREN, least)
        yield row.note(note)
