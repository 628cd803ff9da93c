/* lined.c: blocks of lines that are recorded; built with lines_cflags. */
#include "bench.h"

/* Each round is one block. */
__attribute__((noinline)) double bench_blocks(size_t count)
{
    double from = now_ns();

    for (size_t i = 0; i < count; i++)
        keep(i);
    return (now_ns() - from) / (double)count;
}
