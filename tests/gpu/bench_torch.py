"""Measures the launches of bench.c with torch.profiler instead of testlog.

    bench_torch.py WORK[=COUNT],... COUNT REPETITIONS

Appends lines with JSON objects to BENCH_OUT, or to stdout: in each repetition, one
for each work without the profiler, and one with it. All are of one process, which
takes seconds to start. The first repetition exports and counts what was profiled;
its warm-up is profiled, too, so that counts can be compared.
"""
import collections
import ctypes
import json
import os
import sys
import time

WARM = 1000


class Launches(ctypes.Structure):  # struct launches
    _fields_ = (
        [(name, ctypes.c_long)
         for name in ("kernels", "calls", "copies", "sets", "captured")]
        + [(name, ctypes.c_double) for name in ("wall", "mean", "p50", "p99")]
        + [("kernel", ctypes.c_char_p), ("error", ctypes.c_int)])


def read_trace(path):
    with open(path) as file:
        events = json.load(file)["traceEvents"]
    slices = [event for event in events if event.get("ph") == "X"]
    kernels = [event for event in slices if event.get("cat") == "kernel"]
    ids = {event["args"].get("correlation") for event in kernels}
    calls = [event for event in slices
             if event.get("cat") in ("cuda_runtime", "cuda_driver")]
    of_calls = collections.Counter(
        event["args"].get("correlation") for event in calls)
    durations = sorted(event["dur"] for event in kernels)
    flows = collections.Counter(
        event["ph"] for event in events if event.get("cat") == "ac2g")
    return {
        "seen_kernels": len(kernels),
        "kernel_ids": len(ids),
        "kernels_without_call": sum(not of_calls[one] for one in ids),
        "names": collections.Counter(event["name"] for event in kernels),
        "kinds": collections.Counter(event.get("cat") for event in slices),
        "api": dict(collections.Counter(
            event["name"] for event in calls).most_common(6)),
        "kernel_median_ns":
            durations[len(durations) // 2] * 1000 if durations else 0,
        "flows_begun": flows["s"], "flows_ended": flows["f"],
    }


def exported(profiler):
    path = os.path.join(os.environ.get("TMPDIR", "/tmp"),
                        "torch.%d.json" % os.getpid())
    profiler.export_chrome_trace(path)
    row = dict(read_trace(path), file_bytes=os.path.getsize(path))
    os.remove(path)
    return row


class Bench:
    def __init__(self):
        import torch
        torch.zeros(1, device="cuda")
        self.version = torch.__version__
        self.library = ctypes.CDLL(os.environ["BENCH_LAUNCHES"])
        self.library.launches_run.argtypes = [
            ctypes.c_char_p, ctypes.c_long, ctypes.POINTER(Launches)]
        self.library.launches_init()
        self.out = open(os.environ.get("BENCH_OUT", "/dev/stdout"), "a")

    def run(self, work, count):
        warm, result = Launches(), Launches()
        self.library.launches_run(b"empty", WARM, ctypes.byref(warm))
        self.library.launches_run(work.encode(), count, ctypes.byref(result))
        return warm, result

    def profiled(self, work, count, counts):
        from torch.profiler import ProfilerActivity, profile
        begin = time.time()
        with profile(activities=[ProfilerActivity.CUDA]) as profiler:
            entered = time.time()
            warm, result = self.run(work, count)
            left = time.time()
        row = {"start_ms": (entered - begin) * 1e3,
               "flush_ms": (time.time() - left) * 1e3}
        if counts:
            row.update(exported(profiler))
        return warm, result, row

    def put(self, mode, work, count, repetition, warm, result, more):
        if mode == "torch:cuda":
            mode = os.environ.get("BENCH_LABEL", mode)
        row = {"kind": "bench", "mode": mode,
               "work": work, "count": count, "torch": self.version,
               "repetition": repetition,
               "kernels": warm.kernels + result.kernels,
               "error": result.error,
               "launch_mean_ns": result.mean, "launch_p50_ns": result.p50,
               "launch_p99_ns": result.p99,
               "wall_ns_per_launch": result.wall / max(result.calls, 1)}
        self.out.write(json.dumps(dict(row, **more)) + "\n")
        self.out.flush()


def main():
    works = [work.partition("=") for work in sys.argv[1].split(",")]
    bench = Bench()
    for repetition in range(1, int(sys.argv[3]) + 1):
        for work, _, own_count in works:
            count = int(own_count or sys.argv[2])
            warm, result = bench.run(work, count)
            bench.put("torch:off", work, count, repetition, warm, result, {})
            warm, result, more = bench.profiled(work, count, repetition == 1)
            bench.put("torch:cuda", work, count, repetition, warm, result,
                      more)


main()
