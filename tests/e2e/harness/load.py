"""Clients that do not give up: each takes a fresh key for each intent and sends
it until it has a final answer, whatever happens to the server meanwhile."""
import threading
import time
import uuid

from . import proc

PAUSE = 0.02        # between two tries of one intent
SECONDS = 60        # for one intent


class Load:
    """n clients; a tag marks all the tasks that they make."""

    def __init__(self, case, nclients=4):
        self.case = case
        self.tag = case.fresh_tag()
        self.done = {}      # key -> (task, first final answer)
        self.ntries = 0
        self.errors = []
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._client, daemon=True)
                         for _ in range(nclients)]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        for thread in self._threads:
            thread.join(SECONDS + 10)

    def until_done(self, n):
        """Wait until n more intents have their answer."""
        goal = len(self.done) + n
        proc.wait_until(lambda: len(self.done) >= goal or self.errors,
                        "%d more answers" % n, SECONDS)

    def _client(self):
        while not self._stop.is_set():
            key = str(uuid.uuid4())
            task = {"matn": "%s #%s" % (key, self.tag)}
            answer = self._intent(task, key)
            if answer is None:
                self.errors.append("no answer for " + key)
                return
            self.done[key] = (task, answer)

    def _intent(self, task, key):
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            self.ntries += 1
            try:
                answer = self.case.post(task, key)
            except (OSError, ConnectionError):
                answer = None
            # 5xx and 409 say: not now; come again with the same key.
            if answer is not None and answer.status < 409:
                return answer
            time.sleep(PAUSE)
        return None

    def check(self):
        """Each intent was done once, and each retry has its answer."""
        case = self.case
        case.assertEqual(self.errors, [])
        case.assertGreater(len(self.done), 0)
        for key, (task, answer) in self.done.items():
            case.assertStatus(answer, 201)
            case.assertReplay(case.post(task, key), answer)
        texts = [t["matn"] for t in all_tasks(case, self.tag)]
        case.assertEqual(sorted(texts),
                         sorted(t["matn"] for t, _ in self.done.values()))


def all_tasks(case, tag):
    """Every task with a tag, page by page."""
    found, after = [], 0
    while True:
        page = case.get("/vazifalar?soni=200&teg=%s&keyin=%d" % (tag, after))
        case.assertStatus(page, 200)
        found += page.json["vazifalar"]
        if page.json["keyingi"] is None:
            return found
        after = page.json["keyingi"]
