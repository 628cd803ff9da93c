/* runners_folded_test.c: sums up self times as folded stacks. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/support.h"

#include "runners/export/folded.h"
#include "trace/read/reader.h"
#include "trace/record/recorder.h"

TestSuite(runners_folded, .init = test_begin, .timeout = 60);

static struct trace_site outer = TEST_SITE(SPAN, INFO, "outer", "m", NULL, 0);
static struct trace_site inner = TEST_SITE(SPAN, INFO, "inner", "m", NULL, 0);

static struct trace_span_ref begin(struct trace_site *site)
{
    return trace_span_begin_(site, 0, NULL);
}

static char *text_of(const struct runners_folded *folded)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    cr_assert_not_null(stream);
    cr_assert_eq(runners_folded_put(folded, stream), 0);
    fclose(stream);
    return test_keep(text);
}

/* Ends the recording and returns its stacks, which are kept. */
static char *folded_as(const char *name)
{
    struct trace_reader *reader = test_read();
    struct runners_folded folded = {0};
    char *text;

    cr_assert_eq(runners_folded_add(&folded, reader, name), 0);
    text = text_of(&folded);
    runners_folded_free(&folded);
    return text;
}

/* Returns the time of the path that ends with `frames`, 0 if there is none. */
static unsigned long long time_of(const char *text, const char *frames)
{
    size_t size = strlen(frames);

    for (const char *at = text; (at = strstr(at, frames)); at++)
        if (at[size] == ' ')
            return strtoull(at + size, NULL, 10);
    return 0;
}

/* The times of all paths. */
static unsigned long long sum_of(const char *text)
{
    unsigned long long sum = 0;

    for (const char *end = text; (end = strchr(end, '\n')); end++) {
        const char *number = end;

        while (number[-1] != ' ')
            number--;
        sum += strtoull(number, NULL, 10);
    }
    return sum;
}

static uint64_t duration_of(struct trace_reader *reader, const char *name)
{
    struct trace_entry entry;

    cr_assert(test_find(reader, TRACE_ENTRY_SPAN, name, &entry));
    return entry.end - entry.time;
}

/* ---- Spans ---- */

Test(runners_folded, sums_up_the_self_times_of_nested_spans)
{
    struct runners_folded folded = {0};
    struct trace_reader *reader;
    uint64_t whole, nested;
    char *text;

    struct trace_span_ref span = begin(&outer);

    for (int i = 0; i < 2; i++) {
        struct trace_span_ref part = begin(&inner);

        usleep(1000);
        trace_span_end(part);
    }
    usleep(1000);
    trace_span_end(span);
    reader = test_read();
    whole = duration_of(reader, "outer");
    nested = duration_of(reader, "inner");
    cr_assert_eq(runners_folded_add(&folded, reader, NULL), 0);
    text = text_of(&folded);
    cr_expect_eq(sum_of(text), whole, "%s", text);
    cr_expect_gt(time_of(text, ";outer;inner"), nested, "%s", text);
    cr_expect_eq(time_of(text, ";outer") + time_of(text, ";outer;inner"), whole,
                 "%s", text);
    runners_folded_free(&folded);
}

/* Each path has its own line, so that their text grows with the depth twice. */
Test(runners_folded, sums_up_what_is_too_deep)
{
    enum { DEPTH = 2 * RUNNERS_FOLDED_DEPTH };
    struct trace_span_ref spans[DEPTH];
    struct runners_folded folded = {0};
    struct trace_reader *reader;
    uint64_t whole;
    char *text;

    for (int i = 0; i < DEPTH; i++)
        spans[i] = begin(i ? &inner : &outer);
    for (int i = DEPTH; i-- > 0;)
        trace_span_end(spans[i]);
    reader = test_read();
    whole = duration_of(reader, "outer");
    cr_assert_eq(runners_folded_add(&folded, reader, NULL), 0);
    text = text_of(&folded);
    cr_expect(folded.cut);
    cr_expect_leq(folded.count, RUNNERS_FOLDED_DEPTH);
    cr_expect_eq(sum_of(text), whole);
    runners_folded_free(&folded);
}

/* The one that began later is nested until it ends. */
Test(runners_folded, counts_time_once_if_spans_overlap)
{
    struct runners_folded folded = {0};
    struct trace_reader *reader;
    struct trace_entry first, second;
    char *text;

    struct trace_span_ref one = begin(&outer);
    struct trace_span_ref other = begin(&inner);

    usleep(1000);
    trace_span_end(one);
    usleep(1000);
    trace_span_end(other);
    reader = test_read();
    cr_assert(test_find(reader, TRACE_ENTRY_SPAN, "outer", &first));
    cr_assert(test_find(reader, TRACE_ENTRY_SPAN, "inner", &second));
    cr_assert_eq(runners_folded_add(&folded, reader, NULL), 0);
    text = text_of(&folded);
    cr_expect_eq(time_of(text, ";outer"), second.time - first.time, "%s", text);
    cr_expect_eq(sum_of(text), second.end - first.time, "%s", text);
    runners_folded_free(&folded);
}

static void *enters(void *span)
{
    struct trace_span_ref entered =
        trace_span_enter_(*(struct trace_span_ref *)span);

    usleep(1000);
    trace_span_leave_(entered);
    return NULL;
}

Test(runners_folded, adds_the_time_on_each_thread_that_enters_a_span)
{
    struct trace_span_ref span;
    char *text, own[64];

    span = trace_span_new_(&outer, 0, NULL);
    test_thread(enters, &span);
    trace_span_end(span);
    text = folded_as(NULL);
    snprintf(own, sizeof(own), " %d;outer", getpid());
    cr_expect_gt(time_of(text, ";outer"), 0, "%s", text);
    cr_expect_eq(time_of(text, own), 0, "%s", text);
}

Test(runners_folded, leaves_out_spans_that_no_thread_is_in)
{
    struct trace_span_ref around, beside;
    char *text;

    around = begin(&outer);
    beside = trace_span_beside_(&inner, 0, NULL);
    trace_span_end(around);
    trace_span_end(beside);
    text = folded_as(NULL);
    cr_expect_gt(time_of(text, ";outer"), 0);
    cr_expect_null(strstr(text, "inner"));
}

Test(runners_folded, ends_open_spans_with_the_recording)
{
    char *text;

    begin(&outer);
    usleep(1000);
    text = folded_as(NULL);
    cr_expect_gt(time_of(text, ";outer"), 1000000, "%s", text);
}

Test(runners_folded, writes_nothing_for_an_empty_recording)
{
    cr_expect_str_eq(folded_as("a test"), "");
}

Test(runners_folded, replaces_what_separates_frames_and_lines)
{
    static struct trace_site odd =
        TEST_SITE(SPAN, INFO, "a;b\nc \xc3\xa4\xc3", "m", NULL, 0);
    struct trace_span_ref span;
    char *text;

    span = begin(&odd);
    usleep(1000);
    trace_span_end(span);
    text = folded_as("one;two");
    cr_expect_eq(strncmp(text, "one:two;", 8), 0, "%s", text);
    cr_expect_gt(time_of(text, ";a:b c \xc3\xa4\xef\xbf\xbd"), 0, "%s", text);
    cr_expect_eq(strchr(text, '\n'), text + strlen(text) - 1, "%s", text);
}

/* ---- Devices ---- */

Test(runners_folded, puts_the_work_of_a_device_under_its_stream)
{
    struct trace_activity activity;
    uint64_t now;
    char *text;

    trace_device_note("gpu.device.1", "NVIDIA H200");
    trace_device_note("gpu.stream.2.7.name", "main");
    now = trace_device_host()->now();
    activity = test_kernel(now, now + 100000);
    trace_device_put(&activity);
    text = folded_as(NULL);
    cr_expect_eq(
        strncmp(text, "GPU 1: NVIDIA H200;stream 7: main;identity ", 43), 0,
        "%s", text);
}

Test(runners_folded, puts_calls_into_the_spans_of_their_threads)
{
    struct trace_activity call = {
        .at = {.thread = (uint32_t)getpid(), .kind = TRACE_ACTIVITY_RUNTIME},
        .name = "cudaLaunchKernel"};
    struct trace_span_ref span;
    char *text;

    span = begin(&outer);
    call.at.begin = trace_device_host()->now();
    usleep(1000);
    call.end = trace_device_host()->now();
    trace_span_end(span);
    trace_device_put(&call);
    text = folded_as(NULL);
    cr_expect_gt(time_of(text, ";outer;cudaLaunchKernel"), 1000000, "%s", text);
}

/* ---- Several recordings, and faults ---- */

Test(runners_folded, adds_up_recordings_with_the_same_name)
{
    struct runners_folded folded = {0};
    struct trace_reader *reader;
    char *once, *twice;

    begin(&outer);
    usleep(1000);
    reader = test_read();
    cr_assert_eq(runners_folded_add(&folded, reader, "same"), 0);
    once = text_of(&folded);
    cr_assert_eq(runners_folded_add(&folded, reader, "same"), 0);
    twice = text_of(&folded);
    cr_expect_eq(sum_of(twice), 2 * sum_of(once), "%s", twice);
    cr_expect_eq(strchr(twice, '\n')[1], '\0', "%s", twice);
    runners_folded_free(&folded);
}

Test(runners_folded, reports_that_memory_is_exhausted)
{
    struct trace_reader *reader;
    size_t nth = 0;
    int result;

    if (!test_can_fail_memory())
        cr_skip_test("a sanitizer provides malloc");
    begin(&outer);
    usleep(1000);
    reader = test_read();
    do {
        struct runners_folded folded = {0};

        errno = 0;
        test_fail_memory(++nth, true);
        result = runners_folded_add(&folded, reader, "a test");
        cr_expect(!result || errno == ENOMEM);
        test_fail_memory(0, false);
        runners_folded_free(&folded);
    } while (nth < 3 || result);
    cr_expect_gt(nth, 4);
}
