/* printed_tests.c: reads how tests end from the output of GoogleTest and
 * cmocka, because their reports appear only when the program or a group ends.
 *
 *  [==========] Running 1 test from 1 test suite.
 *  [----------] 1 test from Suite
 *  [ RUN      ] Suite.Test
 *  [       OK ] Suite.Test (3 ms)
 *  store_test.cc:7: Failure
 *  why its tear-down failed
 *  [==========] 1 test from 1 test suite ran. (3 ms total)
 *  [  FAILED  ] Suite: SetUpTestSuite or TearDownTestSuite
 *
 * Check prints only, for each runner:
 *
 *  Running suite(s): store
 *  50%: Checks: 2, Failures: 1, Errors: 0
 */
#include <stdlib.h>
#include <string.h>

#include "frameworks.h"
#include "harness/criterion/watch/jobs.h"
#include "harness/machine/now.h"
#include "harness/run/files/writers.h"

enum {
    TEXT_MOST = 64 << 10,
    LINE_MOST = 16 << 10, /* of which the end is read: a sign may be there */
};

static const struct sign {
    const char *text;
    enum test_log_outcome outcome;
} signs[] = {
    {"[ RUN      ] ", TEST_LOG_OUTCOME_NONE}, /* the test begins */
    {"[       OK ] ", TEST_LOG_OUTCOME_PASSED},
    {"[  FAILED  ] ", TEST_LOG_OUTCOME_FAILED},
    {"[  SKIPPED ] ", TEST_LOG_OUTCOME_SKIPPED},
    {"[  ERROR   ] ", TEST_LOG_OUTCOME_FAILED}, /* in cmocka's setup */
};

enum { SIGNS = sizeof(signs) / sizeof(*signs) };

static struct test_log_result *last_of(const struct printed_tests *tests)
{
    struct test_log_run *run = tests->results;

    return run->count ? &run->results[run->count - 1] : NULL;
}

static void begin_test(struct printed_tests *tests, const char *name)
{
    const char *dot = tests->has_suites ? strchr(name, '.') : NULL;
    struct test_log_result *result =
        dot || !tests->has_suites ? test_log_run_add(tests->results) : NULL;

    if (!result)
        return;
    result->program = strdup(tests->program);
    result->suite =
        dot ? strndup(name, (size_t)(dot - name)) : strdup(tests->program);
    result->test = strdup(dot ? dot + 1 : name);
    tests->runs = true;
    tests->ended = false;
    tests->began = test_log_now();
    trace_text_clear(&tests->text);
}

static bool is_running(const struct printed_tests *tests, const char *name)
{
    const struct test_log_result *last = last_of(tests);
    size_t suite = strlen(last->suite), test = strlen(last->test);

    if (!tests->has_suites)
        return !strcmp(name, last->test);
    return !strncmp(name, last->suite, suite) && name[suite] == '.' &&
           !strncmp(name + suite + 1, last->test, test) &&
           (!name[suite + 1 + test] || strchr(" ,", name[suite + 1 + test]));
}

/* Returns where a reason begins, with "file:line: Failure"; what is before it
 * was printed by the test. */
static const char *reason_in(const char *text, enum test_log_outcome outcome)
{
    const char *title =
        strstr(text, outcome == TEST_LOG_OUTCOME_SKIPPED ? ": Skipped\n"
                                                         : ": Failure\n");

    while (title && title > text && title[-1] != '\n')
        title--;
    return title ? title : text;
}

static void end_test(struct printed_tests *tests, enum test_log_outcome outcome)
{
    struct test_log_result *result = last_of(tests);

    tests->runs = false;
    result->outcome = outcome;
    result->duration = test_log_now() - tests->began;
    if (outcome != TEST_LOG_OUTCOME_PASSED && tests->text.size)
        result->reason =
            runners_framework_reason(reason_in(tests->text.data, outcome));
}

static void add_text(struct printed_tests *tests, const char *line, size_t size)
{
    struct trace_text *text = &tests->text;
    bool wanted = tests->runs || (!tests->has_suites && !tests->ended);

    if (!wanted || !size || text->size + size + 1 > TEXT_MOST)
        return;
    if (text->size)
        trace_text_char(text, '\n');
    trace_text_add(text, line, size);
}

/* ---- Suites of GoogleTest ---- */

/* The suite that is running, or has run, with a reason to fail. */
static struct test_log_result *suite_of(struct printed_tests *tests,
                                        const char *name, size_t size)
{
    struct test_log_run *run = &tests->suites;
    struct test_log_result *result;

    for (size_t i = 0; i < run->count; i++)
        if (strlen(run->results[i].suite) == size &&
            !strncmp(run->results[i].suite, name, size))
            return &run->results[i];
    result = test_log_run_add(run);
    if (!result)
        return NULL;
    result->program = strdup(tests->program);
    result->suite = strndup(name, size);
    result->test = strdup(TEST_LOG_OF_SUITE);
    return result;
}

static void end_suite(struct printed_tests *tests)
{
    struct test_log_result *result =
        tests->suite.size && tests->outside.size
            ? suite_of(tests, tests->suite.data, tests->suite.size)
            : NULL;

    if (result && !result->reason)
        result->reason = runners_framework_reason(tests->outside.data);
    trace_text_clear(&tests->outside);
    tests->tells = false;
}

/* Notes the first failure between tests. */
static void read_outside(struct printed_tests *tests, const char *line)
{
    static const char failure[] = ": Failure";
    size_t size = strlen(line);
    bool first = size > strlen(failure) &&
                 !strcmp(line + size - strlen(failure), failure);

    if (line[0] == '[' || (first && tests->outside.size))
        tests->tells = false;
    else if (first)
        tests->tells = true;
    if (tests->tells && tests->outside.size < TEXT_MOST)
        trace_text_printf(&tests->outside, "%s%s",
                          tests->outside.size ? "\n" : "", line);
}

/* Whether a line is about a suite, not a test. */
static bool read_suite(struct printed_tests *tests, const char *line)
{
    static const char begin[] = "[----------] ", failed[] = "[  FAILED  ] ",
                      end[] = ": " TEST_LOG_OF_SUITE;
    const char *name = strstr(line, " from "), *found = strstr(line, end);
    struct test_log_result *result;

    if (tests->runs)
        return false;
    if (tests->ended && found && !strncmp(line, failed, strlen(failed))) {
        name = line + strlen(failed);
        result = suite_of(tests, name, (size_t)(found - name));
        if (result)
            result->outcome = TEST_LOG_OUTCOME_FAILED;
        return true;
    }
    if (name && !strncmp(line, begin, strlen(begin))) {
        end_suite(tests);
        name += strlen(" from ");
        trace_text_clear(&tests->suite);
        trace_text_add(&tests->suite, name, strcspn(name, ", "));
        return true;
    }
    if (!tests->ended)
        read_outside(tests, line);
    return false;
}

/* ---- Lines ---- */

/* "[==========]" is before and behind all tests, or those of a group of cmocka;
 * then failures are listed again. */
static bool read_bounds(struct printed_tests *tests, const char *line)
{
    static const char sign[] = "[==========] ";
    if (tests->runs || strncmp(line, sign, strlen(sign)) != 0)
        return false;
    tests->ended = strstr(line, " ran.") || strstr(line, " run.");
    if (tests->has_suites)
        end_suite(tests);
    trace_text_clear(&tests->text);
    return true;
}

static void count_checks(struct printed_tests *tests, const char *line)
{
    unsigned failures, errors;

    tests->check.begun += !strncmp(line, "Running suite(s): ", 18);
    if (sscanf(line, "%*u%%: Checks: %*u, Failures: %u, Errors: %u", &failures,
               &errors) != 2)
        return;
    tests->check.ended++;
    tests->check.bad += failures + errors;
}

/* cmocka's reasons have titles: "[  ERROR   ] --- 0x1 != 0x2", and before the
 * place, which may follow other text. */
static void remove_titles(char *line)
{
    static const char error[] = "[  ERROR   ] --- ",
                      message[] = "ERROR: ", place[] = "[   LINE   ] --- ";
    size_t size = !strncmp(line, error, strlen(error))       ? strlen(error)
                  : !strncmp(line, message, strlen(message)) ? strlen(message)
                                                             : 0;
    char *at;

    memmove(line, line + size, strlen(line + size) + 1);
    while ((at = strstr(line, place))) {
        *at++ = '\n';
        memmove(at, at + strlen(place) - 1, strlen(at + strlen(place) - 1) + 1);
    }
}

/* A group of cmocka whose setup or teardown fails is a failed test of its name:
 * "[  FAILED  ] GROUP SETUP", then "[  ERROR   ] group". */
static bool read_group(struct printed_tests *tests, const char *line)
{
    static const char what[] = "[  FAILED  ] GROUP ", name[] = "[  ERROR   ] ";
    struct test_log_result *result;

    if (tests->runs)
        return false;
    if (!strncmp(line, what, strlen(what))) {
        add_text(tests, line + strlen("[  FAILED  ] "), strlen(line) - 13);
        return true;
    }
    result = tests->text.size && !strncmp(line, name, strlen(name))
                 ? test_log_run_add(tests->results)
                 : NULL;
    if (!result)
        return false;
    result->program = strdup(tests->program);
    result->suite = strdup(tests->program);
    result->test = strdup(line + strlen(name));
    result->outcome = TEST_LOG_OUTCOME_FAILED;
    result->reason = runners_framework_reason(tests->text.data);
    trace_text_clear(&tests->text);
    return true;
}

/* A sign may follow text that a test printed without a newline. */
static void read_line(struct printed_tests *tests, char *line)
{
    count_checks(tests, line);
    if (!tests->has_suites)
        remove_titles(line);
    if ((tests->has_suites ? read_suite(tests, line)
                           : read_group(tests, line)) ||
        read_bounds(tests, line))
        return;
    for (size_t i = 0; i < SIGNS; i++) {
        const char *at = strstr(line, signs[i].text);
        const char *name = at ? at + strlen(signs[i].text) : NULL;

        if (!name)
            continue;
        if (!i && !tests->runs)
            begin_test(tests, name);
        else if (i && tests->runs && is_running(tests, name)) {
            if (!tests->has_suites) /* cmocka's reason */
                add_text(tests, line, (size_t)(at - line));
            end_test(tests, signs[i].outcome);
        } else if (signs[i].outcome == TEST_LOG_OUTCOME_FAILED &&
                   !tests->ended && last_of(tests) && is_running(tests, name))
            last_of(tests)->outcome = TEST_LOG_OUTCOME_FAILED; /* it had printed
                                                                  a sign */
        else
            continue;
        return;
    }
    add_text(tests, line, strlen(line));
}

/* Removes what colours a line, as in "\033[0;32m[       OK ] \033[m". */
static void remove_colours(char *line)
{
    char *to = line;

    while (*line) {
        size_t size = line[0] == '\033' && line[1] == '['
                          ? 2 + strspn(line + 2, "0123456789;")
                          : 0;

        if (size && line[size] && strchr("mK", line[size]))
            line += size + 1;
        else
            *to++ = *line++;
    }
    *to = '\0';
}

void runners_printed_tests_read(struct printed_tests *tests, const char *bytes,
                                size_t size)
{
    struct trace_text *line = &tests->line;

    for (size_t i = 0; i < size; i++) {
        if (bytes[i] == '\n') {
            if (line->data) {
                remove_colours(line->data);
                read_line(tests, line->data);
            }
            trace_text_clear(line);
        } else if (bytes[i]) {
            trace_text_char(line, bytes[i]);
        }
        if (line->size >= LINE_MOST) {
            size_t half = line->size / 2;

            memmove(line->data, line->data + half, line->size - half + 1);
            line->size -= half;
        }
    }
}

void runners_printed_suites_take(struct printed_tests *tests,
                                 struct test_log_run *to)
{
    for (size_t i = 0; i < tests->suites.count; i++) {
        struct test_log_result *from = &tests->suites.results[i];
        struct test_log_result *result =
            from->outcome == TEST_LOG_OUTCOME_FAILED ? test_log_run_add(to)
                                                     : NULL;

        if (!result)
            continue;
        *result = *from;
        *from = (struct test_log_result){.line = 0};
    }
}

void runners_printed_tests_free(struct printed_tests *tests)
{
    trace_text_free(&tests->line);
    trace_text_free(&tests->text);
    trace_text_free(&tests->suite);
    trace_text_free(&tests->outside);
    test_log_run_free(&tests->suites);
    tests->suites = (struct test_log_run){.count = 0};
    tests->tells = false;
    tests->runs = tests->ended = false;
    memset(&tests->check, 0, sizeof(tests->check));
}
