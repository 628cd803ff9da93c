/* bench.c: what recording costs, as ratios to what it cannot cost less than.
 *
 * Every row is measured against a reference, a few dozen times in turns, so
 * that whatever else the machine does slows both; the median of the ratios is
 * what counts. The floor of a span is two readings of the counter and two
 * stores of 32 bytes into warm shared memory.
 *
 *  bench [DIRECTORY]       where its files go; TMPDIR or /tmp by default
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__) || defined(__i386__)
#    include <x86intrin.h>
#endif

#include <cjson/cJSON.h>

#define LOG_TARGET "bench"
#include <testlog/log.h>

#include "harness/harness.h"
#include "trace/device.h"
#include "trace/recorder.h"

#ifndef MADV_POPULATE_WRITE
#    define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

#define keep(x) __asm__ volatile("" : : "g"(x) : "memory")

enum {
    TIMES_MAX = 101,
    OFF = 200000,
    WARM = 8192,      /* spans and events of a repetition... */
    WARM_CHUNKS = 16, /* ...and the chunks that hold them, twice */
    FRESH = 128 * 1024,
    RING_SLOTS = 16 * 1024,
    EVENTS = 1000000,
    PEER_EVENTS = 50000,
    STARTS = 20,
    START_NS = 100000, /* the budget */
    GPU_NS = 20000,
    FILTER_NS = 10000000,
    DIRECTIVES = 200,
    SITES = 10000,
    THREADS = 2,
};

static char path[4096];

/* ---- Helpers ---- */

static void stop(const char *what)
{
    fprintf(stderr, "bench: %s: %s\n", what, strerror(errno));
    exit(1);
}

static double now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static inline uint64_t ticks(void)
{
#if defined(__x86_64__) || defined(__i386__)
    return __rdtsc();
#else
    return trace_clock_now();
#endif
}

static unsigned interest(struct trace_site *);

static const struct trace_subscriber subscriber = {.interest = interest};

/* The annotations of the row "off" are the only ones of level TRACE. */
static unsigned interest(struct trace_site *site)
{
    return site->level < TRACE_LEVEL_TRACE ? TRACE_ALWAYS : 0;
}

static void begin(uint64_t limit)
{
    static const char *const meta[] = {"test",  "suite/test", "filter", "trace",
                                       "shown", "info",       NULL};
    struct trace_options options = {.limit = limit, .meta = meta};

    if (trace_open(path, &options))
        stop(path);
}

/* Ends a recording and gives its memory back, which trace_close cannot know
 * nobody to use. */
static void end(void)
{
    trace_close();
    munmap(trace_recording.header, trace_recording.map_size);
    unlink(path);
}

/* Begins a recording whose chunks have been touched. */
static void begin_warm(void)
{
    begin(16 << 20);

    struct trace_header *header = trace_recording.header;
    volatile char *chunks = (volatile char *)header + TRACE_HEADER_SIZE;

    for (size_t i = 0; i < (size_t)WARM_CHUNKS * TRACE_CHUNK_SIZE; i += 64)
        chunks[i] = chunks[i];
    header->reserved = WARM_CHUNKS;
}

/* ---- References ---- */

#define FOUR(...)    __VA_ARGS__ __VA_ARGS__ __VA_ARGS__ __VA_ARGS__
#define SIXTEEN(...) FOUR(FOUR(__VA_ARGS__))

static uint8_t flag;

static __attribute__((noinline, cold)) void flagged(int i)
{
    keep(i);
}

static double load_and_branch(void)
{
    double from = now_ns();

    for (int i = 0; i < OFF; i++) {
        SIXTEEN(
            if (__builtin_expect(__atomic_load_n(&flag, __ATOMIC_RELAXED) != 0,
                                 0)) flagged(i);)
    }
    return (now_ns() - from) / (16.0 * OFF);
}

/* A shared mapping of a file like a recording's, the first of it reserved. */
static void *map_file(size_t size, size_t reserved)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

    if (fd < 0 || (errno = posix_fallocate(fd, 0, (off_t)reserved)) ||
        ftruncate(fd, (off_t)size))
        stop(path);

    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (at == MAP_FAILED)
        stop(path);
    close(fd);
    unlink(path);
    madvise(at, size, MADV_RANDOM);
    return at;
}

static inline void store(struct trace_record *to, uint64_t i)
{
    *to = (struct trace_record){.time = ticks(), .site = 1, .end = i};
    keep(to);
}

static void span_floor(struct trace_record *ring)
{
    for (size_t i = 0; i < WARM; i++) {
        store(&ring[2 * i % RING_SLOTS], i);
        store(&ring[(2 * i + 1) % RING_SLOTS], i);
    }
}

static struct trace_record *rings[THREADS];

static void make_rings(void)
{
    size_t size = RING_SLOTS * sizeof(struct trace_record);

    for (int i = 0; i < THREADS; i++) {
        rings[i] = map_file(size, size);
        memset(rings[i], 0, size);
    }
}

static double floor_warm(void)
{
    double from = now_ns();

    span_floor(rings[0]);
    return (now_ns() - from) / WARM;
}

/* The bare loop: one record, whose end is stored in place; room is reserved as
 * the recorder does it. */
static double floor_fresh(void)
{
    size_t first = TRACE_HEADER_SIZE + TRACE_FIRST_CHUNKS * TRACE_CHUNK_SIZE;
    char *file = map_file(TRACE_LIMIT_DEFAULT, first);
    struct trace_record *record = (void *)(file + TRACE_HEADER_SIZE);
    double from = now_ns();

    for (size_t i = 0; i < FRESH; i++) {
        if (i % TRACE_CHUNK_SLOTS == 0 &&
            i / TRACE_CHUNK_SLOTS + 1 >= TRACE_FIRST_CHUNKS &&
            madvise(&record[i + TRACE_CHUNK_SLOTS], TRACE_CHUNK_SIZE,
                    MADV_POPULATE_WRITE))
            stop("madvise");
        store(&record[i], 0);
        record[i].end = ticks();
        keep(record);
    }
    from = (now_ns() - from) / FRESH;
    munmap(file, TRACE_LIMIT_DEFAULT);
    return from;
}

static double budget_of_start(void)
{
    return START_NS;
}

static double budget_of_gpu(void)
{
    return GPU_NS;
}

static double budget_of_filter(void)
{
    return FILTER_NS;
}

/* ---- Recording ---- */

static double off_loop(void)
{
    double from = now_ns();

    for (int i = 0; i < OFF; i++) {
        SIXTEEN(trace_event(TRACE, "off", (i));)
        keep(i);
    }
    return (now_ns() - from) / (16.0 * OFF);
}

static double site_off(void)
{
    begin(16 << 20);

    double ns = off_loop();

    end();
    return ns;
}

static void subscribe(const char *record)
{
    struct log_options options = {.show = "off", .record = record};

    if (log_subscribe(&options))
        stop("log_subscribe");
}

/* Call sites that only a span could turn on, outside of it. */
static double site_outside(void)
{
    subscribe("info,[request{id=417}]=trace");
    begin(16 << 20);

    double ns = off_loop();

    end();
    trace_subscribe(&subscriber);
    return ns;
}

/* A filter of many directives over many call sites. */
static double set_filter(void)
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
    begin(16 << 20);
    trace_module_register(&module, listed, listed + SITES, TRACE_LEVEL_TRACE);

    double from = now_ns();

    subscribe(filter.data);
    from = now_ns() - from;
    trace_module_forget(&module);
    trace_subscribe(&subscriber);
    end();
    trace_text_free(&filter);
    return from;
}

static void span(int i)
{
    trace_span(DEBUG, "span");
    keep(i);
}

static void span_with_fields(int i)
{
    trace_span(DEBUG, "span", ("index", i), ("size", (size_t)64));
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
    static double name(void)                                                   \
    {                                                                          \
        begin_warm();                                                          \
        call(0);                                                               \
                                                                               \
        double from = now_ns();                                                \
                                                                               \
        for (int i = 0; i < WARM; i++)                                         \
            call(i);                                                           \
        from = (now_ns() - from) / WARM;                                       \
        end();                                                                 \
        return from;                                                           \
    }

WARM_ROW(span_warm, span)
WARM_ROW(span_with_fields_warm, span_with_fields)
WARM_ROW(event_warm, event_with_fields)
WARM_ROW(line_warm, line)

static double span_fresh(void)
{
    begin(TRACE_LIMIT_DEFAULT);
    span(0);

    double from = now_ns();

    for (int i = 0; i < FRESH; i++)
        span(i);
    from = (now_ns() - from) / FRESH;
    end();
    return from;
}

static double start_and_end(void)
{
    double sum = 0;

    for (int i = 0; i < STARTS; i++) {
        double from = now_ns();

        begin(TRACE_LIMIT_DEFAULT);
        trace_close();
        sum += now_ns() - from;
        end();
    }
    return sum / STARTS;
}

/* What a test pays that uses no GPU. */
static double no_gpu(void)
{
    double from = now_ns();

    for (int i = 0; i < STARTS; i++) {
        test_log_gpu_hide();
        trace_device_publish();
        trace_device_flush(false);
        trace_device_flush(true);
    }
    return (now_ns() - from) / STARTS;
}

/* ---- Two threads ---- */

/* They take their own time: who starts them may run when they have ended. */
struct worker {
    pthread_t id;
    struct trace_record *ring; /* NULL: records spans */
    double ns;
};

static pthread_barrier_t barrier;

static void *work(void *context)
{
    struct worker *worker = context;

    if (!worker->ring)
        span(0); /* its first chunk */
    pthread_barrier_wait(&barrier);

    double from = now_ns();

    if (worker->ring)
        span_floor(worker->ring);
    else
        for (int i = 0; i < WARM; i++)
            span(i);
    worker->ns = (now_ns() - from) / WARM;
    return NULL;
}

static double threads(bool recording)
{
    struct worker workers[THREADS] = {0};
    double sum = 0;

    for (int i = 0; i < THREADS; i++) {
        workers[i].ring = recording ? NULL : rings[i];
        errno = pthread_create(&workers[i].id, NULL, work, &workers[i]);
        if (errno)
            stop("pthread_create");
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(workers[i].id, NULL);
        sum += workers[i].ns;
    }
    return sum / THREADS;
}

static double floor_threads(void)
{
    return threads(false);
}

static double span_threads(void)
{
    begin_warm();

    double ns = threads(true);

    end();
    return ns;
}

/* ---- Chrome's trace events ---- */

static struct trace_reader *reader;
static FILE *null;

static void make_events(void)
{
    begin(TRACE_LIMIT_DEFAULT);
    for (int i = 0; i < EVENTS / 2; i++) {
        trace_span(DEBUG, "span", ("index", i), ("size", (size_t)64));
        trace_event(INFO, "event", ("index", i), ("key", "value"));
    }
    trace_close();
    reader = trace_reader_open(path);
    if (!reader)
        stop(path);
    end();
}

static void export(FILE *stream)
{
    struct trace_chrome chrome;

    trace_chrome_begin(&chrome, stream);
    if (trace_chrome_add(&chrome, reader, 1, "bench"))
        stop("trace_chrome_add");
    trace_chrome_end(&chrome, NULL);
}

static double chrome(void)
{
    double from = now_ns();

    export(null);
    return (now_ns() - from) / EVENTS;
}

/* What trace_chrome_add writes for a span or an event. */
static cJSON *object(int i)
{
    bool is_span = i % 2 == 0;
    cJSON *event = cJSON_CreateObject();
    cJSON *args = cJSON_AddObjectToObject(event, "args");

    cJSON_AddStringToObject(event, "ph", is_span ? "X" : "i");
    cJSON_AddNumberToObject(event, "pid", 1);
    cJSON_AddNumberToObject(event, "tid", 12345);
    cJSON_AddNumberToObject(event, "ts", i * 0.037);
    cJSON_AddStringToObject(event, "cat", is_span ? "debug" : "info");
    cJSON_AddStringToObject(event, "loc", "tests/bench.c:335");
    cJSON_AddStringToObject(args, "testlog.target", "bench");
    cJSON_AddStringToObject(args, "testlog.location", "tests/bench.c:335");
    cJSON_AddNumberToObject(args, "index", i);
    if (is_span)
        cJSON_AddNumberToObject(args, "size", 64);
    else
        cJSON_AddStringToObject(args, "key", "value");
    cJSON_AddStringToObject(event, "name", is_span ? "span" : "event");
    if (is_span)
        cJSON_AddNumberToObject(event, "dur", 0.093);
    else
        cJSON_AddStringToObject(event, "s", "t");
    return event;
}

static double cjson(void)
{
    double from = now_ns();

    for (int i = 0; i < PEER_EVENTS; i++) {
        cJSON *event = object(i);
        char *text = cJSON_PrintUnformatted(event);

        fputs(text, null);
        free(text);
        cJSON_Delete(event);
    }
    return (now_ns() - from) / PEER_EVENTS;
}

/* ---- Lines ---- */

static double render(enum log_format format)
{
    struct log_style style = {.format = format};
    struct log_filter *filter = log_filter_parse("trace", NULL, "LOG", NULL);
    double from = now_ns();
    size_t lines = filter ? log_write_all(filter, &style, reader, null) : 0;
    double ns = now_ns() - from;

    if (lines != EVENTS / 2)
        stop("log_write_all");
    log_filter_free(filter);
    return ns / EVENTS * 2;
}

static double full(void)
{
    return render(LOG_FORMAT_FULL);
}

static double json(void)
{
    return render(LOG_FORMAT_JSON);
}

/* The text that log_full makes, its date known. */
static double printed(void)
{
    double from = now_ns();

    for (int i = 0; i < EVENTS / 2; i++)
        fprintf(null,
                "%s.%06uZ %5s %s{index=%d size=%zu}: %s: %s index=%d "
                "key=\"%s\"\n",
                "2026-11-21T01:56:24", (unsigned)i, "INFO", "span", i,
                (size_t)64, "bench", "event", i, "value");
    return (now_ns() - from) / EVENTS * 2;
}

/* A stream that looks how much memory is in use whenever it is written to. */
static size_t heap_now(void)
{
    struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
}

static ssize_t watch(void *most, const char *text, size_t size)
{
    size_t heap = heap_now();

    (void)text;
    if (heap > *(size_t *)most)
        *(size_t *)most = heap;
    return (ssize_t)size;
}

static size_t heap_of_export(void)
{
    size_t before = heap_now(), most = before;
    FILE *stream =
        fopencookie(&most, "w", (cookie_io_functions_t){.write = watch});

    if (!stream)
        stop("fopencookie");
    setvbuf(stream, NULL, _IOFBF, 1 << 16);
    export(stream);
    fclose(stream);
    return most - before;
}

/* ---- The table ---- */

struct row {
    const char *name, *reference_name;
    double budget; /* 0: none */
    int times;
    double (*work)(void), (*reference)(void);
};

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *numbers, int count)
{
    qsort(numbers, (size_t)count, sizeof(*numbers), compare);
    return numbers[count / 2];
}

static void measure(const struct row *row)
{
    double ratios[TIMES_MAX], work[TIMES_MAX], reference[TIMES_MAX];
    char budget[16] = "-";

    row->reference();
    row->work();
    for (int i = 0; i < row->times; i++) {
        reference[i] = row->reference();
        work[i] = row->work();
        ratios[i] = work[i] / reference[i];
    }
    if (row->budget > 0)
        snprintf(budget, sizeof(budget), "%.2f", row->budget);

    double ratio = median(ratios, row->times);

    printf("%-34s %7.3f %7.3f %7s %4s %11.2f %11.2f  %s\n", row->name, ratio,
           ratios[0], budget,
           row->budget <= 0       ? ""
           : ratio <= row->budget ? "yes"
                                  : "NO",
           median(work, row->times), median(reference, row->times),
           row->reference_name);
    fflush(stdout);
}

static const struct row rows[] = {
    {"call site, off", "load and branch", 1.1, 51, site_off, load_and_branch},
    {"call site, off outside a span", "load and branch", 8, 51, site_outside,
     load_and_branch},
    {"span, warm", "floor", 1.2, 101, span_warm, floor_warm},
    {"span, fresh file", "bare loop, fresh file", 1.15, 31, span_fresh,
     floor_fresh},
    {"span with two fields, warm", "floor", 0, 101, span_with_fields_warm,
     floor_warm},
    {"event with three fields, warm", "floor", 0, 101, event_warm, floor_warm},
    {"log line, three arguments, warm", "floor", 2, 101, line_warm, floor_warm},
    {"span, two threads, warm", "floor in two threads", 0, 51, span_threads,
     floor_threads},
    {"trace_open and trace_close", "100 us", 1, 31, start_and_end,
     budget_of_start},
    {"test that uses no GPU", "20 us", 1, 31, no_gpu, budget_of_gpu},
    {"200 directives, 10,000 call sites", "10 ms", 1, 11, set_filter,
     budget_of_filter},
    {"captured line rendered, full", "fprintf of the same text", 0, 11, full,
     printed},
    {"captured line rendered, json", "fprintf of the text", 0, 11, json,
     printed},
    {"event to Chrome's JSON", "one cJSON object", 0.1, 11, chrome, cjson},
};

int main(int argc, char **argv)
{
    const char *directory = argc > 1 ? argv[1] : getenv("TMPDIR");

    snprintf(path, sizeof(path), "%s/testlog-bench-%d",
             directory && *directory ? directory : "/tmp", (int)getpid());
    null = fopen("/dev/null", "w");
    if (!null || (errno = pthread_barrier_init(&barrier, NULL, THREADS)))
        stop("/dev/null");
    trace_clock_choose();
    trace_subscribe(&subscriber);
    make_rings();
    make_events();
    printf("%-34s %7s %7s %7s %4s %11s %11s  %s\n", "", "ratio", "least",
           "budget", "held", "ns", "its ns", "reference");
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        measure(&rows[i]);
    printf("Memory of an export of %d events: %zu bytes\n", EVENTS,
           heap_of_export());
    trace_reader_close(reader);
    fclose(null);
    puts("The ratios (medians) are what counts; ns are for orientation.");
    return 0;
}
