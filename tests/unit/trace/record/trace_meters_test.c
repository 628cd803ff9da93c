/* trace_meters_test.c: what a thread uses within its spans. */
#include "tests/support/support.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "trace/read/reader.h"
#include "trace/recording.h"

static struct trace_site outer = TEST_SITE(SPAN, INFO, "outer", "m", NULL, 0);
static struct trace_site inner = TEST_SITE(SPAN, INFO, "inner", "m", NULL, 0);

static void record(unsigned meters)
{
    struct trace_options options = {.meters = meters};

    cr_assert_eq(trace_open(test_path("recording"), &options), 0);
}

TestSuite(trace_meters, .init = test_folder);

static void spin(long ms)
{
    struct timespec time;
    long end = 0, now;

    do {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        now = time.tv_sec * 1000 + time.tv_nsec / 1000000;
        end = end ? end : now + ms;
    } while (now < end);
}

/* Sums up a meter's values of all spans with a name, and counts them. */
static uint64_t sum(const char *name, const char *field, size_t *count)
{
    struct trace_reader *reader = test_read();
    struct trace_entry entry, span;
    uint64_t all = 0;

    *count = 0;
    while (trace_reader_next(reader, &entry)) {
        struct trace_values values = trace_values_of(&entry);
        struct trace_value value;

        if (entry.kind != TRACE_ENTRY_FIELDS ||
            strcmp(entry.site->target, TRACE_METER_TARGET) != 0 ||
            !trace_reader_span(reader, entry.span, &span) ||
            strcmp(span.site->name, name) != 0)
            continue;
        for (size_t i = 0;
             i < entry.site->field_count && trace_values_next(&values, &value);
             i++)
            if (!strcmp(entry.site->fields[i], field)) {
                all += value.as.u;
                ++*count;
            }
    }
    return all;
}

Test(trace_meters, record_the_processor_time_of_spans)
{
    struct trace_span_ref span, nested;
    size_t count;

    record(1u << TRACE_METER_CPU);
    span = trace_span_open_(&outer, 0, NULL);
    spin(5);
    nested = trace_span_open_(&inner, 0, NULL);
    spin(10);
    trace_span_leave_(nested);
    trace_span_leave_(span);
    cr_expect_geq(sum("inner", "cpu_ns", &count), UINT64_C(9000000));
    cr_expect_eq(count, 1u);
    cr_expect_geq(sum("outer", "cpu_ns", &count), UINT64_C(13000000));
    cr_expect_eq(count, 1u);
}

Test(trace_meters, waiting_is_no_processor_time)
{
    struct timespec time = {.tv_nsec = 50000000};
    struct trace_span_ref span;
    size_t count;

    record(1u << TRACE_METER_CPU);
    span = trace_span_open_(&outer, 0, NULL);
    nanosleep(&time, NULL);
    trace_span_leave_(span);
    cr_expect_lt(sum("outer", "cpu_ns", &count), UINT64_C(40000000));
    cr_expect_eq(count, 1u);
}

Test(trace_meters, record_nothing_unless_asked)
{
    size_t count;

    record(0);
    trace_span_leave_(trace_span_open_(&outer, 0, NULL));
    sum("outer", "cpu_ns", &count);
    cr_expect_eq(count, 0u);
}

static void *enter_and_leave(void *unused)
{
    (void)unused;
    for (int i = 0; i < 1000; i++)
        trace_span_leave_(trace_span_open_(&inner, 0, NULL));
    return NULL;
}

Test(trace_meters, count_for_each_thread)
{
    pthread_t threads[4];
    size_t count;

    record(1u << TRACE_METER_CPU);
    for (int i = 0; i < 4; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, enter_and_leave, NULL),
                     0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    sum("inner", "cpu_ns", &count);
    cr_expect_eq(count, 4000u);
}

Test(trace_meters, a_span_of_many_levels_has_each)
{
    struct trace_span_ref spans[100];
    size_t count;

    record(1u << TRACE_METER_CPU);
    for (int i = 0; i < 100; i++)
        spans[i] = trace_span_begin_(&inner, 0, NULL);
    for (int i = 0; i < 100; i++) /* the outermost first */
        trace_span_end(spans[i]);
    sum("inner", "cpu_ns", &count);
    cr_expect_eq(count, 100u);
}

Test(trace_meters, a_forked_child_has_its_own)
{
    struct trace_span_ref span;
    size_t count;
    pid_t child;

    record(1u << TRACE_METER_CPU | 1u << TRACE_METER_INSTRUCTIONS);
    span = trace_span_open_(&outer, 0, NULL);
    child = fork();
    if (!child) {
        enter_and_leave(NULL);
        _exit(0);
    }
    cr_assert_eq(waitpid(child, NULL, 0), child);
    trace_span_leave_(span);
    sum("inner", "cpu_ns", &count);
    cr_expect_eq(count, 1000u);
    sum("outer", "cpu_ns", &count);
    cr_expect_eq(count, 1u);
}

/* As after a failed assertion. */
Test(trace_meters, spans_that_a_jump_left_have_theirs)
{
    size_t count;

    record(1u << TRACE_METER_CPU);
    trace_span_begin_(&outer, 0, NULL);
    trace_span_begin_(&inner, 0, NULL);
    trace_unwind(0);
    sum("outer", "cpu_ns", &count);
    cr_expect_eq(count, 1u);
    sum("inner", "cpu_ns", &count);
    cr_expect_eq(count, 1u);
}

Test(trace_meters, keep_errno)
{
    struct trace_span_ref span;

    record(1u << TRACE_METER_CPU | 1u << TRACE_METER_INSTRUCTIONS);
    errno = 7;
    span = trace_span_open_(&outer, 0, NULL);
    trace_span_leave_(span);
    cr_expect_eq(errno, 7);
}

/* Machines without a counter record the processor time alone. */
Test(trace_meters, record_instructions_where_they_are_counted)
{
    int counter = trace_count_instructions(false);
    struct trace_span_ref span;
    size_t count;

    record(1u << TRACE_METER_CPU | 1u << TRACE_METER_INSTRUCTIONS);
    span = trace_span_open_(&outer, 0, NULL);
    spin(5);
    trace_span_leave_(span);
    sum("outer", "instructions", &count);
    cr_expect_eq(count, counter >= 0 ? 1u : 0u);
    if (counter >= 0)
        close(counter);
    sum("outer", "cpu_ns", &count);
    cr_expect_eq(count, 1u);
}
