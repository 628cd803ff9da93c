/* blocking.c: finds what made the host wait for devices, or devices for the
 * host. The rules are those of the expert systems of Nsight Systems
 * (docs.nvidia.com/nsight-systems).
 */
#include <stdlib.h>
#include <string.h>

#include "blocking.h"
#include "log/filter/filter.h"
#include "log/replay/replay.h"
#include "trace/base/containers.h"
#include "trace/base/strings.h"
#include "trace/base/text.h"

/* X(NAME, whether only a span that repeats it counts, what to do) */
#define GROUPS(X)                                                              \
    X(PAGEABLE, false,                                                         \
      "pinned memory (cudaMallocHost) need not block the host")                \
    X(COPY, false, "the host waits for each; cudaMemcpyAsync need not")        \
    X(SET, false, "the host waits for each; cudaMemsetAsync need not")         \
    X(ALLOCATION, true, "allocate before the loop, or with cudaMallocAsync")   \
    X(RELEASE, true, "release after the loop, or with cudaFreeAsync")          \
    X(WAIT, true, "wait once, after the loop")

enum group {
#define X(name, repeats, advice) name,
    GROUPS(X)
#undef X
        NOTHING
};

static const struct {
    bool repeats;
    const char *advice;
} groups[] = {
#define X(name, repeats, advice) {repeats, advice},
    GROUPS(X)
#undef X
};

enum {
    REPEATED = 10, /* times in a span */
    LEAST = 100,   /* 1/100 of the time */
    MOST = 16,     /* findings: a loop may repeat its spans, too */
    IDLE = 50,     /* percent of the time between a device's works */
    DEVICES = 64,
};

struct sum {
    enum group group;
    uint32_t span;
    uint64_t count, time;
    struct trace_entry longest;
};

/* The work of a device, in order of its begin. */
struct work {
    uint64_t begin, end, idle;
    struct trace_entry after; /* the longest gap, which is before `from` */
    uint64_t from, to;        /* of that gap */
    bool some;
};

struct summing {
    struct work works[DEVICES]; /* by ordinal */
    struct sum *all;
    size_t count, capacity;
    struct trace_table by_key;  /* indexes of sums */
    struct trace_table threads; /* when a thread's last call ended */
    bool failed;
};

/* ---- Groups ---- */

static bool begins(const char *text, const char *prefix)
{
    return !strncmp(text, prefix, strlen(prefix));
}

static enum group group_of_call(const char *name)
{
    static const struct {
        const char *runtime, *driver;
        enum group group;
    } calls[] = {{"cudaMemcpy", "cuMemcpy", COPY},
                 {"cudaMemset", "cuMemset", SET},
                 {"cudaMalloc", "cuMemAlloc", ALLOCATION},
                 {"cudaFree", "cuMemFree", RELEASE}};

    if (strstr(name, "Async"))
        return NOTHING;
    if (strstr(name, "Synchronize"))
        return WAIT;
    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
        if (begins(name, calls[i].runtime) || begins(name, calls[i].driver))
            return calls[i].group;
    return NOTHING;
}

static bool is_pageable(const struct trace_entry *entry)
{
    static const char word[] = "pageable";
    struct trace_value memory;

    return trace_entry_field(entry, "memory", &memory) &&
           (memory.type == TRACE_TYPE_DISPLAY ||
            memory.type == TRACE_TYPE_STRING) &&
           memory.size == strlen(word) &&
           !memcmp(memory.as.text, word, memory.size);
}

static enum group group_of(const struct trace_entry *entry)
{
    switch (entry->at.kind) {
    case TRACE_ACTIVITY_MEMCPY:
        return is_pageable(entry) ? PAGEABLE : NOTHING;
    case TRACE_ACTIVITY_RUNTIME:
    case TRACE_ACTIVITY_DRIVER:
        return group_of_call(entry->site->name);
    default:
        return NOTHING;
    }
}

/* ---- Sums ---- */

/* A call of the runtime calls the driver: only the outer one counts. */
static bool is_nested(struct summing *summing, const struct trace_entry *entry)
{
    uint64_t *end = log_tracked_find(&summing->threads, entry->at.thread);

    if (end && entry->time < *end)
        return true;
    if (!end)
        end =
            log_tracked_put(&summing->threads, entry->at.thread, sizeof(*end));
    if (end)
        *end = entry->time + trace_entry_duration(entry);
    summing->failed |= !end;
    return false;
}

static void add(struct summing *summing, const struct trace_entry *entry)
{
    enum group group = group_of(entry);
    uint64_t time = trace_entry_duration(entry);
    uint64_t key = trace_mix(TRACE_HASH, group);
    uintptr_t number = summing->count;
    struct sum *sum;

    if (group == NOTHING || (!entry->at.on_device && is_nested(summing, entry)))
        return;
    if (groups[group].repeats)
        key = trace_mix(trace_mix(key, entry->span),
                        (uintptr_t)entry->site->name);
    if (!trace_table_find(&summing->by_key, key, &number)) {
        if (!TRACE_ARRAY_RESERVE(summing->all, summing->capacity,
                                 summing->count + 1) ||
            !trace_table_set(&summing->by_key, key, number)) {
            summing->failed = true;
            return;
        }
        summing->all[summing->count++] =
            (struct sum){.group = group, .span = entry->span};
    }
    sum = &summing->all[number];
    if (!sum->count++ || time > trace_entry_duration(&sum->longest))
        sum->longest = *entry;
    sum->time += time;
}

/* ---- Idle devices ---- */

static bool is_work(const struct trace_entry *entry)
{
    return entry->at.on_device && (entry->at.kind == TRACE_ACTIVITY_KERNEL ||
                                   entry->at.kind == TRACE_ACTIVITY_MEMCPY ||
                                   entry->at.kind == TRACE_ACTIVITY_MEMSET ||
                                   entry->at.kind == TRACE_ACTIVITY_GRAPH);
}

static void add_work(struct summing *summing, const struct trace_entry *entry)
{
    struct work *work = &summing->works[entry->at.device % DEVICES];
    uint64_t end = entry->time + trace_entry_duration(entry);

    if (!is_work(entry))
        return;
    if (!work->some)
        *work = (struct work){entry->time, entry->time, .some = true};
    if (entry->time > work->end) {
        work->idle += entry->time - work->end;
        if (entry->time - work->end > work->to - work->from) {
            work->from = work->end;
            work->to = entry->time;
            work->after = *entry;
        }
    }
    work->end = end > work->end ? end : work->end;
}

/* ---- Sentences ---- */

static int compare(const void *a, const void *b)
{
    const struct log_blocking *left = a, *right = b;

    if (left->time != right->time)
        return left->time < right->time ? 1 : -1;
    return (left->from > right->from) - (left->from < right->from);
}

/* Returns the text of a new finding, NULL without memory. */
static struct trace_text *put(struct log_blockings *found,
                              struct log_blocking one)
{
    if (!TRACE_ARRAY_RESERVE(found->all, found->capacity, found->count + 1))
        return NULL;
    found->all[found->count] = one;
    return &found->all[found->count++].text;
}

static void put_idle(struct log_blockings *found, struct summing *summing,
                     const struct trace_reader *reader)
{
    for (size_t i = 0; i < DEVICES; i++) {
        const struct work *work = &summing->works[i];
        uint64_t whole = work->end - work->begin;
        struct trace_text *text;
        locale_t before;

        if (!work->idle || work->idle < whole / 100 * IDLE)
            continue;
        text = put(found, (struct log_blocking){.time = work->idle,
                                                .place = work->after.place,
                                                .from = work->from,
                                                .to = work->to});
        if (text) {
            before = trace_locale_enter();
            trace_name_device(text, reader, work->after.at.device);
            trace_text_printf(text,
                              " was idle for %.1f %% of the time between its "
                              "first and last work",
                              100 * (double)work->idle / (double)whole);
            trace_locale_leave(before);
        }
        summing->failed |= !text || text->failed;
    }
}

static void put_sums(struct log_blockings *found, struct summing *summing,
                     const struct trace_reader *reader)
{
    struct trace_summary summary = trace_reader_summary(reader);
    uint64_t whole = trace_between(summary.begin, summary.end);

    for (size_t i = 0; i < summing->count; i++) {
        const struct sum *sum = &summing->all[i];
        unsigned long long count = (unsigned long long)sum->count;
        uint64_t from = sum->longest.time;
        bool repeats = groups[sum->group].repeats;
        struct trace_text *text;

        if ((repeats && (!sum->span || count < REPEATED)) || !sum->time ||
            sum->time < whole / LEAST)
            continue;
        text =
            put(found, (struct log_blocking){
                           .time = sum->time,
                           .place = sum->longest.place,
                           .from = from,
                           .to = from + trace_entry_duration(&sum->longest)});
        if (!text) {
            summing->failed = true;
            continue;
        }
        if (sum->group == PAGEABLE)
            trace_text_printf(text, "%llu cop%s of pageable memory", count,
                              count == 1 ? "y" : "ies");
        else
            trace_text_printf(text, "%s was called %llu time%s",
                              sum->longest.site->name, count,
                              count == 1 ? "" : "s");
        if (repeats) {
            trace_text_literal(text, " in ");
            log_span_text(NULL, reader, sum->span, UINT64_MAX, text);
        }
        trace_text_literal(text, ", ");
        log_duration(text, sum->time);
        trace_text_literal(text, " in all: ");
        trace_text_string(text, groups[sum->group].advice);
        summing->failed |= text->failed;
    }
}

int log_blocking_find(struct log_blockings *found, struct trace_reader *reader)
{
    struct summing summing = {.count = 0};
    struct trace_entry entry;

    *found = (struct log_blockings){.count = 0};
    if (!trace_reader_has_devices(reader))
        return 0;
    if (trace_reader_rewind(reader))
        return -1;
    while (trace_reader_next(reader, &entry))
        if (entry.kind == TRACE_ENTRY_DEVICE) {
            add(&summing, &entry);
            add_work(&summing, &entry);
        }
    put_idle(found, &summing, reader);
    put_sums(found, &summing, reader);
    if (found->count)
        qsort(found->all, found->count, sizeof(*found->all), compare);
    while (found->count > MOST)
        trace_text_free(&found->all[--found->count].text);
    free(summing.all);
    trace_table_free(&summing.by_key);
    log_tracked_free(&summing.threads);
    return summing.failed ? -1 : 0;
}

void log_blockings_free(struct log_blockings *found)
{
    for (size_t i = 0; i < found->count; i++)
        trace_text_free(&found->all[i].text);
    free(found->all);
    *found = (struct log_blockings){.count = 0};
}
