"""A customer's home on a shared host: Apache with mod_fcgid and suexec, and in
it the files of apache/shared-hosting as they are shipped."""
import os
import pwd
import shutil

from .php import Fpm, Shop
from .servers import WebServer
from .site import AS_ROOT, BUILD, ROOT

SUEXEC = "/usr/lib/apache2/suexec"
SUEXEC_LOGS = "/var/log/apache2"    # suexec runs nothing where it cannot log
# The guard runs php-cgi, the host php-fpm.
SAYS_BY_WHAT = "<?php\nheader('X-Run-By: ' . PHP_SAPI);\n"
CUSTOMER = pwd.getpwnam("nobody")
POSSIBLE = AS_ROOT and os.path.exists(SUEXEC)


class CustomerFpm(Fpm):
    user = CUSTOMER.pw_name


class Home(Shop):
    """Of the customer: public_html is www/ here, and "idem" lies beside it."""
    under = "/var/www"      # suexec runs nothing elsewhere

    def __init__(self):
        os.makedirs(self.under, exist_ok=True)
        super().__init__()
        os.chmod(self.path("run"), 0o777)   # the shop's data
        os.mkdir(self.path("idem"))
        with open(self.path("www", "shop.php"), encoding="utf-8") as file:
            self.write(file.read().replace("<?php\n", SAYS_BY_WHAT, 1),
                       "www", "checkout.php")
        os.remove(self.path("www", "shop.php"))
        self.program = self.path("idem", "guard.fcgi")
        self.install("guard.fcgi")
        shutil.copy(os.path.join(BUILD, "idem"), self.path("idem", "idem"))
        for name, folder in ((".htaccess", "www"), ("guard.fcgi", "www"),
                             (".htidem.conf", "idem"),
                             (".htidem.routes", "idem")):
            self.upload(name, folder)
        os.chmod(self.path("idem", ".htidem.conf"), 0o600)
        self.own("www", "idem")

    def upload(self, name, folder):
        source = os.path.join(ROOT, "apache/shared-hosting", name)
        with open(source, encoding="utf-8") as file:
            text = file.read().replace("/home/USER", self.dir)
        self.write(text, folder, name)
        shutil.copymode(source, self.path(folder, name))

    def write(self, text, *names):
        os.makedirs(os.path.dirname(self.path(*names)), exist_ok=True)
        with open(self.path(*names), "w", encoding="utf-8") as file:
            file.write(text)
        self.own(*names[:1])

    def own(self, *names):
        for name in names:
            for where, _, files in os.walk(self.path(name)):
                for path in [where] + [os.path.join(where, f) for f in files]:
                    os.chown(path, CUSTOMER.pw_uid, CUSTOMER.pw_gid,
                             follow_symlinks=False)


class SharedHost(WebServer):
    name = "Apache with mod_fcgid and suexec"
    conf = "tests/e2e/shared-hosting.conf"

    def start(self):
        os.makedirs(SUEXEC_LOGS, exist_ok=True)
        super().start()
