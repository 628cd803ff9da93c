/* test_log_main.c: runs the tests of a program, from its arguments to its exit
 * code. */
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/options.h>
#include <testlog/test_log.h>

#include "harness/criterion/logger.h"
#include "harness/criterion/plan/plan.h"
#include "harness/criterion/program/program.h"
#include "harness/criterion/watch/jobs.h"
#include "harness/criterion/watch/progress.h"
#include "harness/criterion/watch/supervisor.h"
#include "harness/machine/join_ctest.h"
#include "harness/machine/notice.h"
#include "harness/machine/preflight.h"
#include "harness/options/filters.h"
#include "harness/options/options.h"
#include "harness/run/files/writers.h"
#include "harness/run/folder/scratch.h"
#include "harness/run/past/history.h"
#include "harness/run/program_run.h"
#include "harness/session.h"
#include "harness/symbols/symbols.h"
#include "runner.h"

/* ---- The end ---- */

/* Whether the pattern comes from a variable, which may be for other programs,
 * too. */
static bool is_for_others(const struct test_log_options *options)
{
    return options->pattern_count && !options->word_count &&
           strncmp(options->pattern_origin, "--", 2) != 0;
}

static bool finds_tests(void)
{
    return !access("/proc/self", F_OK);
}

/* Whether the program has no tests, so that no filter is wrong. */
static bool is_empty(const struct test_log_options *options)
{
    return finds_tests() && !test_log_options_select(options);
}

static int no_test_code(const struct test_log_run *run,
                        const struct test_log_options *options)
{
    if (is_empty(options))
        return TEST_LOG_EXIT_PASSED;
    return !test_log_is_part(run) && finds_tests() &&
                   (options->pass_with_no_tests || is_for_others(options))
               ? TEST_LOG_EXIT_PASSED
               : TEST_LOG_EXIT_NO_TEST;
}

static int exit_code(const struct test_log_run *run,
                     const struct test_log_options *options, size_t matched)
{
    if (run->interrupted)
        return TEST_LOG_EXIT_SIGNAL + run->interrupted;
    if (run->refused)
        return TEST_LOG_EXIT_FAILED;
    if (!matched)
        return no_test_code(run, options);
    if (test_log_run_sums(run).failed && !criterion_options.always_succeed)
        return TEST_LOG_EXIT_FAILED;
    return TEST_LOG_EXIT_PASSED;
}

static void print_no_match(const struct test_log_options *options)
{
    const char *nearest = test_log_plan_nearest();

    if (!finds_tests())
        test_log_notice("Criterion cannot find tests without /proc; mount it");
    else if (is_empty(options))
        test_log_notice("this program has no tests");
    else if (options->pass_with_no_tests)
        test_log_notice("no test matched, so none ran (--pass-with-no-tests)");
    else if (is_for_others(options))
        test_log_notice("%s matched no test of this program, so none ran",
                        options->pattern_origin);
    else if (nearest)
        test_log_notice("no test matched; did you mean %s? --list lists them "
                        "all",
                        nearest);
    else
        test_log_notice("no test matched; --list lists them all");
}

/* Prints the filters, or that they have no effect in a program without
 * annotated tests. */
static void print_filters(const struct test_log_options *options)
{
    struct trace_text shard = {0};

    if (test_log_annotated() || options->all_tests)
        test_log_filters_print(options);
    else if (strcmp(options->show.origin, "default"))
        test_log_notice("%s has no effect: no test is annotated, or the "
                        "program was built without -DTRACING; --all-tests logs "
                        "all tests",
                        options->show.origin);
    if (test_log_annotated() || options->all_tests || options->output.quiet ||
        options->output.report_on_stdout)
        return;
    test_log_shard_text(&shard, &options->shard);
    if (shard.data)
        test_log_notice("%s", shard.data);
    trace_text_free(&shard);
}

/* A weak reference does not link anything. */
#pragma weak test_log_expect_

/* Tests that assert on records need all of them. */
static void record_all(struct test_log_options *options)
{
    if (!test_log_expect_)
        return;
    if (strcmp(options->record.origin, "default"))
        test_log_notice("%s has no effect: tests assert on records "
                        "(log_expect_*), so all are kept",
                        options->record.origin);
    options->record = (struct test_log_setting){"trace", "log_expect"};
}

static int run_watched(struct criterion_test_set *set,
                       struct test_log_options *options,
                       const struct test_log_history *history,
                       struct test_log_run *run)
{
    struct test_log_runner *runner = &test_log_runner;
    struct test_log_filters filters;
    size_t matched;

    test_log_filters_check(&filters, options, !test_log_is_part(run));
    record_all(options);
    run->gpu.no_leaks = options->profiler.gpu_leaks == TRACE_GPU_LEAKS_OFF;
    run->gpu.asked =
        options->profiler.asks_gpu || test_log_filters_ask(&filters);
    if (!test_log_is_part(run))
        print_filters(options);
    test_log_stdio_outlive();
    test_log_reports_begin(run, &options->output, false);
    *runner = (struct test_log_runner){
        .options = options, .history = history, .run = run};
    test_log_supervisor_begin(runner);
    test_log_run_tests(runner, set);
    matched = runner->matched;
    if (run->count && run->annotated)
        test_log_filters_find_unmatched(&filters, run);
    test_log_functions_find_unmatched(run, options);
    if (!matched && !test_log_is_part(run))
        print_no_match(options);
    test_log_program_end(run, options, &filters, history, matched);
    test_log_supervisor_end();
    test_log_jobs_free(runner);
    test_log_filters_free(&filters);
    return exit_code(run, options, matched);
}

/* No test runs, and `latest` does not change. */
static int print_nothing_failed(const struct test_log_run *run,
                                const struct test_log_options *options)
{
    if (test_log_is_part(run)) { /* testlog run prints it, for all programs */
        test_log_handover_run(run);
        return TEST_LOG_EXIT_NO_TEST;
    }
    test_log_notice(TEST_LOG_NONE_FAILED);
    test_log_print_closing(run, &options->output);
    return TEST_LOG_EXIT_PASSED;
}

static int run_tests(struct criterion_test_set *set,
                     struct test_log_options *options, char **argv)
{
    const char *program = argv[0];
    struct test_log_run run;
    struct test_log_history history;
    int code = TEST_LOG_EXIT_USAGE;

    setlocale(LC_NUMERIC, "C"); /* numbers in files have a decimal point */
    test_log_program_begin(&run, argv);
    if (!test_log_is_part(&run) && !test_log_scratch_check(options->scratch))
        goto out;
    run.annotated = test_log_annotated() || options->all_tests;
    test_log_history_open(
        &history, test_log_is_part(&run) ? NULL : options->dir,
        test_log_session()->history, test_log_flavour_given(options));
    test_log_history_read(&history, test_log_rerun_name(program));
    test_log_shard_recall_program(options, &history,
                                  test_log_rerun_name(program));
    if (!test_log_rerun_choose(options, &history, program))
        code = print_nothing_failed(&run, options);
    else
        code = run_watched(set, options, &history, &run);
    test_log_history_free(&history);
out:
    test_log_run_free(&run);
    return code;
}

/* ---- The beginning ---- */

/* Links functions that a test's annotated shared objects may call. In the
 * static library, nothing else needs their files. */
static __attribute__((used)) const uintptr_t for_shared_objects[] = {
    (uintptr_t)trace_bridge_,    (uintptr_t)trace_bridge_text_,
    (uintptr_t)trace_stack_save, (uintptr_t)trace_stack_restore,
    (uintptr_t)trace_start,      (uintptr_t)trace_stop,
};

/* Prints a suggestion for `testlog run`, when no program had a match. */
static int suggest(struct criterion_test_set *set,
                   const struct test_log_options *options)
{
    test_log_plan_select(set, options);
    if (test_log_plan_nearest())
        test_log_notice("did you mean %s?", test_log_plan_nearest());
    return TEST_LOG_EXIT_NO_TEST;
}

static int list_sites(void)
{
    if (!test_log_list_sites(stdout))
        return TEST_LOG_EXIT_PASSED;
    test_log_notice("--list-sites: cannot write to standard output: %s",
                    strerror(errno));
    return TEST_LOG_EXIT_FAILED;
}

static int list_json(struct criterion_test_set *set,
                     const struct test_log_options *options,
                     const struct test_log_history *history, const char *name)
{
    int failed;

    test_log_shard_select(set, options, name);
    failed = test_log_list_json(set, options, history, name);
    if (failed)
        test_log_notice("--list: cannot write to standard output: %s",
                        strerror(errno));
    test_log_plan_free();
    return failed ? TEST_LOG_EXIT_FAILED : TEST_LOG_EXIT_PASSED;
}

/* Criterion lists tests, but ignores filters and shards. */
static int inform(struct criterion_test_set *set,
                  struct test_log_options *options, const char *program)
{
    const char *name = test_log_rerun_name(program);
    struct test_log_history history;
    int code = TEST_LOG_EXIT_PASSED;

    if (!options->list)
        return TEST_LOG_EXIT_PASSED;
    test_log_history_open(&history, options->dir, NULL,
                          test_log_flavour_given(options));
    test_log_history_read(&history, name);
    test_log_shard_recall_program(options, &history, name);
    if (options->list_form)
        code = list_json(set, options, &history, name);
    else
        test_log_shard_list(set, options, name);
    test_log_history_free(&history);
    return code;
}

/* At the first failure, Criterion would kill the runner and lose its results.
 * We stop starting tests instead. */
static struct test_log_options *take_fail_fast(struct test_log_options *options)
{
    options->fail_fast |= criterion_options.fail_fast;
    criterion_options.fail_fast = false;
    return options;
}

/* Criterion creates its own process group, but the terminal sends ^C to the
 * group of make or of the shell's job. So the runner moves back there. */
static struct criterion_test_set *initialize(void)
{
    pid_t group = getpgrp();
    struct criterion_test_set *set;

    signal(SIGCHLD, SIG_DFL); /* otherwise Criterion waits forever */
    __asm__ volatile("" : : "r"(&git_libgit2_init), "r"(&nn_bind)); /* links */
    test_log_tracees_hide();
    set = criterion_initialize();
    if (group != getpid())
        setpgid(0, group);
    return set;
}

/* Weak, so that this reference does not link it. */
#pragma weak test_log_all

int test_log_main(int argc, char **argv)
{
    struct test_log_options options = {
        .all_tests = &test_log_all || test_log_session()->preload};
    struct criterion_test_set *set;
    int code = TEST_LOG_EXIT_USAGE;

    test_log_join_ctest(true);
    test_log_stdio_hold();
    test_log_open_out();
    if (test_log_options_read(&options, argv, &code))
        return code;
    if (test_log_shard_read_durations(&options) ||
        !test_log_criterion_suits() ||
        test_log_start_valgrind(&options, argc, argv)) {
        test_log_options_free(&options);
        return TEST_LOG_EXIT_USAGE;
    }
    if (options.list_sites) {
        code = list_sites();
        test_log_options_free(&options);
        return code;
    }
    test_log_bazel_begin(test_log_session());
    unsetenv("CRITERION_TEST_PATTERN"); /* read as --filter */
    unsetenv("CRITERION_OUTPUTS");      /* read as --output */
    unsetenv(TRACE_INVITATION);         /* tests have their own recordings */
    test_log_name_functions();
    set = initialize();
    if (!criterion_handle_args(options.criterion_count, options.criterion,
                               false) ||
        options.informs)
        code = inform(set, &options, argv[0]);
    else if (test_log_session()->suggest)
        code = suggest(set, &options);
    else if (test_log_preflight_descriptors() && test_log_preflight_memory())
        code = run_tests(set, take_fail_fast(&options), argv);
    criterion_finalize(set);
    test_log_options_free(&options);
    test_log_valgrind_end();
    test_log_bazel_end();
    return code;
}
