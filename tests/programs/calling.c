/* calling.c: a test whose functions have no annotations, but for a span and
 * a line. CALLS is how often it calls one. */
#include <testlog/test_log.h>

#include <stdlib.h>

static volatile int sink;

static void step(void)
{
    sink++;
}

static void look_up(void)
{
    const char *calls = getenv("CALLS");

    for (int i = calls ? atoi(calls) : 1; i > 0; i--)
        step();
    log_info("found");
}

static void serve(void)
{
    trace_span(INFO, "request");

    look_up();
}

TEST_LOG(calls, expects_a_function)
{
    if (getenv("EXPECTS")) {
        log_expect_span("request");
        log_expect_span("step");
    }
    serve();
}

TEST_LOG(calls, serves)
{
    serve();
    cr_assert_fail("to print its lines");
}
