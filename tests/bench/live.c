/* live.c: lines that are printed immediately, with one write(2) each. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define LOG_TARGET "bench"
#include <testlog/log.h>

#include "bench.h"

#include "trace/record/recorder.h"

enum { PAUSE = 300000 /* ns */ };

/* Like the harness: a descriptor number that a test does not take by chance. */
static int far(int fd)
{
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 200);

    close(fd);
    return own;
}

static void begin(int fd)
{
    struct log_options options = {
        .show = "trace", .record = "trace", .live = true, .fd = fd};
    struct trace_options recording = {.limit = 16 << 20};

    if (fd < 0 || log_subscribe(&options) ||
        trace_open(bench_path(), &recording))
        bench_stop("a live recording");
    bench_warm_up(BENCH_CHUNKS);
}

static void end(int fd)
{
    bench_end();
    close(fd);
}

static double lines(size_t count)
{
    double from = now_ns();

    for (size_t i = 0; i < count; i++)
        trace_event(INFO, "fetched", ("index", (int)i), ("share", 0.5),
                    ("key", "value"));
    return (now_ns() - from) / (double)count;
}

/* The same with a pause before each line: most programs print few. */
static double seldom(size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++) {
        double from = now_ns();

        while (now_ns() - from < PAUSE)
            ;
        sum += lines(1);
    }
    return sum / (double)count;
}

static double in_spans(int fd, double print(size_t), size_t count)
{
    double ns;

    begin(fd);
    {
        trace_span(INFO, "request");
        trace_span(INFO, "parse");
        ns = print(count);
    }
    end(fd);
    return ns;
}

double bench_live_null(size_t count)
{
    return in_spans(far(open("/dev/null", O_WRONLY | O_CLOEXEC)), lines, count);
}

double bench_live_seldom(size_t count)
{
    return in_spans(far(open("/dev/null", O_WRONLY | O_CLOEXEC)), seldom,
                    count);
}

double bench_live_file(size_t count)
{
    return in_spans(far(scratch_file()), lines, count);
}

double bench_live_fields(size_t count)
{
    int fd = far(open("/dev/null", O_WRONLY | O_CLOEXEC));
    double ns;

    begin(fd);
    {
        trace_span(INFO, "request", ("id", 417));
        trace_span(INFO, "parse", ("size", 64));
        ns = lines(count);
    }
    end(fd);
    return ns;
}
