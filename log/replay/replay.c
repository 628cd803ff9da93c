/* replay.c: applies a filter to a recording's entries in their order.
 *
 * A filter of spans depends on the spans that each thread has entered. Only
 * enters that change the scope of a directive are kept.
 */
#include <stdlib.h>
#include <string.h>

#include "entry_text.h"
#include "log/filter/filter.h"
#include "replay.h"
#include "trace/read/reader.h"

/* An enter without its exit. */
struct entered {
    uint32_t span;
    bool begun; /* it is the span's creation */
    struct trace_scope own;
};

struct thread {
    struct entered *stack;
    size_t depth, capacity;
};

struct log_replay {
    const struct log_filter *filter;
    bool simple;                   /* depends on call sites only */
    bool last_values;              /* judges spans by them */
    struct log_verdict **verdicts; /* by id of the call site; never moved */
    size_t verdict_count;
    struct log_verdict *launch; /* about log_launch_site */
    struct trace_table tracked;
    struct thread *threads;
    size_t thread_count, thread_capacity;
    struct trace_table thread_table; /* by trace_thread_key */
    struct hidden {
        unsigned char *bits; /* by the place of a span's record */
        size_t size;
    } spans, calls; /* of functions, whose numbers are not places */
    struct log_memory memory;
};

struct log_replay *log_replay_new(const struct log_filter *filter)
{
    struct log_replay *replay = calloc(1, sizeof(*replay));

    if (!replay)
        return NULL;
    replay->filter = filter;
    replay->simple = !filter->scoped && !filter->judges;
    return replay;
}

void log_replay_use_last_values(struct log_replay *replay)
{
    replay->last_values = true;
}

static void free_verdict(struct log_verdict *verdict)
{
    if (verdict)
        log_verdict_free(verdict);
    free(verdict);
}

void log_replay_free(struct log_replay *replay)
{
    if (!replay)
        return;
    for (size_t i = 0; i < replay->verdict_count; i++)
        free_verdict(replay->verdicts[i]);
    free_verdict(replay->launch);
    for (size_t i = 0; i < replay->thread_count; i++)
        free(replay->threads[i].stack);
    log_tracked_free(&replay->tracked);
    free(replay->verdicts);
    free(replay->threads);
    trace_table_free(&replay->thread_table);
    free(replay->spans.bits);
    free(replay->calls.bits);
    log_tracked_free(&replay->memory.span_times);
    trace_text_free(&replay->memory.message);
    free(replay);
}

bool log_replay_follows(const struct log_replay *replay)
{
    return !replay->simple;
}

struct log_memory *log_replay_memory(struct log_replay *replay)
{
    return &replay->memory;
}

/* ---- Call sites ---- */

/* Returns the verdict about a call site, NULL without memory. */
static const struct log_verdict *verdict_of(struct log_replay *replay,
                                            const struct trace_site *site)
{
    struct log_verdict **at = NULL;

    if (site == &log_launch_site)
        at = &replay->launch;
    else if (TRACE_ARRAY_RESERVE(replay->verdicts, replay->verdict_count,
                                 site->id + 1))
        at = &replay->verdicts[site->id];
    if (at && !*at)
        *at = calloc(1, sizeof(**at));
    if (!at || !*at)
        return NULL;

    struct log_verdict *verdict = *at;

    if (verdict->site == site)
        return verdict;
    log_verdict_free(verdict); /* call sites that were lost have number 0 */
    return log_verdict_make(verdict, replay->filter, site) ? verdict : NULL;
}

/* ---- Hidden spans ---- */

/* Returns the bits that a span or call has one of, and its number there. */
static struct hidden *hidden_of(struct log_replay *replay, uint32_t *place)
{
    bool call = *place & TRACE_CALL_ID;

    *place &= ~TRACE_CALL_ID;
    return call ? &replay->calls : &replay->spans;
}

static void set_hidden(struct log_replay *replay, uint32_t place, bool hidden)
{
    struct hidden *of = hidden_of(replay, &place);
    size_t byte = place / 8;

    if (byte >= of->size &&
        (!hidden || !TRACE_ARRAY_RESERVE(of->bits, of->size, byte + 1)))
        return;
    if (hidden)
        of->bits[byte] |= (unsigned char)(1 << place % 8);
    else
        of->bits[byte] &= (unsigned char)~(1 << place % 8);
}

static bool is_hidden(struct log_replay *replay, uint32_t place)
{
    const struct hidden *of = hidden_of(replay, &place);

    return place / 8 < of->size && of->bits[place / 8] >> place % 8 & 1;
}

bool log_replay_shows(struct log_replay *replay, const struct trace_entry *span)
{
    const struct log_verdict *verdict;

    if (!replay)
        return true;
    if (!replay->simple)
        return !is_hidden(replay, span->id);
    verdict = verdict_of(replay, span->site);
    return !verdict || (verdict->shown && !verdict->never);
}

bool log_replay_names(struct log_replay *replay, const struct trace_entry *span,
                      bool all)
{
    if (!replay || !all)
        return log_replay_shows(replay, span);
    return !log_filter_excludes(replay->filter, span->site);
}

/* ---- Threads ---- */

static void widen(struct trace_scope *scope, struct trace_scope own)
{
    scope->adds = own.adds > scope->adds ? own.adds : scope->adds;
    scope->takes = own.takes > scope->takes ? own.takes : scope->takes;
}

static struct trace_scope scope_of(const struct thread *thread)
{
    struct trace_scope scope = {0, 0};

    for (size_t i = 0; thread && i < thread->depth; i++)
        widen(&scope, thread->stack[i].own);
    return scope;
}

static void push(struct thread *thread, uint32_t span, bool begun,
                 struct trace_scope own)
{
    if (!thread || (!own.adds && !own.takes))
        return;
    if (!TRACE_ARRAY_RESERVE(thread->stack, thread->capacity,
                             thread->depth + 1))
        return;
    thread->stack[thread->depth++] = (struct entered){span, begun, own};
}

/* Removes the last enter of a span, or the one that created it, in any order.
 * Returns false if the thread is not in the span. */
static bool pop(struct thread *thread, uint32_t span, bool begun)
{
    size_t at = thread ? thread->depth : 0;

    while (at && (thread->stack[at - 1].span != span ||
                  thread->stack[at - 1].begun != begun))
        at--;
    if (!at)
        return false;
    thread->depth--;
    memmove(&thread->stack[at - 1], &thread->stack[at],
            (thread->depth - (at - 1)) * sizeof(*thread->stack));
    return true;
}

/* Live, the exit is reported by the thread that ended the span. */
static void step_exit(struct log_replay *replay,
                      const struct trace_entry *entry, struct thread *thread)
{
    bool begun = entry->id == entry->span;
    bool found = pop(thread, entry->span, begun);

    for (size_t i = 0; begun && !found && i < replay->thread_count; i++)
        found = pop(&replay->threads[i], entry->span, begun);
}

/* The scope within a span if it is entered now. */
static struct trace_scope scope_within(struct log_replay *replay,
                                       const struct trace_reader *reader,
                                       uint32_t place)
{
    struct log_span *tracked = log_tracked_find(&replay->tracked, place);
    struct log_span span = {.shown = !is_hidden(replay, place)};
    struct trace_entry entry;

    if (tracked)
        return log_span_scope(tracked);
    if (trace_reader_span(reader, place, &entry))
        span.verdict = verdict_of(replay, entry.site);
    if (!span.verdict || span.verdict->patterns)
        return (struct trace_scope){0, 0};
    return log_span_scope(&span);
}

static struct thread *thread_of(struct log_replay *replay,
                                const struct trace_reader *reader,
                                const struct trace_thread *thread)
{
    uint64_t key = trace_thread_key(thread);
    size_t count = replay->thread_count;
    uint32_t place = thread->span;
    struct trace_entry span;
    uintptr_t number;

    if (trace_table_find(&replay->thread_table, key, &number))
        return &replay->threads[number];
    if (!TRACE_ARRAY_RESERVE(replay->threads, replay->thread_capacity,
                             count + 1) ||
        !trace_table_set(&replay->thread_table, key, count))
        return NULL;
    replay->threads[replay->thread_count++] = (struct thread){.depth = 0};
    /* A forked child starts in its parent's spans. */
    for (; place && trace_reader_span(reader, place, &span); place = span.span)
        push(&replay->threads[count], place, false,
             scope_within(replay, reader, place));
    return &replay->threads[count];
}

/* ---- Entries ---- */

/* The values of an entry, by the names of its call site. */
static struct log_fields fields_of(const struct trace_entry *entry,
                                   struct trace_value *values)
{
    struct log_fields fields = {.site = entry->site, .values = values};
    struct trace_values next = log_values_of(entry);

    while (fields.count < entry->site->field_count &&
           fields.count < TRACE_FIELDS_MAX &&
           trace_values_next(&next, &values[fields.count]))
        fields.count++;
    return fields;
}

/* Fields that do not all come from one call site. */
struct joined {
    struct trace_site site;
    const char *names[TRACE_FIELDS_MAX];
    struct trace_value values[TRACE_FIELDS_MAX];
};

/* The fields of a span when it begins, or those that it ends with. */
static struct log_fields span_fields(const struct log_replay *replay,
                                     const struct trace_reader *reader,
                                     const struct trace_entry *span,
                                     struct joined *joined)
{
    struct trace_field last[TRACE_FIELDS_MAX];
    size_t count;

    if (!replay->last_values)
        return fields_of(span, joined->values);
    count = trace_reader_fields(reader, span, UINT64_MAX, last);
    for (size_t i = 0; i < count; i++) {
        joined->names[i] = last[i].name;
        joined->values[i] = last[i].value;
    }
    joined->site = *span->site;
    joined->site.fields = joined->names;
    return (struct log_fields){&joined->site, count, joined->values, NULL};
}

static bool step_span(struct log_replay *replay,
                      const struct trace_reader *reader,
                      const struct trace_entry *entry, struct thread *thread)
{
    const struct log_verdict *verdict = verdict_of(replay, entry->site);
    struct joined joined;
    struct log_fields fields = span_fields(replay, reader, entry, &joined);
    struct log_span untracked = {.verdict = verdict}, *span = &untracked;

    if (verdict && verdict->patterns)
        span = log_tracked_add(&replay->tracked, entry->id, verdict);
    if (!verdict || !span)
        return true;
    log_span_begin(span, scope_of(thread), &fields);
    set_hidden(replay, entry->id, !span->shown);
    if (entry->entered)
        push(thread, entry->id, true, scope_within(replay, reader, entry->id));
    return !is_hidden(replay, entry->id);
}

static bool step_event(struct log_replay *replay,
                       const struct trace_entry *entry, struct thread *thread)
{
    const struct log_verdict *verdict = verdict_of(replay, entry->site);
    struct trace_value values[TRACE_FIELDS_MAX];
    struct trace_text message = {.ceiling = 1 << 20};
    struct log_fields fields;
    bool shown;

    if (!verdict)
        return true;
    /* A forked child does not record that it leaves its parent's spans. */
    if (thread && !entry->span)
        thread->depth = 0;
    if (!verdict->count)
        return log_verdict_event(verdict, scope_of(thread), NULL);
    fields = fields_of(entry, values);
    log_message_of(entry, &message);
    fields.message = message.data ? message.data : "";
    shown = log_verdict_event(verdict, scope_of(thread), &fields);
    trace_text_free(&message);
    return shown;
}

/* ---- Activities of devices ---- */

/* The scope within a span that caused an activity, by the span's values up to
 * `time`, because the span may have ended since. A launch is judged here,
 * within the scope `around` it. */
static struct trace_scope scope_of_span(struct log_replay *replay,
                                        const struct trace_reader *reader,
                                        const struct trace_entry *span,
                                        uint64_t time,
                                        struct trace_scope around)
{
    const struct log_verdict *verdict = verdict_of(replay, span->site);
    struct trace_scope own = {0, 0};
    struct log_fields fields;
    struct joined joined;
    struct trace_entry late;
    struct log_span *one;
    size_t cursor = 0;

    if (!verdict || !verdict->count)
        return own;
    one = calloc(1, sizeof(*one) + verdict->patterns);
    if (!one)
        return own;
    one->verdict = verdict;
    fields = span_fields(replay, reader, span, &joined);
    log_span_begin(one, around, &fields);
    if (span->id)
        one->shown = !is_hidden(replay, span->id);
    while (span->id && !replay->last_values &&
           trace_reader_late(reader, span->id, time, &cursor, &late)) {
        fields = fields_of(&late, joined.values);
        log_span_fields(one, &fields);
    }
    own = log_span_scope(one);
    free(one);
    return own;
}

static struct trace_scope scope_around(struct log_replay *replay,
                                       const struct trace_reader *reader,
                                       const struct trace_entry *entry)
{
    struct trace_scope scope = {0, 0};
    struct trace_entry span;
    uint32_t place = entry->span;

    if (replay->simple)
        return scope;
    for (; place && trace_reader_span(reader, place, &span); place = span.span)
        widen(&scope, scope_of_span(replay, reader, &span, entry->time, scope));
    if (log_launch_of(entry, &span))
        widen(&scope, scope_of_span(replay, reader, &span, entry->time, scope));
    return scope;
}

/* Joins the fields of an activity and of its launch. */
static struct log_fields join(const struct trace_entry *entry,
                              struct joined *joined)
{
    struct log_fields fields = fields_of(entry, joined->values);
    struct trace_values next = trace_values_of(entry);
    size_t i = 0;

    if (fields.count)
        memcpy(joined->names, entry->site->fields,
               fields.count * sizeof(*joined->names));
    next.next = entry->launch;
    for (; entry->launch && i < TRACE_LAUNCH_FIELDS &&
           fields.count < TRACE_FIELDS_MAX &&
           trace_values_next(&next, &joined->values[fields.count]);
         i++)
        joined->names[fields.count++] = trace_launch_fields[i];
    joined->site = *entry->site;
    joined->site.fields = joined->names;
    fields.site = &joined->site;
    fields.message = log_device_message(entry);
    return fields;
}

/* Judges an activity as an event in the span that caused it. Its thread's
 * current spans don't matter. */
static bool step_device(struct log_replay *replay,
                        const struct trace_reader *reader,
                        const struct trace_entry *entry)
{
    struct trace_scope scope = scope_around(replay, reader, entry);
    const struct log_verdict *verdict = verdict_of(replay, entry->site);
    struct log_fields fields;
    struct joined joined;

    if (!verdict)
        return true;
    if (!verdict->count)
        return log_verdict_event(verdict, scope, NULL);
    fields = join(entry, &joined);
    return log_verdict_event(verdict, scope, &fields);
}

/* ---- Steps ---- */

static void step_fields(struct log_replay *replay,
                        const struct trace_entry *entry)
{
    struct log_span *span = log_tracked_find(&replay->tracked, entry->span);
    struct trace_value values[TRACE_FIELDS_MAX];
    struct log_fields fields;

    if (!span || replay->last_values)
        return;
    fields = fields_of(entry, values);
    log_span_fields(span, &fields);
}

bool log_replay_step(struct log_replay *replay,
                     const struct trace_reader *reader,
                     const struct trace_entry *entry)
{
    struct trace_entry span = *entry;
    struct thread *thread;

    if (entry->kind == TRACE_ENTRY_DEVICE)
        return step_device(replay, reader, entry);
    if (replay->simple && entry->kind != TRACE_ENTRY_EVENT)
        return (entry->kind != TRACE_ENTRY_SPAN &&
                !trace_reader_span(reader, entry->span, &span)) ||
               log_replay_shows(replay, &span);
    thread = replay->simple ? NULL : thread_of(replay, reader, entry->thread);
    switch (entry->kind) {
    case TRACE_ENTRY_SPAN:
        return step_span(replay, reader, entry, thread);
    case TRACE_ENTRY_ENTER:
        push(thread, entry->span, false,
             scope_within(replay, reader, entry->span));
        break;
    case TRACE_ENTRY_EXIT:
        step_exit(replay, entry, thread);
        break;
    case TRACE_ENTRY_FIELDS:
        step_fields(replay, entry);
        break;
    case TRACE_ENTRY_CLOSE:
        log_tracked_remove(&replay->tracked, entry->span);
        break;
    case TRACE_ENTRY_EVENT:
        return step_event(replay, entry, thread);
    case TRACE_ENTRY_SUM: /* its spans are not known */
    case TRACE_ENTRY_COUNTERS:
    case TRACE_ENTRY_DEVICE: /* above */
        break;
    }
    return !is_hidden(replay, entry->span);
}
