"""What the programs counted: gcov's files, and their sums by line.  A source
file is compiled more than once (with failpoints for the unit tests); its lines
are those of all of them."""
import json
import os
import subprocess

AT_ONCE = 40        # files for one call of gcov
PARTS = ("src/", "fcgi/", "include/")


def files(place, ending):
    for where, _, names in os.walk(place):
        for name in sorted(names):
            if name.endswith(ending):
                yield os.path.join(where, name)


def clear(place):
    """Nothing is counted yet.  The files stand there, as any user must be able
    to write them."""
    for path in files(place, ".gcno"):
        counts = path[:-len("gcno")] + "gcda"
        with open(counts, "wb"):
            os.chmod(counts, 0o666)


def gcov(paths, root):
    """gcov's answer for some files: one JSON text for each."""
    run = subprocess.run(["gcov", "--json-format", "--stdout"] + paths,
                         cwd=root, capture_output=True, check=True)
    for text in run.stdout.decode().split("\n"):
        if text:
            yield json.loads(text)


def collect(place, root):
    """path of a source file -> line -> how often it ran"""
    counted = {}
    paths = [path for path in files(place, ".gcda")
             if os.path.getsize(path) > 0]
    for at in range(0, len(paths), AT_ONCE):
        for answer in gcov(paths[at:at + AT_ONCE], root):
            for file in answer["files"]:
                add(counted, os.path.relpath(
                    os.path.join(root, file["file"]), root), file["lines"])
    return {path: counts for path, counts in counted.items()
            if path.startswith(PARTS)
            and os.path.exists(os.path.join(root, path))}


def add(counted, path, counts):
    mine = counted.setdefault(path, {})
    for line in counts:
        number = line["line_number"]
        mine[number] = mine.get(number, 0) + line["count"]
