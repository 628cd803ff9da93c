/* prepare.c: prepares a run in the one hook that Criterion calls before the
 * first worker starts.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/hooks.h>

#include "harness/criterion/plan/plan.h"
#include "harness/criterion/program/program.h"
#include "harness/criterion/watch/jobs.h"
#include "harness/criterion/watch/progress.h"
#include "harness/criterion/watch/supervisor.h"
#include "harness/machine/notice.h"
#include "harness/options/options.h"
#include "harness/run/files/writers.h"
#include "harness/run/folder/run_folder.h"
#include "harness/session.h"

#include <testlog/test_log.h>

/* ---- Folders ---- */

static void print_folder_error(const struct test_log_result *result, int error)
{
    static bool printed;

    if (!printed)
        test_log_notice("cannot create a folder for %s: %s (others may fail "
                        "too); results are not affected",
                        test_log_name(result), strerror(error));
    printed = true;
}

static void make_folder(const struct test_log_runner *runner,
                        struct test_log_result *result)
{
    if (asprintf(&result->folder, "tests/%s/%s.%s%s", runner->run->program,
                 result->suite, result->test, runner->attempt) < 0)
        result->folder = NULL;
    if (result->folder && !test_log_make_folder(runner->run, result->folder))
        return;
    print_folder_error(result, result->folder ? errno : ENOMEM);
    free(result->folder);
    result->folder = NULL;
}

/* ---- Results ---- */

static void copy(char **to, const char *text)
{
    free(*to);
    *to = text ? strdup(text) : NULL;
}

/* Prints once what is wrong with a test's own filter. */
static void check_test_filter(const char *text)
{
    static const char *checked;
    struct trace_text complaints = {0};
    struct log_filter *filter;

    if (text == checked) /* another instance of the same test */
        return;
    checked = text;
    filter = log_filter_parse(text, NULL, "TEST_LOG_DEFAULT", &complaints);
    if (filter)
        log_filter_advise(filter, "TEST_LOG_DEFAULT", &complaints);
    log_filter_free(filter);
    test_log_complain(&complaints);
    trace_text_free(&complaints);
}

double test_log_plan_limit(const struct test_log_options *options,
                           const struct criterion_suite *suite,
                           const struct criterion_test *test)
{
    struct test_log_override override =
        test_log_override_of(options, test->category, test->name);
    double limit = test->data->timeout;

    if (!(limit > 0) && suite->data)
        limit = suite->data->timeout;
    if (override.timeout > 0)
        return override.timeout;
    if (options->timeout > 0 && (!(limit > 0) || limit > options->timeout))
        return options->timeout;
    return limit > 0 ? limit : 0;
}

/* Returns a test's time limit in ns. Takes it away from Criterion if the
 * supervisor enforces it. */
static uint64_t take_limit(const struct test_log_options *options,
                           const struct criterion_suite *suite,
                           struct criterion_test *test)
{
    double limit = test_log_plan_limit(options, suite, test);

    if (options->races || options->callgrind)
        limit *= TEST_LOG_VALGRIND_SLOWER;
    if (options->debugger)
        limit = 0;
    test->data->timeout = test_log_supervisor_limits() ? 0 : limit;
    return limit > 0 ? (uint64_t)(limit * 1e9) : 0;
}

/* Without memory for copies, the result borrows Criterion's strings, which last
 * until the end. */
static void set_names(struct test_log_result *result, const char *program,
                      const struct criterion_test *test)
{
    char path[PATH_MAX];

    program = program ? program : "?";
    copy(&result->program, program);
    copy(&result->suite, test->category);
    copy(&result->test, test->name);
    copy(&result->file, test->data->file_
                            ? test_log_shown_path(test->data->file_, path)
                            : NULL);
    if (result->program && result->suite && result->test)
        return;
    result->borrows = true;
    result->program = (char *)program;
    result->suite = (char *)test->category;
    result->test = (char *)test->name;
}

static bool must_be_skipped(const struct test_log_options *options,
                            const struct criterion_test *test)
{
    const struct test_log_known_failure *known =
        test_log_known_of(&options->known, test->category, test->name);

    return known && known->expected == TEST_LOG_EXPECT_SKIP;
}

static void add_result(struct test_log_runner *runner,
                       const struct criterion_suite *suite,
                       struct criterion_test *test)
{
    const struct test_log_options *options = runner->options;
    struct test_log_run *run = runner->run;
    struct test_log_result *result = test_log_run_add(run);
    const struct test_log_entry *entry =
        test_log_annotated_find(test->category, test->name);
    const char *test_filter = entry ? entry->filter : NULL;

    if (!result)
        return;
    set_names(result, run->program, test);
    result->line = test->data->line_;
    copy(&result->flavour, test_log_flavour_given(options));
    result->gpu = run->gpu.state;
    result->retries =
        test_log_override_of(options, test->category, test->name).retries;
    result->filter = test_log_filter_for(
        &(struct test_log_session){.show = options->show.value,
                                   .show_origin = options->show.origin,
                                   .test_filters = options->test_filters.data},
        test->category, test->name, test_filter);
    if (must_be_skipped(options, test))
        test->data->disabled = true;
    if (!entry && !options->all_tests)
        return;
    if (test_filter && result->filter &&
        !strncmp(result->filter, test_filter, strlen(test_filter)))
        check_test_filter(test_filter);
    if (run->path && !test_log_is_disabled(suite, test))
        make_folder(runner, result);
    if (run->path && entry)
        test->test = test_log_trampoline;
}

typedef void each_test(struct test_log_runner *, const struct criterion_suite *,
                       struct criterion_test *);

static void each(struct test_log_runner *runner, struct criterion_test_set *set,
                 each_test *visit)
{
    for (struct criterion_ordered_set_node *s = set->suites->first; s;
         s = s->next) {
        struct criterion_suite_set *suite = (void *)(s + 1);
        struct criterion_ordered_set_node *t;

        for (t = suite->tests ? suite->tests->first : NULL; t; t = t->next)
            visit(runner, &suite->suite, (void *)(t + 1));
    }
}

/* Jobs point to results, and adding a result may move all results. So jobs are
 * made after the last result. */
static void add_job(struct test_log_runner *runner,
                    const struct criterion_suite *suite,
                    struct criterion_test *test)
{
    struct test_log_job *job = &runner->jobs[runner->job_count++];

    job->test = test;
    job->known =
        test_log_known_of(&runner->options->known, test->category, test->name);
    job->limit = take_limit(runner->options, suite, test);
    /* Criterion's reports contain only the tests of one of its runs. */
    job->serial =
        test_log_override_of(runner->options, test->category, test->name)
            .serial ||
        (runner->options->reports && test_log_any_serial(runner->options));
}

/* Keeps Criterion from enforcing the timeouts that the supervisor enforces. */
static void clear_timeouts(struct criterion_test_set *set)
{
    for (struct criterion_ordered_set_node *s = set->suites->first; s;
         s = s->next) {
        struct criterion_suite *suite = (void *)(s + 1);

        if (suite->data)
            suite->data->timeout = 0;
    }
}

static bool want_none(const struct criterion_test *test)
{
    (void)test;
    return false;
}

/* A test without a result would pass whatever it did. */
static void run_nothing(struct test_log_runner *runner,
                        struct criterion_test_set *set, int error)
{
    struct test_log_run *run = runner->run;

    if (error == E2BIG)
        test_log_notice("the filters are too long for the environment of "
                        "tests: no test runs; shorten --log or "
                        "--trace-filter");
    else
        test_log_notice("out of memory: no test runs");
    run->refused = true;
    for (size_t i = 0; i < run->count; i++)
        run->results[i].outcome = TEST_LOG_OUTCOME_FAILED;
    test_log_plan_keep(set, want_none);
}

/* ---- Beside other processes of a ctest ---- */

static void find_taken(struct test_log_runner *runner,
                       const struct criterion_suite *suite,
                       struct criterion_test *test)
{
    const struct test_log_run *run = runner->run;
    char name[PATH_MAX], path[PATH_MAX];

    (void)suite;
    if (snprintf(name, sizeof(name), "tests/%s/%s.%s", run->program,
                 test->category, test->name) >= PATH_MAX ||
        test_log_local_path(run, name, path) || access(path, F_OK))
        return;
    snprintf(runner->attempt, sizeof(runner->attempt), "~%u",
             run->parent.share);
}

/* Another process that has joined the run may have run the same tests: then the
 * folders of ours have a number. Until they are made, others wait; returns a
 * descriptor to be closed, -1 without others. */
static int hold_others(struct test_log_runner *runner,
                       struct criterion_test_set *set)
{
    const struct test_log_run *run = runner->run;
    char name[PATH_MAX], path[PATH_MAX];
    int folder = -1;

    if (run->path && run->parent.share &&
        snprintf(name, sizeof(name), "tests/%s", run->program) < PATH_MAX &&
        !test_log_local_path(run, name, path))
        folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return -1;
    flock(folder, LOCK_EX);
    each(runner, set, find_taken);
    return folder;
}

static void add_results(struct test_log_runner *runner,
                        struct criterion_test_set *set)
{
    int others = hold_others(runner, set);

    each(runner, set, add_result);
    if (others >= 0)
        close(others);
}

static void make_jobs(struct test_log_runner *runner,
                      struct criterion_test_set *set)
{
    add_results(runner, set);
    if (runner->run->count < set->tests || test_log_jobs_make(runner)) {
        run_nothing(runner, set, ENOMEM);
        return;
    }
    each(runner, set, add_job);
    if (test_log_supervisor_limits())
        clear_timeouts(set);
    if (runner->stopped) /* when there was no job yet to stop */
        test_log_stop(runner, NULL);
}

/* Criterion's spawner clears a byte for each descriptor that may be open, and
 * some containers allow a billion. */
static void lower_descriptors(void)
{
    struct rlimit limit;

    if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur > 65536) {
        limit.rlim_cur = 65536;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* Finds the absolute path of this program's folder in the run. */
static bool find_folder(const struct test_log_run *run, char *absolute)
{
    char folder[PATH_MAX], part[PATH_MAX];

    return run->path &&
           snprintf(part, sizeof(part), "tests/%s", run->program) < PATH_MAX &&
           !test_log_local_path(run, part, folder) &&
           realpath(folder, absolute);
}

static bool export_session(const struct test_log_runner *runner)
{
    const struct test_log_options *options = runner->options;
    const struct test_log_run *run = runner->run;
    char folder[PATH_MAX], limit[32], format[16], time[16];
    char origin[TEST_LOG_ANCHOR_SIZE];
    char span_events[16], details[16];
    long at_once =
        options->jobs ? (long)options->jobs : sysconf(_SC_NPROCESSORS_ONLN);
    bool several = at_once > 1 && run->count > 1;
    struct trace_text profiler = {0};
    bool exported;
    struct test_log_session session = {
        .show = options->show.value,
        .show_origin = options->show.origin,
        .record = options->record.value,
        .record_origin = options->record.origin,
        .folder = find_folder(run, folder) ? folder : NULL,
        .limit = limit,
        .live = options->output.live ? "1" : "0",
        .format = format,
        .time = time,
        .span_events = span_events,
        .details = details,
        .color = options->output.style.color ? "1" : "0",
        .prefix = several || options->rank.total ? "1" : "0",
        .origin = origin,
        .all_tests = options->all_tests ? "1" : "0",
        .attempt = runner->attempt,
        .piped = test_log_output_pipe_wanted(options) ? "1" : "0",
        .test_filters =
            options->test_filters.data ? options->test_filters.data : "",
        .functions = test_log_functions_prepare(options, run, NULL),
        .lines = options->lines.value ? options->lines.value : "",
        .stacks =
            test_log_supervisor_limits() && test_log_stacks_wanted(options)
                ? "1"
                : "0",
        .races = options->races ? test_log_valgrind_folder() : "",
        .counts = options->callgrind ? test_log_valgrind_folder() : "",
        .debugger = options->debugger ? "1" : "0",
        .runner = runner->outermost,
        .preload = test_log_session()->preload,
        .status = test_log_status_id(),
        .nested = "1",
    };

    snprintf(format, sizeof(format), "%d", (int)options->output.style.format);
    snprintf(time, sizeof(time), "%d", (int)options->output.style.time);
    snprintf(span_events, sizeof(span_events), "%u",
             options->output.style.span_events);
    snprintf(details, sizeof(details), "%u", options->output.style.details);
    snprintf(limit, sizeof(limit), "%llu", (unsigned long long)options->limit);
    test_log_anchor_text(&run->start, origin);
    trace_profiler_text(&options->profiler, &profiler);
    session.profiler = profiler.data ? profiler.data : "";
    exported = !profiler.failed && test_log_session_export(&session);
    trace_text_free(&profiler);
    return exported;
}

/* Finds the process that ends the run: programs that follow the run end with
 * it. */
static void find_outermost(struct test_log_runner *runner)
{
    const char *given =
        test_log_is_part(runner->run) ? test_log_session()->runner : NULL;

    snprintf(runner->outermost, sizeof(runner->outermost), "%ld",
             given ? strtol(given, NULL, 10) : (long)getpid());
}

/* --failed applies last: it runs the failed tests of the same shard. An empty
 * shard does not mean that the filters are wrong. */
static void select_tests(struct test_log_runner *runner,
                         struct criterion_test_set *set)
{
    const struct test_log_options *options = runner->options;
    bool only = options->failed && options->only;
    const char *launched = test_log_session()->test;

    if (only && !test_log_plan_has(set, options->only)) {
        test_log_notice("--failed: %s no longer has the tests that failed; all "
                        "its tests run",
                        test_log_rerun_name(runner->run->executable));
        only = false;
    }
    runner->matched = test_log_plan_select(set, options);
    if (runner->matched && !test_log_is_part(runner->run))
        test_log_plan_print_unmatched(set, options);
    test_log_shard_take(set, options,
                        test_log_rerun_name(runner->run->executable),
                        &runner->run->plan);
    if (only)
        test_log_plan_only(set, options->only);
    if (launched)
        test_log_plan_only(set, (char *[]){(char *)launched, NULL});
    if (!options->shard.total)
        runner->matched = set->tests;
}

static void open_status(size_t tests)
{
    test_log_status_close();
    if (tests && test_log_status_open(tests))
        test_log_notice(
            "cannot share memory with tests: %s; Criterion enforces "
            "timeouts, and a test that exits early passes",
            strerror(errno));
}

void test_log_prepare_run(struct test_log_runner *runner,
                          struct criterion_test_set *set)
{
    const struct test_log_options *options = runner->options;
    struct test_log_run *run = runner->run;

    lower_descriptors();
    test_log_plan_expand(set);
    select_tests(runner, set);
    test_log_plan_repeat(set, options->repeat);
    test_log_plan_first(set, options->only);
    if (options->rank.total)
        test_log_plan_mark(set, &options->rank);
    test_log_plan_seal(set);
    run->dir_given = options->dir_given;
    run->output = &options->output;
    run->scratch_word = options->scratch;
    if (runner->matched &&
        test_log_run_open(run, options->dir, run->executable))
        copy(&run->path, NULL);
    find_outermost(runner);
    test_log_jsonl_open(run, &options->output);
    if (run->path && run->annotated)
        test_log_gpu_prepare(&run->gpu, options);
    open_status(set->tests);
    make_jobs(runner, set);
    if (!export_session(runner) && !run->refused)
        run_nothing(runner, set, errno);
    test_log_progress_begin(runner);
    unsetenv("TESTLOG_RUN");
}

/* ---- Retries ---- */

static bool retries(const struct criterion_test *test)
{
    const struct test_log_job *job = test_log_job_of(&test_log_runner, test);

    return job && test_log_job_retries(job);
}

size_t test_log_prepare_retry(struct test_log_runner *runner,
                              struct criterion_test_set *set, size_t number)
{
    size_t count = 0;

    test_log_plan_keep(set, retries);
    if (!set->tests)
        return 0;
    test_log_plan_seal(set);
    test_log_spawn_again();
    open_status(set->tests);
    runner->attempt[strcspn(runner->attempt, ".")] = '\0';
    snprintf(runner->attempt + strlen(runner->attempt),
             sizeof(runner->attempt) - strlen(runner->attempt), ".try%zu",
             number);
    for (size_t i = 0; i < runner->run->count; i++) {
        struct test_log_job *job = &runner->jobs[i];
        bool has_folder = job->result->folder;

        job->note = 0; /* it points into the last try's memory */
        if (!test_log_job_retries(job) || test_log_job_retry(job))
            continue;
        count++;
        if (has_folder)
            make_folder(runner, job->result);
    }
    return export_session(runner) ? count : 0;
}
