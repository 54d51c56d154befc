"""The logs of the servers and their workers: every line has to be one that the
soak explains."""
import os
import re

# What may stand there, and why.  Everything else is counted as wrong.
EXPLAINED = [
    # one line for each protected request, of an outcome of the mix
    r"outcome=\w+ ",
    # garbage and silence on the workers' socket
    r"dropped a connection without a whole FastCGI request",
    r"dropped a connection that said nothing for \d+ ms",
    r"dropped a request whose parameters broke off",
    r"dropped a request for another role than responder",
    r"the web server closed its connection before the whole answer",
    r"hung up in the middle of an answer, as the web server did not take it",
    r"request \w+: the answer could not be sent: input or output failed",
    # slow clients of the web servers that go away
    r"\[fcgid:warn\].*Connection reset by peer.* mod_fcgid: (can't get data "
    r"from http client|ap_pass_brigade failed)",
    # the store's first line, once
    r"store \S+: made: every key is new",
    # the servers themselves
    r"server\.c\.\d+\) server started",
    r"\[(mpm_event|core):notice\]",
]
ALLOWED = re.compile("|".join(EXPLAINED))


def read(folder):
    """(number of lines, [(file, line)] of those that nothing explains)"""
    n, odd = 0, []
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8",
                  errors="replace") as file:
            for n, line in enumerate(file, n + 1):
                if not ALLOWED.search(line):
                    odd.append((name, line.rstrip()))
    return n, odd
