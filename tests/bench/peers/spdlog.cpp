/* spdlog.cpp: spdlog: the header-only form with its default layout. */
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/spdlog.h>

#include "peer.h"

static std::shared_ptr<spdlog::logger> to_null, to_file, flushed_null;

template <class Call> static double times(size_t count, const Call &call)
{
    double from = now_ns();

    for (size_t i = 0; i < count; i++)
        call((int)i);
    return (now_ns() - from) / (double)count;
}

static double line(size_t count)
{
    return times(count, [](int i) {
        to_null->info("{} took {} of {}", "fetch", i, (size_t)64);
    });
}

/* The text of a line in two spans, with three fields. */
static void live(spdlog::logger &logger, int i)
{
    logger.info("{}:{}: {}: {} index={} share={} key=\"{}\"", "request",
                "parse", "bench", "fetched", i, 0.5, "value");
}

static double live_null(size_t count)
{
    return times(count, [](int i) { live(*flushed_null, i); });
}

static double live_file(size_t count)
{
    close(scratch_file()); /* empties it */
    return times(count, [](int i) { live(*to_file, i); });
}

static double off(size_t count)
{
    return times(count, [](int i) {
        to_null->debug("{}", i);
        keep(i);
    });
}

int main()
{
    static const struct work works[] = {{"line", line},
                                        {"live_null", live_null},
                                        {"live_file", live_file},
                                        {"off", off}};
    const char *path = getenv("BENCH_FILE");

    to_null = spdlog::basic_logger_mt("null", "/dev/null");
    flushed_null = spdlog::basic_logger_mt("flushed", "/dev/null");
    to_file = spdlog::basic_logger_mt("file", path ? path : "/dev/null");
    flushed_null->flush_on(spdlog::level::info);
    to_file->flush_on(spdlog::level::info);
    return serve(works, sizeof(works) / sizeof(*works));
}
