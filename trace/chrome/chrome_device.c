/* chrome_device.c: draws activities of devices as Chrome's trace events.
 *
 * The layout is Kineto's, which users of viewers know: a device is a process, a
 * stream is a thread of it, and an arrow leads from a call to the work that it
 * launched. Activities of the host are drawn on their threads.
 */
#include <stdlib.h>

#include "chrome_json.h"
#include "trace/read/reader_parts.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

enum {
    PIDS = 0x40000000,    /* of devices; no real process has such ids */
    DEVICES_MAX = 64,     /* per recording */
    BESIDE = 1 << 28,     /* added to a tid */
    APART = 1 << 27,      /* the tids of activities without thread and stream */
    CONTEXT_BITS = 16,    /* the bits of a tid above which the context is */
    CONTEXT_MASK = 0x7ff, /* so that it stays below APART */
    CLAMPED_MAX_NS = 1000,
    NONE = UINT32_MAX,
};

/* An end of an arrow. */
struct link {
    uint64_t begin;
    uint32_t correlation, place;
    uint32_t call; /* the first with this correlation; NONE: there is none */
    bool is_call, on_device;
    bool drawn;
    struct trace_chrome_point at;
};

struct device {
    uint32_t context; /* the first */
    bool several;     /* contexts */
    bool named;
    struct trace_entry counters; /* the last; its `place` is 0: none */
};

struct trace_chrome_devices {
    struct device devices[DEVICES_MAX];
    struct link *links; /* by correlation, then by time */
    size_t count;
};

/* ---- Calls and their work ---- */

static int in_order(const void *a, const void *b)
{
    const struct link *x = a, *y = b;

    if (x->correlation != y->correlation)
        return x->correlation < y->correlation ? -1 : 1;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static struct device *device_of(const struct trace_exporter *export,
                                const struct trace_entry *entry)
{
    return &export->devices->devices[entry->at.device % DEVICES_MAX];
}

static bool is_call(const struct trace_entry *entry)
{
    return entry->at.kind == TRACE_ACTIVITY_RUNTIME ||
           entry->at.kind == TRACE_ACTIVITY_DRIVER;
}

static void see(struct trace_exporter *export, const struct trace_entry *entry,
                uint64_t begin)
{
    struct trace_chrome_devices *all = export->devices;
    struct device *device = device_of(export, entry);

    if (entry->at.on_device && entry->at.context) {
        device->several |=
            device->context && device->context != entry->at.context;
        device->context = entry->at.context;
    }
    if (entry->at.correlation)
        all->links[all->count++] =
            (struct link){.begin = begin,
                          .correlation = entry->at.correlation,
                          .place = entry->id,
                          .call = NONE,
                          .is_call = is_call(entry),
                          .on_device = entry->at.on_device};
}

/* Finds the first call of each correlation. */
static void find_calls(struct trace_chrome_devices *all)
{
    for (size_t i = 0, end; i < all->count; i = end) {
        uint32_t call = NONE;

        for (end = i; end < all->count &&
                      all->links[end].correlation == all->links[i].correlation;
             end++)
            if (call == NONE && all->links[end].is_call)
                call = (uint32_t)end;
        for (size_t one = i; one < end; one++)
            all->links[one].call = call;
    }
}

bool trace_chrome_devices(struct trace_exporter *export)
{
    const struct trace_reader *reader = export->reader;
    struct trace_chrome_devices *all;
    struct trace_entry entry;

    if (!reader->device_count)
        return true;
    all = export->devices = calloc(1, sizeof(*all));
    if (!all ||
        !(all->links = calloc(reader->device_count, sizeof(*all->links))))
        return false;
    for (size_t i = 0; i < reader->device_count; i++)
        if (trace_reader_entry(reader, reader->devices[i].place,
                               reader->threads, &entry))
            see(export, &entry, reader->devices[i].begin);
    if (all->count)
        qsort(all->links, all->count, sizeof(*all->links), in_order);
    find_calls(all);
    return true;
}

void trace_chrome_devices_free(struct trace_exporter *export)
{
    if (export->devices)
        free(export->devices->links);
    free(export->devices);
}

/* Returns the link of an activity, or where it would be. */
static struct link *link_of(const struct trace_exporter *export,
                            const struct trace_entry *entry)
{
    const struct link key = {.begin = entry->at.begin,
                             .correlation = entry->at.correlation,
                             .place = entry->id};
    struct link *links = export->devices->links;
    size_t low = 0, high = export->devices->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (in_order(&links[middle], &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return links + low;
}

/* ---- Arrows ---- */

/* Draws the arrows between an activity and those that were drawn before. */
static void put_arrows(struct trace_exporter *export,
                       const struct trace_entry *entry,
                       const struct trace_chrome_row *row, uint64_t time)
{
    const struct trace_chrome_devices *all = export->devices;
    struct link *end = all->links + all->count;
    struct link *link = link_of(export, entry);
    const struct link *call;

    if (link == end || link->call == NONE)
        return;
    link->drawn = true;
    link->at = (struct trace_chrome_point){row->pid, row->tid, time};
    call = &all->links[link->call];
    if (link->on_device && call->drawn)
        trace_chrome_arrow(export, "ac2g", &call->at, &link->at);
    if (link != call)
        return;
    while (link > all->links && link[-1].correlation == call->correlation)
        link--;
    for (; link < end && link->correlation == call->correlation; link++)
        if (link->on_device && link->drawn)
            trace_chrome_arrow(export, "ac2g", &call->at, &link->at);
}

bool trace_chrome_flows(const struct trace_exporter *export,
                        const struct trace_entry *entry, size_t *cursor,
                        uint64_t *number)
{
    const struct trace_chrome_devices *all = export->devices;
    const struct link *end = all->links + all->count;
    const struct link *own = link_of(export, entry), *link;

    if (!entry->at.correlation || own == end || own->call == NONE)
        return false;
    if (own->on_device) {
        *number = (uint64_t)(own - all->links);
        return !(*cursor)++;
    }
    if (own != &all->links[own->call])
        return false;
    link = own; /* the first of its correlation, or behind work before it */
    while (!*cursor && link > all->links &&
           link[-1].correlation == own->correlation)
        link--;
    if (*cursor)
        link = all->links + *cursor;
    while (link < end && link->correlation == own->correlation &&
           !link->on_device)
        link++;
    *number = (uint64_t)(link - all->links);
    *cursor = *number + 1;
    return link < end && link->correlation == own->correlation;
}

/* ---- Rows ---- */

static uint32_t pid_of(const struct trace_exporter *export,
                       const struct trace_entry *entry)
{
    return PIDS + export->chrome->recordings * DEVICES_MAX +
           entry->at.device % DEVICES_MAX;
}

const char *trace_chrome_category(const struct trace_entry *entry)
{
    if (entry->at.kind == TRACE_ACTIVITY_RUNTIME)
        return trace_backend_of(entry->at.device)->calls;
    if (entry->at.kind == TRACE_ACTIVITY_SYNC)
        return trace_backend_of(entry->at.device)->waits;
    switch (entry->at.kind) {
#define TRACE_X(name, number, category, target, message, failed)               \
    case TRACE_ACTIVITY_##name:                                                \
        return category;
        TRACE_ACTIVITIES(TRACE_X)
#undef TRACE_X
    default:
        return "gpu";
    }
}

/* "GPU 0: NVIDIA H200", with the recording's name if there are several. */
static void name_device(struct trace_exporter *export,
                        const struct trace_entry *entry)
{
    struct device *device = device_of(export, entry);
    uint32_t pid = pid_of(export, entry);
    struct trace_text name = {0};

    if (device->named)
        return;
    device->named = true;
    trace_name_ordinal(&name, entry->at.device);
    trace_chrome_metadata(export, "process_labels", pid, 0, "labels",
                          name.data ? name.data : "GPU");
    trace_text_clear(&name);
    trace_name_device(&name, export->reader, entry->at.device);
    trace_text_printf(&name, "%s%s", export->chrome->several ? " of " : "",
                      export->chrome->several ? export->name : "");
    trace_chrome_metadata(export, "process_name", pid, 0, "name",
                          name.data ? name.data : "GPU");
    trace_chrome_index(export, "process_sort_index", pid, 0, pid);
    trace_text_free(&name);
}

static void title_row(struct trace_exporter *export,
                      const struct trace_chrome_row *row, uint32_t tid,
                      struct trace_text *title)
{
    const struct trace_activity_place *at = &row->entry->at;

    if (row->tid & APART)
        trace_text_string(title, trace_chrome_category(row->entry));
    else
        trace_name_stream(title, export->reader, at);
    if (!(row->tid & APART) && device_of(export, row->entry)->several &&
        at->context)
        trace_text_printf(title, " (ctx %u)", at->context);
    if (tid != row->tid)
        trace_text_string(title, " (overlapping)");
}

/* Activities without stream and thread have a row of their own. */
static struct trace_chrome_row row_of(struct trace_exporter *export,
                                      const struct trace_entry *entry)
{
    const struct trace_activity_place *at = &entry->at;
    struct trace_chrome_row row = {.pid = pid_of(export, entry),
                                   .tid = at->stream,
                                   .beside = BESIDE,
                                   .entry = entry,
                                   .title = title_row};

    if (!at->on_device && at->thread)
        return trace_chrome_thread(export, entry->thread);
    if (!at->on_device)
        row.tid = APART + at->kind;
    else if (device_of(export, entry)->several)
        row.tid = (at->context & CONTEXT_MASK) << CONTEXT_BITS |
                  (at->stream & ((1 << CONTEXT_BITS) - 1));
    else
        row.tid &= APART - 1;
    return row;
}

/* ---- Arguments ---- */

static void put_number(struct trace_text *text, const char *key, uint32_t n)
{
    if (!n)
        return;
    trace_chrome_key(text, key);
    trace_json_number(text, n);
}

/* Adds "(4, 64, 1)" as [4,64,1]; returns false if it is not of that form. */
static bool put_triple(struct trace_text *text, const char *key,
                       const struct trace_value *value)
{
    unsigned x, y, z;
    int end = 0;

    if ((value->type != TRACE_TYPE_STRING &&
         value->type != TRACE_TYPE_DISPLAY) ||
        sscanf(value->as.text, "(%9u, %9u, %9u)%n", &x, &y, &z, &end) != 3 ||
        (uint32_t)end != value->size)
        return false;
    trace_chrome_key(text, key);
    trace_text_printf(text, "[%u,%u,%u]", x, y, z);
    return true;
}

/* Our names and Kineto's. */
static const char *const kineto[][2] = {
    {"registers", "registers per thread"},
    {"shared", "shared memory"},
    {"occupancy", "est. achieved occupancy %"},
};

/* Returns whether a field repeats what has been written. */
static bool is_shown(const struct trace_entry *entry, const char *name)
{
    const struct trace_activity_place *at = &entry->at;
    const struct {
        const char *name;
        bool is_shown;
    } ours[] = {
        {"testlog.target", true},
        {"device", at->on_device},
        {"context", at->context},
        {"stream", at->stream || entry->launch},
        {"correlation", at->correlation},
        {"mangled", true},
        {"level", true},
        {"clamped_ns", true},
        {"grid", entry->launch},
        {"count", entry->launch},
        {"kernel.name", entry->launch},
    };

    for (size_t i = 0; i < COUNT(ours); i++)
        if (!strcmp(name, ours[i].name))
            return ours[i].is_shown;
    for (size_t i = 0; i < COUNT(kineto); i++)
        if (!strcmp(name, kineto[i][1]))
            return true;
    return false;
}

/* Writes a field under its own name and under Kineto's. */
static void put_field(struct trace_text *text, const char *name,
                      const struct trace_value *value)
{
    if (value->type == TRACE_TYPE_EMPTY)
        return;
    if (!strcmp(name, "count"))
        put_triple(text, "grid", value);
    if (!strcmp(name, "block") && put_triple(text, name, value))
        return;
    trace_chrome_key(text, name);
    trace_json_value(text, value);
    for (size_t i = 0; i < COUNT(kineto); i++)
        if (!strcmp(name, kineto[i][0])) {
            trace_chrome_key(text, kineto[i][1]);
            trace_json_value(text, value);
        }
}

static void put_fields(struct trace_text *text, const struct trace_entry *entry)
{
    struct trace_values values = trace_values_of(entry);
    const struct trace_site *site = entry->site;
    struct trace_value value;

    for (size_t i = 0;
         i < site->field_count && trace_values_next(&values, &value); i++)
        if (!is_shown(entry, site->fields[i]) &&
            !trace_chrome_has(site, i + 1, site->fields[i]))
            put_field(text, site->fields[i], &value);
    if (!entry->launch)
        return;
    values.next = entry->launch;
    for (size_t i = 0; i < TRACE_LAUNCH_FIELDS; i++)
        if (trace_values_next(&values, &value) &&
            (!entry->at.stream ||
             strcmp(trace_launch_fields[i], "stream") != 0))
            put_field(text, trace_launch_fields[i], &value);
}

static void put_args(struct trace_text *text, const struct trace_entry *entry,
                     uint64_t clamped)
{
    const struct trace_activity_place *at = &entry->at;
    const struct trace_site *site = entry->site;

    trace_chrome_literal(text, ",\"args\":{");
    if (at->on_device) {
        trace_chrome_key(text, "device");
        trace_json_number(text, at->device);
    }
    put_number(text, "context", at->context);
    if (at->kind != TRACE_ACTIVITY_ZONE)
        put_number(text, "stream", at->stream);
    put_number(text, "correlation", at->correlation);
    put_fields(text, entry);
    if (strcmp(site->name, site->function) != 0) {
        trace_chrome_key(text, "mangled");
        trace_chrome_string(text, site->function);
    }
    if (site->level <= TRACE_LEVEL_WARN) {
        trace_chrome_key(text, "level");
        trace_chrome_string(text, trace_level_word(site->level));
    }
    if (clamped) {
        trace_chrome_key(text, "clamped_ns");
        trace_json_number(text, clamped);
    }
    trace_chrome_key(text, "testlog.target");
    trace_chrome_string(text, site->target);
    trace_text_char(text, '}');
}

/* ---- Memory ---- */

bool trace_chrome_memory(const struct trace_entry *entry,
                         struct trace_value *value)
{
    return trace_entry_field(entry, "in_use", value) &&
           (value->type == TRACE_TYPE_U64 || value->type == TRACE_TYPE_I64);
}

/* Draws a value of a device, "GPU 0 memory", from a time on. */
void trace_chrome_count(struct trace_exporter *export,
                        const struct trace_entry *entry, uint64_t time,
                        const char *name, const struct trace_value *value)
{
    struct trace_text *text = &export->text, whole = {0};

    name_device(export, entry);
    trace_name_ordinal(&whole, entry->at.device);
    trace_text_printf(&whole, " %s", name);
    trace_text_clear(text);
    trace_text_printf(text, ",\n{\"ph\":\"C\",\"pid\":%u,\"tid\":0",
                      pid_of(export, entry));
    trace_chrome_time(text, ",\"ts\":", time);
    trace_chrome_literal(text, ",\"name\":");
    trace_chrome_string(text, whole.data ? whole.data : name);
    trace_chrome_literal(text, ",\"args\":{");
    trace_chrome_string(text, whole.data ? whole.data : name);
    trace_text_char(text, ':');
    trace_json_value(text, value);
    trace_chrome_literal(text, "}}");
    trace_chrome_put(export);
    trace_text_free(&whole);
}

/* ---- Counters ---- */

static void put_zeros(struct trace_exporter *export,
                      const struct trace_entry *entry,
                      trace_chrome_put_count *put)
{
    const struct trace_value zero = trace_u64_(0);

    for (size_t i = 0; i < entry->site->field_count; i++)
        put(export, entry, entry->end, entry->site->fields[i], &zero);
}

void trace_chrome_counters(struct trace_exporter *export,
                           const struct trace_entry *entry,
                           trace_chrome_put_count *put)
{
    struct trace_values values = trace_values_of(entry);
    const struct trace_site *site = entry->site;
    struct trace_value value;
    struct trace_entry *last;

    if (!export->devices)
        return;
    last = &device_of(export, entry)->counters;
    if (last->place && trace_is_apart(last->end, entry))
        put_zeros(export, last, put);
    *last = *entry;
    for (size_t i = 0;
         i < site->field_count && trace_values_next(&values, &value); i++)
        if (trace_chrome_is_number(&value))
            put(export, entry, entry->time, site->fields[i], &value);
}

void trace_chrome_counters_end(struct trace_exporter *export,
                               trace_chrome_put_count *put)
{
    for (size_t i = 0; export->devices && i < DEVICES_MAX; i++)
        if (export->devices->devices[i].counters.place)
            put_zeros(export, &export->devices->devices[i].counters, put);
}

/* ---- Slices ---- */

struct trace_chrome_row trace_chrome_device_place(
    struct trace_exporter *export, const struct trace_entry *entry,
    struct trace_chrome_extent *extent)
{
    uint64_t end = entry->end > entry->time ? entry->end : entry->time;
    struct trace_chrome_row row = row_of(export, entry);

    *extent =
        (struct trace_chrome_extent){entry->time, end, CLAMPED_MAX_NS,
                                     entry->at.on_device ? 0 : CLAMPED_MAX_NS};
    row.tid = trace_chrome_place(export, &row, extent);
    return row;
}

void trace_chrome_device(struct trace_exporter *export,
                         const struct trace_entry *entry)
{
    uint64_t end = entry->end > entry->time ? entry->end : entry->time;
    struct trace_text *text = &export->text;
    struct trace_chrome_extent extent;
    struct trace_chrome_row row;
    struct trace_value memory;

    if (!export->devices)
        return;
    if (entry->at.on_device || !entry->at.thread)
        name_device(export, entry);
    row = trace_chrome_device_place(export, entry, &extent);
    trace_text_clear(text);
    trace_text_printf(text, ",\n{\"ph\":\"X\",\"pid\":%u,\"tid\":%u", row.pid,
                      row.tid);
    trace_chrome_time(text, ",\"ts\":", extent.begin);
    trace_chrome_time(text, ",\"dur\":", extent.end - extent.begin);
    trace_text_printf(
        text, ",\"cat\":\"%s\",\"name\":", trace_chrome_category(entry));
    trace_chrome_string(text, entry->site->name);
    put_args(text, entry, end - entry->time - (extent.end - extent.begin));
    trace_text_char(text, '}');
    trace_chrome_put(export);
    if (entry->at.correlation)
        put_arrows(export, entry, &row, extent.begin);
    if (trace_chrome_memory(entry, &memory))
        trace_chrome_count(export, entry, entry->time, "memory", &memory);
}
