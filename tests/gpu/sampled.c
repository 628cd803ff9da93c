/* sampled.c: compares the counters of a recording with the work "phases" of
 * launches.h.
 *
 *  sampled LABEL RECORDING     appends a line with a JSON object to BENCH_OUT,
 *                              or to stdout
 *
 * Each counter has its mean while the kernel spins, while the device is idle,
 * and while memory is set. `edge_ns` is between the kernel's begin and the
 * first sample in which multiprocessors are active: it shows whether both have
 * one clock.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "trace/base/values.h"
#include "trace/read/reader.h"

enum { PHASES = 3, COUNTERS = TRACE_ACTIVITY_FIELDS, MARGIN_NS = 5000000 };

static const char *const phase_names[PHASES] = {"spin", "idle", "set"};

struct phase {
    uint64_t begin, end; /* ns */
};

struct sums {
    double sum[PHASES][COUNTERS], count[PHASES];
    double samples;
    uint64_t first; /* begin of the first sample with active multiprocessors */
};

static void stop(const char *what)
{
    fprintf(stderr, "sampled: %s\n", what);
    exit(2);
}

static void rewind_to_begin(struct trace_reader *reader)
{
    if (trace_reader_rewind(reader))
        stop("the recording cannot be read");
}

/* ---- Phases ---- */

static void find_phases(struct phase phases[PHASES],
                        struct trace_reader *reader)
{
    struct phase *spin = &phases[0], *idle = &phases[1], *set = &phases[2];
    struct trace_entry entry;

    while (trace_reader_next(reader, &entry)) {
        if (entry.kind != TRACE_ENTRY_DEVICE || !entry.at.on_device)
            continue;
        if (entry.at.kind == TRACE_ACTIVITY_KERNEL &&
            entry.end - entry.time > spin->end - spin->begin)
            *spin = (struct phase){entry.time, entry.end};
        if (entry.at.kind == TRACE_ACTIVITY_MEMSET) {
            set->begin = set->end ? set->begin : entry.time;
            set->end = entry.end;
        }
    }
    *idle = (struct phase){spin->end, set->begin};
}

static bool is_within(const struct phase *phase,
                      const struct trace_entry *entry)
{
    return entry->time >= phase->begin + MARGIN_NS &&
           entry->end + MARGIN_NS <= phase->end;
}

/* ---- Samples ---- */

static void add(struct sums *sums, const struct phase phases[PHASES],
                const struct trace_entry *entry)
{
    struct trace_values values = trace_values_of(entry);
    const struct trace_site *site = entry->site;
    struct trace_value value;

    sums->samples++;
    for (int p = 0; p < PHASES; p++)
        sums->count[p] += is_within(&phases[p], entry);
    for (size_t i = 0;
         i < site->field_count && trace_values_next(&values, &value); i++) {
        for (int p = 0; p < PHASES; p++)
            if (is_within(&phases[p], entry) && value.type == TRACE_TYPE_F64)
                sums->sum[p][i] += value.as.f;
        if (!sums->first && !strcmp(site->fields[i], "SM active %") &&
            value.as.f > 50)
            sums->first = entry->time;
    }
}

static void add_counters(cJSON *row, const struct sums *sums,
                         const struct trace_site *site)
{
    cJSON *counters = cJSON_AddObjectToObject(row, "counters");

    for (size_t i = 0; site && i < site->field_count; i++) {
        cJSON *one = cJSON_AddObjectToObject(counters, site->fields[i]);

        for (int p = 0; p < PHASES; p++)
            if (sums->count[p] > 0)
                cJSON_AddNumberToObject(one, phase_names[p],
                                        sums->sum[p][i] / sums->count[p]);
    }
}

/* ---- Results ---- */

static void add_line(cJSON *lines, const struct trace_entry *entry)
{
    struct trace_values values = trace_values_of(entry);
    struct trace_value value;
    char text[1024];

    if (entry->kind != TRACE_ENTRY_EVENT ||
        entry->site->level > TRACE_LEVEL_WARN ||
        !trace_values_next(&values, &value) || value.type != TRACE_TYPE_STRING)
        return;
    snprintf(text, sizeof(text), "%.*s", (int)value.size, value.as.text);
    cJSON_AddItemToArray(lines, cJSON_CreateString(text));
}

static void add_meta(cJSON *row, const struct trace_reader *reader)
{
    static const char *const names[] = {
        "gpu.pm_samples", "gpu.pm_foreign", "gpu.pm_overflows", "gpu.clocks",
        "gpu.launches",   "gpu.launched",   "gpu.lost"};
    cJSON *meta = cJSON_AddObjectToObject(row, "meta");

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        const char *value = trace_reader_meta(reader, names[i]);

        if (value)
            cJSON_AddStringToObject(meta, names[i], value);
    }
}

static void read_all(cJSON *row, struct trace_reader *reader)
{
    struct phase phases[PHASES] = {{0, 0}};
    cJSON *lines = cJSON_AddArrayToObject(row, "lines");
    const struct trace_site *site = NULL;
    struct sums sums = {.samples = 0};
    struct trace_entry entry;

    find_phases(phases, reader);
    rewind_to_begin(reader);
    while (trace_reader_next(reader, &entry)) {
        add_line(lines, &entry);
        if (entry.kind != TRACE_ENTRY_COUNTERS)
            continue;
        add(&sums, phases, &entry);
        site = entry.site;
    }
    cJSON_AddNumberToObject(row, "samples", sums.samples);
    add_counters(row, &sums, site);
    if (sums.first)
        cJSON_AddNumberToObject(row, "edge_ns",
                                (double)sums.first - (double)phases[0].begin);
    add_meta(row, reader);
}

int main(int argc, char **argv)
{
    const char *path = getenv("BENCH_OUT");
    struct trace_reader *reader;
    cJSON *row = cJSON_CreateObject();
    FILE *out = path ? fopen(path, "ae") : stdout;
    char *line;

    if (argc != 3)
        stop("usage: sampled LABEL RECORDING");
    reader = trace_reader_open(argv[2]);
    if (!reader)
        stop("this is no recording");
    cJSON_AddStringToObject(row, "kind", "sampled");
    cJSON_AddStringToObject(row, "label", argv[1]);
    read_all(row, reader);
    trace_reader_close(reader);
    line = cJSON_PrintUnformatted(row);
    if (!out || !line || fprintf(out, "%s\n", line) < 0 || fflush(out))
        stop("cannot write");
    free(line);
    cJSON_Delete(row);
    if (path)
        fclose(out);
    return 0;
}
