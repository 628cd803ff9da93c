/* log_device_events_test.c: shows device activities as log lines. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOG_TARGET "kv::store"
#include "tests/support/programs.h"

#include "log/filter/filter.h"
#include "trace/read/reader.h"

TestSuite(log_device_events, .init = test_folder, .timeout = 60);

static uint64_t now(void)
{
    return trace_device_host()->now();
}

static uint32_t current(void)
{
    return trace_device_host()->current();
}

/* ---- Layouts ---- */

/* Records a kernel that took 2 ms, inside spans. */
static void record_kernel(void)
{
    struct trace_activity kernel;
    uint64_t begin;

    test_record();
    trace_span(INFO, "outer");
    trace_span(INFO, "step", ("i", 3));
    begin = now();
    usleep(2000);
    kernel = test_kernel(begin, now());
    kernel.span = current();
    trace_device_put(&kernel);
}

static void expect_lines(const struct log_style *style, const char *expected)
{
    char *lines;

    record_kernel();
    lines = test_lines(test_read(), "gpu=trace,info", style);
    cr_expect_str_eq(lines, expected, "%s", lines);
}

#define LAUNCH "launch{count=(4, 64, 1) stream=7 kernel.name=identity}"

Test(log_device_events, formats_a_kernel_in_full)
{
    struct log_style style = {.time = LOG_TIME_NONE};

    expect_lines(&style, "TRACE outer:step{i=3}:" LAUNCH
                         ": gpu::launch: Executing kernel block=(256, 1, 1) "
                         "registers=32\n");
}

Test(log_device_events, omits_the_location_of_a_kernel)
{
    struct log_style style = {.time = LOG_TIME_NONE,
                              .details = LOG_DETAIL_FILE | LOG_DETAIL_LINE};

    expect_lines(&style, "TRACE outer:step{i=3}:" LAUNCH
                         ": gpu::launch: Executing kernel block=(256, 1, 1) "
                         "registers=32\n");
}

Test(log_device_events, formats_a_kernel_in_compact)
{
    struct log_style style = {.time = LOG_TIME_NONE,
                              .format = LOG_FORMAT_COMPACT};

    expect_lines(&style,
                 "TRACE outer:step:launch: gpu::launch: Executing kernel "
                 "block=(256, 1, 1) registers=32 i=3 count=(4, 64, 1) stream=7 "
                 "kernel.name=identity\n");
}

Test(log_device_events, formats_a_kernel_in_pretty)
{
    struct log_style style = {.time = LOG_TIME_NONE,
                              .format = LOG_FORMAT_PRETTY};

    expect_lines(&style,
                 "  TRACE gpu::launch: Executing kernel, block: (256, 1, 1), "
                 "registers: 32\n"
                 "    in gpu::launch with count: (4, 64, 1), stream: 7, "
                 "kernel.name: identity\n"
                 "    in kv::store::step with i: 3\n"
                 "    in kv::store::outer\n\n");
}

Test(log_device_events, formats_a_kernel_in_json)
{
    struct log_style style = {.time = LOG_TIME_NONE,
                              .format = LOG_FORMAT_JSON,
                              .details = LOG_DETAIL_FILE | LOG_DETAIL_LINE};

    expect_lines(
        &style,
        "{\"level\":\"TRACE\",\"fields\":{\"message\":\"Executing kernel\","
        "\"block\":\"(256, 1, "
        "1)\",\"registers\":32},\"target\":\"gpu::launch\","
        "\"span\":{\"count\":\"(4, 64, 1)\",\"kernel.name\":\"identity\","
        "\"stream\":7,\"name\":\"launch\"},\"spans\":[{\"name\":\"outer\"},"
        "{\"i\":3,\"name\":\"step\"},{\"count\":\"(4, 64, 1)\","
        "\"kernel.name\":\"identity\",\"stream\":7,\"name\":\"launch\"}]}\n");
}

/* Without a location, the thread has a line of its own. */
Test(log_device_events, shows_the_thread_in_pretty)
{
    struct log_style style = {.time = LOG_TIME_NONE,
                              .format = LOG_FORMAT_PRETTY,
                              .details = LOG_DETAIL_THREAD_ID};
    char *lines;

    record_kernel();
    lines = test_lines(test_read(), "gpu=trace", &style);
    cr_expect(strstr(lines, "registers: 32\n    on ThreadId("), "%s", lines);
}

/* As for spans, durations are shown only with times. */
Test(log_device_events, shows_durations_with_times)
{
    struct log_style style = {.time = LOG_TIME_UPTIME};
    const char *duration;
    char *lines, *unit;

    record_kernel();
    lines = test_lines(test_read(), "gpu=trace", &style);
    duration = strstr(lines, " registers=32 duration=");
    cr_assert(duration, "%s", lines);
    cr_expect_geq(strtod(duration + strlen(" registers=32 duration="), &unit),
                  2);
    cr_expect_str_eq(unit, "ms\n");
}

Test(log_device_events, omits_a_duration_of_zero)
{
    struct log_style style = {.time = LOG_TIME_UPTIME};
    struct trace_activity kernel;
    char *lines;

    test_record();
    kernel = test_kernel(now(), 0);
    kernel.end = kernel.at.begin;
    trace_device_put(&kernel);
    lines = test_lines(test_read(), "trace", &style);
    cr_expect(strstr(lines, "registers=32\n"), "%s", lines);
}

Test(log_device_events, escapes_newlines_in_values)
{
    static const char *const names[] = {"log"};
    struct trace_value values[] = {trace_text_("(1, 1, 1)"), trace_u64_(7),
                                   trace_text_("a\nb"),
                                   trace_text_("line 1\nline 2\n")};
    struct trace_activity compile = test_kernel(now(), now());
    char *lines;

    for (size_t i = 0; i < 4; i += i ? 1 : 2)
        values[i].type = TRACE_TYPE_DISPLAY;
    compile.at.kind = TRACE_ACTIVITY_COMPILE;
    compile.level = TRACE_LEVEL_ERROR;
    compile.fields = names;
    compile.field_count = 1;
    compile.values = values;
    test_record();
    trace_device_put(&compile);
    lines = test_plain(test_read());
    cr_expect_str_eq(lines,
                     "ERROR launch{count=(1, 1, 1) stream=7 "
                     "kernel.name=a\\nb}: gpu::compile: Compilation failed "
                     "log=line 1\\nline 2\\n\n",
                     "%s", lines);
}

/* ---- Filters ---- */

/* Records an activity whose line shows the tag. */
static void put(const char *tag, unsigned kind, uint32_t stream,
                const char *kernel, unsigned level, uint32_t span)
{
    static const char *const names[] = {"tag"};
    struct trace_value values[] = {trace_text_("(1, 1, 1)"), trace_u64_(stream),
                                   trace_text_(kernel), trace_text_(tag)};
    struct trace_activity activity = test_kernel(now(), 0);

    values[0].type = values[2].type = TRACE_TYPE_DISPLAY;
    activity.end = now();
    activity.at.kind = (uint16_t)kind;
    activity.at.launched = stream != 0;
    activity.name = kernel;
    activity.symbol = NULL;
    activity.level = level;
    activity.span = span;
    activity.fields = names;
    activity.field_count = 1;
    activity.values = values + (stream ? 0 : TRACE_LAUNCH_FIELDS);
    trace_device_put(&activity);
}

enum {
    KERNEL = TRACE_ACTIVITY_KERNEL,
    COPY = TRACE_ACTIVITY_MEMCPY,
    COMPILE = TRACE_ACTIVITY_COMPILE,
    CALL = TRACE_ACTIVITY_RUNTIME,
    OVERHEAD = TRACE_ACTIVITY_OVERHEAD,
    ERROR = TRACE_LEVEL_ERROR,
};

static uint32_t step(void)
{
    uint32_t span;

    trace_span(INFO, "step", ("i", 3), ("late", trace_empty()));
    span = current();
    trace_record(trace_span_current(), ("late", 5));
    trace_event(INFO, "event", ("tag", "b"));
    put("c", KERNEL, 7, "identity", 0, span);
    put("d", KERNEL, 8, "other", 0, span);
    put("e", COMPILE, 7, "identity", ERROR, span);
    put("f", COPY, 0, "Memcpy HtoD", 0, span);
    put("g", CALL, 0, "cudaLaunchKernel", 0, span);
    put("i", OVERHEAD, 0, "flush", 0, span);
    put("j", CALL, 0, "cudaMalloc", TRACE_LEVEL_WARN, span);
    return span;
}

static void program(void)
{
    uint32_t span;

    trace_event(DEBUG, "event", ("tag", "a"));
    span = step();
    put("h", KERNEL, 7, "identity", 0, span); /* after its span ended */

    struct trace_span_ref apart = trace_span_new(INFO, "apart", ("n", 1));

    trace_span_end(apart);
    put("p", KERNEL, 9, "third", 0, apart.place);

    trace_span(INFO, "busy");
    put("k", KERNEL, 7, "identity", 0, 0); /* outside of spans */
    trace_event(DEBUG, "event", ("tag", "l"));
}

static char *tags_of(const char *lines)
{
    struct trace_text found = {0};

    while ((lines = strstr(lines, " tag=\""))) {
        lines += strlen(" tag=\"");
        trace_text_char(&found, *lines);
    }
    return test_keep(found.data ? found.data : strdup(""));
}

/* Returns the tags of the lines that are shown, live and from the recording. */
static char *tags(const char *filter)
{
    program_shown(filter, program);
    return tags_of(test_lines(test_open(), filter, &program_style));
}

/* The same, judging spans by their last values. */
static char *last_tags(const char *text)
{
    struct trace_reader *reader = test_open();
    struct log_filter *filter = log_filter_parse(text, NULL, "LOG", NULL);
    struct log_replay *replay = log_replay_new(filter);
    struct trace_text lines = {0};
    struct trace_entry entry;
    char *tags;

    log_replay_use_last_values(replay);
    while (trace_reader_next(reader, &entry))
        log_line(replay, &program_style, reader, &entry, &lines);
    tags = tags_of(lines.data ? lines.data : "");
    trace_text_free(&lines);
    log_replay_free(replay);
    log_filter_free(filter);
    return tags;
}

Test(log_device_events, judges_spans_of_activities_by_their_last_values)
{
    static const char *const rows[][2] = {
        {"[step{late=5}]=trace", "bcdefjh"},
        {"[step{late=4}]=trace", ""},
        {"trace,![step{late=5}]", "apkl"},
        {"[launch{stream=8}]=trace", "d"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        char *found;

        tags("trace"); /* records it */
        found = last_tags(rows[i][0]);
        cr_expect_str_eq(found, rows[i][1], "\"%s\": %s", rows[i][0], found);
    }
}

Test(log_device_events, filters_activities_as_events)
{
    static const char *const rows[][2] = {
        {"trace", "abcdefjhpkl"},
        {"debug", "abejl"},
        {"info", "bej"},
        {"off", ""},
        {"gpu=trace", "cdefjhpk"},
        {"info,gpu::launch=trace", "bcdejhpk"},
        {"info,gpu=off", "b"},
        {"gpu::api=trace", "j"},
        {"gpu::overhead=trace", ""},
        {"~gpu::*=error", "e"},
        /* fields of the activity and of its launch */
        {"{stream=7}=trace", "cehk"},
        {"{stream}=trace", "cdehpk"},
        {"{stream>7}=trace", "dp"},
        {"{kernel.name=other}=trace", "d"},
        {"[{kernel.name=other}]=trace", "d"},
        {"{tag=c}=trace", "c"},
        {"trace,!{stream=7}", "abdfjpl"},
        {"/^Executing/=trace", "cdhpk"},
        {"/failed$/=trace", "ej"},
        /* spans */
        {"[step]=trace", "bcdefjh"},
        {"[step{i=3}]=trace", "bcdefjh"},
        {"[step{i=4}]=trace", ""},
        {"[step{late=5}]=trace", "cdefjh"},
        {"[busy]=trace", "l"},
        {"[apart{n=1}]=trace", "p"},
        {"trace,![step]", "apkl"},
        {"trace,^[step]=warn", "aejpkl"},
        {"trace,^gpu=warn", "abejl"},
        {"kv::store=trace,!gpu", "abl"},
        {"gpu[step]=trace", ""},
        /* the launch is a span, too */
        {"[launch]=trace", "cdehpk"},
        {"[launch{stream=8}]=trace", "d"},
        {"trace,![launch{kernel.name=identity}]", "abdfjpl"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        char *shown = tags(rows[i][0]);

        cr_expect_str_eq(shown, rows[i][1], "\"%s\" shows %s; not: %s",
                         rows[i][0], shown, rows[i][1]);
    }
}

Test(log_device_events, omits_hidden_spans_from_activity_lines)
{
    static const char *const rows[][2] = {
        {"gpu=trace", "TRACE launch{"},
        {"gpu=trace,[step]=info", "TRACE step{i=3 late=5}:launch{"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        char *lines;

        program_shown(rows[i][0], program);
        lines = test_lines(test_open(), rows[i][0], &program_style);
        cr_expect(strstr(lines, rows[i][1]), "%s", lines);
        cr_expect_eq(strstr(lines, "step{") != NULL, i == 1, "%s", lines);
    }
}

Test(log_device_events, writes_no_line_for_calls_and_overheads)
{
    struct log_filter *filter = log_filter_parse("trace", NULL, "", NULL);
    struct log_replay *replay = log_replay_new(filter);
    struct log_style style = {.span_events = LOG_SPAN_FULL};
    struct trace_reader *reader;
    struct trace_entry entry;
    struct trace_text out = {0};

    test_record();
    put("g", CALL, 0, "cudaLaunchKernel", 0, 0);
    put("i", OVERHEAD, 0, "flush", 0, 0);
    reader = test_read();
    while (trace_reader_next(reader, &entry))
        cr_expect_eq(log_line(replay, &style, reader, &entry, &out), 0);
    cr_expect_eq(out.size, 0);
    log_replay_free(replay);
    log_filter_free(filter);
}

/* ---- Directives without a match ---- */

Test(log_device_events, accepts_device_targets_without_a_call_site)
{
    static const struct {
        const char *directive;
        bool unmatched;
    } rows[] = {
        {"gpu=trace", false},       {"gpu::launch=debug", false},
        {"gpu::memcpy", false},     {"!gpu::api", false},
        {"^gpu=warn", false},       {"~gpu::*=trace", false},
        {"~gpu::", false},          {"gpux=trace", true},
        {"~gpus::*=trace", true},   {"[launch]=trace", true},
        {"{stream=7}=trace", true},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct log_filter *filter =
            log_filter_parse(rows[i].directive, NULL, "LOG", NULL);
        size_t from = 0;

        cr_expect_eq(log_filter_unmatched(filter, &from) != NULL,
                     rows[i].unmatched, "%s", rows[i].directive);
        log_filter_free(filter);
    }
}

Test(log_device_events, matches_directives_to_recorded_activities)
{
    static const char *const rows[] = {"[launch{stream=7}]=trace",
                                       "{kernel.name=a}=trace",
                                       "[{stream}]=trace", "{tag=c}"};
    struct trace_reader *reader;

    test_record();
    put("c", KERNEL, 7, "identity", 0, 0);
    reader = test_read();
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct log_filter *filter =
            log_filter_parse(rows[i], NULL, "LOG", NULL);
        size_t from = 0;

        log_filter_seen(filter, trace_reader_site(reader, 1));
        cr_expect_null(log_filter_unmatched(filter, &from), "%s", rows[i]);
        log_filter_free(filter);
    }
}

/* ---- Expectations ---- */

static struct trace_text why;

static enum log_judgement judge(enum log_expectation_kind kind, double number,
                                const char *const *texts)
{
    struct log_expectation expectation = {kind, number, texts};

    trace_text_clear(&why);
    return log_judge(&expectation, &why);
}

#define judge_(kind, number, ...)                                              \
    judge(LOG_EXPECTATION_##kind, number,                                      \
          (const char *const[]){__VA_ARGS__, NULL})

Test(log_device_events, meets_expectations_by_activities)
{
    test_record();
    program();
    cr_expect_eq(judge_(CONTAINS, 0, "Executing kernel tag=\"c\""), LOG_MET);
    cr_expect_eq(judge_(COUNT, 5, "Executing kernel"), LOG_MET, "%s", why.data);
    cr_expect_eq(judge_(EVENT, 0, "=error", "{kernel.name=identity}"), LOG_MET);
    cr_expect_eq(judge_(EVENT, 0, "gpu::launch", "{stream=8}"), LOG_MET);
    cr_expect_eq(judge_(NO_EVENT, 0, "gpu::overhead"), LOG_MET, "%s", why.data);
    cr_expect_eq(judge_(NO_EVENT, 0, "gpu::launch=info"), LOG_MET);
    cr_expect_eq(judge_(SPAN_CLOSED, 0, "step"), LOG_MET, "%s", why.data);
    cr_expect_eq(judge_(LACKS, 0, "Executing kernel"), LOG_NOT_MET);
    cr_expect(strstr(why.data, "step{i=3 late=5}:launch{count=(1, 1, 1)"), "%s",
              why.data);
    trace_close();
}

Test(log_device_events, keeps_a_span_open_when_its_kernel_ends)
{
    test_record();
    trace_span(INFO, "open");
    put("c", KERNEL, 7, "identity", 0, current());
    cr_expect_eq(judge_(SPAN_CLOSED, 0, "open"), LOG_NOT_MET);
    trace_close();
}

static size_t flushes;

static void flush(bool last)
{
    if (!last && !flushes++)
        put("z", KERNEL, 7, "identity", 0, 0);
}

Test(log_device_events, flushes_the_device_before_an_expectation)
{
    static const struct trace_backend backend = {.flush = flush};

    test_record();
    cr_assert(trace_device_host()->attach(&backend));
    cr_expect_eq(judge_(CONTAINS, 0, "tag=\"z\""), LOG_MET, "%s", why.data);
    cr_expect_eq(flushes, 1);
    trace_close();
}
