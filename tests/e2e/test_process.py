"""Processes: the supervisor and its workers, signals, sockets that are handed
over, and what an idle worker keeps."""
import os
import signal
import socket
import stat
import subprocess
import time

from harness import fcgi, proc
from harness.case import JSON, ServerCase, fresh_key, on
from harness.load import Load
from harness.servers import (ApacheFcgid, Direct, Inherited, Lighttpd,
                             Workers)
from harness.world import AtGate

MIB = 1024 * 1024
IDLE_S = 5      # from the last event to house-keeping: nobody waits for that


class Supervisor(ServerCase):
    server_class = Workers

    def setUp(self):
        """Each test begins with a supervisor that has all its workers."""
        if self.server.process.poll() is not None:
            self.server.start()
        proc.wait_until(lambda: len(self.server.workers()) == 4,
                        "four workers")

    def test_a_dead_worker_is_replaced(self):
        before = self.server.workers()
        proc.end(before[:1])
        proc.wait_until(lambda: len(self.server.workers()) == 4,
                        "a new worker")
        self.assertEqual(set(before[1:]) - set(self.server.workers()), set())
        self.assertFirst(self.post({"matn": "yangi"}, fresh_key()))

    def test_all_killed_and_the_socket_still_serves(self):
        for _ in range(3):
            proc.end(self.server.workers())
            self.assertFirst(self.post({"matn": "qayta"}, fresh_key()))

    def test_the_pause_grows(self):
        """Workers that die at once are not started in a hot loop."""
        seen = set(self.server.workers())
        end = time.monotonic() + 3
        while time.monotonic() < end:
            workers = self.server.workers()
            seen |= set(workers)
            for pid in workers:
                proc.send_signal(pid, signal.SIGKILL)
            time.sleep(0.01)
        self.assertLess(len(seen), 60)
        self.assertFirst(self.post({"matn": "keyin"}, fresh_key()))

    def test_sigterm_ends_all(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            self.setUp()
            self.server.signal(number)
            self.assertEqual(self.server.process.wait(proc.SECONDS), 0)
            self.assertEqual(proc.running(self.site.program), [])

    def test_sighup_replaces_all_and_loses_nothing(self):
        """The program is executed anew; the socket stays, so no request of
        the load fails."""
        before = set(self.server.workers())
        pid = self.server.process.pid
        with Load(self) as load:
            load.until_done(5)
            self.site.install("tasks.fcgi")
            self.server.signal(signal.SIGHUP)
            proc.wait_until(lambda: not before & set(self.server.workers()),
                            "new workers")
            load.until_done(5)
        load.check()
        self.assertEqual(load.ntries, len(load.done))
        self.assertEqual(os.readlink("/proc/%d/exe" % pid),
                         self.site.program)
        for worker in self.server.workers():
            self.assertEqual(os.readlink("/proc/%d/exe" % worker),
                             self.site.program)

    def test_a_killed_supervisor_leaves_no_orphan(self):
        self.server.process.kill()
        self.server.process.wait()
        proc.wait_until(lambda: not proc.running(self.site.program),
                        "end of the workers")
        self.server.start()     # the socket of the dead one is no obstacle
        self.assertFirst(self.post({"matn": "tirik"}, fresh_key()))

    def test_a_second_one_is_refused(self):
        run = subprocess.run(self.server.argv(), capture_output=True,
                             env=self.site.worker_environment(),
                             timeout=proc.SECONDS, check=False,
                             **self.site.as_worker())
        self.assertNotEqual(run.returncode, 0)
        self.assertIn(self.server.address.encode(), run.stderr)
        self.assertFirst(self.post({"matn": "birinchi"}, fresh_key()))

    def test_mode_of_the_socket(self):
        mode = os.stat(self.server.address).st_mode
        self.assertEqual(stat.S_IMODE(mode), 0o660)


class SupervisorAtWork(AtGate, ServerCase):
    server_class = Workers

    def test_what_runs_is_finished(self):
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
            if self.server.process.poll() is not None:
                self.server.start()
            key, tag = fresh_key(), self.fresh_tag()
            task = {"matn": "tugaydi #" + tag}
            pending = self.at_work(task, key)
            idle = set(self.server.workers()) - {self.owner}
            self.server.signal(number)
            proc.wait_until(lambda: not idle & set(self.server.workers()),
                            "the idle ones to leave")
            self.assertIn(self.owner, self.server.workers())
            self.gate.open()
            first = self.assertFirst(pending.answer())
            if number != signal.SIGHUP:
                self.assertEqual(self.server.process.wait(proc.SECONDS), 0)
                self.server.start()
            self.assertReplay(self.post(task, key), first)
            self.assertTasks(tag, 1)


class OneWorker(ServerCase):
    """A worker on a socket that was handed over, as web servers start it."""
    server_class = Inherited

    def setUp(self):
        if self.server.process.poll() is not None:
            os.unlink(self.server.address)
            self.server.start()

    def gone(self, seconds):
        self.assertEqual(self.server.process.wait(seconds), 0)

    def test_idle_it_leaves_at_once(self):
        for number in (signal.SIGTERM, signal.SIGUSR1, signal.SIGINT):
            self.setUp()
            self.assertStatus(self.get("/vazifalar"), 200)
            self.server.signal(number)
            self.gone(IDLE_S - 1)

    def test_a_signal_inside_a_request(self):
        """While the body comes: the whole answer, then the end."""
        key, tag = fresh_key(), self.fresh_tag()
        task = self.body({"matn": "signal #" + tag})
        pairs = fcgi.variables("POST", "/vazifalar", [
            JSON, ("Idempotency-Key", key)], task)
        params = fcgi.stream(fcgi.PARAMS, fcgi.pairs_bytes(pairs))
        parts = [fcgi.begin(), params[:30], params[30:],
                 fcgi.record(fcgi.STDIN, task[:5]),
                 fcgi.stream(fcgi.STDIN, task[5:])]
        for at in range(1, len(parts)):
            self.setUp()
            exchange = fcgi.Exchange(self.server.address)
            exchange.send(b"".join(parts[:at]))
            self.until_read(exchange)
            self.server.signal(signal.SIGTERM)
            exchange.send(b"".join(parts[at:]))
            self.assertStatus(exchange.answer(), 201)
            exchange.close()
            self.gone(proc.SECONDS)
        self.setUp()
        self.assertTasks(tag, 1)

    def until_read(self, exchange):
        """Until the worker took all that was sent so far."""
        import fcntl
        import struct
        import termios

        def unread():
            raw = fcntl.ioctl(exchange.sock, termios.TIOCOUTQ, b"\0" * 4)
            return struct.unpack("i", raw)[0]
        proc.wait_until(lambda: unread() == 0, "the worker to read")

    def test_a_replaced_program_leaves_when_idle(self):
        """Old and new versions must not serve side by side for ever."""
        self.site.install("tasks.fcgi")
        self.gone(proc.SECONDS)

    def test_no_descriptor_of_the_parent_is_kept_open(self):
        pid = self.server.process.pid
        self.assertStatus(self.get("/vazifalar"), 200)
        names = [os.readlink("/proc/%d/fd/%s" % (pid, fd))
                 for fd in os.listdir("/proc/%d/fd" % pid)]
        ours = [n for n in names if n.startswith("/tmp/")
                and not n.startswith(self.site.dir)]
        self.assertEqual(ours, [])


class HandedOver(ServerCase):
    """Other ways to get the listening socket."""
    server_class = Direct

    def serve(self, argv, env, listener, **more):
        """Start with fd 3 as systemd does; the process."""
        def last_step():
            os.dup2(listener.fileno(), 3)
            os.set_inheritable(3, True)     # it may have been 3 before
            os.execve(argv[0], argv, dict(
                env, LISTEN_PID=str(os.getpid()), LISTEN_FDS="1"))
        return subprocess.Popen(argv, preexec_fn=last_step, close_fds=False,
                                stdin=subprocess.DEVNULL, **more)

    def test_systemd_activation(self):
        for workers in ([], ["--workers", "2"]):
            address = self.site.path("run", "s%d.sock" % len(workers))
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(address)
            os.chmod(address, 0o666)
            listener.listen(64)
            child = self.serve([self.site.program] + workers,
                               self.site.worker_environment(), listener,
                               stderr=subprocess.PIPE,
                               **self.site.as_worker())
            listener.close()
            try:
                got = fcgi.request(address, fcgi.variables(
                    "GET", "/vazifalar"))
                self.assertStatus(got, 200)
                child.terminate()
                self.assertEqual(child.wait(proc.SECONDS), 0,
                                 child.stderr.read())
            finally:
                child.kill()
                child.wait()
                child.stderr.close()

    def test_a_socket_on_fd_0_with_workers(self):
        """systemd's StandardInput=socket with a supervisor."""
        address = self.site.path("run", "fd0.sock")
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(address)
        os.chmod(address, 0o666)
        listener.listen(64)
        child = subprocess.Popen(
            [self.site.program, "--workers", "2"], stdin=listener,
            env=self.site.worker_environment(), stderr=subprocess.PIPE,
            **self.site.as_worker())
        listener.close()
        try:
            for _ in range(4):
                got = fcgi.request(address, fcgi.variables(
                    "GET", "/vazifalar"))
                self.assertStatus(got, 200)
            child.terminate()
            self.assertEqual(child.wait(proc.SECONDS), 0, child.stderr.read())
        finally:
            child.kill()
            child.wait()
            child.stderr.close()

    def test_spawn_fcgi(self):
        """It exits right after the start; its worker must not."""
        address = self.site.path("run", "spawn.sock")
        pidfile = self.site.path("run", "spawn.pid")
        subprocess.run(["spawn-fcgi", "-s", address, "-M", "0666", "-P",
                        pidfile, self.site.program], check=True,
                       stdout=subprocess.DEVNULL,
                       env=self.site.worker_environment(),
                       **self.site.as_worker())
        with open(pidfile, encoding="ascii") as file:
            pid = int(file.read())
        try:
            end = time.monotonic() + IDLE_S + 1
            while time.monotonic() < end:
                got = fcgi.request(address, fcgi.variables(
                    "GET", "/vazifalar"))
                self.assertStatus(got, 200)
                time.sleep(0.5)
            self.assertTrue(proc.alive(pid))
        finally:
            proc.send_signal(pid, signal.SIGTERM)
        proc.wait_until(lambda: not proc.alive(pid), "its end")

    def test_plain_cgi(self):
        env = dict(self.site.worker_environment(),
                   GATEWAY_INTERFACE="CGI/1.1", REQUEST_METHOD="POST",
                   REQUEST_URI="/vazifalar", SCRIPT_NAME="",
                   PATH_INFO="/vazifalar", CONTENT_TYPE="application/json",
                   HTTP_IDEMPOTENCY_KEY=fresh_key(),
                   SERVER_PROTOCOL="HTTP/1.1", REMOTE_ADDR="127.0.0.1")
        task = self.body({"matn": "cgi"})
        answers = []
        for _ in range(2):
            run = subprocess.run([self.site.program], input=task,
                                 env=dict(env, CONTENT_LENGTH=str(len(task))),
                                 capture_output=True, check=True,
                                 timeout=proc.SECONDS,
                                 **self.site.as_worker())
            answers.append(fcgi.parse_cgi(run.stdout))
        self.assertFirst(answers[0])
        self.assertReplay(answers[1], answers[0])

    def test_a_short_cgi_body_runs_nothing(self):
        tag = self.fresh_tag()
        task = self.body({"matn": "#" + tag})
        env = dict(self.site.worker_environment(), REQUEST_METHOD="POST",
                   GATEWAY_INTERFACE="CGI/1.1", REQUEST_URI="/vazifalar",
                   CONTENT_TYPE="application/json",
                   CONTENT_LENGTH=str(len(task)),
                   HTTP_IDEMPOTENCY_KEY=fresh_key())
        run = subprocess.run([self.site.program], input=task[:-1], env=env,
                             capture_output=True, check=True,
                             timeout=proc.SECONDS,
                             **self.site.as_worker())
        self.assertProblem(fcgi.parse_cgi(run.stdout), 503, "tana-chala")
        self.assertTasks(tag, 0)

    def test_on_a_terminal_it_says_how_it_is_used(self):
        master, slave = os.openpty()
        run = subprocess.run([self.site.program], stdin=slave,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             env=self.site.worker_environment(),
                             timeout=proc.SECONDS, check=False)
        os.close(master)
        os.close(slave)
        self.assertEqual(run.returncode, 64)
        self.assertIn(b"--listen", run.stdout + run.stderr)


@on(Workers, Inherited, Lighttpd, ApacheFcgid)
class Memory:
    def test_private_memory_of_an_idle_worker(self):
        for n in range(30):
            self.post({"matn": "xotira %d" % n}, fresh_key())
        workers = self.server.workers()
        self.assertGreater(len(workers), 0)
        for pid in workers:
            self.assertLess(proc.private_bytes(pid), 4 * MIB)


class BeyondSixSeconds(ServerCase):
    """A worker that was idle for long is there at once."""
    server_class = Inherited

    def test_after_idle_ticks(self):
        pid = self.server.process.pid
        time.sleep(IDLE_S + 1)
        began = time.monotonic()
        self.assertFirst(self.post({"matn": "uyg'on"}, fresh_key()))
        self.assertLess(time.monotonic() - began, IDLE_S - 2)
        self.assertEqual(self.server.process.pid, pid)
        self.assertTrue(proc.alive(pid))
