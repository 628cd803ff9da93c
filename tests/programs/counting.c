/* counting.c: a span whose instructions are counted. STEPS is how many steps it
 * takes.
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <testlog/test_log.h>

static volatile unsigned result;

static void compute(void)
{
    const char *steps = getenv("STEPS");
    unsigned count = steps ? (unsigned)strtoul(steps, NULL, 10) : 100000;

    trace_span(INFO, "compute");
    for (unsigned i = 0; i < count; i++)
        result += i;
}

TEST_LOG(counting, few)
{
    compute();
    log_expect_instructions_at_most(1e9, "compute");
}

TEST_LOG(counting, many)
{
    compute();
    log_expect_instructions_at_most(1000, "compute");
}

static void compute_in_child(void)
{
    trace_span(INFO, "child");
    compute();
}

TEST_LOG(counting, forks)
{
    pid_t child;

    compute();
    child = fork();
    if (!child) {
        compute_in_child();
        _exit(0);
    }
    cr_assert_eq(waitpid(child, NULL, 0), child);
}
