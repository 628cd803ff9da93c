/* small.c: a few quick tests; SMALL names those that fail. */
#include <stdlib.h>
#include <string.h>

#include <testlog/test_log.h>

static bool must_fail(const char *name)
{
    const char *all = getenv("SMALL");

    return all && strstr(all, name);
}

TEST_LOG(small, passes)
{
    trace_span(INFO, "outer");

    log_trace("finest");
    log_debug("fine");
    log_info("plain");
    log_warn("careful");
    log_error("bad");
    cr_expect_not(must_fail("passes"));
}

TEST_LOG_DEFAULT("error", small, has_a_default)
{
    log_warn("careful");
    log_error("bad");
    cr_expect_not(must_fail("has_a_default"));
}

TEST_LOG(small, inherits_no_run)
{
    cr_expect_null(getenv("TESTLOG_RUN"));
#ifdef TRACING
    const char *session = getenv("TESTLOG_SESSION");

    cr_expect(!session || !strcmp(session, "nested=1:1"), "%s", session);
#endif
}

ParameterizedTestParameters(small, sizes)
{
    static int numbers[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};

    return cr_make_param_array(int, numbers, 12);
}

PARAMETERIZED_TEST_LOG(int *number, small, sizes)
{
    log_info("size %d", *number);
    cr_expect_not(*number == 3 && must_fail("sizes"));
}

TEST_LOG(other, passes)
{
    cr_expect_not(must_fail("other"));
}
