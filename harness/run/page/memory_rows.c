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

/* The fields of an activity; those that it lacks have type TRACE_TYPE_EMPTY. */
struct fields {
    struct trace_value bytes, address, memory, in_use, async;
};

static void read_fields(struct fields *fields, const struct trace_entry *entry)
{
    struct trace_values values = trace_values_of(entry);
    const struct trace_site *site = entry->site;
    struct trace_value value;
    struct {
        const char *name;
        struct trace_value *value;
    } const wanted[] = {{"bytes", &fields->bytes},
                        {"address", &fields->address},
                        {"memory", &fields->memory},
                        {"in_use", &fields->in_use},
                        {"async", &fields->async}};

    for (size_t i = 0;
         i < site->field_count && trace_values_next(&values, &value); i++)
        for (size_t at = 0; at < sizeof(wanted) / sizeof(*wanted); at++)
            if (!strcmp(site->fields[i], wanted[at].name))
                *wanted[at].value = value;
}

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

static unsigned what_of(const struct trace_entry *entry,
                        const struct fields *fields)
{
    if (entry->at.kind == TRACE_ACTIVITY_ALLOCATE)
        return ALLOCATION;
    return fields->address.type == TRACE_TYPE_EMPTY ? RELEASE_OF_ALL : RELEASE;
}

static void add_row(struct test_log_recorded *recorded,
                    const struct trace_entry *entry, uint32_t slice)
{
    struct test_log_strings *strings = &recorded->strings;
    struct fields fields = {0}; /* all are TRACE_TYPE_EMPTY */
    uint32_t memory = 0;

    read_fields(&fields, entry);
    if (is_text(&fields.memory))
        memory = test_log_strings_add(strings, fields.memory.as.text,
                                      fields.memory.size);
    TEST_LOG_ROW(
        &recorded->tables[TEST_LOG_MEMORY], entry->time, slice,
        test_log_slices_around(recorded, entry->span), what_of(entry, &fields),
        number_of(&fields.bytes), number_of(&fields.address),
        test_log_track_process(recorded, entry->at.device), entry->at.stream,
        memory, is_number(&fields.in_use) ? fields.in_use.as.u + 1 : 0,
        number_of(&fields.async));
}

void test_log_memory_add(struct test_log_recorded *recorded,
                         const struct trace_entry *entry, uint32_t slice)
{
    bool failed = entry->site->level <= TRACE_LEVEL_WARN;

    if (entry->at.kind == TRACE_ACTIVITY_ALLOCATE ||
        (entry->at.kind == TRACE_ACTIVITY_RELEASE && !failed))
        add_row(recorded, entry, slice);
}
