/* main.c: main of a test program. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/options.h>
#include <testlog/test_log.h>

#include "harness.h"

/* ---- Filters ---- */

/* Says what cannot be read of a filter, before any test starts. A run of
 * several programs has said it already. */
static struct log_filter *check_filter(const struct test_log_setting *setting,
                                       const char *fallback)
{
    struct trace_text complaints = {0};
    struct log_filter *filter = log_filter_parse(setting->value, fallback,
                                                 setting->origin, &complaints);

    if (complaints.size && !test_log_variable("TESTLOG_RUN"))
        fprintf(test_log_out, "testlog: %s", complaints.data);
    trace_text_free(&complaints);
    return filter;
}

static void see(struct trace_site *site, void *filter)
{
    log_filter_seen(filter, site);
}

/* What was recorded has sites that this process does not know of: those of C++
 * and of shared objects that a test loaded. */
static void see_recorded(const struct test_log_run *run,
                         struct log_filter *filter)
{
    char path[PATH_MAX];

    for (size_t i = 0; i < run->count; i++) {
        struct trace_reader *reader = NULL;

        if (!test_log_file(run, &run->results[i], "recording", path))
            reader = trace_reader_open(path);
        for (uint32_t id = 1; reader && trace_reader_site(reader, id); id++)
            log_filter_seen(filter, trace_reader_site(reader, id));
        trace_reader_close(reader);
    }
}

static void add_unseen(struct test_log_run *run, const char *origin,
                       const char *directive)
{
    void *grown =
        realloc(run->unseen, (run->unseen_count + 1) * sizeof(*run->unseen));

    if (!grown)
        return;
    run->unseen = grown;
    if (asprintf(&run->unseen[run->unseen_count], "%s: %s", origin,
                 directive) >= 0)
        run->unseen_count++;
}

/* Finds the directives that were about nothing. */
static void find_unseen(struct test_log_run *run, struct log_filter *filter,
                        const char *origin)
{
    const char *directive;
    size_t from = 0;

    if (!filter)
        return;
    trace_site_each(see, filter);
    if (!log_filter_unseen(filter, &from))
        return;
    see_recorded(run, filter);
    from = 0;
    while ((directive = log_filter_unseen(filter, &from)))
        add_unseen(run, origin, directive);
}

/* ---- The end ---- */

static bool write_failed(const char *name, int status)
{
    if (status)
        test_log_notice("cannot write %s: %s; the results are those below",
                        name, strerror(errno));
    return status != 0;
}

static void write_run(const struct test_log_run *run)
{
    char name[PATH_MAX];

    if (!run->path)
        return;
    if (run->foreign) {
        snprintf(name, sizeof(name), "tests/%s/run.json", run->program);
        write_failed(name, test_log_write_run_json(run, name));
        return;
    }
    if (!write_failed("run.json", test_log_write_run_json(run, "run.json")) &&
        !write_failed("junit.xml", test_log_write_junit(run, "junit.xml")))
        write_failed("trace.json", test_log_write_trace(run, "trace.json"));
}

static int exit_code(const struct test_log_run *run, size_t matched)
{
    if (!matched)
        return TEST_LOG_NO_TEST;
    if (test_log_run_sums(run).failed && !criterion_options.always_succeed)
        return TEST_LOG_FAILED;
    return TEST_LOG_PASSED;
}

static void report(const struct test_log_run *run,
                   const struct test_log_options *options, size_t matched)
{
    if (run->foreign)
        return; /* testlog run does */
    test_log_report_unseen(run);
    if (!matched)
        test_log_notice("no test matched; --list lists them all");
    test_log_report_summary(run, run->command);
    test_log_report_closing(run, options);
}

static void say_filter(const struct test_log_options *options)
{
#define SAY "lines shown: %s (%s); recorded: %s (%s)"
    if (!test_log_variable("TESTLOG_RUN") && !options->quiet &&
        !options->report_on_stdout)
        test_log_notice(SAY, options->show.value, options->show.origin,
                        options->record.value, options->record.origin);
#undef SAY
}

static int run_tests(struct criterion_test_set *set,
                     const struct test_log_options *options,
                     const char *program)
{
    struct test_log_run run = {.start = trace_anchor_now(),
                               .foreign = test_log_variable("TESTLOG_RUN")};
    struct log_filter *show = check_filter(&options->show, "info");
    struct log_filter *record = check_filter(&options->record, "trace");
    size_t matched;
    int code;

    run.command = strdup(program);
    say_filter(options);
    matched = test_log_runner_run(set, options, &run);
    if (matched) {
        find_unseen(&run, show, options->show.origin);
        find_unseen(&run, record, options->record.origin);
    }
    write_run(&run);
    report(&run, options, matched);
    code = exit_code(&run, matched);
    log_filter_free(show);
    log_filter_free(record);
    test_log_run_free(&run);
    return code;
}

/* ---- The beginning ---- */

static void open_out(void)
{
    int fd = dup(STDERR_FILENO);

    test_log_out = fd < 0 ? stderr : fdopen(fd, "we");
    if (!test_log_out)
        test_log_out = stderr;
}

/* At the first failure Criterion would kill the runner, results and all; ours
 * starts no further test instead. */
static struct test_log_options *take_fail_fast(struct test_log_options *options)
{
    options->fail_fast |= criterion_options.fail_fast;
    criterion_options.fail_fast = false;
    return options;
}

int test_log_main(int argc, char **argv)
{
    struct test_log_options options;
    struct criterion_test_set *set;
    int code = TEST_LOG_USAGE;

    open_out();
    if (test_log_options_read(&options, argc, argv, &code))
        return code;
    unsetenv("CRITERION_TEST_PATTERN"); /* it is a filter like --filter */
    set = criterion_initialize();
    if (!criterion_handle_args(options.criterion_count, options.criterion,
                               false) ||
        options.informs)
        code = TEST_LOG_PASSED;
    else
        code = run_tests(set, take_fail_fast(&options), argv[0]);
    criterion_finalize(set);
    test_log_options_free(&options);
    return code;
}

TRACE_API int main(int argc, char **argv)
{
    return test_log_main(argc, argv);
}
