"""C text as the lint rules see it: comments and literals blanked, functions
found by their braces in column one."""
import re

LITERAL = re.compile(
    r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]', re.M)


def blank(match):
    """The same number of characters and lines, without the words."""
    text = match.group(0)
    edge = text[0] if text[0] in "\"'" else " "
    inner = re.sub(r"[^\n]", " ", text[1:-1])
    return edge + inner + edge


def code_only(text):
    """text without comments and without what stands in literals; every line
    keeps its number."""
    kept = INCLUDE.sub(lambda m: re.sub(r"[^\n]", " ", m.group(0)), text)
    return LITERAL.sub(blank, kept)


def includes(text):
    """(line, '"' or '<', name) of each #include."""
    for match in INCLUDE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        yield line, match.group(1), match.group(2)


def functions(text):
    """(line of the opening brace, lines between the braces)."""
    start = None
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("{"):
            start = number
        elif line.startswith("}") and start is not None:
            yield start, number - start - 1
            start = None


def globals_of(text):
    """(line, text) of file-scope variables that can change.  Declarations of
    functions and types, extern, constants and signal flags are none."""
    for number, line in enumerate(code_only(text).split("\n"), 1):
        if not re.match(r"[a-z_][\w\s\*]*[\w\*]\s*[=;\[]", line):
            continue
        if re.match(r"(typedef|extern|struct|enum|union)\b[\w\s]*;", line):
            continue
        if re.search(r"\b(const|sig_atomic_t|typedef|return|goto)\b", line):
            continue
        yield number, line.strip()
