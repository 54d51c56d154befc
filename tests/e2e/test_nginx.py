"""guard.fcgi behind nginx, with php-fpm behind both: what can be keyed goes
through the guard, all else straight to PHP."""
import os

from harness.case import fresh_key
from harness.php import GuardNginx
from test_guard import GuardCases, ShopCase


class GuardFpmOnNginx(GuardCases, ShopCase):
    by_fpm = True
    server_class = GuardNginx

    def fetch(self, target):
        return self.server.send("GET", target).answer()

    def test_a_path_after_the_script(self):
        key = fresh_key()
        body = b"amount=" + self.amount.encode()
        fields = [("Content-Type", "application/x-www-form-urlencoded"),
                  ("Idempotency-Key", key)]
        first = self.assertFirst(self.server.send(
            "POST", "/shop.php/orders/7", fields, body).answer())
        self.assertReplay(self.server.send(
            "POST", "/shop.php/orders/7", fields, body).answer(), first)
        self.assertCharges(1)

    def test_settings_are_not_served(self):
        with open(self.site.path("www", ".htidem.conf"), "wb") as file:
            file.write(b"IDEM_ANONYMOUS=allow\n")
        os.chmod(file.name, 0o644)
        self.assertStatus(self.fetch("/.htidem.conf"), 403)

    def test_a_script_that_is_not_there(self):
        self.assertStatus(self.server.send("POST", "/none.php").answer(), 404)


class NginxWithoutTheGuard(ShopCase):
    by_fpm = True
    server_class = GuardNginx

    def test_what_can_not_be_keyed_does_without_it(self):
        self.server.backend.stop()
        answer = self.server.send("GET", "/shop.php").answer()
        self.assertStatus(answer, 200)
        self.assertEqual(answer.body, b"key none idem 0\n")
        self.assertStatus(self.buy(fresh_key()), 502)
        self.assertCharges(0)
