/* runner.c: the process that Criterion keeps alive, and what it learns.
 *
 * Everything is installed from one hook before the first worker starts.
 * Criterion's logger, wrapped, then tells of every test, also of those that its
 * hooks are silent about (a crash in set-up).
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/hooks.h>
#include <criterion/logging.h>
#include <criterion/options.h>

#include "harness.h"

static const struct test_log_options *options; /* NULL: main is not ours */
static struct test_log_run *run;
static struct criterion_logger original;
static struct criterion_logger wrapped[2]; /* one more as slack: it may grow */
static size_t matched;
static bool stopped; /* by --fail-fast */
static struct log_style style;

static uint64_t now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* ---- Results, as Criterion tells of them ---- */

static struct test_log_result *result_of(const struct criterion_test *test)
{
    for (size_t i = 0; i < run->count; i++)
        if (run->results[i].key == test)
            return &run->results[i];
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
    char path[PATH_MAX];

    if (!result->pid && !test_log_file(run, result, "recording", path)) {
        struct trace_reader *reader = trace_reader_open(path);

        if (reader)
            result->pid = trace_reader_summary(reader).pid;
        trace_reader_close(reader);
    }
    return result->pid && kill((pid_t)result->pid, 0) && errno == ESRCH;
}

/* Writes the files of tests that have ended; of all at the end. */
static void render_ended(bool all)
{
    for (size_t i = 0; i < run->count; i++) {
        struct test_log_result *result = &run->results[i];

        if (!result->running || !result->shown || (!all && !gone(result)))
            continue;
        result->running = false;
        test_log_render(run, result, &style);
    }
}

static void show(struct test_log_result *result)
{
    bool bad = test_log_outcome_bad(result->outcome);

    if (result->shown)
        return;
    result->shown = true;
    if (result->folder && !options->quiet && (bad || options->show_output))
        test_log_report_block(run, result, options);
    render_ended(false);
}

/* The process has just died: what it was in ended now. */
static void seal(const struct test_log_result *result)
{
    char path[PATH_MAX];

    if (!test_log_file(run, result, "recording", path))
        trace_seal(path);
}

/* Keeps the tests that have not begun from beginning. */
static void stop(void)
{
    stopped = true;
    for (size_t i = 0; i < run->count; i++)
        if (!run->results[i].started)
            ((const struct criterion_test *)run->results[i].key)
                ->data->disabled = true;
}

static void finish(struct test_log_result *result,
                   enum test_log_outcome outcome)
{
    result->outcome = outcome;
    if (outcome == TEST_LOG_OUTCOME_CRASHED ||
        outcome == TEST_LOG_OUTCOME_TIMEOUT)
        seal(result);
    if (options->fail_fast && !stopped && test_log_outcome_bad(outcome))
        stop();
    if (!result->duration)
        result->duration = now() - result->started;
    show(result);
}

static const char *signal_name(int number)
{
    const char *name = sigabbrev_np(number);

    return name ? name : "?";
}

/* ---- The logger ---- */

static void on_pre_init(struct criterion_suite *suite,
                        struct criterion_test *test)
{
    struct test_log_result *result = result_of(test);

    if (original.log_pre_init)
        original.log_pre_init(suite, test);
    if (!result)
        return;
    result->started = now();
    if (test->data->disabled || (suite->data && suite->data->disabled)) {
        result->outcome = TEST_LOG_OUTCOME_SKIPPED;
        set_reason(result, stopped ? "not run: --fail-fast" : "disabled");
    } else {
        result->running = true;
    }
}

/* Why a test failed: its first failing assertion, or how it ended. */
static void explain_failure(struct test_log_result *result,
                            const struct criterion_test_stats *stats)
{
    const struct criterion_assert_stats *first = NULL;
    int code = stats->test->data->exit_code;
    int number = stats->test->data->signal;

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
    else if (stats->exit_code != code)
        set_reason(result, "exited with %d instead of %d", stats->exit_code,
                   code);
    else if (number && stats->signal != number)
        set_reason(result, "SIG%s was expected and not raised",
                   signal_name(number));
}

static void on_post_test(struct criterion_test_stats *stats)
{
    struct test_log_result *result = result_of(stats->test);

    if (original.log_post_test)
        original.log_post_test(stats);
    if (!result)
        return;
    result->body_done = true;
    result->duration = (uint64_t)((double)stats->elapsed_time * 1e9);
    if (stats->test_status != CR_STATUS_SKIPPED)
        return;
    if (stats->message && stats->message[0])
        set_reason(result, "%s", stats->message);
    finish(result, TEST_LOG_OUTCOME_SKIPPED);
}

static void on_post_fini(struct criterion_test_stats *stats)
{
    struct test_log_result *result = result_of(stats->test);

    if (original.log_post_fini)
        original.log_post_fini(stats);
    if (!result || stats->timed_out ||
        result->outcome == TEST_LOG_OUTCOME_SKIPPED)
        return;
    if (stats->test_status == CR_STATUS_FAILED)
        explain_failure(result, stats);
    finish(result, stats->test_status == CR_STATUS_FAILED
                       ? TEST_LOG_OUTCOME_FAILED
                       : TEST_LOG_OUTCOME_PASSED);
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
    struct test_log_result *result = result_of(stats->test);

    if (original.log_test_crash)
        original.log_test_crash(stats);
    if (!result)
        return;
    set_reason(result, "SIG%s, below %s:%u", signal_name(stats->signal),
               stats->file ? stats->file : "?", stats->progress);
    worsen(result, TEST_LOG_OUTCOME_CRASHED);
}

static void on_timeout(struct criterion_test_stats *stats)
{
    struct test_log_result *result = result_of(stats->test);

    if (original.log_test_timeout)
        original.log_test_timeout(stats);
    if (!result)
        return;
    result->duration = (uint64_t)((double)stats->elapsed_time * 1e9);
    set_reason(result, "after %.2f s", (double)stats->elapsed_time);
    worsen(result, TEST_LOG_OUTCOME_TIMEOUT);
}

static void on_abort(struct criterion_test_stats *stats, const char *message)
{
    struct test_log_result *result = result_of(stats->test);

    if (original.log_test_abort)
        original.log_test_abort(stats, message);
    if (result && message && message[0])
        set_reason(result, "%s", message);
}

static void on_other_crash(struct criterion_test_stats *stats)
{
    struct test_log_result *result = result_of(stats->test);

    if (original.log_other_crash)
        original.log_other_crash(stats);
    if (!result)
        return;
    set_reason(result, "in its %s", result->body_done ? "tear-down" : "set-up");
    worsen(result, TEST_LOG_OUTCOME_CRASHED);
}

/* Criterion lets an exit in the tear-down pass. */
static void on_abnormal_exit(struct criterion_test_stats *stats)
{
    struct test_log_result *result = result_of(stats->test);

    if (original.log_abnormal_exit)
        original.log_abnormal_exit(stats);
    if (!result)
        return;
    if (result->body_done && !result->shown) {
        finish(result, stats->test_status == CR_STATUS_FAILED
                           ? TEST_LOG_OUTCOME_FAILED
                           : TEST_LOG_OUTCOME_PASSED);
    } else if (!result->body_done) {
        set_reason(result, "exited in its set-up");
        worsen(result, TEST_LOG_OUTCOME_CRASHED);
    }
}

static void wrap_logger(void)
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
    criterion_options.logger = wrapped;
}

/* ---- Before the first worker ---- */

static void copy(char **to, const char *text)
{
    free(*to);
    *to = text ? strdup(text) : NULL;
}

/* Says once what cannot be read of a test's own filter. */
static void check_own(const char *own)
{
    static const char *last;
    struct trace_text complaints = {0};
    struct log_filter *filter;

    if (own == last) /* the next instance of the same test */
        return;
    last = own;
    filter = log_filter_parse(own, NULL, "TEST_LOG_DEFAULT", &complaints);
    if (filter)
        log_filter_advise(filter, "TEST_LOG_DEFAULT", &complaints);
    log_filter_free(filter);
    test_log_complain(&complaints);
    trace_text_free(&complaints);
}

static void make_folder(struct test_log_result *result)
{
    char path[PATH_MAX];

    if (asprintf(&result->folder, "tests/%s/%s.%s", run->program, result->suite,
                 result->test) < 0)
        result->folder = NULL;
    if (test_log_file(run, result, "", path) || mkdir(path, 0777)) {
        free(result->folder);
        result->folder = NULL;
    }
}

static void add_result(struct criterion_test *test)
{
    struct test_log_result *result = test_log_run_add(run);
    const char *own = NULL;
    bool annotated;

    if (!result)
        return;
    result->key = test;
    copy(&result->program, run->program ? run->program : "?");
    copy(&result->suite, test->category);
    copy(&result->test, test->name);
    copy(&result->file, test->data->file_);
    result->line = test->data->line_;
    annotated = test_log_entry_filter(test->category, test->name, &own);
    result->filter =
        test_log_filter_of(options->show.value, options->show.origin, own);
    if (!annotated)
        return;
    if (own && result->filter && !strncmp(result->filter, own, strlen(own)))
        check_own(own);
    if (run->path && !test->data->disabled)
        make_folder(result);
    if (run->path)
        test->test = test_log_trampoline;
}

static void add_results(struct criterion_test_set *set)
{
    for (struct criterion_ordered_set_node *s = set->suites->first; s;
         s = s->next) {
        struct criterion_suite_set *suite = (void *)(s + 1);

        if (!suite->tests)
            continue;
        for (struct criterion_ordered_set_node *t = suite->tests->first; t;
             t = t->next)
            add_result((void *)(t + 1));
    }
}

/* Criterion's spawner clears a byte for each descriptor that may be open, and
 * some containers allow a thousand million. */
static void lower_descriptors(void)
{
    struct rlimit limit;

    if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur > 65536) {
        limit.rlim_cur = 65536;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static void export_session(void)
{
    char folder[PATH_MAX], part[PATH_MAX], absolute[PATH_MAX];
    char limit[32], origin[96], time[16];
    long at_once =
        options->jobs ? (long)options->jobs : sysconf(_SC_NPROCESSORS_ONLN);
    bool several = at_once > 1 && run->count > 1;
    struct test_log_session session = {
        .show = (char *)options->show.value,
        .show_origin = (char *)options->show.origin,
        .record = (char *)options->record.value,
        .record_origin = (char *)options->record.origin,
        .folder = absolute,
        .limit = limit,
        .live = (char *)(options->live ? "1" : "0"),
        .time = time,
        .color = (char *)(options->color ? "1" : "0"),
        .prefix = (char *)(several ? "1" : "0"),
        .origin = origin,
    };

    if (snprintf(part, sizeof(part), "tests/%s", run->program) >= PATH_MAX ||
        test_log_path(run, part, folder) || !realpath(folder, absolute))
        return;
    snprintf(time, sizeof(time), "%d", (int)options->time);
    snprintf(limit, sizeof(limit), "%llu", (unsigned long long)options->limit);
    snprintf(origin, sizeof(origin), "%llu %llu %llu",
             (unsigned long long)run->start.ticks,
             (unsigned long long)run->start.monotonic,
             (unsigned long long)run->start.wall);
    test_log_session_export(&session);
}

static void before_all(struct criterion_test_set *set)
{
    if (!options) {
        fputs("testlog: Criterion's main runs instead of testlog's, so nothing "
              "is recorded: put -ltestlog before -lcriterion\n",
              stderr);
        return;
    }
    lower_descriptors();
    test_log_plan_expand(set);
    matched = test_log_plan_select(set, options);
    test_log_plan_seal(set);
    if (matched && test_log_run_open(run, options->dir, run->command))
        copy(&run->path, NULL);
    add_results(set);
    if (run->path)
        export_session();
    unsetenv("TESTLOG_RUN");
    setenv("TESTLOG_WORKER", "1", 1);
    wrap_logger();
}

/* Listed by hand: Criterion's ReportHook is lost with -flto. */
__attribute__((used, retain, section("cr_pra")))
test_log_hook *const test_log_before_all = before_all;

/* ---- A run ---- */

/* Criterion has a word for every test; should it have none, nobody may take
 * that for a pass. */
static void fail_rest(void)
{
    for (size_t i = 0; i < run->count; i++) {
        struct test_log_result *result = &run->results[i];

        if (result->outcome != TEST_LOG_OUTCOME_NONE)
            continue;
        result->outcome = TEST_LOG_OUTCOME_FAILED;
        set_reason(result, "Criterion told nothing of its end");
        result->shown = true;
    }
}

size_t test_log_runner_run(struct criterion_test_set *set,
                           const struct test_log_options *given,
                           struct test_log_run *to)
{
    options = given;
    run = to;
    style = (struct log_style){.format = given->format, .time = given->time};
    copy(&run->show, given->show.value);
    copy(&run->show_origin, given->show.origin);
    copy(&run->record, given->record.value);
    copy(&run->record_origin, given->record.origin);
    criterion_run_all_tests(set);
    fail_rest();
    render_ended(true);
    test_log_plan_free();
    return matched;
}
