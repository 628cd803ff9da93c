/* scheduler.c: runs programs side by side. Each gets a share of the tests that
 * may run at once, for as long as it runs.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/core/core_run.h"
#include "harness/criterion/program/program.h"
#include "harness/criterion/watch/jobs.h"
#include "harness/criterion/watch/progress.h"
#include "harness/criterion/watch/supervisor.h"
#include "harness/machine/notice.h"
#include "harness/machine/now.h"
#include "harness/options/options.h"
#include "harness/run/files/writers.h"
#include "harness/run/folder/run_folder.h"
#include "harness/run/model/test_stacks.h"
#include "harness/session.h"
#include "run.h"

enum {
    PROGRAMS_MOST = 64, /* at once: each takes a few descriptors */
    TICK = 100,         /* ms between updates of the status line */
    ANSWER = 300000000, /* ns for programs to print what is running */
    TESTS_EACH = 2, /* per processor, because many tests wait for something */
};

/* ---- Choosing a program and its share ---- */

/* Programs without known durations may be long. */
static uint64_t expected_time(const struct program *program)
{
    return program->tests ? program->time : UINT64_MAX;
}

static bool comes_before(const struct schedule *schedule,
                         const struct program *one, const struct program *other)
{
    if (schedule->options->failed_first && one->failed != other->failed)
        return one->failed;
    if (schedule->in_turn)
        return false;
    if (one->serial != other->serial)
        return other->serial;
    return expected_time(one) > expected_time(other);
}

struct program *runners_next(const struct schedule *schedule)
{
    struct program *next = NULL;

    for (size_t i = 0; i < schedule->programs->count; i++) {
        struct program *program = &schedule->programs->all[i];

        if (program->state != PROGRAM_WAITING)
            continue;
        if (!next || comes_before(schedule, program, next))
            next = program;
    }
    return next;
}

/* Programs without known durations count as average. */
static double weight(const struct programs *programs,
                     const struct program *program)
{
    double sum = 0, known = 0;

    for (size_t i = 0; i < programs->count; i++) {
        known += programs->all[i].tests > 0;
        sum += (double)programs->all[i].time;
    }
    if (program->tests)
        return (double)program->time + 1;
    return known > 0 ? sum / known + 1 : 1;
}

/* A program gets its share of the jobs in proportion to its time. */
static size_t fair_share(const struct schedule *schedule,
                         const struct program *program)
{
    const struct programs *programs = schedule->programs;
    double sum = 0;

    for (size_t i = 0; i < programs->count; i++)
        if (programs->all[i].state == PROGRAM_WAITING &&
            !programs->all[i].serial)
            sum += weight(programs, &programs->all[i]);
    return (size_t)((double)schedule->limit * weight(programs, program) / sum +
                    0.5);
}

size_t runners_share(const struct schedule *schedule,
                     const struct program *program)
{
    size_t free = schedule->limit - schedule->used, share;
    size_t others =
        runners_programs_in(schedule->programs, PROGRAM_WAITING) - 1;

    if (schedule->in_turn || program->serial)
        return schedule->running ? 0 : schedule->limit;
    if (!free || schedule->running == PROGRAMS_MOST)
        return 0;
    if (schedule->tokens && others)
        return 1; /* nobody knows how many tokens there are */
    share = fair_share(schedule, program);
    if (share > free - (others && free > 1))
        share = free - (others && free > 1);
    if (program->tests && share > program->tests)
        share = program->tests;
    return share ? share : 1;
}

/* ---- Starting ---- */

static struct test_log_others others_of(const struct schedule *schedule)
{
    const struct programs *programs = schedule->programs;
    const struct test_log_run *run = schedule->run;
    struct test_log_others others = {.done = run->count,
                                     .failed = test_log_run_sums(run).failed,
                                     .count = (unsigned)programs->count};

    for (size_t i = 0; i < programs->count; i++) {
        const struct program *program = &programs->all[i];

        if (program->state == PROGRAM_WAITING) {
            others.to_come += program->tests;
            others.time += program->time;
        } else {
            others.number++;
        }
    }
    return others;
}

/* A number for a session; NULL for 0. */
static const char *text_of(long number, char *text, size_t size)
{
    snprintf(text, size, "%ld", number);
    return number ? text : NULL;
}

static void export_session(const struct schedule *schedule,
                           const struct program *program, bool beside)
{
    struct test_log_share share = {program->jobs,
                                   schedule->options->output.style.color,
                                   schedule->options->output.links};
    struct test_log_others others = others_of(schedule);
    char number[64], results[16], output[16], joined[16], of_share[64],
        of_others[128];
    char start[TEST_LOG_ANCHOR_SIZE];
    bool shares = beside || schedule->tokens || !schedule->options->jobs;

    test_log_share_text(&share, of_share, sizeof(of_share));
    test_log_others_text(&others, of_others, sizeof(of_others));
    test_log_anchor_text(&schedule->run->start, start);
    test_log_session_export(&(struct test_log_session){
        .runner = text_of(getpid(), number, sizeof(number)),
        .program = program->name,
        .joined = text_of(schedule->joined, joined, sizeof(joined)),
        .process = schedule->joined ? program->process : NULL,
        .test = program->test,
        .start = start,
        .run = schedule->run->scratch ? schedule->run->path : NULL,
        .history = schedule->last->count ? schedule->last->path : NULL,
        .durations = runners_durations(),
        .share = shares ? of_share : NULL,
        .others = of_others,
        .results =
            text_of(program->child.handover.to, results, sizeof(results)),
        .output = text_of(test_log_reports_kept(), output, sizeof(output)),
        .token = test_log_github_token(),
        .gpu_library = schedule->gpu_library[0] ? schedule->gpu_library : NULL,
        .preload = program->preload,
        .whole_files = schedule->programs->join ? "1" : NULL,
        .nested = test_log_session()->nested,
    });
}

/* Adds arguments to those of a program, in a new array; NULL without memory. */
static char **with_arguments(char **argv, char **more, size_t more_count)
{
    size_t count = 0;
    char **all;

    while (argv && argv[count])
        count++;
    all = argv ? realloc(argv, (count + more_count + 1) * sizeof(*all)) : NULL;
    if (!all)
        free(argv);
    else if (more_count)
        memcpy(all + count, more, (more_count + 1) * sizeof(*all));
    return all;
}

static int start_child(struct schedule *schedule, struct program *program)
{
    char **argv = runners_launch_argv(schedule->programs, program);
    int error;

    program->child.preload = program->preload;
    program->child.ctest = program->ctest;
    if (program->framework) {
        const struct framework_start *start = runners_framework_begin(
            program->framework, schedule->run, program->process);

        if (!start) {
            error = -errno;
            free(argv);
            return error;
        }
        argv = with_arguments(argv, start->arguments, start->argument_count);
        program->child.variables = start->variables;
        if (!program->preload)
            program->child.preload = start->preload;
    }
    error = argv ? runners_start(&program->child, argv[0], argv) : -ENOMEM;

    free(argv);
    return error;
}

/* Programs that run side by side are captured. */
static bool is_beside(const struct schedule *schedule,
                      const struct program *program)
{
    return !schedule->in_turn && !program->serial;
}

static bool writes_junit(const struct test_log_options *options)
{
    for (size_t i = 0; i < options->output.report_count; i++)
        if (options->output.reports[i].format == TEST_LOG_REPORT_JUNIT)
            return true;
    return false;
}

/* The output of such a program is the test's. */
static void copy_output(const struct schedule *schedule,
                        struct program *program)
{
    struct output *output = &program->child.output;
    char name[PATH_MAX];
    int file = -1;

    if (runners_can(program, PROGRAM_CAN(EXIT)) && output->from[0] &&
        program->process &&
        snprintf(name, sizeof(name), "tests/%s/output.txt", program->process) <
            PATH_MAX &&
        !test_log_make_program_folder(schedule->run, program->process))
        file = test_log_open(schedule->run, name, O_WRONLY | O_CREAT | O_EXCL);
    output->copy = file < 0 ? 0 : file;
}

/* A program of another framework may be captured only to be read, and so may a
 * script that may hand flags to a program that lacks them. */
static bool capture(const struct schedule *schedule, struct program *program,
                    bool beside)
{
    struct output *output = &program->child.output;
    bool reads =
        program->framework && runners_framework_prints(program->framework);
    bool may_refuse =
        runners_can(program, PROGRAM_CAN(HIDE)) && program->own_flag;
    bool may_command = program->framework && test_log_github_token();

    if (!beside && !reads && !may_refuse && !may_command &&
        !(runners_can(program, PROGRAM_CAN(EXIT)) &&
          writes_junit(schedule->options)))
        return true;
    if (runners_output_begin(output, reads && runners_framework_prints_reasons(
                                                  program->framework)))
        return false;
    output->keeps_stdin = !beside;
    output->reads_all = may_refuse;
    if (reads) {
        output->read = runners_framework_read;
        output->reader = program->framework;
    } else if (may_refuse) {
        output->read = runners_refusal_read;
        output->reader = &program->refusal;
    }
    return true;
}

/* Names the folder for files of one of a program's processes in a ctest. */
static char *name_process(const struct schedule *schedule,
                          const struct program *program)
{
    char *name = NULL, *part = NULL, again[16] = "";

    if (asprintf(&part, "tests/%s/process.%u", program->name,
                 schedule->joined) > 0) {
        unsigned number = test_log_free_number(schedule->run, part);

        if (number > 1)
            snprintf(again, sizeof(again), "~%u", number);
        if (!number ||
            asprintf(&name, "%s%s", part + strlen("tests/"), again) < 0)
            name = NULL;
        free(part);
    }
    return name;
}

/* Names the folders of a program in the run; none without memory. */
static void name_folders(const struct schedule *schedule,
                         struct program *program)
{
    free(program->process);
    if (!program->folder)
        program->folder =
            program->test || schedule->joined
                ? strdup(program->name)
                : test_log_program_folder(schedule->run, program->name);
    if (schedule->joined)
        program->process = name_process(schedule, program);
    else
        program->process = program->folder ? strdup(program->folder) : NULL;
}

static void start(struct schedule *schedule, struct program *program,
                  size_t jobs)
{
    bool beside = is_beside(schedule, program);

    program->jobs = jobs;
    program->state = PROGRAM_RUNNING;
    program->started = test_log_now();
    schedule->used += jobs;
    schedule->running++;
    name_folders(schedule, program);
    runners_handover_begin(&program->child.handover);
    export_session(schedule, program, beside);
    if (!capture(schedule, program, beside))
        test_log_notice("cannot make a pipe: %s; the output of %s may mix with "
                        "that of others",
                        strerror(errno), program->name);
    copy_output(schedule, program);
    if (!beside)
        runners_status_erase();
    program->child.status =
        program->process ? start_child(schedule, program) : -ENOMEM;
    program->child.ended = program->child.status < 0;
}

static bool has_stopped(const struct schedule *schedule)
{
    bool failed = schedule->code == TEST_LOG_EXIT_FAILED ||
                  test_log_run_sums(schedule->run).failed;

    return runners_interrupted() || (schedule->options->fail_fast && failed);
}

/* Starts what can be started now; returns whether it lacks a token. */
static bool start_some(struct schedule *schedule)
{
    struct program *program;

    while (!has_stopped(schedule) && (program = runners_next(schedule))) {
        size_t share = runners_share(schedule, program), held;

        if (!share)
            return false;
        held = runners_jobserver_hold(schedule->used + share);
        if (held <= schedule->used)
            return true;
        start(schedule, program, held - schedule->used);
    }
    return false;
}

/* ---- Ending ---- */

/* Returns the code of results that explain a program's exit code, whatever it
 * is; NO_TEST if none does. */
static int code_of_results(const struct test_log_run *run, size_t from)
{
    int code = TEST_LOG_EXIT_NO_TEST;

    for (size_t i = from; i < run->count; i++) {
        if (test_log_failed(&run->results[i]))
            return TEST_LOG_EXIT_FAILED;
        if (test_log_outcome_bad(run->results[i].outcome))
            code = TEST_LOG_EXIT_PASSED; /* a known failure */
    }
    return code;
}

/* The results of a program of another framework, from all its processes. */
static enum told merge_framework(struct schedule *schedule,
                                 struct program *program, enum told told)
{
    struct test_log_run *run = schedule->run;

    free(program->folder);
    program->folder = strdup(program->name); /* of its first process */
    if (!runners_framework_results(program->framework, run))
        return told;
    program->flagless = run->flagless = true;
    return TOLD_ALL;
}

static enum told merge(struct schedule *schedule, struct program *program,
                       const char *folder)
{
    struct test_log_run *run = schedule->run;
    bool annotated = run->annotated, flagless = run->flagless;
    enum told told;

    run->annotated = run->flagless = false;
    if (program->test)
        told = runners_launch_merge(run, program, &schedule->first);
    else
        told = runners_merge(run, folder, program->process,
                             &program->child.handover, &schedule->first);
    if (told != TOLD_ALL &&
        test_log_judge_program(run, folder, program->process, program->from,
                               runners_can(program, PROGRAM_CAN(FLAGS))))
        run->flagless = true;
    program->annotated = run->annotated;
    program->flagless = run->flagless;
    run->annotated |= annotated;
    run->flagless |= flagless;
    return told;
}

/* Opens the file for the output of a program whose tests all passed, but
 * captured nothing; -1: print it. */
static int open_kept(const struct schedule *schedule, struct program *program)
{
    const struct test_log_options *options = schedule->options;
    char name[PATH_MAX];

    if (program->annotated || !is_beside(schedule, program) ||
        !runners_output_waits(&program->child.output) ||
        options->output.show_output || options->verbose ||
        snprintf(name, sizeof(name), "tests/%s/output.txt", program->process) >=
            PATH_MAX)
        return -1;
    return test_log_open(schedule->run, name, O_RDWR | O_CREAT | O_EXCL);
}

static void end_output(const struct schedule *schedule, struct program *program,
                       bool passed)
{
    struct output *output = &program->child.output;
    int kept = passed ? open_kept(schedule, program) : -1;

    if (kept >= 0)
        runners_output_keep(output, kept);
    else
        runners_output_end(output);
}

/* Whether the program has tests that must run in another process. */
static bool starts_again(const struct schedule *schedule,
                         struct program *program)
{
    struct child *child = &program->child;

    if (!program->framework ||
        !runners_framework_end(program->framework, schedule->run, program->from,
                               child->status, runners_interrupted()) ||
        has_stopped(schedule))
        return false;
    runners_output_end(&child->output);
    runners_handover_end(&child->handover);
    free(program->folder);
    program->folder = NULL;
    child->ended = false;
    program->state = PROGRAM_WAITING;
    return true;
}

static enum told told_of(const struct program *program, enum told told)
{
    if (program->flagless)
        return TOLD_FLAGLESS;
    return !told && program->framework ? TOLD_BY_CODE : told;
}

/* Prints the stacks of a program that is one test, whose output is printed
 * already. */
static void print_stacks(const struct schedule *schedule,
                         const struct program *program)
{
    struct test_log_run *run = schedule->run;
    struct test_log_output output = schedule->options->output;
    char path[PATH_MAX];

    output.live = true;
    if (runners_can(program, PROGRAM_CAN(EXIT)) && run->count > program->from &&
        !output.quiet &&
        !test_log_file(run, &run->results[program->from], TEST_LOG_STACKS_FILE,
                       path))
        test_log_print_block(run, &run->results[program->from], &output);
}

/* A test of another framework that has failed runs again in a debugger. */
static void debug_failed(const struct schedule *schedule,
                         const struct program *program)
{
    const struct test_log_result *failed = test_log_first_failed(schedule->run);
    const char *debugger = schedule->options->debugger;
    static char run[] = "TESTLOG_RUN", session[] = "TESTLOG_SESSION";
    char *variables[] = {run, session, NULL}; /* are removed */
    const struct framework_start *start;

    if (!debugger || !failed || !program->framework ||
        !runners_framework_can_choose(program->framework) ||
        runners_interrupted() || strcmp(failed->program, program->name) != 0)
        return;
    start = runners_framework_debug(program->framework, failed);
    if (!start)
        return;
    test_log_notice("%s has %s; %s runs it again: bt shows the stack, quit "
                    "ends the run",
                    test_log_title(failed),
                    failed->outcome == TEST_LOG_OUTCOME_CRASHED ? "crashed"
                                                                : "failed",
                    debugger);
    runners_spawn(
        start->arguments[0], start->arguments,
        &(struct child){.ctest = program->ctest, .variables = variables});
}

/* A script may start a program with testlog, so its exit code may be one of
 * ours; or it has a code of its own. */
static void explain_code(const struct program *program, enum told told,
                         int code)
{
    if (told || !runners_can(program, PROGRAM_CAN(HIDE)) ||
        code != TEST_LOG_EXIT_USAGE)
        return;
    test_log_notice("%s exited with %d, which is taken for testlog's code: a "
                    "bad flag; if it is a failure, write kind = exit for the "
                    "program in " TEST_LOG_SETTINGS_FILE,
                    program->path, WEXITSTATUS(program->child.status));
}

static bool selects(const struct test_log_options *options)
{
    return test_log_options_select(options) || options->failed ||
           options->shard.total;
}

static void end(struct schedule *schedule, struct program *program)
{
    struct test_log_run *run = schedule->run;
    struct child *child = &program->child;
    const char *folder = program->folder ? program->folder : program->name;
    uint64_t took = test_log_now() - program->started;
    enum told told;
    int code, status = child->status;
    program->state = PROGRAM_ENDED;
    schedule->running--;
    schedule->used -= program->jobs;
    runners_jobserver_hold(schedule->used);
    program->from = run->count;
    runners_handover_finish(&child->handover,
                            child->status < 0 || WIFSIGNALED(child->status));
    told = merge(schedule, program, folder);
    if (starts_again(schedule, program))
        return;
    if (program->framework) {
        told = merge_framework(schedule, program, told);
        status = runners_framework_status(program->framework, status);
    }
    folder = program->folder ? program->folder : program->name;
    code = program->flagless || (program->test && told)
               ? code_of_results(run, program->from)
               : TEST_LOG_EXIT_NO_TEST;
    if (code == TEST_LOG_EXIT_NO_TEST)
        code = runners_verdict(
            run, &(struct program_end){
                     .folder = folder,
                     .process = program->process,
                     .status = status,
                     .told = told_of(program, told),
                     .began = test_log_run_time(run) - took,
                     .duration = took,
                     .own_flag = program->own_flag,
                     .framework = program->framework,
                     .is_script = runners_can(program, PROGRAM_CAN(HIDE)),
                     .selects = selects(schedule->options),
                     .has_refused = runners_refusal_is_whole(program->refusal),
                     .has_output = child->output.copied > 0,
                 });
    if (code == TEST_LOG_EXIT_PASSED && program->framework &&
        run->count == program->from &&
        runners_framework_selects_none(program->framework))
        code = TEST_LOG_EXIT_NO_TEST;
    explain_code(program, told, code);
    end_output(schedule, program,
               told == TOLD_ALL && code == TEST_LOG_EXIT_PASSED);
    print_stacks(schedule, program);
    debug_failed(schedule, program);
    if (!told && (code == TEST_LOG_EXIT_PASSED || code == TEST_LOG_EXIT_FAILED))
        runners_preload_note(program);
    program->count = run->count - program->from;
    program->empty =
        told == TOLD_ALL && code == TEST_LOG_EXIT_PASSED && !program->count;
    runners_handover_end(&child->handover);
    schedule->code = runners_worse(schedule->code, code);
}

static bool end_some(struct schedule *schedule)
{
    bool some = false;

    for (size_t i = 0; i < schedule->programs->count; i++) {
        struct program *program = &schedule->programs->all[i];

        if (program->state != PROGRAM_RUNNING || !program->child.ended)
            continue;
        end(schedule, program);
        some = true;
    }
    return some;
}

/* Prints the programs' answers to SIGUSR1 before they end. */
static void show_answers(struct schedule *schedule)
{
    uint64_t now = test_log_now();

    if (runners_asked())
        schedule->show_at = now + ANSWER;
    if (!schedule->show_at || now < schedule->show_at)
        return;
    schedule->show_at = 0;
    for (size_t i = 0; i < schedule->programs->count; i++)
        if (schedule->programs->all[i].state == PROGRAM_RUNNING)
            runners_output_show(&schedule->programs->all[i].child.output);
}

/* Looks after the programs that run. */
static void check_programs(struct schedule *schedule)
{
    for (size_t i = 0; i < schedule->programs->count; i++) {
        struct program *program = &schedule->programs->all[i];
        struct child *child = &program->child;

        if (program->state != PROGRAM_RUNNING || child->ended)
            continue;
        if (schedule->in_turn)
            runners_output_show(&child->output);
        if (program->framework)
            runners_framework_check(program->framework, schedule->run,
                                    program->process, child->pid,
                                    child->handover.tests);
    }
}

/* Whether a program must be looked at now and then, while nothing happens. */
static bool needs_checks(const struct schedule *schedule)
{
    const struct programs *programs = schedule->programs;
    bool has_limits = schedule->options->timeout > 0 ||
                      schedule->options->output.named ||
                      schedule->options->override_count;

    for (size_t i = 0; i < programs->count; i++)
        if (programs->all[i].framework &&
            (has_limits ||
             runners_framework_needs_checks(programs->all[i].framework)))
            return true;
    return false;
}

static void run_all(struct schedule *schedule)
{
    bool checks = needs_checks(schedule);

    for (;;) {
        bool lacks = start_some(schedule);

        if (!end_some(schedule)) {
            if (!schedule->running)
                return;
            runners_status_paint(schedule);
            runners_wait(lacks ? runners_jobserver_fd() : 0,
                         checks || runners_status_shown() || schedule->show_at
                             ? TICK
                             : -1);
            check_programs(schedule);
        }
        show_answers(schedule);
    }
}

/* ---- The whole ---- */

/* Sorts results in the order of the programs on the command line. */
static void sort_results(struct test_log_run *run,
                         const struct programs *programs)
{
    struct test_log_result *sorted = calloc(run->capacity + 1, sizeof(*sorted));
    size_t count = 0;

    for (size_t i = 0; i < programs->count && sorted; i++) {
        const struct program *program = &programs->all[i];

        if (program->count)
            memcpy(sorted + count, run->results + program->from,
                   program->count * sizeof(*sorted));
        count += program->count;
    }
    if (!sorted)
        return;
    free(run->results);
    run->results = sorted;
}

/* A shard may be empty, and --failed may leave nothing. */
static void say_empty(const struct programs *programs,
                      const struct test_log_options *options)
{
    const char *first = NULL;
    size_t count = 0;

    for (size_t i = 0; i < programs->count; i++)
        if (programs->all[i].empty && !count++)
            first = programs->all[i].path;
    if (!count || options->shard.total || options->failed)
        return;
    if (count == 1)
        test_log_notice("%s has no tests", first);
    else
        test_log_notice("%s and %zu more have no tests", first, count - 1);
}

static void say_not_run(const struct test_log_run *run, size_t count)
{
    if (count)
        test_log_notice("%zu %s did not run: %s", count,
                        count == 1 ? "program" : "programs",
                        run->interrupted ? "interrupted" : "--fail-fast");
}

/* The processors that we may use; at least one. */
static size_t processors(void)
{
    cpu_set_t set;
    long online;

    if (!sched_getaffinity(0, sizeof(set), &set))
        return (size_t)CPU_COUNT(&set);
    online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (size_t)online : 1;
}

int runners_run_programs(struct test_log_run *run, struct programs *programs,
                         const struct test_log_options *options,
                         const struct test_log_history *last, unsigned joined)
{
    size_t count = runners_programs_in(programs, PROGRAM_WAITING);
    struct schedule schedule = {
        .run = run,
        .programs = programs,
        .options = options,
        .last = last,
        .joined = joined,
        .limit = options->jobs ? options->jobs : TESTS_EACH * processors(),
        .tokens = runners_jobserver_fd() != 0,
        .first = true,
        .code = TEST_LOG_EXIT_NO_TEST};

    schedule.in_turn = options->output.live || schedule.limit == 1 ||
                       count == 1 || programs->launcher_count;
    if (!test_log_gpu_own(schedule.gpu_library))
        schedule.gpu_library[0] = '\0';
    runners_status_begin(&schedule);
    run_all(&schedule);
    runners_status_erase();
    runners_jobserver_end();
    sort_results(run, programs);
    run->interrupted = runners_interrupted();
    say_empty(programs, options);
    say_not_run(run, runners_programs_in(programs, PROGRAM_WAITING));
    if (schedule.code == TEST_LOG_EXIT_NO_TEST && programs->elsewhere)
        schedule.code = TEST_LOG_EXIT_PASSED; /* an empty shard */
    return run->interrupted ? TEST_LOG_EXIT_SIGNAL + run->interrupted
                            : schedule.code;
}
