"""What the Makefile promises: run, experiment, install."""
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import unittest

import experiment
from harness import http, proc
from harness.case import JSON, ServerCase, fresh_key
from harness.servers import Lighttpd
from harness.site import BUILD, ROOT, free_port
from harness.world import AtGate


def session(sid):
    """The pids of a session's living processes."""
    pids = []
    for name in os.listdir("/proc"):
        if name.isdigit() and proc.alive(int(name)):
            try:
                if os.getsid(int(name)) == sid:
                    pids.append(int(name))
            except ProcessLookupError:
                pass
    return pids


class Run(unittest.TestCase):
    """`make run`, and Ctrl-C."""

    def serve(self, server, interrupt,
              program=os.path.join(BUILD, "tasks.fcgi")):
        port = free_port()
        with tempfile.TemporaryFile() as log:
            child = subprocess.Popen(
                [os.path.join(ROOT, "tools/run.sh"), server, str(port)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True,
                env=dict(os.environ, PROGRAM=program))
            try:
                self.ask(child, port)
                server_pid = self.child_of(child.pid, server)
                interrupt(child)
                self.assertEqual(child.wait(30), 0)
                self.assertEqual(session(server_pid), [])
                self.assertEqual(session(child.pid), [])
            except BaseException:
                child.send_signal(signal.SIGTERM)
                child.wait(30)
                log.seek(0)
                print(log.read().decode())
                raise

    @staticmethod
    def child_of(pid, server):
        """The web server that run.sh started; it leads its own session."""
        for name in os.listdir("/proc"):
            try:
                if name.isdigit() and proc.parent_of(int(name)) == pid and (
                        os.getsid(int(name)) == int(name)):
                    return int(name)
            except OSError:
                pass
        raise AssertionError("no child serves " + server)

    def ask(self, child, port):
        """The same POST twice: done once."""
        def answer():
            self.assertIsNone(child.poll())
            try:
                return http.request(port, "GET", "/idempotentlik")
            except ConnectionError:
                return None
        self.assertEqual(proc.wait_until(answer, "make run").status, 200)
        key = ("Idempotency-Key", fresh_key())
        answers = [http.request(port, "POST", "/vazifalar", [JSON, key],
                                b'{"matn":"Non olish #uy"}')
                   for _ in range(2)]
        self.assertEqual([a.status for a in answers], [201, 201])
        self.assertEqual([a.replayed for a in answers], [False, True])
        self.assertEqual(answers[0].body, answers[1].body)

    def test_lighttpd(self):
        self.serve("lighttpd",
                   lambda child: os.killpg(child.pid, signal.SIGINT))

    def test_apache(self):
        self.serve("apache",
                   lambda child: os.killpg(child.pid, signal.SIGINT))

    def test_sigterm(self):
        self.serve("lighttpd", lambda child: child.terminate())

    def test_a_space_in_the_name_of_the_folder(self):
        with tempfile.TemporaryDirectory(prefix="my shop & co ") as folder:
            os.chmod(folder, 0o755)
            program = shutil.copy(os.path.join(BUILD, "tasks.fcgi"), folder)
            for server in ("lighttpd", "apache"):
                self.serve(server, lambda child: child.terminate(), program)

    def test_unknown_server(self):
        run = subprocess.run([os.path.join(ROOT, "tools/run.sh"), "iis"],
                             capture_output=True, check=False)
        self.assertEqual(run.returncode, 2)
        self.assertIn(b"lighttpd or apache", run.stderr)

    def test_a_port_that_is_taken(self):
        with socket.socket() as sock:
            sock.bind(("127.0.0.1", 0))
            sock.listen(1)
            port = sock.getsockname()[1]
            run = subprocess.run(
                [os.path.join(ROOT, "tools/run.sh"), "lighttpd", str(port)],
                capture_output=True, check=False, timeout=30)
        self.assertNotEqual(run.returncode, 0)
        self.assertIn(str(port).encode(), run.stderr + run.stdout)


class Experiment(AtGate, ServerCase):
    """The handler takes longer than the client has patience, and is done
    before it comes a third time, if it comes again at all."""
    server_class = Lighttpd
    patience_ms = 2000

    def until_later(self, tag, key):
        if key:
            self.gate.open()
            proc.wait_until(lambda: experiment.count(self.server, tag) == 1,
                            "the task")

    def run_once(self, key):
        tag = self.fresh_tag()
        self.addCleanup(self.gate.open)
        self.gate.close()
        answers = experiment.attempts(self.server, tag, key, self.patience_ms,
                                      self.until_later)
        self.gate.open()
        return experiment.outcome(self.server, tag, key, answers)

    def test_both_runs(self):
        self.assertEqual(self.run_once(None), experiment.EXPECTED["without"])
        self.assertEqual(self.run_once(fresh_key()),
                         experiment.EXPECTED["with"])


class Install(unittest.TestCase):
    def test_install_and_uninstall(self):
        with tempfile.TemporaryDirectory() as place:
            args = ["make", "-C", ROOT, "-s", "BUILD=" + os.path.relpath(
                BUILD, ROOT), "DESTDIR=" + place, "PREFIX=/usr"]
            subprocess.run(args + ["install"], check=True)
            there = {os.path.relpath(os.path.join(where, name), place)
                     for where, _, names in os.walk(place) for name in names}
            for name in ("usr/bin/idem", "usr/lib/idem/tasks.fcgi",
                         "usr/share/man/man1/idem.1",
                         "usr/share/doc/idem/examples/lighttpd.conf",
                         "usr/share/doc/idem/examples/httpd.conf",
                         "usr/share/doc/idem/examples/httpd-guard.conf",
                         "usr/share/doc/idem/examples/httpd-guard-proxy.conf",
                         "usr/share/doc/idem/examples/nginx.conf",
                         "usr/share/doc/idem/examples/payme.routes",
                         "usr/share/doc/idem/examples/shared-hosting/"
                         ".htaccess",
                         "usr/share/doc/idem/examples/idem.conf"):
                self.assertIn(name, there)
            run = subprocess.run(
                [os.path.join(place, "usr/lib/idem/tasks.fcgi"),
                 "--version"], capture_output=True, check=True)
            self.assertRegex(run.stdout, rb"^tasks\.fcgi \d+\.\d+\.\d+\n$")
            subprocess.run(args + ["uninstall"], check=True)
            left = [name for _, _, names in os.walk(place) for name in names]
            self.assertEqual(left, [])
