/* read_report.c: reads the reports in XML of test frameworks: the common form
 * of JUnit, that of Catch2 and doctest, and that of Check.
 *
 *  <testcase classname="suite" name="test" time="0.1"><failure/></testcase>
 *  <TestCase name="test"><Expression/><OverallResult/></TestCase>
 *  <test result="failure"><id>test</id><message/></test>
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "frameworks.h"
#include "harness/machine/notice.h"
#include "harness/run/files/writers.h"
#include "markup.h"

enum { TEXT_MOST = 64 << 10 /* of a reason */ };

struct report {
    struct test_log_run *run;
    const struct framework *framework;
    const char *program;
    struct test_log_result *result; /* NULL: outside of a test */
    struct trace_text text;         /* of an element without children */
    char message[1024];             /* an attribute, in place of a text */
    char file[PATH_MAX];            /* where it failed; "": unknown */
    unsigned line;
    char original[1024]; /* an expression of Catch2 */
    char suite[1024];    /* that has begun */
};

static unsigned number_of(const char **attributes, const char *name)
{
    const char *value = runners_markup_attribute(attributes, name);

    return value ? (unsigned)strtoul(value, NULL, 10) : 0;
}

static uint64_t duration_of(const char *seconds)
{
    double value = seconds ? strtod(seconds, NULL) : 0;

    return value > 0 && value < 1e9 ? (uint64_t)(value * 1e9) : 0;
}

static void replace(char **member, const char *text)
{
    free(*member);
    *member = text ? strdup(text) : NULL;
}

/* ---- A test ---- */

static void begin_test(struct report *report, const char *suite,
                       const char *name)
{
    struct test_log_result *result = test_log_run_add(report->run);

    report->result = result;
    report->file[0] = '\0';
    report->line = 0;
    if (!result)
        return;
    result->program = strdup(report->program);
    if (!name || *name) /* otherwise an environment of GoogleTest failed */
        result->suite = strdup(suite && *suite ? suite : report->program);
    result->test = strdup(!name ? "?" : *name ? name : report->program);
    result->outcome = TEST_LOG_OUTCOME_PASSED;
}

static void drop_test(struct report *report)
{
    test_log_run_drop(report->run);
    report->result = NULL;
}

static void set_place(struct test_log_result *result, const char *file,
                      unsigned line)
{
    char shown[PATH_MAX];

    if (!file || !line)
        return;
    replace(&result->file, test_log_shown_path(file, shown));
    result->line = line;
}

static unsigned severity(enum test_log_outcome outcome)
{
    switch (outcome) {
    case TEST_LOG_OUTCOME_NONE:
    case TEST_LOG_OUTCOME_PASSED:
        return 0;
    case TEST_LOG_OUTCOME_SKIPPED:
        return 1;
    case TEST_LOG_OUTCOME_FAILED:
        return 2;
    default:
        return 3;
    }
}

/* The worst outcome counts, and the first reason for it. */
static void set_reason(struct report *report, enum test_log_outcome outcome,
                       const char *text)
{
    struct test_log_result *result = report->result;
    struct trace_text reason = {0};

    if (severity(outcome) < severity(result->outcome))
        return;
    if (severity(outcome) > severity(result->outcome))
        replace(&result->reason, NULL);
    result->outcome = outcome;
    if (result->reason || !*text)
        return;
    if (report->file[0])
        trace_text_printf(&reason, "%s:%u: ", report->file, report->line);
    trace_text_string(&reason, text);
    result->reason =
        reason.failed ? NULL : runners_framework_reason(reason.data);
    trace_text_free(&reason);
}

/* Returns the text of the element that ends, without blanks around it; the
 * attribute of its beginning if it has none. */
static char *text_of(struct report *report)
{
    char *text = report->text.size ? report->text.data : NULL;
    size_t size;

    while (text && *text && strchr(" \t\r\n", *text))
        text++;
    size = text ? strlen(text) : 0;
    while (size && strchr(" \t\r\n", text[size - 1]))
        text[--size] = '\0';
    return size ? text : report->message;
}

/* ---- The form of JUnit ---- */

static void begin_junit(struct report *report, const char *name,
                        const char **attributes)
{
    const char *status = runners_markup_attribute(attributes, "status");
    const char *suite = runners_markup_attribute(attributes, "classname");
    const char *own = runners_markup_attribute(attributes, "name");

    if (!strcmp(name, "testsuite") && own)
        snprintf(report->suite, sizeof(report->suite), "%s", own);
    if (strcmp(name, "testcase") != 0)
        return;
    if (!suite && report->framework->places) /* in a list */
        suite = report->suite;
    begin_test(report, report->framework->has_suites ? suite : NULL, own);
    if (!report->result)
        return;
    report->result->duration =
        duration_of(runners_markup_attribute(attributes, "time"));
    set_place(report->result, runners_markup_attribute(attributes, "file"),
              number_of(attributes, "line"));
    if (!status || strcmp(status, "notrun") != 0)
        return;
    if (runners_framework_is_disabled(report->result->suite,
                                      report->result->test))
        set_reason(report, TEST_LOG_OUTCOME_SKIPPED, "disabled");
    else
        drop_test(report);
}

static void end_junit(struct report *report, const char *name)
{
    if (!strcmp(name, "testcase"))
        report->result = NULL;
    else if (!strcmp(name, "failure") || !strcmp(name, "error"))
        set_reason(report, TEST_LOG_OUTCOME_FAILED, text_of(report));
    else if (!strcmp(name, "skipped"))
        set_reason(report, TEST_LOG_OUTCOME_SKIPPED, text_of(report));
}

/* ---- That of Catch2 and doctest ---- */

/* Returns the first of two attributes that there is. */
static const char *either(const char **attributes, const char *name,
                          const char *other)
{
    const char *value = runners_markup_attribute(attributes, name);

    return value ? value : runners_markup_attribute(attributes, other);
}

/* A test may fail although no check has, for the reason in `original`. */
static void judge_catch2(struct report *report, const char **attributes)
{
    const char *success = either(attributes, "success", "test_case_success");
    struct test_log_result *result = report->result;

    result->duration =
        duration_of(either(attributes, "durationInSeconds", "duration"));
    if (result->outcome == TEST_LOG_OUTCOME_CRASHED)
        return;
    if (success && !strcmp(success, "false"))
        set_reason(report, TEST_LOG_OUTCOME_FAILED, report->original);
    else if (number_of(attributes, "skips"))
        set_reason(report, TEST_LOG_OUTCOME_SKIPPED, "");
    else if (result->outcome == TEST_LOG_OUTCOME_FAILED && success)
        result->outcome = TEST_LOG_OUTCOME_PASSED; /* it may fail */
}

static void begin_catch2_test(struct report *report, const char **attributes)
{
    const char *tags = runners_markup_attribute(attributes, "tags");
    const char *why = "";

    begin_test(report, NULL, runners_markup_attribute(attributes, "name"));
    if (!report->result)
        return;
    set_place(report->result, runners_markup_attribute(attributes, "filename"),
              number_of(attributes, "line"));
    if (runners_markup_attribute(attributes, "should_fail") ||
        (tags && strstr(tags, "[!shouldfail]")))
        why = "it has passed, but should fail";
    else if (runners_markup_attribute(attributes, "timeout"))
        why = "it took longer than its time-out";
    snprintf(report->original, sizeof(report->original), "%s", why);
}

static void begin_catch2(struct report *report, const char *name,
                         const char **attributes)
{
    const char *file = runners_markup_attribute(attributes, "filename");
    char shown[PATH_MAX];

    if (!strcmp(name, "TestCase"))
        begin_catch2_test(report, attributes);
    else if (!report->result)
        return;
    else if (!strncmp(name, "OverallResult", strlen("OverallResult")))
        judge_catch2(report, attributes);
    else if (file) {
        snprintf(report->file, sizeof(report->file), "%s",
                 test_log_shown_path(file, shown));
        report->line = number_of(attributes, "line");
    } else if (!strcmp(name, "Exception")) { /* doctest's */
        const char *crash = runners_markup_attribute(attributes, "crash");

        report->file[0] = '\0'; /* nobody knows where */
        if (crash && !strcmp(crash, "true"))
            report->result->outcome = TEST_LOG_OUTCOME_CRASHED;
    }
}

static void end_catch2(struct report *report, const char *name)
{
    const char *text = text_of(report);
    char both[2100];

    if (!strcmp(name, "TestCase")) {
        report->result = NULL;
    } else if (!strcmp(name, "Original")) {
        snprintf(report->original, sizeof(report->original), "%s", text);
    } else if (!strcmp(name, "Expanded")) {
        snprintf(both, sizeof(both), "%s is %.1000s", report->original, text);
        set_reason(report, TEST_LOG_OUTCOME_FAILED, both);
    } else if (!strcmp(name, "Exception") || !strcmp(name, "Failure")) {
        set_reason(report,
                   report->result->outcome == TEST_LOG_OUTCOME_CRASHED
                       ? TEST_LOG_OUTCOME_CRASHED
                       : TEST_LOG_OUTCOME_FAILED,
                   text);
    } else if (!strcmp(name, "FatalErrorCondition")) {
        report->file[0] = '\0'; /* nobody knows where */
        set_reason(report, TEST_LOG_OUTCOME_CRASHED, text);
    } else if (!strcmp(name, "Skip")) {
        set_reason(report, TEST_LOG_OUTCOME_SKIPPED, text);
    }
}

/* ---- Check's ---- */

static enum test_log_outcome outcome_of_check(const char *result)
{
    if (result && !strcmp(result, "failure"))
        return TEST_LOG_OUTCOME_FAILED;
    return result && !strcmp(result, "error") ? TEST_LOG_OUTCOME_CRASHED
                                              : TEST_LOG_OUTCOME_PASSED;
}

static void begin_check(struct report *report, const char *name,
                        const char **attributes)
{
    if (strcmp(name, "test") != 0)
        return;
    begin_test(report, report->suite, NULL);
    if (report->result)
        report->result->outcome =
            outcome_of_check(runners_markup_attribute(attributes, "result"));
}

/* "fn" is "file.c:12". */
static void take_check_place(struct report *report, const char *text)
{
    const char *colon = strrchr(text, ':');
    const char *folder = strcmp(report->original, ".") ? report->original : "";
    char path[PATH_MAX];
    int size =
        snprintf(path, sizeof(path), "%s%s%.*s", folder, *folder ? "/" : "",
                 colon ? (int)(colon - text) : 0, text);

    if (!colon || size >= PATH_MAX)
        return;
    report->line = (unsigned)strtoul(colon + 1, NULL, 10);
    set_place(report->result, path, report->line);
    if (report->result->file)
        snprintf(report->file, sizeof(report->file), "%s",
                 report->result->file);
}

/* An iteration of a loop test has a number. */
static void take_check_iteration(struct test_log_result *result,
                                 const char *text)
{
    char *name;

    if (strcmp(text, "0") != 0 &&
        asprintf(&name, "%s#%s", result->test, text) > 0) {
        free(result->test);
        result->test = name;
    }
}

static void take_check_message(struct report *report, const char *text)
{
    enum test_log_outcome outcome = report->result->outcome;

    if (outcome == TEST_LOG_OUTCOME_PASSED)
        return;
    if (!strncmp(text, "Test timeout", strlen("Test timeout")))
        outcome = TEST_LOG_OUTCOME_TIMEOUT;
    else if (!strncmp(text, "Early exit", strlen("Early exit")))
        outcome = report->result->outcome = TEST_LOG_OUTCOME_FAILED;
    if (outcome != TEST_LOG_OUTCOME_FAILED)
        report->file[0] = '\0'; /* it is where the last check passed */
    set_reason(report, outcome, text);
}

static void end_check(struct report *report, const char *name)
{
    const char *text = text_of(report);

    if (!strcmp(name, "test"))
        report->result = NULL;
    else if (!strcmp(name, "path"))
        snprintf(report->original, sizeof(report->original), "%s", text);
    else if (!strcmp(name, "fn"))
        take_check_place(report, text);
    else if (!strcmp(name, "id"))
        replace(&report->result->test, text);
    else if (!strcmp(name, "iteration"))
        take_check_iteration(report->result, text);
    else if (!strcmp(name, "duration"))
        report->result->duration = duration_of(text);
    else if (!strcmp(name, "message"))
        take_check_message(report, text);
}

/* ---- Elements of any form ---- */

static void begin_element(void *context, const char *name,
                          const char **attributes)
{
    struct report *report = context;
    const char *message = runners_markup_attribute(attributes, "message");

    trace_text_clear(&report->text);
    snprintf(report->message, sizeof(report->message), "%s",
             message ? message : "");
    begin_junit(report, name, attributes);
    begin_catch2(report, name, attributes);
    begin_check(report, name, attributes);
}

static void end_element(void *context, const char *name)
{
    struct report *report = context;

    if (!report->result && !strcmp(name, "title"))
        snprintf(report->suite, sizeof(report->suite), "%s", text_of(report));
    if (report->result) {
        end_junit(report, name);
        if (report->result)
            end_catch2(report, name);
        if (report->result)
            end_check(report, name);
    }
    trace_text_clear(&report->text);
}

static void add_text(void *context, const char *text, size_t size)
{
    struct report *report = context;

    if (report->text.size + size <= TEXT_MOST)
        trace_text_add(&report->text, text, size);
}

bool runners_framework_read_report(struct test_log_run *run, FILE *in,
                                   const struct framework *framework,
                                   const char *program, bool *open)
{
    struct report report = {
        .run = run, .framework = framework, .program = program};
    bool whole = runners_markup_read(&(struct markup){.context = &report,
                                                      .begin = begin_element,
                                                      .end = end_element,
                                                      .text = add_text},
                                     in);

    *open = report.result && !whole;
    trace_text_free(&report.text);
    return whole;
}

/* ---- Reasons ---- */

/* Returns the size of "file:line" at the beginning of a line, 0 without it. */
static size_t place_size(const char *line)
{
    size_t size = strcspn(line, " \t\n:");
    size_t digits =
        line[size] == ':' ? strspn(line + size + 1, "0123456789") : 0;

    return size && digits ? size + 1 + digits : 0;
}

/* Without lines of GoogleTest's that say no more than that there is a failure.
 */
static const char *skip_titles(const char *text)
{
    static const char *const titles[] = {"unknown file\n",
                                         "unknown file: Failure\n", "Failed\n"};

    for (size_t i = 0; i < sizeof(titles) / sizeof(*titles); i++)
        if (!strncmp(text, titles[i], strlen(titles[i])))
            text += strlen(titles[i]);
    return text;
}

/* Adds a text without the line from `from` to `to`. */
static void put_rest(struct trace_text *reason, const char *text,
                     const char *from, const char *to)
{
    size_t before = (size_t)(from - text);

    while (before && text[before - 1] == '\n')
        before--;
    while (*to == '\n')
        to++;
    to = skip_titles(to);
    if (before)
        trace_text_add(reason, text, before);
    if (before && *to)
        trace_text_char(reason, '\n');
    trace_text_string(reason, to);
}

/* Whether a line says no more than that there is a failure. */
static bool is_title(const char *line, size_t size)
{
    static const char *const titles[] = {"Failure", "Skipped",
                                         "error: Failure!"};

    for (size_t i = 0; i < sizeof(titles) / sizeof(*titles); i++)
        if (strlen(titles[i]) == size && !strncmp(line, titles[i], size))
            return true;
    return false;
}

static char *with_place(const char *text, const char *line, size_t size)
{
    struct trace_text reason = {0};
    const char *end = line + strcspn(line, "\n"), *why = line + size;
    char path[PATH_MAX], shown[PATH_MAX];
    size_t colon = strcspn(line, ":");

    snprintf(path, sizeof(path), "%.*s", (int)colon, line);
    trace_text_printf(&reason, "%s%.*s: ", test_log_shown_path(path, shown),
                      (int)(size - colon), line + colon);
    why += strspn(why, ": ");
    if (why < end && !is_title(why, (size_t)(end - why)))
        trace_text_string(&reason, text == line ? why : text);
    else
        put_rest(&reason, text, line, end);
    if (!reason.failed)
        return reason.data;
    trace_text_free(&reason);
    return NULL;
}

/* Returns the lines of Boost.Test about an exception or a signal. */
static char *boost_exception(const char *text)
{
    const char *title = strstr(text, "EXCEPTION STACK TRACE: ---");
    const char *begin = title ? strchr(title, '\n') : NULL;
    const char *end = begin ? strstr(begin + 1, "\n-----") : NULL;

    return end ? strndup(begin + 1, (size_t)(end - begin - 1)) : NULL;
}

/* Reads the form of Boost.Test; NULL if the text has another one. */
static char *boost_reason(const char *text)
{
    const char *file = strstr(text, "- file   : ");
    const char *line = file ? strstr(file, "- line   : ") : NULL;
    const char *why = line ? strstr(line, "- message: ") : NULL;
    char path[PATH_MAX], shown[PATH_MAX], *reason;

    if (!file || !line || !why)
        return boost_exception(text);
    file += strlen("- file   : ");
    snprintf(path, sizeof(path), "%.*s", (int)strcspn(file, "\n"), file);
    return asprintf(&reason, "%s:%lu: %s", test_log_shown_path(path, shown),
                    strtoul(line + strlen("- line   : "), NULL, 10),
                    why + strlen("- message: ")) < 0
               ? NULL
               : reason;
}

static char *reason_of(const char *text)
{
    const char *line = text;
    char *reason = boost_reason(text);

    if (reason)
        return reason;

    for (; line; line = strchr(line, '\n')) {
        size_t size;

        line += *line == '\n';
        size = place_size(line);
        if (size)
            return with_place(text, line, size);
    }
    return *text ? strdup(text) : NULL;
}

char *runners_framework_reason(const char *text)
{
    char *reason = reason_of(skip_titles(text));

    test_log_join_lines(reason);
    return reason;
}
