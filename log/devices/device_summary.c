/* device_summary.c: sums up what devices did in a recording.
 *
 * Activities come in order of their begin, so the union of their times needs
 * no more than the end of the last one. Only memory in use is kept apart, by
 * its address.
 */
#include <stdlib.h>
#include <string.h>

#include "device_summary.h"
#include "log/filter/filter.h"
#include "log/replay/replay.h"
#include "trace/read/reader.h"

const char *const log_device_work_keys[LOG_DEVICE_WORK_COUNT] = {
#define LOG_X(name, key, word) key,
    LOG_DEVICE_WORKS(LOG_X)
#undef LOG_X
};

const char *const log_device_directions[LOG_DEVICE_COPY_COUNT] = {
#define LOG_X(name, direction) direction,
    LOG_DEVICE_COPIES(LOG_X)
#undef LOG_X
};

/* Memory in use. */
struct allocation {
    uint64_t bytes;
    uint32_t place, span;
    bool async;
    const char *memory; /* a constant */
};

/* When a thread's last compilation and wait ended. */
struct thread_ends {
    uint64_t ends[LOG_DEVICE_WORK_COUNT];
};

struct summing {
    struct log_device_summary *all;
    struct trace_table threads; /* struct thread_ends, by the kernel's id */
    struct trace_table in_use;  /* struct allocation, by address */
    uint64_t first, last;       /* of devices */
    bool some;                  /* `first` is set */
    struct log_faults faults;
    const struct trace_site *longest, *gap_before;
};

/* ---- Values ---- */

/* A recording may be damaged, so a field may have any type. */
static bool is_text(const struct trace_value *value)
{
    return value->type == TRACE_TYPE_STRING ||
           value->type == TRACE_TYPE_DISPLAY;
}

static uint64_t number_of(const struct trace_entry *entry, const char *name)
{
    struct trace_value value;

    return trace_entry_field(entry, name, &value) && !is_text(&value)
               ? value.as.u
               : 0;
}

/* ---- Time ---- */

static void add(struct log_device_work *work, const struct trace_entry *entry)
{
    work->count++;
    work->time += trace_entry_duration(entry);
    work->bytes += number_of(entry, "bytes");
}

static void add_copy(struct summing *summing, const struct trace_entry *entry)
{
    static const char prefix[] = "Memcpy ";
    const size_t size = sizeof(prefix) - 1;
    const char *name = entry->site->name;
    size_t i = 0;

    if (strncmp(name, prefix, size) != 0)
        i = LOG_DEVICE_COPY_OTHER;
    while (i < LOG_DEVICE_COPY_OTHER &&
           strcmp(name + size, log_device_directions[i]) != 0)
        i++;
    add(&summing->all->copies[i], entry);
}

/* Adds an activity of a thread unless it is within another one. */
static void add_outermost(struct summing *summing,
                          enum log_device_work_kind kind,
                          const struct trace_entry *entry)
{
    struct log_device_work *work = &summing->all->works[kind];
    struct thread_ends *thread =
        log_tracked_find(&summing->threads, entry->at.thread);
    uint64_t end = entry->time + trace_entry_duration(entry), *last;

    if (!thread)
        thread = log_tracked_put(&summing->threads, entry->at.thread,
                                 sizeof(*thread));
    if (!thread)
        return;
    last = &thread->ends[kind];
    work->count += entry->time >= *last;
    if (end <= *last)
        return;
    work->time += end - (entry->time > *last ? entry->time : *last);
    *last = end;
}

/* Adds an activity to the time in which devices were busy. */
static void add_busy(struct summing *summing, const struct trace_entry *entry)
{
    struct log_device_summary *all = summing->all;
    uint64_t end = entry->time + trace_entry_duration(entry);

    if (!summing->some)
        summing->first = summing->last = entry->time;
    summing->some = true;
    if (entry->time > summing->last) {
        if (entry->time - summing->last > all->gap) {
            all->gap = entry->time - summing->last;
            summing->gap_before = entry->site;
        }
        summing->last = entry->time;
    }
    if (end > summing->last) {
        all->busy += end - summing->last;
        summing->last = end;
    }
    all->span = summing->last - summing->first;
}

/* ---- Memory ---- */

/* Returns the name of a kind of memory that a program must release, NULL for
 * others: modules release their variables, and pageable memory is the host's.
 */
static const char *memory_of(const struct trace_entry *entry)
{
    static const char *const kinds[] = {"device", "managed", "array", "pinned"};
    struct trace_value value;

    if (!trace_entry_field(entry, "memory", &value) || !is_text(&value))
        return NULL;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        if (value.size == strlen(kinds[i]) &&
            !memcmp(value.as.text, kinds[i], value.size))
            return kinds[i];
    return NULL;
}

static void forget(struct summing *summing, uint64_t address)
{
    uintptr_t at;

    if (!trace_table_find(&summing->in_use, address, &at))
        return;
    free((void *)at);
    trace_table_remove(&summing->in_use, address);
}

static void forget_all(struct summing *summing)
{
    size_t cursor = 0;
    uintptr_t at;

    while (trace_table_next(&summing->in_use, &cursor, &at))
        free((void *)at);
    trace_table_free(&summing->in_use);
}

static void allocate(struct summing *summing, const struct trace_entry *entry)
{
    const char *memory = memory_of(entry);
    uint64_t address = number_of(entry, "address");
    struct allocation *one = memory ? malloc(sizeof(*one)) : NULL;

    forget(summing, address);
    if (!one)
        return;
    *one = (struct allocation){.bytes = number_of(entry, "bytes"),
                               .place = entry->id,
                               .span = entry->span,
                               .async = number_of(entry, "async"),
                               .memory = memory};
    if (!trace_table_set(&summing->in_use, address, (uintptr_t)one))
        free(one);
}

/* A release without an address is that of a whole device. */
static void release(struct summing *summing, const struct trace_entry *entry)
{
    struct trace_value address;

    if (entry->site->level <= TRACE_LEVEL_WARN)
        return; /* it failed */
    if (trace_entry_field(entry, "address", &address))
        forget(summing, number_of(entry, "address"));
    else
        forget_all(summing);
}

static void add_leaks(struct summing *summing,
                      const struct trace_reader *reader)
{
    struct log_device_leaks *leaks = &summing->all->leaks;
    const struct allocation *largest = NULL;
    struct trace_text spans = {0};
    size_t cursor = 0;
    uintptr_t at;

    while (trace_table_next(&summing->in_use, &cursor, &at)) {
        const struct allocation *one = (const void *)at;

        leaks->count++;
        leaks->bytes += one->bytes;
        leaks->async += one->async ? one->bytes : 0;
        /* The order of the table is arbitrary: among equals the first counts.
         */
        if (!largest || one->bytes > largest->bytes ||
            (one->bytes == largest->bytes && one->place < largest->place))
            largest = one;
    }
    if (!largest)
        return;
    leaks->largest = largest->bytes;
    leaks->memory = strdup(largest->memory);
    log_span_text(NULL, reader, largest->span, UINT64_MAX, &spans);
    leaks->spans = spans.data;
}

/* ---- Recordings ---- */

static void add_entry(struct summing *summing, const struct trace_entry *entry)
{
    struct log_device_summary *all = summing->all;

    log_faults_add(&summing->faults, entry);
    switch (entry->at.kind) {
    case TRACE_ACTIVITY_KERNEL:
        add(&all->works[LOG_DEVICE_KERNEL], entry);
        if (!summing->longest || trace_entry_duration(entry) > all->longest) {
            all->longest = trace_entry_duration(entry);
            summing->longest = entry->site;
        }
        add_busy(summing, entry);
        break;
    case TRACE_ACTIVITY_GRAPH:
        add(&all->works[LOG_DEVICE_GRAPH], entry);
        add_busy(summing, entry);
        break;
    case TRACE_ACTIVITY_MEMCPY:
        add_copy(summing, entry);
        add_busy(summing, entry);
        break;
    case TRACE_ACTIVITY_MEMSET:
        add(&all->works[LOG_DEVICE_MEMSET], entry);
        add_busy(summing, entry);
        break;
    case TRACE_ACTIVITY_COMPILE:
        add_outermost(summing, LOG_DEVICE_COMPILE, entry);
        break;
    case TRACE_ACTIVITY_SYNC:
        add_outermost(summing, LOG_DEVICE_SYNC, entry);
        break;
    case TRACE_ACTIVITY_ALLOCATE:
        allocate(summing, entry);
        break;
    case TRACE_ACTIVITY_RELEASE:
        release(summing, entry);
        break;
    default:
        break;
    }
}

struct log_device_summary *log_device_summary_read(struct trace_reader *reader)
{
    struct summing summing = {.some = false};
    struct log_device_summary *all;
    struct trace_entry entry;

    if (!trace_reader_has_devices(reader) || trace_reader_rewind(reader))
        return NULL;
    all = summing.all = calloc(1, sizeof(*all));
    if (!all)
        return NULL;
    while (trace_reader_next(reader, &entry))
        if (entry.kind == TRACE_ENTRY_DEVICE)
            add_entry(&summing, &entry);
        else if (entry.kind == TRACE_ENTRY_COUNTERS)
            log_counters_add(&all->counters, &entry);
    if (summing.longest)
        all->longest_name = strdup(summing.longest->name);
    if (summing.gap_before)
        all->gap_before = strdup(summing.gap_before->name);
    add_leaks(&summing, reader);
    all->fault = log_faults_take(&summing.faults, reader);
    log_tracked_free(&summing.threads);
    forget_all(&summing);
    return all;
}

void log_device_leaks_clear(struct log_device_leaks *leaks)
{
    free(leaks->memory);
    free(leaks->spans);
    *leaks = (struct log_device_leaks){.count = 0};
}

void log_device_summary_free(struct log_device_summary *summary)
{
    if (!summary)
        return;
    free(summary->longest_name);
    free(summary->gap_before);
    log_device_leaks_clear(&summary->leaks);
    log_device_fault_free(&summary->fault);
    log_counters_free(&summary->counters);
    free(summary);
}

/* ---- Sums ---- */

static void add_work(struct log_device_work *all,
                     const struct log_device_work *one)
{
    all->count += one->count;
    all->time += one->time;
    all->bytes += one->bytes;
}

static void replace(char **to, const char *text)
{
    free(*to);
    *to = text ? strdup(text) : NULL;
}

static void keep_larger(uint64_t *all, char **name, uint64_t one,
                        const char *its)
{
    if (one <= *all)
        return;
    *all = one;
    replace(name, its);
}

void log_device_summary_add(struct log_device_summary *all,
                            const struct log_device_summary *one)
{
    const struct log_device_leaks *leaks = &one->leaks;
    const struct log_device_fault *fault = &one->fault;

    for (int i = 0; i < LOG_DEVICE_WORK_COUNT; i++)
        add_work(&all->works[i], &one->works[i]);
    for (int i = 0; i < LOG_DEVICE_COPY_COUNT; i++)
        add_work(&all->copies[i], &one->copies[i]);
    keep_larger(&all->longest, &all->longest_name, one->longest,
                one->longest_name);
    keep_larger(&all->gap, &all->gap_before, one->gap, one->gap_before);
    all->busy += one->busy;
    all->span += one->span;
    all->leaks.count += leaks->count;
    all->leaks.bytes += leaks->bytes;
    all->leaks.async += leaks->async;
    if (leaks->largest > all->leaks.largest) {
        all->leaks.largest = leaks->largest;
        replace(&all->leaks.memory, leaks->memory);
        replace(&all->leaks.spans, leaks->spans);
    }
    if (fault->error && !all->fault.error) {
        all->fault.launches = fault->launches;
        replace(&all->fault.error, fault->error);
        replace(&all->fault.call, fault->call);
        replace(&all->fault.spans, fault->spans);
    }
    log_counters_merge(&all->counters, &one->counters);
}

bool log_device_summary_some(const struct log_device_summary *summary)
{
    bool some =
        summary->leaks.count || summary->fault.error || summary->counters.count;

    for (int i = 0; i < LOG_DEVICE_WORK_COUNT; i++)
        some |= summary->works[i].count;
    for (int i = 0; i < LOG_DEVICE_COPY_COUNT; i++)
        some |= summary->copies[i].count;
    return some;
}

double log_device_busy(const struct log_device_summary *summary)
{
    return summary->span ? (double)summary->busy / (double)summary->span : 0;
}

double log_device_rate(const struct log_device_work *work)
{
    return work->time ? (double)work->bytes * 1e9 / (double)work->time : 0;
}
