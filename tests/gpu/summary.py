"""Summarizes the numbers of run.sh: criteria, overheads, answers.

    summary.py RESULTS.jsonl RESULTS.md

Appends a line with the verdict of each criterion to the first, and writes the
second. A criterion without its numbers is skipped and names them.
"""
import json
import statistics
import sys

# A new question for a GPU is a row here or in CRITERIA, and the commands in run.sh that
# answer it.
QUESTIONS = {
    1: "Does CUPTI start within InitializeInjection in a test's process; is "
       "the variable honoured if it is set within the process, before cuInit?",
    2: "Do __cudaLaunchKernel and the cuLaunchKernel within it both appear, "
       "with one correlation?",
    3: "JIT records: order, correlation, size of the cache; cold, warm, "
       "without a cache, with eager loading",
    4: "Is the clock that was registered used for all kinds of records?",
    5: "Are records lost where a program ends without waiting?",
    6: "What does starting cost a process, and one that calls cuInit only?",
    7: "Whom does cuptiSubscribe_v2 name; what becomes of torch.profiler in a "
       "process that is traced?",
    8: "Memory with 8, 16 and 64 threads",
    9: "Which part of tracing costs a launch how much more than none? p50 and "
       "its quartiles, and wall, in ns",
    10: "May root sample the performance monitors; is there an OpenCL ICD?",
    11: "Has torch's trace the arrows of __cudaLaunchKernel?",
    12: "Fixtures",
    13: "Zones of a kernel: how exact is %globaltimer, fitted to the launch?",
    14: "A launch in a run that is long, so that testlog decodes meanwhile",
    15: "Records in buffers that lie in a file, after SIGKILL",
    16: "Counters: in each phase; every 10 us, of several passes, unknown, "
        "beside another process and as another user; does sampling change "
        "the time of fixed work, or of a launch?",
}


class Missing(Exception):
    """A criterion lacks a number."""


class Results:
    def __init__(self, path):
        with open(path) as file:
            self.rows = [json.loads(line) for line in file if line.strip()]
        self.dry = any(row.get("dry_run") for row in self.of("environment"))

    def of(self, kind, **wanted):
        return [row for row in self.rows if row["kind"] == kind
                and all(row.get(name) == value
                        for name, value in wanted.items())]

    def one(self, kind, **wanted):
        rows = self.of(kind, **wanted)
        if not rows:
            raise Missing("no %s of %s" % (
                kind, " ".join(str(value) for value in wanted.values())))
        return rows[-1]

    def counted(self, label):
        """Returns what was launched and what was recorded of it."""
        work, _, repetition = label.partition(".")
        wanted = {"mode": "counted", "work": work}
        if repetition.isdigit():
            wanted["repetition"] = int(repetition)
        return self.one("bench", **wanted), self.one("count", label=label)


WORKS = ("empty.1", "streams:16", "threads:8", "graph", "capture", "mixed")
GRAPHS = ("graph", "capture")
SPIN_NS = 1000000

# Criteria whose numbers come from the fixture in a dry run, on both sides.
PLUMBING = ("1", "3", "7", "13")


# ---- Criteria: each returns the differences, or "" ----

def differing(found, wanted):
    return "" if found == wanted else "%g of %g" % (found, wanted)


def each(function):
    """Applies a criterion to every work."""
    def all_works(results):
        failures = []
        for label in WORKS:
            made, seen = results.counted(label)
            failure = function(label, made, seen)
            if failure:
                failures.append("%s: %s" % (label, failure))
        return "; ".join(failures)
    return all_works


@each
def every_kernel(_, made, seen):
    return differing(seen["kernels"], made["kernels"])


@each
def correlations(label, made, seen):
    return differing(seen["kernel_ids"],
                     made["calls"] if label in GRAPHS else made["kernels"])


def own_correlation(results):
    if results.dry:
        raise Missing("what is played back was launched by other calls")
    return correlations(results)


@each
def one_call(_, made, seen):
    return differing(seen["kernels_without_call"] + seen["calls_not_nested"], 0)


@each
def good_times(_, made, seen):
    noted = int(seen["meta"].get("gpu.bad_times", "0"))
    return differing(seen["bad_times"] + noted, 0)


@each
def nothing_dropped(_, made, seen):
    meta = seen["meta"]
    return differing(seen["dropped"] + int(meta.get("gpu.dropped", "0"))
                     + int(meta.get("gpu.undecoded", "0")), 0)


# CUPTI compares the clocks of device and host with an error of microseconds.
LARGEST_SKEW_NS = 20000


class Remark(str):
    """What a criterion that passes reports."""


def none_too_early(results):
    skews = {label: results.counted(label)[1]["largest_skew_ns"]
             for label in WORKS}
    note = "; ".join("%s: %g ns" % (label, ns) for label, ns in skews.items()
                     if ns)
    return note if max(skews.values()) > LARGEST_SKEW_NS else Remark(note)


def copies_and_sets(results):
    made, seen = results.counted("mixed")
    kinds = seen["kinds"]
    return " ".join(filter(None, (
        differing(kinds.get("MEMCPY", 0), made["copies"]),
        differing(kinds.get("MEMSET", 0), made["sets"]))))


def compiles_of(results, label):
    return [" ".join(str(value) for value in compile.values())
            for compile in results.one("count", label=label)["compiles"]]


def cache_is_seen(results):
    cold = compiles_of(results, "jit.cold")
    warm = compiles_of(results, "jit.warm")
    wanted = (("jit compile", cold), ("cache_store", cold),
              ("cache_load", warm))
    return ", ".join("no %s in the %s run" % (
        word, "cold" if lines is cold else "warm")
        for word, lines in wanted
        if not any(word in line.lower() for line in lines))


def runs_are_equal(results):
    first = results.counted("empty.1")[1]
    second = results.counted("empty.2")[1]
    return ", ".join(name for name in ("kernels", "names", "kernel_ids",
                                       "launched_by")
                     if first[name] != second[name])


def as_torch_sees(results):
    failures = []
    for label in WORKS:
        work = label.partition(".")[0]
        counted = [row for row in results.of("bench", mode="torch:cuda",
                                             work=work) if "names" in row]
        if not counted:
            raise Missing("no bench of torch:cuda %s" % work)
        torch = counted[-1]
        ours = results.counted(label)[1]["names"]
        if torch["names"] != ours:
            failures.append("%s: %s, ours %s" % (label, torch["names"], ours))
    return "; ".join(failures)


# The number of a row that says what a launch took, by work.
TIMED = {"empty": "launch_p50_ns", "streams:16": "wall_ns_per_launch",
         "threads:8": "wall_ns_per_launch", "graph": "wall_ns_per_launch",
         "mixed": "wall_ns_per_launch"}


def quartiles(values):
    if len(values) < 2:
        return values * 3
    return statistics.quantiles(values, n=4, method="inclusive")


def over_base(results, work, name, mode, base):
    """Returns the quartiles of what launches took over the base's median."""
    def values(of):
        found = [row[name] for row in results.of("bench", work=work, mode=of)
                 if row["repetition"] and name in row]
        if not found:
            raise Missing("no bench of %s, %s" % (of, work))
        return found
    plain = statistics.median(values(base))
    return quartiles([value - plain for value in values(mode)])


def less_than_torch(results):
    failures, notes = [], []
    for work, name in TIMED.items():
        for name in (name, "launch_mean_ns") if work == "empty" else (name,):
            ours = over_base(results, work, name, "ours", "off")
            theirs = over_base(results, work, name, "torch:cuda", "torch:off")
            note = "%s, %s: %.0f (%.0f to %.0f), torch %.0f (%.0f to %.0f) ns" % (
                work, name.split("_")[1], ours[1], ours[0], ours[2],
                theirs[1], theirs[0], theirs[2])
            (notes if ours[2] < theirs[0] else failures).append(note)
    return "; ".join(failures) or Remark("; ".join(notes))


def whole_in_a_file(results):
    notes = []
    for row in results.of("gate"):
        parts = [row["completed"], row["unfinished"]]
        kernels = sum(part["kernels"] for part in parts)
        notes.append("%s: %d of %d kernels, %d of them in unfinished buffers, "
                     "%d without an end, %d torn records" % (
                         row["work"], kernels, row["launched"],
                         parts[1]["kernels"],
                         sum(part["open"] for part in parts),
                         sum(part["torn"] for part in parts)))
        if not kernels or sum(part["torn"] for part in parts):
            return "; ".join(notes)
    if not notes:
        raise Missing("no gate")
    return Remark("; ".join(notes))


# Means that counters must have in a phase of the work "phases", in percent.
PHASES = (("SM active %", "spin", 90, 101), ("SM active %", "idle", -1, 5),
          ("DRAM write %", "set", 50, 101))
INTERVAL_NS = 500000


def counters_follow(results):
    if results.dry:
        raise Missing("the counters of playback follow no work")
    row = results.one("sampled", label="phases")
    notes = ["%s %s in %s" % (name, row["counters"][name].get(phase), phase)
             for name, phase, _, _ in PHASES]
    notes.append("edge %g ns" % row["edge_ns"])
    failed = abs(row["edge_ns"]) > 2 * INTERVAL_NS or not all(
        least <= row["counters"][name].get(phase, -2) <= most
        for name, phase, least, most in PHASES)
    return "; ".join(notes) if failed else Remark("; ".join(notes))


def nothing_lost_by_sampling(results):
    made = results.one("bench", mode="sampled launches")
    meta = results.one("sampled", label="launches")["meta"]
    return differing(int(meta.get("gpu.launched", "0")), made["kernels"])


def spin_is_measured(results):
    if results.dry:
        raise Missing("a dry run has no GPU's clock")
    durations = results.one("count", label="spin")["durations"]
    if "launches_spin" not in durations:
        return "no kernel launches_spin"
    shortest, median, longest = durations["launches_spin"]
    measured = "%d ns (%d to %d)" % (median, shortest, longest)
    return (Remark(measured) if abs(median - SPIN_NS) <= SPIN_NS / 50
            else measured)


@each
def none_lost(label, made, seen):
    captured, lost, orphans = (
        int(seen["meta"].get("gpu." + name, "0"))
        for name in ("captured", "lost", "orphans"))
    return " ".join(filter(None, (
        differing(captured, made.get("captured", 0))
        if label in GRAPHS else "",
        "%d lost" % lost if lost else "",
        "%d without a call" % orphans if orphans else "")))


def replayed(made, seen):
    kinds = seen["kinds"]
    names = [name for name in seen["names"]
             if name != made.get("kernel", name)]
    return " ".join(filter(None, (
        differing(seen["kernels"], made["kernels"]),
        differing(kinds.get("MEMCPY", 0), made["copies"]),
        differing(kinds.get("MEMSET", 0), made["sets"]),
        differing(seen["bad_times"], 0),
        "outside of the run: %s" % seen["outside"] if seen["outside"] else "",
        "kernels %s" % names if names else "")))


def fixtures_replay(results):
    failures = []
    for made in results.of("fixture"):
        name = made["name"].partition(".")[0]
        failure = replayed(made, results.one("count", label="fixture." + name))
        if failure:
            failures.append("%s: %s" % (name, failure))
    if not results.of("fixture"):
        raise Missing("no fixture")
    return "; ".join(failures)


def busy_is_seen(results):
    state = results.one("count", label="busy")["meta"].get("gpu.state")
    return "" if state == "busy" else str(state)


CRITERIA = (
    ("1 every kernel has a record", every_kernel),
    ("2 every launch has a correlation of its own", own_correlation),
    ("3 every kernel has a call, one outermost", one_call),
    ("4 no bad time", good_times),
    ("5 nothing dropped, nothing undecoded", nothing_dropped),
    ("6 no kernel begins over 20 us before its call", none_too_early),
    ("7 every copy and set has a record", copies_and_sets),
    ("8 compiling, then the cache, is seen", cache_is_seen),
    ("9 two runs are equal", runs_are_equal),
    ("10 torch.profiler counts the same", as_torch_sees),
    ("11 a launch costs less than under torch.profiler", less_than_torch),
    ("12 a kernel of 1 ms measures 1 ms, within 2 %", spin_is_measured),
    ("13 captured launches are counted, none is lost", none_lost),
    ("14 fixtures replay what was recorded", fixtures_replay),
    ("15 another client of CUPTI is reported as busy", busy_is_seen),
    ("16 CUPTI writes whole records into a file", whole_in_a_file),
    ("17 counters follow the work", counters_follow),
    ("18 a sampled program loses no record", nothing_lost_by_sampling),
)


def judge(results):
    rows = []
    for name, criterion in CRITERIA:
        try:
            note = criterion(results)
            verdict = ("fail" if note and not isinstance(note, Remark)
                       else "pass")
            if not note and results.dry and name.split()[0] in PLUMBING:
                note = "shows only that the steps fit together"
        except (Missing, KeyError, ValueError) as missing:
            verdict, note = "skip", str(missing).strip("'")
        rows.append({"kind": "criterion", "name": name, "verdict": verdict,
                     "note": note.replace('"', "'")})
    return rows


# ---- Overheads ----

def median_and_range(rows, name):
    values = [row[name] for row in rows if name in row]
    if not values:
        return "", None
    median = statistics.median(values)
    return "%.0f (%.0f to %.0f)" % (median, min(values), max(values)), median


def overhead_table(results):
    modes = []
    for row in results.of("bench", work="empty"):
        if (row["repetition"] and row["mode"] not in modes
                and row["mode"] != "counted"):
            modes.append(row["mode"])
    lines = ["| mode | ns per launch, p50 | p99 | mean | over its base, ns "
             "| start, ms | first call, ms | peak, MiB |",
             "| --- | --- | --- | --- | --- | --- | --- | --- |"]
    for mode in modes:
        rows = [row for row in results.of("bench", work="empty", mode=mode)
                if row["repetition"]]
        base = [row for row in results.of(
            "bench", work="empty",
            mode="torch:off" if mode.startswith("torch") else "off")
                if row["repetition"]]
        p50, median = median_and_range(rows, "launch_p50_ns")
        plain = median_and_range(base, "launch_p50_ns")[1]
        over = "" if None in (median, plain) else "%.0f" % (median - plain)
        peak = median_and_range(rows, "peak_kib")[1]
        lines.append("| %s | %s | %s | %s | %s | %s | %s | %s |" % (
            mode, p50, median_and_range(rows, "launch_p99_ns")[0],
            median_and_range(rows, "launch_mean_ns")[0], over,
            median_and_range(rows, "start_ms")[0],
            median_and_range(rows, "init_ms")[0],
            "%.0f" % (peak / 1024) if peak else ""))
    return lines


def other_works(results):
    lines = ["| work | mode | ns per launch | over off |",
             "| --- | --- | --- | --- |"]
    for work in TIMED:
        if work == "empty":
            continue
        for mode, base in (("off", "off"), ("ours", "off"),
                           ("torch:off", "torch:off"),
                           ("torch:cuda", "torch:off")):
            def rows(of):
                return [row for row in results.of("bench", work=work, mode=of)
                        if row["repetition"]]
            text, median = median_and_range(rows(mode), "wall_ns_per_launch")
            plain = median_and_range(rows(base), "wall_ns_per_launch")[1]
            if median is not None:
                lines.append("| %s | %s | %s | %s |" % (
                    work, mode, text,
                    "%.2f" % (median / plain) if plain else ""))
    return lines


# ---- Answers ----

def only(row, *names):
    return {name: row[name] for name in names if name in row}


def answers(results):
    """Returns a row for each question; null: no answer."""
    seen = {row["number"]: row["seen"] for row in results.of("question")}

    def counts(*labels):
        return {row["label"]: row for row in results.of("count")
                if row["label"].startswith(labels)}

    def benches(*names, **wanted):
        return [only(row, "mode", "work", *names)
                for row in results.of("bench", **wanted)]

    seen[1] = {
        "named within the process": seen.get(1),
        "states in tests": {
            label: row.get("meta", {}).get("gpu.state")
            for label, row in counts("cuda_identity").items()}}
    seen[2] = {label: row.get("launched_by") for label, row in counts(
        "empty.1", "mixed", "graph", "jit.cold").items()}
    seen[3] = {label: row.get("compiles") for label, row in counts("jit").items()}
    seen[4] = {label: row.get("outside") for label, row in counts(
        "mixed", "jit.cold").items()}
    seen[5] = {label: dict(
        only(row, "kernels", "ended"),
        **only(row.get("meta", {}), "gpu.launches", "gpu.launched", "gpu.lost",
               "gpu.orphans", "gpu.dropped", "gpu.refused"))
               for label, row in counts("unsynced").items()}
    seen[6] = benches("start_ms", "init_ms", "peak_kib", work="none")
    seen[7] = {"subscribed": seen.get(7),
               "torch": benches("seen_kernels", mode="torch:injected")}
    seen[8] = [row for lanes in (8, 16, 64) for row in benches(
        "peak_kib", work="threads:%d" % lanes, count=64000)]
    seen[9] = {work: {row["variant"]: [row[name] for name in (
        "p50", "p50_q1", "p50_q3", "wall")]
                      for row in results.of("ab", work=work)}
               for work in ("empty", "threads:8", "graph")}
    seen[11] = benches("seen_kernels", "flows_begun", "flows_ended",
                       mode="torch:cuda", repetition=1)
    seen[14] = [row for mode in ("off, long", "ours, long")
                for row in benches("launch_p50_ns", "launch_mean_ns",
                                   "launch_p99_ns", mode=mode)]
    seen[16] = {
        "sampled": {row["label"]: only(row, "samples", "counters", "edge_ns",
                                       "lines", "meta")
                    for row in results.of("sampled")},
        "fma": {label: row.get("durations")
                for label, row in counts("fma.").items()},
        "launches": benches("launch_p50_ns", "launch_mean_ns",
                            mode="sampled launches")}
    seen[15] = {"gate": results.of("gate"), "launches": [
        row for mode in ("private memory", "shared file")
        for row in benches("launch_p50_ns", "launch_mean_ns",
                           "launch_p99_ns", mode=mode)]}
    return seen


# ---- The page ----

def page(results, criteria):
    environment = (results.of("environment") or [{}])[-1]
    dry = environment.get("dry_run")
    lines = ["# GPU results", "",
             "**A dry run: no GPU was used. Every number here is made up by "
             "the playback library.**" if dry else
             "%s, %s, driver %s, %s launches each." % (
                 environment.get("date"), environment.get("device"),
                 environment.get("driver"), environment.get("launches")),
             "", "## Completeness", "", "| criterion | | |",
             "| --- | --- | --- |"]
    lines += ["| %s | %s | %s |" % (row["name"], row["verdict"], row["note"])
              for row in criteria]
    if dry:
        lines += ["", "Criteria %s compare numbers that come from the same "
                  "fixtures: only a GPU can pass them." % ", ".join(PLUMBING)]
    lines += ["", "## Overhead of a launch", "",
              "Medians of medians, and their range.", ""]
    lines += overhead_table(results) + [""] + other_works(results)
    lines += ["", "## Questions", ""]
    seen = answers(results)
    for number, question in QUESTIONS.items():
        lines += ["%d. %s" % (number, question), "",
                  "   `%s`" % json.dumps(seen.get(number))[:2500], ""]
    longest = sorted(results.of("step"), key=lambda row: -row["seconds"])
    lines += ["## The ten longest steps", ""]
    lines += ["- %d s: %s" % (row["seconds"], row["name"])
              for row in longest[:10]]
    lines += ["", "## Steps that failed or were skipped", ""]
    lines += ["- %s: %s: %s" % (row["name"], row["verdict"], row["note"])
              for row in results.of("step") if row["verdict"] != "pass"]
    return "\n".join(lines) + "\n", seen


def main():
    results = Results(sys.argv[1])
    criteria = judge(results)
    text, seen = page(results, criteria)
    with open(sys.argv[1], "a") as file:
        for row in criteria:
            file.write(json.dumps(row) + "\n")
        for number, question in QUESTIONS.items():
            file.write(json.dumps({"kind": "answer", "number": number,
                                   "question": question,
                                   "seen": seen.get(number)}) + "\n")
    with open(sys.argv[2], "w") as file:
        file.write(text)


main()
