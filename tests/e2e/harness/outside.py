"""The program whose work lies outside the store: it appends a line to a ledger,
so that anyone can count how often it really worked."""
from . import proc
from .case import JSON, OwnSiteCase
from .servers import Direct
from .site import Site


class Outside(OwnSiteCase):
    nworkers = None

    def setUp(self):
        self.site = Site(self.settings)
        self.site.program = self.site.tool("tests/ledger.fcgi")
        self.ledger = self.site.path("run", "ledger")
        self.site.preload = {"LEDGER": self.ledger}
        self.server = None

    def begin(self):
        self.server = Direct(self.site, nworkers=self.nworkers)
        self.server.start()

    def send(self, key):
        return self.server.send("POST", "/ish", [
            JSON, ("Idempotency-Key", key)], b"{}")

    def count(self):
        """How often it really worked."""
        try:
            with open(self.ledger, encoding="ascii") as file:
                return file.read().count("x\n")
        except FileNotFoundError:
            return 0

    def let_go(self):
        with open(self.ledger + ".go", "w", encoding="ascii"):
            pass

    def die(self, key):
        """The worker is killed in the middle of the work."""
        pending = self.send(key)
        proc.wait_until(lambda: self.count() == 1, "the work to begin")
        proc.end(self.server.workers())
        with self.assertRaises(OSError):
            pending.answer()
        self.let_go()
