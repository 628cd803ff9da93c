/* reader.h: reads recordings. Private to the project. The conventions are those
 * of trace.h. */
#ifndef TRACE_READER_H
#define TRACE_READER_H

#include <locale.h>
#include <string.h>

#include "trace/base/containers.h"
#include "trace/base/strings.h"
#include "trace/base/values.h"
#include "trace/device.h"
#include "trace/recording.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Reading a recording ---- */

enum trace_entry_kind {
    TRACE_ENTRY_SPAN,   /* a span is created; `entered` if it is entered, too */
    TRACE_ENTRY_ENTER,  /* a span is entered again */
    TRACE_ENTRY_EXIT,   /* an enter of `span` ends */
    TRACE_ENTRY_CLOSE,  /* a span closes later than its last exit */
    TRACE_ENTRY_FIELDS, /* values recorded late for `span` */
    TRACE_ENTRY_EVENT,
    TRACE_ENTRY_DEVICE,   /* an activity of a device or its driver */
    TRACE_ENTRY_COUNTERS, /* values of a device's counters over a time */
    TRACE_ENTRY_SUM,      /* short spans, see trace_reader_sum_spans */
};

/* The `id` of a call of a function has this bit; that of another span has it
 * not. */
#define TRACE_CALL_ID (UINT32_C(1) << 31)

/* A thread of a recording. */
struct trace_thread {
    uint32_t pid, tid;
    uint32_t start;   /* place of its first record; 0: unknown */
    uint32_t earlier; /* the index + 1 of one with the same ids; 0: none */
    uint32_t span;    /* its process was forked in; 0 = none */
    const char *name; /* "" if unnamed */
};

/* trace_thread_key returns a key of a thread, which no other one of the
 * recording has. */
uint64_t trace_thread_key(const struct trace_thread *);

/* An entry of a recording. Its pointers are valid until the reader is closed.
 */
struct trace_entry {
    enum trace_entry_kind kind;
    bool entered;  /* SPAN: on creation */
    bool beside;   /* SPAN: no thread is in it; it is drawn beside its thread */
    bool resumed;  /* SPAN: the rest of a call that a coroutine had suspended */
    bool cut;      /* SPAN: a call that was left before its end, see format.h */
    bool printf_;  /* EVENT: the values are arguments of site->name */
    bool message;  /* EVENT: the values are its message */
    uint64_t time; /* ns since the recording's origin */
    uint64_t end;  /* of what lasts: ns; UINT64_MAX = still open */
    uint64_t count; /* SUM: of spans */
    uint32_t place; /* of its record; EXIT: of the one that entered */
    uint32_t id;    /* SPAN, DEVICE: its place; or the number of a call */
    uint32_t span;  /* the enclosing span; SPAN: its parent; 0 = none */
    const struct trace_site *site; /* never NULL */
    const struct trace_thread *thread;
    const char *name;               /* of its record's call site */
    const unsigned char *values;    /* for trace_values_next */
    size_t values_size;             /* bytes */
    struct trace_activity_place at; /* DEVICE, COUNTERS */
    const unsigned char *launch; /* DEVICE: of trace_launch_fields, or NULL */
};

/* Why records were lost; X(NAME, word in run.json, text after "lost"). */
#define TRACE_LOSSES(X)                                                        \
    X(LIMIT, "limit", "after TRACE_LIMIT was reached")                         \
    X(FILE_SIZE, "file_size",                                                  \
      "after the file size limit (ulimit -f) was reached")                     \
    X(MEMORY, "memory", "for lack of memory")                                  \
    X(DISK, "disk", "because the file could not grow")                         \
    X(NESTED, "nested", "in signal handlers that interrupted recording")       \
    X(END, "end", "after the test had ended")                                  \
    X(SANDBOX, "sandbox", "in a seccomp sandbox")

enum trace_loss {
#define TRACE_X(name, word, text) TRACE_LOSS_##name,
    TRACE_LOSSES(TRACE_X)
#undef TRACE_X
        TRACE_LOSS_COUNT
};

/* The summary in a recording's header. */
struct trace_summary {
    uint32_t pid;
    bool ended;       /* closed normally */
    uint64_t begin;   /* ns: when it was opened */
    uint64_t end;     /* ns: the last known moment */
    uint64_t size;    /* bytes of records */
    uint64_t dropped; /* records lost, and why: */
    uint64_t lost[TRACE_LOSS_COUNT];
    int error; /* errno of the first failed reservation, or 0 */
    bool limit_reached;
    bool refused;  /* nothing could be recorded, because of `error` */
    bool disabled; /* trace_disable was in effect for a while */
    struct trace_anchor origin, opened,
        closed; /* closed: ticks 0 = it was not */
};

/* trace_reader_open opens the recording at `path`, trace_reader_open_mapped one
 * that is mapped and stays so. trace_reader_close frees it. "path#8192" is the
 * part of a file that begins at that byte, unless there is a file of that name.
 * Any file is safe to read. Returns NULL with errno; EINVAL if the file is not
 * a recording. */
struct trace_reader *trace_reader_open(const char *path);
struct trace_reader *trace_reader_open_mapped(const void *base, size_t size);

/* trace_reader_beneath opens one in a folder, as trace_beneath does. */
struct trace_reader *trace_reader_beneath(int folder, const char *name);
void trace_reader_close(struct trace_reader *);

/* trace_reader_follow opens a recording that processes may still write to; it
 * is not written to. It has no entries before trace_reader_look, which finds
 * those that were recorded since the last time, and makes trace_reader_next
 * return the ones up to `until` (ns since the recording's origin) that it has
 * not returned yet. A moment ago is a good value, because threads may still
 * write what they began before now. One that is found late, as a device's are,
 * is returned late. What entries point to is valid until the next look, and the
 * summary is as of the last one. trace_reader_look returns 1 if there were new
 * records, 0 if not, and -1 with errno; trace_reader_follow returns NULL with
 * errno. Such a reader cannot be rewound.
 *
 * trace_reader_skip_spans leaves only events and devices' activities; it must
 * come before the first look. trace_reader_sum_spans limits the entries of
 * spans: if there are more than `most` a second, those that are short become a
 * TRACE_ENTRY_SUM with their neighbors on a thread, which has the call site of
 * the first one. */
struct trace_reader *trace_reader_follow(const char *path);
struct trace_reader *trace_reader_follow_beneath(int folder, const char *name);
int trace_reader_look(struct trace_reader *, uint64_t until);
void trace_reader_skip_spans(struct trace_reader *);
void trace_reader_sum_spans(struct trace_reader *, uint64_t most);

/* trace_reader_summary adds up the counters of all threads. trace_reader_origin
 * returns only its `origin`, for callers that need it for each line. */
struct trace_summary trace_reader_summary(const struct trace_reader *);
struct trace_anchor trace_reader_origin(const struct trace_reader *);

/* trace_reader_rebase makes times count from another moment, which is `before`
 * ns before the recording's own time zero and has the wall clock's time `wall`,
 * also as its monotonic time: recordings of several machines get one clock. */
void trace_reader_rebase(struct trace_reader *, uint64_t wall, uint64_t before);

/* trace_reader_thread returns a thread by its number from 0 on, NULL after the
 * last. */
const struct trace_thread *trace_reader_thread(const struct trace_reader *,
                                               size_t);

/* trace_reader_has_devices returns whether a recording has activities of
 * devices. */
bool trace_reader_has_devices(const struct trace_reader *);

/* trace_reader_losses adds how many records were lost, and why; false if none
 * were. */
bool trace_reader_losses(struct trace_text *, const struct trace_reader *);

/* trace_reader_all_losses adds calls of functions to these, which nobody else
 * misses. */
bool trace_reader_all_losses(struct trace_text *, const struct trace_reader *);

/* trace_seal sets the end of a recording whose process has died without setting
 * it. Spans that were open end there. */
int trace_seal(const char *path);
int trace_seal_beneath(int folder, const char *name);

/* trace_is_raw returns whether a file is a recording in which a driver's
 * library has written records. trace_reader_settle makes it one that any
 * testlog can read, once it has ended: what the reader has derived from these
 * records becomes part of the file, and they are freed. The reader can still be
 * used. -1 with errno: all stays as it is. trace_reader_is_raw returns whether
 * there is anything to settle. */
bool trace_is_raw(int fd);
int trace_reader_settle(const struct trace_reader *, int fd);
bool trace_reader_is_raw(const struct trace_reader *);

/* trace_shrink truncates a recording to its used size once its process has died
 * or closed it. Within the last chunk it truncates only if nobody can write
 * there any more; surviving children get no more space. */
int trace_shrink(const char *path);
int trace_shrink_beneath(int folder, const char *name);

/* trace_reader_meta returns the last value of a pair of metadata called `name`,
 * given to trace_open or noted later; NULL if there is none. trace_reader_metas
 * visits all pairs: start with a cursor of 0. */
const char *trace_reader_meta(const struct trace_reader *, const char *name);
bool trace_reader_metas(const struct trace_reader *, size_t *cursor,
                        const char **name, const char **value);

/* When the phases of a test began, and when its teardown ended: ns since the
 * recording's time zero; 0 = it did not, or is not known. */
struct trace_phases {
    uint64_t setup, body, teardown, end;
};

struct trace_phases trace_reader_phases(const struct trace_reader *);

/* trace_reader_began returns when a test's body began; without phases, when the
 * recording was opened. */
uint64_t trace_reader_began(const struct trace_reader *);

/* What the runner notes of a test. */
struct trace_noted {
    uint64_t began;    /* ns since the recording's time zero, + 1; 0: unknown */
    uint64_t duration; /* ns */
};

/* trace_reader_zero returns the moment from which a test's times count: when
 * its body began, or its setup, if that never ended. Without phases, it is
 * estimated from the records and from what the runner noted; the reader is then
 * rewound. */
uint64_t trace_reader_zero(struct trace_reader *, struct trace_noted);

/* trace_reader_next reads the next entry in order of time across all threads;
 * false at the end. trace_reader_rewind starts again. */
bool trace_reader_next(struct trace_reader *, struct trace_entry *);
int trace_reader_rewind(struct trace_reader *);

/* trace_reader_span reads the span at `place` with the fields of its creation;
 * false if there is none. */
bool trace_reader_span(const struct trace_reader *, uint32_t place,
                       struct trace_entry *);

/* A field with its current value. */
struct trace_field {
    const char *name;
    struct trace_value value;
};

enum { TRACE_FIELDS_MAX = 64 };

/* trace_reader_fields collects the fields of a span as of `time`, up to
 * TRACE_FIELDS_MAX, and returns their number. */
size_t trace_reader_fields(const struct trace_reader *,
                           const struct trace_entry *span, uint64_t time,
                           struct trace_field *fields);

/* trace_reader_late visits the late fields of a span up to `time`, in order:
 * start with a cursor of 0. */
bool trace_reader_late(const struct trace_reader *, uint32_t place,
                       uint64_t time, size_t *cursor, struct trace_entry *);

/* trace_reader_later counts the closes of a span and its enters after creation.
 * Live, it returns 0: they are still to come. */
size_t trace_reader_later(const struct trace_reader *, uint32_t);

/* trace_reader_site returns the call site with an id, NULL if there is none.
 * Ids start at 1. */
const struct trace_site *trace_reader_site(const struct trace_reader *,
                                           uint32_t id);

/* trace_values_of returns the values of an entry, for trace_values_next. */
struct trace_values trace_values_of(const struct trace_entry *);

/* trace_entry_field finds a field's value, not among those of a launch; false
 * without it. trace_entry_duration returns ns, 0 if the entry has not ended. */
bool trace_entry_field(const struct trace_entry *, const char *name,
                       struct trace_value *);
uint64_t trace_entry_duration(const struct trace_entry *);

/* trace_between returns the time between two moments, 0 if the second is
 * earlier. That can happen between threads, or with a clock that stepped back.
 */
static inline uint64_t trace_between(uint64_t from, uint64_t to)
{
    return to > from ? to - from : 0;
}

/* ---- Functions ---- */

/* A program or shared object, as a recording names it. */
struct trace_module_file {
    const char *path;
    const unsigned char *build_id;
    size_t build_id_size;
};

/* A function. The texts stay valid. */
struct trace_function_name {
    const char *name; /* NULL: unknown */
    const char *file; /* NULL: unknown */
    uint32_t line;
    uint32_t last_line; /* of a block of lines; 0: it has one */
    const char *begins; /* of a place: the file where its function begins;
                           `file` may be that of inlined code */
};

/* Where a register of the caller is. */
struct trace_saved {
    enum trace_saved_how {
        TRACE_SAVED_NOWHERE,  /* there is no caller, or its value is gone */
        TRACE_SAVED_SAME,     /* in the register */
        TRACE_SAVED_ON_STACK, /* at `offset` from the frame's address */
    } how;
    int64_t offset;
};

/* How to find the caller of code at a place. The frame's address, which DWARF
 * calls CFA, is at `offset` from the stack pointer, or from the frame pointer;
 * or, if it is indirect, in memory there. */
struct trace_frame_rules {
    bool by_frame, indirect;
    int64_t offset;
    struct trace_saved back;  /* the return address */
    struct trace_saved frame; /* the frame pointer */
};

/* Names functions. `address` counts as in the module's file. */
struct trace_resolver {
    bool (*function)(const struct trace_module_file *, uint64_t address,
                     struct trace_function_name *);
    /* The function and the line of the block of lines at an address. */
    bool (*line)(const struct trace_module_file *, uint64_t address,
                 struct trace_function_name *);
    /* The function that has a place in the file, in bytes; the line is that of
     * the place. */
    bool (*place)(const struct trace_module_file *, uint64_t place,
                  struct trace_function_name *);
    /* How to find the caller of a place in the file; NULL: false if unknown. */
    const struct trace_frame_rules *(*rules)(const struct trace_module_file *,
                                             uint64_t place);
};

/* trace_resolve_rules asks the resolver for the rules of a place. */
const struct trace_frame_rules *trace_resolve_rules(
    const struct trace_module_file *, uint64_t place);

/* trace_resolve_with sets the resolver of all readers; without one, a function
 * is called after its module and its offset there. */
void trace_resolve_with(const struct trace_resolver *);

/* trace_reader_line tells where in a module's file the block of lines is that a
 * call site stands for; false if it stands for none, or its module is not
 * known. The texts stay valid until the reader is closed. */
bool trace_reader_line(const struct trace_reader *, const struct trace_site *,
                       struct trace_module_file *, uint64_t *address);

/* trace_reader_has_calls returns whether calls of functions or lines were
 * recorded. */
bool trace_reader_has_calls(const struct trace_reader *);

/* trace_reader_calls_lost returns how many calls were not recorded, for lack of
 * space. trace_reader_call_counts visits those by function: start with a cursor
 * of 0. */
uint64_t trace_reader_calls_lost(const struct trace_reader *);
bool trace_reader_call_counts(const struct trace_reader *, size_t *cursor,
                              const struct trace_site **, uint64_t *count);

/* trace_is_apart returns whether a sample of counters does not follow one that
 * ended at a time. Between those that do there may be some ns. */
static inline bool trace_is_apart(uint64_t end, const struct trace_entry *entry)
{
    return entry->time > end + (entry->end - entry->time) / 2;
}

/* ---- Names that viewers show ---- */

/* trace_name_thread adds "worker 812", trace_name_ordinal "GPU 0",
 * trace_name_device "GPU 0: NVIDIA H200", trace_name_stream "stream 7:
 * copies" with the name that the program gave, or "queue 1". */
void trace_name_thread(struct trace_text *, const struct trace_reader *,
                       const struct trace_thread *);
void trace_name_ordinal(struct trace_text *, uint32_t device);
void trace_name_device(struct trace_text *, const struct trace_reader *,
                       uint32_t device);
void trace_name_stream(struct trace_text *, const struct trace_reader *,
                       const struct trace_activity_place *);

#ifdef __cplusplus
}
#endif

#endif
