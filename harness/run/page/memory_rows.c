/* memory_rows.c: what a test allocated on devices, and what it released. */
#include <string.h>

#include "harness/run/page/recorded.h"

const struct test_log_table_kind test_log_memory_kind = {
    "memory",
    11,
    {{"time", TEST_LOG_DELTA},
     {"slice", TEST_LOG_NUMBER},
     {"span", TEST_LOG_NUMBER},
     {"release", TEST_LOG_NUMBER},
     {"bytes", TEST_LOG_NUMBER},
     {"address", TEST_LOG_NUMBER},
     {"device", TEST_LOG_NUMBER},
     {"stream", TEST_LOG_NUMBER},
     {"memory", TEST_LOG_NUMBER},
     {"in_use", TEST_LOG_NUMBER},
     {"async", TEST_LOG_NUMBER}}};

enum { ALLOCATION, RELEASE, RELEASE_OF_ALL };

/* A recording may be damaged, so a field may have any type. */
static bool is_text(const struct trace_value *value)
{
    return value->type == TRACE_TYPE_STRING ||
           value->type == TRACE_TYPE_DISPLAY;
}

static bool is_number(const struct trace_value *value)
{
    return value->type == TRACE_TYPE_U64 || value->type == TRACE_TYPE_POINTER ||
           value->type == TRACE_TYPE_BOOL;
}

static uint64_t number_of(const struct trace_value *value)
{
    return is_number(value) ? value->as.u : 0;
}

void test_log_memory_add(struct test_log_recorded *recorded,
                         const struct trace_entry *entry, uint32_t slice)
{
    enum { BYTES, ADDRESS, MEMORY, IN_USE, ASYNC, FIELDS };
    static const char *const names[FIELDS] = {"bytes", "address", "memory",
                                              "in_use", "async"};
    struct trace_value fields[FIELDS] = {{0}}, value; /* TRACE_TYPE_EMPTY */
    struct trace_values values = trace_values_of(entry);
    bool allocates = entry->at.kind == TRACE_ACTIVITY_ALLOCATE;
    bool failed = entry->site->level <= TRACE_LEVEL_WARN;
    unsigned what = ALLOCATION;
    uint32_t memory = 0;

    if (!allocates && (entry->at.kind != TRACE_ACTIVITY_RELEASE || failed))
        return;
    for (size_t i = 0;
         i < entry->site->field_count && trace_values_next(&values, &value);
         i++)
        for (size_t at = 0; at < FIELDS; at++)
            if (!strcmp(entry->site->fields[i], names[at]))
                fields[at] = value;
    if (!allocates)
        what =
            fields[ADDRESS].type == TRACE_TYPE_EMPTY ? RELEASE_OF_ALL : RELEASE;
    if (is_text(&fields[MEMORY]))
        memory = test_log_strings_add(
            &recorded->strings, fields[MEMORY].as.text, fields[MEMORY].size);
    TEST_LOG_ROW(&recorded->tables[TEST_LOG_MEMORY], entry->time, slice,
                 test_log_slices_around(recorded, entry->span), what,
                 number_of(&fields[BYTES]), number_of(&fields[ADDRESS]),
                 test_log_track_process(recorded, entry->at.device),
                 entry->at.stream, memory,
                 is_number(&fields[IN_USE]) ? fields[IN_USE].as.u + 1 : 0,
                 number_of(&fields[ASYNC]));
}
