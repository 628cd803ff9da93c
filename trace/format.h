/* format.h: the recording's format. Private to trace/.
 *
 * A recording is a header of 4,096 bytes followed by chunks of 64 KiB. The
 * process, its forked children and readers map and share the file; numbers are
 * in the machine's byte order. Addresses inside the file are "places": offsets
 * from its start in slots of 32 bytes.
 *
 * A thread takes a whole chunk, or some of the 16 pieces of 4 KiB of a chunk
 * that it shares with other threads. Each such range begins with a THREAD
 * record, whose `site` is the place of the thread's first one: ids are used
 * again. In older recordings it is 0. When a thread ends, it leaves a hole over
 * the rest of its range; the next owner of the rest writes a THREAD record
 * there. Records follow each other without gaps up to the end of the piece or
 * to where writing stopped; the next THREAD record may then be at the next
 * piece. A record that needs more than a chunk takes several in a row; the rest
 * of the last one is used normally.
 *
 * A record is one slot, followed by its values. `slots` is stored before the
 * values and `time` last. A record with time 0 was never finished and can be
 * skipped; slots 0 marks where writing stopped. Time stamps of a thread
 * strictly increase.
 *
 * A thread records calls of functions in ranges of their own, so that one range
 * is in order. A CALLS record takes what is left of the range; behind its first
 * slot it has struct trace_call_entry, in the order of their starts. If the
 * record ends early, its `slots` is reduced before the next one is written.
 *
 * Samples are appended by the runner after the process has ended, in chunks of
 * the calls' limit and in ranges of their own. IMAGE and STACK records have no
 * time of their own: it is 1.
 *
 * A file may have several recordings, its parts, one behind the other; each
 * begins at a page. Once the process has ended, short parts are compact: of the
 * header only the first 512 bytes are there, the losses of all counters are in
 * `losses`, and `used` is where the records would end. A compact part begins at
 * a multiple of 64 bytes.
 *
 * A back end may give its driver's library a buffer in the recording: a RAW
 * record, which lies in a range of its own, with a struct trace_raw and the
 * library's own records behind it. It is committed before the library has it;
 * at its completion its `slots` is reduced, and then `end` is set. Readers
 * derive records from these, with the help of RAW_NOTE records. When the
 * recording is settled, the derived records are appended, and the library's are
 * removed.
 *
 * A value is a word (type in the low 32 bits, size in the high 32) and its
 * data, padded to 8 bytes. Texts are followed by a NUL, which the size does not
 * include.
 */
#ifndef TRACE_FORMAT_H
#define TRACE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recording.h"

enum {
    /* Version 1 did not share chunks, version 2 counted all losses in `lost`,
     * version 3 had no calls, version 4 no TRACE_TYPE_NAME. A recording has
     * the version behind these while readers must derive records. */
    TRACE_FORMAT_VERSION = 5,
    TRACE_FORMAT_RAW = 6,
    TRACE_HEADER_SIZE = 4096,
    TRACE_CHUNK_SIZE = 64 * 1024,
    TRACE_PIECE_SIZE = 4096,
    TRACE_SLOT_SIZE = 32,
    TRACE_FIRST_PLACE = TRACE_HEADER_SIZE / TRACE_SLOT_SIZE,
    TRACE_CHUNK_SLOTS = TRACE_CHUNK_SIZE / TRACE_SLOT_SIZE,
    TRACE_PIECE_SLOTS = TRACE_PIECE_SIZE / TRACE_SLOT_SIZE,
    TRACE_CHUNK_PIECES = TRACE_CHUNK_SIZE / TRACE_PIECE_SIZE,
    TRACE_COUNTERS = 56,
    TRACE_SHORT_HEADER = 512, /* the header without counters */
};

#define TRACE_MAGIC UINT64_C(0x0a676f6c74736574) /* "testlog\n" */

/* The unit of ticks. */
enum trace_clock {
    TRACE_CLOCK_MONOTONIC, /* ns of CLOCK_MONOTONIC */
    TRACE_CLOCK_COUNTER,   /* the processor's invariant counter */
};

/* Records that one thread at a time has lost, by enum trace_loss: a cache line,
 * so that threads which lose many do not wait for each other. */
struct trace_losses {
    uint64_t lost[8];
};

struct trace_header {
    uint64_t magic;
    uint32_t version;
    uint32_t header_size;
    uint32_t chunk_size;
    uint32_t clock;             /* enum trace_clock */
    uint32_t pid;               /* of the recorded process */
    uint32_t ended;             /* 1: closed normally */
    uint64_t limit;             /* the limit on chunks, with those of calls */
    struct trace_anchor origin; /* time zero of the run */
    struct trace_anchor start;
    struct trace_anchor end; /* ticks 0: not closed */
    /* Shared by all writers: */
    uint64_t chunks;      /* chunks handed out */
    uint64_t reserved;    /* chunks with space reserved on disk */
    uint64_t dropped;     /* records lost, in version 1 */
    uint64_t spare_slots; /* slots used of the last chunk, which is reserved */
    uint32_t spare;       /* for errors: its number + 1 once space is short */
    uint32_t sites;       /* call site ids handed out */
    int32_t error;        /* errno of the first failed reservation */
    uint32_t reached;     /* 1: the limit was reached */
    uint64_t used;        /* bytes once the file was truncated; 0: it was not */
    uint32_t disabled;    /* 1: recording was disabled for a while */
    uint32_t compact;     /* 1: a part whose records follow its short header */
    uint64_t
        shared; /* the next free piece; the first of a chunk: none is free */
    struct trace_losses losses; /* of threads without counters of their own */
    uint32_t watched;     /* 1: other processes leave their crashes here */
    uint32_t stacks;      /* atomic: stacks that they may still leave */
    uint32_t crashes;     /* atomic: of other processes than the recorded one */
    uint64_t counting;    /* atomic, bits: which counters a thread has */
    uint64_t calls_limit; /* chunks that only calls may take */
    uint64_t calls_chunks; /* atomic: chunks that they have taken */
    uint64_t calls_shared; /* as `shared`, of these */
    uint64_t calls_lost;   /* atomic: calls without a record */
    uint64_t
        calls_counts;   /* atomic: place of the CALL_COUNTS record; 0-2: none */
    uint64_t raw;       /* atomic: bytes that RAW records have had */
    uint64_t settled;   /* the first chunk of records derived from these */
    uint64_t zeros[23]; /* for later versions */
    struct trace_losses counters[TRACE_COUNTERS];
};

/* trace_is_written returns whether this testlog writes recordings of a version.
 */
static inline bool trace_is_written(uint32_t version)
{
    return version == TRACE_FORMAT_VERSION || version == TRACE_FORMAT_RAW;
}

/* trace_chunks_end returns where the chunks end that were handed out, in bytes
 * from the beginning of the file. */
static inline uint64_t trace_chunks_end(const struct trace_header *header)
{
    uint64_t chunks = __atomic_load_n(&header->chunks, __ATOMIC_SEQ_CST);
    uint64_t spare = __atomic_load_n(&header->spare, __ATOMIC_RELAXED);

    chunks = chunks < header->limit ? chunks : header->limit;
    chunks = chunks < spare ? spare : chunks;
    return TRACE_HEADER_SIZE + chunks * TRACE_CHUNK_SIZE;
}

/* X(NAME, number, meaning of `end`, meaning of `span`, values); a new kind also
 * needs a case in `describe` (entry.c). Readers skip kinds that they do not
 * know. */
#define TRACE_KINDS(X)                                                         \
    X(THREAD, 1, "pid << 32 | tid", "span it was forked in",                   \
      "name, then the places of spans inherited by a fork")                    \
    X(SITE, 2, "line << 32 | fields << 16 | kind << 8 | level", "-",           \
      "name, target, file, function, names of fields")                         \
    X(META, 3, "enum trace_phase that begins, 0 = none", "-",                  \
      "pairs of name and value")                                               \
    X(SPAN, 4, "ticks of its first exit, 0 = open", "parent", "fields")        \
    X(ENTER, 5, "ticks of its exit, 0 = inside", "span entered", "-")          \
    X(CLOSE, 6, "-", "span that closed later than its last exit", "-")         \
    X(FIELDS, 7, "-", "span they belong to", "fields recorded late")           \
    X(EVENT, 8, "-", "span it happened in", "fields or printf's arguments")    \
    X(COUNTER, 9, "-", "span it was set in", "its value")                      \
    X(SIGNPOST, 10, "-", "span it was set in", "header and message")           \
    X(DEVICE, 11, "ticks of its end", "span that set it off",                  \
      "a struct trace_activity_place, fields of its launch, fields")           \
    X(CRASH, 12, "-", "-", "a struct trace_crash, a stack, mappings")          \
    X(MODULE, 13, "-", "-",                                                    \
      "path, build-id or stamp, its lowest address, its size, what was "       \
      "added to the "                                                          \
      "addresses in its file")                                                 \
    X(CALLS, 14, "-", "-", "no values: struct trace_call_entry")               \
    X(CALL_END, 15, "ticks of its start",                                      \
      "number of a call that was too "                                         \
      "long for its entry",                                                    \
      "-")                                                                     \
    X(CALL_COUNTS, 16, "-", "-", "no values: struct trace_call_count")         \
    X(IMAGE, 17, "-", "-", "a file with code: path, build-id or stamp")        \
    X(STACK, 18, "-", "number of frames",                                      \
      "no values: struct trace_stack_frame, that of the innermost function "   \
      "first")                                                                 \
    X(SAMPLES, 19, "-", "number of samples",                                   \
      "no values: struct trace_sample_entry")                                  \
    X(RAW, 20, "ticks of its completion, 0 = incomplete", "-",                 \
      "no values: struct trace_raw, a library's records")                      \
    X(RAW_NOTE, 21, "-", "what it tells: a number of the back end's",          \
      "key, bytes")

enum trace_kind {
#define TRACE_X(name, number, end, span, values) TRACE_KIND_##name = number,
    TRACE_KINDS(TRACE_X)
#undef TRACE_X
};

enum trace_flag {
    TRACE_FLAG_NOT_ENTERED = 1, /* SPAN: created without being entered */
    TRACE_FLAG_PRINTF = 2,      /* EVENT: values are arguments of its name */
    TRACE_FLAG_MESSAGE = 4,     /* EVENT: the first value is the message */
    TRACE_FLAG_FORKED = 8,      /* THREAD: of a forked child */
    TRACE_FLAG_BESIDE = 16,     /* SPAN: no thread is in it */
    TRACE_FLAG_CALLS = 32,      /* THREAD: its range has calls */
};

/* A call of a function. It has no address before it is complete. */
struct trace_call_entry {
    uint32_t start;    /* ticks since the time of the CALLS record */
    uint32_t duration; /* ticks; 0: open; the most: a CALL_END has its end */
    uint64_t function; /* its address, and flags above it */
};

enum { TRACE_CALL_ADDRESS_BITS = 48 };
#define TRACE_CALL_ADDRESS ((UINT64_C(1) << TRACE_CALL_ADDRESS_BITS) - 1)

/* Flags of a call: it is the rest of one that a coroutine had suspended; it is
 * none, but a block of lines, and the address is where the block begins; it was
 * left before its end, by a jump, an exception or the end of its thread. */
#define TRACE_CALL_RESUMED (UINT64_C(1) << 48)
#define TRACE_CALL_LINE    (UINT64_C(1) << 49)
#define TRACE_CALL_CUT     (UINT64_C(1) << 50)

/* How many calls of a function had no space. */
struct trace_call_count {
    uint64_t function; /* its address, and TRACE_CALL_LINE; 0: free */
    uint64_t count;
};

/* Where a thread was at a moment. */
struct trace_sample_entry {
    uint64_t time;   /* ticks */
    uint32_t stack;  /* place of the record */
    uint32_t weight; /* ns of processor time that it stands for */
};

/* The number of a call: the highest bit, so that it is no place, and where it
 * is, in units of its size. Readers call this bit TRACE_CALL_ID. */
#define TRACE_CALL_NUMBER (UINT32_C(1) << 31)
#define TRACE_CALL_CHUNKS_MOST                                                 \
    ((TRACE_CALL_NUMBER / 2 - TRACE_FIRST_PLACE) / TRACE_CHUNK_SLOTS)

struct trace_record {
    uint64_t time; /* ticks, stored last; 0 = not finished */
    uint64_t end;
    uint32_t site; /* id of the call site */
    uint32_t span;
    uint8_t kind;   /* enum trace_kind */
    uint8_t flags;  /* enum trace_flag */
    uint16_t count; /* number of values */
    uint32_t slots; /* this one and those of the values */
};

/* trace_site_facts returns the `end` of a call site's record;
 * trace_site_values puts its values, 4 and one for each field, and returns how
 * many these are. */
static inline uint64_t trace_site_facts(const struct trace_site *site)
{
    return (uint64_t)site->line << 32 | (uint64_t)site->level |
           (uint64_t)site->kind << 8 | (uint64_t)site->field_count << 16;
}

static inline size_t trace_site_values(const struct trace_site *site,
                                       struct trace_value *values)
{
    values[0] = trace_text_(site->name ? site->name : "");
    values[1] = trace_text_(site->target);
    values[2] = trace_text_(site->file);
    values[3] = trace_text_(site->function ? site->function : "");
    for (size_t i = 0; i < site->field_count; i++)
        values[4 + i] = trace_text_(site->fields[i]);
    return 4 + site->field_count;
}

_Static_assert(sizeof(struct trace_record) == TRACE_SLOT_SIZE, "one slot");
_Static_assert(2 * sizeof(struct trace_call_entry) == TRACE_SLOT_SIZE,
               "half a slot");
_Static_assert(offsetof(struct trace_header, counters) == TRACE_SHORT_HEADER,
               "whole lines");
_Static_assert(sizeof(struct trace_header) == TRACE_HEADER_SIZE, "one page");

#endif
