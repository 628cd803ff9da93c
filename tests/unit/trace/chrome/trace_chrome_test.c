/* trace_chrome_test.c: exports recordings as valid JSON with nested slices. */
#include "tests/support/chrome.h"

#include "trace/base/text.h"
#include "trace/chrome/chrome.h"
#include "trace/format.h"
#include "trace/read/reader.h"
#include "trace/record/recorder.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TestSuite(trace_chrome, .init = test_begin);

/* Ends the recording and exports it. */
static cJSON *exported(void)
{
    return chrome_export(test_read(), NULL);
}

static void check_event(const cJSON *event)
{
    const char *phase = chrome_text(event, "ph");

    cr_assert(*phase && strchr("XiMsf", *phase));
    cr_assert_eq(chrome_number(event, "pid"), 7);
    cr_assert_geq(chrome_number(event, "ts"), 0);
    cr_assert_geq(chrome_number(event, "tid"), 0);
    if (*phase == 'X')
        cr_assert_geq(chrome_number(event, "dur"), 0);
    if (*phase == 'i')
        cr_assert_str_eq(chrome_text(event, "s"), "t");
    if (*phase != 'M')
        cr_assert_str_neq(chrome_text(event, "cat"), "");
}

static void check_all(const cJSON *json)
{
    const cJSON *events = cJSON_GetObjectItem(json, "traceEvents"), *event;

    chrome_check_keys(json);
    cJSON_ArrayForEach(event, events) check_event(event);
    chrome_check_nesting(events);
}

/* ---- Tests ---- */

Test(trace_chrome, exports_an_empty_recording)
{
    cJSON *json = exported();

    check_all(json);
    cr_expect_str_eq(chrome_text(json, "displayTimeUnit"), "ns");
    cr_expect_str_eq(
        chrome_text(chrome_args(json, "M", "process_name"), "name"),
        "a \"name\"");
}

Test(trace_chrome, exports_metadata_as_strings)
{
    static const char *const pairs[] = {"version", "0.1", "command",
                                        "a \"b\"\n\xff", NULL};
    struct trace_text start = {0};

    struct trace_reader *reader = test_read();
    cJSON *json = chrome_export(reader, pairs);
    const cJSON *other = cJSON_GetObjectItem(json, "otherData");

    cr_expect_str_eq(chrome_text(other, "version"), "0.1");
    cr_expect_str_eq(chrome_text(other, "command"), "a \"b\"\n\xef\xbf\xbd");
    trace_text_moment(&start, trace_reader_summary(reader).origin.wall);
    cr_expect_str_eq(chrome_text(other, "start"), start.data);
    trace_text_free(&start);
}

/* ---- Tests and workers ---- */

static struct trace_chrome_test a_test(const char *name, uint64_t begin,
                                       uint64_t end)
{
    return (struct trace_chrome_test){.name = name,
                                      .outcome = "failed",
                                      .reason = "a \"b\"",
                                      .file = "dir/file.c",
                                      .line = 12,
                                      .duration = end - begin,
                                      .begin = begin,
                                      .end = end};
}

Test(trace_chrome, draws_a_test_above_its_threads)
{
    const struct trace_chrome_test test = a_test("suite/test", 0, 1500);
    const cJSON *slice, *args;
    struct trace_chrome chrome;
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    struct trace_reader *reader;
    cJSON *json;

    trace_span_end(trace_span_begin(INFO, "span"));
    reader = test_read();
    trace_chrome_begin(&chrome, stream);
    chrome.test = &test;
    cr_expect_eq(trace_chrome_add(&chrome, reader, 7, "suite/test"), 0);
    trace_chrome_end(&chrome, NULL);
    fclose(stream);
    json = chrome_parse(text, size);
    check_all(json);
    slice = chrome_event(json, "X", "suite/test");
    args = cJSON_GetObjectItem(slice, "args");
    cr_expect_eq(chrome_number(slice, "tid"), 0);
    cr_expect_str_eq(chrome_text(slice, "loc"), "dir/file.c:12");
    cr_expect_str_eq(chrome_text(args, "outcome"), "failed");
    cr_expect_str_eq(chrome_text(args, "reason"), "a \"b\"");
    cr_expect_str_eq(chrome_text(args, "location"), "dir/file.c:12");
    cr_expect_eq(chrome_number(args, "duration_ns"), 1500);
    cr_expect_leq(chrome_number(slice, "ts"),
                  chrome_number(chrome_event(json, "X", "span"), "ts"));
    cr_expect_geq(chrome_end(slice) + 0.0005,
                  chrome_end(chrome_event(json, "X", "span")));
    cr_expect_str_eq(chrome_text(chrome_args(json, "M", "thread_name"), "name"),
                     "test");
    cr_expect_eq(chrome_number(chrome_args(json, "M", "thread_sort_index"),
                               "sort_index"),
                 -1);
}

/* Of a slice called `name`. */
static void expect_worker(const cJSON *json, const char *name, double worker)
{
    cr_expect_eq(chrome_number(chrome_event(json, "X", name), "tid"), worker,
                 "%s", name);
}

/* Sums up the idle time of a worker in microseconds. */
static double idle_of(const cJSON *json, double worker)
{
    const cJSON *event;
    double sum = 0;

    cJSON_ArrayForEach(event, cJSON_GetObjectItem(json, "traceEvents"))
    {
        if (!strcmp(chrome_text(event, "name"), "idle") &&
            chrome_number(event, "tid") == worker)
            sum += chrome_number(event, "dur");
    }
    return sum;
}

Test(trace_chrome, draws_a_row_for_each_worker_with_its_idle_time)
{
    struct trace_chrome_test tests[] = {
        a_test("d", 120000, 150000), a_test("b", 10000, 50000),
        a_test("a", 1000, 100000), a_test("c", 60000, 90000)};
    struct trace_chrome chrome;
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    cJSON *json;

    trace_chrome_begin(&chrome, stream);
    trace_chrome_workers(&chrome, tests, 4);
    trace_chrome_end(&chrome, NULL);
    fclose(stream);
    json = chrome_parse(text, size);
    chrome_check_keys(json);
    chrome_check_nesting(cJSON_GetObjectItem(json, "traceEvents"));
    expect_worker(json, "a", 1);
    expect_worker(json, "b", 2);
    expect_worker(json, "c", 2);
    expect_worker(json, "d", 1); /* which became idle last */
    cr_expect_float_eq(idle_of(json, 1), 20, 1e-6);
    cr_expect_float_eq(idle_of(json, 2), 9 + 10 + 60, 1e-6);
    cr_expect_eq(chrome_count(json, "M", "thread_name"), 2);
}

/* ---- Recordings ---- */

Test(trace_chrome, exports_each_recording_as_a_process)
{
    struct trace_chrome chrome;
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    test_rich();

    struct trace_reader *reader = test_read();

    trace_chrome_begin(&chrome, stream);
    for (uint32_t pid = 1; pid <= 3; pid++)
        cr_expect_eq(trace_chrome_add(&chrome, reader, pid, "part"), 0);
    trace_chrome_end(&chrome, NULL);
    fclose(stream);

    cJSON *json = cJSON_ParseWithLength(text, size);

    cr_assert_not_null(json);
    cr_expect_eq(
        cJSON_GetArraySize(cJSON_GetObjectItem(json, "traceEvents")) % 3, 0);
    cJSON_Delete(json);
    free(text);
}

Test(trace_chrome, exports_the_fields_and_locations_of_spans_and_events)
{
    {
        trace_span(WARN, "span", ("a", 1), ("text", "x"));
        trace_event(INFO, "event", ("b", true ? -2 : 0));
        log_debug("%d%% of %s", 5, "all");
    }

    cJSON *json = exported();
    const cJSON *span = chrome_args(json, "X", "span");
    const cJSON *event = chrome_args(json, "i", "event");

    check_all(json);
    cr_expect_eq(chrome_number(span, "a"), 1);
    cr_expect_str_eq(chrome_text(span, "text"), "x");
    cr_expect_str_eq(chrome_text(span, "testlog.target"),
                     "tests::unit::trace::chrome::trace_chrome_test");
    cr_expect_not_null(
        strstr(chrome_text(span, "testlog.location"), "trace_chrome_test.c:"));
    cr_expect_eq(chrome_number(event, "b"), -2);
    cr_expect_str_eq(chrome_text(chrome_event(json, "X", "span"), "cat"),
                     "warn");
    chrome_event(json, "i", "5% of all");
}

/* Viewers show arguments in their order. */
static void expect_first(const cJSON *args, const char *first)
{
    const cJSON *item = args->child;

    cr_expect_str_eq(item->string, first);
    while (item->next && strcmp(item->string, "testlog.target") != 0)
        item = item->next;
    cr_expect_str_eq(item->string, "testlog.target");
    cr_expect_str_eq(item->next->string, "testlog.location");
}

Test(trace_chrome, writes_own_fields_before_ours)
{
    struct trace_span_ref late = trace_span_begin(INFO, "late", ("a", 1));
    struct trace_span_ref open = trace_span_begin(INFO, "open", ("a", 1));

    trace_record(late, ("b", 2));
    trace_event(INFO, "event", ("e", 1));
    trace_signpost("header", "message");
    log_info("no %s", "field");
    (void)open;

    struct trace_reader *reader = trace_reader_open_own();
    cJSON *json = chrome_export(reader, NULL);

    check_all(json);
    expect_first(chrome_args(json, "X", "late"), "a");
    expect_first(chrome_args(json, "X", "open"), "a");
    expect_first(chrome_args(json, "i", "event"), "e");
    expect_first(chrome_args(json, "i", "header: message"), "signpost");
    expect_first(chrome_args(json, "i", "no field"), "testlog.target");
    trace_reader_close(reader);
}

Test(trace_chrome, writes_each_key_once_with_its_last_value)
{
    {
        trace_span(INFO, "span", ("a", 1), ("a", 2), ("late", trace_empty()));
        trace_record(trace_span_current(), ("late", 3), ("b", 4));
        trace_record(trace_span_current(), ("late", 5));
        trace_event(INFO, "event", ("c", 6), ("c", 7),
                    ("testlog.target", "mine"), ("unfinished", "mine"));
        trace_span_begin(INFO, "open", ("unfinished", "mine"),
                         ("testlog.location", 1));
    }

    cJSON *json = exported();
    const cJSON *span = chrome_args(json, "X", "span");

    check_all(json);
    cr_expect_eq(chrome_number(span, "a"), 2);
    cr_expect_eq(chrome_number(span, "late"), 5);
    cr_expect_eq(chrome_number(span, "b"), 4);
    cr_expect_eq(chrome_number(chrome_args(json, "i", "event"), "c"), 7);
}

Test(trace_chrome, marks_open_spans_and_extends_them_to_the_end)
{
    trace_span_begin(INFO, "open");
    trace_span_end(trace_span_begin(INFO, "closed"));
    trace_event(INFO, "last");

    cJSON *json = exported();

    check_all(json);
    cr_expect(cJSON_IsTrue(
        cJSON_GetObjectItem(chrome_args(json, "X", "open"), "unfinished")));
    cr_expect_null(
        cJSON_GetObjectItem(chrome_args(json, "X", "closed"), "unfinished"));
    cr_expect_geq(chrome_end(chrome_event(json, "X", "open")) + 0.001,
                  chrome_number(chrome_event(json, "i", "last"), "ts"));
}

Test(trace_chrome, moves_overlapping_spans_to_other_tracks)
{
    struct trace_span_ref a = trace_span_begin(INFO, "a");
    struct trace_span_ref b = trace_span_begin(INFO, "b");
    struct trace_span_ref c = trace_span_begin(INFO, "c");
    struct trace_span_ref d = trace_span_begin(INFO, "d");

    trace_span_end(a);
    trace_event(INFO, "between");
    trace_span_end(b);
    trace_event(INFO, "between");
    trace_span_end(c);
    trace_event(INFO, "between");
    trace_span_end(d);

    cJSON *json = exported();
    double first = chrome_number(chrome_event(json, "X", "a"), "tid");

    check_all(json);
    cr_expect_eq(first, getpid());
    cr_expect_neq(chrome_number(chrome_event(json, "X", "b"), "tid"), first);
}

/* A thread that records its number in spans: one that stays open, and two that
 * overlap. */
static void *overlap(void *context)
{
    unsigned number = *(unsigned *)context;
    struct trace_span_ref first, second;

    trace_span_begin(INFO, "open", ("number", number));
    first = trace_span_begin(INFO, "first", ("number", number));
    second = trace_span_begin(INFO, "second", ("number", number));
    trace_span_end(first);
    trace_span_end(second);
    return NULL;
}

/* An open span of one that has ended must not enclose the next one's. */
Test(trace_chrome, draws_threads_that_had_the_same_id_apart)
{
    enum { ID = 4000000, THREADS = 3 };
    double tids[THREADS];
    const cJSON *event;
    size_t opens = 0;
    cJSON *json;

    for (unsigned i = 0; i < THREADS; i++)
        test_thread(overlap, &i);
    test_reuse_id(ID);

    json = chrome_export(test_open(), NULL);
    check_all(json);
    cJSON_ArrayForEach(event, cJSON_GetObjectItem(json, "traceEvents"))
    {
        if (strcmp(chrome_text(event, "name"), "open") != 0)
            continue;
        cr_assert_lt(opens, THREADS);
        tids[opens++] = chrome_number(event, "tid");
    }
    cr_assert_eq(opens, THREADS);
    cr_expect_eq(tids[0], ID);
    cr_expect(tids[0] != tids[1] && tids[1] != tids[2] && tids[0] != tids[2]);
    cr_expect_eq(chrome_count(json, "M", "thread_name"), 2 * THREADS);
}

/* Even if it would fit into the thread's own track. */
Test(trace_chrome, draws_spans_that_no_thread_is_in_beside_it)
{
    static struct trace_site site =
        TEST_SITE(SPAN, INFO, "range", "m", NULL, 0);
    struct trace_span_ref beside;

    beside = trace_span_beside_(&site, 0, NULL);
    trace_span_end(trace_span_begin(INFO, "own"));
    trace_span_end(beside);

    cJSON *json = exported();

    check_all(json);
    cr_expect_eq(chrome_number(chrome_event(json, "X", "own"), "tid"),
                 getpid());
    cr_expect_neq(chrome_number(chrome_event(json, "X", "range"), "tid"),
                  getpid());
}

Test(trace_chrome, nests_random_spans)
{
    struct trace_span_ref open[8] = {{0, 0}};

    test_seed(9);
    for (int i = 0; i < 600; i++) {
        struct trace_span_ref *one = &open[test_below(8)];

        if (one->place) {
            trace_span_end(*one);
            *one = (struct trace_span_ref){0, 0};
        } else {
            *one = trace_span_begin(INFO, "span", ("i", i));
        }
    }

    check_all(exported());
}

Test(trace_chrome, writes_unusual_values_as_valid_json)
{
    static const char odd[] = "\"\\\b\f\n\r\t\x01\x1f\x7f\xc3\xa9\xff\xe2\x82";

    trace_event(INFO, "reals", ("nan", (double)NAN), ("inf", (double)INFINITY),
                ("neg", -(double)INFINITY), ("big", 1e308), ("tiny", 5e-324),
                ("float", 0.1f));
    trace_event(INFO, "texts", ("odd", odd), ("k\"\n\xff", "key"),
                ("null", trace_string("a\0b", 3)), ("empty", ""));
    trace_event(INFO, "ints", ("least", INT64_MIN), ("most", UINT64_MAX),
                ("wide", (trace_i128_t)-1), ("p", (void *)16),
                ("bytes", trace_bytes("\0\xff", 2)), ("e", trace_errno(2)),
                ("none", trace_empty()));
    log_info("%s%c", odd, 1);

    cJSON *json = exported();
    const cJSON *reals = chrome_args(json, "i", "reals");
    const cJSON *ints = chrome_args(json, "i", "ints");

    check_all(json);
    cr_expect(cJSON_IsNull(cJSON_GetObjectItem(reals, "nan")));
    cr_expect(cJSON_IsNull(cJSON_GetObjectItem(reals, "inf")));
    cr_expect_eq(chrome_number(reals, "big"), 1e308);
    cr_expect_eq(chrome_number(reals, "float"), 0.1);
    cr_expect_str_eq(chrome_text(chrome_args(json, "i", "texts"), "odd"),
                     "\"\\\b\f\n\r\t\x01\x1f\x7f\xc3\xa9\xef\xbf\xbd"
                     "\xef\xbf\xbd\xef\xbf\xbd");
    cr_expect_eq(chrome_number(ints, "least"), (double)INT64_MIN);
    cr_expect_str_eq(chrome_text(ints, "bytes"), "00ff");
    cr_expect_null(cJSON_GetObjectItem(ints, "none"));
}

Test(trace_chrome, draws_a_span_on_each_thread_that_entered_it)
{
    test_rich();

    cJSON *json = exported();
    const cJSON *event;
    size_t outer = 0;

    check_all(json);
    cJSON_ArrayForEach(event, cJSON_GetObjectItem(json, "traceEvents")) outer +=
        !strcmp(chrome_text(event, "name"), "outer");
    /* Begun, entered on the other thread, and begun again. */
    cr_expect_eq(outer, 3);
    cr_expect_eq(chrome_check_arrows(json, "enter"), 1);
}

static void *enter_twice(void *context)
{
    struct trace_span_ref *span = context;

    for (int i = 0; i < 2; i++) {
        trace_span_enter(*span);
    }
    return NULL;
}

Test(trace_chrome, draws_an_arrow_to_each_thread_that_enters_a_span)
{
    struct trace_span_ref begun, made;
    cJSON *json;

    begun = trace_span_begin(INFO, "begun");
    made = trace_span_new(INFO, "made", ("n", 1));
    test_thread(enter_twice, &begun);
    test_thread(enter_twice, &begun);
    test_thread(enter_twice, &made);
    enter_twice(&begun);
    enter_twice(&made);
    trace_span_end(made);
    trace_span_end(begun);
    json = exported();
    check_all(json);
    cr_expect_eq(chrome_check_arrows(json, "enter"), 3);
    cr_expect_eq(chrome_number(chrome_args(json, "i", "new made"), "n"), 1);
    cr_expect_eq(chrome_number(chrome_event(json, "s", "enter"), "tid"),
                 getpid());
    cr_expect_neq(chrome_number(chrome_event(json, "f", "enter"), "tid"),
                  getpid());
}

Test(trace_chrome, survives_a_lack_of_memory)
{
    if (!test_can_fail_memory())
        cr_skip_test("a sanitizer owns the memory");
    test_rich();
    chrome_export_without_memory(test_read(), 100);
}

/* ---- Counters and signposts ---- */

/* Viewers require a thread in every event, and name counters by their keys. */
Test(trace_chrome, exports_numbers_as_counters)
{
    trace_counter("depth", 3);
    trace_counter("load", NAN);
    trace_counter("word", "four");
    trace_counter("busy", (bool)true);

    cJSON *json = exported();
    const cJSON *depth = chrome_event(json, "C", "depth"), *args, *event;
    int count = 0;

    cr_expect_eq(chrome_number(cJSON_GetObjectItem(depth, "args"), "depth"), 3);
    cr_expect_eq(chrome_number(depth, "pid"), 7);
    cr_expect_eq(chrome_number(depth, "tid"), getpid());
    args = cJSON_GetObjectItem(chrome_event(json, "C", "busy"), "args");
    cr_expect_eq(chrome_number(args, "busy"), 1);
    cJSON_ArrayForEach(event, cJSON_GetObjectItem(json, "traceEvents")) count +=
        !strcmp(chrome_text(event, "ph"), "C");
    cr_expect_eq(count, 2, "NaN and strings are not exported");
}

Test(trace_chrome, exports_signposts_as_instants_with_their_text)
{
    trace_signpost("phase \"2\"", "%s begins", "it");

    cJSON *json = exported();
    const cJSON *event = chrome_event(json, "i", "phase \"2\": it begins");
    const cJSON *args = cJSON_GetObjectItem(event, "args");

    cr_expect_str_eq(chrome_text(event, "s"), "t");
    cr_expect_str_eq(chrome_text(event, "cat"), "info");
    cr_expect_str_eq(chrome_text(args, "signpost"), "phase \"2\"");
    cr_expect_str_eq(chrome_text(args, "message"), "it begins");
}
