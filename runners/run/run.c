/* run.c: testlog run: runs several programs as one run.
 *
 * Programs send their results; the code for a single program's files then
 * writes those of the whole run.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/criterion/plan/plan.h"
#include "harness/criterion/watch/supervisor.h"
#include "harness/machine/notice.h"
#include "harness/machine/preflight.h"
#include "harness/options/filters.h"
#include "harness/options/options.h"
#include "harness/run/files/writers.h"
#include "harness/run/finish_run.h"
#include "harness/run/folder/run_folder.h"
#include "harness/run/folder/scratch.h"
#include "harness/run/past/history.h"
#include "harness/run/terminal/terminal.h"
#include "harness/session.h"
#include "run.h"
#include "runners/runners.h"
#include "runners/runs/find.h"

/* ---- Without a run ---- */

static int run_program(const struct programs *programs,
                       const struct program *program)
{
    char **argv = runners_launch_argv(programs, program);
    struct child like = {.preload = program->preload, .ctest = program->ctest};
    int status = argv ? runners_spawn(argv[0], argv, &like) : -ENOMEM;

    free(argv);
    return status;
}

/* Runs each program on its own, if there is nothing to merge. */
static int run_apart(const struct programs *programs)
{
    int code = TEST_LOG_EXIT_NO_TEST;

    for (size_t i = 0; i < programs->count && !runners_interrupted(); i++) {
        const struct program *program = &programs->all[i];

        if (!runners_can(program, PROGRAM_CAN(FLAGS))) {
            runners_framework_print_list(program->framework);
            code = runners_worse(code, TEST_LOG_EXIT_PASSED);
            continue;
        }
        test_log_session_export(
            &(struct test_log_session){.part = "1",
                                       .program = program->name,
                                       .test = program->test,
                                       .durations = runners_durations(),
                                       .preload = program->preload,
                                       .nested = test_log_session()->nested});
        code =
            runners_worse(code, runners_code(run_program(programs, program)));
    }
    return runners_interrupted() ? TEST_LOG_EXIT_SIGNAL + runners_interrupted()
                                 : code;
}

/* ---- The whole run ---- */

static bool failed_in(const struct test_log_run *run, const char *folder)
{
    for (size_t i = 0; folder && i < run->count; i++)
        if (test_log_failed(&run->results[i]) &&
            !strcmp(run->results[i].program, folder))
            return true;
    return false;
}

/* A program's tests are adjacent. */
static bool is_first_of_path(const struct programs *programs, size_t number)
{
    return !number ||
           programs->all[number - 1].path != programs->all[number].path;
}

/* The flags that change how the programs run. */
static void add_start(struct trace_text *text, const struct programs *programs)
{
    struct trace_text words = {0};

    for (size_t i = 0; i < programs->launcher_count; i++)
        trace_text_printf(&words, "%s%s", i ? " " : "", programs->launcher[i]);
    if (words.data) {
        trace_text_string(text, " --launch ");
        test_log_add_word(text, words.data);
    }
    trace_text_free(&words);
    if (programs->preload)
        trace_text_string(text, " --preload");
    if (programs->ctest_folder) {
        trace_text_string(text, " --ctest=");
        test_log_add_word(text, programs->ctest_folder);
    }
}

/* The flags for the programs without which a failed test may pass. */
static void add_deciding(struct trace_text *text,
                         const struct programs *programs, bool debugs)
{
    char **argv = runners_programs_argv(programs, (char *)"run");

    if (argv)
        test_log_add_deciding(text, argv, debugs);
    free(argv);
}

/* The command with the programs that have a failure in `run`; with all of them
 * and their flags if it is NULL. */
static char *command_of(const struct programs *programs,
                        const struct test_log_run *run)
{
    bool more = !run && programs->flag_count; /* follows "--" */
    struct trace_text text = {0}, flags = {0};

    test_log_add_word(&text, program_invocation_name);
    trace_text_string(&text, " run");
    add_start(&text, programs);
    for (size_t i = 0; i < programs->count; i++)
        if (!programs->ctest_folder && is_first_of_path(programs, i) &&
            (!run || failed_in(run, programs->all[i].folder))) {
            trace_text_char(&text, ' ');
            test_log_add_word(&text, programs->all[i].path);
        }
    for (size_t i = 0; run && i < run->count; i++) /* a name to filter by */
        more |= test_log_failed(&run->results[i]) && run->results[i].suite;
    if (run)
        add_deciding(&flags, programs, false);
    if (more || flags.size)
        trace_text_string(&text, " --");
    if (!run)
        test_log_add_words(&text, programs->flags);
    trace_text_string(&text, flags.data ? flags.data : "");
    trace_text_free(&flags);
    return text.data;
}

/* The command that runs tests of a program, quoted for a shell; NULL: it takes
 * no names of tests. `debugs`: it goes with --debug-failed. */
static char *quoted(const struct programs *programs,
                    const struct program *program, bool debugs)
{
    bool by_run = program->test || program->preload || program->ctest ||
                  !runners_can(program, PROGRAM_CAN(FLAGS));
    struct trace_text text = {0};

    if (!runners_runs_single_tests(program))
        return NULL;
    if (by_run) {
        test_log_add_word(&text, program_invocation_name);
        trace_text_string(&text, " run");
        add_start(&text, programs);
        if (!program->ctest)
            trace_text_char(&text, ' ');
    }
    if (!program->ctest)
        test_log_add_word(&text, program->path);
    if (by_run)
        trace_text_string(&text, " --");
    add_deciding(&text, programs, debugs);
    return text.data;
}

static void say_no_match(const struct programs *programs,
                         const struct test_log_options *options)
{
    test_log_notice("no test of any program matched%s",
                    options->pass_with_no_tests
                        ? ", so none ran (--pass-with-no-tests)"
                        : "");
    if (!test_log_options_select(options) || options->pass_with_no_tests)
        return;
    /* Each program suggests the test that was probably meant. */
    test_log_session_export(&(struct test_log_session){
        .suggest = "1", .nested = test_log_session()->nested});
    for (size_t i = 0; i < programs->count; i++)
        if (runners_can(&programs->all[i], PROGRAM_CAN(SUGGEST)))
            run_program(programs, &programs->all[i]);
}

/* Whether a test failed that no command can run alone. */
static bool has_unnamed_failure(const struct test_log_run *run,
                                const struct programs *programs)
{
    for (size_t i = 0; i < programs->count; i++) {
        const struct program *program = &programs->all[i];

        for (size_t n = 0;
             n < program->count && !runners_runs_single_tests(program); n++)
            if (test_log_failed(&run->results[program->from + n]))
                return true;
    }
    return false;
}

/* Finds the commands, to be freed, that run failed tests again and debug the
 * first one; none if a test failed that no command can run alone. */
static void find_commands(const struct test_log_run *run,
                          const struct programs *programs, char **rerun,
                          char **debug)
{
    const struct test_log_result *failed = test_log_first_failed(run);

    *rerun = *debug = NULL;
    if (has_unnamed_failure(run, programs))
        return;
    *rerun = programs->join ? runners_ctest_command(programs->join, true)
                            : command_of(programs, run);
    if (!*rerun)
        *rerun = strdup("testlog run");
    for (size_t i = 0; failed && i < programs->count; i++)
        if (programs->all[i].folder &&
            runners_can(&programs->all[i], PROGRAM_CAN(DEBUG)) &&
            !strcmp(programs->all[i].folder, failed->program)) {
            *debug = quoted(programs, &programs->all[i], true);
            return;
        }
}

static void finish(struct test_log_run *run, const struct programs *programs,
                   const struct test_log_options *options,
                   const struct test_log_history *last, int code)
{
    struct test_log_page_program *all =
        calloc(programs->count + 1, sizeof(*all));
    size_t count = all ? programs->count : 0;
    char *command = command_of(programs, run), *rerun, *debug = NULL;

    for (size_t i = 0; i < count; i++) {
        const struct program *program = &programs->all[i];

        all[i] = (struct test_log_page_program){
            .folder = program->folder,
            .command = quoted(programs, program, false),
            .debug = runners_can(program, PROGRAM_CAN(DEBUG))
                         ? quoted(programs, program, true)
                         : NULL};
    }
    test_log_run_finish(
        run,
        &(struct test_log_finish){
            .options = options,
            .page = {.rerun = command, .programs = all, .program_count = count},
            .without = TEST_LOG_WITHOUT(LINES),
            .all = test_log_options_take_all(options),
            .stopped = runners_interrupted});
    for (size_t i = 0; i < count; i++) {
        free(all[i].command);
        free(all[i].debug);
    }
    free(all);
    free(command);
    if (code == TEST_LOG_EXIT_NO_TEST)
        say_no_match(programs, options);
    if (code == TEST_LOG_EXIT_PASSED)
        test_log_print_empty_shard(run);
    find_commands(run, programs, &rerun, &debug);
    test_log_run_print(run, options, last, rerun, debug);
    free(rerun);
    free(debug);
}

/* ctest calls a test skipped that exits with this code. */
enum { SKIPPED_CODE = 77 };

static int finish_joined(struct joined *joined, const struct test_log_run *run,
                         const struct programs *programs,
                         const struct test_log_options *options, int code)
{
    struct test_log_sums sums = test_log_run_sums(run);
    char *rerun, *debug;

    test_log_reports_write(run, &options->output);
    runners_join_end(joined, options);
    find_commands(run, programs, &rerun, &debug);
    test_log_print_summary(run, rerun, debug);
    free(rerun);
    free(debug);
    return code == TEST_LOG_EXIT_PASSED && sums.skipped && !sums.passed
               ? SKIPPED_CODE
               : code;
}

/* If the run was removed right after it was made, its path is still valid:
 * programs make the folders again. */
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

/* Makes the run, or joins that of a ctest, and tells the programs where it
 * is. */
static int open_run(struct test_log_run *run, struct joined *joined,
                    struct programs *programs,
                    const struct test_log_options *options)
{
    char absolute[PATH_MAX];

    if (programs->join && runners_join(joined, run, programs, options))
        test_log_notice("--join: cannot use %s: %s; this is a run of its own",
                        programs->join, strerror(errno));
    if (!test_log_run_open(run, options->dir, NULL) &&
        !make_absolute(run->scratch ? run->scratch : run->path, absolute) &&
        !setenv("TESTLOG_RUN", absolute, 1))
        return 0;
    if (joined->number)
        runners_join_end(joined, options);
    test_log_reports_apart(&options->output);
    return -1;
}

static int run_all(struct programs *programs, struct test_log_options *options,
                   const struct test_log_history *last)
{
    struct test_log_run run = {.start = trace_anchor_now(),
                               .role = test_log_session()->part
                                           ? TEST_LOG_ROLE_APART
                                           : TEST_LOG_ROLE_WHOLE,
                               .parent = {.nested = test_log_session()->nested},
                               .dir_given = options->dir_given,
                               .output = &options->output,
                               .scratch_word = options->scratch};
    struct test_log_filters filters;
    struct joined joined = {.number = 0};
    int code;

    run.command = command_of(programs, NULL);
    if (options->informs || open_run(&run, &joined, programs, options)) {
        code = run_apart(programs);
        test_log_run_free(&run);
        return code;
    }
    test_log_reports_begin(&run, &options->output, true);
    test_log_jsonl_open(&run, &options->output);
    test_log_filters_check(&filters, options, true);
    run.gpu.asked =
        options->profiler.asks_gpu || test_log_filters_ask(&filters);
    test_log_filters_print(options);
    test_log_copy_settings(&run, options);
    runners_programs_recall(programs, last, options->failed);
    code = runners_run_programs(&run, programs, options, last, joined.number);
    runners_preload_explain();
    test_log_jsonl_close(NULL);
    test_log_filters_print_compiled_out(&filters, &run);
    if (joined.number)
        code = finish_joined(&joined, &run, programs, options, code);
    else
        finish(&run, programs, options, last, code);
    if (code == TEST_LOG_EXIT_NO_TEST && options->pass_with_no_tests)
        code = TEST_LOG_EXIT_PASSED;
    test_log_run_compress(&run, options, runners_interrupted);
    test_log_filters_free(&filters);
    test_log_run_free(&run);
    return code;
}

static bool none_failed(const struct programs *programs,
                        const struct test_log_history *last)
{
    for (size_t i = 0; i < programs->count; i++) {
        const char *name = programs->all[i].name;

        if (!test_log_history_has(last, name) ||
            test_log_history_failed(last, name))
            return false;
    }
    return true;
}

static int begin(struct programs *programs, struct test_log_options *options)
{
    static const char *const variables[] = {
        "TESTLOG_RUN", "BXFI_MAP", "GMON_OUT_PREFIX", TRACE_INVITATION};
    struct test_log_run none = {0};
    struct test_log_history last;
    int code = TEST_LOG_EXIT_PASSED;

    /* A run inside a test is a run of its own. */
    for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++)
        unsetenv(variables[i]);
    runners_take_signals();
    if (programs->join) {
        options->dir = programs->join;
        test_log_show_whole_files();
    }
    test_log_history_open(&last, options->dir, NULL, NULL);
    for (size_t i = 0; i < programs->count; i++)
        test_log_history_read(&last, programs->all[i].name);
    if (options->failed && !options->informs && !last.count)
        test_log_notice("--failed: no test has run in %s before; all tests run",
                        options->dir);
    if (runners_durations_begin(programs, options, &last) ||
        (!options->informs && (!test_log_scratch_check(options->scratch) ||
                               runners_launch_expand(programs, options))) ||
        runners_programs_choose(programs, &last)) {
        code = TEST_LOG_EXIT_USAGE;
    } else if (options->failed && none_failed(programs, &last)) {
        test_log_notice(TEST_LOG_NONE_FAILED);
        test_log_print_closing(&none, &options->output);
    } else if (options->list_form) {
        code = runners_list_programs(programs, &last,
                                     options->list_form == TEST_LOG_LIST_CMAKE);
    } else {
        code = run_all(programs, options, &last);
    }
    test_log_history_free(&last);
    return code;
}

/* ---- Arguments ---- */

/* The arguments before "--". */
struct arguments {
    char **paths;
    char **globs; /* of --serial; NULL at the end */
    size_t glob_count, glob_capacity;
    char **words; /* of --argument; NULL at the end */
    size_t word_count, word_capacity;
    const char *launch;  /* NULL: none */
    const char *ctest;   /* the build folder; NULL: none */
    const char *join;    /* where the runs of ctests are; NULL: no such run */
    const char *join_as; /* the program's name there; NULL: that of its file */
    bool preload;
};

static bool read_serial(struct test_log_reader *reader)
{
    struct arguments *arguments = reader->into;

    if (!TRACE_ARRAY_RESERVE(arguments->globs, arguments->glob_capacity,
                             arguments->glob_count + 1))
        return test_log_flag_refuse(reader, "out of memory");
    arguments->globs[arguments->glob_count++] = (char *)reader->value;
    return true;
}

static bool read_argument(struct test_log_reader *reader)
{
    struct arguments *arguments = reader->into;

    if (!TRACE_ARRAY_RESERVE(arguments->words, arguments->word_capacity,
                             arguments->word_count + 2))
        return test_log_flag_refuse(reader, "out of memory");
    arguments->words[arguments->word_count++] = (char *)reader->value;
    arguments->words[arguments->word_count] = NULL;
    return true;
}

static bool read_ctest(struct test_log_reader *reader)
{
    struct arguments *arguments = reader->into;

    arguments->ctest = reader->value ? reader->value : ".";
    return true;
}

static bool any_flag(const struct test_log_flag *flag)
{
    return flag->name;
}

#define AT(member) .at = offsetof(struct arguments, member)

static const struct test_log_flag flags[] = {
    {"--serial", NULL, "GLOB", "run matching programs alone, such as 'net_*'",
     .read = read_serial},
    {"--preload", NULL, NULL,
     "log and trace all tests of programs that are not linked with testlog",
     test_log_read_on, AT(preload)},
    {"--ctest", NULL, "[FOLDER",
     "run the programs that ctest lists in a build folder", .read = read_ctest},
    {"--argument", NULL, "WORD",
     "give each program an argument of its framework's", .read = read_argument},
    {"--join", NULL, "FOLDER", "one run for all processes of a ctest",
     test_log_read_text, AT(join)},
    {"--join-as", NULL, "NAME", "the name of the program in that run",
     test_log_read_text, AT(join_as)},
    {"--launch", NULL, "COMMAND",
     "start each test with COMMAND, such as 'mpirun -n 4'", test_log_read_text,
     AT(launch)},
    TEST_LOG_HELP,
};

/* If a program cannot be run, prints why. */
static bool is_program(const char *path)
{
    bool in_path = !strchr(path, '/');

    if (in_path ? test_log_preflight_program(path) : !access(path, X_OK))
        return true;
    if (!in_path)
        test_log_notice("run: %s: %s", path, strerror(errno));
    else if (!access(path, F_OK))
        test_log_notice("run: %s is not in PATH, and what is here cannot be "
                        "executed",
                        path);
    else
        test_log_notice("run: there is no program %s; if it is a part of a "
                        "test's name, write it after --",
                        path);
    return false;
}

/* Takes the programs from the command line, or from ctest. */
static int find_programs(struct programs *programs,
                         const struct arguments *arguments)
{
    size_t count = 0;

    while (arguments->paths[count])
        count++;
    if (arguments->ctest && (count || arguments->launch)) {
        test_log_notice("--ctest finds the programs; leave out %s",
                        arguments->launch ? "--launch" : arguments->paths[0]);
        return -1;
    }
    programs->ctest_folder = arguments->ctest;
    programs->preload = arguments->preload;
    if (arguments->ctest)
        return runners_ctest_begin(programs);
    if (!count) {
        fputs("testlog: run: name a program; see testlog run --help\n", stderr);
        return -1;
    }
    if (runners_programs_make(programs, arguments->paths, count)) {
        test_log_notice("out of memory");
        return -1;
    }
    for (size_t i = 0; i < programs->count; i++) {
        if (!is_program(programs->all[i].path))
            return -1;
        programs->all[i].place.arguments = arguments->words;
    }
    return 0;
}

static int make_programs(struct programs *programs,
                         const struct arguments *arguments)
{
    if (find_programs(programs, arguments))
        return -1;
    if (arguments->launch && runners_launch_read(programs, arguments->launch)) {
        test_log_notice("--launch: \"%s\" has no command", arguments->launch);
        return -1;
    }
    if (arguments->preload && runners_preload_begin(programs))
        return -1;
    programs->join = arguments->join;
    programs->join_as = arguments->join_as;
    runners_programs_find_serial(programs);
    for (size_t i = 0; i < arguments->glob_count; i++)
        if (!runners_programs_mark_serial(programs, arguments->globs[i])) {
            test_log_notice("--serial: no program matches %s",
                            arguments->globs[i]);
            return -1;
        }
    return 0;
}

/* Flags for the programs stand before "--" or after it, words after it. */
static int read_arguments(struct programs *programs,
                          struct test_log_passed *passed, char **argv,
                          int *code)
{
    struct arguments arguments = {.paths = argv};
    char **rest = argv;
    int status = -1;

    while (*rest && strcmp(*rest, "--"))
        rest++;
    if (*rest)
        *rest++ = NULL;
    if (test_log_flags_read(&runners_run, &arguments, &arguments.paths, passed,
                            code)) {
        *code = TEST_LOG_EXIT_USAGE;
        while (*rest && !test_log_passed_add(passed, *rest, NULL))
            rest++;
        programs->flags = passed->words + 1;
        programs->flag_count = (int)passed->count - 1;
        if (*rest)
            test_log_notice("out of memory");
        else
            status = make_programs(programs, &arguments);
    }
    free(arguments.globs);
    return status;
}

/* Refuses bad flags and variables before any program runs. */
static int check_flags(struct programs *programs, char *name,
                       struct test_log_options *options, int *code)
{
    char **words = runners_programs_argv(programs, name);
    int status = -1;

    for (size_t i = 0; i < programs->count; i++)
        test_log_trust_program(programs->all[i].path);
    if (words)
        status = test_log_options_read(options, words, code);
    if (!status &&
        (test_log_shard_read_durations(options) ||
         runners_programs_find_frameworks(programs, options, words))) {
        test_log_options_free(options);
        *code = TEST_LOG_EXIT_USAGE;
        status = -1;
    }
    free(words);
    return status;
}

static int run(char **argv)
{
    struct programs programs = {0};
    struct test_log_passed passed = {0};
    struct test_log_options options = {.all_tests = false};
    int code = TEST_LOG_EXIT_USAGE;

    runners_jobserver_find();
    if (!read_arguments(&programs, &passed, argv, &code) &&
        !check_flags(&programs, argv[0], &options, &code)) {
        test_log_bazel_begin(test_log_session());
        code = begin(&programs, &options);
        test_log_options_free(&options);
        test_log_bazel_end();
    }
    runners_programs_free(&programs);
    test_log_passed_free(&passed);
    runners_jobserver_end();
    return code;
}

const struct test_log_command runners_run = {
    .name = "run",
    .help = "run test programs as one run",
    .synopsis = "[FLAG...] PROGRAM... [-- [FLAG...] [WORD...]]\n"
                "[FLAG...] --ctest[=FOLDER] [-- [FLAG...] [WORD...]]",
    .text = "Runs test programs side by side as one run, with one summary. "
            "It takes the flags of test programs, too, before or after --; "
            "PROGRAM --help lists them. A WORD selects the tests whose names "
            "contain it. -j N limits how many tests run at once, over all "
            "programs; the default is two for each processor. -j1 and "
            "--nocapture run one program after another.",
    TEST_LOG_FLAGS(flags),
    .other = &test_log_program,
    .takes = any_flag,
    .run = run,
};
