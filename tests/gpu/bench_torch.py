"""Measures the launches of bench.c with torch.profiler instead of testlog.

    bench_torch.py off|cuda|cpu+cuda WORK COUNT

Appends a line with a JSON object to BENCH_OUT, or to stdout. The warm-up is
profiled, too, so that counts can be compared.
"""
import collections
import ctypes
import json
import os
import sys
import time


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


def run(library, work, count):
    warm, result = Launches(), Launches()
    library.launches_run(b"empty", 1000, ctypes.byref(warm))
    library.launches_run(work.encode(), count, ctypes.byref(result))
    return warm, result


def main():
    mode, work, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    import torch
    from torch.profiler import ProfilerActivity, profile

    torch.zeros(1, device="cuda")
    library = ctypes.CDLL(os.environ["BENCH_LAUNCHES"])
    library.launches_run.argtypes = [
        ctypes.c_char_p, ctypes.c_long, ctypes.POINTER(Launches)]
    library.launches_init()
    row = {"kind": "bench",
           "mode": os.environ.get("BENCH_LABEL", "torch:" + mode),
           "work": work,
           "count": count, "torch": torch.__version__,
           "repetition": int(os.environ.get("BENCH_REPETITION", "0"))}
    if mode == "off":
        warm, result = run(library, work, count)
    else:
        activities = [ProfilerActivity.CUDA]
        if mode == "cpu+cuda":
            activities.append(ProfilerActivity.CPU)
        begin = time.time()
        with profile(activities=activities) as profiler:
            entered = time.time()
            warm, result = run(library, work, count)
            left = time.time()
        stopped = time.time()
        path = os.path.join(os.environ.get("TMPDIR", "/tmp"),
                            "torch.%d.json" % os.getpid())
        profiler.export_chrome_trace(path)
        row.update(start_ms=(entered - begin) * 1e3,
                   flush_ms=(stopped - left) * 1e3,
                   export_ms=(time.time() - stopped) * 1e3,
                   file_bytes=os.path.getsize(path), **read_trace(path))
        os.remove(path)
    calls = max(result.calls, 1)
    row.update(kernels=warm.kernels + result.kernels, error=result.error,
               launch_mean_ns=result.mean, launch_p50_ns=result.p50,
               launch_p99_ns=result.p99,
               wall_ns_per_launch=result.wall / calls)
    with open(os.environ.get("BENCH_OUT", "/dev/stdout"), "a") as out:
        out.write(json.dumps(row) + "\n")


main()
