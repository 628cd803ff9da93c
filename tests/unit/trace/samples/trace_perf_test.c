/* trace_perf_test.c: samples a child, if the kernel lets us. */
#include "trace/samples/perf.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct trace_perf perf;

static void open_or_skip(unsigned hz)
{
    if (trace_perf_open(&perf, hz, 0))
        cr_skip_test("%s", strerror(errno));
}

/* Uses that much of its processor time, little of it in the kernel, which is
 * not sampled. */
static void burn(double seconds)
{
    double end = (double)clock() / CLOCKS_PER_SEC + seconds;
    static volatile unsigned sink;

    while ((double)clock() / CLOCKS_PER_SEC < end)
        for (unsigned i = 0; i < 100000; i++)
            sink += i;
}

static pid_t burn_in_child(double seconds)
{
    pid_t child = fork();

    if (!child) {
        burn(seconds);
        _exit(0);
    }
    cr_assert_eq(waitpid(child, NULL, 0), child);
    return child;
}

/* Reads all events, which must be in order, and returns how many samples a
 * process has. */
static size_t samples_of(pid_t pid)
{
    struct trace_perf_event event;
    size_t count = 0;
    uint64_t last = 0;

    trace_perf_look(&perf);
    while (trace_perf_next(&perf, UINT64_MAX - 1, &event)) {
        cr_expect_geq(event.time, last);
        last = event.time;
        count += event.kind == TRACE_PERF_SAMPLE && event.pid == (uint32_t)pid;
    }
    return count;
}

Test(trace_perf, samples_a_child)
{
    size_t count;

    open_or_skip(1000);
    cr_expect_eq(perf.period, 1000000);
    count = samples_of(burn_in_child(0.2));
    cr_expect(count > 100 && count < 300, "%zu", count);
    trace_perf_close(&perf);
}

Test(trace_perf, tells_of_children_and_programs)
{
    bool forked = false, executed = false, mapped = false, ended = false;
    struct trace_perf_event event;
    pid_t child;

    open_or_skip(100);
    child = fork();
    if (!child) {
        execl("/bin/true", "true", NULL);
        _exit(127);
    }
    cr_assert_eq(waitpid(child, NULL, 0), child);
    trace_perf_look(&perf);
    while (trace_perf_next(&perf, UINT64_MAX - 1, &event)) {
        if (event.pid != (uint32_t)child)
            continue;
        forked |=
            event.kind == TRACE_PERF_FORK && event.parent == (uint32_t)getpid();
        executed |= event.kind == TRACE_PERF_EXEC;
        mapped |= event.kind == TRACE_PERF_MAP && strstr(event.text, "/true");
        ended |= event.kind == TRACE_PERF_EXIT;
    }
    cr_expect(forked && executed && mapped && ended);
    trace_perf_close(&perf);
}

/* Events that are not read fill the ring; later ones are counted. */
Test(trace_perf, goes_around_its_rings)
{
    open_or_skip(10000);
    for (int i = 0; i < 40; i++)
        cr_expect_gt(samples_of(burn_in_child(0.1)), 200);
    trace_perf_close(&perf);
}

Test(trace_perf, reads_only_events_of_before)
{
    struct trace_perf_event event;

    open_or_skip(1000);
    burn_in_child(0.05);
    trace_perf_look(&perf);
    cr_expect_not(trace_perf_next(&perf, 1, &event));
    cr_expect(trace_perf_next(&perf, UINT64_MAX - 1, &event));
    trace_perf_close(&perf);
}

Test(trace_perf, closes_twice)
{
    open_or_skip(1000);
    trace_perf_wait(&perf, 0);
    trace_perf_close(&perf);
    trace_perf_close(&perf);
}
