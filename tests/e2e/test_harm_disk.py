"""The disk under the store is full, read-only, broken or gone while it is in
use."""
import os
import subprocess
import unittest

from harness.harm import DOWN, FULL, GONE, MADE, Harm, can_mount, fill, run
from harness.servers import Lighttpd
from harness.site import WORKER

MIB = 1 << 20
NO_ROOM = r"error: store \S+/store: commit: No space left on device: make "\
          r"room on the disk"
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
