/* activity.c: makes an activity of one record. */
#include <stdarg.h>
#include <stdlib.h>

#include "decoder.h"
#include "trace/base/text.h"
#include "trace/base/values.h"
#include "trace/format.h"
#include "trace/read/reader.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* ---- Common fields ---- */

/* The fields that all activities have, by kind. */
static const struct common {
    enum cupti_field start, end, correlation;
    bool on_device;
} commons[CUPTI_KIND_LIMIT] = {
#define ROW(kind, name, device)                                                \
    [CUPTI_KIND_##kind] = {CUPTI_##name##_START, CUPTI_##name##_END,           \
                           CUPTI_##name##_CORRELATION, device}
    ROW(CONCURRENT_KERNEL, KERNEL, true),
    ROW(MEMCPY, MEMCPY, true),
    ROW(MEMCPY2, PEER, true),
    ROW(MEMSET, MEMSET, true),
    ROW(RUNTIME, CALL, false),
    ROW(DRIVER, CALL, false),
    ROW(OVERHEAD, OVERHEAD, false),
    ROW(JIT, JIT, false),
    ROW(SYNCHRONIZATION, SYNC, false),
    ROW(GRAPH_TRACE, GRAPH, true),
#undef ROW
    [CUPTI_KIND_CUDA_EVENT] = {CUPTI_EVENT_TIME, CUPTI_EVENT_TIME,
                               CUPTI_EVENT_CORRELATION, true},
    /* has no call */
    [CUPTI_KIND_UNIFIED_MEMORY_COUNTER] = {CUPTI_UNIFIED_START,
                                           CUPTI_UNIFIED_END, 0, false},
    [CUPTI_KIND_MEMORY2] = {CUPTI_MEMORY_TIME, CUPTI_MEMORY_TIME,
                            CUPTI_MEMORY_CORRELATION, false},
};

/* An event has no time if the device did not reach it, or if CUPTI is older
 * than 12.8. No document says which clock the time is from. */
bool cupti_is_activity(const struct cupti_decoder *decoder,
                       const struct cupti_record *record)
{
    return commons[record->kind].end &&
           (record->kind != CUPTI_KIND_CUDA_EVENT ||
            cupti_is_time(&decoder->clock,
                          cupti_get(record, CUPTI_EVENT_TIME)));
}

uint32_t cupti_correlation(const struct cupti_decoder *decoder,
                           const struct cupti_record *record)
{
    enum cupti_field field = commons[record->kind].correlation;

    return field && cupti_is_activity(decoder, record)
               ? cupti_get32(record, field)
               : 0;
}

bool cupti_on_device(const struct cupti_decoder *decoder,
                     const struct cupti_record *record)
{
    return commons[record->kind].on_device &&
           cupti_is_activity(decoder, record);
}

/* Returns the end of a record's call, its own beginning, or when its buffer
 * arrived. */
static uint64_t estimate(const struct cupti_decoder *decoder,
                         const struct cupti_record *record, uint64_t begin)
{
    const struct cupti_clock *clock = &decoder->clock;
    const struct cupti_call *call =
        cupti_call_find(decoder, cupti_correlation(decoder, record));

    if (call && cupti_is_time(clock, call->end))
        return cupti_ticks(clock, call->end);
    return cupti_is_time(clock, begin) ? cupti_ticks(clock, begin)
                                       : clock->last.ticks;
}

struct cupti_times cupti_times(const struct cupti_decoder *decoder,
                               const struct cupti_record *record)
{
    const struct cupti_clock *clock = &decoder->clock;
    const struct common *common = &commons[record->kind];
    uint64_t begin = cupti_get(record, common->start);
    uint64_t end = cupti_get(record, common->end);
    uint64_t estimated;

    if (cupti_is_time(clock, begin) && cupti_is_time(clock, end) &&
        begin <= end)
        return (struct cupti_times){cupti_ticks(clock, begin),
                                    cupti_ticks(clock, end), false};
    estimated = estimate(decoder, record, begin);
    return (struct cupti_times){estimated, estimated, true};
}

/* ---- Values ---- */

struct building {
    struct cupti_decoder *decoder;
    struct trace_activity activity;
    const struct cupti_record *record;
    const struct cupti_call *call; /* NULL: unknown */
    const char *names[TRACE_ACTIVITY_FIELDS];
    struct trace_value values[TRACE_LAUNCH_FIELDS + TRACE_ACTIVITY_FIELDS];
    size_t value_count;
    char text[1024]; /* what values point to */
    size_t text_size;
};

/* Lists of field names are kept: the call site of an activity refers to them.
 */
static const char *const *keep_names(const struct building *building)
{
    size_t count = building->activity.field_count;
    size_t size = count * sizeof(*building->names);
    struct cupti_field_names **known = &building->decoder->names.fields;
    struct cupti_field_names *one = *known;

    while (one && (one->count != count ||
                   memcmp(one->names, building->names, size) != 0))
        one = one->next;
    if (!one && (one = malloc(sizeof(*one) + size))) {
        one->count = count;
        memcpy(one->names, building->names, size);
        one->next = *known;
        *known = one;
    }
    return one ? one->names : NULL;
}

static struct trace_value display(const char *text)
{
    struct trace_value value = trace_text_(text);

    value.type = TRACE_TYPE_DISPLAY;
    return value;
}

static void add(struct building *building, const char *name,
                struct trace_value value)
{
    if (building->activity.field_count == TRACE_ACTIVITY_FIELDS)
        return;
    building->names[building->activity.field_count++] = name;
    building->values[building->value_count++] = value;
}

static void add_number(struct building *building, const char *name,
                       uint64_t number)
{
    add(building, name, trace_u64_(number));
}

static void add_field(struct building *building, const char *name,
                      enum cupti_field field)
{
    add_number(building, name, cupti_get(building->record, field));
}

/* Returns formatted text that lives as long as `building`. */
static const char *print(struct building *building, const char *format, ...)
    TRACE_PRINTF(2, 3);

static const char *print(struct building *building, const char *format, ...)
{
    char *text = building->text + building->text_size;
    size_t room = sizeof(building->text) - building->text_size;
    locale_t before = trace_locale_enter();
    va_list args;
    int size;

    va_start(args, format);
    size = vsnprintf(text, room, format, args);
    va_end(args);
    trace_locale_leave(before);
    if (size < 0 || (size_t)size >= room)
        return "?";
    building->text_size += (size_t)size + 1;
    return text;
}

/* Launches are frequent, and printf is slow: it costs more than the rest. */
static char *put_number(char *to, uint64_t number)
{
    char digits[20];
    size_t count = 0;

    do
        digits[count++] = (char)('0' + number % 10);
    while (number /= 10);
    while (count)
        *to++ = digits[--count];
    return to;
}

/* Returns where `room` bytes of text fit; NULL if they don't. */
static char *text_room(const struct building *building, size_t room)
{
    return sizeof(building->text) - building->text_size < room
               ? NULL
               : (char *)building->text + building->text_size;
}

/* Ends a text of text_room, and returns it. */
static const char *end_text(struct building *building, char *end)
{
    const char *begin = building->text + building->text_size;

    *end = '\0';
    building->text_size = (size_t)(end + 1 - building->text);
    return begin;
}

static const char *print_three(struct building *building,
                               const uint32_t numbers[3])
{
    char *to = text_room(building, sizeof("(4294967295, 4294967295, "
                                          "4294967295)"));

    if (!to)
        return "?";
    *to++ = '(';
    for (int i = 0; i < 3; i++) {
        to = put_number(to, numbers[i]);
        *to++ = i < 2 ? ',' : ')';
        if (i < 2)
            *to++ = ' ';
    }
    return end_text(building, to);
}

static struct trace_value three_of(struct building *building,
                                   enum cupti_field first)
{
    const uint32_t numbers[] = {cupti_get32(building->record, first),
                                cupti_get32(building->record, first + 1),
                                cupti_get32(building->record, first + 2)};

    return display(print_three(building, numbers));
}

/* "1.3µs": in the largest unit that is not larger, rounded to a tenth. */
static const char *print_time(struct building *building, uint64_t ns)
{
    static const struct unit {
        const char *name;
        uint64_t tenth; /* ns */
    } units[] = {{"s", 100000000}, {"ms", 100000}, {"µs", 100}};
    const struct unit *unit = units;
    char *to = text_room(building, 32);
    uint64_t tenths;

    if (!to)
        return "?";
    if (ns < 1000)
        return end_text(building, stpcpy(put_number(to, ns), "ns"));
    while (ns < 10 * unit->tenth)
        unit++;
    tenths = (ns + unit->tenth / 2) / unit->tenth;
    to = put_number(to, tenths / 10);
    *to++ = '.';
    *to++ = (char)('0' + tenths % 10);
    return end_text(building, stpcpy(to, unit->name));
}

/* The fields of a launch come first. */
static void add_launch(struct building *building, struct trace_value count,
                       uint32_t stream, struct trace_value kernel)
{
    building->activity.at.launched = 1;
    building->values[0] = count;
    building->values[1] = trace_u64_(stream);
    building->values[2] = kernel;
    building->value_count = TRACE_LAUNCH_FIELDS;
}

/* ---- Activities on devices ---- */

static void place(struct building *building, enum cupti_field device,
                  enum cupti_field context, enum cupti_field stream)
{
    struct trace_activity_place *at = &building->activity.at;

    at->device = cupti_get32(building->record, device);
    at->context = cupti_get32(building->record, context);
    at->stream = cupti_get32(building->record, stream);
    if (at->stream == UINT32_MAX)
        at->stream = 0;
}

static void add_place(struct building *building)
{
    add_number(building, "device", building->activity.at.device);
    add_number(building, "context", building->activity.at.context);
}

static void add_graph(struct building *building, enum cupti_field graph,
                      enum cupti_field node)
{
    struct cupti_node from;

    if (!cupti_get(building->record, graph))
        return;
    add_field(building, "graph", graph);
    add_field(building, "graph.node", node);
    if (!building->decoder->source->node(building->decoder->context,
                                         cupti_get(building->record, node),
                                         &from))
        return;
    add_number(building, "graph.original", from.id);
    if (from.span[0])
        add(building, "graph.span", display(from.span));
}

static void add_shared(struct building *building)
{
    uint32_t fixed = cupti_get32(building->record, CUPTI_KERNEL_STATIC);
    uint32_t dynamic = cupti_get32(building->record, CUPTI_KERNEL_DYNAMIC);

    add_number(building, "shared", (uint64_t)fixed + dynamic);
    if (fixed)
        add_number(building, "shared.static", fixed);
    if (dynamic)
        add_number(building, "shared.dynamic", dynamic);
}

static void add_occupancy(struct building *building)
{
    const struct cupti_record *record = building->record;
    const struct cupti_device *device =
        cupti_device(building->decoder, building->activity.at.device);
    struct cupti_launch launch = {
        .registers = cupti_get32(record, CUPTI_KERNEL_REGISTERS),
        .shared = cupti_get(record, CUPTI_KERNEL_STATIC) +
                  cupti_get(record, CUPTI_KERNEL_DYNAMIC),
    };
    struct cupti_occupancy occupancy;

    for (unsigned i = 0; i < 3; i++) {
        launch.grid[i] = cupti_get32(record, CUPTI_KERNEL_GRID_X + i);
        launch.block[i] = cupti_get32(record, CUPTI_KERNEL_BLOCK_X + i);
    }
    if (!device || !cupti_occupancy(device, &launch, &occupancy))
        return;
    add_number(building, "occupancy", occupancy.percent);
    add(building, "occupancy.limit", display(occupancy.limit));
}

/* The device's clock is compared with the host's by CUPTI, which errs by some
 * microseconds. */
static void add_delay(struct building *building, enum cupti_field start)
{
    const struct cupti_clock *clock = &building->decoder->clock;
    const struct cupti_call *call = building->call;
    uint64_t begin = cupti_get(building->record, start);

    if (!call || !cupti_is_time(clock, call->begin) ||
        !cupti_is_time(clock, begin))
        return;
    if (begin > call->begin)
        add(building, "queue_delay",
            display(print_time(building, begin - call->begin)));
    else if (begin < call->begin)
        add_number(building, "clock_skew_ns", call->begin - begin);
}

static void kernel(struct building *building)
{
    struct cupti_decoder *decoder = building->decoder;
    const struct cupti_record *record = building->record;
    struct cupti_kernel_name name = cupti_kernel_name(
        &decoder->names, cupti_string(decoder, record, CUPTI_KERNEL_NAME));

    building->activity.at.kind = TRACE_ACTIVITY_KERNEL;
    building->activity.name = name.shown;
    building->activity.symbol = name.mangled;
    building->activity.kept = name.kept;
    place(building, CUPTI_KERNEL_DEVICE, CUPTI_KERNEL_CONTEXT,
          CUPTI_KERNEL_STREAM);
    add_launch(building, three_of(building, CUPTI_KERNEL_GRID_X),
               building->activity.at.stream, trace_site_name());
    add_place(building);
    add(building, "block", three_of(building, CUPTI_KERNEL_BLOCK_X));
    add_field(building, "registers", CUPTI_KERNEL_REGISTERS);
    add_shared(building);
    add_field(building, "local", CUPTI_KERNEL_LOCAL);
    if (cupti_get(record, CUPTI_KERNEL_CLUSTER_X))
        add(building, "cluster", three_of(building, CUPTI_KERNEL_CLUSTER_X));
    add_occupancy(building);
    add_delay(building, CUPTI_KERNEL_START);
    add_number(building, "correlation", building->activity.at.correlation);
    add_graph(building, CUPTI_KERNEL_GRAPH, CUPTI_KERNEL_NODE);
}

static void add_bytes(struct building *building, enum cupti_field field)
{
    uint64_t bytes = cupti_get(building->record, field);
    uint64_t ns =
        cupti_ns(&building->decoder->clock,
                 building->activity.end - building->activity.at.begin);

    add_number(building, "bytes", bytes);
    if (bytes && ns)
        add(building, "throughput",
            display(print(building, "%.1f GB/s", (double)bytes / (double)ns)));
}

static const char *copy_name(uint64_t kind)
{
    static const char *const names[] = {
        "Memcpy ?",    "Memcpy HtoD", "Memcpy DtoH", "Memcpy HtoA",
        "Memcpy AtoH", "Memcpy AtoA", "Memcpy AtoD", "Memcpy DtoA",
        "Memcpy DtoD", "Memcpy HtoH", "Memcpy PtoP"};

    return names[kind < COUNT(names) ? kind : 0];
}

static void add_stream(struct building *building)
{
    add_place(building);
    add_number(building, "stream", building->activity.at.stream);
}

/* CUpti_ActivityMemoryKind */
enum { MEMORIES = 8, HOST_MEMORIES = 3, UNKNOWN_MEMORY = 0 };
static const char *const memories[MEMORIES] = {
    "unknown", "pageable", "pinned",        "device",
    "array",   "managed",  "device_static", "managed_static"};

/* Copies between pageable memory and a device block the thread. */
static void add_host_memory(struct building *building)
{
    enum { HTOD = 1, DTOH, HTOA, ATOH };
    uint64_t way = cupti_get(building->record, CUPTI_MEMCPY_KIND);
    uint64_t memory = UNKNOWN_MEMORY;

    if (way == HTOD || way == HTOA)
        memory = cupti_get(building->record, CUPTI_MEMCPY_SRC);
    else if (way == DTOH || way == ATOH)
        memory = cupti_get(building->record, CUPTI_MEMCPY_DST);
    if (memory != UNKNOWN_MEMORY && memory < MEMORIES)
        add(building, "memory", display(memories[memory]));
}

static void copy(struct building *building)
{
    building->activity.at.kind = TRACE_ACTIVITY_MEMCPY;
    building->activity.name =
        copy_name(cupti_get(building->record, CUPTI_MEMCPY_KIND));
    place(building, CUPTI_MEMCPY_DEVICE, CUPTI_MEMCPY_CONTEXT,
          CUPTI_MEMCPY_STREAM);
    add_bytes(building, CUPTI_MEMCPY_BYTES);
    add(building, "async",
        trace_bool(cupti_get(building->record, CUPTI_MEMCPY_FLAGS) & 1));
    add_host_memory(building);
    add_stream(building);
    add_number(building, "correlation", building->activity.at.correlation);
    add_graph(building, CUPTI_MEMCPY_GRAPH, CUPTI_MEMCPY_NODE);
}

static void peer_copy(struct building *building)
{
    building->activity.at.kind = TRACE_ACTIVITY_MEMCPY;
    building->activity.name =
        copy_name(cupti_get(building->record, CUPTI_PEER_KIND));
    place(building, CUPTI_PEER_DEVICE, CUPTI_PEER_CONTEXT, CUPTI_PEER_STREAM);
    add_bytes(building, CUPTI_PEER_BYTES);
    add(building, "async",
        trace_bool(cupti_get(building->record, CUPTI_PEER_FLAGS) & 1));
    add_field(building, "from", CUPTI_PEER_FROM);
    add_field(building, "to", CUPTI_PEER_TO);
    add_stream(building);
    add_number(building, "correlation", building->activity.at.correlation);
}

static void event(struct building *building)
{
    building->activity.at.kind = TRACE_ACTIVITY_EVENT;
    building->activity.name = "Event";
    place(building, CUPTI_EVENT_DEVICE, CUPTI_EVENT_CONTEXT,
          CUPTI_EVENT_STREAM);
    add_field(building, "event", CUPTI_EVENT_ID);
    add_stream(building);
    add_number(building, "correlation", building->activity.at.correlation);
}

/* Memory that moves because a processor touched it. The host's id is not a
 * device's. */
static void unified(struct building *building)
{
    static const char *const names[] = {
        [CUPTI_UNIFIED_HTOD] = "Unified HtoD",
        [CUPTI_UNIFIED_DTOH] = "Unified DtoH",
        [CUPTI_UNIFIED_DTOD] = "Unified DtoD",
    };
    const struct cupti_record *record = building->record;
    uint32_t kind = cupti_get32(record, CUPTI_UNIFIED_KIND);
    struct trace_activity_place *at = &building->activity.at;

    at->kind = TRACE_ACTIVITY_MEMCPY;
    at->on_device = true;
    at->device =
        cupti_get32(record, kind == CUPTI_UNIFIED_DTOH ? CUPTI_UNIFIED_FROM
                                                       : CUPTI_UNIFIED_TO);
    building->activity.name =
        kind < COUNT(names) && names[kind] ? names[kind] : "Unified memory";
    add_bytes(building, CUPTI_UNIFIED_VALUE);
    add(building, "address",
        trace_pointer_(
            (void *)(uintptr_t)cupti_get(record, CUPTI_UNIFIED_ADDRESS)));
    if (kind == CUPTI_UNIFIED_DTOD)
        add_field(building, "from", CUPTI_UNIFIED_FROM);
    add_number(building, "device", at->device);
}

static void set(struct building *building)
{
    building->activity.at.kind = TRACE_ACTIVITY_MEMSET;
    building->activity.name = "Memset";
    place(building, CUPTI_MEMSET_DEVICE, CUPTI_MEMSET_CONTEXT,
          CUPTI_MEMSET_STREAM);
    add_bytes(building, CUPTI_MEMSET_BYTES);
    add_field(building, "value", CUPTI_MEMSET_VALUE);
    add_stream(building);
    add_number(building, "correlation", building->activity.at.correlation);
    add_graph(building, CUPTI_MEMSET_GRAPH, CUPTI_MEMSET_NODE);
}

/* One launch of a graph, in place of the records of its nodes; named as XProf
 * names it. */
static void graph(struct building *building)
{
    uint32_t id = cupti_get32(building->record, CUPTI_GRAPH_ID);

    building->activity.at.kind = TRACE_ACTIVITY_GRAPH;
    building->activity.name = print(building, "CudaGraphExec:%u", id);
    building->activity.kept = false;
    place(building, CUPTI_GRAPH_DEVICE, CUPTI_GRAPH_CONTEXT,
          CUPTI_GRAPH_STREAM);
    add_stream(building);
    add_delay(building, CUPTI_GRAPH_START);
    add_number(building, "correlation", building->activity.at.correlation);
    add_number(building, "graph", id);
}

/* ---- Activities on the host ---- */

enum { NOT_READY = 600 }; /* cudaErrorNotReady: an answer, no failure */

static enum trace_activity_kind kind_of(enum cupti_domain domain, uint32_t id,
                                        const char *stage)
{
    if (stage)
        return TRACE_ACTIVITY_COMPILE;
    if (cupti_role(domain, id) == CUPTI_ROLE_RESET)
        return TRACE_ACTIVITY_RELEASE;
    return domain == CUPTI_DOMAIN_RUNTIME ? TRACE_ACTIVITY_RUNTIME
                                          : TRACE_ACTIVITY_DRIVER;
}

static void api(struct building *building, enum cupti_domain domain)
{
    struct trace_activity *activity = &building->activity;
    uint32_t id = cupti_get32(building->record, CUPTI_CALL_ID);
    int result = (int)cupti_get32(building->record, CUPTI_CALL_RESULT);
    const char *stage = cupti_compile_stage(domain, id), *error = NULL;

    activity->at.kind = kind_of(domain, id, stage);
    activity->name =
        cupti_call_name(building->decoder, domain, id, &activity->symbol);
    if (building->decoder->library.system_threads)
        activity->at.thread = cupti_get32(building->record, CUPTI_CALL_THREAD);
    if (stage)
        add(building, "stage", display(stage));
    if (!result || result == NOT_READY)
        return;
    activity->level = TRACE_LEVEL_WARN;
    add(building, "result", trace_i64_(result));
    if ((error = building->decoder->source->error(building->decoder->context,
                                                  domain, result)))
        add(building, "error", display(error));
}

static void runtime(struct building *building)
{
    api(building, CUPTI_DOMAIN_RUNTIME);
}

static void driver(struct building *building)
{
    api(building, CUPTI_DOMAIN_DRIVER);
}

/* X(number, name, compilation stage) */
#define OVERHEADS(X)                                                           \
    X(1, "Driver compiler", "driver_compiler")                                 \
    X(1 << 16, "Buffer flush", NULL)                                           \
    X(2 << 16, "Instrumentation", NULL)                                        \
    X(3 << 16, "Resource", NULL)                                               \
    X(4 << 16, "Module load", "module_load")                                   \
    X(5 << 16, "Lazy function load", "lazy_load")                              \
    X(6 << 16, "Command buffer full", NULL)                                    \
    X(7 << 16, "Activity buffer request", NULL)                                \
    X(8 << 16, "Unified memory init", NULL)

static const char *overhead_stage(const struct cupti_record *record,
                                  const char **name)
{
    switch (cupti_get32(record, CUPTI_OVERHEAD_KIND)) {
#define TRACE_X(number, word, stage)                                           \
    case number:                                                               \
        *name = word;                                                          \
        return stage;
        OVERHEADS(TRACE_X)
#undef TRACE_X
    default:
        *name = "Overhead";
        return NULL;
    }
}

enum { OBJECT_THREAD = 2 };

static void overhead(struct building *building)
{
    const struct cupti_record *record = building->record;
    struct trace_activity *activity = &building->activity;
    const char *stage = overhead_stage(record, &activity->name);

    activity->at.kind =
        stage ? TRACE_ACTIVITY_COMPILE : TRACE_ACTIVITY_OVERHEAD;
    if (building->decoder->library.system_threads &&
        cupti_get(record, CUPTI_OVERHEAD_OBJECT) == OBJECT_THREAD)
        activity->at.thread = cupti_get32(record, CUPTI_OVERHEAD_THREAD);
    if (stage)
        add(building, "stage", display(stage));
}

static void jit(struct building *building)
{
    static const char *const names[] = {"JIT", "JIT cache load",
                                        "JIT cache store", "JIT compile"};
    static const char *const operations[] = {"?", "cache_load", "cache_store",
                                             "compile"};
    static const char *const entries[] = {"?", "ptx_to_cubin",
                                          "nvvm_ir_to_ptx"};
    const struct cupti_record *record = building->record;
    struct trace_activity *activity = &building->activity;
    uint32_t operation = cupti_get32(record, CUPTI_JIT_OPERATION);
    uint32_t entry = cupti_get32(record, CUPTI_JIT_ENTRY);

    operation = operation < COUNT(operations) ? operation : 0;
    activity->at.kind = TRACE_ACTIVITY_COMPILE;
    activity->at.device = cupti_get32(record, CUPTI_JIT_DEVICE);
    activity->name = names[operation];
    if (building->decoder->library.system_threads &&
        cupti_get(record, CUPTI_JIT_THREAD))
        activity->at.thread = cupti_get32(record, CUPTI_JIT_THREAD);
    add(building, "stage", display("driver_jit"));
    add(building, "operation", display(operations[operation]));
    add(building, "entry",
        display(entries[entry < COUNT(entries) ? entry : 0]));
    add(building, "cache", display(operation == 1 ? "hit" : "miss"));
    add_field(building, "cache_bytes", CUPTI_JIT_BYTES);
    add_field(building, "id", CUPTI_JIT_ID);
}

static void synchronization(struct building *building)
{
    static const char *const names[] = {"Sync", "Event sync",
                                        "Stream wait event", "Stream sync",
                                        "Context sync"};
    uint32_t type = cupti_get32(building->record, CUPTI_SYNC_TYPE);
    uint32_t event = cupti_get32(building->record, CUPTI_SYNC_EVENT);
    struct trace_activity_place *at = &building->activity.at;

    at->kind = TRACE_ACTIVITY_SYNC;
    at->context = cupti_get32(building->record, CUPTI_SYNC_CONTEXT);
    at->stream = cupti_get32(building->record, CUPTI_SYNC_STREAM);
    at->stream = at->stream == UINT32_MAX ? 0 : at->stream;
    building->activity.name = names[type < COUNT(names) ? type : 0];
    add_number(building, "context", at->context);
    if (at->stream)
        add_number(building, "stream", at->stream);
    if (event && event != UINT32_MAX)
        add_number(building, "event", event);
}

/* ---- Memory ---- */

enum { ALLOCATED = 1 };

/* Returns the device's bytes in use. The program may release what it allocated
 * before we started, so the sum never goes below 0. */
static uint64_t in_use(struct cupti_decoder *decoder,
                       const struct cupti_record *record)
{
    uint64_t bytes = cupti_get(record, CUPTI_MEMORY_BYTES);
    uint32_t device = cupti_get32(record, CUPTI_MEMORY_DEVICE);
    uint64_t *sum = &decoder->devices[device % CUPTI_DEVICES].in_use;

    if (cupti_get(record, CUPTI_MEMORY_OPERATION) == ALLOCATED)
        *sum += bytes;
    else
        *sum -= bytes < *sum ? bytes : *sum;
    return *sum;
}

static void memory(struct building *building)
{
    const struct cupti_record *record = building->record;
    uint32_t kind = cupti_get32(record, CUPTI_MEMORY_KIND) % MEMORIES;
    bool allocated = cupti_get(record, CUPTI_MEMORY_OPERATION) == ALLOCATED;

    building->activity.at.kind =
        allocated ? TRACE_ACTIVITY_ALLOCATE : TRACE_ACTIVITY_RELEASE;
    building->activity.name = allocated ? "Allocate" : "Release";
    place(building, CUPTI_MEMORY_DEVICE, CUPTI_MEMORY_CONTEXT,
          CUPTI_MEMORY_STREAM);
    add_field(building, "bytes", CUPTI_MEMORY_BYTES);
    add(building, "address",
        trace_pointer_(
            (void *)(uintptr_t)cupti_get(record, CUPTI_MEMORY_ADDRESS)));
    add(building, "memory", display(memories[kind]));
    if (kind >= HOST_MEMORIES)
        add_number(building, "in_use", in_use(building->decoder, record));
    add_number(building, "device", building->activity.at.device);
    if (building->activity.at.stream)
        add_number(building, "stream", building->activity.at.stream);
    if (cupti_get(record, CUPTI_MEMORY_ASYNC))
        add(building, "async", trace_bool(true));
}

/* ---- All ---- */

bool cupti_is_compile(const struct cupti_record *record)
{
    const char *name;

    switch (record->kind) {
    case CUPTI_KIND_JIT:
        return true;
    case CUPTI_KIND_OVERHEAD:
        return overhead_stage(record, &name) != NULL;
    case CUPTI_KIND_DRIVER:
        return cupti_compile_stage(CUPTI_DOMAIN_DRIVER,
                                   cupti_get32(record, CUPTI_CALL_ID)) != NULL;
    default:
        return false;
    }
}

typedef void build(struct building *);

static build *const builds[CUPTI_KIND_LIMIT] = {
    [CUPTI_KIND_CONCURRENT_KERNEL] = kernel,
    [CUPTI_KIND_MEMCPY] = copy,
    [CUPTI_KIND_MEMCPY2] = peer_copy,
    [CUPTI_KIND_MEMSET] = set,
    [CUPTI_KIND_RUNTIME] = runtime,
    [CUPTI_KIND_DRIVER] = driver,
    [CUPTI_KIND_OVERHEAD] = overhead,
    [CUPTI_KIND_JIT] = jit,
    [CUPTI_KIND_SYNCHRONIZATION] = synchronization,
    [CUPTI_KIND_MEMORY2] = memory,
    [CUPTI_KIND_CUDA_EVENT] = event,
    [CUPTI_KIND_UNIFIED_MEMORY_COUNTER] = unified,
    [CUPTI_KIND_GRAPH_TRACE] = graph,
};

/* Hides our own calls: those of the thread that samples counters, and the wait
 * at the end of the recording. */
static bool is_own(const struct cupti_decoder *decoder,
                   const struct trace_activity *activity)
{
    const struct cupti_own *own = &decoder->own;

    if (activity->at.on_device || !activity->at.thread)
        return false;
    if (activity->at.thread == own->sampling_thread)
        return true;
    return activity->at.thread == own->thread &&
           activity->at.begin >= cupti_ticks(&decoder->clock, own->begin) &&
           activity->end <= cupti_ticks(&decoder->clock, own->end);
}

static void fill(struct building *building, const struct cupti_item *item)
{
    const struct cupti_record *record = &item->record;
    const struct cupti_call *call = item->call;
    struct trace_activity *activity = &building->activity;

    building->record = record;
    building->call = call;
    activity->at.begin = item->times.begin;
    activity->end = item->times.end;
    activity->at.correlation = cupti_correlation(building->decoder, record);
    activity->at.on_device = cupti_on_device(building->decoder, record);
    activity->at.thread = call ? call->thread : 0;
    activity->span = call ? call->span : 0;
    if (call && call->described && cupti_is_compile(record))
        add_launch(building, display(print_three(building, call->count)),
                   call->stream, display(call->kernel));
    builds[record->kind](building);
    if (item->times.estimated) {
        building->decoder->counts.bad_times++;
        add(building, "ts_estimated", trace_bool(true));
    }
}

void cupti_put_activity(struct cupti_decoder *decoder,
                        const struct cupti_item *item)
{
    struct building building; /* its arrays are large, and filled as needed */

    building.decoder = decoder;
    building.activity = (struct trace_activity){.kept = true};
    building.value_count = building.text_size = 0;
    fill(&building, item);
    if (is_own(decoder, &building.activity) ||
        cupti_leaves_out(decoder, &item->record, &building.activity))
        return;
    building.activity.values = building.values;
    building.activity.fields = keep_names(&building);
    if (!building.activity.fields)
        building.activity.field_count = 0;
    decoder->sink->put(decoder->context, &building.activity);
}
