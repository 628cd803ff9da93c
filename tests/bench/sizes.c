/* sizes.c: measures bytes: the memory of an export, and the size of recordings.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#define LOG_TARGET "bench"
#include <testlog/log.h>

#include "bench.h"

#include "trace/read/reader.h"
#include "trace/record/recorder.h"

/* ---- Memory ---- */

/* The process's memory in MiB: its own, and mapped files. */
struct memory {
    double own, mapped;
};

static struct memory memory_now(void)
{
    struct memory memory = {0, 0};
    FILE *status = fopen("/proc/self/status", "re");
    char text[256];
    double kib;

    while (status && fgets(text, sizeof(text), status)) {
        if (sscanf(text, "RssAnon: %lf", &kib) == 1)
            memory.own = kib / 1024;
        else if (sscanf(text, "RssFile: %lf", &kib) == 1 ||
                 sscanf(text, "RssShmem: %lf", &kib) == 1)
            memory.mapped += kib / 1024;
    }
    if (status)
        fclose(status);
    return memory;
}

/* A stream that regularly measures the process's memory. */
static ssize_t watch(void *most, const char *text, size_t size)
{
    static unsigned writes;
    struct memory *seen = most, now;

    (void)text;
    if (writes++ % 16)
        return (ssize_t)size;
    now = memory_now();
    seen->own = now.own > seen->own ? now.own : seen->own;
    seen->mapped = now.mapped > seen->mapped ? now.mapped : seen->mapped;
    return (ssize_t)size;
}

static struct memory memory_of_export(void)
{
    struct memory most = {0, 0}, before = memory_now();
    FILE *stream =
        fopencookie(&most, "w", (cookie_io_functions_t){.write = watch});

    if (!stream)
        bench_stop("fopencookie");
    setvbuf(stream, NULL, _IOFBF, 1 << 16);
    bench_export(stream);
    fclose(stream);
    most.mapped -= before.mapped < most.mapped ? before.mapped : most.mapped;
    return most;
}

/* ---- Recordings ---- */

/* Takes a random time of up to some microseconds, because the regular times of
 * a loop would compress to nothing. */
static void work(void)
{
    static uint32_t chance = 1;

    chance = chance * 1664525 + 1013904223;
    for (uint32_t i = chance >> 20; i; i--)
        keep(i);
}

/* Records nested spans of several call sites. */
static size_t record_request(void)
{
    trace_span(INFO, "request");
    work();
    {
        trace_span(DEBUG, "read");
        work();
        for (int i = 0; i < 4; i++) {
            trace_span(DEBUG, "parse");
            work();
        }
    }
    {
        trace_span(DEBUG, "answer");
        work();
        trace_span(DEBUG, "write");
        work();
    }
    return 8;
}

static size_t record_spans(size_t count)
{
    size_t spans = 0;

    bench_begin(TRACE_LIMIT_DEFAULT);
    while (spans < count)
        spans += record_request();
    trace_close();
    if (trace_shrink(bench_path()))
        bench_stop("trace_shrink");
    return spans;
}

/* Returns the compressed size of a file. */
static double compressed(const char *path, int level)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0 || fstat(fd, &status))
        bench_stop(path);

    size_t size = (size_t)status.st_size, room = ZSTD_compressBound(size);
    void *file = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    void *out = malloc(room);

    if (file == MAP_FAILED || !out)
        bench_stop(path);

    double bytes = (double)ZSTD_compress(out, room, file, size, level);

    free(out);
    munmap(file, size);
    close(fd);
    return bytes;
}

static size_t sizes_of_spans(struct bench_size *sizes)
{
    static const char *const names[] = {
        "compressed, zstd -1", "compressed, zstd -2", "compressed, zstd -3"};
    size_t spans = record_spans(bench_settings.events), count = 0;
    struct stat status;

    if (stat(bench_path(), &status))
        bench_stop(bench_path());
    sizes[count++] =
        (struct bench_size){"a span, recorded", "bytes",
                            (double)status.st_size / (double)spans, 32 * 1.01};
    for (int level = 1; level <= 3; level++) {
        double bytes = compressed(bench_path(), level);

        sizes[count++] = (struct bench_size){names[level - 1], "bytes",
                                             bytes / (double)spans, 12};
    }
    bench_end();
    return count;
}

size_t bench_measure_sizes(struct bench_size *sizes)
{
    struct memory memory = memory_of_export();
    size_t count = 0;

    sizes[count++] =
        (struct bench_size){"export, memory of its own", "MiB", memory.own, 64};
    sizes[count++] = (struct bench_size){"export, pages of files mapped", "MiB",
                                         memory.mapped, 0};
    sizes[count++] = (struct bench_size){"merge, memory for 10,000 tests",
                                         "MiB", bench_merge_memory(), 64};
    return count + sizes_of_spans(sizes + count);
}
