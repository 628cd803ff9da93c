/* criterion_logger.c: turns what Criterion's logger reports into results.
 *
 * The wrapped logger reports every test, also tests that Criterion's hooks do
 * not report (a crash in the setup).
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

#include "harness/criterion/program/program.h"
#include "harness/criterion/watch/jobs.h"
#include "harness/criterion/watch/sampling.h"
#include "harness/criterion/watch/supervisor.h"
#include "harness/machine/notice.h"
#include "harness/machine/now.h"
#include "harness/race_log.h"
#include "harness/run/files/writers.h"
#include "harness/run/folder/run_folder.h"
#include "harness/run/model/gpu_summary.h"
#include "harness/session.h"
#include "logger.h"
#include "trace/base/strings.h"

static struct test_log_runner *const runner = &test_log_runner;
static struct criterion_logger original;
static struct criterion_logger wrapped[2]; /* one is spare: it may grow */

/* ---- Results, as Criterion reports them ---- */

/* Cuts a text that a worker sent: only those of assertions are surely short. */
static void cut(char *text)
{
    static const char note[] = "... (cut)";
    size_t most = TEST_LOG_TEXT_MAX + 256; /* for the worker's note */

    if (strlen(text) <= most)
        return;
    most = trace_utf8_boundary(text, TEST_LOG_TEXT_MAX);
    memcpy(text + most, note, sizeof(note));
}

__attribute__((format(printf, 2, 3))) static void set_reason(
    struct test_log_result *result, const char *format, ...)
{
    va_list args;

    free(result->reason);
    va_start(args, format);
    if (vasprintf(&result->reason, format, args) < 0)
        result->reason = NULL;
    else
        cut(result->reason);
    va_end(args);
}

/* Whether the worker has exited, so that nobody writes its files. */
static bool has_exited(struct test_log_job *job)
{
    if (!job->pid) {
        struct trace_reader *reader =
            test_log_recording(runner->run, job->result);

        if (reader)
            job->pid = trace_reader_summary(reader).pid;
        trace_reader_close(reader);
    }
    return job->pid && kill((pid_t)job->pid, 0) && errno == ESRCH;
}

/* The time that the runner waits for children that record after their test. */
enum { PATIENCE = 500000000 /* ns */, LOOK_EVERY = 10000 /* us */ };

static bool has_recording(const struct test_log_result *result)
{
    struct trace_reader *reader = test_log_recording(runner->run, result);

    trace_reader_close(reader);
    return reader != NULL;
}

/* Whether a passing test has left processes in its group. */
static bool has_left_group(const struct test_log_job *job)
{
    return job->result->outcome == TEST_LOG_OUTCOME_PASSED && job->pid &&
           !kill(-(pid_t)job->pid, 0);
}

/* Names the processes that a passing test has left, recorded or not. */
static void note_group(struct test_log_job *job)
{
    struct trace_text names = {0};
    struct test_log_tree tree;

    if (job->result->survivors || !has_left_group(job))
        return;
    if (!test_log_tree_begin(&tree, runner->run, (pid_t)job->pid))
        return;
    test_log_tree_find(&tree);
    test_log_tree_names(&names, &tree);
    if (tree.count)
        test_log_notice("%s left processes behind: %s",
                        test_log_name(job->result),
                        names.data ? names.data : "?");
    job->result->survivors = names.data;
    test_log_tree_free(&tree);
}

/* A worker that dies before it reports itself may have a recording, or none. */
static void render(struct test_log_job *job)
{
    bool patient, nothing = job->starting && !has_recording(job->result);

    if (!job->exited)
        job->exited = test_log_now();
    patient =
        !runner->run->interrupted && test_log_now() - job->exited < PATIENCE;
    test_log_output_pipe_close(job);
    test_log_sampling_put(runner->run, job->result, job->pid);
    job->running = patient && has_left_group(job);
    if (job->running)
        return;
    job->running =
        !nothing && !test_log_render(runner->run, job->result,
                                     &runner->options->output.style, patient);
    if (!job->running)
        note_group(job);
}

/* Writes the files of the tests that have ended, or of all tests; false if it
 * still waits for a test's children. */
static bool render_ended(bool all)
{
    bool done = true;

    for (size_t i = 0; i < runner->job_count; i++) {
        struct test_log_job *job = &runner->jobs[i];

        if (!job->running || !job->shown || (!all && !has_exited(job)))
            continue;
        render(job);
        done = done && !job->running;
    }
    return done;
}

/* Whether a test's block contains all that Criterion prints about the test. */
static bool replaces_criterion(void)
{
    return runner->run->annotated && !runner->options->output.quiet &&
           !runner->options->verbose;
}

/* A test that runs again gets its block after the last try. */
static void print(struct test_log_job *job)
{
    const struct test_log_output *output = &runner->options->output;

    if (test_log_job_retries(job) && !output->show_output)
        test_log_print_try(runner->run, job->result);
    else
        test_log_print_block(runner->run, job->result, output);
}

static void show(struct test_log_job *job)
{
    const struct test_log_output *output = &runner->options->output;
    bool bad = test_log_failed(job->result);

    if (job->shown)
        return;
    job->shown = true;
    if (bad || output->show_output)
        test_log_stacks_of_children(runner, job);
    test_log_output_pipe_finish(job);
    test_log_jsonl_result(job->result);
    if (!output->quiet &&
        ((bad && replaces_criterion()) ||
         (job->result->folder && (bad || output->show_output))))
        print(job);
    render_ended(false);
}

/* How long a test has run, without the time in which it was stopped for its
 * stacks. */
static uint64_t time_of(const struct test_log_job *job)
{
    return trace_between(job->started + job->looked, test_log_now());
}

/* Returns a test's duration as Criterion measured it, without that time. If
 * Criterion's clock went back, its duration is negative or centuries long; then
 * ours counts. */
static uint64_t duration_of(const struct test_log_job *job,
                            const struct criterion_test_stats *stats)
{
    double ns = (double)stats->elapsed_time * 1e9;

    return ns >= 0 && ns < 1e18 ? trace_between(job->looked, (uint64_t)ns)
                                : time_of(job);
}

/* Judges a test that the supervisor may have killed. */
static enum test_log_outcome judge_killed(struct test_log_job *job,
                                          enum test_log_outcome outcome)
{
    double spent = (double)time_of(job) / 1e9;

    if (job->late) {
        set_reason(job->result, "after %.2f s%s", spent,
                   job->starting ? "; its process never began the test"
                   : job->abandoned
                       ? "; pthread_exit() has ended its main thread, and "
                         "others wait"
                   : job->killed ? "; SIGPROF did not end it"
                                 : "");
        return TEST_LOG_OUTCOME_TIMEOUT;
    }
    if (!job->ended)
        return outcome;
    set_reason(job->result, TEST_LOG_ENDED_AFTER "%.2f s by %s", spent,
               test_log_signal(runner->run->interrupted));
    return TEST_LOG_OUTCOME_FAILED;
}

/* Judges memory of GPUs that a passing test has not released. */
static enum test_log_outcome judge_leaks(struct test_log_job *job)
{
    bool fails = runner->options->profiler.gpu_leaks == TRACE_GPU_LEAKS_FAIL;
    char *why;

    if (runner->run->gpu.no_leaks || !test_log_status_of(runner, job).devices)
        return TEST_LOG_OUTCOME_PASSED;
    test_log_settle(runner->run, job->result, true);
    why = test_log_gpu_judge_leaks(runner->run, job->result, fails);
    if (!why)
        return TEST_LOG_OUTCOME_PASSED;
    set_reason(job->result, "%s", why);
    free(why);
    return TEST_LOG_OUTCOME_FAILED;
}

/* Notes the worker while it is alive. */
static void begin_tree(struct test_log_job *job)
{
    if (runner->options->fail_leaky && job->pid && !job->tree.worker.pid)
        test_log_tree_begin(&job->tree, runner->run, (pid_t)job->pid);
}

/* Judges processes that a passing test has left; they may be about to end. */
static enum test_log_outcome judge_leftovers(struct test_log_job *job)
{
    struct test_log_tree *tree = &job->tree;
    uint64_t until = test_log_now() + PATIENCE;
    struct trace_text names = {0};

    begin_tree(job);
    if (!tree->worker.pid)
        return TEST_LOG_OUTCOME_PASSED;
    for (test_log_tree_find(tree); tree->count && test_log_now() < until;
         test_log_tree_find(tree)) {
        test_log_supervisor_leave(); /* other tests may time out */
        usleep(LOOK_EVERY);
        test_log_supervisor_enter();
    }
    if (!tree->count)
        return TEST_LOG_OUTCOME_PASSED;
    test_log_tree_names(&names, tree);
    set_reason(job->result, "left %zu process%s: %s", tree->count,
               tree->count == 1 ? "" : "es", names.data ? names.data : "?");
    free(job->result->survivors);
    job->result->survivors = names.data;
    return TEST_LOG_OUTCOME_FAILED;
}

static void keep_first(struct test_log_races *races, const char *text,
                       const char *file, unsigned line)
{
    if (races->count)
        return;
    snprintf(races->text, sizeof(races->text), "%s", text);
    snprintf(races->file, sizeof(races->file), "%s", file);
    races->line = line;
}

/* Judges what valgrind found in a test that ended before it was reported:
 * because a signal or exit() was expected, or it was skipped or died. */
static enum test_log_outcome judge_races(struct test_log_job *job,
                                         enum test_log_outcome outcome)
{
    struct test_log_result *result = job->result;
    struct test_log_races races = {.echo = NULL};
    char path[PATH_MAX], *reason;
    bool bad;

    if (!job->pid || snprintf(path, sizeof(path), "%s/%u",
                              test_log_valgrind_folder(), job->pid) >= PATH_MAX)
        return outcome;
    test_log_race_log_all(&races, path, keep_first);
    bad = test_log_outcome_bad(outcome);
    if (races.count && bad && result->reason &&
        asprintf(&reason, "%s; before, %s (%s:%u)", result->reason, races.text,
                 races.file, races.line) >= 0) {
        free(result->reason);
        result->reason = reason;
    } else if (races.count) {
        set_reason(result, "%s:%u: %s", races.file, races.line, races.text);
    } else if (races.others && !bad) {
        set_reason(result, "valgrind found %zu error%s", races.others,
                   races.others == 1 ? "" : "s");
    }
    return (races.count || races.others) && !bad ? TEST_LOG_OUTCOME_FAILED
                                                 : outcome;
}

static void finish(struct test_log_job *job, enum test_log_outcome outcome)
{
    if (runner->options->races)
        outcome = judge_races(job, outcome);
    if (outcome == TEST_LOG_OUTCOME_PASSED)
        outcome = judge_leaks(job);
    if (outcome == TEST_LOG_OUTCOME_PASSED && runner->options->fail_leaky)
        outcome = judge_leftovers(job);
    job->result->outcome = outcome;
    free(job->result->known);
    job->result->known = NULL;
    if (!job->ended)
        test_log_known_judge(job->known, test_log_status_of(runner, job).known,
                             job->result);
    outcome = job->result->outcome;
    if (!job->started) { /* it died before Criterion reported its start */
        job->started = test_log_now();
        job->running = true;
    }
    /* The process has just died: the spans that it was in end now. */
    if (outcome == TEST_LOG_OUTCOME_CRASHED ||
        outcome == TEST_LOG_OUTCOME_TIMEOUT || job->ended)
        test_log_change_recording(runner->run, job->result, trace_seal_beneath);
    if (runner->options->fail_fast && test_log_failed(job->result) &&
        !runner->stopped && !test_log_job_retries(job))
        test_log_stop(runner, "not run: --fail-fast");
    job->result->began =
        trace_between(runner->run->start.monotonic, job->started);
    if (!job->result->duration)
        job->result->duration = time_of(job);
    if (job->forked)
        job->result->occupied = test_log_now() - job->forked;
    job->result->usage = test_log_status_usage(job);
    show(job);
}

/* ---- The logger ---- */

static void skip_disabled(struct test_log_job *job)
{
    job->result->outcome = TEST_LOG_OUTCOME_SKIPPED;
    set_reason(job->result, "%s",
               job->left_out ? runner->stopped
               : job->known  ? job->known->reason
                             : "disabled");
    test_log_jsonl_result(job->result);
}

static void on_pre_init(struct criterion_suite *suite,
                        struct criterion_test *test)
{
    struct test_log_job *job = test_log_job_of(runner, test);

    if (original.log_pre_init)
        original.log_pre_init(suite, test);
    if (!job)
        return;
    job->started = test_log_now();
    job->paused = job->looked = 0;
    job->begun = true;
    test_log_status_update(runner);
    begin_tree(job);
    /* A test that has a process was disabled too late, so it runs. */
    if (!job->pid && test_log_is_disabled(suite, test)) {
        skip_disabled(job);
        return;
    }
    job->left_out = false;
    job->running = true;
    if (test_log_output_pipe_wanted(runner->options) && job->result->folder)
        test_log_output_pipe_open(runner->run, job);
}

/* Why a test failed: its first failing assertion, or how it ended. */
static void explain_failure(struct test_log_job *job,
                            const struct criterion_test_stats *stats)
{
    struct test_log_result *result = job->result;
    const struct criterion_assert_stats *first = NULL;
    int code = stats->test->data->exit_code;
    int number = stats->test->data->signal;
    const char *fault = test_log_status_of(runner, job).fault;
    char path[PATH_MAX];

    for (const struct criterion_assert_stats *a = stats->asserts; a;
         a = a->next)
        if (!a->passed)
            first = a; /* the list begins with the last one */
    if (result->reason)
        return;
    if (first)
        set_reason(result, "%s:%u: %s", test_log_shown_path(first->file, path),
                   first->line,
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

/* Whether a test failed although Criterion passed it. */
static bool failed_unnoticed(struct test_log_job *job,
                             const struct criterion_test_stats *stats)
{
    const struct criterion_test_extra_data *data = stats->test->data;
    struct test_log_worker_status status = test_log_status_of(runner, job);

    if (status.fault || stats->failed_asserts) { /* asserts: in its teardown */
        explain_failure(job, stats);
        return true;
    }
    if (status.returned || data->exit_code || data->signal)
        return false;
    set_reason(job->result, "exited with 0 before the test ended");
    return true;
}

static bool is_unjudged(const struct criterion_assert_stats *stats)
{
    return stats->passed && stats->message &&
           !strncmp(stats->message, TEST_LOG_UNJUDGED,
                    strlen(TEST_LOG_UNJUDGED));
}

/* "a.c:7: not judged: log_expect_contains("x"): why (and 2 more)" */
static void print_unjudged(const struct test_log_result *result,
                           const struct criterion_assert_stats *first,
                           size_t count)
{
    char more[40] = "", path[PATH_MAX];

    if (count > 1)
        snprintf(more, sizeof(more), " (and %zu more)", count - 1);
    test_log_notice("%s: %s:%u: %s%s", test_log_name(result),
                    test_log_shown_path(first->file, path), first->line,
                    first->message, more);
}

/* Counts the expectations that were not judged, and prints why. Criterion's
 * list grows, so it is searched again. */
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
        print_unjudged(result, first, count);
    result->unjudged = count;
}

/* Criterion does not report which test an assertion belongs to; the process of
 * that test waits for the answer. */
static void on_assert(struct criterion_assert_stats *stats)
{
    if (original.log_assert)
        original.log_assert(stats);
    for (size_t i = 0; !stats->passed && i < runner->job_count; i++) {
        struct test_log_job *job = &runner->jobs[i];
        uint32_t thread = test_log_job_runs(job)
                              ? test_log_status_asserting(job, stats->line)
                              : 0;

        if (thread)
            test_log_stacks_look_at_assertion(runner, job, thread, stats);
    }
}

static void note_assertions(struct test_log_result *result,
                            const struct criterion_test_stats *stats)
{
    if (replaces_criterion() && !result->assertions)
        result->assertions = test_log_assertions_take(stats);
}

static void on_post_test(struct criterion_test_stats *stats)
{
    struct test_log_job *job = test_log_job_of(runner, stats->test);

    if (original.log_post_test)
        original.log_post_test(stats);
    if (!job)
        return;
    job->body_done = true;
    begin_tree(job);
    note_unjudged(job->result, stats);
    job->result->duration = duration_of(job, stats);
    if (stats->test_status != CR_STATUS_SKIPPED)
        return;
    if (stats->message && stats->message[0])
        set_reason(job->result, "%s", stats->message);
    finish(job, TEST_LOG_OUTCOME_SKIPPED);
}

/* Reports to Criterion's logger how a process died. It did not crash if it was
 * killed for a timeout or an interrupt. */
static void report_death(struct criterion_test_stats *stats,
                         const struct test_log_job *job,
                         void (*crash)(struct criterion_test_stats *))
{
    if (job && job->late) {
        stats->timed_out = true;
        stats->elapsed_time = (float)(double)time_of(job) / 1e9;
        crash = original.log_test_timeout;
    } else if (job && job->ended) {
        return;
    }
    if (crash)
        crash(stats);
}

static void on_post_fini(struct criterion_test_stats *stats)
{
    struct test_log_job *job = test_log_job_of(runner, stats->test);
    enum test_log_outcome outcome = TEST_LOG_OUTCOME_PASSED;

    if (original.log_post_fini && !(job && job->late))
        original.log_post_fini(stats);
    if (job) {
        note_unjudged(job->result, stats);
        note_assertions(job->result, stats);
    }
    if (!job || stats->timed_out ||
        job->result->outcome == TEST_LOG_OUTCOME_SKIPPED)
        return;
    if (stats->test_status == CR_STATUS_FAILED)
        explain_failure(job, stats);
    if (stats->test_status == CR_STATUS_FAILED || failed_unnoticed(job, stats))
        outcome = TEST_LOG_OUTCOME_FAILED;
    /* A test may expect to die of SIGKILL. */
    if (stats->signal == SIGKILL || job->late)
        outcome = judge_killed(job, outcome);
    if (job->late)
        report_death(stats, job, NULL);
    finish(job, outcome);
}

/* A job whose outcome changes after it was shown is shown again. */
static void worsen(struct test_log_job *job, enum test_log_outcome outcome)
{
    if (job->result->outcome == outcome)
        return;
    job->shown = false;
    finish(job, outcome);
}

/* Returns the signal that a test died of, with a note if it differs from the
 * one that the kernel reported. */
static const char *signal_of(const struct test_log_job *job,
                             const struct criterion_test_stats *stats)
{
    static char text[128];
    int number = job->sandboxed            ? job->sandboxed
                 : stats->signal == SIGSYS ? test_log_status_sandboxed(job)
                                           : 0;

    if (!number)
        return test_log_signal(stats->signal);
    snprintf(text, sizeof(text),
             "%s, without a stack because of a seccomp sandbox",
             test_log_signal(number));
    return text;
}

static void on_test_crash(struct criterion_test_stats *stats)
{
    struct test_log_job *job = test_log_job_of(runner, stats->test);
    char *why, below[512], path[PATH_MAX];

    report_death(stats, job, original.log_test_crash);
    if (!job)
        return;
    note_unjudged(job->result, stats);
    note_assertions(job->result, stats);
    snprintf(below, sizeof(below), ", below %s:%u",
             test_log_shown_path(stats->file ? stats->file : "?", path),
             stats->progress);
    if ((why = test_log_stacks_reason(runner->run, job->result, below)))
        set_reason(job->result, "%s", why);
    else
        set_reason(job->result, "%s%s", signal_of(job, stats), below);
    free(why);
    worsen(job, judge_killed(job, TEST_LOG_OUTCOME_CRASHED));
}

static void on_timeout(struct criterion_test_stats *stats)
{
    struct test_log_job *job = test_log_job_of(runner, stats->test);

    if (original.log_test_timeout)
        original.log_test_timeout(stats);
    if (!job)
        return;
    note_assertions(job->result, stats);
    job->result->duration = duration_of(job, stats);
    set_reason(job->result, "after %.2f s",
               (double)job->result->duration / 1e9);
    worsen(job, TEST_LOG_OUTCOME_TIMEOUT);
}

static void on_abort(struct criterion_test_stats *stats, const char *message)
{
    struct test_log_job *job = test_log_job_of(runner, stats->test);
    char *place;

    if (original.log_test_abort)
        original.log_test_abort(stats, message);
    if (!job || !message || !message[0])
        return;
    place = test_log_stacks_thrown(runner->run, job->result);
    set_reason(job->result, "%s%s", message, place ? place : "");
    free(place);
}

static void on_other_crash(struct criterion_test_stats *stats)
{
    struct test_log_job *job = test_log_job_of(runner, stats->test);
    char *why;

    report_death(stats, job, original.log_other_crash);
    if (!job)
        return;
    note_assertions(job->result, stats);
    why = test_log_stacks_reason(runner->run, job->result, "");
    set_reason(job->result, "in its %s%s%s",
               job->body_done ? "teardown" : "setup", why ? ": " : "",
               why ? why : "");
    free(why);
    worsen(job, judge_killed(job, TEST_LOG_OUTCOME_CRASHED));
}

/* Judges a test whose process exited after its body. The leak checker exits if
 * it cannot work here; that is not a failure. */
static enum test_log_outcome judge_exit(
    struct test_log_job *job, const struct criterion_test_stats *stats)
{
    static bool printed;

    if (stats->test_status == CR_STATUS_FAILED) {
        explain_failure(job, stats);
        return TEST_LOG_OUTCOME_FAILED;
    }
    if (!test_log_status_of(runner, job).checking) {
        set_reason(job->result, "exited in its teardown");
        return TEST_LOG_OUTCOME_FAILED;
    }
    if (!printed)
        test_log_notice("the leak checker does not work here, so leaks do not "
                        "fail tests; see the output of %s",
                        test_log_name(job->result));
    printed = true;
    return TEST_LOG_OUTCOME_PASSED;
}

static void on_abnormal_exit(struct criterion_test_stats *stats)
{
    struct test_log_job *job = test_log_job_of(runner, stats->test);

    if (original.log_abnormal_exit)
        original.log_abnormal_exit(stats);
    if (!job)
        return;
    if (job->body_done && !job->shown) {
        finish(job, judge_exit(job, stats));
    } else if (!job->body_done) {
        set_reason(job->result, "exited in its setup");
        worsen(job, TEST_LOG_OUTCOME_CRASHED);
    }
}

/* Counts a timeout as Criterion does: as failed, not as crashed or passed. */
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

/* `testlog run` prints one line for all programs instead. */
static void on_post_all(struct criterion_global_stats *stats)
{
    if (original.log_post_all &&
        (!test_log_is_part(runner->run) || runner->options->verbose))
        original.log_post_all(stats);
}

/* Listed by hand: Criterion's ReportHook is lost with -flto. */
__attribute__((used, retain, section("cr_poa"))) static void (
        *const after_all_hook)(struct criterion_global_stats *) = after_all;

/* Removes the functions that print verdicts. Criterion's final numbers count
 * tests differently from ours. */
static void silence(struct criterion_logger *logger)
{
    logger->log_post_test = NULL;
    logger->log_post_fini = NULL;
    logger->log_test_crash = NULL;
    logger->log_test_timeout = NULL;
    logger->log_test_abort = NULL;
    logger->log_other_crash = NULL;
    logger->log_abnormal_exit = NULL;
    logger->log_post_all = NULL;
}

void test_log_logger_install(void)
{
    original = *criterion_options.logger;
    if (replaces_criterion()) {
        silence(&original);
        test_log_assertions_capture(&original);
    }
    wrapped[0] = original;
    wrapped[0].log_pre_init = on_pre_init;
    wrapped[0].log_assert = on_assert;
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

/* ---- The end of a run ---- */

void test_log_logger_render(void)
{
    while (!render_ended(true))
        usleep(LOOK_EVERY);
}

/* Criterion should report every test; one that it leaves out has not passed. */
void test_log_logger_end(void)
{
    for (size_t i = 0; i < runner->job_count; i++) {
        struct test_log_job *job = &runner->jobs[i];

        if (job->result->outcome != TEST_LOG_OUTCOME_NONE)
            continue;
        job->result->outcome = TEST_LOG_OUTCOME_FAILED;
        set_reason(job->result, "Criterion did not report a result");
        job->shown = true;
    }
    test_log_logger_render();
    for (size_t i = 0; i < runner->job_count; i++)
        test_log_note_late_losses(runner->run, runner->jobs[i].result);
}
