/* log_expect_test.c: judges expectations while a recording runs. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOG_TARGET "kv::store"
#include "tests/support/support.h"

#include "trace/read/reader.h"

TestSuite(log_expect, .init = test_folder, .timeout = 60);

/* The last judgement's reason. */
static struct trace_text why;

static enum log_judgement judge_all(enum log_expectation_kind kind,
                                    double number, const char *const *texts)
{
    struct log_expectation expectation = {kind, number, texts};

    trace_text_clear(&why);
    return log_judge(&expectation, &why);
}

#define judge(kind, number, ...)                                               \
    judge_all(LOG_EXPECTATION_##kind, number,                                  \
              (const char *const[]){__VA_ARGS__, NULL})
#define expect(judgement, kind, number, ...)                                   \
    cr_expect_eq(judge(kind, number, __VA_ARGS__), LOG_##judgement, "%s: %s",  \
                 #__VA_ARGS__, why.data)
#define expect_why(text)                                                       \
    cr_expect(why.data &&strstr(why.data, text), "%s", why.data)
#define expect_no_why(text)                                                    \
    cr_expect_not(strstr(why.data, text), "%s", why.data)

static void fill(int n)
{
    trace_span(DEBUG, "fill", (n), ("key", "ant"));
    trace_event(WARN, "evicted", ("key", "ant"), ("age", n));
    log_debug("%d of %d slots used", n, 2 * n);
}

static void record(void)
{
    test_record();
    trace_span(INFO, "outer", ("id", 5));
    fill(3);
    fill(4);
    log_trace("done");
}

Test(log_expect, searches_whole_lines_for_a_text)
{
    record();
    expect(MET, CONTAINS, 0, "3 of 6 slots");
    expect(MET, CONTAINS, 0, " WARN outer{id=5}:fill{n=3 key=\"ant\"}: kv::st");
    expect(MET, CONTAINS, 0, "evicted key=\"ant\" age=4");
    expect(NOT_MET, CONTAINS, 0, "slots used\n");
    expect(NOT_MET, CONTAINS, 0, "5 of");
    expect(NOT_MET, LACKS, 0, "slots");
    expect(MET, LACKS, 0, "5 of");
    expect(MET, COUNT, 2, "slots");
    expect(NOT_MET, COUNT, 1, "slots");
    expect(NOT_MET, COUNT, 3, "slots");
    expect(NOT_MET, COUNT, -1, "nothing");
    expect(MET, COUNT, 0, "nothing");
}

Test(log_expect, finds_a_message_of_several_lines)
{
    test_record();
    log_info("one\n\ttwo");
    expect(MET, CONTAINS, 0, "one\n\ttwo");
    expect(MET, CONTAINS, 0, "one\\n\ttwo");
    expect(NOT_MET, CONTAINS, 0, "one\ntwo");
}

Test(log_expect, requires_every_filter_to_show_an_event)
{
    record();
    expect(MET, EVENT, 0, "kv");
    expect(MET, EVENT, 0, "kv", "=warn", "/^evicted$/", "{key=ant,age=3}",
           "[outer]", "[fill{n=3}]");
    expect(NOT_MET, EVENT, 0, "kv", "{age=3}", "[fill{n=4}]");
    expect(NOT_MET, NO_EVENT, 0, "warn");
    expect(MET, NO_EVENT, 0, "error");
    expect(MET, NO_EVENT, 0, "net");
    expect(MET, EVENT_COUNT, 2, "warn");
    expect(MET, EVENT_COUNT, 5, "trace");
    expect(MET, EVENT_COUNT, 4, "debug");
    expect(MET, EVENT_COUNT, 2, "=debug");
    expect(MET, EVENT_COUNT, 0, "=info");
    expect(MET, EVENT_COUNT, 1, "![fill]");
    expect(MET, EVENT_COUNT, 3, "warn,/done/");
}

Test(log_expect, counts_the_events_that_a_filter_shows)
{
    static const char *const filters[] = {
        "info",
        "debug",
        "kv=debug",
        "off,kv=warn",
        "[fill]",
        "[fill{n=3}]",
        "warn,[fill]=debug",
        "!kv::store",
        "{age}",
        "{age>3}=warn",
        "/slots/=trace",
        "[outer]=trace,^[fill]=warn",
    };
    char *lines[sizeof(filters) / sizeof(*filters)];
    size_t count = sizeof(filters) / sizeof(*filters);
    struct trace_reader *reader;

    record();
    for (size_t i = 0; i < count; i++) {
        struct log_style style = {.time = LOG_TIME_NONE};

        reader = trace_reader_open_own();
        lines[i] = test_lines(reader, filters[i], &style);
        trace_reader_close(reader);
    }
    for (size_t i = 0; i < count; i++) {
        size_t shown = 0;

        for (const char *at = lines[i]; *at; at++)
            shown += *at == '\n';
        if (!strchr("!", filters[i][0])) /* as an expectation, it excludes from
                                            all events */
            expect(MET, EVENT_COUNT, (double)shown, filters[i]);
        free(lines[i]);
    }
}

Test(log_expect, finds_spans_by_path)
{
    record();
    expect(MET, SPAN, 0, "outer");
    expect(MET, SPAN, 0, "fill");
    expect(MET, SPAN, 0, "outer:fill");
    expect(MET, SPAN, 0, "outer{id=5}:fill{n=4}");
    expect(MET, SPAN, 0, "fill{n>3,key=\"ant\"}");
    expect(MET, SPAN, 0, "fill{key~=a.t}");
    expect(MET, SPAN, 0, "{id}:{n=3}");
    expect(MET, SPAN_COUNT, 2, "fill");
    expect(MET, SPAN_COUNT, 1, "fill{n=3}");
    expect(MET, NO_SPAN, 0, "fill:outer");
    expect(MET, NO_SPAN, 0, "fill:fill");
    expect(MET, NO_SPAN, 0, "fil");
    expect(MET, NO_SPAN, 0, "outer{id=6}:fill");
    expect(MET, NO_SPAN, 0, "fill{unheard}");
    expect(NOT_MET, SPAN, 0, "evicted");
}

Test(log_expect, finds_spans_by_a_path_with_gaps)
{
    test_record();
    trace_span(INFO, "a");
    trace_span(INFO, "b", ("at", "x:y}"));
    trace_span(INFO, "c::d");
    expect(MET, SPAN, 0, "a:c::d");
    expect(MET, SPAN, 0, "a:b{at=\"x:y}\"}:c::d");
    expect(MET, NO_SPAN, 0, "b:a:c::d");
}

Test(log_expect, parses_escaped_quotes_in_a_path)
{
    test_record();
    trace_span(INFO, "a", ("at", "a \":\" \\"));
    trace_span(INFO, "b");
    expect(MET, SPAN, 0, "a{at=\"a \\\":\\\" \\\\\"}:b");
    expect(NOT_MET, SPAN, 0, "a{at=\"a \\\"\"}:b");
    expect_why("0 of 2 spans match");
}

Test(log_expect, uses_values_recorded_later)
{
    struct trace_span_ref span;

    test_record();
    span = trace_span_begin(INFO, "request", ("status", trace_empty()));
    expect(MET, SPAN, 0, "request{status}");
    expect(MET, NO_SPAN, 0, "request{status=200}");
    trace_record(span, ("status", 500));
    trace_record(span, ("status", 200));
    expect(MET, SPAN, 0, "request{status=200}");
    expect(MET, NO_SPAN, 0, "request{status=500}");
    trace_span_end(span);
}

static void *run_in(void *span)
{
    trace_span_enter(*(struct trace_span_ref *)span);
    log_info("inside");
    return NULL;
}

Test(log_expect, judges_whether_spans_were_entered_and_closed)
{
    struct trace_span_ref span;

    test_record();
    expect(NOT_MET, SPAN_CLOSED, 0, "request"); /* no such span yet */
    span = trace_span_new(INFO, "request");
    expect(NOT_MET, SPAN_ENTERED, 0, "request");
    expect_why("never entered");
    expect(NOT_MET, SPAN_CLOSED, 0, "request");
    expect(NOT_MET, SPAN_SHORTER, 1000, "request");
    test_thread(run_in, &span);
    expect(MET, SPAN_ENTERED, 0, "request");
    expect(NOT_MET, SPAN_CLOSED, 0, "request");
    expect_why("request (open)");
    trace_span_end(span);
    expect(MET, SPAN_CLOSED, 0, "request");
    expect(MET, SPAN_SHORTER, 1000, "request");
    expect(NOT_MET, SPAN_LONGER, 1000, "request");
    expect(NOT_MET, SPAN_SHORTER, 0, "request");
    expect(MET, SPAN_LONGER, 0, "request");
    span = trace_span_begin(INFO, "request");
    expect(NOT_MET, SPAN_CLOSED, 0, "request");
    expect_why("1 of the 2 spans that match: still open");
    cr_expect_eq(strstr(strstr(why.data, "found:") + 1, "found:"), NULL);
    trace_span_end(span);
    expect(MET, SPAN_CLOSED, 0, "request");
}

Test(log_expect, a_span_is_open_while_a_thread_is_in_it)
{
    struct trace_span_ref span;

    test_record();
    span = trace_span_begin(INFO, "request");
    test_thread(run_in, &span);
    expect(NOT_MET, SPAN_CLOSED, 0, "request");
    expect_why("request (open)");
    trace_span_end(span);
    expect(MET, SPAN_CLOSED, 0, "request");
}

static void *work(void *unused)
{
    fill(7);
    return unused;
}

Test(log_expect, includes_other_threads_and_forked_children)
{
    test_record();
    trace_span(INFO, "here");
    test_thread(work, NULL);

    pid_t child = fork();

    if (!child) {
        fill(8);
        _exit(judge(CONTAINS, 0, "7 of 14") == LOG_MET &&
                      judge(SPAN, 0, "here:fill{n=8}") == LOG_MET
                  ? 0
                  : 1);
    }

    int status;

    waitpid(child, &status, 0);
    cr_expect_eq(status, 0);
    expect(MET, CONTAINS, 0, "7 of 14");
    expect(MET, CONTAINS, 0, "8 of 16");
    expect(MET, NO_SPAN, 0, "here:fill{n=7}");
    expect(MET, SPAN, 0, "here:fill{n=8}");
}

static int stop;

static void *work_on(void *unused)
{
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
        fill(7);
    return unused;
}

Test(log_expect, judges_while_another_thread_records)
{
    pthread_t thread;

    test_record_limit(TRACE_LIMIT_DEFAULT);
    cr_assert_eq(pthread_create(&thread, NULL, work_on, NULL), 0);
    for (int i = 0; i < 10; i++) {
        log_info("number %d", i);
        cr_expect_neq(judge(COUNT, i + 1, "number "), LOG_NOT_MET, "%s",
                      why.data);
        cr_expect_neq(judge(NO_SPAN, 0, "fill{n=6}"), LOG_NOT_MET);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
}

Test(log_expect, judges_after_the_file_was_removed)
{
    record();
    unlink(test_path("recording"));
    expect(MET, CONTAINS, 0, "3 of 6 slots");
}

/* ---- Messages ---- */

/* The letters of 4 MiB of lines are compared: the second event is not. */
Test(log_expect, finds_similar_records_without_comparing_long_lines,
     .timeout = 60)
{
    size_t size = 5 << 20;
    char *text = malloc(size + 1);

    memset(text, 'x', size);
    text[size] = '\0';
    test_record_limit(UINT64_C(128) << 20);
    log_info("evictt");
    log_info("%s", text);
    log_info("evicted");
    free(text);
    expect(NOT_MET, CONTAINS, 0, "evictd");
    expect_why("0 of 3 events match");
    expect_why("nearest:  INFO kv::store: evictt");
    expect_no_why("evicted");
}

Test(log_expect, shows_numbers_as_written)
{
    record();
    expect(NOT_MET, COUNT, 1234567, "slots");
    expect_why("log_expect_count(1234567, \"slots\"): 2 of 5 events");
    expect(NOT_MET, SPAN_LONGER, 86400.001, "fill");
    expect_why("log_expect_span_longer(86400.001, \"fill\")");
    expect(NOT_MET, SPAN_SHORTER, 1e-9, "fill");
    expect_why("log_expect_span_shorter(1e-09, \"fill\")");
}

Test(log_expect, shows_the_most_similar_records)
{
    record();
    expect(NOT_MET, CONTAINS, 0, "say \"evictd\"");
    expect_why("log_expect_contains(\"say \\\"evictd\\\"\"): 0 of 5 events");
    expect(NOT_MET, CONTAINS, 0, "evictd");
    expect_why("\n  nearest:  WARN outer{id=5}:fill{n=3 key=\"ant\"}: "
               "kv::store: evicted key=\"ant\" age=3\n");
    expect_no_why("slots");
    expect(NOT_MET, EVENT, 0, "=error", "{key=ant}");
    expect_why("log_expect_event(\"=error\", \"{key=ant}\"): 0 of 5 events");
    expect_why("age=3\n             refused by \"=error\"");
    expect_why("nearest:  WARN");
    expect_no_why("DEBUG");
    expect(NOT_MET, EVENT, 0, "{key=ant}", "=error", "nowhere");
    expect_why("age=3\n             refused by \"=error\", \"nowhere\"");
    expect(NOT_MET, EVENT, 0, "=error");
    expect_no_why("refused");
    expect(NOT_MET, EVENT_COUNT, 3, "{key=ant}");
    expect_why("log_expect_event_count(3, \"{key=ant}\"): 2 of 5 events");
    expect_why("found:    WARN");
    expect_no_why("nearest");
    expect(NOT_MET, LACKS, 0, "slots");
    expect_why("found:   DEBUG");
    expect_no_why("WARN");
    expect(NOT_MET, SPAN, 0, "filll");
    expect_why("nearest: outer{id=5}:fill{n=3 key=\"ant\"}");
    expect(NOT_MET, SPAN_SHORTER, 0, "outer");
    expect_why("log_expect_span_shorter(0, \"outer\"): 1 of the 1 spans");
    expect_why("outer{id=5} (0.");
}

Test(log_expect, shows_at_most_five_shortened_records)
{
    size_t lines = 0;
    char text[3001];

    memset(text, 0, sizeof(text));
    for (size_t i = 0; i + 1 < sizeof(text); i += 2)
        memcpy(text + i, "\xc3\xbc", 2);
    test_record();
    for (int i = 0; i < 100; i++)
        log_info("%s", text);
    expect(NOT_MET, LACKS, 0, "\xc3\xbc");
    for (const char *at = why.data; *at; at++)
        lines += *at == '\n';
    cr_expect_eq(lines, 5, "%zu", lines);
    cr_expect_lt(why.size, 5 * 450 + 100, "%zu", why.size);
    expect_why("\xc3\xbc...\n");
    expect_no_why("\xc3.");
}

Test(log_expect, ignores_testlog_s_own_messages)
{
    struct trace_site site = TEST_SITE(EVENT, ERROR, "", "t", NULL, 0);

    test_record();
    site.function = "";
    trace_message(&site, "assertion failed: evicted");
    expect(MET, LACKS, 0, "evicted");
    expect(MET, NO_EVENT, 0, "trace");
    site.function = "f";
    site.id = 0;
    trace_message(&site, "evicted");
    expect(MET, CONTAINS, 0, "evicted");
}

Test(log_expect, fails_an_expectation_with_a_mistake)
{
    record();
    expect(NOT_MET, EVENT, 0, "kv=loud");
    expect_why("log_expect_event(\"kv=loud\"): filter: unknown level");
    expect_no_why("ignored");
    expect(NOT_MET, NO_EVENT, 0, "kv", "net=loud");
    expect(NOT_MET, NO_EVENT, 0, "=loud");
    expect(NOT_MET, NO_SPAN, 0, "fill{n");
    expect_why("a path is like");
    expect(NOT_MET, NO_SPAN, 0, "fill{n=3}x");
    expect(NOT_MET, NO_SPAN, 0, "outer:fill{n=}x");
    expect(NOT_MET, LACKS, 0, NULL);
    expect_why("NULL");
    expect(NOT_MET, NO_SPAN, 0, NULL);
}

Test(log_expect, rejects_a_path_without_a_name)
{
    static const char *const paths[] = {
        "", ":", "gone:", ":gone", "gone{", "gone{}x", "gone::b:", "{", "a:{"};

    record();
    for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
        expect(NOT_MET, NO_SPAN, 0, paths[i]);
        cr_expect(strstr(why.data, "a path is like outer{id=5}:inner"),
                  "%s: %s", paths[i], why.data);
        expect(NOT_MET, SPAN_COUNT, 0, paths[i]);
    }
    expect(NOT_MET, NO_SPAN, 0, "gone:");
    expect_why(
        "log_expect_no_span(\"gone:\"): a span without a name or fields");
    expect(MET, NO_SPAN, 0, "gone");
    expect(MET, SPAN, 0, "{id=5}");
}

Test(log_expect, rejects_a_mistyped_level)
{
    record();
    expect(NOT_MET, NO_EVENT, 0, "wran");
    expect_why("log_expect_no_event(\"wran\"): \"wran\" matches no call site; "
               "did you mean the level warn?");
    expect(NOT_MET, EVENT_COUNT, 0, "kv", "errror");
    expect(NOT_MET, EVENT, 0, "Fatal");
    expect_why("the level error?");
    expect(MET, NO_EVENT, 0, "error");
    expect(MET, NO_EVENT, 0, "server");
    expect(MET, NO_EVENT, 0, "nothing");
    expect(MET, NO_EVENT, 0, "wran=debug");
    expect(MET, NO_EVENT, 0, "[wran]");
}

Test(log_expect, accepts_a_target_that_resembles_a_level)
{
    static struct trace_site site =
        TEST_SITE(EVENT, DEBUG, "e", "inof", NULL, 0);

    test_record();
    trace_event_(&site, 0, NULL);
    expect(NOT_MET, NO_EVENT, 0, "inof");
    expect_why("found:");
    expect(MET, EVENT, 0, "inof");
}

/* ---- Incomplete recordings ---- */

/* Records how many instructions a span executed, as a meter does. */
static void span_of(uint64_t instructions)
{
    static const char *const fields[] = {"instructions"};
    static struct trace_site site =
        TEST_SITE(FIELDS, TRACE, "", TRACE_METER_TARGET, fields, 1);
    struct trace_span_ref span = trace_span_begin(INFO, "counted");
    struct trace_value value = trace_value_of(instructions);

    if (instructions)
        trace_record_(span, &site, 1, &value);
    trace_span_end(span);
}

Test(log_expect, judges_instructions)
{
    test_record();
    expect(NOT_MET, INSTRUCTIONS_AT_MOST, 5, "counted"); /* no such span */
    span_of(100);
    expect(MET, INSTRUCTIONS_AT_MOST, 100, "counted");
    expect(NOT_MET, INSTRUCTIONS_AT_MOST, 99, "counted");
    expect_why("counted{instructions=100} (100 instructions)");
    span_of(200);
    expect(NOT_MET, INSTRUCTIONS_AT_MOST, 100, "counted");
    expect(MET, INSTRUCTIONS_AT_MOST, 200, "counted");
    span_of(0);
    expect(NOT_JUDGED, INSTRUCTIONS_AT_MOST, 200, "counted");
}

Test(log_expect, judges_nothing_without_a_recording)
{
    expect(NOT_JUDGED, LACKS, 0, "anything");
    record();
    expect(MET, LACKS, 0, "anything");
    trace_close();
    expect(NOT_JUDGED, LACKS, 0, "anything");
    expect_why("no recording");
}

Test(log_expect, judges_nothing_after_trace_disable)
{
    record();
    trace_disable();
    expect(NOT_JUDGED, CONTAINS, 0, "slots");
    expect_why("trace_disable() was called");
    trace_enable();
    expect(NOT_JUDGED, CONTAINS, 0, "slots");
    trace_close();
    record(); /* a new recording is complete */
    expect(MET, CONTAINS, 0, "slots");
    trace_close();
    trace_disable();
    record();
    trace_enable();
    expect(NOT_JUDGED, LACKS, 0, "slots");
}

static void disable(void)
{
    trace_disable();
}

Test(log_expect, judges_nothing_after_a_child_s_trace_disable)
{
    record();
    test_child(disable);
    expect(NOT_JUDGED, CONTAINS, 0, "slots");
}

Test(log_expect, judges_nothing_beyond_the_limit)
{
    test_record_limit(TRACE_LIMIT_LEAST);
    for (int i = 0; i < 10000; i++)
        fill(i);
    expect(NOT_JUDGED, CONTAINS, 0, "slots");
    expect_why("TRACE_LIMIT was reached");
}

Test(log_expect, gives_no_wrong_judgement_without_memory)
{
    if (!test_can_fail_memory())
        cr_skip_test("a sanitizer owns the memory");
    record();
    for (size_t nth = 1; nth < 60; nth++) {
        enum log_judgement got[4];
        struct trace_text said = {0};
        struct log_expectation expectation[] = {
            {LOG_EXPECTATION_CONTAINS, 0, (const char *[]){"3 of 6", NULL}},
            {LOG_EXPECTATION_EVENT, 0, (const char *[]){"kv", "{n}", NULL}},
            {LOG_EXPECTATION_SPAN_CLOSED, 0, (const char *[]){"a{b}", NULL}},
            {LOG_EXPECTATION_EVENT, 0, (const char *[]){"[fill]", NULL}},
        };

        for (size_t i = 0; i < 4; i++) {
            test_fail_memory(nth, nth % 2);
            got[i] = log_judge(&expectation[i], &said);
            test_fail_memory(0, false);
        }
        trace_text_free(&said);
        cr_expect_neq(got[0], LOG_NOT_MET, "%zu", nth);
        cr_expect_neq(got[1], LOG_MET, "%zu", nth);
        cr_expect_neq(got[2], LOG_MET, "%zu", nth);
    }
}
