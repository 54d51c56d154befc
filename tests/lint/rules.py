"""The rules of the house, one function each: it takes the tree and yields
(path, line, what is wrong)."""
import re

import ccode

# --- layers: a file includes its own layer or a lower one ------------------
LAYERS = [("src/base/", 0), ("src/request/", 1), ("src/store/", 2),
          ("src/engine/", 3), ("fcgi/tasks/", 5), ("fcgi/guard/", 5),
          ("fcgi/command/", 5), ("fcgi/", 4)]


def folder_layer(path):
    for folder, layer in LAYERS:
        if path.startswith(folder):
            return layer
    return None


def layer_of(tree, path):
    """A public header belongs where its source file stands; one without a
    source file belongs to the highest layer that it includes."""
    if not path.startswith("include/idem/"):
        return folder_layer(path)
    name = path[len("include/idem/"):-len(".h")]
    for source in tree.c_files():
        if source.startswith("src/") and source.endswith("/" + name + ".c"):
            return folder_layer(source)
    others = [resolve(tree, path, other) for _, kind, other
              in ccode.includes(tree.files[path]) if kind == '"']
    return max([layer_of(tree, other) or 0 for other in others if other],
               default=0)


def resolve(tree, path, name):
    """What an include in quotes means: beside the file, or below one of the
    compiler's -I folders."""
    here = path.rsplit("/", 1)[0] + "/"
    for folder in (here, "include/", "src/", "fcgi/"):
        if folder + name in tree.files:
            return folder + name
    return None


def layers(tree):
    for path in tree.c_files():
        mine = layer_of(tree, path)
        if mine is None:
            yield path, 1, "no layer: add its folder or header to the rule"
            continue
        for line, kind, name in ccode.includes(tree.files[path]):
            target = resolve(tree, path, name) if kind == '"' else None
            if target is None:
                if kind == '"':
                    yield path, line, "no such file: " + name
                continue
            theirs = layer_of(tree, target)
            if theirs is not None and theirs > mine:
                yield path, line, "layer %d includes layer %d (%s)" % (
                    mine, theirs, target)
            elif mine == 5 and theirs == 5 and (
                    path.split("/")[1] != target.split("/")[1]):
                yield path, line, "one program includes another's " + target


# --- foreign headers: each library is known to few files --------------------
FOREIGN = [(r"lmdb\.h", ["src/store/kv_lmdb.h"]),
           (r"openssl/.*", ["src/base/sha256.c"]),
           (r"fcgiapp\.h|fcgi_\w+\.h|fastcgi\.h", []),
           (r"uni(?!std)\w+\.h", ["fcgi/tasks/words.c"]),
           (r"(cjson/)?cJSON\.h", ["fcgi/tasks/*.c"]),
           (r"curl/.*|hiredis.*|libpq-fe\.h", [])]


# Headers that carry a foreign one, and who may include them.
CARRIERS = [("store/kv_lmdb.h", ["src/store/kv*.c"])]


def allowed(path, patterns):
    return any(re.fullmatch(p.replace("*", "[^/]*"), path) for p in patterns)


def foreign_headers(tree):
    for path in tree.c_files():
        for line, kind, name in ccode.includes(tree.files[path]):
            for pattern, homes in FOREIGN:
                if kind == "<" and re.fullmatch(pattern, name) and (
                        not allowed(path, homes)):
                    yield path, line, "<%s> belongs in %s only" % (
                        name, ", ".join(homes) or "no file")
            for carrier, users in CARRIERS:
                if name == carrier and not allowed(path, users):
                    yield path, line, "%s is for %s only" % (
                        name, ", ".join(users))


# --- calls -------------------------------------------------------------------
ALLOCATING = ["src/base/buf.c", "src/base/sha256.c", "src/store/*.c",
              "fcgi/*/service.c"]
CALLS = [("strcpy strcat strncpy sprintf vsprintf strtok atoi atol strtol"
          " strtoul strtoll strtoull strtod sscanf fscanf gets", "", []),
         ("snprintf vsnprintf", "",
          ["src/base/buf.c", "src/base/text.c", "src/base/log.c"]),
         ("malloc calloc realloc strdup", "", ALLOCATING),
         ("getenv", "src/", ["src/store/failpoint.c"]),
         ("secure_getenv time gettimeofday rand random srand syslog",
          "src/", []),
         ("clock_gettime getrandom", "", ["src/base/io.c"]),
         ("printf fprintf puts fputs perror", "src/", []),
         ("sleep usleep nanosleep", "src/", ["src/store/*.c"])]


def calls(tree):
    for path in tree.c_files():
        text = ccode.code_only(tree.files[path])
        for names, where, homes in CALLS:
            if not path.startswith(where) or allowed(path, homes):
                continue
            pattern = r"(?<![\w.>])(%s)\s*\(" % "|".join(names.split())
            for match in re.finditer(pattern, text):
                line = text.count("\n", 0, match.start()) + 1
                yield path, line, "%s() may not be called %s" % (
                    match.group(1),
                    "outside " + ", ".join(homes) if homes else "here")


# --- lengths -----------------------------------------------------------------
FUNCTION_LINES = 60
FILE_LINES = 400
TENTH_LINES = 45


def function_length(tree):
    for path in tree.c_files():
        for line, length in ccode.functions(tree.files[path]):
            if length > FUNCTION_LINES:
                yield path, line, "a function of %d lines (at most %d)" % (
                    length, FUNCTION_LINES)


def function_lengths(tree):
    """Nine of ten functions are short."""
    lengths = sorted(length for path in tree.c_files()
                     for _, length in ccode.functions(tree.files[path]))
    if lengths and lengths[len(lengths) * 9 // 10] > TENTH_LINES:
        yield "src", 1, "a tenth of the functions has %d lines or more" % (
            lengths[len(lengths) * 9 // 10])


def file_length(tree):
    for path in tree.c_files():
        length = tree.files[path].count("\n")
        if length > FILE_LINES:
            yield path, FILE_LINES, "%d lines (at most %d)" % (
                length, FILE_LINES)


# --- the look of a file ------------------------------------------------------
COLUMNS = 80


def columns(tree):
    for path, text in tree.texts():
        for number, line in enumerate(text.split("\n"), 1):
            if len(line.expandtabs(8)) > COLUMNS and "://" not in line:
                yield path, number, "%d columns (at most %d)" % (
                    len(line.expandtabs(8)), COLUMNS)


def ends_of_lines(tree):
    for path, text in tree.texts():
        for number, line in enumerate(text.split("\n"), 1):
            if line != line.rstrip():
                yield path, number, "space at the end of the line"
        if text and not text.endswith("\n"):
            yield path, text.count("\n") + 1, "no line end at the end"


def left_open(tree):
    words = re.compile(r"\b(" + "|".join(["TO" "DO", "FIX" "ME", "XX" "X"])
                       + r")\b")
    for path in tree.c_files():
        for number, line in enumerate(tree.files[path].split("\n"), 1):
            if words.search(line):
                yield path, number, "left open: " + line.strip()


def first_comment(tree):
    """Each C file begins with a comment that says what it is."""
    for path in tree.c_files():
        name = path.rsplit("/", 1)[1]
        head = tree.files[path][:200]
        if not re.match(r"/\*\n \* %s - \S" % re.escape(name), head):
            yield path, 1, "does not begin with \"%s - what it is\"" % name


def mutable_globals(tree):
    for path in tree.c_files():
        for line, text in ccode.globals_of(tree.files[path]):
            yield path, line, "file-scope variable that can change: " + text


def own_names(tree):
    """Public names carry the module's prefix."""
    declared = re.compile(r"^(?:[a-z_][\w \*]*?[ \*])?\*?(\w+)\(")
    for path in tree.c_files():
        if not path.startswith("include/idem/"):
            continue
        text = ccode.code_only(tree.files[path])
        for number, line in enumerate(text.split("\n"), 1):
            match = declared.match(line)
            if match and not re.match(r"idem_|IDEM_", match.group(1)) and (
                    not line.startswith("typedef")):
                yield path, number, "public name without idem_: " + (
                    match.group(1))


ALL = [layers, foreign_headers, calls, function_length, function_lengths,
       file_length, columns, ends_of_lines, left_open, first_comment,
       mutable_globals, own_names]
