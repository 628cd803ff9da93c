/* burn.c: burns processor time below 30 functions, as one whom samples watch.
 */
#include "peer.h"

enum { DEPTH = 30 };

static __attribute__((noinline)) unsigned burn(unsigned depth, size_t count)
{
    unsigned sum = depth;

    if (depth)
        return burn(depth - 1, count) + sum;
    for (size_t i = 0; i < count; i++) {
        sum = sum * 31 + (unsigned)i;
        keep(sum);
    }
    return sum;
}

static double loop(size_t count)
{
    double from = now_ns();

    keep(burn(DEPTH, count));
    return (now_ns() - from) / (double)count;
}

int main(void)
{
    static const struct work works[] = {{"loop", loop}};

    return serve(works, 1);
}
