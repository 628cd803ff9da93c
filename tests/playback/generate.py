#!/usr/bin/env python3
"""Generates the fixtures in this folder. No GPU wrote them."""
import os
import struct

import fixture

STRIDES = {1: 96, 2: 88, 4: 40, 5: 40, 8: 184, 9: 32, 10: 216, 11: 32, 17: 56,
           22: 96, 25: 104, 36: 56, 37: 24, 38: 56, 39: 24, 49: 128, 52: 72}
MAIN, OTHER = 1, 4242


class Maker:
    def __init__(self):
        self.host, self.device, self.strings = b"", b"", {}
        self.strides = dict(STRIDES)

    def string(self, value):
        for address, known in self.strings.items():
            if known == value:
                return address
        address = 0x7F0000000000 + 64 * len(self.strings)
        self.strings[address] = value
        return address

    def record(self, kind, fields, to="host"):
        data = bytearray(self.strides[kind])
        struct.pack_into("<I", data, 0, kind)
        for offset, (form, value) in fields.items():
            struct.pack_into("<" + form, data, offset, value)
        setattr(self, to, getattr(self, to) + bytes(data))

    def call(self, kind, cbid, begin, end, correlation, span=0, result=0,
             thread=MAIN):
        if span:
            self.record(39, {4: ("I", 3), 8: ("Q", span),
                             16: ("I", correlation)})
        self.record(kind, {4: ("I", cbid), 8: ("Q", begin), 16: ("Q", end),
                           24: ("I", 77), 28: ("I", thread),
                           32: ("I", correlation), 36: ("I", result)})

    def kernel(self, name, begin, end, correlation, grid, block, stream=7,
               registers=32, static=0, dynamic=0, local=0, graph=0, node=0,
               cluster=None, device=0):
        fields = {6: ("H", registers), 16: ("Q", begin), 24: ("Q", end),
                  40: ("I", device), 44: ("I", 1), 48: ("I", stream),
                  76: ("i", static), 80: ("i", dynamic), 84: ("I", local),
                  92: ("I", correlation),
                  104: ("Q", self.string(name) if name else 0),
                  144: ("Q", node), 156: ("I", graph)}
        for i in range(3):
            fields[52 + 4 * i] = ("i", grid[i])
            fields[64 + 4 * i] = ("i", block[i])
            if cluster:
                fields[176 + 4 * i] = ("I", cluster[i])
        self.record(10, fields, "device")

    def copy(self, kind, size, begin, end, correlation, flags=0):
        self.record(1, {4: ("B", kind), 7: ("B", flags), 8: ("Q", size),
                        16: ("Q", begin), 24: ("Q", end), 32: ("I", 0),
                        36: ("I", 1), 40: ("I", 7), 44: ("I", correlation)},
                    "device")

    def fill(self, value, size, begin, end, correlation):
        self.record(2, {4: ("I", value), 8: ("Q", size), 16: ("Q", begin),
                        24: ("Q", end), 32: ("I", 0), 36: ("I", 1),
                        40: ("I", 7), 44: ("I", correlation)}, "device")

    def memory(self, operation, address, size, time, correlation, kind=3,
               pool=0):
        self.record(49, {4: ("I", operation), 8: ("I", kind),
                         12: ("I", correlation), 16: ("Q", address),
                         24: ("Q", size), 32: ("Q", time), 52: ("I", 0),
                         56: ("I", 1), 60: ("I", 7 * pool), 72: ("I", pool),
                         80: ("I", pool)})

    def sync(self, type_, begin, end, correlation, stream):
        self.record(38, {4: ("I", type_), 8: ("Q", begin), 16: ("Q", end),
                         24: ("I", correlation), 28: ("I", 1),
                         32: ("I", stream), 36: ("I", 0xFFFFFFFF)})

    def event(self, time, correlation, number, stream=7):
        self.record(36, {4: ("I", correlation), 8: ("I", 1),
                         12: ("I", stream), 16: ("I", number),
                         40: ("Q", time)}, "device")

    def unified(self, kind, size, begin, end, source, target):
        self.record(25, {4: ("I", kind), 8: ("Q", size), 16: ("Q", begin),
                         24: ("Q", end), 32: ("Q", 0x7F2000),
                         40: ("I", source), 44: ("I", target)}, "device")

    def jit(self, operation, begin, end, correlation, size):
        self.record(52, {4: ("I", 1), 8: ("I", operation), 12: ("I", 0),
                         16: ("Q", begin), 24: ("Q", end),
                         32: ("I", correlation), 40: ("Q", 5),
                         48: ("Q", size), 68: ("I", MAIN)})

    def overhead(self, kind, begin, end, correlation, thread=MAIN):
        self.record(17, {4: ("I", kind), 8: ("I", 2), 12: ("I", 77),
                         16: ("I", thread), 24: ("Q", begin), 32: ("Q", end),
                         40: ("I", correlation)})

    def write(self, name):
        here = os.path.dirname(os.path.abspath(__file__))
        fixture.write(os.path.join(here, name + ".fixture"), {
            "api": 130001, "strides": self.strides, "strings": self.strings,
            "buffers": [self.host, self.device], "clock": "monotonic",
            "captured": "generated", "device": "NVIDIA H200",
            "driver": "none"})


SAXPY = "_Z5saxpyIfEvPT_PKS0_S0_i"


def plain():
    make = Maker()
    make.record(8, {16: ("Q", 150 << 30), 28: ("I", 50 << 20),
                    32: ("I", 32), 36: ("I", 1980000), 44: ("I", 132),
                    52: ("I", 64), 56: ("I", 32), 60: ("I", 228 << 10),
                    64: ("I", 65536), 104: ("I", 9),
                    108: ("I", 0), 112: ("I", 0),
                    120: ("16s", bytes(range(0xA0, 0xB0))),
                    136: ("Q", make.string("NVIDIA H200"))})
    make.record(9, {4: ("I", 1), 8: ("I", 0)})
    make.record(37, {4: ("I", 1), 8: ("I", 7), 12: ("I", 0)})
    make.call(5, 20, 1000, 1900, 1, span=1)
    make.memory(1, 0x7F1000, 1 << 20, 1500, 1)
    make.call(5, 31, 2000, 9000, 2, span=1)
    make.copy(1, 1 << 20, 3000, 8000, 2)
    make.call(5, 51, 9100, 9500, 3, span=1)
    make.fill(255, 4096, 9600, 9900, 3)
    for i in range(8):
        begin = 10000 + 2000 * i
        span = 1 + i % 2
        # In half of them, the driver's call is inside the runtime's and shares its id.
        if i % 2:
            make.call(4, 307, begin + 100, begin + 900, 10 + i, span=span)
        make.call(5, 505, begin, begin + 1000, 10 + i, span=span)
        make.kernel(SAXPY if i % 4 else "identity_f16", begin + 1300,
                    begin + 1700, 10 + i, (4 << i, 64, 1), (256, 1, 1),
                    static=1024 * (i == 2), dynamic=2048 * (i >= 2),
                    local=16 * i, cluster=(2, 1, 1) if i == 5 else None)
    # The driver's call has a different id, which the kernel shares.
    make.call(4, 307, 27000, 27500, 31, span=2)
    make.call(5, 211, 26900, 27600, 30, span=2)
    make.kernel("inner", 28000, 28500, 31, (1, 1, 1), (1024, 1, 1), stream=13)
    make.call(5, 131, 30000, 40000, 40, thread=OTHER)
    make.sync(3, 30100, 39900, 40, 7)
    make.sync(2, 30150, 30160, 40, 7)
    make.call(5, 31, 41000, 52000, 41, span=2)
    make.copy(2, 3 << 20, 42000, 51000, 41, flags=1)
    make.call(5, 20, 53000, 53100, 42, span=2, result=2)
    make.call(5, 131, 53200, 53300, 43, result=600)
    make.memory(2, 0x7F1000, 1 << 20, 54000, 44)
    make.call(5, 22, 53900, 54100, 44)
    make.record(36, {4: ("I", 9)})
    make.write("plain")


def graph():
    make = Maker()
    for launch in range(2):
        begin, correlation = 1000 + 20000 * launch, 100 + launch
        make.call(5, 311, begin, begin + 900, correlation, span=1)
        for node in range(3):
            start = begin + 2000 + 1000 * node
            make.kernel("node%d" % node, start, start + 800, correlation,
                        (1 + node, 1, 1), (32, 2, 1), graph=9,
                        node=(9 << 32) + node)
    make.write("graph")


def jit():
    make = Maker()
    make.call(4, 678, 1000, 5000, 50, span=1)
    make.overhead(1, 1500, 4500, 50)
    # Lazy loading: the launch waits for the compiler.
    make.jit(3, 6500, 9000, 60, 5600)
    make.jit(2, 9000, 9100, 60, 5600)
    make.overhead(5 << 16, 6200, 9200, 60)
    make.call(5, 505, 6000, 9900, 60, span=2)
    make.kernel(SAXPY, 10500, 11000, 60, (4, 64, 1), (256, 1, 1))
    make.jit(1, 12000, 12100, 70, 5600)
    make.call(4, 678, 11900, 12200, 70, span=2)
    make.overhead(1 << 16, 13000, 13400, 0, thread=OTHER)
    make.write("jit")


def capture():
    make = Maker()
    make.call(4, 539, 1100, 1200, 1, span=1)
    make.call(5, 315, 1000, 1300, 1, span=1)
    for i in range(3):
        make.call(4, 307, 2100 + 1000 * i, 2500 + 1000 * i, 2 + i, span=1)
        make.call(5, 505, 2000 + 1000 * i, 2600 + 1000 * i, 2 + i, span=1)
    # Any thread may launch into a stream that captures.
    make.call(5, 505, 3100, 3200, 5, thread=OTHER)
    # This one goes to another stream, and runs.
    make.call(5, 505, 4800, 4900, 6, thread=OTHER)
    make.kernel("elsewhere", 5000, 5500, 6, (1, 1, 1), (32, 1, 1), stream=13)
    make.call(4, 497, 6100, 6200, 7, span=1)
    make.call(5, 319, 6000, 6300, 7, span=1)
    make.call(5, 311, 8000, 8500, 8, span=2)
    for node in range(4):
        start = 9000 + 1000 * node
        make.kernel("node%d" % node, start, start + 800, 8, (1, 1, 1),
                    (32, 1, 1), graph=3, node=(3 << 32) + node)
    make.write("capture")


def noise():
    """What an old CUPTI records of a program that nvcc 13 compiled."""
    make = Maker()
    # This one creates the context.
    make.call(5, 16, 1000, 121000, 300, span=1)
    for i in range(200):
        make.call(4, 677 if i % 2 else 626, 2000 + i, 2001 + i, 1 + i)
    begin = 122000
    for i in range(4):
        make.call(5, 16, begin, begin + 100, 310 + 10 * i, span=1)
        make.call(5, 317, begin + 110, begin + 120, 311 + 10 * i, span=1)
        make.call(5, 502, begin + 200, begin + 250, 312 + 10 * i, span=1)
        make.call(5, 503, begin + 300, begin + 350, 313 + 10 * i, span=1)
        make.call(5, 505, begin + 400, begin + 900, 314 + 10 * i, span=1)
        make.call(5, 10, begin + 910, begin + 920, 315 + 10 * i, span=1)
        make.kernel(SAXPY, begin + 1300, begin + 1700, 314 + 10 * i,
                    (4, 64, 1), (256, 1, 1))
        begin += 2000
    make.call(5, 16, begin, begin + 100, 400, span=2, result=101)
    make.write("noise")


def skew():
    """The device's clock is 9 us behind."""
    make = Maker()
    make.call(5, 31, 1000, 11000, 1, span=1)
    make.copy(1, 1 << 20, 5000, 9000, 1)
    for i in range(3):
        begin = 30000 + 1000 * i
        make.call(5, 505, begin, begin + 500, 2 + i, span=1)
        make.kernel(SAXPY, begin - 9000 + 9000 * i, begin - 8500 + 9000 * i,
                    2 + i, (4, 64, 1), (256, 1, 1))
    make.write("skew")


def unnamed():
    """The first kernel has no name."""
    make = Maker()
    for i in range(3):
        begin = 1000 + 2000 * i
        make.call(5, 505, begin, begin + 500, 1 + i, span=1)
        make.kernel(SAXPY if i else None, begin + 1000, begin + 1500, 1 + i,
                    (4, 64, 1), (256, 1, 1))
    make.write("unnamed")


HOST = 0xFFFFFFFF


def details():
    """Events, unified memory, and a stream with a name."""
    make = Maker()
    make.record(11, {4: ("I", 5), 8: ("I", 0), 12: ("I", 1), 16: ("I", 7),
                     24: ("Q", make.string("copies"))})
    make.record(11, {4: ("I", 4), 8: ("I", 0), 12: ("I", 1),
                     24: ("Q", make.string("main"))})
    make.call(5, 135, 1000, 1200, 1, span=1)
    make.event(1500, 1, 20)
    make.call(5, 505, 2000, 2500, 2, span=1)
    make.kernel(SAXPY, 3000, 4000, 2, (4, 64, 1), (256, 1, 1))
    make.call(5, 135, 2600, 2700, 3, span=1)
    make.event(4100, 3, 21)
    # The device did not reach this one.
    make.call(5, 135, 2800, 2900, 4, span=1)
    make.event(0, 4, 22)
    make.unified(1, 65536, 3100, 3900, HOST, 0)
    make.unified(2, 4096, 5000, 5100, 0, HOST)
    make.unified(8, 4096, 5200, 5300, 0, 1)
    make.write("details")


def graph_trace():
    """With kind GRAPH_TRACE, a graph's launch has one record."""
    make = Maker()
    make.strides[51] = 56
    for launch in range(2):
        begin, correlation = 1000 + 20000 * launch, 100 + launch
        make.call(5, 311, begin, begin + 900, correlation, span=1)
        make.record(51, {4: ("I", correlation), 8: ("Q", begin + 2000),
                         16: ("Q", begin + 4800), 24: ("I", 0),
                         28: ("I", 9), 32: ("I", 1), 36: ("I", 7)}, "device")
    make.call(5, 505, 50000, 50500, 102, span=2)
    make.kernel("alone", 51000, 51800, 102, (4, 1, 1), (32, 1, 1))
    make.write("graph_trace")


def two_devices():
    make = Maker()
    for device in range(2):
        make.record(8, {112: ("I", device),
                        136: ("Q", make.string("NVIDIA H200"))})
    for i in range(4):
        begin = 1000 + 2000 * i
        make.call(5, 505, begin, begin + 500, 1 + i, span=1)
        make.kernel(SAXPY, begin + 1000, begin + 1500, 1 + i, (4, 64, 1),
                    (256, 1, 1), device=i % 2)
    make.write("two_devices")


def slow():
    make = Maker()
    make.call(5, 505, 1000, 2000, 1, span=1)
    make.kernel("slow", 20000000, 30000000, 1, (1, 1, 1), (32, 1, 1))
    make.write("slow")


def leak():
    """Device and pinned memory is not released; the rest needs no release."""
    make = Maker()
    make.memory(1, 0x7F1000, 4096, 1000, 0, kind=6)
    make.memory(1, 0x7F2000, 512, 1100, 0, kind=1)
    make.call(5, 20, 2000, 2100, 1, span=1)
    make.memory(1, 0x7F3000, 4 << 20, 2050, 1)
    make.call(5, 20, 3000, 3100, 2, span=1)
    make.memory(1, 0x7F4000, 1 << 20, 3050, 2)
    make.call(5, 20, 4000, 4100, 3)
    make.memory(1, 0x7F5000, 1 << 10, 4050, 3, kind=2)
    make.memory(2, 0x7F4000, 1 << 20, 5050, 4)
    make.call(5, 22, 5000, 5100, 4)
    # The address is allocated again.
    make.call(5, 20, 6000, 6100, 5)
    make.memory(1, 0x7F4000, 2 << 20, 6050, 5)
    make.memory(2, 0x7F4000, 2 << 20, 7050, 6)
    make.call(5, 22, 7000, 7100, 6)
    make.write("leak")


def pool(name, leaks):
    """Stream-ordered allocations, which come from a memory pool."""
    make = Maker()
    for i in range(2):
        begin = 1000 + 2000 * i
        make.call(5, 373, begin, begin + 100, 1 + 2 * i, span=1)
        make.memory(1, 0x7F1000 + (i << 12), 3 << 10, begin + 50, 1 + 2 * i,
                    pool=1)
        if leaks and i:
            continue
        make.call(5, 375, begin + 500, begin + 600, 2 + 2 * i)
        make.memory(2, 0x7F1000 + (i << 12), 3 << 10, begin + 550, 2 + 2 * i,
                    pool=1)
    make.write(name)


def reset(name, result):
    make = Maker()
    make.call(5, 20, 1000, 1100, 1, span=1)
    make.memory(1, 0x7F1000, 4 << 20, 1050, 1)
    make.call(5, 164, 2000, 3000, 2, result=result)
    make.write(name)


if __name__ == "__main__":
    plain()
    graph()
    jit()
    capture()
    noise()
    skew()
    unnamed()
    details()
    graph_trace()
    two_devices()
    slow()
    leak()
    pool("pool", False)
    pool("pool_leak", True)
    reset("reset", 0)
    reset("reset_failed", 46)
