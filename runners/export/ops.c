/* ops.c: writes operations of devices as comma-separated values, RFC 4180.
 *
 * An operation has the times of the host, which are those of the first call
 * with its correlation, and the times of the device.
 */
#include "ops.h"
#include "trace/base/text.h"
#include "trace/base/values.h"
#include "trace/format.h"
#include "trace/read/reader.h"
#include "trace/read/reader_parts.h"

#include <errno.h>
#include <stdlib.h>

/* The activities that have a row; X(NAME, word). */
#define OPS_COLUMNS(X)                                                         \
    X(KERNEL, "kernel")                                                        \
    X(GRAPH, "graph")                                                          \
    X(MEMCPY, "memcpy")                                                        \
    X(MEMSET, "memset")                                                        \
    X(COMPILE, "compile")

/* A row. */
struct op {
    uint64_t number;
    const char *test;
    const struct trace_reader *reader;
    const struct trace_entry *entry; /* NULL: of dropped records */
    const struct trace_entry *host;  /* NULL: its times are unknown */
    const char *dropped;             /* what is missing, or NULL */
};

static bool is_signpost(const struct trace_entry *entry)
{
    return entry->kind == TRACE_ENTRY_EVENT &&
           entry->site->kind == TRACE_SITE_SIGNPOST;
}

static bool is_on_device(const struct op *op)
{
    return op->entry && op->entry->kind == TRACE_ENTRY_DEVICE &&
           op->entry->at.on_device;
}

/* ---- Cells ---- */

/* A text that looks like a formula to a spreadsheet gets an apostrophe. Control
 * characters would break the line, or command a terminal. */
static void put_text(struct trace_text *line, const char *text, size_t size)
{
    trace_text_char(line, '"');
    if (size && memchr("=+-@\t\r", text[0], 6))
        trace_text_char(line, '\'');
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '"')
            trace_text_char(line, '"');
        trace_text_char(line, (unsigned char)text[i] < ' ' ? ' ' : text[i]);
    }
    trace_text_char(line, '"');
}

static void put_string(struct trace_text *line, const char *string)
{
    put_text(line, string, strlen(string));
}

static void put_value(struct trace_text *line, const struct trace_value *value)
{
    if (value->type == TRACE_TYPE_STRING || value->type == TRACE_TYPE_DISPLAY)
        put_text(line, value->as.text, value->size);
    else if (value->type == TRACE_TYPE_U64 || value->type == TRACE_TYPE_I64)
        trace_json_value(line, value);
}

/* Finds a value by its name; a launch's values precede the fields. */
static bool find_value(const struct trace_entry *entry, const char *name,
                       struct trace_value *value)
{
    struct trace_values values = trace_values_of(entry);
    size_t launch = entry->launch ? TRACE_LAUNCH_FIELDS : 0;

    if (entry->launch)
        values.next = entry->launch;
    for (size_t i = 0; i < launch + entry->site->field_count &&
                       trace_values_next(&values, value);
         i++)
        if (!strcmp(i < launch ? trace_launch_fields[i]
                               : entry->site->fields[i - launch],
                    name))
            return true;
    return false;
}

static void put_field(struct trace_text *line, const struct op *op,
                      const char *name)
{
    struct trace_value value;

    if (op->entry && find_value(op->entry, name, &value))
        put_value(line, &value);
}

/* ---- Columns ---- */

static void put_number(struct trace_text *line, const struct op *op)
{
    trace_json_number(line, op->number);
}

static void put_test(struct trace_text *line, const struct op *op)
{
    put_string(line, op->test);
}

/* Adds "outer:inner". */
static void put_spans(struct trace_text *line, const struct op *op)
{
    const char **names = NULL;
    struct trace_text path = {0};
    struct trace_entry span;
    size_t count = 0, capacity = 0;
    uint32_t place = op->entry ? op->entry->span : 0;

    for (; place && trace_reader_span(op->reader, place, &span) &&
           TRACE_ARRAY_RESERVE(names, capacity, count + 1);
         place = span.span)
        names[count++] = span.site->name;
    while (count--)
        trace_text_printf(&path, "%s%s", names[count], count ? ":" : "");
    if (path.data)
        put_text(line, path.data, path.size);
    trace_text_free(&path);
    free(names);
}

static const char *kind_of(const struct op *op)
{
    if (!op->entry)
        return "dropped";
    if (op->entry->kind == TRACE_ENTRY_EVENT)
        return "signpost";
    switch (op->entry->at.kind) {
#define TRACE_X(name, kind)                                                    \
    case TRACE_ACTIVITY_##name:                                                \
        return kind;
        OPS_COLUMNS(TRACE_X)
#undef TRACE_X
    default:
        return NULL;
    }
}

static void put_kind(struct trace_text *line, const struct op *op)
{
    trace_text_string(line, kind_of(op));
}

/* The name of a signpost is its header and its message. */
static void put_signpost(struct trace_text *line, const struct op *op)
{
    struct trace_values values = trace_values_of(op->entry);
    struct trace_text name = {0};
    struct trace_value value;

    for (int i = 0; i < 2 && trace_values_next(&values, &value); i++) {
        trace_text_string(&name, i ? ": " : "");
        if (value.type == TRACE_TYPE_STRING)
            trace_text_add(&name, value.as.text, value.size);
    }
    put_text(line, name.data ? name.data : "", name.size);
    trace_text_free(&name);
}

static void put_name(struct trace_text *line, const struct op *op)
{
    if (!op->entry)
        put_string(line, op->dropped);
    else if (op->entry->kind == TRACE_ENTRY_EVENT)
        put_signpost(line, op);
    else
        put_string(line, op->entry->site->name);
}

static void put_device(struct trace_text *line, const struct op *op)
{
    if (is_on_device(op))
        trace_json_number(line, op->entry->at.device);
}

static void put_stream(struct trace_text *line, const struct op *op)
{
    if (is_on_device(op))
        trace_json_number(line, op->entry->at.stream);
}

static void put_host_start(struct trace_text *line, const struct op *op)
{
    if (op->host)
        trace_json_number(line, op->host->time);
}

static uint64_t end_of(const struct trace_entry *entry)
{
    return entry->kind == TRACE_ENTRY_DEVICE ? entry->end : entry->time;
}

static void put_host_end(struct trace_text *line, const struct op *op)
{
    if (op->host)
        trace_json_number(line, end_of(op->host));
}

static void put_host_time(struct trace_text *line, const struct op *op)
{
    if (op->host)
        trace_json_number(line,
                          trace_between(op->host->time, end_of(op->host)));
}

/* From the call to the start on the device. Their clocks may disagree. */
static void put_delay(struct trace_text *line, const struct op *op)
{
    if (is_on_device(op) && op->host)
        trace_json_number(line, trace_between(op->host->time, op->entry->time));
}

static void put_start(struct trace_text *line, const struct op *op)
{
    if (is_on_device(op))
        trace_json_number(line, op->entry->time);
}

static void put_end(struct trace_text *line, const struct op *op)
{
    if (is_on_device(op))
        trace_json_number(line, op->entry->end);
}

static void put_time(struct trace_text *line, const struct op *op)
{
    if (is_on_device(op))
        trace_json_number(line, trace_between(op->entry->time, op->entry->end));
}

static void put_grid(struct trace_text *line, const struct op *op)
{
    if (is_on_device(op))
        put_field(line, op, "count");
}

static void put_block(struct trace_text *line, const struct op *op)
{
    put_field(line, op, "block");
}

static void put_registers(struct trace_text *line, const struct op *op)
{
    put_field(line, op, "registers");
}

static void put_shared(struct trace_text *line, const struct op *op)
{
    put_field(line, op, "shared");
}

static void put_bytes(struct trace_text *line, const struct op *op)
{
    put_field(line, op, "bytes");
}

static void put_correlation(struct trace_text *line, const struct op *op)
{
    if (op->entry && op->entry->at.correlation)
        trace_json_number(line, op->entry->at.correlation);
}

/* Where the signpost is, or the span around an operation. */
static void put_place(struct trace_text *line, const struct op *op)
{
    struct trace_text place = {0};
    struct trace_entry span;
    const struct trace_site *site = NULL;

    if (op->entry && is_signpost(op->entry))
        site = op->entry->site;
    else if (op->entry && op->entry->span &&
             trace_reader_span(op->reader, op->entry->span, &span))
        site = span.site;
    if (!site)
        return;
    trace_text_printf(&place, "%s:%u", site->file, site->line);
    put_string(line, place.data ? place.data : "");
    trace_text_free(&place);
}

/* X(name, function) */
#define COLUMNS(X)                                                             \
    X("seq", put_number)                                                       \
    X("test", put_test)                                                        \
    X("spans", put_spans)                                                      \
    X("kind", put_kind)                                                        \
    X("name", put_name)                                                        \
    X("device", put_device)                                                    \
    X("stream", put_stream)                                                    \
    X("host start [ns]", put_host_start)                                       \
    X("host end [ns]", put_host_end)                                           \
    X("host duration [ns]", put_host_time)                                     \
    X("queue delay [ns]", put_delay)                                           \
    X("device start [ns]", put_start)                                          \
    X("device end [ns]", put_end)                                              \
    X("device duration [ns]", put_time)                                        \
    X("grid", put_grid)                                                        \
    X("block", put_block)                                                      \
    X("registers", put_registers)                                              \
    X("shared memory [bytes]", put_shared)                                     \
    X("bytes", put_bytes)                                                      \
    X("correlation", put_correlation)                                          \
    X("location", put_place)

static const struct {
    const char *name;
    void (*put)(struct trace_text *, const struct op *);
} columns[] = {
#define TRACE_X(name, put) {name, put},
    COLUMNS(TRACE_X)
#undef TRACE_X
};

enum { COUNT = sizeof(columns) / sizeof(*columns) };

/* ---- Rows ---- */

void runners_ops_begin(FILE *stream)
{
    for (size_t i = 0; i < COUNT; i++)
        fprintf(stream, "%s%s", columns[i].name, i + 1 < COUNT ? "," : "\n");
}

/* The recording that is being written. */
struct writing {
    struct runners_ops *ops;
    struct trace_reader *reader;
    const char *test;
    FILE *stream;
    struct trace_text line;
    struct trace_table calls; /* correlation to the call's place */
    bool failed;              /* memory was exhausted */
};

static void put_row(struct writing *writing, struct op *op)
{
    struct trace_text *line = &writing->line;

    op->number = ++writing->ops->rows;
    op->test = writing->test;
    op->reader = writing->reader;
    trace_text_clear(line);
    for (size_t i = 0; i < COUNT; i++) {
        columns[i].put(line, op);
        trace_text_string(line, i + 1 < COUNT ? "," : "\n");
    }
    if (!line->failed)
        fwrite(line->data, 1, line->size, writing->stream);
    writing->failed |= line->failed;
}

/* Finds the call that an operation began with. */
static bool find_call(const struct writing *writing,
                      const struct trace_entry *entry, struct trace_entry *call)
{
    uintptr_t place;

    return entry->at.correlation &&
           trace_table_find(&writing->calls, entry->at.correlation, &place) &&
           trace_reader_entry(writing->reader, (uint32_t)place, entry->thread,
                              call);
}

static void put_entry(struct writing *writing, const struct trace_entry *entry)
{
    struct op op = {.entry = entry};
    struct trace_entry call;

    if (entry->kind != TRACE_ENTRY_DEVICE && !is_signpost(entry))
        return;
    if (!kind_of(&op))
        return;
    if (!is_on_device(&op))
        op.host = entry;
    else if (find_call(writing, entry, &call))
        op.host = &call;
    put_row(writing, &op);
}

/* Keeps the first call of each correlation: one that was made by another call
 * has the same. */
static void keep_call(struct writing *writing, const struct trace_entry *entry)
{
    uintptr_t unused;

    if (entry->kind != TRACE_ENTRY_DEVICE || !entry->at.correlation ||
        (entry->at.kind != TRACE_ACTIVITY_RUNTIME &&
         entry->at.kind != TRACE_ACTIVITY_DRIVER) ||
        trace_table_find(&writing->calls, entry->at.correlation, &unused))
        return;
    if (!trace_table_set(&writing->calls, entry->at.correlation, entry->id))
        writing->failed = true;
}

static int each_entry(struct writing *writing,
                      void (*visit)(struct writing *,
                                    const struct trace_entry *))
{
    struct trace_entry entry;

    if (trace_reader_rewind(writing->reader))
        return -1;
    while (!writing->failed && trace_reader_next(writing->reader, &entry))
        visit(writing, &entry);
    if (writing->failed)
        errno = ENOMEM;
    return writing->failed ? -1 : 0;
}

int runners_ops_add(struct runners_ops *ops, struct trace_reader *reader,
                    const char *test, const char *losses, FILE *stream)
{
    struct writing writing = {
        .ops = ops, .reader = reader, .test = test, .stream = stream};
    int result = 0;

    if (trace_reader_has_devices(reader))
        result = each_entry(&writing, keep_call);
    if (!result)
        result = each_entry(&writing, put_entry);
    if (losses)
        put_row(&writing, &(struct op){.dropped = losses});
    trace_table_free(&writing.calls);
    trace_text_free(&writing.line);
    return result;
}
