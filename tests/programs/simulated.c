/* simulated.c: tests that tests/support/simulate.c takes for those of many
 * shards. */
#include <testlog/test_log.h>

static void step(int i)
{
    trace_function(DEBUG, (i));
    log_debug("step %d", i);
}

static void work(void)
{
    trace_span(INFO, "work");
    for (int i = 0; i < 5; i++)
        step(i);
}

TEST_LOG(suite, test_0_0_1)
{
    work();
}

TEST_LOG(suite, test_0_0_2)
{
    work();
}
