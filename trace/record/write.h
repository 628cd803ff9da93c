/* write.h: writes records; its hot path is inline. Private.
 *
 * A record is reserved, filled and stamped without a lock or an atomic
 * instruction, because the chunk belongs to the thread. `busy` keeps signal
 * handlers out of a record that their thread is writing, until a jump abandons
 * it.
 */
#ifndef TRACE_WRITE_H
#define TRACE_WRITE_H

#include "jump.h"
#include "recorder.h"
#include "trace/base/values.h"
#include "trace/format.h"
#include "trace/read/reader.h"

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* trace_find_room finds space if the chunk has none, or counts the record as
 * dropped. */
bool trace_find_room(struct trace_writer *, size_t slots);

/* trace_site_id returns a call site's id in the recording; 0: no space. */
uint32_t trace_site_id(struct trace_writer *, struct trace_site *);

/* trace_is_lost returns whether a record of a call site cannot be written, and
 * counts it then. To be asked if trace_seems_full. */
bool trace_is_lost(const struct trace_site *);

/* trace_put_spare writes an error or metadata to the space that is reserved for
 * these. */
struct trace_record *trace_put_spare(struct trace_writer *, enum trace_kind,
                                     struct trace_site *, uint32_t span,
                                     size_t count, const struct trace_value *);

/* trace_put_meta reserves a record of metadata; NULL without space. */
struct trace_record *trace_put_meta(struct trace_writer *, size_t count,
                                    const struct trace_value *);

static inline void trace_barrier(void)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static inline uint64_t trace_stamp(struct trace_writer *writer)
{
    uint64_t now = trace_clock_now();

    if (unlikely(now <= writer->last))
        now = writer->last + 1;
    writer->last = now;
    return now;
}

static inline struct trace_record *trace_record_at(
    const struct trace_writer *writer, uint32_t place)
{
    return writer->base + place;
}

static inline uint32_t trace_place_of(const struct trace_writer *writer,
                                      const struct trace_record *record)
{
    return (uint32_t)(record - writer->base);
}

/* trace_lose counts a lost record where any thread may. */
static inline void trace_lose(enum trace_loss loss)
{
    __atomic_fetch_add(&trace_header_now()->losses.lost[loss], 1,
                       __ATOMIC_RELAXED);
}

/* Counters that belong to the thread need no atomic instruction. */
static inline void trace_count_drops(const struct trace_writer *writer,
                                     uint64_t change)
{
    struct trace_losses *own = writer->losses;
    struct trace_losses *losses = own ? own : &trace_header_now()->losses;
    uint64_t *lost = &losses->lost[writer->loss];

    if (likely(own != NULL))
        __atomic_store_n(lost, *lost + change, __ATOMIC_RELAXED);
    else
        __atomic_fetch_add(lost, change, __ATOMIC_RELAXED);
}

/* A record has no space, */
static inline void trace_drop(const struct trace_writer *writer)
{
    trace_count_drops(writer, 1);
}

/* was not needed, or has some now. */
static inline void trace_undrop(const struct trace_writer *writer)
{
    trace_count_drops(writer, (uint64_t)-1);
}

/* Returns whether there was no space for such a record before, and none has
 * been returned since. The end of the recording is another reason. */
static inline bool trace_is_refused(const struct trace_writer *writer,
                                    size_t slots)
{
    return writer->refused && slots >= writer->refused &&
           writer->returns ==
               __atomic_load_n(&trace_room_returns, __ATOMIC_RELAXED) &&
           !__atomic_load_n(&trace_header_now()->used, __ATOMIC_RELAXED);
}

/* Most spans have no values. */
static inline size_t trace_bytes_of(size_t count,
                                    const struct trace_value *values)
{
    return count ? trace_values_size(count, values) : 0;
}

/* Reserves a record whose values take `bytes`. */
static inline struct trace_record *trace_put_now(
    struct trace_writer *writer, enum trace_kind kind, uint32_t span,
    size_t count, const struct trace_value *values, size_t bytes)
{
    size_t slots = 1 + (bytes + TRACE_SLOT_SIZE - 1) / TRACE_SLOT_SIZE;

    if (unlikely((size_t)(writer->end - writer->next) < slots) &&
        !trace_find_room(writer, slots))
        return NULL;

    struct trace_record *record = writer->next;

    /* An abandoned record becomes a hole, which needs its size. */
    record->slots = (uint32_t)slots;
    trace_barrier();
    writer->next = record + slots;
    record->end = 0;
    record->span = span;
    record->site = 0;
    record->kind = (uint8_t)kind;
    record->flags = 0;
    record->count = (uint16_t)count;
    if (count)
        trace_values_store(record + 1, count, values);
    return record;
}

/* trace_seems_full returns whether the thread was refused the smallest
 * record. */
static inline bool trace_seems_full(void)
{
    return unlikely(trace_writer.refused == 1);
}

/* ---- One record at a time ---- */

/* Values of a writer's `busy` other than frames. */
enum {
    TRACE_OURS = 1, /* a bit: our own calls may re-enter, uncounted */
};
#define TRACE_REFUSING (UINTPTR_MAX - 1)             /* no jump abandons it */
#define TRACE_LOCKED   (TRACE_REFUSING | TRACE_OURS) /* the same, with a lock */

/* trace_is_inside returns whether a busy thread, now in `frame`, is still
 * writing its record. If not, it makes the writer ready again. */
bool trace_is_inside(struct trace_writer *, uintptr_t frame);

/* trace_lose_refused counts a record that a busy thread may not write. */
void trace_lose_refused(const struct trace_writer *);

/* bfd relaxes how a thread-local variable is found, so that an `add` becomes a
 * `lea`, which sets no flags. UBSan makes the compiler compare such an address
 * with null, and it may use these flags. */
#define TRACE_NEVER_NULL __attribute__((no_sanitize("null", "alignment")))

static inline __attribute__((always_inline)) TRACE_NEVER_NULL bool
trace_is_busy(struct trace_writer *writer)
{
    return unlikely(writer->busy) && trace_is_inside(writer, trace_frame());
}

/* trace_ours_begin notes that the thread may call functions of the program,
 * such as its malloc. Returns the argument of trace_ours_end. Records from
 * signal handlers are refused meanwhile, uncounted. */
static inline uintptr_t trace_ours_begin(struct trace_writer *writer)
{
    uintptr_t before = writer->busy;

    writer->busy = before | TRACE_OURS;
    trace_barrier();
    return before;
}

static inline void trace_ours_end(struct trace_writer *writer, uintptr_t before)
{
    trace_barrier();
    writer->busy = before;
}

/* Returns the calling thread's writer for trace_leave(). NULL if the thread is
 * already writing a record, or nothing is recorded. */
static inline __attribute__((always_inline))
TRACE_NEVER_NULL struct trace_writer *
trace_enter(void)
{
    struct trace_writer *writer = &trace_writer;

    if (trace_is_busy(writer)) {
        trace_lose_refused(writer);
        return NULL;
    }
    writer->busy = trace_frame();
    writer->back = trace_return_of(trace_frame());
    trace_barrier();
    if (unlikely(!trace_is_current(writer)) && !trace_writer_begin(writer)) {
        writer->busy = 0;
        return NULL;
    }
    __asm__("" : "+r"(writer)); /* callers compare it, too */
    return writer;
}

static inline void trace_leave(struct trace_writer *writer)
{
    trace_barrier();
    writer->busy = 0;
}

static inline uint32_t trace_id_of(struct trace_writer *writer,
                                   struct trace_site *site)
{
    uint32_t id = __atomic_load_n(&site->id, __ATOMIC_ACQUIRE);

    return likely(id) ? id : trace_site_id(writer, site);
}

/* Reserves a record of a call site. */
static inline struct trace_record *trace_put_of(
    struct trace_writer *writer, enum trace_kind kind, struct trace_site *site,
    uint32_t span, size_t count, const struct trace_value *values, size_t bytes)
{
    uint32_t id = trace_id_of(writer, site);
    struct trace_record *record =
        trace_put_now(writer, kind, span, count, values, bytes);

    if (unlikely(!record))
        return trace_put_spare(writer, kind, site, span, count, values);
    record->site = id;
    return record;
}

/* Stamps a record and reports it. */
static inline void trace_publish(struct trace_writer *writer,
                                 struct trace_record *record)
{
    __atomic_store_n(&record->time, trace_stamp(writer), __ATOMIC_RELEASE);
    if (unlikely(__atomic_load_n(&trace_recording.reported, __ATOMIC_RELAXED)))
        trace_report(record);
}

static inline unsigned trace_interest_of(const struct trace_site *site)
{
    return __atomic_load_n(&site->interest, __ATOMIC_RELAXED);
}

/* Acquire: a reader of the interest also sees the verdict. */
static inline bool trace_is_judged(const struct trace_site *site)
{
    return __atomic_load_n(&site->interest, __ATOMIC_ACQUIRE) & TRACE_JUDGED;
}

#endif
