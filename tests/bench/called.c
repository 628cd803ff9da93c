/* called.c: functions whose calls are recorded; built with functions_cflags. */
#include "bench.h"

static __attribute__((noinline)) void called(size_t i)
{
    keep(i);
}

double bench_calls(size_t count)
{
    double from = now_ns();

    for (size_t i = 0; i < count; i++)
        called(i);
    return (now_ns() - from) / (double)count;
}
