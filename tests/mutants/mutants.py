#!/usr/bin/env python3
"""Breaks the code in many places, one after the other, and counts what the tests find.

    mutants.py TESTLOG [--only=3,7] [--stages=1,2] [--reuse] [--tree=FOLDER]

TESTLOG is the program of an unchanged build: it runs the tests and judges them. A copy
of the tree in build/mutants/tree gets all changes of mutants.tsv, and is built once;
TESTLOG_MUTANT=NUMBER turns one of them on. The stages run until a test fails:

 1. the unit tests of the folder that is changed
 2. the same, built with sanitizers
 3. all tests of `make check-all`
 4. those of the sanitizers' step of .ci/run

A first run, without a change, finds out which programs reach which changes, and how
long they take; --reuse takes what the last one has found out. After it, a change costs
only the programs that reach it, the shortest first. Results go to
build/mutants/results.tsv, the output of each run to logs/.
"""
import argparse
import collections
import json
import resource
import shutil
import subprocess
import time
from pathlib import Path

from changed_tree import HERE, Build, copy_tree, fail, is_bad, read_rows

Known = collections.namedtuple("Known", "reached times failing")

TRIES = 5  # tests of a stage that may fail without the change, too
SANITIZED = ("TRACING=1", "SANITIZE=address,undefined")


def only(name):
    """Returns a filter for one test: other characters than those of names match any."""
    return "".join(c if c.isalnum() or c in "_/" else "?" for c in name)


def any_of(names, slow="", sign="@"):
    names = [only(name) for name in sorted(names)] + ([slow] if slow else [])
    return "%s(%s)" % (sign, "|".join(names)) if names else ""


def slow_tests(tree):
    """Returns a filter for what .ci/run of an older tree left out of the sanitizers'
    step; newer trees name the programs that it has."""
    return subprocess.run(["bash", "-c", 'eval "$(grep ^slow= .ci/run)"; echo "$slow"'],
                          cwd=tree, capture_output=True, text=True).stdout.strip()


# ---- Without a change ----

def measure(build, programs):
    """Finds out which programs reach which changes, how long they take, and which
    tests fail anyway."""
    notes = build.work / "reached"
    shutil.rmtree(notes, ignore_errors=True)
    notes.mkdir()
    notes.chmod(0o777)  # some tests become another user
    tests, wrong = build.run(programs, "0", "0:%s/" % notes, fail_fast=False)
    if wrong:
        fail(1, "the tests cannot run without a change: " + wrong)
    times, failing = collections.Counter(), []
    for test in tests:
        times[test["program"]] += test["duration_ns"]
    # Some fail because the machine is busy, or because the notes disturb them.
    for mutant in ("0:%s/" % notes, "0"):
        bad = {test["name"]: test["program"] for test in tests if is_bad(test)}
        tests = build.run(sorted(set(bad.values())), "0.again", mutant, any_of(bad),
                          fail_fast=False)[0] if bad else []
        failing.append({test["name"]: test["program"] for test in tests if is_bad(test)})
    broken = [name for name, program in failing[1].items()
              if any(program in programs for programs in build.own.values())]
    if broken:
        fail(1, "unit tests fail without a change: " + ", ".join(broken))
    for name in failing[1]:
        print("%s fails without a change, and is left out" % name)
    reached = {row.number: {program for name, program in failing[0].items()
                            if name not in failing[1]} for row in read_rows()}
    for note in notes.iterdir():
        program, _, number = note.name.rpartition(".")
        reached[int(number)].add(program)
    return Known(reached, times, set(failing[1]))


def recall(build, programs, reuse):
    """Returns what is known of the tests without a change, measured now or before."""
    file = build.work / "known.json"
    if not reuse:
        known = measure(build, programs)
        file.write_text(json.dumps([{number: sorted(names) for number, names
                                     in known.reached.items()},
                                    known.times, sorted(known.failing)]))
    reached, times, failing = json.loads(file.read_text())
    return Known({int(number): set(names) for number, names in reached.items()},
                 collections.Counter(times), set(failing))


# ---- With a change ----

def find(build, programs, log, number, left_out, slow):
    """Returns what finds a change; None if nothing does."""
    for _ in range(TRIES if programs else 0):
        tests, wrong = build.run(programs, log, str(number), any_of(left_out, slow, "!"))
        bad = [test for test in tests if is_bad(test)]
        if not bad:
            return wrong
        name = bad[0]["name"]
        again, wrong = build.run([bad[0]["program"]], log + ".again",
                                 filter_=only(name) if "/" in name else "")
        if not wrong and not any(is_bad(test) for test in again):
            return name
        print("   %s is flaky, and is left out" % name, flush=True)
        left_out = left_out | {name}
    return None


def judge(row, stages, builds, known, slow):
    """Tries a change, and returns its line of results.tsv."""
    begin, found = time.time(), None
    for stage in stages:
        build, own = builds[stage % 2 == 0], builds[0].own[row.file.split("/")[0]]
        programs = known.reached[row.number] & set(own) if stage < 3 else (
            known.reached[row.number] - set(own if stage == 3 and 1 in stages else ()))
        if stage % 2 == 0:
            programs &= set(build.sanitized)
        if stage == 4:  # the examples record only there
            programs |= set(build.demos)
        programs = sorted(programs, key=lambda program: known.times[program])
        found = find(build, programs, "%d.%d" % (row.number, stage), row.number,
                     known.failing, slow if stage % 2 == 0 else "")
        if found:
            break
    took = time.time() - begin
    print("%2d %s: %s %s: %s" % (
        row.number, row.file, row.old,
        "becomes " + row.new if row.kind == "expr" else "is left out",
        "found by %s (stage %d, %.0f s)" % (found, stage, took) if found
        else "NOT FOUND (%.0f s)" % took), flush=True)
    return [row.number, row.file, found or "-", stage if found else "-", "%.0f" % took]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("testlog", type=Path)
    parser.add_argument("--only", default="", help="numbers of changes: 3,7")
    parser.add_argument("--stages", default="1,2,3,4", help="stages that run: 1,2")
    parser.add_argument("--reuse", action="store_true", help="measure nothing again")
    parser.add_argument("--tree", type=Path, default=HERE.parent.parent)
    given = parser.parse_args()
    stages = [int(word) for word in given.stages.split(",")]
    wanted = [int(word) for word in given.only.split(",") if word]
    rows, begin = read_rows(), time.time()
    work, testlog = Path("build/mutants").resolve(), str(given.testlog.resolve())
    shutil.rmtree(work / "logs", ignore_errors=True)
    (work / "logs").mkdir(parents=True)
    copy_tree(given.tree.resolve(), work / "tree", rows)
    plain = Build(work, testlog)
    builds = [plain, Build(work, testlog, *SANITIZED) if {2, 4} & set(stages) else None]
    print("built in %.0f s" % (time.time() - begin), flush=True)
    begin = time.time()
    known = recall(plain, [*plain.units, *plain.demos] if max(stages) > 2 else [
        program for programs in plain.own.values() for program in programs], given.reuse)
    print("measured in %.0f s" % (time.time() - begin), flush=True)
    count = found = 0
    with open(work / "results.tsv", "w") as results:
        for row in rows:
            if not wanted or row.number in wanted:
                line = judge(row, stages, builds, known, slow_tests(given.tree))
                print(*line, sep="\t", file=results, flush=True)
                count, found = count + 1, found + (line[2] != "-")
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    print("%d of %d found, in %.0f minutes, with the build %.0f minutes of processors" % (
        found, count, (time.time() - begin) / 60, (usage.ru_utime + usage.ru_stime) / 60))


main()
