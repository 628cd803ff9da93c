/* bisected.c: a test that fails, logs a line or takes longer if a variable says
 * so. */
#include <stdlib.h>

#include <testlog/test_log.h>

static volatile unsigned result;

static void work(unsigned steps)
{
    trace_span(INFO, "work");
    for (unsigned i = 0; i < steps; i++)
        result += i;
}

TEST_LOG(bisected, works)
{
    const char *slow = getenv("SLOW");

    for (int i = 0; i < 20; i++)
        work(100000 * (slow ? (unsigned)atoi(slow) : 1));
    if (getenv("LOGS"))
        log_debug("the buffer is full");
    cr_expect_not(getenv("FAILS"));
}
