/* criterion_logger.c: turns what Criterion's logger reports into results.
 *
 * The logger, wrapped, tells of every test, also of those that Criterion's
 * hooks are silent about (a crash in set-up).
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/logging.h>
#include <criterion/options.h>

#include "harness/harness.h"
#include "harness/watch.h"

static const struct test_log_options *options;
static struct test_log_run *run;
static struct criterion_logger original;
static struct criterion_logger wrapped[2]; /* one more as slack: it may grow */
static const char *stopped; /* why no further test begins; NULL: they do */
static struct log_style style;

/* ---- Results, as Criterion tells of them ---- */

struct test_log_result *test_log_result_of(const struct criterion_test *test)
{
    static size_t last; /* tests come one after the other */

    for (size_t i = 0; i < run->count; i++) {
        size_t number = (last + i) % run->count;

        if (run->results[number].key != test)
            continue;
        last = number;
        return &run->results[number];
    }
    return NULL;
}

__attribute__((format(printf, 2, 3))) static void set_reason(
    struct test_log_result *result, const char *format, ...)
{
    va_list args;

    free(result->reason);
    va_start(args, format);
    if (vasprintf(&result->reason, format, args) < 0)
        result->reason = NULL;
    va_end(args);
}

/* Whether the worker is gone, so that nobody writes its files any more. */
static bool gone(struct test_log_result *result)
{
    if (!result->pid) {
        struct trace_reader *reader = test_log_recording(run, result);

        if (reader)
            result->pid = trace_reader_summary(reader).pid;
        trace_reader_close(reader);
    }
    return result->pid && kill((pid_t)result->pid, 0) && errno == ESRCH;
}

/* How long the runner waits for children that record after their test. */
enum { PATIENCE = 500000000 /* ns */, LOOK_EVERY = 10000 /* us */ };

/* Writes the files of the tests that have ended, or of all tests; false if it
 * still waits for children of some. */
static bool render_ended(bool all)
{
    bool done = true;

    for (size_t i = 0; i < run->count; i++) {
        struct test_log_result *result = &run->results[i];

        if (!result->running || !result->shown || (!all && !gone(result)))
            continue;
        if (!result->gone)
            result->gone = test_log_now();
        test_log_output_pipe_close(result);
        result->running = !test_log_render(
            run, result, &style,
            !run->interrupted && test_log_now() - result->gone < PATIENCE);
        done = done && !result->running;
    }
    return done;
}

static void render_all(void)
{
    while (!render_ended(true))
        usleep(LOOK_EVERY);
}

static void show(struct test_log_result *result)
{
    bool bad = test_log_outcome_bad(result->outcome);

    if (result->shown)
        return;
    result->shown = true;
    test_log_output_pipe_finish(result);
    test_log_jsonl_result(result);
    if (result->folder && !options->quiet && (bad || options->show_output))
        test_log_print_block(run, result, options);
    render_ended(false);
}

/* The process has just died: what it was in ended now. */
static void seal(const struct test_log_result *result)
{
    test_log_change_recording(run, result, trace_seal_beneath);
}

void test_log_stop(const char *why)
{
    if (!stopped)
        stopped = why;
    for (size_t i = 0; i < run->count; i++) {
        struct test_log_result *result = &run->results[i];
        const struct criterion_test *test = result->key;

        if (result->started || test->data->disabled)
            continue;
        result->left = true;
        test->data->disabled = true;
    }
}

bool test_log_stopped(void)
{
    return stopped;
}

static double seconds_of(const struct test_log_result *result)
{
    return (double)(test_log_now() - result->started) / 1e9;
}

/* How long a test took as Criterion measured it, unless its clock stepped back:
 * then it has a negative time, or one of centuries. */
static uint64_t duration_of(const struct test_log_result *result,
                            const struct criterion_test_stats *stats)
{
    double ns = (double)stats->elapsed_time * 1e9;

    return ns >= 0 && ns < 1e18 ? (uint64_t)ns
                                : test_log_now() - result->started;
}

/* What was killed has not failed by itself. */
static enum test_log_outcome judge_killed(struct test_log_result *result,
                                          enum test_log_outcome outcome)
{
    double spent = seconds_of(result);

    if (result->late) {
        set_reason(result, "after %.2f s%s", spent,
                   result->unborn   ? "; its process had not begun the test"
                   : result->killed ? "; SIGPROF did not end it"
                                    : "");
        return TEST_LOG_OUTCOME_TIMEOUT;
    }
    if (!result->ended)
        return outcome;
    set_reason(result, "ended after %.2f s by %s", spent,
               test_log_signal(run->interrupted));
    return TEST_LOG_OUTCOME_FAILED;
}

static void finish(struct test_log_result *result,
                   enum test_log_outcome outcome)
{
    result->outcome = outcome;
    if (!result->started) { /* it died before it told Criterion of itself */
        result->started = test_log_now();
        result->running = true;
    }
    if (outcome == TEST_LOG_OUTCOME_CRASHED ||
        outcome == TEST_LOG_OUTCOME_TIMEOUT || result->ended)
        seal(result);
    if (options->fail_fast && !stopped && test_log_outcome_bad(outcome) &&
        !test_log_retry_wanted(options, result))
        test_log_stop("not run: --fail-fast");
    if (!result->duration)
        result->duration = test_log_now() - result->started;
    show(result);
}

/* ---- The logger ---- */

bool test_log_is_disabled(const struct criterion_suite *suite,
                          const struct criterion_test *test)
{
    return test->data->disabled || (suite->data && suite->data->disabled);
}

static void on_pre_init(struct criterion_suite *suite,
                        struct criterion_test *test)
{
    struct test_log_result *result = test_log_result_of(test);

    if (original.log_pre_init)
        original.log_pre_init(suite, test);
    if (!result)
        return;
    result->started = test_log_now();
    result->paused = 0;
    result->begun = true;
    test_log_status_update(run);
    /* One that has a process was disabled too late to be kept from it. */
    if (!result->pid && test_log_is_disabled(suite, test)) {
        result->outcome = TEST_LOG_OUTCOME_SKIPPED;
        set_reason(result, "%s", result->left ? stopped : "disabled");
        test_log_jsonl_result(result);
    } else {
        result->left = false;
        result->running = true;
        if (test_log_output_pipe_wanted(options) && result->folder)
            test_log_output_pipe_open(run, result);
    }
}

/* Why a test failed: its first failing assertion, or how it ended. */
static void explain_failure(struct test_log_result *result,
                            const struct criterion_test_stats *stats)
{
    const struct criterion_assert_stats *first = NULL;
    int code = stats->test->data->exit_code;
    int number = stats->test->data->signal;
    const char *fault = test_log_status_of(run, result).fault;

    for (const struct criterion_assert_stats *a = stats->asserts; a;
         a = a->next)
        if (!a->passed)
            first = a; /* the list begins with the last one */
    if (result->reason)
        return;
    if (first)
        set_reason(result, "%s:%u: %s", first->file, first->line,
                   first->message && first->message[0] ? first->message
                                                       : "assertion failed");
    else if (fault)
        set_reason(result, "%s", fault);
    else if (stats->exit_code != code)
        set_reason(result, "exited with %d instead of %d", stats->exit_code,
                   code);
    else if (number && stats->signal != number)
        set_reason(result, "%s was expected and not raised",
                   test_log_signal(number));
}

/* Whether a test has failed that Criterion lets pass. */
static bool failed_unheard(struct test_log_result *result,
                           const struct criterion_test_stats *stats)
{
    const struct criterion_test_extra_data *data = stats->test->data;
    struct test_log_worker_status said = test_log_status_of(run, result);

    if (said.fault || stats->failed_asserts) { /* these, in its tear-down */
        explain_failure(result, stats);
        return true;
    }
    if (said.returned || data->exit_code || data->signal)
        return false;
    set_reason(result, "exited with 0 before the test ended");
    return true;
}

static bool is_unjudged(const struct criterion_assert_stats *stats)
{
    return stats->passed && stats->message &&
           !strncmp(stats->message, TEST_LOG_UNJUDGED,
                    strlen(TEST_LOG_UNJUDGED));
}

/* "a.c:7: not judged: log_expect_contains("x"): why (and 2 more)" */
static void say_unjudged(const struct test_log_result *result,
                         const struct criterion_assert_stats *first,
                         size_t count)
{
    char more[40] = "";

    if (count > 1)
        snprintf(more, sizeof(more), " (and %zu more)", count - 1);
    test_log_notice("%s: %s:%u: %s%s", test_log_name(result), first->file,
                    first->line, first->message, more);
}

/* Notes which expectations were not judged, and says why. Criterion's list may
 * be looked at more than once, and grows. */
static void note_unjudged(struct test_log_result *result,
                          const struct criterion_test_stats *stats)
{
    const struct criterion_assert_stats *first = NULL;
    size_t count = 0;

    for (const struct criterion_assert_stats *a = stats->asserts; a;
         a = a->next)
        if (is_unjudged(a)) {
            first = a; /* the list begins with the last one */
            count++;
        }
    if (first && !result->unjudged)
        say_unjudged(result, first, count);
    result->unjudged = count;
}

static void on_post_test(struct criterion_test_stats *stats)
{
    struct test_log_result *result = test_log_result_of(stats->test);

    if (original.log_post_test)
        original.log_post_test(stats);
    if (!result)
        return;
    result->body_done = true;
    note_unjudged(result, stats);
    result->duration = duration_of(result, stats);
    if (stats->test_status != CR_STATUS_SKIPPED)
        return;
    if (stats->message && stats->message[0])
        set_reason(result, "%s", stats->message);
    finish(result, TEST_LOG_OUTCOME_SKIPPED);
}

/* Tells Criterion's logger how a process died. It did not crash by itself if
 * its time was over, or the run's. */
static void tell_death(struct criterion_test_stats *stats,
                       const struct test_log_result *result,
                       void (*crash)(struct criterion_test_stats *))
{
    if (result && result->late) {
        stats->timed_out = true;
        stats->elapsed_time = (float)seconds_of(result);
        crash = original.log_test_timeout;
    } else if (result && result->ended) {
        return;
    }
    if (crash)
        crash(stats);
}

static void on_post_fini(struct criterion_test_stats *stats)
{
    struct test_log_result *result = test_log_result_of(stats->test);
    enum test_log_outcome outcome = TEST_LOG_OUTCOME_PASSED;

    if (original.log_post_fini && !(result && result->late))
        original.log_post_fini(stats);
    if (result)
        note_unjudged(result, stats);
    if (!result || stats->timed_out ||
        result->outcome == TEST_LOG_OUTCOME_SKIPPED)
        return;
    if (stats->test_status == CR_STATUS_FAILED)
        explain_failure(result, stats);
    if (stats->test_status == CR_STATUS_FAILED || failed_unheard(result, stats))
        outcome = TEST_LOG_OUTCOME_FAILED;
    /* A test may be one that is to die of SIGKILL. */
    if (stats->signal == SIGKILL || result->late)
        outcome = judge_killed(result, outcome);
    if (result->late)
        tell_death(stats, result, NULL);
    finish(result, outcome);
}

/* A result that changes after it was shown is shown again. */
static void worsen(struct test_log_result *result,
                   enum test_log_outcome outcome)
{
    if (result->outcome == outcome)
        return;
    result->shown = false;
    finish(result, outcome);
}

static void on_test_crash(struct criterion_test_stats *stats)
{
    struct test_log_result *result = test_log_result_of(stats->test);

    tell_death(stats, result, original.log_test_crash);
    if (!result)
        return;
    note_unjudged(result, stats);
    set_reason(result, "%s, below %s:%u", test_log_signal(stats->signal),
               stats->file ? stats->file : "?", stats->progress);
    worsen(result, judge_killed(result, TEST_LOG_OUTCOME_CRASHED));
}

static void on_timeout(struct criterion_test_stats *stats)
{
    struct test_log_result *result = test_log_result_of(stats->test);

    if (original.log_test_timeout)
        original.log_test_timeout(stats);
    if (!result)
        return;
    result->duration = duration_of(result, stats);
    set_reason(result, "after %.2f s", (double)result->duration / 1e9);
    worsen(result, TEST_LOG_OUTCOME_TIMEOUT);
}

static void on_abort(struct criterion_test_stats *stats, const char *message)
{
    struct test_log_result *result = test_log_result_of(stats->test);

    if (original.log_test_abort)
        original.log_test_abort(stats, message);
    if (result && message && message[0])
        set_reason(result, "%s", message);
}

static void on_other_crash(struct criterion_test_stats *stats)
{
    struct test_log_result *result = test_log_result_of(stats->test);

    tell_death(stats, result, original.log_other_crash);
    if (!result)
        return;
    set_reason(result, "in its %s", result->body_done ? "tear-down" : "set-up");
    worsen(result, judge_killed(result, TEST_LOG_OUTCOME_CRASHED));
}

/* The leak checker ends the process where it cannot trace it: no verdict. */
static enum test_log_outcome judge_left(
    struct test_log_result *result, const struct criterion_test_stats *stats)
{
    static bool told;

    if (stats->test_status == CR_STATUS_FAILED) {
        explain_failure(result, stats);
        return TEST_LOG_OUTCOME_FAILED;
    }
    if (!test_log_status_of(run, result).checking) {
        set_reason(result, "exited in its tear-down");
        return TEST_LOG_OUTCOME_FAILED;
    }
    if (!told)
        test_log_notice("the leak checker does not work here, so leaks fail no "
                        "test: see the output of %s",
                        test_log_name(result));
    told = true;
    return TEST_LOG_OUTCOME_PASSED;
}

static void on_abnormal_exit(struct criterion_test_stats *stats)
{
    struct test_log_result *result = test_log_result_of(stats->test);

    if (original.log_abnormal_exit)
        original.log_abnormal_exit(stats);
    if (!result)
        return;
    if (result->body_done && !result->shown) {
        finish(result, judge_left(result, stats));
    } else if (!result->body_done) {
        set_reason(result, "exited in its set-up");
        worsen(result, TEST_LOG_OUTCOME_CRASHED);
    }
}

/* Counts a test as Criterion does one that it ended itself: as failed, not as
 * crashed, and in its tear-down also as passed. */
static void recount(struct criterion_test_stats *test,
                    struct criterion_suite_stats *suite,
                    struct criterion_global_stats *all)
{
    if (test->crashed) {
        test->crashed = false;
        suite->tests_crashed--;
        all->tests_crashed--;
    } else if (test->test_status == CR_STATUS_PASSED) {
        test->test_status = CR_STATUS_FAILED;
        suite->tests_failed++;
        all->tests_failed++;
    }
}

static void after_all(struct criterion_global_stats *all)
{
    for (struct criterion_suite_stats *suite = all->suites; suite;
         suite = suite->next)
        for (struct criterion_test_stats *test = suite->tests; test;
             test = test->next)
            if (test->timed_out)
                recount(test, suite, all);
}

/* Of many programs without a match, nobody wants to read. */
static void on_post_all(struct criterion_global_stats *stats)
{
    if (original.log_post_all && (stats->nb_tests || !run->foreign))
        original.log_post_all(stats);
}

/* Listed by hand: Criterion's ReportHook is lost with -flto. */
__attribute__((used, retain, section("cr_poa"))) static void (
        *const after_all_hook)(struct criterion_global_stats *) = after_all;

void test_log_logger_listen(void)
{
    original = *criterion_options.logger;
    wrapped[0] = original;
    wrapped[0].log_pre_init = on_pre_init;
    wrapped[0].log_post_test = on_post_test;
    wrapped[0].log_post_fini = on_post_fini;
    wrapped[0].log_test_crash = on_test_crash;
    wrapped[0].log_test_timeout = on_timeout;
    wrapped[0].log_test_abort = on_abort;
    wrapped[0].log_other_crash = on_other_crash;
    wrapped[0].log_abnormal_exit = on_abnormal_exit;
    wrapped[0].log_post_all = on_post_all;
    criterion_options.logger = test_log_locked_logger(wrapped);
}

/* ---- Of a run ---- */

void test_log_logger_begin(struct test_log_run *of,
                           const struct test_log_options *given)
{
    run = of;
    options = given;
    style = (struct log_style){.format = given->format,
                               .time = given->time,
                               .span_events = given->span_events};
}

void test_log_logger_render(void)
{
    render_all();
}

/* Criterion has a word for every test; should it have none, nobody may take
 * that for a pass. */
void test_log_logger_end(void)
{
    for (size_t i = 0; i < run->count; i++) {
        struct test_log_result *result = &run->results[i];

        if (result->outcome != TEST_LOG_OUTCOME_NONE)
            continue;
        result->outcome = TEST_LOG_OUTCOME_FAILED;
        set_reason(result, "Criterion told nothing of its end");
        result->shown = true;
    }
    render_all();
    for (size_t i = 0; i < run->count; i++)
        test_log_note_late_losses(run, &run->results[i]);
}
