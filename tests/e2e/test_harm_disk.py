"""The disk under the store is full, read-only, broken or gone while it is in
use."""
import os
import re
import shutil
import subprocess
import unittest

from harness import proc
from harness.harm import (DOWN, FULL, GONE, MADE, SECONDS, Harm, can_mount,
                          fill, run)
from harness.servers import Lighttpd
from harness.site import WORKER

MIB = 1 << 20
LINUX = tuple(int(n) for n in re.findall(r"\d+", os.uname().release)[:2])
NO_ROOM = r"error: store \S+/store: commit: No space left on device: make "\
          r"room on the disk"
NO_QUOTA = r"error: store \S+/store: commit: Disk quota exceeded: raise the "\
           r"quota of this user on the disk"
FULL_DIES = r"error: store \S+: this process dies of a signal: one of its "\
            r"files is cut short or damaged, or the disk is full or "
READ_ONLY = r"error: store \S+/store: [\w ]+: Read-only file system: "\
            r"look at the disk"
SOON = (MADE, DOWN, GONE)       # some workers have not looked yet


def can_loop():
    return can_mount() and subprocess.run(
        ["losetup", "--find"], capture_output=True,
        check=False).returncode == 0


class Disk(Harm):
    module = "disk"

    def setUp(self):
        super().setUp()
        os.mkdir(self.site.store)
        self.mounted = 0

    def tearDown(self):
        try:
            super().tearDown()
        finally:
            while self.mounted > 0:
                self.unmount()
            self.site.remove()

    def mount(self, *argv):
        run("mount", *argv, self.site.store)
        self.mounted += 1
        os.chown(self.site.store, WORKER.pw_uid, WORKER.pw_gid)
        os.chmod(self.site.store, 0o700)

    def unmount(self, *argv):
        run("umount", *argv, self.site.store)
        self.mounted -= 1

    @property
    def filler(self):
        return os.path.join(self.site.store, "filler")

    def full(self):
        fill(self.filler)

    def free(self):
        os.unlink(self.filler)


@unittest.skipUnless(can_mount(), "needs root and the right to mount")
class Tmpfs(Disk):
    def mount_tmpfs(self, options):
        self.mount("-t", "tmpfs", "-o", options, "idem-test")

    def test_full(self):
        self.mount_tmpfs("size=16m")
        self.begin()
        self.harm("full (tmpfs)", self.full, (FULL, MADE), NO_ROOM, self.free)

    def test_full_behind_lighttpd(self):
        self.mount_tmpfs("size=16m")
        self.server_class = Lighttpd
        self.begin()
        self.harm("full (behind lighttpd)", self.full, (FULL, MADE), NO_ROOM,
                  self.free)

    def test_full_at_start(self):
        self.mount_tmpfs("size=1m")
        self.full()
        self.at_start("full at start", (DOWN, FULL), r"No space left on "
                      "device: make room on the disk", lambda: (
                          self.free(), run("mount", "-o", "remount,size=16m",
                                           self.site.store)))

    def test_no_inodes(self):
        self.mount_tmpfs("size=16m,nr_inodes=3")
        self.at_start("without free inodes", (DOWN, FULL), "No space left on "
                      "device: make room on the disk", lambda: run(
                          "mount", "-o", "remount,nr_inodes=100",
                          self.site.store))

    def test_read_only_at_start(self):
        self.mount_tmpfs("size=16m")
        run("mount", "-o", "remount,ro", self.site.store)
        self.at_start("read-only at start", (DOWN,), "Read-only file system: "
                      "look at the disk", lambda: run(
                          "mount", "-o", "remount,rw", self.site.store))


@unittest.skipUnless(can_loop(), "needs root and the right to mount a file")
class Ext4(Disk):
    def setUp(self):
        super().setUp()
        self.image = self.site.path("image")
        with open(self.image, "wb") as file:
            file.truncate(24 * MIB)
        run("mkfs.ext4", "-q", "-m", "0", self.image)
        self.mount_image()

    def mount_image(self):
        self.mount("-o", "loop,errors=remount-ro", self.image)

    def wait_until_free(self):
        """A process with mounts of its own, which began while this one was
        there, keeps it for as long as it lives."""
        proc.wait_until(lambda: not subprocess.run(
            ["losetup", "-j", self.image], capture_output=True,
            check=True).stdout, "the end of the mount", SECONDS)

    def device(self):
        with open("/proc/mounts", encoding="utf-8") as file:
            return [os.path.basename(line.split()[0]) for line in file
                    if line.split()[1] == self.site.store][-1]

    def test_full(self):
        self.begin()
        self.harm("full (ext4)", self.full, (FULL, MADE), NO_ROOM, self.free)

    def test_fails(self):
        """An error of the disk makes the file system read-only; then nobody
        can say whether what is found is on it."""
        path = "/sys/fs/ext4/%s/trigger_fs_error" % self.device()
        if not os.path.exists(path):
            self.skipTest("this kernel makes no errors: no " + path)
        self.begin()

        def harm():
            with open(path, "w", encoding="ascii") as file:
                file.write("x")

        def mend():
            self.server.stop()
            self.unmount()
            self.wait_until_free()
            self.mount_image()
            self.server.start()
        self.harm("read-only after an error of its own", harm,
                  (DOWN, MADE, GONE), READ_ONLY, mend, old=SOON)

    def test_taken_away(self):
        """What lies below is an empty directory that belongs to another."""
        self.begin()
        self.harm("unmounted", lambda: self.unmount("-l"), (DOWN, GONE),
                  r"error: store \S+/store: (data.mdb is not the file that "
                  r"was opened|belongs to user 0)", self.mount_image,
                  old=SOON)


class Quota(Harm):
    """What a file system does that writes in place: no file grows beyond the
    quota of its owner, and what is there can be written."""
    module = "disk"

    def quota(self, size):
        path = self.site.path("run", "quota")
        with open(path + ".new", "w", encoding="ascii") as file:
            file.write(str(size))
        os.rename(path + ".new", path)

    def prepare(self, size):
        self.site.preload = {"LD_PRELOAD": self.site.tool("tests/world.so"),
                             "WORLD_QUOTA": self.site.path("run", "quota")}
        self.quota(size)

    def test_met(self):
        self.prepare(0)
        self.begin()
        self.harm("a quota", lambda: self.quota(os.path.getsize(
            self.site.path("store", "data.mdb"))), (FULL, MADE), NO_QUOTA,
                  lambda: self.quota(0))

    def test_met_at_start(self):
        self.prepare(1)
        self.at_start("a quota at start", (DOWN, FULL), "Disk quota exceeded: "
                      "raise the quota of this user on the disk",
                      lambda: self.quota(0))

    def test_told_by_a_flush(self):
        """As a disk does that writes late: then nobody can say, either,
        whether what is found is on it."""
        self.prepare(0)
        self.begin()
        self.harm("a quota, told by a flush", lambda: self.quota(-1),
                  (FULL, DOWN, MADE, GONE), NO_QUOTA, lambda: self.quota(0),
                  old=(FULL,) + SOON)


@unittest.skipUnless(can_loop() and shutil.which("mkfs.btrfs"),
                     "needs mkfs.btrfs, root and the right to mount a file")
class CopyOnWrite(Disk):
    """Here each write takes room, also that of a page which is there: of it
    processes die.  What was done is done.  The kernel, too, finds no room to
    write down that who died held a lock: all have to be started anew."""
    settings = {"IDEM_STORE_WAIT": "1s"}    # where such a lock stays locked

    def setUp(self):
        super().setUp()
        image = self.site.path("image")
        with open(image, "wb") as file:
            file.truncate(256 * MIB)
        run("mkfs.btrfs", "-q", image)
        try:
            self.mount("-o", "loop", image)
        except AssertionError as err:
            self.skipTest("no btrfs here: %s" % err)
        run("btrfs", "quota", "enable", self.site.store)

    def again(self):
        self.server.stop()
        self.server.start()

    def limit(self, size):
        run("btrfs", "qgroup", "limit", size, self.site.store)

    def lift(self):
        # to raise a limit that is met takes a write, which may be refused
        run("btrfs", "quota", "disable", self.site.store)

    def test_quota(self):
        self.limit("24M")
        self.begin()
        self.harm("a quota of the file system (btrfs)", self.full, (None,),
                  FULL_DIES, lambda: (self.lift(), self.again()))
        self.assertGreater(os.statvfs(self.site.store).f_bavail, 4096)

    def test_quota_at_start(self):
        self.limit("2M")
        self.full()
        self.at_start("a quota (btrfs) at start", (DOWN, FULL),
                      "Disk quota exceeded: raise the quota of this user on "
                      "the disk", self.lift)

    def test_full(self):
        self.begin()
        self.harm("full (btrfs)", self.full, (None,), FULL_DIES,
                  lambda: (self.free(), self.again()))

    @unittest.skipUnless(LINUX >= (6, 18), "older kernels were not tried")
    def test_full_where_nothing_is_copied(self):
        run("chattr", "+C", self.site.store)
        self.begin()
        self.harm("full (btrfs, chattr +C)", self.full, (FULL, MADE), NO_ROOM,
                  self.free)
