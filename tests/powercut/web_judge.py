#!/usr/bin/env python3
"""Judges a disk by the programs themselves: answers that had left come back,
each task is there once, "idem check" is content.

usage: web_judge.py STORE LOG BYTES
environment: POWERCUT_BUILD
exit status: 0 good, 1 an answer is lost, 2 otherwise wrong, 3 refused
"""
import os
import random
import struct
import subprocess
import sys

import web
from harness import fcgi

ENTRY = struct.Struct("=QIIIIQQ40s")
SENT = 12
SAMPLE = 3      # of the answers that left, beside the last two
BUILD = os.environ["POWERCUT_BUILD"]


class Wrong(Exception):
    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


def answers_sent(path, nbytes):
    """Key -> answer, in the order in which they left."""
    with open(path, "rb") as file:
        log = file.read(nbytes)
    sent, at = {}, 0
    while at < len(log):
        _, kind, _, _, _, _, n, _ = ENTRY.unpack_from(log, at)
        at += ENTRY.size
        if kind == SENT:
            size = struct.unpack_from("!H", log, at + 4)[0]
            answer = fcgi.parse_cgi(log[at + 8:at + 8 + size])
            if answer.status == 201:
                sent.setdefault(answer.field("X-Request-Id"), answer)
        at += (n + 7) // 8 * 8
    return sent


def run(words, store, pairs=(), body=b""):
    env = {"IDEM_STORE": store, "PATH": os.environ["PATH"]}
    env.update(pairs)
    return subprocess.run(words, env=env, input=body, capture_output=True,
                          check=False)


def ask(store, key):
    method, target, fields, body = web.task_request(key)
    return cgi(store, method, target, fields, body)


def cgi(store, method, target, fields=(), body=b""):
    """One request to one process, as a web server that runs it as CGI."""
    done = run([os.path.join(BUILD, "tasks.fcgi")], store,
               fcgi.variables(method, target, fields, body), body)
    if not done.stdout:
        raise Wrong(2, "%s %s: nothing: %s" % (
            method, target, done.stderr.decode()[-300:]))
    answer = fcgi.parse_cgi(done.stdout)
    if answer.status == 503 and b"error" in done.stderr:
        raise Wrong(3, done.stderr.decode()[-300:])
    return answer


def check_replays(store, sent, rng):
    keys = list(sent)
    for key in keys[-2:] + rng.sample(keys, min(SAMPLE, len(keys))):
        answer, first = ask(store, key), sent[key]
        if not answer.replayed or (answer.status, answer.body) != (
                first.status, first.body) or (
                answer.field("Location") != first.field("Location")):
            raise Wrong(1, "%s: %r left, now %r" % (key, first, answer))


def first_not_sent(sent, client):
    for number in range(web.KEYS_OF_A_CLIENT):
        if web.key_of(client, number) not in sent:
            return web.key_of(client, number)
    return None


def check_others(store, sent):
    keys = [first_not_sent(sent, i) for i in range(web.CLIENTS)]
    for key in [key for key in keys if key] + ["new"]:
        answer = ask(store, key)
        if answer.status != 201:
            raise Wrong(2, "%s: %r" % (key, answer))


def check_tasks(store, sent):
    tasks = cgi(store, "GET", "/vazifalar?soni=200").json["vazifalar"]
    if [task["id"] for task in tasks] != list(range(1, len(tasks) + 1)):
        raise Wrong(2, "ids: %s" % [task["id"] for task in tasks])
    texts = [task["matn"] for task in tasks]
    if len(set(texts)) < len(texts):
        raise Wrong(2, "a task twice: %s" % sorted(texts))
    for key, answer in sent.items():
        if answer.json not in tasks:
            raise Wrong(1, "%s: its task is gone" % key)


def check_store(store):
    done = run([os.path.join(BUILD, "idem"), "check"], store)
    if done.returncode != 0:
        raise Wrong(2, "idem check: %s" % done.stderr.decode()[-300:])


def main():
    store, path, nbytes = sys.argv[1], sys.argv[2], int(sys.argv[3])
    sent = answers_sent(path, nbytes)
    try:
        check_replays(store, sent, random.Random(nbytes))
        check_others(store, sent)
        check_tasks(store, sent)
        check_store(store)
    except Wrong as wrong:
        status = 1 if wrong.status == 3 and sent else wrong.status
        sys.stderr.write("behind %d bytes: %s\n" % (nbytes, wrong))
        return status
    return 0


if __name__ == "__main__":
    sys.exit(main())
