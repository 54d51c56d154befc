"""The program spoken to in FastCGI, in ways in which no web server would: what
is cut short runs nothing, and nothing holds a worker."""
import json
import socket
import struct
import time
import unittest

from harness import fcgi, proc
from harness.case import JSON, ServerCase, fresh_key
from harness.servers import Direct, Inherited


class FastCgi(ServerCase):
    server_class = Direct

    def pairs(self, task, key=None, **more):
        fields = [JSON] + ([("Idempotency-Key", key)] if key else [])
        return fcgi.variables("POST", "/vazifalar", fields, task, **more)

    def ask(self, pairs, body=b"", **more):
        return fcgi.request(self.server.address, pairs, body, **more)

    def task(self, tag):
        return json.dumps({"matn": "to'liq #" + tag}).encode()

    # --- bodies -----------------------------------------------------------
    def test_a_short_body_runs_nothing(self):
        """Also an empty one: a balancer resends a request whose body is
        gone, with the length that it had."""
        for sent in (0, 1, 10):
            tag, key = self.fresh_tag(), fresh_key()
            task = self.task(tag)
            got = self.ask(self.pairs(task, key), task[:sent])
            self.assertProblem(got, 503, "tana-chala")
            self.assertEqual(got.json["code"], "body-truncated")
            self.assertEqual(got.field("Retry-After"), "1")
            self.assertTasks(tag, 0)
            self.assertFirst(self.ask(self.pairs(task, key), task))
            self.assertTasks(tag, 1)

    def test_a_short_body_without_a_key_runs_nothing(self):
        tag = self.fresh_tag()
        task = self.task(tag)
        got = self.ask(self.pairs(task), task[:-1])
        self.assertProblem(got, 503, "tana-chala")
        self.assertTasks(tag, 0)

    def test_bytes_over_the_length_do_not_count(self):
        tag, key = self.fresh_tag(), fresh_key()
        task = self.task(tag)
        first = self.ask(self.pairs(task, key), task + b"more")
        self.assertFirst(first)
        self.assertReplay(self.ask(self.pairs(task, key), task), first)

    def test_a_length_that_is_no_number(self):
        for said in ("x", "-1", "1x", "0x10", "1 2",
                     "99999999999999999999999"):
            tag = self.fresh_tag()
            task = self.task(tag)
            got = self.ask(self.pairs(task, fresh_key(), length_said=said),
                           task)
            self.assertIn(got.status, (400, 413), said)
            self.assertTasks(tag, 0)

    def test_without_a_length_the_body_ends_where_it_ends(self):
        for said in (None, ""):
            tag, key = self.fresh_tag(), fresh_key()
            task = self.task(tag)
            pairs = [p for p in self.pairs(task, key)
                     if p[0] != "CONTENT_LENGTH"]
            if said is not None:
                pairs.append(("CONTENT_LENGTH", said))
            first = self.assertFirst(self.ask(pairs, task))
            self.assertReplay(self.ask(pairs, task), first)
            self.assertTasks(tag, 1)

    def test_the_length_that_the_client_announced(self):
        """IDEM_LENGTH is what the client said; mod_fcgid's CONTENT_LENGTH is
        what it passed on."""
        tag, key = self.fresh_tag(), fresh_key()
        task = self.task(tag)
        more = [("IDEM_LENGTH", str(len(task) + 5))]
        got = self.ask(self.pairs(task, key, more=more), task)
        self.assertProblem(got, 503, "tana-chala")
        self.assertTasks(tag, 0)
        more = [("IDEM_LENGTH", str(len(task)))]
        self.assertFirst(self.ask(self.pairs(task, key, more=more), task))

    # --- parameters -------------------------------------------------------
    def test_two_parameters_of_one_name(self):
        tag = self.fresh_tag()
        task = self.task(tag)
        pairs = self.pairs(task, fresh_key()) + [
            ("HTTP_IDEMPOTENCY_KEY", fresh_key())]
        self.assertProblem(self.ask(pairs, task), 400, "idempotentlik-kalit")
        self.assertTasks(tag, 0)

    def test_every_parameter_may_be_missing(self):
        got = self.ask([])
        self.assertGreaterEqual(got.status, 400)
        for missing in ("REQUEST_METHOD", "REQUEST_URI", "SCRIPT_NAME",
                        "PATH_INFO", "QUERY_STRING", "CONTENT_TYPE",
                        "CONTENT_LENGTH", "REMOTE_ADDR", "SERVER_PROTOCOL"):
            task = self.task(self.fresh_tag())
            pairs = [p for p in self.pairs(task, fresh_key())
                     if p[0] != missing]
            with self.subTest(missing=missing):
                got = self.ask(pairs, task)
                self.assertLess(got.status, 500, got)

    def test_without_request_uri(self):
        """The path is SCRIPT_NAME and PATH_INFO then."""
        tag, key = self.fresh_tag(), fresh_key()
        task = self.task(tag)
        pairs = [p for p in self.pairs(task, key) if p[0] != "REQUEST_URI"]
        first = self.assertFirst(self.ask(pairs, task))
        self.assertReplay(self.ask(self.pairs(task, key), task), first)

    def test_parameters_cut_short_run_nothing(self):
        """The connection ends inside the parameters, after complete ones."""
        tag = self.fresh_tag()
        task = self.task(tag)
        data = fcgi.stream(fcgi.PARAMS, fcgi.pairs_bytes(
            self.pairs(task, fresh_key())), end=False)
        exchange = fcgi.Exchange(self.server.address)
        exchange.send(fcgi.begin() + data)
        exchange.sock.shutdown(socket.SHUT_WR)
        with self.assertRaises(ConnectionError):
            exchange.answer()
        exchange.close()
        self.assertTasks(tag, 0)

    def test_many_and_long_parameters(self):
        task = self.task(self.fresh_tag())
        more = [("HTTP_X_%d" % n, "v" * 100) for n in range(2000)]
        more.append(("HTTP_X_LONG", "x" * 60000))
        self.assertFirst(self.ask(self.pairs(task, fresh_key(), more=more),
                                  task))

    # --- connections ------------------------------------------------------
    def test_the_connection_is_closed_after_each_request(self):
        """Or FCGI_KEEP_CONN would hold a worker for one peer."""
        for keep in (False, True):
            exchange = fcgi.Exchange(self.server.address)
            task = self.task(self.fresh_tag())
            exchange.send(fcgi.begin(keep)
                          + fcgi.stream(fcgi.PARAMS, fcgi.pairs_bytes(
                              self.pairs(task, fresh_key())))
                          + fcgi.stream(fcgi.STDIN, task))
            self.assertFirst(exchange.answer())
            self.assertTrue(exchange.closed())
            exchange.close()

    def test_a_silent_connection_does_not_hold_the_worker(self):
        silent = fcgi.connect(self.server.address)
        began = time.monotonic()
        self.assertFirst(self.post({"matn": "navbat"}, fresh_key()))
        self.assertLess(time.monotonic() - began, 8)
        silent.close()

    def test_a_half_sent_request_does_not_hold_the_worker(self):
        task = self.task(self.fresh_tag())
        params = fcgi.stream(fcgi.PARAMS, fcgi.pairs_bytes(
            self.pairs(task, fresh_key())))
        for part in (fcgi.begin()[:5], fcgi.begin() + params[:20],
                     fcgi.begin() + params,
                     fcgi.begin() + params + fcgi.record(fcgi.STDIN,
                                                         task[:4])):
            half = fcgi.Exchange(self.server.address)
            half.send(part)
            began = time.monotonic()
            self.assertFirst(self.post({"matn": "navbat"}, fresh_key()))
            self.assertLess(time.monotonic() - began, 8)
            half.close()

    def test_garbage_does_not_end_the_worker(self):
        before = self.server.workers()
        for junk in (b"GET / HTTP/1.1\r\n\r\n", b"\0" * 64, b"\xff" * 64,
                     struct.pack("!BBHHBx", 9, 1, 1, 8, 0) + b"\0" * 8):
            sock = fcgi.connect(self.server.address)
            sock.sendall(junk)
            sock.close()
            self.assertFirst(self.post({"matn": "keyingi"}, fresh_key()))
        self.assertEqual(self.server.workers(), before)

    def test_a_client_that_never_reads(self):
        """Its answer waits in the socket; the worker goes on."""
        for _ in range(3):
            self.send_post({"matn": "o'qimaydi"}, fresh_key())
        began = time.monotonic()
        self.assertFirst(self.post({"matn": "keyingi"}, fresh_key()))
        self.assertLess(time.monotonic() - began, 8)

    @unittest.skipIf(proc.SLOW > 1, "valgrind has memory of its own")
    def test_memory_is_not_had_anew_for_each_request(self):
        for _ in range(20):
            self.post({"matn": "isinish"}, fresh_key())
        pid, = self.server.workers()
        before = proc.minor_faults(pid)
        for _ in range(100):
            self.assertFirst(self.post({"matn": "xotira"}, fresh_key()))
        self.assertLess(proc.minor_faults(pid) - before, 100)

    # --- the answer -------------------------------------------------------
    def test_status_is_always_sent_and_the_head_is_small(self):
        exchange = fcgi.Exchange(self.server.address)
        exchange.send(fcgi.whole(fcgi.variables("GET", "/vazifalar")))
        exchange.read()
        head = exchange.out.partition(b"\r\n\r\n")[0]
        self.assertRegex(head, rb"^Status: 200\b")
        self.assertLess(len(head), 4096)
        self.assertEqual(exchange.err, b"")


class FastCgiOnFd0(FastCgi):
    """The same on a socket that was handed over."""
    server_class = Inherited


class FastCgiByTcp(ServerCase):
    """--listen HOST:PORT."""

    @classmethod
    def setUpClass(cls):
        from harness.site import free_port

        cls.server_class = lambda site: Direct(
            site, address=("127.0.0.1", free_port()))
        super().setUpClass()

    def test_first_and_replay(self):
        key = fresh_key()
        first = self.assertFirst(self.post({"matn": "tcp"}, key))
        self.assertReplay(self.post({"matn": "tcp"}, key), first)

