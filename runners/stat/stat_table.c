/* stat_table.c: prints sums as an aligned table, as CSV or as JSON. */
#include <cjson/cJSON.h>

#include "runners/runs/run_json.h"
#include "stat.h"

/* X(title, key, kind, value of a struct sum), from which text, CSV and JSON
 * come; table_printer.h lists the kinds, sums_by_name.c fills the sums, and
 * testlog-stat.1 describes the columns.
 *
 * The name comes last, because it may be long. */
#define SPAN_COLUMNS(X)                                                        \
    X("Count", "count", COUNT, durations->count)                               \
    X("Total", "total_ns", TIME, durations->total)                             \
    X("Self", "self_ns", TIME, sum->self)                                      \
    X("Average", "average_ns", TIME, durations->mean)                          \
    X("Min", "min_ns", TIME, durations->least)                                 \
    X("Median", "median_ns", TIME,                                             \
      runners_percentiles_quantile(durations, 0.5))                            \
    X("p99", "p99_ns", TIME, runners_percentiles_quantile(durations, 0.99))    \
    X("Max", "max_ns", TIME, durations->most)                                  \
    X("?CPU", "cpu_ns", SOME_TIME, sum->meters[TRACE_METER_CPU])               \
    X("?Instructions", "instructions", SOME_COUNT,                             \
      sum->meters[TRACE_METER_INSTRUCTIONS])                                   \
    X("Span", "name", TEXT, sum->texts[STAT_NAME])

#define KERNEL_COLUMNS(X)                                                      \
    X("Time", "time_percent", PERCENT,                                         \
      all > 0 ? 100 * (double)durations->total / all : 0)                      \
    X("Total", "total_ns", TIME, durations->total)                             \
    X("Instances", "instances", COUNT, durations->count)                       \
    X("Avg", "avg_ns", TIME, durations->mean)                                  \
    X("Med", "med_ns", TIME, runners_percentiles_quantile(durations, 0.5))     \
    X("Min", "min_ns", TIME, durations->least)                                 \
    X("Max", "max_ns", TIME, durations->most)                                  \
    X("StdDev", "stddev_ns", TIME, runners_percentiles_deviation(durations))   \
    X("Grid", "grid", FIELD, sum->texts[STAT_GRID])                            \
    X("Block", "block", FIELD, sum->texts[STAT_BLOCK])                         \
    X("Registers", "registers", FIELD, sum->texts[STAT_REGISTERS])             \
    X("Shared", "shared_memory", FIELD, sum->texts[STAT_SHARED])               \
    X("Occupancy", "occupancy_percent", FIELD, sum->texts[STAT_OCCUPANCY])     \
    X("Kernel", "name", TEXT, sum->texts[STAT_NAME])

#define TARGET_COLUMNS(X)                                                      \
    X("Lines", "lines", COUNT, sum->lines[TRACE_LEVEL_OFF])                    \
    X("Error", "error", COUNT, sum->lines[TRACE_LEVEL_ERROR])                  \
    X("Warn", "warn", COUNT, sum->lines[TRACE_LEVEL_WARN])                     \
    X("Info", "info", COUNT, sum->lines[TRACE_LEVEL_INFO])                     \
    X("Debug", "debug", COUNT, sum->lines[TRACE_LEVEL_DEBUG])                  \
    X("Trace", "trace", COUNT, sum->lines[TRACE_LEVEL_TRACE])                  \
    X("Target", "name", TEXT, sum->texts[STAT_NAME])

#define TEST_COLUMNS(X)                                                        \
    X("Time", "duration_ns", TIME, durations->total)                           \
    X("Spans", "spans", COUNT, sum->spans)                                     \
    X("Lines", "lines", COUNT, sum->lines[TRACE_LEVEL_OFF])                    \
    X("Kernels", "kernels", COUNT, sum->kernels)                               \
    X("?CPU", "cpu_ns", KNOWN_TIME, used(sum, sum->usage.cpu))                 \
    X("?Waits", "voluntary_switches", KNOWN_COUNT,                             \
      used(sum, sum->usage.voluntary))                                         \
    X("?Preempted", "involuntary_switches", KNOWN_COUNT,                       \
      used(sum, sum->usage.involuntary))                                       \
    X("?Peak RSS", "peak_rss_bytes", KNOWN_BYTES, used(sum, sum->usage.peak))  \
    X("?Read", "read_bytes", KNOWN_BYTES, used(sum, sum->usage.read))          \
    X("?Written", "written_bytes", KNOWN_BYTES, used(sum, sum->usage.written)) \
    X("?Faults", "minor_faults", KNOWN_COUNT, used(sum, sum->usage.minor))     \
    X("?Major", "major_faults", KNOWN_COUNT, used(sum, sum->usage.major))      \
    X("Program", "program", TEXT, sum->texts[STAT_PROGRAM])                    \
    X("Test", "name", TEXT, sum->texts[STAT_NAME])

#define TREE_COLUMNS(X)                                                        \
    X("Total", "total_ns", TIME, durations->total)                             \
    X("Self", "self_ns", TIME, sum->self)                                      \
    X("Count", "count", COUNT, durations->count)                               \
    X(NULL, "depth", COUNT, sum->depth)                                        \
    X("Span", "name", NESTED, sum->texts[STAT_NAME], sum->depth)

static const struct runners_column *const columns[STAT_TABLE_COUNT] = {
#define STAT_X(name, word) [STAT_##name] = RUNNERS_COLUMNS(name##_COLUMNS),
    STAT_TABLES(STAT_X)
#undef STAT_X
};

/* Returns -1 if it is unknown what a test used. */
static double used(const struct sum *sum, uint64_t number)
{
    return sum->usage.peak ? (double)number : -1;
}

/* `all` is the total of all sums. */
static void add(struct runners_table *table, enum stat_table kind,
                const struct sum *sum, double all)
{
    const struct percentiles *durations = &sum->durations;

    switch (kind) {
#define STAT_X(name, word)                                                     \
    case STAT_##name:                                                          \
        runners_table_add(table, RUNNERS_CELLS(name##_COLUMNS));               \
        break;
        STAT_TABLES(STAT_X)
#undef STAT_X
    default:
        break;
    }
}

static double total_of(const struct sums *sums)
{
    double all = 0;

    for (size_t i = 0; i < sums->count; i++)
        all += (double)sums->all[i].durations.total;
    return all;
}

void runners_stat_put(const struct sums *sums, enum runners_form form,
                      const char *where)
{
    static const char *const words[] = {
#define STAT_X(name, word) word,
        STAT_TABLES(STAT_X)
#undef STAT_X
    };
    struct runners_table table;
    double all = total_of(sums);

    runners_table_begin(&table, columns[sums->table], form);
    for (size_t i = 0; i < sums->count; i++)
        add(&table, sums->table, &sums->all[i], all);
    runners_table_end(&table);
    if (form == RUNNERS_AS_JSON)
        runners_stat_print_json(where, words[sums->table], table.rows);
}

void runners_stat_print_json(const char *where, const char *by, cJSON *rows)
{
    cJSON *document = cJSON_CreateObject();

    cJSON_AddNumberToObject(document, "schema", 1);
    runners_json_add_text(document, "run", where);
    cJSON_AddStringToObject(document, "by", by);
    cJSON_AddItemToObject(document, "rows", rows ? rows : cJSON_CreateArray());
    runners_json_print(document);
    cJSON_Delete(document);
}
