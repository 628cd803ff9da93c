/* sums_by_name.c: sums up recordings by the names of spans, kernels, targets or
 * tests.
 */
#include <stdlib.h>
#include <string.h>

#include "log/replay/entry_text.h"
#include "runners/runs/find.h"
#include "stat.h"
#include "trace/base/strings.h"

#define NONE SIZE_MAX

enum {
    DEPTH_MOST = 256, /* deeper spans are summed up in the deepest */
    KNOWN = sizeof((struct sums){0}.known) / sizeof((struct sums){0}.known[0]),
};

/* ---- Sums ---- */

static uint64_t key_of(size_t parent, const char *const texts[STAT_TEXTS])
{
    uint64_t hash = trace_hash(TRACE_HASH, &parent, sizeof(parent));

    for (int i = 0; i < STAT_TEXTS; i++)
        hash = texts[i] ? trace_hash(hash, texts[i], strlen(texts[i]) + 1)
                        : trace_hash(hash, "\377", 1); /* occurs in no UTF-8 */
    return hash;
}

static bool copy_texts(struct sum *sum, const char *const texts[STAT_TEXTS])
{
    bool ok = true;

    for (int i = 0; i < STAT_TEXTS; i++)
        if (texts[i] && !(sum->texts[i] = strdup(texts[i])))
            ok = false;
    return ok;
}

/* Returns the index of the sum with these texts, NONE without memory. */
static size_t find(struct sums *sums, size_t parent,
                   const char *const texts[STAT_TEXTS])
{
    uint64_t key = key_of(parent, texts);
    uintptr_t place;

    if (trace_table_find(&sums->by_key, key, &place))
        return place;
    if (!TRACE_ARRAY_RESERVE(sums->all, sums->capacity, sums->count + 1) ||
        !copy_texts(&sums->all[sums->count], texts) ||
        !trace_table_set(&sums->by_key, key, sums->count))
        return NONE;
    sums->all[sums->count].parent = parent;
    sums->all[sums->count].depth = parent ? sums->all[parent - 1].depth + 1 : 0;
    sums->all[sums->count].number = sums->count + 1;
    return sums->count++;
}

static size_t find_name(struct sums *sums, size_t parent, const char *name)
{
    const char *texts[STAT_TEXTS] = {[STAT_NAME] = name};

    return find(sums, parent, texts);
}

/* A slice, or the part of it that is in the window. */
struct part {
    uint64_t begin, end; /* ns */
};

/* Returns whether any of an entry is in the window. */
static bool clip(const struct sums *sums, const struct trace_entry *entry,
                 struct part *part)
{
    *part = (struct part){entry->time, trace_slice_end(entry, sums->end)};
    return runners_window_clip(sums->window, &part->begin, &part->end);
}

/* Returns whether an event is in the window. */
static bool happens_inside(const struct sums *sums,
                           const struct trace_entry *entry)
{
    return entry->time >= sums->window.from && entry->time < sums->window.to;
}

static int add_number(struct sums *sums, size_t sum, uint64_t number)
{
    if (sum == NONE ||
        (sums->apart && runners_percentiles_add(&sums->all[sum].run, number)))
        return -1;
    return runners_percentiles_add(&sums->all[sum].durations, number);
}

static int add_duration(struct sums *sums, size_t sum, struct part part)
{
    if (sums->metered)
        return sum == NONE ? -1 : 0;
    return add_number(sums, sum, part.end - part.begin);
}

/* ---- Spans ---- */

static void add_own(void *context, const struct trace_slice *slice)
{
    struct sums *sums = context;

    if (slice->number != NONE)
        sums->all[slice->number].self += slice->own;
}

/* Adds the time in which a track was in no earlier slice of the same sum: that
 * of recursion is its outermost call's. */
static int add_once(struct sums *sums, size_t track, size_t sum,
                    struct part part)
{
    uint64_t key = (uint64_t)track << 32 | sum;
    uintptr_t until = 0;

    trace_table_find(&sums->until, key, &until);
    if (until < part.begin)
        until = part.begin;
    if (part.end <= until)
        return 0;
    sums->all[sum].once += part.end - until;
    return trace_table_set(&sums->until, key, part.end) ? 0 : -1;
}

/* Enters a slice; NONE: it belongs to no span. */
static int enter(struct sums *sums, const struct trace_entry *entry,
                 struct part part, size_t sum)
{
    size_t track = trace_slices_track(&sums->slices, trace_track_key(entry));
    struct trace_slice slice = {
        .begin = part.begin, .end = part.end, .number = sum};

    if (track == SIZE_MAX || !trace_slices_begin(&sums->slices, track, slice))
        return -1;
    return sum == NONE ? 0 : add_once(sums, track, sum, part);
}

/* Returns the index of the sum of all spans with the path of `span`. */
static size_t find_path(struct sums *sums, const struct trace_reader *reader,
                        const struct trace_entry *span)
{
    struct trace_entry one = *span;
    size_t count = 0, sum = NONE, slot;

    do {
        if (!TRACE_ARRAY_RESERVE(sums->path, sums->path_capacity, count + 1))
            return NONE;
        sums->path[count++] = one.site->name;
        slot = one.span % KNOWN;
        if (sums->known[slot].span == one.span)
            sum = sums->known[slot].sum;
    } while (sum == NONE && one.span &&
             trace_reader_span(reader, one.span, &one));
    while (count && (sum == NONE || sums->all[sum].depth < DEPTH_MOST - 1)) {
        sum = find_name(sums, sum == NONE ? 0 : sums->all[sum].number,
                        sums->path[--count]);
        if (sum == NONE)
            return NONE;
    }
    sums->known[span->id % KNOWN].span = span->id;
    sums->known[span->id % KNOWN].sum = sum;
    return sum;
}

/* Calls of a device's driver count as nested in spans, too. */
static int add_span(struct sums *sums, struct trace_reader *reader,
                    const struct trace_entry *entry)
{
    struct trace_entry span = *entry;
    struct part part;
    size_t sum;

    if (!clip(sums, entry, &part))
        return 0;
    if (entry->kind == TRACE_ENTRY_DEVICE)
        return trace_is_on_thread(entry) ? enter(sums, entry, part, NONE) : 0;
    if (entry->kind == TRACE_ENTRY_ENTER
            ? !trace_reader_span(reader, entry->span, &span)
            : entry->kind != TRACE_ENTRY_SPAN || !entry->entered)
        return 0;
    sum = sums->table == STAT_TREE ? find_path(sums, reader, &span)
                                   : find_name(sums, 0, span.site->name);
    if (add_duration(sums, sum, part))
        return -1;
    if (!entry->beside)
        return enter(sums, entry, part, sum);
    sums->all[sum].self += part.end - part.begin;
    sums->all[sum].once += part.end - part.begin;
    return 0;
}

static int add_meter(struct sums *sums, size_t sum, const char *field,
                     const struct trace_value *value)
{
    for (int i = 0; i < TRACE_METER_COUNT; i++) {
        if (strcmp(trace_meter_fields[i], field) != 0 ||
            value->type != TRACE_TYPE_U64)
            continue;
        sums->all[sum].meters[i] += value->as.u;
        if (sums->metered && sums->meter == (enum trace_meter)i)
            return add_number(sums, sum, value->as.u);
    }
    return 0;
}

/* Adds what a thread used within a span, which is recorded when it leaves. A
 * part of a span's time is not known to have used a part of it. */
static int add_meters(struct sums *sums, struct trace_reader *reader,
                      const struct trace_entry *entry)
{
    struct trace_values values = trace_values_of(entry);
    struct trace_value value;
    struct trace_entry span;
    size_t sum;
    int status = 0;

    if (strcmp(entry->site->target, TRACE_METER_TARGET) != 0 ||
        !happens_inside(sums, entry) ||
        !trace_reader_span(reader, entry->span, &span))
        return 0;
    sum = sums->table == STAT_TREE ? find_path(sums, reader, &span)
                                   : find_name(sums, 0, span.site->name);
    if (sum == NONE)
        return -1;
    for (size_t i = 0; i < entry->site->field_count && !status &&
                       trace_values_next(&values, &value);
         i++)
        status = add_meter(sums, sum, entry->site->fields[i], &value);
    return status;
}

/* ---- Kernels ---- */

static const char *const shapes[] = {
#define STAT_X(name, field) field,
    STAT_SHAPES(STAT_X)
#undef STAT_X
};

/* Adds a value to the text of its part of the shape. */
static void take_shape(const char *name, const struct trace_value *value,
                       struct trace_text texts[STAT_TEXTS])
{
    for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
        if (!strcmp(shapes[i], name) && value->type != TRACE_TYPE_EMPTY)
            log_value(&texts[STAT_GRID + i], value);
}

static void read_shape(const struct trace_entry *entry,
                       struct trace_text texts[STAT_TEXTS])
{
    struct trace_values values = trace_values_of(entry);
    const struct trace_site *site = entry->site;
    struct trace_value value;

    for (size_t i = 0;
         i < site->field_count && trace_values_next(&values, &value); i++)
        take_shape(site->fields[i], &value, texts);
    values.next = entry->launch;
    for (size_t i = 0; entry->launch && i < TRACE_LAUNCH_FIELDS &&
                       trace_values_next(&values, &value);
         i++)
        take_shape(trace_launch_fields[i], &value, texts);
}

static bool is_kernel(const struct trace_entry *entry)
{
    return entry->kind == TRACE_ENTRY_DEVICE &&
           entry->at.kind == TRACE_ACTIVITY_KERNEL;
}

static int add_kernel(struct sums *sums, const struct trace_entry *entry)
{
    const char *texts[STAT_TEXTS] = {[STAT_NAME] = entry->site->name};
    struct trace_text shape[STAT_TEXTS] = {{.data = NULL}};
    struct part part;
    int status;

    if (!is_kernel(entry) || !clip(sums, entry, &part))
        return 0;
    read_shape(entry, shape);
    for (int i = STAT_GRID; i < STAT_TEXTS; i++)
        texts[i] = shape[i].data;
    status = add_duration(sums, find(sums, 0, texts), part);
    for (int i = STAT_GRID; i < STAT_TEXTS; i++)
        trace_text_free(&shape[i]);
    return status;
}

/* ---- Targets and tests ---- */

static void add_line(struct sum *sum, const struct trace_entry *entry)
{
    unsigned level = entry->site->level;

    sum->lines[TRACE_LEVEL_OFF]++;
    if (level > TRACE_LEVEL_OFF && level <= TRACE_LEVEL_TRACE)
        sum->lines[level]++;
}

static int add_target(struct sums *sums, const struct trace_entry *entry)
{
    size_t sum;

    if (!log_is_event(entry) || !happens_inside(sums, entry))
        return 0;
    sum = find_name(sums, 0, entry->site->target);
    if (sum == NONE)
        return -1;
    add_line(&sums->all[sum], entry);
    return 0;
}

static void add_to_test(const struct sums *sums, struct sum *sum,
                        const struct trace_entry *entry)
{
    struct part part;

    if (clip(sums, entry, &part)) {
        sum->spans += entry->kind == TRACE_ENTRY_SPAN;
        sum->kernels += is_kernel(entry);
    }
    if (log_is_event(entry) && happens_inside(sums, entry))
        add_line(sum, entry);
}

/* ---- Recordings ---- */

static int add_entry(struct sums *sums, size_t test,
                     struct trace_reader *reader,
                     const struct trace_entry *entry)
{
    switch (sums->table) {
    case STAT_KERNEL:
        return add_kernel(sums, entry);
    case STAT_TARGET:
        return add_target(sums, entry);
    case STAT_TEST:
        add_to_test(sums, &sums->all[test], entry);
        return 0;
    default:
        return entry->kind == TRACE_ENTRY_FIELDS
                   ? add_meters(sums, reader, entry)
                   : add_span(sums, reader, entry);
    }
}

/* Tries of a test are summed up. */
static size_t begin_test(struct sums *sums, const struct recording *recording,
                         const struct trace_summary *summary)
{
    const char *texts[STAT_TEXTS] = {
        [STAT_NAME] = recording->test, [STAT_PROGRAM] = recording->program};
    size_t test = find(sums, 0, texts);
    struct part part = {summary->begin, summary->end};
    bool is_inside = runners_window_clip(sums->window, &part.begin, &part.end);

    return add_duration(sums, test, is_inside ? part : (struct part){0, 0})
               ? NONE
               : test;
}

static struct stat_window find_window(struct sums *sums,
                                      const struct recording *recording,
                                      struct trace_reader *reader)
{
    const struct stat_range *range = &sums->range;
    bool is_part = range->starts || range->ends;

    return runners_window_of(
        range, is_part ? runners_zero_of(&sums->noted, recording, reader) : 0);
}

int runners_sums_add(struct sums *sums, const struct recording *recording,
                     struct trace_reader *reader)
{
    struct trace_summary summary = trace_reader_summary(reader);
    struct trace_entry entry;
    size_t test = 0;
    int status = 0;

    sums->end = summary.end;
    sums->window = find_window(sums, recording, reader);
    sums->slices = (struct trace_slices){.ended = add_own, .context = sums};
    for (size_t i = 0; i < KNOWN; i++)
        sums->known[i].sum = NONE;
    if (sums->table == STAT_TEST)
        test = begin_test(sums, recording, &summary);
    if (test == NONE)
        return -1;
    while (!status && trace_reader_next(reader, &entry))
        status = add_entry(sums, test, reader, &entry);
    trace_slices_free(&sums->slices);
    trace_table_free(&sums->until);
    if (!sums->metered &&
        (sums->table == STAT_SPAN || sums->table == STAT_TREE))
        for (size_t i = 0; i < sums->count; i++)
            sums->all[i].durations.total = sums->all[i].once;
    return status;
}

const struct sum *runners_sums_below(const struct sums *sums, size_t parent,
                                     const struct sum *sum)
{
    const char *texts[STAT_TEXTS];
    uintptr_t place;

    for (int i = 0; i < STAT_TEXTS; i++)
        texts[i] = sum->texts[i];
    if (!trace_table_find(&sums->by_key, key_of(parent, texts), &place))
        return NULL;
    return &sums->all[place];
}

const struct sum *runners_sums_like(const struct sums *sums,
                                    const struct sum *sum)
{
    return runners_sums_below(sums, 0, sum);
}

static int by_size(const void *a, const void *b)
{
    const struct sum *x = a, *y = b;
    uint64_t s = x->durations.total, t = y->durations.total;

    if (s == t) {
        s = x->lines[TRACE_LEVEL_OFF];
        t = y->lines[TRACE_LEVEL_OFF];
    }
    if (s != t)
        return s < t ? 1 : -1;
    return strcmp(x->texts[STAT_NAME], y->texts[STAT_NAME]);
}

static int by_parent(const void *a, const void *b)
{
    const struct sum *x = a, *y = b;

    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    return by_size(a, b);
}

/* Copies the sums below a parent; those of each parent begin at `first`. */
static void copy_below(const struct sum *sorted, const size_t *first,
                       size_t parent, struct sum **next)
{
    for (size_t i = first[parent]; i < first[parent + 1]; i++) {
        struct sum *one = (*next)++;

        *one = sorted[i];
        copy_below(sorted, first, one->number, next);
    }
}

static int sort_tree(struct sums *sums)
{
    size_t *first = calloc(sums->count + 2, sizeof(*first));
    struct sum *all = calloc(sums->count, sizeof(*all)), *next = all;

    if (!first || !all) {
        free(first);
        free(all);
        return -1;
    }
    qsort(sums->all, sums->count, sizeof(*sums->all), by_parent);
    for (size_t i = 0; i < sums->count; i++)
        first[sums->all[i].parent + 1] = i + 1;
    for (size_t i = 1; i < sums->count + 2; i++)
        if (first[i] < first[i - 1])
            first[i] = first[i - 1];
    copy_below(sums->all, first, 0, &next);
    free(first);
    free(sums->all);
    sums->all = all;
    return 0;
}

int runners_sums_sort(struct sums *sums)
{
    if (sums->count && sums->table == STAT_TREE)
        return sort_tree(sums);
    if (sums->count)
        qsort(sums->all, sums->count, sizeof(*sums->all), by_size);
    return 0;
}

void runners_sums_free(struct sums *sums)
{
    for (size_t i = 0; i < sums->count; i++) {
        runners_percentiles_free(&sums->all[i].durations);
        runners_percentiles_free(&sums->all[i].run);
        for (int j = 0; j < STAT_TEXTS; j++)
            free(sums->all[i].texts[j]);
    }
    free(sums->all);
    free(sums->path);
    trace_table_free(&sums->by_key);
    runners_noted_free(&sums->noted);
    *sums = (struct sums){.count = 0};
}
