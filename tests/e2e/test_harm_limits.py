"""Limits of the processes are met while they work, or from the start: what is
refused, what the log says, and the way back."""
import os
import subprocess

from harness import proc
from harness.harm import DOWN, FULL, GONE, MADE, Harm
from harness.servers import Workers

TOO_LARGE = r"error: store \S+/store: commit: File too large: raise the limit "\
            r"on the size of files"
NO_MEMORY = r"error: store \S+/store: open: Cannot allocate memory: raise the "\
            r"limit on address space, or lower IDEM_MAX_STORE"
NO_FILES = r"error: accept on descriptor \d+: Too many open files: raise the "\
           r"limit on open files"
NO_OPEN = r"error: store \S+/store: open: Too many open files: raise the "\
          r"limit on open files"
UNLIMITED = "unlimited"


class Limited(Workers):
    """With a soft limit from the start."""
    limit = None

    def argv(self):
        return ["prlimit", "--%s=%s:" % self.limit] + super().argv()


class Limits(Harm):
    module = "limits"

    def set_limit(self, name, soft, pids):
        """Who has ended meanwhile is followed by one with its parent's."""
        for pid in pids:
            done = subprocess.run(["prlimit", "--pid", str(pid),
                                   "--%s=%s:" % (name, soft)], check=False,
                                  capture_output=True,
                                  **self.site.as_worker())
            if done.returncode != 0 and proc.alive(pid):
                raise AssertionError(done.stderr.decode())

    def all_processes(self):
        return [self.server.process.pid] + self.server.workers()

    def limited(self, name, soft):
        self.server_class = type("LimitedWorkers", (Limited,),
                                 {"limit": (name, soft)})

    def free(self, name):
        """For who is there, and who comes after they were ended."""
        self.set_limit(name, UNLIMITED, self.all_processes())
        self.kill_workers()

    def test_size_of_files(self):
        """As large as the store is; the log, a file too, is smaller."""
        self.begin()
        self.harm("RLIMIT_FSIZE", lambda: self.set_limit(
            "fsize", os.path.getsize(self.site.path("store", "data.mdb")),
            self.all_processes()), (FULL, MADE), TOO_LARGE,
            lambda: self.set_limit("fsize", UNLIMITED, self.all_processes()))

    def test_size_of_files_at_start(self):
        """The store fits, the file of the group commit does not."""
        self.limited("fsize", 4 << 20)
        self.at_start("RLIMIT_FSIZE at start", (MADE,), "warning: .*/group.2: "
                      "no group commit: File too large", lambda: self.free(
                          "fsize"))

    def test_address_space_at_start(self):
        self.limited("as", 20 << 20)
        self.at_start("RLIMIT_AS at start", (DOWN, GONE), NO_MEMORY,
                      lambda: self.free("as"))

    def test_open_files(self):
        """All but one worker cannot even take a connection."""
        self.begin()
        some = self.server.workers()[1:]

        def harm():
            """Not one more than 0, 1 and 2; what is open stays open."""
            self.set_limit("nofile", 3, some)
        self.harm("RLIMIT_NOFILE", harm, (MADE, GONE), NO_FILES,
                  lambda: self.set_limit("nofile", 1024, some))

    def test_open_files_at_start(self):
        self.limited("nofile", 9)
        self.at_start("RLIMIT_NOFILE at start", (DOWN, GONE), NO_OPEN,
                      lambda: (self.set_limit("nofile", 1024,
                                              self.all_processes()),
                               self.kill_workers()))

    def kill_workers(self):
        for pid in self.server.workers():
            proc.send_signal(pid, 9)
