"""Chromium without a screen, driven by chromedriver over WebDriver (a W3C
recommendation).  It knows nothing of the guard and its shop."""
import atexit
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import urllib.error
import urllib.request

from . import proc

CHROMIUM = shutil.which("chromium")
DRIVER = shutil.which("chromedriver")
SECONDS = 30        # for one command; a cold start on a busy machine
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"     # WebDriver, section 12
TAKEN = "Address already in use"
SWITCHES = ("--headless --no-sandbox --disable-gpu --disable-quic "
            "--no-first-run --disable-background-networking "
            "--disable-component-update --disable-sync "
            "--disable-dev-shm-usage --no-proxy-server")


class Browser:
    """One profile of its own, in the person's language."""

    def __init__(self, language):
        self.folder = tempfile.mkdtemp(prefix="idem-browser-")
        self.opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}))
        self.process = self.address = None
        atexit.register(self.destroy)
        try:
            self.start_driver()
            self.start_session(language)
        except BaseException:
            self.destroy()
            raise

    def start_driver(self):
        """It takes a free port of ::1 and then the same of 127.0.0.1, which
        somebody else may hold: then it ends, and another one is free."""
        log = os.path.join(self.folder, "driver.log")
        for _ in range(5):
            with open(log, "wb") as out:
                self.process = subprocess.Popen(
                    [DRIVER, "--port=0"], stdin=subprocess.DEVNULL,
                    stdout=out, stderr=out, start_new_session=True,
                    env=dict(os.environ, HOME=self.folder,
                             TMPDIR=self.folder))
            port = proc.wait_until(lambda: self.port_in(log),
                                   "start of chromedriver")
            if port != TAKEN:
                self.address = "http://127.0.0.1:%s/session" % port
                return
        raise AssertionError("chromedriver: " + TAKEN)

    def port_in(self, log):
        ended = self.process.poll() is not None
        with open(log, encoding="utf-8", errors="replace") as file:
            text = file.read()
        if ended and TAKEN in text:
            return TAKEN
        if ended:
            raise AssertionError("chromedriver ended:\n" + text)
        found = re.search(r"successfully on port (\d+)", text)
        return found and found.group(1)

    def start_session(self, language):
        args = SWITCHES.split() + [
            "--user-data-dir=" + os.path.join(self.folder, "profile"),
            "--lang=" + language, "--accept-lang=" + language]
        # No command waits for a page: the tests have pages that do not come.
        wanted = {"browserName": "chrome", "pageLoadStrategy": "none",
                  "goog:chromeOptions": {
                      "binary": CHROMIUM, "args": args,
                      "prefs": {"intl.accept_languages": language}}}
        made = self.call("POST", "", {"capabilities": {"alwaysMatch": wanted}})
        self.address += "/" + made["sessionId"]

    def call(self, method, path, body=None):
        """One command; an error of WebDriver is an HTTPError."""
        request = urllib.request.Request(
            self.address + path, method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"})
        with self.opener.open(request, timeout=SECONDS) as answer:
            return json.load(answer)["value"]

    # --- what a person does -----------------------------------------------
    def visit(self, url):
        self.call("POST", "/url", {"url": url})

    def click(self, selector, times=1, pause_ms=0):
        """The mouse goes there and its button goes down and up.  All in one
        command: chromedriver answers no other while a page is on its way."""
        found = self.call("POST", "/element", {
            "using": "css selector", "value": selector})
        moves = [{"type": "pointerMove", "duration": 0, "x": 0, "y": 0,
                  "origin": {ELEMENT: found[ELEMENT]}}]
        for _ in range(times):
            moves += [{"type": "pointerDown", "button": 0},
                      {"type": "pointerUp", "button": 0},
                      {"type": "pause", "duration": pause_ms}]
        self.call("POST", "/actions", {"actions": [{
            "type": "pointer", "id": "mouse", "actions": moves,
            "parameters": {"pointerType": "mouse"}}]})

    # --- what a person sees -----------------------------------------------
    def see(self, expression):
        """The value of a JavaScript expression in the page."""
        return self.call("POST", "/execute/sync", {
            "script": "return " + expression, "args": []})

    def wait_for(self, condition):
        """Until it holds in a page that is whole."""
        def holds():
            try:
                return self.see("document.readyState === 'complete' && "
                                "(%s)" % condition)
            except urllib.error.HTTPError:      # between two pages
                return False
        try:
            proc.wait_until(holds, condition)
        except AssertionError as err:
            raise AssertionError("%s; the page is %s" % (
                err, self.see("document.documentElement.outerHTML"))) from err

    # --- its end ----------------------------------------------------------
    def stop(self):
        try:
            self.call("DELETE", "")
        finally:
            self.destroy()

    def destroy(self):
        """Chromium is in the process group of its driver."""
        if self.process is not None and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
