/* runners_speedscope_test.c: writes profiles that speedscope can import. */
#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/support.h"

#include "runners/export/speedscope.h"

TestSuite(runners_speedscope, .init = test_begin, .timeout = 60);

static struct trace_site outer = TEST_SITE(SPAN, INFO, "outer", "m", NULL, 0);
static struct trace_site inner = TEST_SITE(SPAN, INFO, "inner", "m", NULL, 0);

static struct trace_span_ref begin(struct trace_site *site)
{
    return trace_span_begin_(site, 0, NULL);
}

/* ---- What speedscope checks ---- */

static double number_in(const cJSON *object, const char *key)
{
    const cJSON *number = cJSON_GetObjectItem(object, key);

    cr_assert(cJSON_IsNumber(number), "%s", key);
    return number->valuedouble;
}

static const char *text_in(const cJSON *object, const char *key)
{
    const cJSON *text = cJSON_GetObjectItem(object, key);

    cr_assert(cJSON_IsString(text), "%s", key);
    return text->valuestring;
}

static const cJSON *frames_in(const cJSON *file)
{
    return cJSON_GetObjectItem(cJSON_GetObjectItem(file, "shared"), "frames");
}

/* Frames are balanced, and in order of time within the profile. */
static void check_profile(const cJSON *file, const cJSON *profile)
{
    double last = number_in(profile, "startValue");
    size_t open[100], depth = 0;
    const cJSON *event;

    cr_expect_str_eq(text_in(profile, "type"), "evented");
    cr_expect_str_eq(text_in(profile, "unit"), "nanoseconds");
    cJSON_ArrayForEach(event, cJSON_GetObjectItem(profile, "events"))
    {
        size_t frame = (size_t)number_in(event, "frame");

        cr_expect_lt(frame, (size_t)cJSON_GetArraySize(frames_in(file)));
        cr_expect_geq(number_in(event, "at"), last);
        last = number_in(event, "at");
        if (!strcmp(text_in(event, "type"), "O")) {
            cr_assert_lt(depth, 100);
            open[depth++] = frame;
        } else {
            cr_assert_gt(depth, 0);
            cr_expect_eq(open[--depth], frame);
        }
    }
    cr_expect_eq(depth, 0);
    cr_expect_geq(number_in(profile, "endValue"), last);
}

static cJSON *parsed(struct trace_reader *reader, const char *name)
{
    struct runners_speedscope speedscope;
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    const cJSON *profile;
    cJSON *file;

    cr_assert_not_null(stream);
    runners_speedscope_begin(&speedscope, stream, "a \"run\"");
    cr_assert_eq(runners_speedscope_add(&speedscope, reader, name), 0);
    cr_assert_eq(runners_speedscope_end(&speedscope), 0);
    fclose(stream);
    file = cJSON_Parse(text);
    cr_assert_not_null(file, "%s", text);
    free(text);
    cr_expect_str_eq(text_in(file, "name"), "a \"run\"");
    cr_expect_str_eq(text_in(file, "exporter"), "testlog");
    cr_expect_str_eq(text_in(file, "$schema"),
                     "https://www.speedscope.app/file-format-schema.json");
    cJSON_ArrayForEach(profile, cJSON_GetObjectItem(file, "profiles"))
    {
        check_profile(file, profile);
    }
    return file;
}

/* Ends the recording and returns its file. */
static cJSON *exported(const char *name)
{
    return parsed(test_read(), name);
}

static int profiles_in(const cJSON *file)
{
    return cJSON_GetArraySize(cJSON_GetObjectItem(file, "profiles"));
}

static const cJSON *profile_in(const cJSON *file, int number)
{
    const cJSON *profile =
        cJSON_GetArrayItem(cJSON_GetObjectItem(file, "profiles"), number);

    cr_assert_not_null(profile);
    return profile;
}

/* The events of a profile, as "outer(inner()inner())". */
static const char *shape_of(const cJSON *file, int number)
{
    static char shape[512];
    size_t size = 0;
    const cJSON *event;

    shape[0] = '\0';
    cJSON_ArrayForEach(event,
                       cJSON_GetObjectItem(profile_in(file, number), "events"))
    {
        const cJSON *frame =
            cJSON_GetArrayItem(frames_in(file), (int)number_in(event, "frame"));
        bool opens = !strcmp(text_in(event, "type"), "O");

        size += (size_t)snprintf(shape + size, sizeof(shape) - size, "%s%s",
                                 opens ? text_in(frame, "name") : "",
                                 opens ? "(" : ")");
        cr_assert_lt(size, sizeof(shape));
    }
    return shape;
}

/* ---- Spans ---- */

Test(runners_speedscope, opens_and_closes_nested_spans)
{
    struct trace_span_ref span;
    const cJSON *frame;
    cJSON *file;

    span = begin(&outer);
    for (int i = 0; i < 2; i++)
        trace_span_end(begin(&inner));
    trace_span_end(span);
    trace_span_end(begin(&outer));
    file = exported(NULL);
    cr_expect_eq(profiles_in(file), 1);
    cr_expect_str_eq(shape_of(file, 0), "outer(inner()inner())outer()");
    cr_expect_eq(cJSON_GetArraySize(frames_in(file)), 2);
    frame = cJSON_GetArrayItem(frames_in(file), 1);
    cr_expect_str_eq(text_in(frame, "file"), "src/lib.rs");
    cr_expect_eq(number_in(frame, "line"), 42);
    cJSON_Delete(file);
}

Test(runners_speedscope, ends_a_span_with_the_one_in_which_it_begins)
{
    struct trace_span_ref one, other;
    struct trace_reader *reader;
    struct trace_entry first;
    const cJSON *events;
    cJSON *file;

    one = begin(&outer);
    other = begin(&inner);
    trace_span_end(one);
    trace_span_end(other);
    reader = test_read();
    cr_assert(test_find(reader, TRACE_ENTRY_SPAN, "outer", &first));
    file = parsed(reader, NULL);
    cr_expect_str_eq(shape_of(file, 0), "outer(inner())");
    events = cJSON_GetObjectItem(profile_in(file, 0), "events");
    cr_expect_eq(number_in(cJSON_GetArrayItem(events, 2), "at"), first.end);
    cJSON_Delete(file);
}

Test(runners_speedscope, closes_open_spans_with_the_recording)
{
    struct trace_reader *reader;
    const cJSON *events;
    cJSON *file;

    begin(&outer);
    begin(&inner);
    reader = test_read();
    file = parsed(reader, NULL);
    cr_expect_str_eq(shape_of(file, 0), "outer(inner())");
    events = cJSON_GetObjectItem(profile_in(file, 0), "events");
    cr_expect_eq(number_in(cJSON_GetArrayItem(events, 3), "at"),
                 trace_reader_summary(reader).end);
    cJSON_Delete(file);
}

static void *enters(void *span)
{
    trace_span_leave_(trace_span_enter_(*(struct trace_span_ref *)span));
    trace_span_end(begin(&inner));
    return NULL;
}

Test(runners_speedscope, gives_each_thread_a_profile)
{
    struct trace_span_ref span;
    cJSON *file;

    span = trace_span_new_(&outer, 0, NULL);
    trace_span_end(begin(&inner));
    test_thread(enters, &span);
    trace_span_end(span);
    file = exported("a test");
    cr_expect_eq(profiles_in(file), 2);
    cr_expect_str_eq(shape_of(file, 0), "inner()");
    cr_expect_str_eq(shape_of(file, 1), "outer()inner()");
    for (int i = 0; i < 2; i++)
        cr_expect_eq(strncmp(text_in(profile_in(file, i), "name"),
                             "a test: ", strlen("a test: ")),
                     0);
    cJSON_Delete(file);
}

Test(runners_speedscope, writes_no_profile_for_an_empty_recording)
{
    cJSON *file;

    file = exported(NULL);
    cr_expect_eq(profiles_in(file), 0);
    cr_expect_eq(cJSON_GetArraySize(frames_in(file)), 0);
    cJSON_Delete(file);
}

/* ---- Devices ---- */

static void put_call(uint32_t thread)
{
    struct trace_activity call = {
        .at = {.thread = thread, .kind = TRACE_ACTIVITY_RUNTIME},
        .name = "cudaLaunchKernel"};

    call.at.begin = trace_device_host()->now();
    call.end = trace_device_host()->now();
    trace_device_put(&call);
}

Test(runners_speedscope, gives_each_stream_a_profile)
{
    struct trace_activity activity;
    uint64_t now;
    cJSON *file;

    trace_device_note("gpu.device.1", "NVIDIA H200");
    trace_device_note("gpu.stream.2.7.name", "main");
    now = trace_device_host()->now();
    activity = test_kernel(now, now + 1000);
    trace_device_put(&activity);
    activity.at.stream = 8;
    trace_device_put(&activity);
    activity.at.stream = 7;
    activity.at.begin = now + 1000;
    activity.end = now + 2000;
    trace_device_put(&activity);
    file = exported(NULL);
    cr_expect_eq(profiles_in(file), 2);
    cr_expect_str_eq(text_in(profile_in(file, 0), "name"),
                     "GPU 1: NVIDIA H200, stream 7: main");
    cr_expect_str_eq(shape_of(file, 0), "identity()identity()");
    cr_expect_str_eq(shape_of(file, 1), "identity()");
    cJSON_Delete(file);
}

Test(runners_speedscope, puts_calls_into_the_spans_of_their_threads)
{
    struct trace_span_ref span;
    cJSON *file;

    span = begin(&outer);
    put_call((uint32_t)getpid());
    trace_span_end(span);
    put_call(1); /* a thread without records of its own */
    file = exported(NULL);
    cr_expect_eq(profiles_in(file), 2);
    cr_expect_str_eq(shape_of(file, 0), "outer(cudaLaunchKernel())");
    cr_expect_str_eq(shape_of(file, 1), "cudaLaunchKernel()");
    cJSON_Delete(file);
}

/* ---- Any recording, and faults ---- */

/* Spans that overlap, activities of several streams that do, too. */
Test(runners_speedscope, is_balanced_for_any_slices)
{
    struct trace_span_ref open[8] = {{0}};
    cJSON *file;

    test_seed(17);
    for (int i = 0; i < 3000; i++) {
        uint32_t at = test_below(8);
        struct trace_activity activity = test_kernel(0, 0);

        if (open[at].place)
            trace_span_end(open[at]);
        open[at] = test_below(2) ? begin(test_below(2) ? &outer : &inner)
                                 : (struct trace_span_ref){0};
        activity.at.begin = trace_device_host()->now() - test_below(100000);
        activity.end = activity.at.begin + test_below(10000);
        activity.at.stream = test_below(4);
        activity.at.on_device = test_below(4) > 0;
        trace_device_put(&activity);
    }
    file = exported("any");
    cr_expect_eq(profiles_in(file), 5);
    cJSON_Delete(file);
}

Test(runners_speedscope, reports_that_memory_is_exhausted)
{
    struct trace_reader *reader;
    FILE *null = fopen("/dev/null", "we");
    size_t nth = 0;
    int result;

    if (!test_can_fail_memory())
        cr_skip_test("a sanitizer provides malloc");
    cr_assert_not_null(null);
    begin(&outer);
    put_call(1);
    reader = test_read();
    do {
        struct runners_speedscope speedscope;

        runners_speedscope_begin(&speedscope, null, "run");
        errno = 0;
        test_fail_memory(++nth, true);
        result = runners_speedscope_add(&speedscope, reader, "a test");
        cr_expect(!result || errno == ENOMEM);
        test_fail_memory(0, false);
        runners_speedscope_end(&speedscope);
    } while (nth < 3 || result);
    cr_expect_gt(nth, 8);
    fclose(null);
}
