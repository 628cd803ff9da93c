#!/usr/bin/env python3
"""Decodes a fixture independently of the code under test.

It has its own offsets and reads records one by one. It prints a line for each
activity with its fields, sorted. Times are relative to the fixture's zero, spans
are numbered in the order they were entered, and thread 1 is the test's own.
"""
import struct
import sys

import fixture

NAMES = {(2, 505): "__cudaLaunchKernel_v13000", (2, 211): "cudaLaunchKernel_v7000",
         (2, 311): "cudaGraphLaunch_v10000", (2, 31): "cudaMemcpy_v3020",
         (2, 20): "cudaMalloc_v3020", (2, 22): "cudaFree_v3020",
         (2, 51): "cudaMemset_v3020", (2, 135): "cudaEventRecord_v3020", (2, 131): "cudaStreamSynchronize_v3020",
         (2, 16): "cudaSetDevice_v3020",
         (2, 164): "cudaDeviceReset_v3020",
         (2, 373): "cudaMallocAsync_v11020", (2, 375): "cudaFreeAsync_v11020",
         (2, 315): "cudaStreamBeginCapture_v10000",
         (2, 319): "cudaStreamEndCapture_v10000",
         (1, 307): "cuLaunchKernel", (1, 678): "cuLibraryLoadData",
         (1, 497): "cuStreamEndCapture", (1, 539): "cuStreamBeginCapture_v2"}
SHOWN = {"__cudaLaunchKernel_v13000": "cudaLaunchKernel",
         "cudaLaunchKernel_v7000": "cudaLaunchKernel",
         "cudaGraphLaunch_v10000": "cudaGraphLaunch",
         "cudaMemcpy_v3020": "cudaMemcpy", "cudaMalloc_v3020": "cudaMalloc",
         "cudaFree_v3020": "cudaFree", "cudaMemset_v3020": "cudaMemset",
         "cudaStreamSynchronize_v3020": "cudaStreamSynchronize",
         "cudaSetDevice_v3020": "cudaSetDevice",
         "cudaDeviceReset_v3020": "cudaDeviceReset",
         "cudaMallocAsync_v11020": "cudaMallocAsync",
         "cudaFreeAsync_v11020": "cudaFreeAsync",
         "cudaEventRecord_v3020": "cudaEventRecord",
         "cudaStreamBeginCapture_v10000": "cudaStreamBeginCapture",
         "cudaStreamEndCapture_v10000": "cudaStreamEndCapture",
         "cuStreamBeginCapture_v2": "cuStreamBeginCapture"}
MEMORIES = {1: "pageable", 2: "pinned", 3: "device", 6: "device_static"}
DEMANGLED = {"_Z5saxpyIfEvPT_PKS0_S0_i":
             "void saxpy<float>(float*, float const*, float, int)"}
NOISE = {(2, 10), (2, 16), (2, 317), (2, 502), (2, 503), (1, 626), (1, 677)}
COPIES = {1: "HtoD", 2: "DtoH"}
UNIFIED = {1: "HtoD", 2: "DtoH", 8: "DtoD"}
SYNCS = {1: "Event sync", 2: "Stream wait event", 3: "Stream sync",
         4: "Context sync"}
OVERHEADS = {1: ("Driver compiler", "driver_compiler"),
             1 << 16: ("Buffer flush", None),
             4 << 16: ("Module load", "module_load"),
             5 << 16: ("Lazy function load", "lazy_load")}
JITS = {1: ("JIT cache load", "cache_load", "hit"),
        2: ("JIT cache store", "cache_store", "miss"),
        3: ("JIT compile", "compile", "miss")}


def at(record, form, offset):
    return struct.unpack_from("<" + form, record, offset)[0]


def three(record, offset):
    return "(%d, %d, %d)" % struct.unpack_from("<3I", record, offset)


def records(data):
    for buffer in data["buffers"]:
        position = 0
        while position < len(buffer):
            kind = at(buffer, "I", position)
            size = data["strides"][kind]
            yield kind, buffer[position : position + size]
            position += size


def duration(ns):
    for unit in ("ns", "µs", "ms"):
        if ns < 1000:
            return ("%d%s" if unit == "ns" else "%.1f%s") % (ns, unit)
        ns /= 1000
    return "%.1fs" % ns


def occupancy(device, kernel):
    """The limits of one multiprocessor, compute capability 8 or later."""
    processors, most = at(device, "I", 44), at(device, "I", 52)
    x, y, z = struct.unpack_from("<3I", kernel, 64)
    warps = -(-x * y * z // 32)
    registers = -(-at(kernel, "H", 6) * 32 // 256) * 256
    shared = -(-(at(kernel, "I", 76) + at(kernel, "I", 80) + 1024) // 128) * 128
    limits = [("warps", most // warps), ("blocks", at(device, "I", 56)),
              ("registers", at(device, "I", 64) // 4 // registers * 4 // warps),
              ("shared", at(device, "I", 60) // shared)]
    limit, blocks = min(limits, key=lambda one: one[1])
    x, y, z = struct.unpack_from("<3I", kernel, 52)
    if x * y * z < blocks * processors:
        limit = "grid"
    blocks = min(x * y * z, blocks * processors)
    return [("occupancy", 100 * blocks * warps // (most * processors)),
            ("occupancy.limit", limit)]


class Oracle:
    def __init__(self, data):
        self.data, self.lines, self.total = data, [], 0
        self.calls, self.spans, self.launches = {}, {}, {}
        self.devices = {at(record, "I", 112): record
                        for kind, record in records(data) if kind == 8}
        for kind, record in records(data):
            if kind == 39 and at(record, "I", 4) == 3:
                self.spans[at(record, "I", 16)] = at(record, "Q", 8)
            elif kind in (4, 5):
                begin, end, thread = (at(record, "Q", 8), at(record, "Q", 16),
                                      at(record, "I", 28))
                known = self.calls.get(at(record, "I", 32), (begin, end, 0))
                self.calls[at(record, "I", 32)] = (
                    min(begin, known[0]), max(end, known[1]), thread)
            elif kind == 10:
                self.launches.setdefault(at(record, "I", 92), record)

    def line(self, kind, name, times, correlation, track, fields, level="TRACE",
             launch=None):
        shown = dict(fields)
        begin, end = times
        head = "%s %s %s corr=%d ts=%d dur=%d %s span=%d" % (
            level, kind, name, correlation, begin, end - begin, track,
            self.spans.get(correlation, 0))
        if launch:
            head += " launch{count=%s stream=%d kernel.name=%s}" % launch
        self.lines.append(" ".join([head] + ["%s=%s" % f for f in shown.items()]))

    def launch(self, record):
        name = self.data["strings"].get(at(record, "Q", 104), "?")
        return (three(record, 52), at(record, "I", 48),
                DEMANGLED.get(name, name))

    def thread(self, correlation, otherwise=0):
        return "thread=%d" % self.calls.get(correlation, (0, 0, otherwise))[2]

    def kernel(self, record):
        correlation = at(record, "I", 92)
        begin, end = at(record, "Q", 16), at(record, "Q", 24)
        launch = self.launch(record)
        static, dynamic = at(record, "i", 76), at(record, "i", 80)
        fields = [("device", at(record, "I", 40)),
                  ("context", at(record, "I", 44)),
                  ("block", three(record, 64)),
                  ("registers", at(record, "H", 6)),
                  ("shared", static + dynamic)]
        fields += [("shared.static", static)] if static else []
        fields += [("shared.dynamic", dynamic)] if dynamic else []
        fields += [("local", at(record, "I", 84))]
        fields += ([("cluster", three(record, 176))]
                   if at(record, "I", 176) else [])
        if at(record, "I", 40) in self.devices:
            fields += occupancy(self.devices[at(record, "I", 40)], record)
        delay = begin - self.calls[correlation][0]
        fields += ([("queue_delay", duration(delay))] if delay > 0 else
                   [("clock_skew_ns", -delay)] if delay else [])
        fields += [("correlation", correlation)]
        if at(record, "I", 156):
            fields += [("graph", at(record, "I", 156)),
                       ("graph.node", at(record, "Q", 144))]
        self.line("KERNEL", launch[2], (begin, end), correlation,
                  "device=%d/1/%d" % (at(record, "I", 40), launch[1]), fields, launch=launch)

    def graph(self, record):
        correlation, stream = at(record, "I", 4), at(record, "I", 36)
        begin, end = at(record, "Q", 8), at(record, "Q", 16)
        self.line("GRAPH", "CudaGraphExec:%d" % at(record, "I", 28),
                  (begin, end), correlation, "device=0/1/%d" % stream,
                  [("device", at(record, "I", 24)),
                   ("context", at(record, "I", 32)), ("stream", stream),
                   ("queue_delay",
                    duration(begin - self.calls[correlation][0])),
                   ("correlation", correlation),
                   ("graph", at(record, "I", 28))])

    def transfer(self, kind, name, record, extra):
        begin, end = at(record, "Q", 16), at(record, "Q", 24)
        size, correlation = at(record, "Q", 8), at(record, "I", 44)
        fields = [("bytes", size),
                  ("throughput", "%.1f GB/s" % (size / (end - begin)))]
        fields += extra + [("device", at(record, "I", 32)),
                           ("context", at(record, "I", 36)),
                           ("stream", at(record, "I", 40)),
                           ("correlation", correlation)]
        self.line(kind, name, (begin, end), correlation,
                  "device=0/1/%d" % at(record, "I", 40), fields)

    def call(self, record, domain):
        correlation, result = at(record, "I", 32), at(record, "I", 36)
        cbid = at(record, "I", 4)
        took = at(record, "Q", 16) - at(record, "Q", 8)
        if (domain, cbid) in NOISE and not result and took < 100000:
            return
        raw = NAMES[domain, cbid]
        kind = "RUNTIME" if domain == 2 else "DRIVER"
        fields, level = [], "TRACE"
        if (domain, cbid) == (1, 678):
            kind, fields = "COMPILE", [("stage", "module_load")]
        if (domain, cbid) == (2, 164):
            kind = "RELEASE"
        if result not in (0, 600):
            level = "WARN"
            fields += [("result", result)]
        self.line(kind, SHOWN.get(raw, raw),
                  (at(record, "Q", 8), at(record, "Q", 16)), correlation,
                  "thread=%d" % at(record, "I", 28), fields, level)

    def compile_launch(self, correlation):
        record = self.launches.get(correlation)
        return self.launch(record) if record else None

    def jit(self, record):
        name, operation, cache = JITS[at(record, "I", 8)]
        correlation = at(record, "I", 32)
        self.line("COMPILE", name, (at(record, "Q", 16), at(record, "Q", 24)),
                  correlation, "thread=%d" % at(record, "I", 68),
                  [("stage", "driver_jit"), ("operation", operation),
                   ("entry", "ptx_to_cubin"), ("cache", cache),
                   ("cache_bytes", at(record, "Q", 48)),
                   ("id", at(record, "Q", 40))],
                  launch=self.compile_launch(correlation))

    def overhead(self, record):
        name, stage = OVERHEADS[at(record, "I", 4)]
        correlation = at(record, "I", 40)
        self.line("COMPILE" if stage else "OVERHEAD", name,
                  (at(record, "Q", 24), at(record, "Q", 32)), correlation,
                  "thread=%d" % at(record, "I", 16),
                  [("stage", stage)] if stage else [],
                  launch=self.compile_launch(correlation) if stage else None)

    def sync(self, record):
        correlation = at(record, "I", 24)
        self.line("SYNC", SYNCS[at(record, "I", 4)],
                  (at(record, "Q", 8), at(record, "Q", 16)), correlation,
                  self.thread(correlation),
                  [("context", at(record, "I", 28)),
                   ("stream", at(record, "I", 32))])

    def memory(self, record):
        correlation, size = at(record, "I", 12), at(record, "Q", 24)
        allocated = at(record, "I", 4) == 1
        memory = MEMORIES[at(record, "I", 8)]
        if memory not in ("pageable", "pinned"):
            self.total += size if allocated else -size
        time = at(record, "Q", 32)
        fields = [("bytes", size), ("address", "0x%x" % at(record, "Q", 16)),
                  ("memory", memory)]
        fields += ([("in_use", self.total)]
                   if memory not in ("pageable", "pinned") else [])
        fields += [("device", at(record, "I", 52))]
        fields += ([("stream", at(record, "I", 60))]
                   if at(record, "I", 60) else [])
        fields += [("async", "true")] if at(record, "I", 72) else []
        self.line("ALLOCATE" if allocated else "RELEASE",
                  "Allocate" if allocated else "Release", (time, time),
                  correlation, self.thread(correlation), fields)

    def event(self, record):
        correlation, time = at(record, "I", 4), at(record, "Q", 40)
        if time:
            self.line("EVENT", "Event", (time, time), correlation,
                      "device=0/1/%d" % at(record, "I", 12),
                      [("event", at(record, "I", 16)),
                       ("device", at(record, "I", 24)),
                       ("context", at(record, "I", 8)),
                       ("stream", at(record, "I", 12)),
                       ("correlation", correlation)])

    def unified(self, record):
        kind, size = at(record, "I", 4), at(record, "Q", 8)
        begin, end = at(record, "Q", 16), at(record, "Q", 24)
        device = at(record, "I", 40 if kind == 2 else 44)
        fields = [("bytes", size),
                  ("throughput", "%.1f GB/s" % (size / (end - begin))),
                  ("address", "0x%x" % at(record, "Q", 32))]
        fields += [("from", at(record, "I", 40))] if kind == 8 else []
        self.line("MEMCPY", "Unified " + UNIFIED[kind], (begin, end), 0,
                  "device=%d/0/0" % device, fields + [("device", device)])

    def run(self):
        for kind, record in records(self.data):
            if kind == 10:
                self.kernel(record)
            elif kind == 1:
                host = {1: record[5], 3: record[5], 2: record[6],
                        4: record[6]}.get(record[4], 0)
                self.transfer("MEMCPY", "Memcpy " + COPIES[record[4]], record,
                              [("async", "true" if record[7] & 1 else "false")]
                              + ([("memory", MEMORIES[host])] if host else []))
            elif kind == 2:
                self.transfer("MEMSET", "Memset", record,
                              [("value", at(record, "I", 4))])
            elif kind in (4, 5):
                self.call(record, 2 if kind == 5 else 1)
            elif kind == 36:
                self.event(record)
            elif kind == 25:
                self.unified(record)
            elif kind == 52:
                self.jit(record)
            elif kind == 17:
                self.overhead(record)
            elif kind == 38:
                self.sync(record)
            elif kind == 49:
                self.memory(record)
            elif kind == 51:
                self.graph(record)
        return "".join(line + "\n" for line in
                       sorted(self.lines, key=lambda line: line.encode()))


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")
    sys.stdout.write(Oracle(fixture.read(sys.argv[1])).run())
