/* lttng.c: LTTng-UST; lttng.sh runs it in a session. */
#define TRACEPOINT_CREATE_PROBES
#define TRACEPOINT_DEFINE
#include "lttng.h"
#include "peer.h"

static double span(size_t count)
{
    double from = now_ns();

    for (size_t i = 0; i < count; i++) {
        tracepoint(bench, begin, (int)i);
        tracepoint(bench, end, (int)i);
    }
    return (now_ns() - from) / (double)count;
}

static double event(size_t count)
{
    double from = now_ns();

    for (size_t i = 0; i < count; i++)
        tracepoint(bench, fetched, (int)i, 0.5, "value");
    return (now_ns() - from) / (double)count;
}

static double off(size_t count)
{
    double from = now_ns();

    for (size_t i = 0; i < count; i++) {
        tracepoint(bench, off, (int)i);
        keep(i);
    }
    return (now_ns() - from) / (double)count;
}

int main(void)
{
    static const struct work works[] = {
        {"span", span}, {"event", event}, {"off", off}};

    return serve(works, sizeof(works) / sizeof(*works));
}
