/* record.c: the costs of annotations. */
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LOG_TARGET "bench"
#include <testlog/log.h>

#include "bench.h"

#include "harness/session.h"
#include "trace/base/strings.h"
#include "trace/device.h"
#include "trace/format.h"
#include "trace/record/recorder.h"

enum { DIRECTIVES = 200, SITES = 10000 };

static unsigned interest(struct trace_site *);

static const struct trace_subscriber subscriber = {.interest = interest};

/* Only the row "off" has annotations of level TRACE. */
static unsigned interest(struct trace_site *site)
{
    return site->level < TRACE_LEVEL_TRACE ? TRACE_ALWAYS : 0;
}

static uint64_t functions_limit;
static const struct trace_function_filter *functions;

static void open_recording(uint64_t limit)
{
    static const char *const meta[] = {"test",  "suite/test", "filter", "trace",
                                       "shown", "info",       NULL};
    struct trace_options options = {.limit = limit,
                                    .functions_limit = functions_limit,
                                    .functions = functions,
                                    .meta = meta};

    if (trace_open(bench_path(), &options))
        bench_stop(bench_path());
}

void bench_begin(uint64_t limit)
{
    trace_subscribe(&subscriber);
    open_recording(limit);
}

/* trace_close keeps the memory, because other threads may still use it. */
void bench_end(void)
{
    trace_close();
    munmap(trace_recording.header, trace_recording.map_size);
    trace_recording.header = NULL;
    unlink(bench_path());
}

void bench_begin_warm(size_t chunks)
{
    bench_begin(16 << 20);
    bench_warm_up(chunks);
}

void bench_warm_up(size_t count)
{
    struct trace_header *header = trace_recording.header;
    volatile char *chunks = (volatile char *)header + TRACE_HEADER_SIZE;

    for (size_t i = 0; i < count * TRACE_CHUNK_SIZE; i += 64)
        chunks[i] = chunks[i]; /* cppcheck-suppress selfAssignment */
    header->reserved = count;
}

/* ---- Off ---- */

#define FOUR(...)    __VA_ARGS__ __VA_ARGS__ __VA_ARGS__ __VA_ARGS__
#define SIXTEEN(...) FOUR(FOUR(__VA_ARGS__))

static double off_loop(size_t count)
{
    double from = now_ns();

    for (size_t i = 0; i < count / 16; i++) {
        SIXTEEN(trace_event(TRACE, "off", (i));)
        keep(i);
    }
    return (now_ns() - from) / (double)count;
}

double bench_off(size_t count)
{
    bench_begin(16 << 20);

    double ns = off_loop(count);

    bench_end();
    return ns;
}

static void subscribe(const char *record)
{
    struct log_options options = {.show = "off", .record = record};

    if (log_subscribe(&options))
        bench_stop("log_subscribe");
}

/* Call sites that only a span could turn on, outside that span. */
double bench_outside(size_t count)
{
    subscribe("info,[request{id=417}]=trace");
    open_recording(16 << 20);

    double ns = off_loop(count);

    bench_end();
    return ns;
}

/* ---- On ---- */

static void span(int i)
{
    trace_span(DEBUG, "span");
    keep(i);
}

static void span_with_fields(int i)
{
    trace_span(DEBUG, "span", ("index", i), ("share", 0.5), ("key", "value"));
    keep(0);
}

static void event_with_fields(int i)
{
    trace_event(INFO, "event", ("index", i), ("share", 0.5), ("key", "value"));
}

static void line(int i)
{
    log_info("%s took %d of %zu", "fetch", i, (size_t)64);
}

#define WARM_ROW(name, call)                                                   \
    double name(size_t count)                                                  \
    {                                                                          \
        bench_begin_warm(BENCH_CHUNKS);                                        \
        call(0);                                                               \
                                                                               \
        double from = now_ns();                                                \
                                                                               \
        for (size_t i = 0; i < count; i++)                                     \
            call((int)i);                                                      \
        from = (now_ns() - from) / (double)count;                              \
        bench_end();                                                           \
        return from;                                                           \
    }

/* A recording without space, whose last records have been lost. */
#define FULL_ROW(name, call)                                                   \
    double name(size_t count)                                                  \
    {                                                                          \
        bench_begin(TRACE_LIMIT_LEAST);                                        \
        for (size_t i = 0; i < TRACE_LIMIT_LEAST / TRACE_SLOT_SIZE; i++)       \
            call((int)i);                                                      \
                                                                               \
        double from = now_ns();                                                \
                                                                               \
        for (size_t i = 0; i < count; i++)                                     \
            call((int)i);                                                      \
        from = (now_ns() - from) / (double)count;                              \
        bench_end();                                                           \
        return from;                                                           \
    }

FULL_ROW(bench_span_lost, span)
FULL_ROW(bench_line_lost, line)
WARM_ROW(bench_span, span)
WARM_ROW(bench_span_fields, span_with_fields)
WARM_ROW(bench_event, event_with_fields)
WARM_ROW(bench_line, line)

/* Only the field, in an open span. */
double bench_span_late(size_t count)
{
    bench_begin_warm(BENCH_CHUNKS);

    struct trace_span_ref span =
        trace_span_begin(DEBUG, "span", ("status", trace_empty()));
    double from = now_ns();

    for (size_t i = 0; i < count; i++)
        trace_record(span, ("status", (int)i));
    from = (now_ns() - from) / (double)count;
    trace_span_end(span);
    bench_end();
    return from;
}

double bench_span_fresh(size_t count)
{
    bench_begin(TRACE_LIMIT_DEFAULT);
    span(0);

    double from = now_ns();

    for (size_t i = 0; i < count; i++)
        span((int)i);
    from = (now_ns() - from) / (double)count;
    bench_end();
    return from;
}

/* ---- Calls of functions ---- */

/* Records calls within the limit, the first ones in memory that has been
 * touched. */
static double time_calls(uint64_t limit, size_t chunks, size_t before,
                         size_t count)
{
    double ns;

    functions_limit = limit;
    bench_begin_warm(chunks);
    bench_calls(before);
    ns = bench_calls(count);
    bench_end();
    functions_limit = 0;
    return ns;
}

double bench_call(size_t count)
{
    return time_calls(TRACE_LIMIT_DEFAULT, BENCH_CHUNKS, 1, count);
}

static double time_filtered(const struct trace_function_filter *filter,
                            size_t count)
{
    double ns;

    functions = filter;
    ns = bench_call(count);
    functions = NULL;
    return ns;
}

double bench_call_unwanted(size_t count)
{
    static const struct trace_function_filter none;

    return time_filtered(&none, count);
}

double bench_call_short(size_t count)
{
    static const struct trace_function_filter long_ones = {
        .least = UINT32_MAX / 2, .others = 1};

    return time_filtered(&long_ones, count);
}

double bench_call_fresh(size_t count)
{
    return time_calls(TRACE_LIMIT_DEFAULT, TRACE_FIRST_CHUNKS, 1, count);
}

double bench_call_off(size_t count)
{
    return time_calls(0, TRACE_FIRST_CHUNKS, 1, count);
}

double bench_call_lost(size_t count)
{
    const size_t fit = TRACE_LIMIT_LEAST / sizeof(struct trace_call_entry);

    return time_calls(TRACE_LIMIT_LEAST, TRACE_FIRST_CHUNKS, fit, count);
}

/* ---- Lines ---- */

enum { PROGRAM_MOST = 64 << 20 /* bytes of its addresses */ };

/* Adds up the bytes from the program's lowest address to its highest one. */
static int find_size(struct dl_phdr_info *program, size_t unused, void *size)
{
    const ElfW(Phdr) *first = NULL, *last = NULL;

    (void)unused;
    for (int i = 0; i < program->dlpi_phnum; i++) {
        if (program->dlpi_phdr[i].p_type != PT_LOAD)
            continue;
        last = &program->dlpi_phdr[i];
        first = first ? first : last;
    }
    if (first)
        *(uint64_t *)size = last->p_vaddr + last->p_memsz - first->p_vaddr;
    return 1; /* the program is the first one */
}

/* A filter of this program. */
static struct trace_function_filter *make_filter(bool lines)
{
    size_t head = sizeof(struct trace_function_filter) +
                  sizeof(struct trace_filtered_module);
    struct trace_function_filter *filter = calloc(1, head + PROGRAM_MOST);
    char path[PATH_MAX];

    if (!filter || !realpath("/proc/self/exe", path))
        return NULL;
    memset((char *)filter + head, lines, PROGRAM_MOST);
    filter->lines = filter->others = filter->module_count = 1;
    filter->modules->path = trace_hash_string(TRACE_HASH, path);
    filter->modules->lines = head;
    dl_iterate_phdr(find_size, &filter->modules->size);
    return filter;
}

static double time_blocks(const struct trace_function_filter *filter,
                          size_t count)
{
    double ns;

    functions_limit = TRACE_LIMIT_DEFAULT;
    functions = filter;
    bench_begin_warm(BENCH_CHUNKS);
    bench_blocks(1);
    ns = bench_blocks(count);
    bench_end();
    functions = NULL;
    functions_limit = 0;
    return ns;
}

double bench_block(size_t count)
{
    static const struct trace_function_filter *all;

    if (!all)
        all = make_filter(true);
    return time_blocks(all, count);
}

double bench_block_outside(size_t count)
{
    static const struct trace_function_filter *none;

    if (!none)
        none = make_filter(false);
    return time_blocks(none, count);
}

double bench_block_off(size_t count)
{
    return time_blocks(NULL, count);
}

/* ---- Once a test ---- */

double bench_start_and_end(size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++) {
        double from = now_ns();

        subscribe("trace");
        open_recording(TRACE_LIMIT_DEFAULT);
        trace_close();
        sum += now_ns() - from;
        bench_end();
    }
    return sum / (double)count;
}

/* What GPU tracing costs a test that uses no GPU. */
double bench_no_gpu(size_t count)
{
    double from = now_ns();

    for (size_t i = 0; i < count; i++) {
        test_log_gpu_hide();
        trace_device_publish();
        trace_compilers_watch();
        trace_device_flush(false);
        trace_device_flush(true);
    }
    return (now_ns() - from) / (double)count;
}

/* Begins and ends a recording with a filter of many directives and many call
 * sites. */
double bench_set_filter(size_t count)
{
    static struct trace_site sites[SITES], *listed[SITES];
    static char targets[SITES][32];
    struct trace_module module = {0};
    struct trace_text filter = {0};

    for (int i = 0; i < SITES; i++) {
        snprintf(targets[i], sizeof(targets[i]), "app::module%d::part",
                 i % 997);
        sites[i] = (struct trace_site){.name = "event",
                                       .target = targets[i],
                                       .file = "file.c",
                                       .level = (uint8_t)(1 + i % 5),
                                       .kind = i % 3 == 0};
        listed[i] = &sites[i];
    }
    for (int i = 0; i < DIRECTIVES; i++)
        trace_text_printf(&filter,
                          i % 4 ? "app::module%d=debug,"
                                : "app::module%d[event{id=417}]=trace,",
                          5 * i);
    trace_module_register(&module, listed, listed + SITES, TRACE_LEVEL_TRACE);

    double from = now_ns();

    for (size_t i = 0; i < count; i++) {
        subscribe(filter.data);
        open_recording(TRACE_LIMIT_LEAST);
        bench_end();
    }
    from = (now_ns() - from) / (double)count;
    trace_module_forget(&module);
    trace_text_free(&filter);
    return from;
}
