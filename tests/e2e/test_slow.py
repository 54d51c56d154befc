"""Clients that take a long answer slowly, and peers that take none of it: the
guard's clock goes on while they stand still."""
import os
import socket
import time

from harness import http, proc
from harness.php import GuardDirect, GuardProxyFcgi, GuardSocket
from test_guard import ShopCase

NPIECES = 192       # of 64 KiB: 12 MiB, three times what Linux holds for a
BYTES = NPIECES * 65536     # client in its buffers
BIG = ("<?php header('Content-Type: application/octet-stream'); for ($i = 0; "
       "$i < %d; $i++) echo str_repeat('x', 65536);" % NPIECES)
ENDLESS = ("<?php file_put_contents('%s', getmypid() . \"\\n\"); "
           "for (;;) echo str_repeat('x', 65536);")
TAKEN = 1024 * 1024
LONG_S = 20         # twice what a peer has that takes nothing
LOOK_S = 1.0        # a worker that cannot send looks twice as often


class Jumping:
    """A guard whose clock can be set forward, the one that never steps."""

    def __init__(self, site, **more):
        site.preload = {"LD_PRELOAD": site.tool("tests/world.so"),
                        "WORLD_STEADY": site.path("run", "steady")}
        super().__init__(site, **more)


def pass_by(site, seconds):
    path = site.path("run", "steady")
    with open(path + ".new", "w", encoding="ascii") as file:
        file.write(str(seconds))
    os.chmod(path + ".new", 0o644)
    os.rename(path + ".new", path)


class JumpingSocket(Jumping, GuardSocket):
    pass


class JumpingProxyFcgi(GuardProxyFcgi):
    backend_class = JumpingSocket


class JumpingDirect(Jumping, GuardDirect):
    pass


class SlowCase(ShopCase):
    def write(self, name, text):
        with open(self.site.path("www", name), "w", encoding="ascii") as file:
            file.write(text)


class SlowClients(SlowCase):
    server_class = JumpingProxyFcgi

    def test_a_telephone_that_stands_still_for_a_while(self):
        """It took a part, and takes the rest after a time in which the
        guard's worker gets rid of nothing."""
        self.write("big.php", BIG)
        sock = socket.socket()
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        sock.settimeout(http.SECONDS)
        sock.connect(("127.0.0.1", self.server.port))
        sock.sendall(http.request_bytes("GET", "/big.php"))
        data = b""
        while len(data) < TAKEN:
            data += sock.recv(65536)
        time.sleep(LOOK_S)      # until all buffers are full
        pass_by(self.site, LONG_S)
        time.sleep(LOOK_S)
        while True:
            part = sock.recv(65536)
            if not part:
                break
            data += part
        sock.close()
        self.assertEqual(data.partition(b"\r\n\r\n")[2].count(b"x"), BYTES)
        self.assertNotIn("of an answer", self.site.log())


class DeafPeers(SlowCase):
    server_class = JumpingDirect

    def test_a_peer_that_takes_nothing(self):
        """It has its ten seconds and the only worker no longer."""
        self.write("big.php", BIG)
        self.write("small.php", "still here")
        pending = self.server.send("GET", "/big.php")
        time.sleep(LOOK_S)
        pass_by(self.site, LONG_S)
        proc.wait_until(lambda: "hung up in the middle of an answer"
                        in self.site.log(), "the worker to hang up", 60)
        answer = self.server.request("GET", "/small.php")
        self.assertEqual(answer.body, b"still here")
        pending.leave()


class EndlessAnswers(SlowCase):
    server_class = GuardDirect
    more = {"IDEM_BACKEND_TIMEOUT": "1s"}

    def test_the_client_has_gone(self):
        """The application is stopped, and the log does not say that it was
        silent."""
        self.write("endless.php", ENDLESS % self.site.path("run", "pid"))
        self.write("small.php", "still here")
        pending = self.server.send("GET", "/endless.php")
        pending.conn.read_until(b"x")
        pending.leave()
        self.logged("error: ", "the application did not end its answer, "
                    "which nobody took any more, within 1000 ms")
        self.assertNotIn("said nothing", self.site.log())
        pid = int(self.site.lines("pid")[0])
        proc.wait_until(lambda: not proc.alive(pid), "the end of PHP")
        answer = self.server.request("GET", "/small.php")
        self.assertEqual(answer.body, b"still here")
