/* runners_ops_test.c: writes operations of devices as comma-separated values.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/support.h"

#include "runners/export/ops.h"

TestSuite(runners_ops, .init = test_begin, .timeout = 60);

/* Ends the recording and returns its rows, which are kept. */
static char *rows(const char *test, const char *losses)
{
    struct trace_reader *reader = test_read();
    struct runners_ops ops = {0};
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    cr_assert_not_null(stream);
    cr_assert_eq(runners_ops_add(&ops, reader, test, losses, stream), 0);
    fclose(stream);
    return test_keep(text);
}

static void expect_has(const char *text, const char *part)
{
    cr_expect(strstr(text, part), "%s lacks %s", text, part);
}

Test(runners_ops, quotes_texts)
{
    struct trace_activity kernel;
    uint64_t now;
    char *text;

    now = trace_device_host()->now();
    kernel = test_kernel(now, now + 1);
    kernel.name = "say \"hi\",\nnow";
    trace_device_put(&kernel);
    kernel.name = "=HYPERLINK()";
    trace_device_put(&kernel);
    text = rows("a,b", NULL);
    expect_has(text, "1,\"a,b\",,kernel,\"say \"\"hi\"\", now\",1,7,");
    expect_has(text, "2,\"a,b\",,kernel,\"'=HYPERLINK()\",1,7,");
    expect_has(text, ",\"(4, 64, 1)\",\"(256, 1, 1)\",32,,,99,\n");
}

Test(runners_ops, leaves_out_calls_and_waits)
{
    struct trace_activity wait = {
        .at = {.thread = 1, .kind = TRACE_ACTIVITY_SYNC}, .name = "sync"};

    wait.at.begin = wait.end = trace_device_host()->now();
    trace_device_put(&wait);
    wait.at.kind = TRACE_ACTIVITY_DRIVER;
    trace_device_put(&wait);
    cr_expect_str_eq(rows("a test", NULL), "");
}

static struct trace_activity call_of(uint64_t begin, uint64_t end)
{
    return (struct trace_activity){.at = {.begin = begin,
                                          .thread = 1,
                                          .correlation = 99,
                                          .kind = TRACE_ACTIVITY_RUNTIME},
                                   .end = end,
                                   .name = "cudaLaunchKernel"};
}

/* A call of the runtime calls the driver with the same correlation. */
Test(runners_ops, takes_the_first_call_even_if_it_is_recorded_late)
{
    struct trace_activity activity;
    uint64_t now;
    char *text;

    now = trace_device_host()->now();
    activity = test_kernel(now + 3000000, now + 4000000);
    trace_device_put(&activity);
    activity = call_of(now + 1000000, now + 2000000);
    activity.at.kind = TRACE_ACTIVITY_DRIVER;
    trace_device_put(&activity);
    activity = call_of(now, now + 2000000);
    trace_device_put(&activity);
    text = rows("", NULL);

    unsigned long long begin, end, time, delay;

    cr_assert_eq(sscanf(text,
                        "1,\"\",,kernel,\"identity\",1,7,%llu,%llu,%llu,"
                        "%llu,",
                        &begin, &end, &time, &delay),
                 4, "%s", text);
    cr_expect_eq(end - begin, time);
    cr_expect_float_eq((double)delay / (double)time, 1.5, 0.01, "%s", text);
}

Test(runners_ops, announces_what_is_missing)
{
    char *text;

    text = rows("a test", "3 records were lost");
    cr_expect_eq(
        strncmp(text, "1,\"a test\",,dropped,\"3 records were lost\",", 41), 0,
        "%s", text);
}

Test(runners_ops, reports_that_memory_is_exhausted)
{
    struct trace_activity activity;
    struct trace_reader *reader;
    FILE *nowhere = fopen("/dev/null", "we");
    size_t nth = 0;
    int result;

    if (!test_can_fail_memory())
        cr_skip_test("a sanitizer provides malloc");
    activity = call_of(trace_device_host()->now(), trace_device_host()->now());
    trace_device_put(&activity);
    activity = test_kernel(activity.end, activity.end);
    trace_device_put(&activity);
    reader = test_read();
    fputc(' ', nowhere); /* allocates the buffer */
    do {
        struct runners_ops ops = {0};

        errno = 0;
        test_fail_memory(++nth, true);
        result = runners_ops_add(&ops, reader, "a test", NULL, nowhere);
        cr_expect(!result || errno == ENOMEM);
        test_fail_memory(0, false);
    } while (nth < 3 || result);
    cr_expect_gt(nth, 3);
    fclose(nowhere);
}
