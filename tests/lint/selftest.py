#!/usr/bin/env python3
"""Each rule must turn red on a planted fault, at the right line, and stay
quiet on clean text: a lint that never fires looks like a clean tree."""
import sys

import lint
import rules

HEAD = "/*\n * %s - a planted file.\n */\n"


def c_file(name, rest):
    return HEAD % name + rest


CLEAN = {
    "src/base/buf.c": c_file("buf.c", '#include "idem/buf.h"\n\n'
                             "static const int table[] = { 1 };\n\n"
                             "int\nf(int n)\n{\n"
                             "\t/* strcpy(a, b) is only named here */\n"
                             '\tputs_like("malloc(");\n'
                             "\treturn n;\n}\n"),
    "src/base/io.h": c_file("io.h", "int io_x(void);\n"),
    "include/idem/buf.h": c_file("buf.h", "int idem_buf_x(void);\n"),
    "include/idem/store.h": c_file("store.h", '#include "idem/buf.h"\n'),
    "src/store/store.c": c_file("store.c", '#include "idem/store.h"\n'),
    "include/idem/wrap.h": c_file("wrap.h", '#include "idem/store.h"\n'),
    "src/store/kv_lmdb.h": c_file("kv_lmdb.h", "#include <lmdb.h>\n"),
    "src/store/kv.c": c_file("kv.c", '#include "store/kv_lmdb.h"\n'),
    "fcgi/front.h": c_file("front.h", '#include "idem/store.h"\n'),
    "fcgi/tasks/main.c": c_file("main.c", '#include "front.h"\n'),
    "fcgi/command/other.h": c_file("other.h", "int other_x(void);\n"),
}

LONG = "int\nf(void)\n{\n" + "\tg();\n" * 61 + "}\n"
LONGISH = "int\nf(void)\n{\n" + "\tg();\n" * 46 + "}\n"

# rule, path, text, line of the finding
PLANTED = [
    ("layers", "src/base/x.c", c_file("x.c", '#include "idem/store.h"\n'), 4),
    ("layers", "src/store/x.c", c_file("x.c", '#include "front.h"\n'), 4),
    ("layers", "src/base/x.c", c_file("x.c", '#include "nowhere.h"\n'), 4),
    ("layers", "src/other/x.c", c_file("x.c", "int x;\n"), 1),
    ("layers", "src/request/x.c", c_file("x.c", '#include "idem/wrap.h"\n'),
     4),
    ("layers", "fcgi/tasks/x.c",
     c_file("x.c", '#include "command/other.h"\n'), 4),
    ("foreign_headers", "src/store/x.c", c_file("x.c", "#include <lmdb.h>\n"),
     4),
    ("foreign_headers", "src/store/op.c",
     c_file("op.c", '#include "store/kv_lmdb.h"\n'), 4),
    ("foreign_headers", "src/engine/x.c",
     c_file("x.c", "#include <openssl/evp.h>\n"), 4),
    ("foreign_headers", "fcgi/x.c", c_file("x.c", "#include <fcgiapp.h>\n"),
     4),
    ("foreign_headers", "src/request/x.c",
     c_file("x.c", "#include <cjson/cJSON.h>\n"), 4),
    ("calls", "src/base/x.c", c_file("x.c", "\n\tstrcpy(a, b);\n"), 5),
    ("calls", "fcgi/x.c", c_file("x.c", "\tn = atoi (s);\n"), 4),
    ("calls", "src/request/x.c", c_file("x.c", "\tp = malloc(4);\n"), 4),
    ("calls", "src/request/x.c", c_file("x.c", "\tsnprintf(a, 2, b);\n"), 4),
    ("calls", "src/engine/x.c", c_file("x.c", '\tp = getenv("A");\n'), 4),
    ("calls", "src/store/x.c", c_file("x.c", "\tnow = time(NULL);\n"), 4),
    ("calls", "src/engine/x.c", c_file("x.c", "\tsleep(2);\n"), 4),
    ("function_length", "src/base/x.c", c_file("x.c", LONG), 6),
    ("function_lengths", "src/base/x.c", c_file("x.c", LONGISH * 9), 1),
    ("file_length", "src/base/x.c", c_file("x.c", "\n" * 400), 400),
    ("columns", "src/base/x.c", c_file("x.c", "\t" * 9 + "int abcde;\n"), 4),
    ("columns", "tests/x.py", "a" * 81 + "\n", 1),
    ("ends_of_lines", "src/base/x.h", c_file("x.h", "int x_a(void); \n"), 4),
    ("ends_of_lines", "tests/x.sh", "echo", 1),
    ("left_open", "src/base/x.c", c_file("x.c", "/* TO" "DO */\n"), 4),
    ("first_comment", "src/base/x.c", "int x(void);\n", 1),
    ("mutable_globals", "src/base/x.c", c_file("x.c", "static int n;\n"), 4),
    ("mutable_globals", "src/base/x.c",
     c_file("x.c", "char name[4] = {0};\n"), 4),
    ("own_names", "include/idem/buf.h", c_file("buf.h", "int put(int n);\n"),
     4),
]


def planted(rule, path, text, line):
    """Did the rule fire there, and only where it should?"""
    tree = lint.Tree(dict(CLEAN, **{path: text}))
    where = {(f[0], f[2]) for f in lint.findings(tree) if f[0] == rule}
    return where == {(rule, line)}


def main():
    bad = 0
    noise = list(lint.findings(lint.Tree(dict(CLEAN))))
    for finding in noise:
        print("clean text was found fault with: %s %s:%d %s" % finding)
    for row in PLANTED:
        if not planted(*row):
            print("%s does not see the fault planted in %s:\n%s" % (
                row[0], row[1], row[2][-200:]))
            bad += 1
    silent = {rule.__name__ for rule in rules.ALL} - {r[0] for r in PLANTED}
    for name in sorted(silent):
        print("no fault is planted for " + name)
    failed = bad + len(silent) + bool(noise)
    print("lint-selftest: %d passed, %d failed" % (
        len(PLANTED) + 1 - bad - bool(noise), failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
