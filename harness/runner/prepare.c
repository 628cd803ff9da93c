/* prepare.c: prepares a run in the one hook that Criterion calls before the
 * first worker starts.
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/hooks.h>

#include "harness/harness.h"
#include "harness/watch.h"

static const struct test_log_options *options; /* NULL: main is not ours */
static struct test_log_run *run;
static size_t matched;
static bool prepared; /* not the first try any more */
static const struct test_log_history *last_run;
static char attempt[16];   /* ".try2": of folders */
static char outermost[16]; /* the process that ends the run */

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
    if (asprintf(&result->folder, "tests/%s/%s.%s%s", run->program,
                 result->suite, result->test, attempt) < 0)
        result->folder = NULL;
    if (result->folder && !test_log_make_folder(run, result->folder))
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
        limit = options->timeout;
    test->data->timeout = test_log_supervisor_limits() ? 0 : limit;
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
    if (run->path && !test_log_is_disabled(suite, test))
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
        if (suite->suite.data && test_log_supervisor_limits())
            suite->suite.data->timeout = 0;
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
        .drained = (char *)(test_log_output_pipe_wanted(options) ? "1" : "0"),
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
    if (matched && !run->foreign)
        test_log_plan_print_unmatched(set, options);
    test_log_shard_take(set, &options->shard);
    test_log_plan_only(set, options->only);
    if (!options->shard.total)
        matched = set->tests;
}

static void open_board(size_t tests)
{
    test_log_status_close();
    if (tests && test_log_status_open(tests))
        test_log_notice("no shared memory with tests: %s; Criterion enforces "
                        "timeouts, and a test that exits early passes",
                        strerror(errno));
}

static void prepare(struct criterion_test_set *set)
{
    lower_descriptors();
    test_log_plan_expand(set);
    select_tests(set);
    test_log_plan_repeat(set, options->repeat);
    test_log_plan_seal(set);
    run->dir_given = options->dir_given;
    if (matched && test_log_run_open(run, options->dir, run->executable))
        copy(&run->path, NULL);
    find_outermost();
    test_log_jsonl_open(run, options);
    if (run->path && run->annotated)
        test_log_gpu_prepare(&run->gpu, options);
    open_board(set->tests);
    add_results(set);
    if (test_log_stopped()) /* before there was any to stop */
        test_log_stop(NULL);
    if (run->count < set->tests)
        run_nothing(set);
    if (run->path)
        export_session();
    test_log_progress_begin(run, options, last_run);
    unsetenv("TESTLOG_RUN");
    unsetenv("TESTLOG_LAST");
    unsetenv("TESTLOG_PROGRAM");
    setenv("TESTLOG_WORKER", "1", 1);
    test_log_logger_listen();
}

extern int main(int, char **);

/* Criterion, as a shared library, has a main beside its other functions. */
static bool is_criterion_main(void)
{
    void *function = dlsym(RTLD_NEXT, "criterion_initialize");
    Dl_info its, ours;

    return function && dladdr(function, &its) && dladdr((void *)main, &ours) &&
           its.dli_fbase == ours.dli_fbase;
}

static void advise(void)
{
    fputs(is_criterion_main()
              ? "testlog: Criterion's main runs instead of testlog's, so "
                "nothing is recorded: put -ltestlog before -lcriterion\n"
              : "testlog: this program has a main of its own, so nothing is "
                "recorded: call test_log_main(argc, argv) there, in place of "
                "Criterion's functions\n",
          stderr);
}

static void before_all(struct criterion_test_set *set)
{
    if (!options) {
        advise();
        return;
    }
    if (prepared) /* there was a try before */
        return;
    prepared = true;
    test_log_supervisor_enter();
    prepare(set);
    test_log_supervisor_leave();
}

/* Listed by hand: Criterion's ReportHook is lost with -flto. */
__attribute__((used, retain, section("cr_pra")))
test_log_hook *const test_log_before_all = before_all;

/* ---- A run ---- */

static bool wanted(const struct criterion_test *test)
{
    const struct test_log_result *result = test_log_result_of(test);

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
    test_log_spawn_again();
    open_board(set->tests);
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
        test_log_supervisor_enter();
        test_log_logger_render();
        again = !test_log_stopped() && begin_try(set, number);
        test_log_supervisor_leave();
        if (!again)
            return;
    }
}

size_t test_log_runner_run(struct criterion_test_set *set,
                           const struct test_log_options *given,
                           const struct test_log_history *past,
                           struct test_log_run *to)
{
    options = given;
    last_run = past;
    run = to;
    copy(&run->show, given->show.value);
    copy(&run->show_origin, given->show.origin);
    copy(&run->record, given->record.value);
    copy(&run->record_origin, given->record.origin);
    run->shard = given->shard;
    run_tries(set);
    test_log_supervisor_enter();
    test_log_progress_end();
    test_log_logger_end();
    test_log_jsonl_close(run);
    test_log_supervisor_leave();
    test_log_plan_free();
    return matched;
}
