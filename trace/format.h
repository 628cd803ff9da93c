/* format.h: the recording, byte by byte. Private to trace/.
 *
 * A recording is a header of 4,096 bytes and then chunks of 64 KiB. The file is
 * mapped and shared by the process, its forked children and whoever reads it;
 * every number is of the machine's own byte order. Addresses inside are
 * "places": offsets from the start of the file in slots of 32 bytes.
 *
 * A thread takes a whole chunk, or some of the 16 pieces of 4 KiB of a chunk
 * that it shares with others. What it takes begins with a THREAD record. A
 * thread that ends leaves a hole over the rest, and the next owner of the rest
 * puts a THREAD record of its own there. Records follow each other without gaps
 * up to the end of the piece or to where writing stopped; the next THREAD
 * record may then be at the next piece. A record that needs more than a chunk
 * takes several in a row, and what is left of the last one is used on.
 *
 * A record is one slot and, behind it, the values it carries. `slots` is stored
 * before the values and `time` last, so a record that was never finished is
 * known by time 0 and can be stepped over; slots 0 is where writing stopped.
 * Time stamps of one thread strictly increase.
 *
 * A value is a word (type in the low 32 bits, bytes in the high 32) and its
 * data, padded to 8 bytes; texts have a NUL behind them that is not counted.
 */
#ifndef TRACE_FORMAT_H
#define TRACE_FORMAT_H

#include <stdint.h>

#include <testlog/trace.h>

enum {
    TRACE_FORMAT_VERSION = 2, /* in 1, no chunk was shared */
    TRACE_HEADER_SIZE = 4096,
    TRACE_CHUNK_SIZE = 64 * 1024,
    TRACE_PIECE_SIZE = 4096,
    TRACE_SLOT_SIZE = 32,
    TRACE_FIRST_PLACE = TRACE_HEADER_SIZE / TRACE_SLOT_SIZE,
    TRACE_CHUNK_SLOTS = TRACE_CHUNK_SIZE / TRACE_SLOT_SIZE,
    TRACE_PIECE_SLOTS = TRACE_PIECE_SIZE / TRACE_SLOT_SIZE,
    TRACE_CHUNK_PIECES = TRACE_CHUNK_SIZE / TRACE_PIECE_SIZE,
};

#define TRACE_MAGIC UINT64_C(0x0a676f6c74736574) /* "testlog\n" */

/* What `ticks` count. */
enum trace_clock {
    TRACE_CLOCK_MONOTONIC, /* ns of CLOCK_MONOTONIC */
    TRACE_CLOCK_COUNTER,   /* the processor's invariant counter */
};

struct trace_header {
    uint64_t magic;
    uint32_t version;
    uint32_t header_size;
    uint32_t chunk_size;
    uint32_t clock;             /* enum trace_clock */
    uint32_t pid;               /* of the process that made it */
    uint32_t ended;             /* 1: closed in order */
    uint64_t limit;             /* chunks that the file may have */
    struct trace_anchor origin; /* time zero of the run */
    struct trace_anchor start;
    struct trace_anchor end; /* ticks 0: not closed */
    /* Shared by all who write: */
    uint64_t chunks;      /* handed out */
    uint64_t reserved;    /* chunks that have room on the disk */
    uint64_t dropped;     /* records that were lost, in version 1 */
    uint64_t spare_slots; /* used of the last reserved chunk, which is kept */
    uint32_t spare;       /* for errors: its number + 1 once room is short */
    uint32_t sites;       /* ids given out */
    int32_t error;        /* errno of the first failed reservation */
    uint32_t reached;     /* 1: the limit was reached */
    uint64_t used;        /* bytes once the file was cut; 0: it was not */
    uint32_t disabled;    /* 1: for a while nothing was recorded on purpose */
    uint32_t unused;
    uint64_t
        shared; /* the next free piece; the first of a chunk: none is free */
    uint64_t lost[8]; /* records, by enum trace_loss */
};

/* X(NAME, number, meaning of `end`, meaning of `span`, values) */
#define TRACE_KINDS(X)                                                         \
    X(THREAD, 1, "pid << 32 | tid", "span it was forked in",                   \
      "name, then the places of spans inherited by a fork")                    \
    X(SITE, 2, "line << 32 | fields << 16 | kind << 8 | level", "-",           \
      "name, target, file, function, names of fields")                         \
    X(META, 3, "-", "-", "pairs of name and value")                            \
    X(SPAN, 4, "ticks of its first exit, 0 = open", "parent", "fields")        \
    X(ENTER, 5, "ticks of its exit, 0 = inside", "span entered", "-")          \
    X(CLOSE, 6, "-", "span that closed later than its last exit", "-")         \
    X(FIELDS, 7, "-", "span they belong to", "fields recorded late")           \
    X(EVENT, 8, "-", "span it happened in", "fields or printf's arguments")    \
    X(COUNTER, 9, "-", "span it was set in", "its value")                      \
    X(SIGNPOST, 10, "-", "span it was set in", "header and message")           \
    X(DEVICE, 11, "ticks of its end", "span that set it off",                  \
      "a struct trace_activity_place, fields of its launch, fields")

enum trace_kind {
#define TRACE_X(name, number, end, span, values) TRACE_KIND_##name = number,
    TRACE_KINDS(TRACE_X)
#undef TRACE_X
};

enum trace_flag {
    TRACE_FLAG_NOT_ENTERED = 1, /* SPAN: made without entering */
    TRACE_FLAG_PRINTF = 2,      /* EVENT: values are the site's name's */
    TRACE_FLAG_MESSAGE = 4,     /* EVENT: the first value is the message */
    TRACE_FLAG_FORKED = 8,      /* THREAD: of a forked child */
};

struct trace_record {
    uint64_t time; /* ticks, stored last; 0 = not finished */
    uint64_t end;
    uint32_t site; /* id of the call site */
    uint32_t span;
    uint8_t kind;   /* enum trace_kind */
    uint8_t flags;  /* enum trace_flag */
    uint16_t count; /* values */
    uint32_t slots; /* this one and those of the values */
};

_Static_assert(sizeof(struct trace_record) == TRACE_SLOT_SIZE, "one slot");
_Static_assert(sizeof(struct trace_header) <= TRACE_HEADER_SIZE, "one page");

#endif
