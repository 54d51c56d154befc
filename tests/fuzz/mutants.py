"""Breaks the readers by hand, one place at a time, and asks whether the fuzz
target that watches the place turns red, from the corpus in the tree.

usage: mutants.py [TARGET...]   environment: BUILD, SECONDS (for each, 60)
"""
import os
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../proof"))

import proof                    # noqa: E402
from proof import BUILD, ROOT   # noqa: E402

TREE = os.path.join(BUILD, "fuzz", "mutants")
OUT = os.path.join(TREE, "build", "fuzz")

# target | file | what stands there, once | what stands there instead
MUTANTS = [
    ("key", "src/request/key.c", "whole <= 15", "whole <= 16"),
    ("key", "src/request/key.c", "fraction <= 3", "fraction <= 4"),
    ("key", "src/request/key.c", "digits % 4 != 1 &&", ""),
    ("key", "src/request/key.c", "c <= 0x7e", "c <= 0x7f"),
    ("key", "src/request/key.c", "return n == 0;", "return true;"),
    ("key", "src/request/key.c", "out->n > IDEM_KEY_MAX",
     "out->n > IDEM_KEY_MAX + 1"),
    ("json", "src/request/json.c", "if (s->end - at.p >= JSON_CHUNK) {",
     "if (s->end - at.p >= JSON_CHUNK - 1) {"),
    ("json", "src/request/json.c", "s->end - at.p >= 8 &&",
     "s->end - at.p >= 7 &&"),
    ("json", "src/request/json.c", "if (s->depth >= IDEM_JSON_DEPTH)",
     "if (s->depth > IDEM_JSON_DEPTH)"),
    ("json", "src/request/json.c", "if (m->head <= m[-1].head)",
     "if (m->head < m[-1].head)"),
    ("json", "src/request/json_number.c", "while (end - at.p >= 8)",
     "while (end - at.p >= 7)"),
    ("json", "src/request/json_number.c", "at.p - whole > 1",
     "at.p - whole > 2"),
    ("json", "src/request/json_number.c", "zeros > JSON_PLAIN_ZEROS",
     "zeros > JSON_PLAIN_ZEROS + 1"),
    ("json", "src/request/json_sort.c", "a->head < b->head",
     "a->head <= b->head + 1"),
    ("json", "src/request/json_sort.c", "return !equal;",
     "return !equal || o->n > 2;"),
    ("json", "src/request/json_utf8.c", "5, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, "
     "3, 6, 3, 3,", "5, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3,"),
    ("multipart", "src/request/multipart.c", "mark[-1] != '\\r' ||", ""),
    ("multipart", "src/request/multipart.c", "(size_t)(mark - s.p) - 1",
     "(size_t)(mark - s.p)"),
    ("multipart", "src/request/multipart.c",
     "span_find(line, '\\0') < line.n ||", ""),
    ("multipart", "src/request/multipart.c",
     "boundary->p != NULL || !is_boundary", "!is_boundary"),
    ("multipart", "src/request/multipart.c",
     "skip_line_ends(span_from(m->rest, 2)).n == 0 ?", "true ?"),
    ("form", "src/request/form.c", "if (found != FORM_ABSENT)",
     "if (found == FORM_TWICE)"),
    ("form", "src/request/spelling.c", "c == '+' ? ' '", "c == '+' ? '+'"),
    ("form", "src/request/spelling.c", "high << 4 | low", "high << 3 | low"),
    ("form", "src/request/key_place.c", "n == 0 || n > KEY_PART_MAX",
     "n > KEY_PART_MAX"),
    ("language", "src/engine/language.c", "weight > most", "weight >= most"),
    ("language", "src/engine/language.c", "fit > closest", "fit >= closest"),
    ("language", "src/engine/language.c", "return w <= WEIGHT_ONE",
     "return w < WEIGHT_ONE * 2"),
    ("language", "src/engine/language.c", "s.n > 5", "s.n > 6"),
    ("cookie", "src/request/request.c", "else\n\t\t\tfound = unquote",
     "if (pair.p != NULL)\n\t\t\tfound = unquote"),
    ("cookie", "src/request/request.c", "value.n >= 2 && value.p[0] == '\"'",
     "value.n >= 1 && value.p[0] == '\"'"),
    ("settings", "fcgi/settings/settings_file.c", "c == '`' || c == '$'",
     "c == '`'"),
    ("settings", "fcgi/settings/settings_file.c", "if (!is_blank(c))\n\t\t\t"
     "end = out;", "end = out;"),
    ("settings", "fcgi/settings/settings_file.c",
     "else if (c == '\\r' && l->at < l->n && l->p[l->at] == '\\n')",
     "else if (c == '\\r' && l->at < l->n)"),
    ("routes", "fcgi/settings/routes_file.c", "wanted.n - 1));",
     "wanted.n));"),
    ("routes", "fcgi/settings/routes_file.c", "line.p[0] == '#'",
     "line.p[0] == ';'"),
    ("routes", "fcgi/settings/routes_file.c",
     "if (span_find(r->route.path, '*') + 1 < r->route.path.n)",
     "if (span_find(r->route.path, '*') + 2 < r->route.path.n)"),
    ("record", "src/store/record.c", "(flags & ~FLAG_RETRY) != 0 ||", ""),
    ("record", "src/store/record.c", "r.rest.n != 0 ||", ""),
    ("record", "src/store/record.c", "r->stored_ms == 0 &&", ""),
    ("record", "src/store/record.c", "return IDEM_ENEWER;",
     "return IDEM_ECORRUPT;"),
    ("head", "src/request/cgi_head.c", "#define STATUS_MIN 200",
     "#define STATUS_MIN 199"),
    ("head", "src/request/cgi_head.c",
     "(out->has_length && n != out->length_bytes)", "false"),
    ("head", "src/request/cgi_head.c", "*from = bytes.n;\n\treturn 0",
     "*from = bytes.n + 1;\n\treturn 0"),
    ("head", "fcgi/guard/reply.c", "if (bytes.n > left)",
     "if (bytes.n > left + 1)"),
    ("head", "fcgi/guard/reply.c", "&& r->res->status != 304", ""),
    ("wire", "fcgi/guard/wire.c", "w->records.id != REQUEST_ID",
     "(w->records.id & 0xff) != REQUEST_ID"),
    ("wire", "fcgi/guard/wire.c", "w->records.content_left != sizeof w->end",
     "w->records.content_left < sizeof w->end"),
    ("wire", "fcgi/exchange/records.c", "r->padding_left = rd_u8(&rest);",
     "r->padding_left = rd_u8(&rest) & 7u;"),
    ("wire", "fcgi/exchange/records.c", "if (n < 128)", "if (n <= 128)"),
    ("server", "fcgi/exchange/records.c", "(unsigned char)r->rest.p[0] < 128",
     "(unsigned char)r->rest.p[0] <= 128"),
    ("server", "fcgi/exchange/fastcgi.c", "rec->content_left != 8",
     "rec->content_left < 8"),
    ("server", "fcgi/exchange/fastcgi.c",
     "memchr(name.p, '=', name.n) == NULL &&", ""),
    ("server", "fcgi/exchange/fastcgi.c",
     "memchr(name.p, '\\0', name.n) == NULL &&", ""),
    ("server", "fcgi/exchange/fastcgi.c", "rec->id != r->id", "false"),
    ("server", "fcgi/exchange/fastcgi.c",
     "rec->type == RECORD_STDIN && r->params_ended",
     "rec->type == RECORD_STDIN"),
    ("server", "fcgi/exchange/fastcgi.c", "asked.bad ||", ""),
    ("pointer", "src/request/pointer.c", "s.p[i] == '\\\\' ? 2 : 1", "1"),
    ("pointer", "src/request/pointer.c", "if (json.p[end] == ',')",
     "if (json.p[end] == ';')"),
    ("pointer", "src/request/pointer.c",
     "(segment.n == 1 || segment.p[0] != '0') &&", ""),
    ("pointer", "src/request/spelling.c", "== '1' ? '/' : '~'",
     "== '1' ? '~' : '/'"),
    ("fields", "src/request/prefer.c", "s.n >= 2 &&", "s.n >= 1 &&"),
    ("fields", "src/request/prefer.c", "span_find(one, ';')", "one.n"),
    ("fields", "fcgi/tasks/conditions.c", "u >= 0x21 && u != '\"'",
     "u >= 0x20 && u != '\"'"),
    ("fields", "fcgi/tasks/conditions.c",
     "if (!skip_commas(&rest))\n\t\t\treturn false;",
     "(void)skip_commas(&rest);"),
    ("target", "src/request/target.c", "find_any(target, \"?#\")",
     "find_any(target, \"?\")"),
    ("target", "src/request/target.c", "whole.p[base.n] != '/'", "false"),
    ("target", "src/request/source.c", "if (i++ == s->segment)",
     "if (++i == s->segment)"),
    ("print", "src/request/fingerprint.c",
     "first ? IDEM_LIT(\"?\") : IDEM_LIT(\"&\")",
     "first ? IDEM_LIT(\"&\") : IDEM_LIT(\"?\")"),
    ("print", "src/request/fingerprint.c",
     "return selection_lists_any(g->sel, SOURCE_BIT(SOURCE_JSON));",
     "return true;"),
    ("print", "src/request/fingerprint.c", "sel->key.p != NULL || ", ""),
    ("print", "src/request/selection.c", "s->text, SPELLED_PLAIN",
     "s->name, SPELLED_PLAIN"),
    ("print", "src/request/selection.c", "s.kind != SOURCE_JSON && ", ""),
    ("print", "src/request/netstring.c", "n < CHUNK_BYTES &&",
     "n <= CHUNK_BYTES &&"),
    ("condition", "src/request/condition.c",
     "case SOURCE_TWICE:\n\t\treturn c->values.p == NULL;",
     "case SOURCE_TWICE:\n\t\treturn true;"),
    ("condition", "src/request/condition.c", "again.p != NULL && from.n > 0",
     "again.p != NULL && from.n > 1"),
    ("condition", "src/request/condition.c", "a->status < 400",
     "a->status <= 400"),
    ("condition", "src/request/condition.c", "status / 100 ==",
     "status % 100 =="),
    ("condition", "src/request/condition.c", "return n > 0;", "return true;"),
    ("condition", "src/request/pointer.c",
     "span_eq(value, IDEM_LIT(\"null\"))", "value.p == NULL"),
    ("stored", "src/store/op.c",
     "((flags & FLAG_INPUT) != 0 || op->input.n == 0) &&", ""),
    ("stored", "src/store/op.c", "verdict >= IDEM_NVERDICTS ||", ""),
    ("stored", "src/store/op.c", "(!handler || room > 0) &&",
     "(room > 0 || true) &&"),
    ("stored", "fcgi/tasks/task.c", "layout != LAYOUT || done > 1",
     "layout != LAYOUT"),
    ("answer", "src/engine/replay.c",
     "if (answer_is_own(name))\n\t\treturn false;", ""),
    ("answer", "src/engine/replay.c", "return f->cache_control;",
     "return true;"),
    ("answer", "src/engine/replay.c", ".content = !parts->omitted,",
     ".content = true,"),
    ("answer", "src/engine/replay.c",
     "return f->cors || !answer_is_cors(name);", "return f->cors || true;"),
    ("answer", "src/engine/answer.c",
     "res->body.n <= rules->max_body_bytes &&",
     "res->body.n <= rules->max_body_bytes + 1 &&"),
    ("answer", "src/engine/policy.c", "&&\n\t    !is_never_kept(name)",
     "&&\n\t    (!is_never_kept(name) || name.n > 9)"),
    ("scope", "src/request/scope.c", "if (req->var[IDEM_VAR_USER].n == 0)",
     "if (req->var[IDEM_VAR_USER].p == NULL)"),
    ("scope", "src/request/scope.c", "return out->value.n > 0;\n\t}\n\t"
     "return false;", "return true;\n\t}\n\treturn false;"),
    ("scope", "src/request/scope.c",
     "if (req->var[IDEM_VAR_AUTH].n == 0)",
     "if (req->var[IDEM_VAR_AUTH].p == NULL)"),
    ("scope", "src/request/scope.c", "if (!is_token(name))",
     "if (name.n == 0)"),
    ("text", "src/base/units.c", "v > max / units[i].factor", "v > max"),
    ("text", "src/base/encode.c", "v <= 0xdfff", "v <= 0xdffe"),
    ("text", "src/base/encode.c", "v < utf8_least[n] ||",
     "v + 1 < utf8_least[n] ||"),
    ("text", "src/base/text.c", "d > max - v * 10", "d > max - v * 9"),
    ("text", "fcgi/tasks/validate.c", "count > TASK_TEXT_MAX",
     "count > TASK_TEXT_MAX + 1"),
    ("text", "fcgi/tasks/validate.c", "r->out->has_done = item != NULL ||",
     "r->out->has_done = item == NULL ||"),
    ("text", "fcgi/tasks/plain.c", "nul && !w->watched",
     "nul && !w->watched && !name"),
    ("text", "fcgi/tasks/words.c", "n < s.n && n < 4 &&",
     "n < s.n && n < 2 &&"),
    ("text", "fcgi/tasks/words.c", "!is_listed(tags, ntags, tag)",
     "!is_listed(tags, ntags / 2, tag)"),
    ("query", "fcgi/tasks/task_query.c", "|| n == 0)", ")"),
    ("query", "fcgi/tasks/task_query.c", "is_utf8(value)",
     "(is_utf8(value) || value.n > 3)"),
    ("query", "fcgi/tasks/task_query.c", "p->seen[i] = true;", ""),
]


def make_tree():
    """A copy of the sources and of what was compiled of them."""
    shutil.rmtree(TREE, ignore_errors=True)
    skip = shutil.ignore_patterns("__pycache__")
    for name in ("src", "fcgi", "include", "tests", "tools", "Makefile"):
        source, copy = os.path.join(ROOT, name), os.path.join(TREE, name)
        if os.path.isdir(source):
            shutil.copytree(source, copy, ignore=skip)
        else:
            shutil.copy2(source, copy)
    for name in ("o", "main"):
        shutil.copytree(os.path.join(BUILD, "fuzz", name),
                        os.path.join(OUT, name))
    os.makedirs(os.path.join(OUT, "work"))


def compiled(target):
    return subprocess.run(
        ["make", "-s", "BUILD=build", "build/fuzz/" + target], cwd=TREE,
        stdout=subprocess.DEVNULL).returncode == 0


def turns_red(target, seconds):
    """Seconds until the target failed; None: it did not."""
    began = time.monotonic()
    words = [os.path.join(OUT, target), "-max_total_time=%d" % seconds,
             "-seed=1", "-timeout=10", "-max_len=600",
             "-artifact_prefix=" + OUT + "/"]
    dictionary = os.path.join(HERE, "dict", target)
    if os.path.exists(dictionary):
        words.append("-dict=" + dictionary)
    for kind in ("corpus", "kept"):
        folder = os.path.join(TREE, "tests/fuzz", kind, target)
        if os.path.isdir(folder):
            words.append(folder)
    status = subprocess.run(words, stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL).returncode
    return None if status == 0 else time.monotonic() - began


def judge(target, path, old, new, seconds):
    """What became of one mutant; "" where it was seen."""
    full = os.path.join(TREE, path)
    with open(full, encoding="utf-8") as file:
        good = file.read()
    if good.count(old) != 1:
        return "the place is not there once"
    try:
        with open(full, "w", encoding="utf-8") as file:
            file.write(good.replace(old, new))
        if not compiled(target):
            return "does not compile"
        took = turns_red(target, seconds)
    finally:
        with open(full, "w", encoding="utf-8") as file:
            file.write(good)
    if took is None:
        return "is not seen in %d s" % seconds
    print("%-10s red after %4.1f s: %s: %s" % (
        target, took, path, " ".join(old.split())), flush=True)
    return ""


def main():
    seconds = proof.number("SECONDS", 60)
    wanted = sys.argv[1:]
    make_tree()
    seen = failed = 0
    for target, path, old, new in MUTANTS:
        if wanted and target not in wanted:
            continue
        fault = judge(target, path, old, new, seconds)
        seen, failed = seen + (not fault), failed + bool(fault)
        if fault:
            print("%-10s FAILED: %s: %s: %s" % (
                target, fault, path, " ".join(old.split())), flush=True)
    return proof.end("fuzz-mutants", seen, failed)


if __name__ == "__main__":
    sys.exit(proof.run("fuzz-mutants", main))
