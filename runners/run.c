/* run.c: testlog run PROGRAM... [-- FLAG...]: several programs, one run.
 *
 * Each program writes its own part, with a run.json that is read here; then
 * the whole is written by the code that writes a single program's.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/results/notice.h"
#include "harness/results/run_folder.h"
#include "harness/results/writers.h"
#include "harness/runner/supervisor.h"
#include "runners.h"

struct programs {
    char **paths;
    char **folders; /* of each in the run, once it ran */
    int count;
    char **flags; /* for each of them */
    int flag_count;
};

/* ---- Running a program ---- */

/* A program that says nothing of its own counts as one test. */
static void add_program(struct test_log_run *run, const char *folder,
                        enum test_log_outcome outcome, const char *reason)
{
    struct test_log_result *result = test_log_run_add(run);

    if (!result)
        return;
    result->program = strdup(folder);
    result->test = strdup(folder);
    result->outcome = outcome;
    result->reason = reason ? strdup(reason) : NULL;
    test_log_jsonl_result(result);
}

static int start(const struct programs *programs, char *path,
                 struct handover *handover)
{
    char **argv = calloc((size_t)programs->flag_count + 2, sizeof(*argv));
    int status;

    if (!argv)
        return -ENOMEM;
    argv[0] = path;
    memcpy(argv + 1, programs->flags,
           (size_t)programs->flag_count * sizeof(*argv));
    fflush(NULL);
    status = runners_spawn(path, argv, handover);
    free(argv);
    return status;
}

static void explain(char *reason, size_t size, int status, enum told told)
{
    if (status < 0)
        snprintf(reason, size, "cannot be run: %s", strerror(-status));
    else if (WIFSIGNALED(status))
        snprintf(reason, size, "the program died of %s",
                 test_log_signal(WTERMSIG(status)));
    else
        snprintf(reason, size, "the program exited with %d%s",
                 WEXITSTATUS(status),
                 told == TOLD_PARTLY ? " before its tests ended" : "");
}

/* Judges how a program ended. One that told of nothing counts by its exit
 * status alone. */
static int judge(struct test_log_run *run, const char *folder, int status,
                 enum told told)
{
    char reason[128];
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;

    if (status >= 0 && code == 3)
        return TEST_LOG_USAGE; /* Criterion's word for a bad pattern */
    if (status >= 0 && (code == TEST_LOG_USAGE || code == TEST_LOG_NO_TEST))
        return code;
    if (status >= 0 && told == TOLD_ALL && (code == 0 || code == 1))
        return code;
    if (told && code > TEST_LOG_SIGNAL && runners_interrupted())
        return TEST_LOG_PASSED; /* its results tell the rest */
    if (status >= 0 && code == 0 && !told) {
        add_program(run, folder, TEST_LOG_OUTCOME_PASSED, NULL);
        return TEST_LOG_PASSED;
    }
    explain(reason, sizeof(reason), status, told);
    add_program(run, folder,
                code == 1 && !told ? TEST_LOG_OUTCOME_FAILED
                                   : TEST_LOG_OUTCOME_CRASHED,
                reason);
    return TEST_LOG_FAILED;
}

/* 2 beats 1 beats 0; 4 only if every program says 4. */
static int worse(int all, int one)
{
    if (all == TEST_LOG_USAGE || one == TEST_LOG_USAGE)
        return TEST_LOG_USAGE;
    if (all == TEST_LOG_NO_TEST)
        return one;
    if (one == TEST_LOG_NO_TEST)
        return all;
    return all > one ? all : one;
}

/* ---- What the last run tells ---- */

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* What a program is called in a run of all of them, to be freed. */
static char *usual_name(const struct programs *programs, int number)
{
    const char *base = base_of(programs->paths[number]);
    unsigned same = 1;

    for (int i = 0; i < number; i++)
        same += !strcmp(base_of(programs->paths[i]), base);
    return test_log_program_name(base, same);
}

/* For --failed: whether nothing of a program failed. What is left out stays
 * known: `lines`, if not NULL, are for the next run. */
static bool leave_out(const struct programs *programs, int number,
                      const struct test_log_history *last,
                      struct trace_text *lines)
{
    char *name = usual_name(programs, number);
    bool out = name && test_log_history_has(last, name) &&
               !test_log_history_failed(last, name);

    if (out && lines)
        test_log_history_carry(last, name, lines);
    free(name);
    return out;
}

static bool leave_all_out(const struct programs *programs,
                          const struct test_log_history *last)
{
    for (int i = 0; i < programs->count; i++)
        if (!leave_out(programs, i, last, NULL))
            return false;
    return true;
}

/* Tells a program how far the run is. */
static void export_others(const struct programs *programs, int number,
                          const struct test_log_run *run,
                          const struct test_log_history *last)
{
    struct test_log_others others = {.done = run->count,
                                     .failed = test_log_run_sums(run).failed,
                                     .number = (unsigned)number + 1,
                                     .count = (unsigned)programs->count};

    for (int i = number + 1; i < programs->count; i++) {
        char *name = usual_name(programs, i);

        for (size_t t = 0; name && t < last->count; t++) {
            const struct test_log_past *past = &last->tests[t];

            if (strcmp(past->program, name))
                continue;
            others.to_come++;
            others.time += past->duration;
        }
        free(name);
    }
    test_log_others_export(&others);
}

static void export_last(const struct programs *programs, int number,
                        const struct test_log_history *last)
{
    char *name = usual_name(programs, number);

    if (last->path)
        setenv("TESTLOG_LAST", last->path, 1);
    if (name)
        setenv("TESTLOG_PROGRAM", name, 1);
    free(name);
}

static int run_program(struct test_log_run *run, struct programs *programs,
                       int number, bool *first)
{
    char *path = programs->paths[number];
    char *name = usual_name(programs, number);
    char *folder = name ? test_log_program_folder(run, name) : NULL;
    struct handover handover;
    int status, code;

    free(name);
    if (!folder) {
        test_log_notice("out of memory: %s does not run", path);
        return TEST_LOG_FAILED;
    }
    programs->folders[number] = folder;
    runners_handover_begin(&handover);
    status = start(programs, path, &handover);
    code = judge(run, folder, status,
                 runners_merge(run, folder, &handover, first));
    runners_handover_end(&handover);
    return code;
}

/* Runs one program after the other, until something ends the run. */
static int run_programs(struct test_log_run *run, struct programs *programs,
                        const struct test_log_options *options,
                        const struct test_log_history *last)
{
    int code = TEST_LOG_NO_TEST, left = 0;
    bool first = true;

    for (int i = 0; i < programs->count; i++) {
        bool stopped = runners_interrupted() ||
                       (options->fail_fast && code == TEST_LOG_FAILED);

        if (options->failed && leave_out(programs, i, last, &run->left_out))
            continue;
        left += stopped;
        if (stopped)
            continue;
        export_last(programs, i, last);
        export_others(programs, i, run, last);
        code = worse(code, run_program(run, programs, i, &first));
    }
    run->interrupted = runners_interrupted();
    if (left)
        test_log_notice("%d %s did not run: %s", left,
                        left == 1 ? "program" : "programs",
                        run->interrupted ? "interrupted" : "--fail-fast");
    return run->interrupted ? TEST_LOG_SIGNAL + run->interrupted : code;
}

/* When no test matched, each program says which one may be meant. */
static void suggest(const struct programs *programs)
{
    setenv("TESTLOG_SUGGEST", "1", 1);
    for (int i = 0; i < programs->count; i++)
        start(programs, programs->paths[i], NULL);
}

/* Each program for itself, where there is nothing to merge. */
static int run_apart(const struct programs *programs)
{
    int code = TEST_LOG_NO_TEST;

    for (int i = 0; i < programs->count && !runners_interrupted(); i++) {
        int status = start(programs, programs->paths[i], NULL);
        int one = status >= 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;

        if (one == 3)
            one = TEST_LOG_USAGE;
        else if (one != TEST_LOG_PASSED && one != TEST_LOG_USAGE &&
                 one != TEST_LOG_NO_TEST)
            one = TEST_LOG_FAILED;
        code = worse(code, one);
    }
    return runners_interrupted() ? TEST_LOG_SIGNAL + runners_interrupted()
                                 : code;
}

/* ---- The whole ---- */

void runners_write(const struct test_log_run *run)
{
    if (test_log_write_run_json(run, "run.json") ||
        test_log_history_write(run, "results.tsv") ||
        test_log_write_junit(run, "junit.xml") ||
        test_log_write_trace(run, "trace.json"))
        test_log_notice("cannot write to %s: %s; the results are those below",
                        run->path, strerror(errno));
}

static bool failed_in(const struct test_log_run *run, const char *folder)
{
    for (size_t i = 0; folder && i < run->count; i++)
        if (test_log_outcome_bad(run->results[i].outcome) &&
            !strcmp(run->results[i].program, folder))
            return true;
    return false;
}

/* Whether a failed test has a name to filter by. */
static bool names_tests(const struct test_log_run *run)
{
    for (size_t i = 0; i < run->count; i++)
        if (test_log_outcome_bad(run->results[i].outcome) &&
            run->results[i].suite)
            return true;
    return false;
}

/* The command with those programs that `run` has failures of, or with all. */
static char *command_of(const struct programs *programs,
                        const struct test_log_run *run)
{
    struct trace_text text = {0};

    test_log_add_word(&text, program_invocation_name);
    trace_text_string(&text, " run");
    for (int i = 0; i < programs->count; i++)
        if (!run || failed_in(run, programs->folders[i])) {
            trace_text_char(&text, ' ');
            test_log_add_word(&text, programs->paths[i]);
        }
    if (run && names_tests(run))
        trace_text_string(&text, " --");
    return text.data;
}

void runners_copy_settings(struct test_log_run *run,
                           const struct test_log_options *options)
{
    run->show = strdup(options->show.value);
    run->show_origin = strdup(options->show.origin);
    run->record = strdup(options->record.value);
    run->record_origin = strdup(options->record.origin);
}

static void say_no_match(const struct programs *programs,
                         const struct test_log_options *options)
{
    test_log_notice("no test of any program matched%s",
                    options->pass_with_no_tests
                        ? ", so none ran (--pass-with-no-tests)"
                        : "");
    if (options->pattern_count && !options->pass_with_no_tests)
        suggest(programs);
}

static void finish(const struct test_log_run *run,
                   const struct programs *programs,
                   const struct test_log_options *options, int code)
{
    char *rerun = command_of(programs, run);

    runners_write(run);
    test_log_reports_write(run, &options->output);
    test_log_print_unseen(run);
    test_log_gpu_print(&run->gpu);
    if (code == TEST_LOG_NO_TEST)
        say_no_match(programs, options);
    if (code == TEST_LOG_PASSED)
        test_log_print_empty_shard(run);
    test_log_print_slow(run, &options->output);
    test_log_print_summary(run, rerun ? rerun : "testlog run");
    test_log_github_end(run);
    test_log_print_closing(run, &options->output);
    free(rerun);
}

/* A run that was removed as soon as it was made has a path all the same;
 * programs make its folders again. */
static int make_absolute(const char *path, char *absolute)
{
    char here[PATH_MAX];
    int size;

    if (realpath(path, absolute))
        return 0;
    if (path[0] == '/')
        size = snprintf(absolute, PATH_MAX, "%s", path);
    else if (getcwd(here, sizeof(here)))
        size = snprintf(absolute, PATH_MAX, "%s/%s", here, path);
    else
        return -1;
    return size < PATH_MAX ? 0 : -1;
}

static int run_all(struct programs *programs, struct test_log_options *options,
                   const struct test_log_history *last)
{
    struct test_log_run run = {.start = trace_anchor_now(),
                               .dir_given = options->dir_given};
    struct test_log_filters filters;
    char absolute[PATH_MAX], number[16];
    int code;

    run.command = command_of(programs, NULL);
    if (options->informs || test_log_run_open(&run, options->dir, NULL) ||
        make_absolute(run.path, absolute)) {
        test_log_reports_apart(options->informs ? NULL : &options->output);
        code = run_apart(programs);
        test_log_run_free(&run);
        return code;
    }
    test_log_reports_begin(&options->output, true);
    test_log_jsonl_open(&run, &options->output);
    setenv("TESTLOG_RUN", absolute, 1);
    snprintf(number, sizeof(number), "%ld", (long)getpid());
    setenv("TESTLOG_RUNNER", number, 1);
    test_log_gpu_hint();
    test_log_filters_check(&filters, options, true);
    run.gpu.asked = options->profiler.given || test_log_filters_ask(&filters);
    test_log_filters_print(options);
    runners_copy_settings(&run, options);
    run.shard = options->shard;
    code = run_programs(&run, programs, options, last);
    test_log_jsonl_close(NULL);
    test_log_filters_print_compiled_out(&filters, &run);
    finish(&run, programs, options, code);
    if (code == TEST_LOG_NO_TEST && options->pass_with_no_tests)
        code = TEST_LOG_PASSED;
    runners_compress(&run, &options->profiler);
    test_log_filters_free(&filters);
    test_log_run_free(&run);
    return code;
}

/* A run inside a test is a run of its own. */
static void leave_others(void)
{
    static const char *const variables[] = {
        "TESTLOG_RUN",     "TESTLOG_LAST",
        "TESTLOG_SUGGEST", TEST_LOG_HANDOVER_VARIABLE,
        "BXFI_MAP",        "GMON_OUT_PREFIX",
        TRACE_INVITATION};

    for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++)
        unsetenv(variables[i]);
}

static int begin(struct programs *programs, struct test_log_options *options)
{
    struct test_log_run none = {0};
    struct test_log_history last;
    int code = TEST_LOG_PASSED;

    leave_others();
    for (int i = 0; i < programs->count; i++)
        test_log_trust_program(programs->paths[i]);
    runners_take_signals();
    test_log_history_read(&last, options->dir);
    if (options->failed && !options->informs && !last.count)
        test_log_notice("--failed: %s has no last run that tells what failed; "
                        "all tests run",
                        options->dir);
    if (options->failed && leave_all_out(programs, &last)) {
        test_log_notice("nothing failed in the last run, %s", last.path);
        test_log_print_closing(&none, &options->output);
    } else {
        code = run_all(programs, options, &last);
    }
    test_log_history_free(&last);
    return code;
}

static void usage(void)
{
    puts("Usage: testlog run PROGRAM... [-- FLAG...]\n\n"
         "Runs test programs one after another as one run, with one summary.\n"
         "The flags are for each of them; PROGRAM --help lists them.");
}

static int read_arguments(struct programs *programs, int argc, char **argv)
{
    int i = 1;

    programs->paths = argv + 1;
    for (; i < argc && strcmp(argv[i], "--"); i++)
        if (argv[i][0] == '-') {
            test_log_notice("unknown flag %s; flags for the programs stand "
                            "behind --",
                            argv[i]);
            return -1;
        }
    programs->folders = calloc((size_t)i, sizeof(*programs->folders));
    if (!programs->folders)
        return -1;
    programs->count = i - 1;
    programs->flags = argv + (i < argc ? i + 1 : i);
    programs->flag_count = i < argc ? argc - i - 1 : 0;
    if (programs->count)
        return 0;
    fputs("testlog: run: name a program; testlog run --help says more\n",
          stderr);
    return -1;
}

static void free_programs(struct programs *programs)
{
    for (int i = 0; i < programs->count; i++)
        free(programs->folders[i]);
    free(programs->folders);
}

/* Refuses bad flags and variables before any program runs. */
static int check_flags(const struct programs *programs, char *name,
                       struct test_log_options *options, int *code)
{
    char **flags = calloc((size_t)programs->flag_count + 2, sizeof(*flags));
    int status = -1;

    if (flags) {
        flags[0] = name;
        memcpy(flags + 1, programs->flags,
               (size_t)programs->flag_count * sizeof(*flags));
        status = test_log_options_read(options, programs->flag_count + 1, flags,
                                       code);
    }
    free(flags);
    return status;
}

int runners_run(int argc, char **argv)
{
    struct programs programs = {0};
    struct test_log_options options;
    int code = TEST_LOG_USAGE;

    if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
        usage();
        return 0;
    }
    if (!read_arguments(&programs, argc, argv) &&
        !check_flags(&programs, argv[0], &options, &code)) {
        test_log_bazel_begin();
        code = begin(&programs, &options);
        test_log_options_free(&options);
        test_log_bazel_end();
    }
    free_programs(&programs);
    return code;
}
