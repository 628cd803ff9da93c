/* chrome_json.h: what the files of the exporter to Chrome's trace events share.
 * Private. */
#ifndef TRACE_CHROME_JSON_H
#define TRACE_CHROME_JSON_H

#include <string.h>

#include "chrome.h"
#include "trace/base/text.h"
#include "trace/read/reader.h"

struct trace_chrome_devices;
struct trace_chrome_origin;
struct trace_chrome_row;

/* The exporter of one recording. */
struct trace_exporter {
    struct trace_chrome *chrome;
    struct trace_reader *reader;
    const char *name; /* of the recording */
    uint32_t pid;
    uint64_t end; /* ns: open spans end here */
    bool open;    /* the current span is open */
    /* named gets the title of each track before its first slice. */
    void (*named)(struct trace_exporter *, const struct trace_chrome_row *,
                  uint32_t tid, const char *title);
    struct trace_chrome_track *tracks;
    size_t count, capacity;
    struct trace_table track_table;
    struct trace_table tids; /* tracks, by pid << 32 | tid in the trace */
    struct prepared **sites; /* by id; NULL until prepared */
    struct trace_chrome_devices *devices;
    struct trace_chrome_origin *origins; /* of spans that are entered again */
    size_t origin_count, origin_capacity;
    struct trace_table origin_table;
    struct trace_text text; /* the current event */
};

/* ---- chrome_json.c: events ---- */

/* trace_chrome_put writes `text` as the next event. The text begins with ",\n",
 * whose comma the first event omits. */
void trace_chrome_put(struct trace_exporter *);

/* trace_chrome_metadata writes metadata of a process or thread, such as its
 * name. */
void trace_chrome_metadata(struct trace_exporter *, const char *kind,
                           uint32_t pid, uint32_t tid, const char *key,
                           const char *value);

/* trace_chrome_index sorts a process or thread before those with higher
 * indexes. */
void trace_chrome_index(struct trace_exporter *, const char *kind, uint32_t pid,
                        uint32_t tid, int64_t index);

/* trace_chrome_key adds the key of a member, with a comma after another one.
 * trace_chrome_place_text adds "file:line". */
void trace_chrome_key(struct trace_text *, const char *key);
void trace_chrome_place_text(struct trace_text *, const char *file,
                             unsigned line);

/* trace_chrome_is_number returns whether a value is a number in JSON; converts
 * a bool. */
bool trace_chrome_is_number(struct trace_value *);

static inline void trace_chrome_literal(struct trace_text *text,
                                        const char *literal)
{
    trace_text_put(text, literal, strlen(literal));
}

static inline void trace_chrome_string(struct trace_text *text,
                                       const char *string)
{
    trace_json_string(text, string, strlen(string));
}

/* trace_chrome_time adds microseconds with three decimals. */
static inline void trace_chrome_time(struct trace_text *text, const char *key,
                                     uint64_t ns)
{
    unsigned rest = (unsigned)(ns % 1000);
    char decimals[4] = {'.', (char)('0' + rest / 100),
                        (char)('0' + rest / 10 % 10), (char)('0' + rest % 10)};

    trace_chrome_literal(text, key);
    trace_json_number(text, ns / 1000);
    trace_text_put(text, decimals, sizeof(decimals));
}

/* trace_chrome_has returns whether a call site has a field with that name, from
 * field number `from` on. */
bool trace_chrome_has(const struct trace_site *, size_t from, const char *name);

/* ---- chrome.c ---- */

/* trace_chrome_added keeps, for the end of the trace, when the first recording
 * began and its metadata of devices. */
void trace_chrome_added(const struct trace_exporter *);

/* ---- chrome_track.c: tracks ---- */

/* A row of slices, and the rows beside it for slices that overlap. */
struct trace_chrome_row {
    uint32_t pid, tid;
    uint32_t beside; /* added to the tid for each row */
    const struct trace_thread *thread;
    const struct trace_entry *entry; /* of a device, or NULL */
    /* title adds the title of the track at `tid`. */
    void (*title)(struct trace_exporter *, const struct trace_chrome_row *,
                  uint32_t tid, struct trace_text *);
};

/* The time of a slice in ns. To nest it, up to off_begin and off_end may be cut
 * off: two clocks disagree a little about the same moment. */
struct trace_chrome_extent {
    uint64_t begin, end;
    uint64_t off_begin, off_end;
};

/* trace_chrome_place returns the tid at which a slice is drawn. */
uint32_t trace_chrome_place(struct trace_exporter *,
                            const struct trace_chrome_row *,
                            struct trace_chrome_extent *);

/* trace_chrome_thread returns the row of a thread, trace_chrome_span_row the
 * one of a span's slice, and trace_chrome_mark the thread's tid for events that
 * are not slices. */
struct trace_chrome_row trace_chrome_thread(const struct trace_exporter *,
                                            const struct trace_thread *);
struct trace_chrome_row trace_chrome_span_row(const struct trace_exporter *,
                                              const struct trace_entry *);
uint32_t trace_chrome_mark(struct trace_exporter *,
                           const struct trace_thread *);
void trace_chrome_named(struct trace_exporter *,
                        const struct trace_chrome_row *, uint32_t tid,
                        const char *title);
void trace_chrome_tracks_free(struct trace_exporter *);

/* ---- chrome_arrow.c: arrows ---- */

/* Where a slice begins. */
struct trace_chrome_point {
    uint32_t pid, tid;
    uint64_t time;
};

/* trace_chrome_arrow draws an arrow between two slices. Viewers ignore arrows
 * that go back in time, so if clocks disagree, its direction is reversed. */
void trace_chrome_arrow(struct trace_exporter *, const char *category,
                        const struct trace_chrome_point *from,
                        const struct trace_chrome_point *to);

/* trace_chrome_created notes that a span was created in the row `tid`.
 * trace_chrome_entered draws an arrow from there to another thread's first
 * enter. */
void trace_chrome_created(struct trace_exporter *,
                          const struct trace_entry *span, uint32_t tid);
void trace_chrome_entered(struct trace_exporter *, const struct trace_entry *,
                          uint32_t tid);

/* trace_chrome_arrival returns the number of such an arrow, from 1 on for each
 * span, without drawing it; 0 if there is none. */
uint32_t trace_chrome_arrival(struct trace_exporter *,
                              const struct trace_entry *);
void trace_chrome_arrows_free(struct trace_exporter *);

/* ---- chrome_test.c: tests ---- */

/* trace_chrome_test draws the test of a recording above its threads, if there
 * is one. trace_chrome_test_slice draws one in a row, trace_chrome_test_args
 * adds what is known about it. */
void trace_chrome_test(struct trace_exporter *);
void trace_chrome_test_slice(struct trace_exporter *, uint32_t pid,
                             uint32_t tid, const struct trace_chrome_test *);
void trace_chrome_test_args(struct trace_text *,
                            const struct trace_chrome_test *);

/* ---- chrome_device.c: activities of devices ---- */

/* trace_chrome_devices finds the work that each call launched; false without
 * memory. */
bool trace_chrome_devices(struct trace_exporter *);
void trace_chrome_devices_free(struct trace_exporter *);
void trace_chrome_device(struct trace_exporter *, const struct trace_entry *);

/* trace_chrome_device_place returns the row, with the tid and the extent, at
 * which an activity is drawn. trace_chrome_category returns its category. */
struct trace_chrome_row trace_chrome_device_place(struct trace_exporter *,
                                                  const struct trace_entry *,
                                                  struct trace_chrome_extent *);
const char *trace_chrome_category(const struct trace_entry *);

/* trace_chrome_flows visits the arrows that begin or end at an activity, by
 * their numbers in the recording: start with a cursor of 0. */
bool trace_chrome_flows(const struct trace_exporter *,
                        const struct trace_entry *, size_t *cursor,
                        uint64_t *number);

/* trace_chrome_memory finds the device's memory in use after an activity. */
bool trace_chrome_memory(const struct trace_entry *, struct trace_value *);

/* trace_chrome_counters calls `put` with each value of a device's counters, and
 * with 0 at the time at which earlier values end without a next one.
 * trace_chrome_counters_end does so for the last ones. trace_chrome_count draws
 * a value of a device, such as "memory", from a time on. */
typedef void trace_chrome_put_count(struct trace_exporter *,
                                    const struct trace_entry *, uint64_t time,
                                    const char *name,
                                    const struct trace_value *);
void trace_chrome_counters(struct trace_exporter *, const struct trace_entry *,
                           trace_chrome_put_count *put);
void trace_chrome_counters_end(struct trace_exporter *,
                               trace_chrome_put_count *put);
trace_chrome_put_count trace_chrome_count;

#endif
