/* run_tests.c: runs all tests of a set, from Criterion's hook before the first
 * worker to the end of the last retry.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/hooks.h>

#include "harness/criterion/logger.h"
#include "harness/criterion/plan/plan.h"
#include "harness/criterion/watch/jobs.h"
#include "harness/criterion/watch/progress.h"
#include "harness/criterion/watch/sampling.h"
#include "harness/criterion/watch/supervisor.h"
#include "harness/machine/notice.h"
#include "harness/options/options.h"
#include "harness/run/files/writers.h"
#include "harness/session.h"
#include "runner.h"

/* ---- Serial tests ---- */

static bool is_serial(const struct criterion_test *test)
{
    const struct test_log_job *job = test_log_job_of(&test_log_runner, test);

    return job && job->serial;
}

static bool is_not_serial(const struct criterion_test *test)
{
    return !is_serial(test);
}

/* Leaves in the set the tests that are serial, or those that are not; returns
 * how many others there are. */
static size_t leave_only(struct test_log_runner *runner,
                         struct criterion_test_set *set, bool serial)
{
    size_t others;

    runner->serial = serial;
    criterion_options.jobs = serial ? 1 : runner->at_once;
    test_log_plan_release(set);
    others = test_log_plan_hold(set, serial ? is_not_serial : is_serial);
    test_log_plan_seal(set);
    return others;
}

/* Serial tests run after all others. */
static void begin_first_part(struct test_log_runner *runner,
                             struct criterion_test_set *set)
{
    if (leave_only(runner, set, false) && !set->tests)
        leave_only(runner, set, true);
}

static bool begin_second_part(struct test_log_runner *runner,
                              struct criterion_test_set *set)
{
    bool some = false;

    test_log_supervisor_enter();
    if (!runner->serial) {
        leave_only(runner, set, true);
        test_log_spawn_again();
        some = set->tests;
    }
    test_log_supervisor_leave();
    return some;
}

/* Runs all tests of the set once. */
static void run_once(struct test_log_runner *runner,
                     struct criterion_test_set *set)
{
    criterion_run_all_tests(set);
    if (begin_second_part(runner, set)) {
        test_log_turn_take(runner);
        criterion_run_all_tests(set);
    }
    test_log_supervisor_enter();
    test_log_plan_release(set);
    test_log_logger_render();
    test_log_supervisor_leave();
}

/* ---- The hook ---- */

extern int main(int, char **);

/* In a shared Criterion, main is beside its other functions. */
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
              : "testlog: this program has its own main, so nothing is "
                "recorded: call test_log_main(argc, argv) there instead of "
                "Criterion's functions\n",
          stderr);
}

/* Prints why instructions are not counted; the tests run all the same. */
static void check_counter(const struct test_log_options *options)
{
    bool wanted = options->profiler.instructions && !options->callgrind;
    int counter = wanted ? trace_count_instructions(false) : -1;

    if (counter >= 0)
        close(counter);
    else if (wanted && (errno == EACCES || errno == EPERM))
        test_log_notice("instructions are not counted: the kernel refuses it; "
                        "set kernel.perf_event_paranoid to 2 or less, let the "
                        "container call perf_event_open, or use --callgrind");
    else if (wanted)
        test_log_notice("instructions are not counted: this machine has no "
                        "counters for programs (%s), as is usual in virtual "
                        "machines; use --callgrind",
                        strerror(errno));
}

static void before_all(struct criterion_test_set *set)
{
    static bool prepared;

    if (!test_log_runner.options) {
        advise();
        return;
    }
    if (prepared) /* this is a retry */
        return;
    prepared = true;
    test_log_supervisor_enter();
    test_log_prepare_run(&test_log_runner, set);
    test_log_logger_install();
    test_log_sampling_begin(test_log_runner.options->sample,
                            test_log_runner.options->unwinds);
    check_counter(test_log_runner.options);
    test_log_runner.at_once = criterion_options.jobs; /* 1 with --debug */
    begin_first_part(&test_log_runner, set);
    test_log_supervisor_leave();
    test_log_turn_take(&test_log_runner);
}

/* Listed by hand: Criterion's ReportHook is lost with -flto. */
__attribute__((used, retain, section("cr_pra")))
test_log_hook *const test_log_before_all = before_all;

/* ---- A run ---- */

static bool begin_retry(struct test_log_runner *runner,
                        struct criterion_test_set *set, size_t number)
{
    size_t count = 0;

    test_log_supervisor_enter();
    if (!runner->stopped)
        count = test_log_prepare_retry(runner, set, number);
    if (count) {
        test_log_notice("try %zu of %zu: %zu %s", number,
                        runner->run->retries + 1, count,
                        count == 1 ? "test" : "tests");
        begin_first_part(runner, set);
    }
    test_log_supervisor_leave();
    return count != 0;
}

static void run_tries(struct test_log_runner *runner,
                      struct criterion_test_set *set)
{
    run_once(runner, set);
    for (size_t number = 2; begin_retry(runner, set, number); number++) {
        test_log_turn_take(runner);
        run_once(runner, set);
    }
}

void test_log_run_tests(struct test_log_runner *runner,
                        struct criterion_test_set *set)
{
    test_log_copy_settings(runner->run, runner->options);
    run_tries(runner, set);
    test_log_turn_end();
    test_log_supervisor_enter();
    test_log_progress_end();
    test_log_trees_finish();
    test_log_logger_end();
    test_log_sampling_end();
    test_log_jsonl_close(runner->run);
    test_log_supervisor_leave();
    test_log_plan_free();
}
