/* show.c: testlog show: prints again what a run has printed: its failures, its
 * summary and its closing line. */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "harness/machine/notice.h"
#include "harness/options/options.h"
#include "harness/run/files/writers.h"
#include "harness/run/folder/run_folder.h"
#include "harness/run/past/history.h"
#include "harness/run/terminal/terminal.h"
#include "report_page.h"
#include "runners/runners.h"
#include "runners/runs/find.h"
#include "runners/runs/run_json.h"

/* Leaves the tests that words select; false if there are none. */
static bool select_tests(struct test_log_run *run, char **words)
{
    struct selectable *tests = calloc(run->count + 1, sizeof(*tests));
    size_t left = 0;

    for (size_t i = 0; tests && i < run->count; i++)
        tests[i] =
            (struct selectable){.name = strdup(test_log_name(&run->results[i])),
                                .title = run->results[i].title};
    if (tests)
        runners_select_tests(words, tests, run->count);
    for (size_t i = 0; tests && i < run->count; i++) {
        struct test_log_result result = run->results[i];

        free((char *)tests[i].name);
        if (!tests[i].selected)
            continue;
        run->results[i] = run->results[left];
        run->results[left++] = result;
    }
    while (tests && run->count > left)
        test_log_run_drop(run);
    free(tests);
    return left;
}

/* Prints the tries that failed before the last one, then the test. */
static void show_test(const struct test_log_run *run,
                      struct test_log_result *result,
                      const struct test_log_options *options)
{
    bool chosen = !strcmp(options->show.origin, "--log");
    struct trace_reader *reader;

    result->retries = result->earlier_count;
    for (size_t i = 0; i < result->earlier_count; i++) {
        struct test_log_result try = *result;

        test_log_take_try(&try, i);
        try.earlier_count = i;
        if (test_log_outcome_bad(try.outcome))
            test_log_print_try(run, &try);
    }
    if (!test_log_outcome_bad(result->outcome) && !options->output.show_output)
        return;
    reader = chosen ? NULL : test_log_recording(run, result);
    free(result->filter);
    result->filter = chosen ? strdup(options->show.value)
                     : reader
                         ? strdup(trace_reader_meta(reader, "log") ?: "info")
                         : NULL;
    trace_reader_close(reader);
    test_log_print_block(run, result, &options->output);
}

/* The number of a signal by its name, "SIGINT"; 0: none. */
static int signal_of(const char *name)
{
    for (int number = 1; name && number < NSIG; number++)
        if (!strcmp(test_log_signal(number), name))
            return number;
    return 0;
}

static int code_of(const struct test_log_run *run)
{
    struct test_log_sums sums = test_log_run_sums(run);

    if (run->interrupted)
        return TEST_LOG_EXIT_SIGNAL + run->interrupted;
    if (sums.failed || run->unfinished)
        return TEST_LOG_EXIT_FAILED;
    return sums.passed + sums.skipped ? TEST_LOG_EXIT_PASSED
                                      : TEST_LOG_EXIT_NO_TEST;
}

/* Replaces "latest" by the name of the run. */
static void resolve(char path[PATH_MAX])
{
    char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    char target[NAME_MAX + 1] = "";

    if (readlink(path, target, NAME_MAX) > 0 && !strchr(target, '/') &&
        strlen(target) < (size_t)(path + PATH_MAX - name))
        strcpy(name, target);
}

static int show(const char *found, char **words,
                struct test_log_options *options)
{
    struct test_log_run run = {.open = runners_open_in}, shown;
    struct test_log_history none = {.count = 0};
    char where[PATH_MAX], *rerun;
    cJSON *head = NULL;
    int code = TEST_LOG_EXIT_USAGE;

    snprintf(where, sizeof(where), "%s", found);
    resolve(where);
    options->output.vanishes = runners_pack_of(where);
    if (runners_read_run(&run, where, &head)) {
        runners_recordings_refuse("show", where, words);
    } else if (*words && !select_tests(&run, words)) {
        test_log_notice("show: no test of the run matches %s", *words);
    } else {
        test_log_out = stdout;
        run.took = runners_json_number(head, "duration_ns");
        run.start.monotonic = run.took; /* there is a time to print */
        run.flagless =
            cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(head, "flags"));
        run.interrupted = signal_of(runners_json_text(head, "interrupted"));
        for (size_t i = 0; i < run.count; i++)
            show_test(&run, &run.results[i], options);
        test_log_print_slow(&run, &options->output);
        test_log_print_times(&run, &options->output, &none);
        shown = run;
        shown.path = (char *)runners_name_of(where);
        rerun = runners_rerun_of(&run, where, false);
        test_log_print_summary(&shown, rerun, NULL);
        free(rerun);
        if (!options->output.vanishes)
            test_log_show_page(&run, &options->output);
        test_log_out = NULL;
        if (run.unfinished)
            test_log_notice("show: the run did not finish; these are the tests "
                            "that are known");
        test_log_print_closing(&run, &options->output);
        code = runners_written("show", code_of(&run));
    }
    cJSON_Delete(head);
    test_log_run_free(&run);
    return code;
}

/* ---- Arguments ---- */

static bool shows(const struct test_log_flag *flag)
{
    return flag->shows;
}

static const struct test_log_flag flags[] = {TEST_LOG_HELP};

static int run(char **argv)
{
    struct test_log_options options = {.bystander = true};
    struct test_log_passed passed = {0};
    const char *where;
    int code;

    if (test_log_flags_read(&runners_show, NULL, &argv, &passed, &code) &&
        !test_log_options_read(&options, passed.words, &code)) {
        options.output.style.color = test_log_color(options.color, stdout);
        where = runners_run_of(&argv);
        code = where ? show(where, argv, &options) : TEST_LOG_EXIT_USAGE;
        test_log_options_free(&options);
    }
    test_log_passed_free(&passed);
    return code;
}

const struct test_log_command runners_show = {
    .name = "show",
    .help = "print a run's failures and summary again",
    .synopsis = "[RUN] [TEST...] [FLAG...]",
    .text = "Prints again what a run has printed, also one of another machine: "
            "the failed tests, the summary and the closing line. Exits with "
            "the exit code of the run. TEST is suite/test, a part of it, or a "
            "pattern. RUN is the folder of a run, a pack, or a name in testlog "
            "list; the default is the latest run.",
    TEST_LOG_FLAGS(flags),
    .other = &test_log_program,
    .takes = shows,
    .lists = true,
    .operand = "TEST",
    .run = run,
};
