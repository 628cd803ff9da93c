"""changed_tree.py: a copy of the tree with the changes of mutants.tsv; runs its tests."""
import collections
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
TIME_LIMIT = 900  # seconds for a run that ends with the first failure

# All test programs, and the unit tests of a folder, as the makefile names them. Older
# trees have other variables, and a program for each file.
ALL = "$(or $(ALL_TESTS),$(UNITS))"
OWN = {"trace": "trace devices model cupti compilers inject nvtx opencl", "log": "log",
       "harness": "harness", "runners": "runners"}

# A part of all test programs. In older trees it hides the variable from the programs
# that end-to-end tests run.
SHARED = "tests/support/e2e.c"
PASSED_ON = ('"UBSAN_OPTIONS"}', '"UBSAN_OPTIONS", "TESTLOG_MUTANT"}')

# The makes that run here are not part of one that runs this script.
for variable in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL"):
    os.environ.pop(variable, None)
os.environ.update(LC_ALL="C.UTF-8", NO_COLOR="1")

Row = collections.namedtuple("Row", "number file kind old new")


def fail(code, text):
    print("mutants: " + text, file=sys.stderr)
    sys.exit(code)


# ---- The changes ----

def read_rows():
    rows = []
    for line in (HERE / "mutants.tsv").read_text().splitlines():
        if line and not line.startswith("#"):
            number, file, kind, old, new = (line.split("\t") + [""])[:5]
            rows.append(Row(int(number), file, kind, old, new))
    return rows


def change(text, row):
    old, new = row.old, "(mutant(%d) ? (%s) : (%s))" % (row.number, row.new, row.old)
    if row.kind == "omit":
        old, new = row.old + ";", "{ if (!mutant(%d)) %s; }" % (row.number, row.old)
    if text.count(old) != 1:
        fail(2, "row %d: %s contains \"%s\" %d times; a row needs a text that occurs "
             "once" % (row.number, row.file, old, text.count(old)))
    return text.replace(old, new)


def changed(name, text, rows):
    own = [row for row in rows if row.file == name]
    for row in own:
        text = change(text, row)
    if name == SHARED and "TESTLOG_MUTANT" not in text:
        text = text.replace(*PASSED_ON)
    return '%s#include "%s"\n#line 1\n%s' % (
        "#define MUTANT_NAMES\n" if name == SHARED else "", HERE / "mutant.h", text)


def copy_tree(source, to, rows):
    """Writes only files that differ, so that make builds only what they change."""
    names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others",
                            "--exclude-standard"], cwd=source, check=True,
                           capture_output=True, text=True).stdout.split("\0")
    names = {name for name in names if name and (source / name).is_file()}
    for row in rows:
        if row.file not in names:
            fail(2, "row %d: there is no file %s" % (row.number, row.file))
    for name in sorted(names):
        data, path = (source / name).read_bytes(), to / name
        if name == SHARED or any(row.file == name for row in rows):
            data = changed(name, data.decode(), rows).encode()
        if not path.is_file() or path.read_bytes() != data:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        shutil.copymode(source / name, path)
    for path in to.rglob("*"):
        name = str(path.relative_to(to))
        if path.is_file() and name not in names and not name.startswith(
                ("build/", "testlog-runs/", ".git/")):
            path.unlink()
    # Some tests ask git for the files of the tree.
    subprocess.run(["sh", "-c", "git init -q && git add -A"], cwd=to, check=True)


# ---- Running tests ----

class Build:
    """The changed tree, built with some settings of make's."""

    def __init__(self, work, testlog, *settings):
        self.work, self.testlog, self.settings = work, testlog, settings
        if self.make(["RUN=true", "-j%d" % os.cpu_count()], "build"):
            fail(1, "the build failed; see %s" % (work / "logs/build"))
        self.units, self.demos = self.list(ALL), self.list("$(DEMOS)")
        self.sanitized = self.list("$(or $(SANITIZED),%s)" % ALL)
        self.own = {folder: {name: path for name, path in self.units.items()
                             if name.split("_")[0] in names.split()}
                    for folder, names in OWN.items()}

    def make(self, arguments, log, mutant="0", limit=0):
        """Returns the exit code; 124 or more: it took too long."""
        with open(self.work / "logs" / log, "w") as out:
            return subprocess.run(
                ["timeout", "-k30", str(limit), "make", "check-all", *self.settings,
                 *arguments], cwd=self.work / "tree", stdin=subprocess.DEVNULL,
                stdout=out, stderr=subprocess.STDOUT,
                env=dict(os.environ, TESTLOG_MUTANT=mutant)).returncode

    def list(self, text):
        """Returns the programs that make expands a text to, by their names."""
        paths = subprocess.run(
            ["make", "-s", "--eval=list: ; @echo " + text, "list", *self.settings],
            cwd=self.work / "tree", check=True, capture_output=True, text=True)
        return {os.path.basename(path): path for path in paths.stdout.split()}

    def run(self, programs, log, mutant="0", filter_="", fail_fast=True):
        """Returns the results of tests, and what is wrong besides them or None."""
        runs = self.work / "tree/testlog-runs"
        shutil.rmtree(runs, ignore_errors=True)
        chosen = ["%s=%s" % (name, " ".join(paths[program] for program in programs
                                            if program in paths))
                  for name, paths in (("ALL_TESTS", self.units), ("UNITS", self.units),
                                      ("DEMOS", self.demos))]
        # An old file is not built: the tests are judged by an unchanged testlog.
        code = self.make([*chosen, "TESTLOG=" + self.testlog, "-o", self.testlog,
                          "FLAGS=" + ("--fail-fast" if fail_fast else ""),
                          "FILTER=" + filter_],
                         log, mutant, TIME_LIMIT * (1 if fail_fast else 6))
        if code >= 124:
            return [], "time limit"
        try:
            tests = json.loads((runs / "latest/run.json").read_text())["tests"]
        except (OSError, ValueError):
            tests = []
        if not code or any(is_bad(test) for test in tests):
            return tests, None
        text = (self.work / "logs" / log).read_text(errors="replace")
        return tests, None if "no test" in text.lower() else "make"


def is_bad(test):
    return test["outcome"] in ("failed", "crashed", "timeout")
