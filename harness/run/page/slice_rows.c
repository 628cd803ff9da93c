/* slice_rows.c: the slices of spans and of activities of devices, and the
 * arrows from calls to the work that they launched. */
#include <string.h>

#include "harness/run/page/recorded.h"
#include "trace/base/text.h"

/* The bits of a slice's state. */
enum {
    STATE_OPEN = 1,          /* at the end of the recording */
    STATE_NEVER_ENTERED = 2, /* the span was only created here */
    STATE_ON_DEVICE = 4,
};

const struct test_log_table_kind test_log_slice_kind = {
    "slices",
    11,
    {{"start", TEST_LOG_DELTA},
     {"duration", TEST_LOG_NUMBER},
     {"track", TEST_LOG_NUMBER},
     {"depth", TEST_LOG_NUMBER},
     {"name", TEST_LOG_NUMBER},
     {"site", TEST_LOG_NUMBER},
     {"parent", TEST_LOG_NUMBER},
     {"again", TEST_LOG_NUMBER},
     {"state", TEST_LOG_NUMBER},
     {"kind", TEST_LOG_NUMBER},
     {"fields", TEST_LOG_NUMBER}}};

const struct test_log_table_kind test_log_slice_field_kind = {
    "slice_fields", 2, {{"name", TEST_LOG_NUMBER}, {"value", TEST_LOG_NUMBER}}};

const struct test_log_table_kind test_log_ended_kind = {
    "ended",
    3,
    {{"row", TEST_LOG_DELTA},
     {"duration", TEST_LOG_NUMBER},
     {"fields", TEST_LOG_NUMBER}}};

const struct test_log_table_kind test_log_ended_field_kind = {
    "ended_fields", 2, {{"name", TEST_LOG_NUMBER}, {"value", TEST_LOG_NUMBER}}};

const struct test_log_table_kind test_log_flow_kind = {
    "flows", 2, {{"from", TEST_LOG_NUMBER}, {"to", TEST_LOG_NUMBER}}};

static struct test_log_table *slices_of(struct test_log_recorded *recorded)
{
    return &recorded->tables[TEST_LOG_SLICES];
}

static size_t next_row(const struct test_log_recorded *recorded)
{
    return test_log_table_next(&recorded->tables[TEST_LOG_SLICES]);
}

/* Finds the row of a span's first slice. */
static bool find_row(const struct test_log_recorded *recorded, uint32_t place,
                     uintptr_t *row)
{
    return trace_table_find(&recorded->spans, place, row) ||
           trace_table_find(&recorded->earlier, place, row);
}

uint32_t test_log_slices_around(const struct test_log_recorded *recorded,
                                uint32_t place)
{
    struct trace_entry span;
    uintptr_t row;

    for (; place; place = span.span) {
        if (find_row(recorded, place, &row))
            return (uint32_t)row + 1;
        if (!trace_reader_span(recorded->reader, place, &span))
            return 0;
    }
    return 0;
}

/* ---- Rows ---- */

/* The facts that differ between the kinds of slices. */
struct slice {
    uint32_t parent; /* row + 1, 0: none */
    uint32_t first;  /* row + 1 of the span's first slice, 0: this is it */
    uint32_t kind;   /* a string */
    unsigned state;
    size_t fields;
};

/* The distance back to a row + 1; 0 stays 0. */
static uint64_t back_to(uint64_t row, uint32_t other)
{
    return other && other <= row ? row + 1 - other : 0;
}

static void add_row(struct test_log_recorded *recorded,
                    const struct trace_entry *entry,
                    const struct trace_site *site, const struct slice *slice)
{
    struct test_log_table *slices = slices_of(recorded);
    uint32_t track = test_log_track_of(recorded, entry);
    struct test_log_site_row row = test_log_recorded_site(recorded, site);
    uint64_t end = entry->end, number = next_row(recorded);

    if (slice->state & STATE_OPEN)
        end = recorded->end;
    if (end < entry->time || slice->state & STATE_NEVER_ENTERED)
        end = entry->time;
    TEST_LOG_ROW(slices, entry->time, end == UINT64_MAX ? 0 : end - entry->time,
                 track, test_log_track_depth(recorded, track, entry->time, end),
                 row.name, row.row, back_to(number, slice->parent),
                 back_to(number, slice->first), slice->state, slice->kind,
                 slice->fields);
}

/* ---- Spans ---- */

static size_t add_span_fields(struct test_log_recorded *recorded,
                              enum test_log_recorded_table table,
                              const struct trace_entry *span)
{
    struct trace_field fields[TRACE_FIELDS_MAX];
    size_t count =
        trace_reader_fields(recorded->reader, span, UINT64_MAX, fields);
    size_t added = 0;

    for (size_t i = 0; i < count; i++)
        added += test_log_recorded_field(recorded, table, fields[i].name,
                                         &fields[i].value);
    return added;
}

static void add_span(struct test_log_recorded *recorded,
                     const struct trace_entry *entry)
{
    struct slice slice = {
        .parent = test_log_slices_around(recorded, entry->span),
        .state = !entry->entered            ? STATE_NEVER_ENTERED
                 : entry->end == UINT64_MAX ? STATE_OPEN
                                            : 0,
        .fields = add_span_fields(recorded, TEST_LOG_SLICE_FIELDS, entry)};

    trace_table_set(&recorded->spans, entry->id, next_row(recorded));
    add_row(recorded, entry, entry->site, &slice);
}

static void add_enter(struct test_log_recorded *recorded,
                      const struct trace_entry *entry)
{
    struct slice slice = {.state = entry->end == UINT64_MAX ? STATE_OPEN : 0};
    struct trace_entry span;
    uintptr_t row;

    if (!trace_reader_span(recorded->reader, entry->span, &span))
        return;
    slice.parent = test_log_slices_around(recorded, span.span);
    if (find_row(recorded, entry->span, &row))
        slice.first = (uint32_t)row + 1;
    else
        slice.fields = add_span_fields(recorded, TEST_LOG_SLICE_FIELDS, &span);
    add_row(recorded, entry, span.site, &slice);
}

/* ---- Devices ---- */

static const char *kind_of(const struct trace_entry *entry)
{
    switch (entry->at.kind) {
#define TRACE_X(name, number, category, target, message, failed)               \
    case TRACE_ACTIVITY_##name:                                                \
        return #name;
        TRACE_ACTIVITIES(TRACE_X)
#undef TRACE_X
    default:
        return "";
    }
}

/* Whether the call site or the track of an activity has a field's value. */
static bool is_known(const struct trace_entry *entry, const char *name)
{
    return !strcmp(name, "testlog.target") ||
           (!trace_is_on_thread(entry) &&
            (!strcmp(name, "device") || !strcmp(name, "context") ||
             !strcmp(name, "stream")));
}

static size_t add_launch(struct test_log_recorded *recorded,
                         const struct trace_entry *entry)
{
    struct trace_values values = trace_values_of(entry);
    struct trace_value value;
    size_t added = 0;

    values.next = entry->launch;
    for (size_t i = 0; entry->launch && i < TRACE_LAUNCH_FIELDS &&
                       trace_values_next(&values, &value);
         i++)
        if (!is_known(entry, trace_launch_fields[i]))
            added += test_log_recorded_field(recorded, TEST_LOG_SLICE_FIELDS,
                                             trace_launch_fields[i], &value);
    return added;
}

static size_t add_device_fields(struct test_log_recorded *recorded,
                                const struct trace_entry *entry)
{
    struct trace_values values = trace_values_of(entry);
    const struct trace_site *site = entry->site;
    struct trace_value value;
    size_t added = add_launch(recorded, entry);

    for (size_t i = 0;
         i < site->field_count && trace_values_next(&values, &value); i++)
        if (!is_known(entry, site->fields[i]))
            added += test_log_recorded_field(recorded, TEST_LOG_SLICE_FIELDS,
                                             site->fields[i], &value);
    return added;
}

static void link_row(struct test_log_recorded *recorded,
                     const struct trace_entry *entry)
{
    bool is_call = entry->at.kind == TRACE_ACTIVITY_RUNTIME ||
                   entry->at.kind == TRACE_ACTIVITY_DRIVER;

    if (!entry->at.correlation || (!is_call && !entry->at.on_device) ||
        !TRACE_ARRAY_RESERVE(recorded->links, recorded->link_capacity,
                             recorded->link_count + 1))
        return;
    recorded->links[recorded->link_count++] =
        (struct test_log_link){.correlation = entry->at.correlation,
                               .row = (uint32_t)next_row(recorded),
                               .on_device = entry->at.on_device};
}

static void add_device(struct test_log_recorded *recorded,
                       const struct trace_entry *entry)
{
    const char *kind = kind_of(entry);
    char word[16] = "";
    struct slice slice = {.parent =
                              test_log_slices_around(recorded, entry->span),
                          .state = entry->at.on_device ? STATE_ON_DEVICE : 0,
                          .fields = add_device_fields(recorded, entry)};

    for (size_t i = 0; i < sizeof(word) - 1 && kind[i]; i++)
        word[i] = (char)(kind[i] | ' '); /* lower case */
    slice.kind = test_log_strings_of(&recorded->strings, word);
    link_row(recorded, entry);
    add_row(recorded, entry, entry->site, &slice);
}

uint32_t test_log_slices_add(struct test_log_recorded *recorded,
                             const struct trace_entry *entry)
{
    size_t row = next_row(recorded);

    test_log_path_note(recorded, entry);
    if (test_log_cut_slice(&recorded->cut, test_log_slice_duration(entry)))
        return 0;
    if (entry->kind == TRACE_ENTRY_SPAN)
        add_span(recorded, entry);
    else if (entry->kind == TRACE_ENTRY_ENTER)
        add_enter(recorded, entry);
    else
        add_device(recorded, entry);
    return next_row(recorded) > row ? (uint32_t)row + 1 : 0;
}

/* ---- Slices that end later ---- */

void test_log_slices_sum(struct test_log_recorded *recorded,
                         const struct trace_entry *entry)
{
    const struct trace_value count = {.type = TRACE_TYPE_U64,
                                      .as.u = entry->count};
    struct test_log_site_row site =
        test_log_recorded_site(recorded, entry->site);
    uint32_t track = test_log_track_of(recorded, entry), name;
    struct trace_text *text = &recorded->text;
    size_t fields = test_log_recorded_field(recorded, TEST_LOG_SLICE_FIELDS,
                                            "spans", &count);

    trace_text_clear(text);
    trace_text_printf(text, "%s …", entry->site->name);
    name = test_log_strings_add(&recorded->strings, text->data, text->size);
    TEST_LOG_ROW(slices_of(recorded), entry->time, entry->end - entry->time,
                 track,
                 test_log_track_depth(recorded, track, entry->time, entry->end),
                 name, site.row,
                 back_to(next_row(recorded),
                         test_log_slices_around(recorded, entry->span)),
                 0, 0, 0, fields);
}

void test_log_slices_end(struct test_log_recorded *recorded, uint32_t track,
                         uint32_t row, uint64_t begin, uint64_t end,
                         size_t fields)
{
    trace_slices_end(&recorded->slices, track, row, end);
    TEST_LOG_ROW(&recorded->tables[TEST_LOG_ENDED], row,
                 trace_between(begin, end), fields);
}

size_t test_log_slices_late(struct test_log_recorded *recorded, uint32_t place)
{
    struct trace_entry span, late;
    size_t cursor = 0;

    if (!trace_reader_late(recorded->reader, place, UINT64_MAX, &cursor,
                           &late) ||
        !trace_reader_span(recorded->reader, place, &span))
        return 0;
    return add_span_fields(recorded, TEST_LOG_ENDED_FIELDS, &span);
}

void test_log_slices_forget(struct test_log_recorded *recorded)
{
    trace_table_free(&recorded->earlier);
    recorded->earlier = recorded->spans;
    recorded->spans = (struct trace_table){.count = 0};
}

/* ---- Arrows ---- */

/* The first call of a correlation launched all its work. */
void test_log_flows_put(struct test_log_recorded *recorded)
{
    struct trace_table *calls = &recorded->calls;
    uintptr_t row;

    for (size_t i = 0; i < recorded->link_count; i++) {
        const struct test_log_link *link = &recorded->links[i];

        if (!link->on_device &&
            !trace_table_find(calls, link->correlation, &row))
            trace_table_set(calls, link->correlation, link->row);
    }
    for (size_t i = 0; i < recorded->link_count; i++) {
        const struct test_log_link *link = &recorded->links[i];

        if (link->on_device && trace_table_find(calls, link->correlation, &row))
            TEST_LOG_ROW(&recorded->tables[TEST_LOG_FLOWS], row, link->row);
    }
    recorded->link_count = 0;
}
