/* count.c: counts the device activities of a recording.
 *
 *  count LABEL RECORDING       appends a line with a JSON object to BENCH_OUT,
 *                              or to stdout
 *
 * It reads the recording directly, so that it judges what was recorded of each
 * launch, not what exporters draw.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cjson/cJSON.h>

#include "trace/base/text.h"
#include "trace/base/values.h"
#include "trace/format.h"
#include "trace/read/reader.h"
#include "trace/read/reader_parts.h"

enum { COMPILES_SHOWN = 24 };

struct activity {
    struct trace_activity_place at;
    const struct trace_site *site;
    uint64_t begin, end; /* ns */
    bool spanned, estimated;
};

struct activities {
    struct activity *all;
    size_t count;
};

static void stop(const char *what)
{
    fprintf(stderr, "count: %s\n", what);
    exit(2);
}

static bool is_call(const struct activity *activity)
{
    return activity->at.kind == TRACE_ACTIVITY_RUNTIME ||
           activity->at.kind == TRACE_ACTIVITY_DRIVER;
}

static bool is_kernel(const struct activity *activity)
{
    return activity->at.kind == TRACE_ACTIVITY_KERNEL && activity->at.on_device;
}

static void add(cJSON *counts, const char *name)
{
    cJSON *count = cJSON_GetObjectItemCaseSensitive(counts, name);

    if (count)
        cJSON_SetNumberValue(count, count->valuedouble + 1);
    else
        cJSON_AddNumberToObject(counts, name, 1);
}

/* ---- Single activities ---- */

static bool is_estimated(const struct trace_entry *entry)
{
    struct trace_value value;

    return trace_entry_field(entry, "ts_estimated", &value) &&
           value.type != TRACE_TYPE_EMPTY;
}

static void read_activity(struct activities *activities,
                          const struct trace_entry *entry)
{
    size_t count = activities->count;

    if (!(count & (count + 1))) {
        activities->all =
            realloc(activities->all, (2 * count + 2) * sizeof(struct activity));
        if (!activities->all)
            stop("no memory");
    }
    activities->all[activities->count++] =
        (struct activity){.at = entry->at,
                          .site = entry->site,
                          .begin = entry->time,
                          .end = entry->end,
                          .spanned = entry->span != 0,
                          .estimated = is_estimated(entry)};
}

static const char *word_of(unsigned kind)
{
    switch (kind) {
#define TRACE_X(name, number, category, target, message, failed)               \
    case TRACE_ACTIVITY_##name:                                                \
        return #name;
        TRACE_ACTIVITIES(TRACE_X)
#undef TRACE_X
    default:
        return "UNKNOWN";
    }
}

/* An activity outside of the recorded time has another clock. */
static void count_each(cJSON *row, const struct activities *activities,
                       uint64_t end)
{
    cJSON *kinds = cJSON_AddObjectToObject(row, "kinds");
    cJSON *outside = cJSON_AddObjectToObject(row, "outside");
    cJSON *calls = cJSON_AddObjectToObject(row, "api");
    cJSON *names = cJSON_AddObjectToObject(row, "names");
    double bad_times = 0, spanned = 0;

    for (size_t i = 0; i < activities->count; i++) {
        const struct activity *activity = &activities->all[i];

        add(kinds, word_of(activity->at.kind));
        if (activity->begin > end || activity->end > end)
            add(outside, word_of(activity->at.kind));
        if (is_call(activity))
            add(calls, activity->site->name);
        if (is_kernel(activity)) {
            add(names, activity->site->name);
            bad_times += !activity->begin || activity->end < activity->begin ||
                         activity->estimated;
            spanned += activity->spanned;
        }
    }
    cJSON_AddNumberToObject(row, "bad_times", bad_times);
    cJSON_AddNumberToObject(row, "kernels_in_spans", spanned);
}

static uint64_t duration(const struct activity *activity)
{
    return activity->end - activity->begin;
}

/* Kernels first. */
static int by_name(const void *a, const void *b)
{
    const struct activity *x = a, *y = b;
    int names;

    if (is_kernel(x) != is_kernel(y))
        return is_kernel(x) ? -1 : 1;
    names = strcmp(x->site->name, y->site->name);
    return names ? names
                 : (duration(x) > duration(y)) - (duration(x) < duration(y));
}

/* The shortest, median and longest kernel of each name, in ns. */
static void add_durations(cJSON *row, struct activities *activities)
{
    cJSON *durations = cJSON_AddObjectToObject(row, "durations");
    struct activity *all = activities->all;
    double sum = 0;
    size_t from = 0, i = 0;

    if (activities->count)
        qsort(all, activities->count, sizeof(*all), by_name);
    for (; i < activities->count && is_kernel(&all[i]); i++) {
        sum += (double)duration(&all[i]);
        if (i + 1 == activities->count || !is_kernel(&all[i + 1]) ||
            strcmp(all[i + 1].site->name, all[i].site->name) != 0) {
            double three[] = {(double)duration(&all[from]),
                              (double)duration(&all[(from + i) / 2]),
                              (double)duration(&all[i])};

            cJSON_AddItemToObject(durations, all[i].site->name,
                                  cJSON_CreateDoubleArray(three, 3));
            from = i + 1;
        }
    }
    cJSON_AddNumberToObject(row, "kernels", (double)i);
    cJSON_AddNumberToObject(row, "kernel_sum_ns", sum);
}

/* ---- Calls and their kernels ---- */

static int by_correlation(const void *a, const void *b)
{
    const struct activity *x = a, *y = b;

    if (x->at.correlation != y->at.correlation)
        return x->at.correlation < y->at.correlation ? -1 : 1;
    if (is_call(x) != is_call(y))
        return is_call(x) ? -1 : 1;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

struct launches_seen {
    double ids;       /* correlations of kernels */
    double unmatched; /* kernels without a call */
    double disjoint;  /* groups whose calls are not nested in the first */
    double early;     /* kernels that begin before their call */
    double skew_ns;   /* by how much at most */
};

static void see_skew(struct launches_seen *seen, uint64_t call, uint64_t kernel)
{
    double ns = (double)call - (double)kernel;

    seen->early += ns > 0;
    if (ns > seen->skew_ns)
        seen->skew_ns = ns;
}

/* A group has all activities of one correlation, the calls first. */
static void see_group(struct launches_seen *seen, cJSON *calls_of_launches,
                      const struct activity *group, size_t count)
{
    char names[256] = "";
    bool disjoint = false;
    size_t calls = 0, kernels = 0;

    for (; calls < count && is_call(&group[calls]); calls++) {
        size_t used = strlen(names);

        disjoint |= group[calls].end > group[0].end;
        snprintf(names + used, sizeof(names) - used, "%s%s", calls ? " + " : "",
                 group[calls].site->name);
    }
    for (size_t i = calls; i < count; i++)
        if (is_kernel(&group[i])) {
            kernels++;
            see_skew(seen, calls ? group[0].begin : 0, group[i].begin);
        }
    if (!kernels)
        return;
    seen->ids++;
    seen->unmatched += !calls;
    seen->disjoint += disjoint;
    add(calls_of_launches, calls ? names : "none");
}

static void add_launches(cJSON *row, struct activities *activities)
{
    struct launches_seen seen = {0};
    cJSON *calls = cJSON_AddObjectToObject(row, "launched_by");
    size_t from = 0;

    if (activities->count)
        qsort(activities->all, activities->count, sizeof(*activities->all),
              by_correlation);
    for (size_t i = 1; i <= activities->count; i++)
        if (i == activities->count ||
            activities->all[i].at.correlation !=
                activities->all[from].at.correlation) {
            if (activities->all[from].at.correlation)
                see_group(&seen, calls, &activities->all[from], i - from);
            from = i;
        }
    cJSON_AddNumberToObject(row, "kernel_ids", seen.ids);
    cJSON_AddNumberToObject(row, "kernels_without_call", seen.unmatched);
    cJSON_AddNumberToObject(row, "calls_not_nested", seen.disjoint);
    cJSON_AddNumberToObject(row, "kernels_before_call", seen.early);
    cJSON_AddNumberToObject(row, "largest_skew_ns", seen.skew_ns);
}

/* ---- Fields ---- */

static void add_field(cJSON *fields, const char *name,
                      const struct trace_value *value)
{
    struct trace_text text = {0};

    trace_json_value(&text, value);
    if (text.data)
        cJSON_AddRawToObject(fields, name, text.data);
    trace_text_free(&text);
}

static void add_compile(cJSON *compiles, const struct trace_entry *entry)
{
    struct trace_values values = trace_values_of(entry);
    cJSON *compile = cJSON_CreateObject();
    struct trace_value value;

    if (cJSON_GetArraySize(compiles) >= COMPILES_SHOWN) {
        cJSON_Delete(compile);
        return;
    }
    cJSON_AddStringToObject(compile, "name", entry->site->name);
    cJSON_AddNumberToObject(compile, "ms",
                            (double)(entry->end - entry->time) / 1e6);
    cJSON_AddNumberToObject(compile, "correlation", entry->at.correlation);
    for (size_t i = 0;
         i < entry->site->field_count && trace_values_next(&values, &value);
         i++)
        if (value.type != TRACE_TYPE_EMPTY)
            add_field(compile, entry->site->fields[i], &value);
    cJSON_AddItemToArray(compiles, compile);
}

static void add_meta(cJSON *row, const struct trace_reader *reader)
{
    cJSON *meta = cJSON_AddObjectToObject(row, "meta");
    const char *name, *value;
    size_t cursor = 0;

    while (trace_reader_metas(reader, &cursor, &name, &value))
        if (!strncmp(name, "gpu.", 4)) {
            cJSON_DeleteItemFromObjectCaseSensitive(meta, name);
            cJSON_AddStringToObject(meta, name, value);
        }
}

/* When the recording was closed; its summary's end covers all activities. */
static uint64_t closed(const struct trace_reader *reader)
{
    uint64_t ticks = reader->header.end.ticks;

    return ticks ? trace_reader_time(reader, ticks) : UINT64_MAX;
}

static void read_all(cJSON *row, struct trace_reader *reader)
{
    cJSON *compiles = cJSON_AddArrayToObject(row, "compiles");
    struct activities activities = {0};
    struct trace_summary summary = trace_reader_summary(reader);
    struct trace_entry entry;

    while (trace_reader_next(reader, &entry))
        if (entry.kind == TRACE_ENTRY_DEVICE) {
            read_activity(&activities, &entry);
            if (entry.at.kind == TRACE_ACTIVITY_COMPILE)
                add_compile(compiles, &entry);
        }
    add_durations(row, &activities);
    count_each(row, &activities, closed(reader));
    add_launches(row, &activities);
    add_meta(row, reader);
    cJSON_AddNumberToObject(row, "dropped", (double)summary.dropped);
    cJSON_AddBoolToObject(row, "ended", summary.ended);
    free(activities.all);
}

static void write_row(cJSON *row)
{
    const char *path = getenv("BENCH_OUT");
    FILE *out = path ? fopen(path, "ae") : stdout;
    char *line = cJSON_PrintUnformatted(row);

    if (!out || !line || fprintf(out, "%s\n", line) < 0 || fflush(out) ||
        (path && fclose(out)))
        stop("cannot write");
    free(line);
    cJSON_Delete(row);
}

int main(int argc, char **argv)
{
    struct trace_reader *reader;
    cJSON *row = cJSON_CreateObject();
    struct stat file;

    if (argc != 3)
        stop("usage: count LABEL RECORDING");
    reader = trace_reader_open(argv[2]);
    if (!reader || stat(argv[2], &file))
        stop("this is no recording");
    cJSON_AddStringToObject(row, "kind", "count");
    cJSON_AddStringToObject(row, "label", argv[1]);
    cJSON_AddNumberToObject(row, "file_bytes", (double)file.st_size);
    read_all(row, reader);
    trace_reader_close(reader);
    write_row(row);
    return 0;
}
