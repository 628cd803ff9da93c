"""The format of a fixture: CUPTI's buffers, as playback.c and oracle.py read them.

All numbers are little-endian. A fixture has a header, the lengths of records by
kind, the buffers in the order they were completed, the strings that records
point to by their old addresses, and the pool of these strings.
"""
import struct

MAGIC = b"gpu playback 1\0\0"
HEADER = "<16s8I16s32s64s32s"


def text(value, size):
    return value.encode()[: size - 1].ljust(size, b"\0")


def write(path, fixture):
    pool, strings = b"", []
    for address, string in sorted(fixture["strings"].items()):
        strings.append((address, len(pool)))
        pool += string.encode() + b"\0"
    with open(path, "wb") as out:
        out.write(struct.pack(
            HEADER, MAGIC, 0x01020304, 8, fixture["api"],
            len(fixture["strides"]), len(fixture["buffers"]), len(strings),
            len(pool), 0, text(fixture["clock"], 16),
            text(fixture["captured"], 32), text(fixture["device"], 64),
            text(fixture["driver"], 32)))
        for kind, size in sorted(fixture["strides"].items()):
            out.write(struct.pack("<II", kind, size))
        for number, data in enumerate(fixture["buffers"]):
            out.write(struct.pack("<IIQ", number, 0, len(data)) + data)
        for address, offset in strings:
            out.write(struct.pack("<QII", address, offset, 0))
        out.write(pool)


def read(path):
    data = open(path, "rb").read()
    header = struct.unpack_from(HEADER, data)
    if header[0] != MAGIC or header[1] != 0x01020304 or header[2] != 8:
        raise ValueError(path + " is no fixture")
    at = struct.calcsize(HEADER)
    strides, buffers, strings = {}, [], {}
    for _ in range(header[4]):
        kind, size = struct.unpack_from("<II", data, at)
        strides[kind] = size
        at += 8
    for _ in range(header[5]):
        valid = struct.unpack_from("<Q", data, at + 8)[0]
        buffers.append(data[at + 16 : at + 16 + valid])
        at += 16 + valid
    pool = data[at + 16 * header[6] :]
    for i in range(header[6]):
        address, offset = struct.unpack_from("<QI", data, at + 16 * i)
        strings[address] = pool[offset : pool.index(b"\0", offset)].decode()
    return {"api": header[3], "strides": strides, "buffers": buffers,
            "strings": strings, "device": header[11].rstrip(b"\0").decode()}
