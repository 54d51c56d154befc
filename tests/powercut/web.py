"""The program itself under a load, recorded: what leaves the workers' socket is
what had been told."""
import os
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))), "e2e"))
from harness import fcgi  # noqa: E402

CLIENTS = 5
KEYS_OF_A_CLIENT = 20
SECONDS = 60
PAUSE = 0.01    # between two tries of a client whose worker died


def key_of(client, number):
    return "k-%d-%d" % (client, number)


def task_request(key):
    """method, target, fields and body: the same on every try."""
    return ("POST", "/vazifalar", [
        ("Idempotency-Key", key), ("X-Request-Id", key),
        ("Content-Type", "application/json")],
        b'{"matn":"%s"}' % key.encode())


def ask_until_answered(address, key, until):
    method, target, fields, body = task_request(key)
    pairs = fcgi.variables(method, target, fields, body)
    while time.monotonic() < until:
        try:
            if fcgi.request(address, pairs, body).status == 201:
                return
        except (OSError, AssertionError):
            time.sleep(PAUSE)
    raise AssertionError("no answer to %s" % key)


def client(address, me, failed):
    until = time.monotonic() + SECONDS
    try:
        for number in range(KEYS_OF_A_CLIENT):
            ask_until_answered(address, key_of(me, number), until)
    except AssertionError as error:
        failed.append(str(error))


def serve(program, folder, env):
    """Run the program and its clients; what went wrong."""
    address = os.path.join(folder, "socket")
    failed = []
    server = subprocess.Popen(
        [program, "--listen", "unix:" + address, "--workers", "4"],
        env=env, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    drain = threading.Thread(target=server.stderr.read)
    drain.start()
    clients = [threading.Thread(target=client, args=(address, i, failed))
               for i in range(CLIENTS)]
    for thread in clients:
        thread.start()
    for thread in clients:
        thread.join()
    server.send_signal(signal.SIGTERM)
    if server.wait(SECONDS) != 0:
        failed.append("exit status %d" % server.returncode)
    drain.join()
    return failed
