/* span.c: the hot path. Spans and events become records here.
 *
 * A record is reserved, filled and stamped without a lock or an atomic
 * instruction: the chunk is the thread's own. `busy` keeps a signal handler out
 * of a record that its thread is in the midst of.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "recorder.h"

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

static inline void barrier(void)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static inline uint64_t stamp(struct trace_writer *writer)
{
    uint64_t now = trace_clock_now();

    if (unlikely(now <= writer->last))
        now = writer->last + 1;
    writer->last = now;
    return now;
}

static inline struct trace_record *record_at(uint32_t place)
{
    return (struct trace_record *)trace_recording.header + place;
}

static inline uint32_t place_of(const struct trace_record *record)
{
    return (uint32_t)(record -
                      (const struct trace_record *)trace_recording.header);
}

static void drop(void)
{
    __atomic_fetch_add(&trace_recording.header->dropped, 1, __ATOMIC_RELAXED);
}

/* Room for a record when the chunk has none; a record without room counts as
 * dropped. */
static __attribute__((noinline)) bool find_room(struct trace_writer *writer,
                                                size_t slots)
{
    int error = errno;
    bool found = trace_more_room(writer, slots);

    if (!found)
        drop();
    errno = error;
    return found;
}

static inline struct trace_record *put(struct trace_writer *writer,
                                       enum trace_kind kind, uint32_t span,
                                       size_t count,
                                       const struct trace_value *values)
{
    size_t bytes = count ? trace_values_size(count, values) : 0;
    size_t slots = 1 + (bytes + TRACE_SLOT_SIZE - 1) / TRACE_SLOT_SIZE;

    if (unlikely((size_t)(writer->end - writer->next) < slots) &&
        !find_room(writer, slots))
        return NULL;

    struct trace_record *record = writer->next;

    writer->next += slots;
    record->slots = (uint32_t)slots;
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

struct trace_record *trace_put(struct trace_writer *writer,
                               enum trace_kind kind, uint32_t span,
                               size_t count, const struct trace_value *values)
{
    return put(writer, kind, span, count, values);
}

void trace_commit(struct trace_writer *writer, struct trace_record *record)
{
    __atomic_store_n(&record->time, stamp(writer), __ATOMIC_RELEASE);
}

/* ---- Call sites in the recording ---- */

/* Copies what a call site is into the recording, and gives it an id. */
static uint32_t put_site(struct trace_writer *writer, struct trace_site *site)
{
    struct trace_value values[4 + 16];
    size_t count = 4;
    uint32_t id = trace_recording.header->sites + 1;

    values[0] = trace_text_(site->name ? site->name : "");
    values[1] = trace_text_(site->target);
    values[2] = trace_text_(site->file);
    values[3] = trace_text_(site->function ? site->function : "");
    for (size_t i = 0; i < site->field_count; i++)
        values[count++] = trace_text_(site->fields[i]);

    struct trace_record *record =
        trace_put(writer, TRACE_KIND_SITE, 0, count, values);

    if (!record) { /* what needed it is counted */
        __atomic_fetch_sub(&trace_recording.header->dropped, 1,
                           __ATOMIC_RELAXED);
        return 0;
    }
    id =
        __atomic_add_fetch(&trace_recording.header->sites, 1, __ATOMIC_RELAXED);
    record->site = id;
    record->end = (uint64_t)site->line << 32 | (uint64_t)site->level |
                  (uint64_t)site->kind << 8 | (uint64_t)site->field_count << 16;
    trace_commit(writer, record);
    trace_live_site(site, id);
    return id;
}

static __attribute__((noinline)) uint32_t site_id(struct trace_writer *writer,
                                                  struct trace_site *site)
{
    int error = errno;

    trace_sites_lock();

    uint32_t id = __atomic_load_n(&site->id, __ATOMIC_RELAXED);

    if (!id && trace_writer_begin(writer)) {
        trace_site_complete(site);
        id = put_site(writer, site);
        __atomic_store_n(&site->id, id, __ATOMIC_RELEASE);
    }
    trace_sites_unlock();
    errno = error;
    return id;
}

/* ---- The stack of enterings ---- */

/* A span that is not recorded, but takes levels from what is within: its place,
 * where no record can be, says how many, and how it began. */
enum { TAKES = 7, NOT_ENTERED = 8, GUARD = 16 };

static inline bool unrecorded(uint32_t place)
{
    return place - 1 < TRACE_FIRST_PLACE - 1;
}

static inline struct trace_scope joined(struct trace_scope a,
                                        struct trace_scope b)
{
    return (struct trace_scope){a.adds > b.adds ? a.adds : b.adds,
                                a.takes > b.takes ? a.takes : b.takes};
}

/* Finds the thread's scope anew once spans are gone from its stack. */
static __attribute__((noinline)) void rescope(struct trace_writer *writer)
{
    struct trace_scope scope = {0, 0};

    for (uint32_t i = 0; i < writer->depth; i++) {
        scope = joined(scope, writer->stack[i].own);
        writer->stack[i].inside = scope;
    }
    trace_scope_ = scope;
}

static inline void pop(struct trace_writer *writer)
{
    writer->depth--;
    if (unlikely(trace_recording.scoped))
        trace_scope_ = writer->depth ? writer->stack[writer->depth - 1].inside
                                     : (struct trace_scope){0, 0};
}

/* Where the thread is. An entering that another thread ended is gone. */
static inline uint32_t current(struct trace_writer *writer)
{
    while (writer->depth) {
        const struct trace_entered *top = &writer->stack[writer->depth - 1];

        if (likely(!__atomic_load_n(&record_at(top->record)->end,
                                    __ATOMIC_RELAXED)) ||
            writer->depth <= writer->inherited || unrecorded(top->record))
            return top->span;
        pop(writer);
    }
    return 0;
}

/* Takes out of the stack what other threads ended below its top. */
static __attribute__((noinline)) void drop_strays(struct trace_writer *writer,
                                                  uint32_t strays)
{
    uint32_t kept = writer->inherited;

    for (uint32_t i = kept; i < writer->depth; i++) {
        uint32_t place = writer->stack[i].record;

        if (unrecorded(place) ||
            !__atomic_load_n(&record_at(place)->end, __ATOMIC_ACQUIRE))
            writer->stack[kept++] = writer->stack[i];
    }
    writer->depth = kept;
    writer->strays = strays;
    rescope(writer);
}

/* Brings the thread's scope up to date. */
static inline void settle(struct trace_writer *writer)
{
    uint32_t strays =
        __atomic_load_n(&trace_recording.strays, __ATOMIC_ACQUIRE);

    if (unlikely(writer->strays != strays))
        drop_strays(writer, strays);
}

static inline bool push(struct trace_writer *writer, uint32_t record,
                        uint32_t span, bool guard, struct trace_scope own)
{
    if (unlikely(writer->depth == writer->capacity) &&
        !trace_stack_grow(writer))
        return false;
    if (unlikely(trace_recording.scoped))
        trace_scope_ = joined(trace_scope_, own);
    writer->stack[writer->depth++] =
        (struct trace_entered){record, span, guard, own, trace_scope_};
    return true;
}

static void patch(struct trace_writer *writer, uint32_t place)
{
    struct trace_record *record = record_at(place);

    /* Another thread may have ended it before. */
    if (unlikely(unrecorded(place) ||
                 __atomic_load_n(&record->end, __ATOMIC_RELAXED)))
        return;

    uint64_t now = stamp(writer);

    __atomic_store_n(&record->end, now, __ATOMIC_RELEASE);
    if (unlikely(trace_recording.live))
        trace_live_exit(record, now);
}

/* Ends the entering at `at` of the stack and the guards above it, which only a
 * jump can have left behind. */
static void leave_at(struct trace_writer *writer, uint32_t at, bool guard)
{
    uint32_t kept = at, inherited = writer->inherited;

    for (uint32_t i = writer->depth; i-- > at + 1;)
        if (guard && writer->stack[i].guard && i >= inherited)
            patch(writer, writer->stack[i].record);
    if (at >= inherited)
        patch(writer, writer->stack[at].record);
    for (uint32_t i = at + 1; i < writer->depth; i++) {
        if (!guard || !writer->stack[i].guard)
            writer->stack[kept++] = writer->stack[i];
        if (i + 1 == inherited)
            writer->inherited = kept;
    }
    if (at + 1 == inherited)
        writer->inherited = at;
    writer->depth = kept;
    if (unlikely(trace_recording.scoped))
        rescope(writer);
}

/* Where in the stack `record` is; its depth if it is not. */
static uint32_t find(const struct trace_writer *writer, uint32_t record)
{
    for (uint32_t i = writer->depth; i-- > 0;)
        if (writer->stack[i].record == record)
            return i;
    return writer->depth;
}

/* Tells that nobody enters a span any more: the block that it is of has ended,
 * or trace_span_end was called. */
static inline void tell_closed(uint32_t place)
{
    if (unlikely(trace_recording.scoped) && !unrecorded(place) &&
        record_at(place)->kind == TRACE_KIND_SPAN)
        trace_subscriber->closed(place);
}

/* A jump out of the block that a guard stands in leaves the guard's entering on
 * the stack; a handle that was entered in between stays. */
void trace_span_leave_(struct trace_span_ref ref)
{
    struct trace_writer *writer = &trace_writer;

    if (unlikely(ref.generation != writer->generation ||
                 ref.generation != trace_recording.generation ||
                 writer->busy)) {
        /* A span of before the fork: the parent ends it in the recording. */
        if (writer->forked &&
            writer->generation == trace_recording.generation &&
            find(writer, ref.place) < writer->inherited)
            leave_at(writer, find(writer, ref.place), true);
        return;
    }
    writer->busy = true;
    barrier();
    if (likely(writer->depth &&
               writer->stack[writer->depth - 1].record == ref.place &&
               writer->depth > writer->inherited)) {
        pop(writer);
        patch(writer, ref.place);
    } else {
        uint32_t at = find(writer, ref.place);

        if (at < writer->depth)
            leave_at(writer, at, true);
    }
    tell_closed(ref.place);
    barrier();
    writer->busy = false;
}

size_t trace_depth(void)
{
    return trace_writer.depth;
}

void trace_unwind(size_t depth)
{
    struct trace_writer *writer = &trace_writer;

    while (writer->depth > depth) {
        uint32_t top = writer->depth - 1;

        if (top >= writer->inherited &&
            writer->generation == trace_recording.generation)
            patch(writer, writer->stack[top].record);
        pop(writer);
    }
    if (writer->inherited > writer->depth)
        writer->inherited = writer->depth;
}

/* ---- Whether a site is on ---- */

static inline unsigned interest_of(const struct trace_site *site)
{
    return __atomic_load_n(&site->interest, __ATOMIC_RELAXED);
}

/* What the calling thread's spans hold. */
static struct trace_scope scope_of(struct trace_writer *writer)
{
    if (writer->generation != trace_recording.generation)
        return (struct trace_scope){0, 0};
    if (!writer->busy)
        settle(writer);
    return trace_scope_;
}

bool trace_site_ask_(struct trace_site *site)
{
    struct trace_scope scope;
    unsigned interest;

    if (interest_of(site) == TRACE_UNREGISTERED)
        trace_site_register(site);
    interest = interest_of(site);
    if (interest <= TRACE_ALWAYS || interest == TRACE_UNREGISTERED)
        return interest == TRACE_ALWAYS;
    scope = scope_of(&trace_writer);
    /* A span that is taken may take more. */
    if (site->level + scope.takes > TRACE_LEVEL_TRACE &&
        (site->kind != TRACE_SITE_SPAN || !(interest & TRACE_JUDGED) ||
         scope.takes == TRACE_LEVEL_TRACE))
        return interest & TRACE_ALWAYS;
    return interest & (TRACE_ALWAYS | TRACE_COMMONLY | TRACE_JUDGED) ||
           site->level <= scope.adds;
}

/* ---- Recording ---- */

/* The calling thread's writer, to be handed back to leave(); NULL if it is in
 * the midst of a record already or nothing is recorded. */
static inline struct trace_writer *enter(void)
{
    struct trace_writer *writer = &trace_writer;

    if (unlikely(writer->busy)) {
        drop();
        return NULL;
    }
    writer->busy = true;
    barrier();
    if (unlikely(writer->generation != trace_recording.generation) &&
        !trace_writer_begin(writer)) {
        writer->busy = false;
        return NULL;
    }
    return writer;
}

static inline void leave(struct trace_writer *writer)
{
    barrier();
    writer->busy = false;
}

static inline uint32_t id_of(struct trace_writer *writer,
                             struct trace_site *site)
{
    uint32_t id = __atomic_load_n(&site->id, __ATOMIC_ACQUIRE);

    return likely(id) ? id : site_id(writer, site);
}

static inline bool any_callback(size_t count, const struct trace_value *values)
{
    for (size_t i = 0; i < count; i++)
        if (unlikely(values[i].type == TRACE_TYPE_CALLBACK))
            return true;
    return false;
}

/* An error that finds no room takes what was kept for it. */
static __attribute__((noinline)) struct trace_record *put_spare(
    struct trace_writer *writer, enum trace_kind kind, struct trace_site *site,
    uint32_t span, size_t count, const struct trace_value *values)
{
    size_t slots = 32 + 1 + trace_values_size(count, values) / TRACE_SLOT_SIZE;

    if (kind != TRACE_KIND_EVENT || site->level != TRACE_LEVEL_ERROR ||
        !trace_spare_room(writer, slots))
        return NULL;

    uint32_t id = id_of(writer, site);
    struct trace_record *record = put(writer, kind, span, count, values);

    /* Where others go on, the reader must find its way to: a hole is left. */
    if (writer->next < writer->end)
        writer->next->slots = (uint32_t)(writer->end - writer->next);
    writer->next = writer->end = NULL;
    if (!record)
        return NULL;
    record->site = id;
    /* It was counted as dropped before. */
    __atomic_fetch_sub(&trace_recording.header->dropped, 1, __ATOMIC_RELAXED);
    return record;
}

static struct trace_record *put_printed(struct trace_writer *, enum trace_kind,
                                        struct trace_site *, uint32_t span,
                                        size_t count,
                                        const struct trace_value *);

/* Puts a record of a call site. */
static inline struct trace_record *put_site_record(
    struct trace_writer *writer, enum trace_kind kind, struct trace_site *site,
    uint32_t span, size_t count, const struct trace_value *values)
{
    if (unlikely(any_callback(count, values)))
        return put_printed(writer, kind, site, span, count, values);

    uint32_t id = id_of(writer, site);
    struct trace_record *record = put(writer, kind, span, count, values);

    if (unlikely(!record))
        return put_spare(writer, kind, site, span, count, values);
    record->site = id;
    return record;
}

/* The same once the callbacks among the values have become text. */
static __attribute__((noinline)) struct trace_record *put_printed(
    struct trace_writer *writer, enum trace_kind kind, struct trace_site *site,
    uint32_t span, size_t count, const struct trace_value *values)
{
    struct trace_value copy[TRACE_ARGS_MAX];
    struct trace_text text = {.ceiling = 1 << 20};
    int error = errno;

    values = trace_values_print(count, values, copy, &text);

    struct trace_record *record =
        put_site_record(writer, kind, site, span, count, values);

    trace_text_free(&text);
    errno = error;
    return record;
}

/* Stamps a record and tells who listens. */
static inline void publish(struct trace_writer *writer,
                           struct trace_record *record)
{
    trace_commit(writer, record);
    if (unlikely(trace_recording.live))
        trace_live_tell(record);
}

/* The message of an event that is not recorded yet. */
static void message_of(const struct trace_site *site, unsigned flags,
                       size_t count, const struct trace_value *values,
                       struct trace_text *message)
{
    if (flags & TRACE_FLAG_PRINTF) {
        size_t size = trace_values_size(count, values);
        unsigned char *stored = malloc(size + 1);

        if (stored) {
            struct trace_values next = {stored, stored + size};

            trace_values_store(stored, count, values);
            trace_format(message, site->name, &next);
        }
        free(stored);
    } else if (flags & TRACE_FLAG_MESSAGE) {
        trace_text_add(message, values->as.text, values->size);
    } else {
        trace_text_string(message, site->name);
    }
}

/* Whether the subscriber wants an event, once its values are known. */
static __attribute__((noinline)) bool wants_event(
    const struct trace_site *site, unsigned flags, size_t count,
    const struct trace_value *values)
{
    struct trace_text message = {.ceiling = 1 << 20};
    bool fields = !(flags & (TRACE_FLAG_PRINTF | TRACE_FLAG_MESSAGE));

    message_of(site, flags, count, values, &message);

    bool wanted = trace_subscriber->event(site, trace_scope_,
                                          message.data ? message.data : "",
                                          fields ? count : 0, values);

    trace_text_free(&message);
    return wanted;
}

/* Who sees that a site is judged also sees its verdict. */
static inline bool judged(const struct trace_site *site)
{
    return __atomic_load_n(&site->interest, __ATOMIC_ACQUIRE) & TRACE_JUDGED;
}

static inline void put_event(struct trace_writer *writer,
                             struct trace_site *site, unsigned flags,
                             size_t count, const struct trace_value *values)
{
    struct trace_record *record = put_site_record(
        writer, TRACE_KIND_EVENT, site, current(writer), count, values);

    if (likely(record != NULL)) {
        record->flags = (uint8_t)flags;
        publish(writer, record);
    }
}

static __attribute__((noinline)) void put_judged_event(
    struct trace_writer *writer, struct trace_site *site, unsigned flags,
    size_t count, const struct trace_value *values)
{
    struct trace_value copy[TRACE_ARGS_MAX];
    struct trace_text text = {.ceiling = 1 << 20};
    int error = errno;

    values = trace_values_print(count, values, copy, &text);
    settle(writer);
    if (wants_event(site, flags, count, values))
        put_event(writer, site, flags, count, values);
    trace_text_free(&text);
    errno = error;
}

static inline void event(struct trace_site *site, unsigned flags, size_t count,
                         const struct trace_value *values)
{
    struct trace_writer *writer = enter();

    if (unlikely(!writer))
        return;
    if (unlikely(judged(site)))
        put_judged_event(writer, site, flags, count, values);
    else
        put_event(writer, site, flags, count, values);
    leave(writer);
}

void trace_event_(struct trace_site *site, size_t count,
                  const struct trace_value *values)
{
    event(site, 0, count, values);
}

void trace_message(struct trace_site *site, const char *message)
{
    struct trace_value value = trace_text_(message);

    if (!trace_recording.open)
        return;
    trace_sites_lock();
    __atomic_store_n(&site->interest, trace_site_interest(site),
                     __ATOMIC_RELEASE);
    trace_sites_unlock();
    if (trace_site_on_(site))
        event(site, TRACE_FLAG_MESSAGE, 1, &value);
}

/* A format that is no literal may be another text the next time. */
static void log_now(struct trace_site *site, const char *format, va_list args)
{
    char *message = NULL;
    int error = errno;

    if (vasprintf(&message, format, args) < 0)
        message = NULL;

    struct trace_value value = trace_text_(message ? message : format);

    event(site, TRACE_FLAG_MESSAGE, 1, &value);
    free(message);
    errno = error;
}

/* Whether `format` is the one that the call site is recorded with; a site in an
 * inlined function may be given another. */
static inline bool own_format(struct trace_site *site, const char *format)
{
    const char *own = __atomic_load_n(&site->name, __ATOMIC_RELAXED);

    if (unlikely(!own) && !__atomic_load_n(&site->id, __ATOMIC_RELAXED) &&
        __atomic_compare_exchange_n(&site->name, &own, format, false,
                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        return true;
    return likely(own == format);
}

void trace_log_(struct trace_site *site, bool literal, const char *format, ...)
{
    struct trace_value values[TRACE_ARGS_MAX];
    va_list args;
    int count = -1;

    if (likely(literal) && own_format(site, format)) {
        va_start(args, format);
        count = trace_args_take(site, format, values, &args);
        va_end(args);
    }
    if (likely(count >= 0)) {
        event(site, TRACE_FLAG_PRINTF, (size_t)count, values);
    } else if (count == -2 || trace_format_writes(format)) {
        values[0] = trace_text_(format);
        event(site, TRACE_FLAG_MESSAGE, 1, values);
    } else {
        va_start(args, format);
        log_now(site, format, args);
        va_end(args);
    }
}

/* Whether a span is of the recording that runs. */
static bool known(struct trace_span_ref ref)
{
    return ref.place && trace_recording.open &&
           (ref.generation == trace_recording.generation ||
            trace_writer.forked);
}

/* How a span begins. */
struct beginning {
    const struct trace_span_ref *given; /* parent, if not that of the block */
    bool entered, guard;
};

static inline struct trace_record *put_span(struct trace_writer *writer,
                                            struct trace_site *site,
                                            struct beginning how, size_t count,
                                            const struct trace_value *values)
{
    uint32_t parent = !how.given || unrecorded(how.given->place)
                          ? current(writer)
                      : known(*how.given) ? how.given->place
                                          : 0;

    return put_site_record(writer, TRACE_KIND_SPAN, site, parent, count,
                           values);
}

static inline struct trace_span_ref publish_span(struct trace_writer *writer,
                                                 struct trace_record *record,
                                                 struct beginning how,
                                                 struct trace_scope own)
{
    struct trace_span_ref ref = {place_of(record), writer->generation};

    if (!how.entered)
        record->flags = TRACE_FLAG_NOT_ENTERED;
    else if (unlikely(!push(writer, ref.place, ref.place, how.guard, own)))
        ref.place = 0;
    publish(writer, record);
    return ref;
}

/* What is not recorded may still hold something for what is within. */
static struct trace_span_ref pass_over(struct trace_writer *writer,
                                       struct beginning how,
                                       struct trace_scope own)
{
    uint32_t began = !how.entered ? NOT_ENTERED : how.guard ? GUARD : 0;
    struct trace_span_ref ref = {own.takes | began, writer->generation};
    struct trace_scope takes = {0, own.takes};

    if (!own.takes || (how.entered && !push(writer, ref.place, current(writer),
                                            how.guard, takes)))
        ref.place = 0;
    return ref;
}

/* Gives the room of the last record back. What stands in it must not be taken
 * for records behind those that come now. */
static void take_back(struct trace_writer *writer, struct trace_record *record)
{
    memset(record, 0, (size_t)record->slots * TRACE_SLOT_SIZE);
    writer->next = record;
}

static __attribute__((noinline)) struct trace_span_ref begin_judged(
    struct trace_writer *writer, struct trace_site *site, struct beginning how,
    size_t count, const struct trace_value *values)
{
    struct trace_value copy[TRACE_ARGS_MAX];
    struct trace_text text = {.ceiling = 1 << 20};
    struct trace_scope own = {0, 0};
    struct trace_span_ref ref = {0, 0};
    int error = errno;

    values = trace_values_print(count, values, copy, &text);
    settle(writer);

    struct trace_record *record = put_span(writer, site, how, count, values);

    if (record) {
        if (trace_subscriber->span(site, trace_scope_, place_of(record), count,
                                   values, &own)) {
            ref = publish_span(writer, record, how, own);
        } else {
            take_back(writer, record);
            ref = pass_over(writer, how, own);
        }
    }
    trace_text_free(&text);
    errno = error;
    return ref;
}

static inline struct trace_span_ref begin(struct trace_site *site,
                                          struct beginning how, size_t count,
                                          const struct trace_value *values)
{
    struct trace_span_ref ref = {0, 0};
    struct trace_writer *writer = enter();

    if (unlikely(!writer))
        return ref;
    if (unlikely(judged(site))) {
        ref = begin_judged(writer, site, how, count, values);
    } else {
        struct trace_record *record =
            put_span(writer, site, how, count, values);

        if (likely(record != NULL))
            ref = publish_span(writer, record, how, (struct trace_scope){0, 0});
    }
    leave(writer);
    return ref;
}

struct trace_span_ref trace_span_open_(struct trace_site *site, size_t count,
                                       const struct trace_value *values)
{
    return begin(site, (struct beginning){NULL, true, true}, count, values);
}

struct trace_span_ref trace_span_begin_(struct trace_site *site, size_t count,
                                        const struct trace_value *values)
{
    return begin(site, (struct beginning){NULL, true, false}, count, values);
}

struct trace_span_ref trace_span_new_(struct trace_site *site, size_t count,
                                      const struct trace_value *values)
{
    return begin(site, (struct beginning){NULL, false, false}, count, values);
}

struct trace_span_ref trace_span_in_(struct trace_span_ref parent,
                                     struct trace_site *site, size_t count,
                                     const struct trace_value *values)
{
    return begin(site, (struct beginning){&parent, true, true}, count, values);
}

/* A record without a site that belongs to `span`. */
static struct trace_record *put_plain(struct trace_writer *writer,
                                      enum trace_kind kind, uint32_t span)
{
    struct trace_record *record = put(writer, kind, span, 0, NULL);

    if (record)
        publish(writer, record);
    return record;
}

/* Enters a span that is recorded; returns the entering's place, 0 if that
 * failed. */
static uint32_t enter_span(struct trace_writer *writer, uint32_t span)
{
    struct trace_scope own = {0, 0};
    struct trace_record *record = put_plain(writer, TRACE_KIND_ENTER, span);

    if (record && trace_recording.scoped)
        own = trace_subscriber->entered(span);
    if (!record || !push(writer, place_of(record), span, true, own))
        return 0;
    return place_of(record);
}

struct trace_span_ref trace_span_enter_(struct trace_span_ref span)
{
    struct beginning how = {NULL, true, true};
    struct trace_span_ref ref = {0, 0};
    struct trace_writer *writer =
        known(span) && !trace_writer.busy ? enter() : NULL;

    if (!writer)
        return ref;
    if (unrecorded(span.place))
        ref =
            pass_over(writer, how, (struct trace_scope){0, span.place & TAKES});
    else
        ref.place = enter_span(writer, span.place);
    if (ref.place)
        ref.generation = writer->generation;
    leave(writer);
    return ref;
}

static __attribute__((noinline)) void tell_fields(
    const struct trace_site *site, uint32_t span, size_t count,
    const struct trace_value *values)
{
    struct trace_value copy[TRACE_ARGS_MAX];
    struct trace_text text = {.ceiling = 1 << 20};
    int error = errno;

    values = trace_values_print(count, values, copy, &text);
    trace_subscriber->fields(site, span, count, values);
    trace_text_free(&text);
    errno = error;
}

void trace_record_(struct trace_span_ref span, struct trace_site *site,
                   size_t count, const struct trace_value *values)
{
    struct trace_writer *writer =
        known(span) && !unrecorded(span.place) ? enter() : NULL;

    if (!writer)
        return;
    if (unlikely(trace_recording.scoped))
        tell_fields(site, span.place, count, values);

    struct trace_record *record = put_site_record(
        writer, TRACE_KIND_FIELDS, site, span.place, count, values);

    if (record)
        publish(writer, record);
    leave(writer);
}

struct trace_span_ref trace_span_current(void)
{
    struct trace_writer *writer = &trace_writer;
    struct trace_span_ref ref = {0, 0};

    if (!trace_recording.open ||
        writer->generation != trace_recording.generation)
        return ref;
    ref.place = current(writer);
    if (writer->depth && unrecorded(writer->stack[writer->depth - 1].record))
        ref.place = writer->stack[writer->depth - 1].record;
    if (ref.place)
        ref.generation = writer->generation;
    return ref;
}

/* Ends a span that another thread is in. */
static void end_stray(struct trace_writer *writer, uint32_t place)
{
    patch(writer, place);
    if (trace_recording.scoped)
        __atomic_fetch_add(&trace_recording.strays, 1, __ATOMIC_RELEASE);
}

void trace_span_end(struct trace_span_ref span)
{
    struct trace_writer *writer =
        known(span) && !trace_writer.busy ? enter() : NULL;

    if (!writer)
        return;

    struct trace_record *record = record_at(span.place);
    uint32_t at = find(writer, span.place);

    if (at < writer->depth)
        leave_at(writer, at, false);
    else if (unrecorded(span.place) ||
             span.generation != trace_recording.generation)
        ; /* nobody's, or the parent's */
    else if (!(record->flags & TRACE_FLAG_NOT_ENTERED) && !record->end)
        end_stray(writer, span.place);
    else
        put_plain(writer, TRACE_KIND_CLOSE, span.place);
    tell_closed(span.place);
    leave(writer);
}
