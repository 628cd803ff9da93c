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
#include "watch.h"

static const struct test_log_options *options; /* NULL: main is not ours */
static struct test_log_run *run;
static struct criterion_logger original;
static struct criterion_logger wrapped[2]; /* one more as slack: it may grow */
static size_t matched;
static const char *stopped; /* why no further test begins; NULL: they do */
static bool prepared;       /* not the first try any more */
static const struct test_log_last *last_run;
static struct log_style style;
static char attempt[16];   /* ".try2": of folders */
static char outermost[16]; /* the process that ends the run */

/* ---- Results, as Criterion tells of them ---- */

static struct test_log_result *result_of(const struct criterion_test *test)
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
    test_log_jsonl_tell(result);
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

void test_log_runner_stop(const char *why)
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

/* What was killed has not failed by itself. */
static enum test_log_outcome judge_killed(struct test_log_result *result,
                                          enum test_log_outcome outcome)
{
    double spent = (double)(test_log_now() - result->started) / 1e9;

    if (result->late) {
        set_reason(result, "after %.2f s; SIGPROF did not end it", spent);
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
    if (outcome == TEST_LOG_OUTCOME_CRASHED ||
        outcome == TEST_LOG_OUTCOME_TIMEOUT || result->ended)
        seal(result);
    if (options->fail_fast && !stopped && test_log_outcome_bad(outcome) &&
        !test_log_retry_wanted(options, result))
        test_log_runner_stop("not run: --fail-fast");
    if (!result->duration)
        result->duration = test_log_now() - result->started;
    show(result);
}

/* ---- The logger ---- */

static bool is_disabled(const struct criterion_suite *suite,
                        const struct criterion_test *test)
{
    return test->data->disabled || (suite->data && suite->data->disabled);
}

static void on_pre_init(struct criterion_suite *suite,
                        struct criterion_test *test)
{
    struct test_log_result *result = result_of(test);

    if (original.log_pre_init)
        original.log_pre_init(suite, test);
    if (!result)
        return;
    result->started = test_log_now();
    test_log_board_read(run);
    /* One that has a process was disabled too late to be kept from it. */
    if (!result->pid && is_disabled(suite, test)) {
        result->outcome = TEST_LOG_OUTCOME_SKIPPED;
        set_reason(result, "%s", result->left ? stopped : "disabled");
        test_log_jsonl_tell(result);
    } else {
        result->left = false;
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
    const char *fault = test_log_board_said(run, result).fault;

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
    struct test_log_said said = test_log_board_said(run, result);

    if (said.fault || stats->failed_asserts) { /* these, in its tear-down */
        explain_failure(result, stats);
        return true;
    }
    if (said.returned || data->exit_code || data->signal)
        return false;
    set_reason(result, "exited with 0 before the test ended");
    return true;
}

/* Notes which expectations were not judged, and says why. Criterion's list may
 * be looked at more than once, and grows. */
static void note_unjudged(struct test_log_result *result,
                          const struct criterion_test_stats *stats)
{
    size_t size = strlen(TEST_LOG_UNJUDGED), count = 0;
    const char *why = NULL;

    for (const struct criterion_assert_stats *a = stats->asserts; a;
         a = a->next)
        if (a->passed && a->message &&
            !strncmp(a->message, TEST_LOG_UNJUDGED, size)) {
            why = a->message + size; /* the list begins with the last one */
            count++;
        }
    if (why && !result->unjudged)
        test_log_notice("%s: log_expect_* was not judged: %s",
                        test_log_name(result), why);
    result->unjudged = count;
}

static void on_post_test(struct criterion_test_stats *stats)
{
    struct test_log_result *result = result_of(stats->test);

    if (original.log_post_test)
        original.log_post_test(stats);
    if (!result)
        return;
    result->body_done = true;
    note_unjudged(result, stats);
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
    enum test_log_outcome outcome = TEST_LOG_OUTCOME_PASSED;

    if (original.log_post_fini)
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
    if (stats->signal == SIGKILL)
        outcome = judge_killed(result, outcome);
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
    struct test_log_result *result = result_of(stats->test);

    /* It did not crash by itself if the run ended it. */
    if (original.log_test_crash && !(result && result->ended))
        original.log_test_crash(stats);
    if (!result)
        return;
    note_unjudged(result, stats);
    set_reason(result, "%s, below %s:%u", test_log_signal(stats->signal),
               stats->file ? stats->file : "?", stats->progress);
    worsen(result, judge_killed(result, TEST_LOG_OUTCOME_CRASHED));
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
    if (!test_log_board_said(run, result).checking) {
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
    struct test_log_result *result = result_of(stats->test);

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
    criterion_options.logger = test_log_guard(wrapped);
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

static void complain_folder(const struct test_log_result *result, int error)
{
    static bool said;

    if (!said)
        test_log_notice("%s has no folder, nor may others: %s; results are not "
                        "affected",
                        test_log_name(result), strerror(error));
    said = true;
}

static void make_folder(struct test_log_result *result)
{
    char path[PATH_MAX];

    if (asprintf(&result->folder, "tests/%s/%s.%s%s", run->program,
                 result->suite, result->test, attempt) < 0)
        result->folder = NULL;
    if (!test_log_file(run, result, "", path) && !mkdir(path, 0777))
        return;
    complain_folder(result, result->folder ? errno : ENOMEM);
    free(result->folder);
    result->folder = NULL;
}

/* How long a test may take, in ns; --timeout is for all of them. */
static uint64_t limit_of(const struct criterion_suite *suite,
                         struct criterion_test *test)
{
    double limit = test->data->timeout;

    if (!(limit > 0) && suite->data)
        limit = suite->data->timeout;
    if (options->timeout > 0 && (!(limit > 0) || limit > options->timeout))
        limit = test->data->timeout = options->timeout;
    return limit > 0 ? (uint64_t)(limit * 1e9) : 0;
}

/* What Criterion has stays until the end: it serves where there is no memory.
 */
static void name(struct test_log_result *result,
                 const struct criterion_test *test)
{
    const char *program = run->program ? run->program : "?";

    copy(&result->program, program);
    copy(&result->suite, test->category);
    copy(&result->test, test->name);
    copy(&result->file, test->data->file_);
    if (result->program && result->suite && result->test)
        return;
    result->borrows = true;
    result->program = (char *)program;
    result->suite = (char *)test->category;
    result->test = (char *)test->name;
}

static void add_result(const struct criterion_suite *suite,
                       struct criterion_test *test)
{
    struct test_log_result *result = test_log_run_add(run);
    const char *own = NULL;
    bool annotated;

    if (!result)
        return;
    result->key = test;
    name(result, test);
    result->line = test->data->line_;
    result->limit = limit_of(suite, test);
    result->gpu = run->gpu.state;
    annotated = test_log_entry_filter(test->category, test->name, &own);
    result->filter =
        test_log_filter_of(options->show.value, options->show.origin, own);
    if (!annotated && !options->all_tests)
        return;
    if (own && result->filter && !strncmp(result->filter, own, strlen(own)))
        check_own(own);
    if (run->path && !is_disabled(suite, test))
        make_folder(result);
    if (run->path && annotated)
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
            add_result(&suite->suite, (void *)(t + 1));
    }
}

static bool nothing(const struct criterion_test *test)
{
    (void)test;
    return false;
}

/* A test without a place for its result would pass whatever it did. */
static void run_nothing(struct criterion_test_set *set)
{
    test_log_notice("out of memory: no test runs");
    run->refused = true;
    test_log_plan_keep(set, nothing);
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
    char limit[32], origin[96], format[16], time[16], span_events[16];
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
        .format = format,
        .time = time,
        .span_events = span_events,
        .color = (char *)(options->color ? "1" : "0"),
        .prefix = (char *)(several ? "1" : "0"),
        .origin = origin,
        .all_tests = (char *)(options->all_tests ? "1" : "0"),
        .attempt = attempt,
        .runner = outermost,
    };

    if (snprintf(part, sizeof(part), "tests/%s", run->program) >= PATH_MAX ||
        test_log_path(run, part, folder) || !realpath(folder, absolute))
        return;
    snprintf(format, sizeof(format), "%d", (int)options->format);
    snprintf(time, sizeof(time), "%d", (int)options->time);
    snprintf(span_events, sizeof(span_events), "%u", options->span_events);
    snprintf(limit, sizeof(limit), "%llu", (unsigned long long)options->limit);
    snprintf(origin, sizeof(origin), "%llu %llu %llu",
             (unsigned long long)run->start.ticks,
             (unsigned long long)run->start.monotonic,
             (unsigned long long)run->start.wall);
    test_log_session_export(&session);
}

/* Whoever follows the run ends when that process has. */
static void find_outermost(void)
{
    const char *given = run->foreign ? test_log_variable("TESTLOG_RUNNER") : 0;

    snprintf(outermost, sizeof(outermost), "%ld",
             given ? strtol(given, NULL, 10) : (long)getpid());
    unsetenv("TESTLOG_RUNNER");
}

/* What failed in a shard is looked for in that shard again, so that comes last.
 * A shard may be empty; that is no mistake of the filters. */
static void select_tests(struct criterion_test_set *set)
{
    matched = test_log_plan_select(set, options);
    test_log_shard_take(set, &options->shard);
    test_log_plan_only(set, options->only);
    if (!options->shard.total)
        matched = set->tests;
}

static void prepare(struct criterion_test_set *set)
{
    lower_descriptors();
    test_log_plan_expand(set);
    select_tests(set);
    test_log_plan_repeat(set, options->repeat);
    test_log_plan_seal(set);
    if (matched && test_log_run_open(run, options->dir, run->executable))
        copy(&run->path, NULL);
    find_outermost();
    test_log_jsonl_open(run, options);
    if (run->path && run->annotated)
        test_log_gpu_prepare(&run->gpu, options);
    add_results(set);
    if (run->count < set->tests)
        run_nothing(set);
    if (run->path)
        export_session();
    test_log_progress_begin(run, options, last_run);
    unsetenv("TESTLOG_RUN");
    unsetenv("TESTLOG_LAST");
    unsetenv("TESTLOG_PROGRAM");
    setenv("TESTLOG_WORKER", "1", 1);
    wrap_logger();
}

static void before_all(struct criterion_test_set *set)
{
    if (!options) {
        fputs("testlog: Criterion's main runs instead of testlog's, so nothing "
              "is recorded: put -ltestlog before -lcriterion\n",
              stderr);
        return;
    }
    if (prepared) /* there was a try before */
        return;
    prepared = true;
    test_log_watch_enter();
    prepare(set);
    test_log_watch_leave();
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

static bool wanted(const struct criterion_test *test)
{
    const struct test_log_result *result = result_of(test);

    return result && test_log_retry_wanted(options, result);
}

/* Makes ready what has a try left; false if nothing has. */
static bool begin_try(struct criterion_test_set *set, unsigned number)
{
    size_t count = 0;

    test_log_plan_keep(set, wanted);
    if (!set->tests)
        return false;
    test_log_plan_seal(set);
    snprintf(attempt, sizeof(attempt), ".try%u", number);
    for (size_t i = 0; i < run->count; i++) {
        struct test_log_result *result = &run->results[i];
        bool has_folder = result->folder;

        if (!test_log_retry_wanted(options, result) || test_log_retry(result))
            continue;
        count++;
        if (has_folder)
            make_folder(result);
    }
    if (run->path)
        export_session();
    test_log_notice("try %u of %zu: %zu %s", number, options->retries + 1,
                    count, count == 1 ? "test" : "tests");
    return count != 0;
}

static void run_tries(struct criterion_test_set *set)
{
    for (unsigned number = 2;; number++) {
        bool again;

        criterion_run_all_tests(set);
        test_log_watch_enter();
        render_ended(true);
        again = !stopped && begin_try(set, number);
        test_log_watch_leave();
        if (!again)
            return;
    }
}

size_t test_log_runner_run(struct criterion_test_set *set,
                           const struct test_log_options *given,
                           const struct test_log_last *past,
                           struct test_log_run *to)
{
    options = given;
    last_run = past;
    run = to;
    style = (struct log_style){.format = given->format,
                               .time = given->time,
                               .span_events = given->span_events};
    copy(&run->show, given->show.value);
    copy(&run->show_origin, given->show.origin);
    copy(&run->record, given->record.value);
    copy(&run->record_origin, given->record.origin);
    run->shard = given->shard;
    run_tries(set);
    test_log_watch_enter();
    test_log_progress_end();
    fail_rest();
    render_ended(true);
    test_log_jsonl_close(run);
    test_log_watch_leave();
    test_log_plan_free();
    return matched;
}
