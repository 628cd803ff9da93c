/* decoder.h: makes activities of CUPTI's records, in the process that has them
 * or in another one. What records do not say, such as texts that they point to,
 * comes from a source; the decoder has no state but its own. Private.
 */
#ifndef TRACE_READ_CUPTI_DECODER_H
#define TRACE_READ_CUPTI_DECODER_H

#include "records.h"
#include "trace/base/containers.h"
#include "trace/device.h"
#include "trace/recording.h"

/* ---- cupti_clock.c ---- */

/* CUPTI's clock, CLOCK_MONOTONIC in nanoseconds, as it compares to the
 * recording's. A thread has its own. */
struct cupti_clock {
    struct trace_anchor first, last;
    double rate; /* ticks in a ns; 0: the clocks are equal */
};

/* cupti_clock_compare compares both clocks at a moment: first when tracing
 * begins, and then before records are decoded. */
void cupti_clock_compare(struct cupti_clock *, struct trace_anchor);

/* cupti_is_time returns whether a record may have that time: it is between the
 * first and the last comparison. cupti_ticks converts such a time to the
 * recording's ticks, cupti_ns a number of ticks to nanoseconds. */
bool cupti_is_time(const struct cupti_clock *, uint64_t ns);
uint64_t cupti_ticks(const struct cupti_clock *, uint64_t ns);
uint64_t cupti_ns(const struct cupti_clock *, uint64_t ticks);

/* ---- What a decoder gets ---- */

enum { CUPTI_PCI_ROOM = 32 };

/* A node of a graph that was made, not copied. */
struct cupti_node {
    uint64_t id;
    const char *span; /* the name of the one that made it; "": none */
};

/* It tells what records do not say. */
struct cupti_source {
    /* call returns CUPTI's name of a call, error that of a result; NULL if it
     * is unknown. Both stay valid. */
    const char *(*call)(void *context, enum cupti_domain, uint32_t id);
    const char *(*error)(void *context, enum cupti_domain, int result);
    /* text returns what is at an address in the process, NULL if no memory is
     * there. */
    const char *(*text)(void *context, uint64_t address);
    /* node finds the original of a graph's node; false if it is unknown. */
    bool (*node)(void *context, uint64_t id, struct cupti_node *);
    /* pci finds the PCI address of the device with a UUID. */
    bool (*pci)(void *context, const char *uuid, char address[CUPTI_PCI_ROOM]);
};

/* Where the results go; see struct trace_device_host. */
struct cupti_sink {
    void (*put)(void *context, const struct trace_activity *);
    void (*note)(void *context, const char *name, const char *value);
    void (*say)(void *context, unsigned level, const char *message);
    /* strange is told, once, that the records' layout is unknown. Nothing more
     * is decoded. */
    void (*strange)(void *context);
};

/* The library that wrote the records. */
struct cupti_library {
    uint16_t strides[CUPTI_KIND_LIMIT]; /* bytes of a record; 0: unknown */
    bool system_threads;                /* thread ids are the kernel's */
};

/* Calls of ours that are no activities: all of a thread, 0 if there is none,
 * and those of another one at some time, on CUPTI's clock. */
struct cupti_own {
    uint32_t sampling_thread, thread;
    uint64_t begin, end;
};

/* How many are decoded, as struct trace_profiler has it. */
struct cupti_limits {
    uint64_t devices, calls, activities, spans;
};

/* ---- Counts ---- */

struct cupti_counts {
    uint64_t launches; /* calls */
    uint64_t launched; /* of these with a device's record */
    uint64_t captured; /* without one, into a graph */
    uint64_t lost;     /* without one, otherwise */
    uint64_t orphans;  /* device's records without a call */
    uint64_t dropped;
    uint64_t undecoded;
    uint64_t bad_times;
    /* Calls, other activities, and spans that calls are joined to: how many
     * were recorded, and how many a limit dropped. */
    uint64_t callback_events, dropped_callback_events;
    uint64_t activity_events, dropped_activity_events;
    uint64_t annotations, dropped_annotations;
    uint64_t plausible; /* kernels; 0: the layout of records is uncertain */
    uint64_t implausible;
};

/* ---- occupancy.c ---- */

/* The limits of a device's multiprocessor. */
struct cupti_device {
    uint32_t major, minor; /* the compute capability */
    uint32_t processors;
    uint32_t warp; /* threads */
    uint32_t warps, blocks, registers, shared;
};

struct cupti_launch {
    uint32_t grid[3], block[3];
    uint32_t registers; /* of a thread */
    uint64_t shared;    /* bytes of a block */
};

struct cupti_occupancy {
    uint64_t blocks;   /* that a multiprocessor can hold */
    unsigned percent;  /* of the device's warps, if the grid is that large */
    const char *limit; /* of "warps", "blocks", "registers", "shared", "grid" */
};

/* cupti_occupancy estimates the occupancy of a launch. Returns false if it
 * cannot run or if the limits are implausible. */
bool cupti_occupancy(const struct cupti_device *, const struct cupti_launch *,
                     struct cupti_occupancy *);

/* ---- The decoder ---- */

/* A call into the runtime or driver, or several nested ones with one id. */
struct cupti_call {
    uint64_t begin, end; /* CUPTI's clock, of the outermost; 0: unknown */
    uint32_t correlation;
    uint32_t span; /* the enclosing span; 0: none */
    uint32_t thread;
    uint32_t devices; /* records of the work that it launched */
    uint32_t around;  /* a nested call with another id; 0: none */
    bool seen;        /* its own record arrived */
    bool launches;    /* it is a launch by its name */
    bool idle;        /* by its name, it starts no work */
    bool nested;      /* within another launch */
    bool described;   /* the fields below are known */
    uint32_t stream;
    uint32_t count[3];
    const char *kernel; /* its displayed name */
};

/* Calls in order of arrival, and by their id. */
struct cupti_calls {
    struct cupti_call *ring;
    uint32_t room, count;
    uint32_t oldest;                /* its index */
    uint32_t rest;                  /* calls until a sweep may be worthwhile */
    struct trace_table index;       /* of each call, by its id */
    struct trace_table last_launch; /* its id, by the thread's id */
};

/* The beginnings and ends of captures of streams. */
struct cupti_captures {
    struct cupti_capture_edge *edges;
    size_t count, room;
    bool sorted; /* by time; records of threads arrive in any order */
};

enum { CUPTI_CALLS = 2048, CUPTI_RECENT = 256, CUPTI_DEVICES = 64 };

/* A list of the names of fields. */
struct cupti_field_names {
    struct cupti_field_names *next;
    size_t count;
    const char *names[];
};

/* Names that were made once. */
struct cupti_names {
    struct cupti_call_name {
        const char *raw; /* of the source */
        char *shown;
    } calls[2][CUPTI_CALLS];
    struct trace_table kernels; /* by hash of the mangled name */
    /* The last kernels, by where their name is. A module that is loaded later
     * may have another name there. */
    struct cupti_recent {
        const char *at;
        const struct cupti_known_kernel *name;
    } recent[CUPTI_RECENT];
    struct cupti_field_names *fields; /* of activities; a list */
};

/* Set the members up to `limits` and compare the clocks; the rest begins with
 * zero. */
struct cupti_decoder {
    const struct cupti_source *source;
    const struct cupti_sink *sink;
    void *context; /* of both */
    struct cupti_library library;
    struct cupti_own own;
    struct cupti_clock clock; /* of records */
    struct cupti_limits limits;
    bool off; /* only counts */

    struct cupti_counts counts;
    struct cupti_waiting *waiting; /* records that wait for others */
    size_t waiting_count;
    struct cupti_calls calls;
    struct cupti_captures captures;
    struct cupti_names names;
    struct trace_table annotations; /* the spans that calls are joined to */
    struct {
        bool known;
        struct cupti_device limits;
        uint64_t in_use; /* bytes of memory */
    } devices[CUPTI_DEVICES];
    bool clock_of_events_noted;
    struct {
        struct cupti_counts losses;
        uint64_t limits;
        bool devices;
    } said;
};

/* ---- decode.c: from records to activities ---- */

/* Bytes that begin with a record, and the range that was completed next. */
struct cupti_range {
    const struct cupti_range *next;
    const uint8_t *bytes;
    size_t size;
};

/* cupti_decode decodes ranges; NULL: none. The last time it also decodes what
 * still waits for other records, and judges all launches. */
void cupti_decode(struct cupti_decoder *, const struct cupti_range *,
                  bool last);

/* cupti_say_strange writes why nothing more is decoded: the records of that
 * version of CUPTI have another layout. */
enum { CUPTI_STRANGE_ROOM = 128 };
void cupti_say_strange(char why[CUPTI_STRANGE_ROOM], uint32_t version);

/* cupti_decoder_free frees what a decoder has; names that it gave to the sink
 * are no longer valid. Set it again before it decodes. */
void cupti_decoder_free(struct cupti_decoder *);

/* ---- launch_losses.c ---- */

/* cupti_note_losses notes how many launches there are, and what was lost;
 * cupti_say_losses warns of the latter if it has grown. */
void cupti_note_losses(struct cupti_decoder *);
void cupti_say_losses(struct cupti_decoder *);

/* cupti_count_again begins to count for another recording. */
void cupti_count_again(struct cupti_decoder *);

/* cupti_note_number notes a pair of metadata whose value is a number. */
void cupti_note_number(const struct cupti_decoder *, const char *name,
                       uint64_t number);

/* ---- activity.c: one record ---- */

/* cupti_correlation returns the id of a record's call, cupti_on_device whether
 * the record describes work on the device, cupti_is_compile whether it
 * describes a compilation that belongs to a launch. */
uint32_t cupti_correlation(const struct cupti_decoder *,
                           const struct cupti_record *);
bool cupti_on_device(const struct cupti_decoder *, const struct cupti_record *);
bool cupti_is_compile(const struct cupti_record *);

/* cupti_is_activity returns whether a record describes an activity. */
bool cupti_is_activity(const struct cupti_decoder *,
                       const struct cupti_record *);

/* cupti_times returns when an activity happened. Missing and impossible times
 * are estimated. */
struct cupti_times {
    uint64_t begin, end; /* ticks */
    bool estimated;
};
struct cupti_times cupti_times(const struct cupti_decoder *,
                               const struct cupti_record *);

/* A record that becomes an activity. cupti_put_activity records it. */
struct cupti_item {
    struct cupti_record record;
    struct cupti_times times;      /* of cupti_times */
    const struct cupti_call *call; /* of cupti_call_find */
};
void cupti_put_activity(struct cupti_decoder *, const struct cupti_item *);

/* ---- limits.c: how many are decoded ---- */

/* cupti_leaves_out returns whether an activity, which was made of a record, is
 * not to be recorded. It counts what exceeds a limit. */
bool cupti_leaves_out(struct cupti_decoder *, const struct cupti_record *,
                      const struct trace_activity *);

/* cupti_annotation returns the span, or 0 if it exceeds the limit of spans. */
uint32_t cupti_annotation(struct cupti_decoder *, uint32_t span);

/* cupti_note_limits notes and reports what exceeded limits, and frees the list
 * of spans. */
void cupti_note_limits(struct cupti_decoder *);

/* ---- resources.c ---- */

/* cupti_device returns the limits of a device, NULL if they are unknown. */
const struct cupti_device *cupti_device(const struct cupti_decoder *,
                                        uint32_t id);

/* cupti_note_resource notes what is no activity as metadata: a device, a
 * context, a stream, a name, or an event of another clock. */
void cupti_note_resource(struct cupti_decoder *, const struct cupti_record *);

/* ---- correlation.c: calls ---- */

/* cupti_call_find returns the call with an id, NULL if it is unknown or
 * dropped. cupti_call_add adds it if it is unknown; NULL without memory. */
struct cupti_call *cupti_call_find(const struct cupti_decoder *,
                                   uint32_t correlation);
struct cupti_call *cupti_call_add(struct cupti_decoder *, uint32_t correlation);

/* cupti_call_note adds a record's facts to its call. */
void cupti_call_note(struct cupti_decoder *, const struct cupti_record *);

/* cupti_call_count_launches counts, at the end, which launches have their
 * records, and drops all calls. */
void cupti_call_count_launches(struct cupti_decoder *);

/* ---- graph_capture.c: stream captures ---- */

/* cupti_capture_begin and cupti_capture_end note the record of a call that
 * begins or ends the capture of a stream, also of one that failed. */
void cupti_capture_begin(struct cupti_captures *, const struct cupti_record *);
void cupti_capture_end(struct cupti_captures *, const struct cupti_record *);

/* cupti_capture_covers returns whether a stream was capturing at a time.
 * cupti_capture_forget forgets all captures. */
bool cupti_capture_covers(struct cupti_captures *, uint64_t time);
void cupti_capture_forget(struct cupti_captures *);

/* ---- calls.c: what calls do ---- */

enum cupti_role {
    CUPTI_ROLE_OTHER,
    CUPTI_ROLE_LAUNCH,
    CUPTI_ROLE_BEGIN_CAPTURE,
    CUPTI_ROLE_END_CAPTURE,
    CUPTI_ROLE_QUERY,
    CUPTI_ROLE_RESET, /* releases all memory of a context or device */
    CUPTI_ROLE_NOISE,
    CUPTI_ROLE_LAST = CUPTI_ROLE_NOISE
};

/* cupti_role returns what a call does; cupti_compile_stage returns its
 * compilation stage, NULL if it has none. */
enum cupti_role cupti_role(enum cupti_domain, uint32_t id);
const char *cupti_compile_stage(enum cupti_domain, uint32_t id);

/* cupti_is_noise returns whether a record is of a call that carries no
 * information, that succeeded and that was short. */
bool cupti_is_noise(const struct cupti_record *);

/* ---- cupti_names.c ---- */

/* cupti_call_name returns the displayed name of a call, and CUPTI's own in
 * `raw`. Both stay valid. */
const char *cupti_call_name(struct cupti_decoder *, enum cupti_domain,
                            uint32_t id, const char **raw);

/* cupti_kernel_name returns the demangled name of a kernel, and a copy of the
 * other one. Both are `kept`: they stay valid. Without memory, they are
 * `mangled`. */
struct cupti_kernel_name {
    const char *shown, *mangled;
    bool kept;
};
struct cupti_kernel_name cupti_kernel_name(struct cupti_names *,
                                           const char *mangled);

/* cupti_string returns the text that a record points to, "?" if there is
 * none. */
const char *cupti_string(const struct cupti_decoder *,
                         const struct cupti_record *, enum cupti_field);

/* cupti_strip writes the displayed form of one of CUPTI's names. */
void cupti_strip(const char *raw, char *shown, size_t size);

/* cupti_names_free frees all names. */
void cupti_names_free(struct cupti_names *);

#endif
