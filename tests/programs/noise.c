/* noise.c: 200 spans of 40 calls, and 20 tests, for tests/noise.sh. SIZE is
 * that of a call; SLOW is how many times as long it takes in one of the spans,
 * and each test.
 */
#include <stdlib.h>

#include <testlog/test_log.h>

static volatile unsigned long long result;

static double number(const char *variable, double without)
{
    const char *value = getenv(variable);

    return value ? strtod(value, NULL) : without;
}

static void compute(double steps)
{
    unsigned long long state = 1;

    while (steps-- > 0)
        state = state * 6364136223846793005u + 1442695040888963407u;
    result += state;
}

#define SPAN(number)                                                           \
    static void span_##number(double steps)                                    \
    {                                                                          \
        trace_span(INFO, "span " #number);                                     \
        compute(steps);                                                        \
    }
#define NAME(number) span_##number,

#define TEN(x, tens)                                                           \
    x(tens##0) x(tens##1) x(tens##2) x(tens##3) x(tens##4) x(tens##5)          \
        x(tens##6) x(tens##7) x(tens##8) x(tens##9)
#define HUNDRED(x, hundreds)                                                   \
    TEN(x, hundreds##0)                                                        \
    TEN(x, hundreds##1)                                                        \
    TEN(x, hundreds##2)                                                        \
    TEN(x, hundreds##3)                                                        \
    TEN(x, hundreds##4)                                                        \
    TEN(x, hundreds##5)                                                        \
    TEN(x, hundreds##6)                                                        \
    TEN(x, hundreds##7)                                                        \
    TEN(x, hundreds##8)                                                        \
    TEN(x, hundreds##9)

HUNDRED(SPAN, 1)
HUNDRED(SPAN, 2)

static void (*const spans[])(double) = {HUNDRED(NAME, 1) HUNDRED(NAME, 2)};

TEST_LOG(noise, spans)
{
    double size = number("SIZE", 20000), slow = number("SLOW", 1);

    for (int i = 0; i < 200; i++)
        for (int call = 0; call < 40; call++)
            spans[i](size * (1 + i % 4) * (i == 100 ? slow : 1));
}

/* A span alone, as in a suite with one. */
TEST_LOG(single, span)
{
    double size = number("SIZE", 20000), slow = number("SLOW", 1);

    for (int call = 0; call < 40; call++)
        span_150(4 * size * slow);
}

#define COMPUTES(which)                                                        \
    TEST_LOG(tests, computes_##which)                                          \
    {                                                                          \
        compute(4e6 * number("SLOW", 1));                                      \
    }
TEN(COMPUTES, 1)
TEN(COMPUTES, 2)
