"""The programs that read C without running it: how each is called, and what
it is told to pass over.  Each ends with a status that is not 0 when it found
something."""
import os
import shlex

# What the build says: where headers are, what is defined, which warnings.
CPP = shlex.split(os.environ.get("ANALYSE_CPP", "-Iinclude -Isrc -Ifcgi"))
WARN = shlex.split(os.environ.get("ANALYSE_C", "-std=c11 -Wall -Wextra"))

# In the tests only.  An assertion of cmocka leaves by longjmp(), which no tool
# knows: behind it they still take a pointer for NULL and a value for unset.
GCC_TESTS = ["-DIDEM_FAILPOINTS", "-Itests/unit", "-Itests/fuzz",
             "-Wno-pedantic",
             "-Wno-analyzer-null-dereference", "-Wno-analyzer-null-argument",
             "-Wno-analyzer-use-of-uninitialized-value",
             "-Wno-analyzer-fd-use-without-check"]


CPPCHECK_TESTS = ["-DIDEM_FAILPOINTS", "-Itests/unit", "-Itests/fuzz"]


class Tool:
    package = None      # of Debian, where its name is another one
    short = False       # part of `make analyse-short`
    reads_tests = False

    def argv(self, path, test=False):
        raise NotImplementedError


class Gcc(Tool):
    """-O2, as it follows values through what was inlined."""
    name, program, short, reads_tests = "gcc -fanalyzer", "gcc", True, True

    def argv(self, path, test=False):
        # fd-leak: 0, 1 and 2 are opened to stay (gcc 13 and later).
        return [self.program, *CPP, *WARN, "-O2", "-fanalyzer",
                "-Wno-analyzer-fd-leak", *(GCC_TESTS if test else []),
                "-c", "-o", "/dev/null", path]


class Cppcheck(Tool):
    name = program = "cppcheck"
    short = reads_tests = True

    def argv(self, path, test=False):
        # Suppressed: that a function has many branches (newer ones say so),
        # that getpwuid() and readdir() are not for threads, of which there are
        # none, and that mmap() takes no -1, which it does without a file.
        return [self.program, "-q", "--std=c11", "--library=posix",
                "--enable=warning,performance,portability",
                "--inline-suppr", "--error-exitcode=1", "-D__linux__",
                "--suppress=normalCheckLevelMaxBranches",
                "--suppress=getpwuidCalled",
                "--suppress=invalidFunctionArg",
                "--suppress=readdirCalled",
                *[flag for flag in CPP if flag[:2] in ("-I", "-D")],
                *(CPPCHECK_TESTS if test else []), path]


class Clang(Tool):
    name, program = "clang --analyze", "clang"

    def argv(self, path, test=False):
        return [self.program, "--analyze", "-Xclang", "-analyzer-werror",
                "-Xclang", "-analyzer-output=text", *CPP, "-std=c11",
                "-o", "/dev/null", path]


class Tidy(Tool):
    """What it looks for stands in .clang-tidy."""
    name = program = "clang-tidy"

    def argv(self, path, test=False):
        return [self.program, "--quiet", path, "--", *CPP, "-std=c11"]


ALL = [Gcc(), Cppcheck(), Clang(), Tidy()]
