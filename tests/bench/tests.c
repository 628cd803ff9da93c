/* tests.c: a thousand tests, each with a dozen records if compiled in. */
#include <testlog/test_log.h>

static void step(int i)
{
    trace_function(DEBUG, (i));
    log_debug("step %d", i);
}

static void work(int test)
{
    trace_span(INFO, "work", (test));
    for (int i = 0; i < 5; i++)
        step(i);
    cr_assert(test >= 0);
}

#define TEN(X, ...)                                                            \
    X(__VA_ARGS__, 0)                                                          \
    X(__VA_ARGS__, 1)                                                          \
    X(__VA_ARGS__, 2)                                                          \
    X(__VA_ARGS__, 3)                                                          \
    X(__VA_ARGS__, 4)                                                          \
    X(__VA_ARGS__, 5)                                                          \
    X(__VA_ARGS__, 6)                                                          \
    X(__VA_ARGS__, 7)                                                          \
    X(__VA_ARGS__, 8)                                                          \
    X(__VA_ARGS__, 9)
#define TENS(X, ...)                                                           \
    X(__VA_ARGS__, 0)                                                          \
    X(__VA_ARGS__, 1)                                                          \
    X(__VA_ARGS__, 2)                                                          \
    X(__VA_ARGS__, 3)                                                          \
    X(__VA_ARGS__, 4)                                                          \
    X(__VA_ARGS__, 5)                                                          \
    X(__VA_ARGS__, 6)                                                          \
    X(__VA_ARGS__, 7)                                                          \
    X(__VA_ARGS__, 8)                                                          \
    X(__VA_ARGS__, 9)

#define ONE(a, b, c)                                                           \
    TEST_LOG(suite, test_##a##_##b##_##c)                                      \
    {                                                                          \
        work(a * 100 + b * 10 + c);                                            \
    }
#define DOZENS(a, b) TEN(ONE, a, b)
#define HUNDRED(a)   TENS(DOZENS, a)

/* clang-format off */
HUNDRED(0) HUNDRED(1) HUNDRED(2) HUNDRED(3) HUNDRED(4)
HUNDRED(5) HUNDRED(6) HUNDRED(7) HUNDRED(8) HUNDRED(9)
