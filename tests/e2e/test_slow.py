"""Clients that take a long answer slowly, and peers that take none of it.  In
the guard's processes five seconds pass in each one of ours."""
import socket
import time

from harness import http, proc
from harness.php import GuardDirect, GuardProxyFcgi, GuardSocket
from test_guard import ShopCase

TIMES = 5
NPIECES = 192       # of 64 KiB: 12 MiB, three times what Linux holds for a
BYTES = NPIECES * 65536     # client in its buffers
BIG = ("<?php header('Content-Type: application/octet-stream'); for ($i = 0; "
       "$i < %d; $i++) echo str_repeat('x', 65536);" % NPIECES)
TAKEN = 1024 * 1024
STILL_S = 3.0       # what a peer that takes nothing has is 2


class Hasty:
    """Its clock runs faster."""

    def __init__(self, site, **more):
        pace = site.path("run", "pace")
        with open(pace, "w", encoding="ascii") as file:
            file.write(str(TIMES))
        site.preload = {"LD_PRELOAD": site.tool("tests/world.so"),
                        "WORLD_PACE": pace}
        super().__init__(site, **more)


class HastySocket(Hasty, GuardSocket):
    pass


class HastyProxyFcgi(GuardProxyFcgi):
    backend_class = HastySocket


class HastyDirect(Hasty, GuardDirect):
    pass


class SlowCase(ShopCase):
    more = {"IDEM_BACKEND_TIMEOUT": "10m"}  # php-cgi has to be started in it

    def setUp(self):
        super().setUp()
        with open(self.site.path("www", "big.php"), "w",
                  encoding="ascii") as file:
            file.write(BIG)


class SlowClients(SlowCase):
    server_class = HastyProxyFcgi

    def test_a_telephone_that_stands_still_for_a_while(self):
        """It took a part, and takes the rest after a pause in which the
        guard's worker gets rid of nothing."""
        sock = socket.socket()
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        sock.settimeout(http.SECONDS)
        sock.connect(("127.0.0.1", self.server.port))
        sock.sendall(http.request_bytes("GET", "/big.php"))
        data = b""
        while len(data) < TAKEN:
            data += sock.recv(65536)
        time.sleep(STILL_S)
        while True:
            part = sock.recv(65536)
            if not part:
                break
            data += part
        sock.close()
        self.assertEqual(data.partition(b"\r\n\r\n")[2].count(b"x"), BYTES)
        self.assertNotIn("of an answer", self.site.log())


class DeafPeers(SlowCase):
    server_class = HastyDirect

    def test_a_peer_that_takes_nothing(self):
        """It has its ten seconds and the only worker no longer."""
        pending = self.server.send("GET", "/big.php")
        proc.wait_until(lambda: "hung up in the middle of an answer"
                        in self.site.log(), "the worker to hang up")
        with open(self.site.path("www", "small.php"), "w",
                  encoding="ascii") as file:
            file.write("still here")
        answer = self.server.request("GET", "/small.php")
        self.assertEqual(answer.body, b"still here")
        pending.leave()
