/* start_framework.c: starts a process of a program of another framework, and
 * ends it if a test takes too long. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "framework_program.h"
#include "harness/core/core_run.h"
#include "harness/criterion/watch/jobs.h"
#include "harness/machine/notice.h"
#include "harness/machine/now.h"
#include "harness/machine/process_tree.h"
#include "harness/options/gpu_setup.h"
#include "harness/options/options.h"
#include "harness/run/folder/run_folder.h"
#include "harness/session.h"
#include "runners/runs/command_output.h"

/* ---- Starting ---- */

/* The file is in memory: the program opens it as ours. */
static int write_chosen(struct framework_program *program, char path[64])
{
    int fd = memfd_create("chosen", MFD_CLOEXEC);
    FILE *out = fd < 0 ? NULL : fdopen(dup(fd), "w");
    int status = -1;

    if (program->chosen_file > 0)
        close(program->chosen_file);
    program->chosen_file = fd;
    if (!out)
        return -1;
    status = runners_framework_write(&program->chosen, program->taken,
                                     program->framework, out);
    snprintf(path, 64, "/proc/%ld/fd/%d", (long)getpid(), fd);
    return fclose(out) || status ? -1 : 0;
}

static int add_forms(struct framework_start *start, const char *const *forms,
                     size_t count, const char *path,
                     int (*add)(struct framework_start *, const char *,
                                const char *))
{
    int status = 0;

    for (size_t i = 0; i < count && forms[i] && !status; i++)
        status = add(start, forms[i], path);
    return status;
}

#define ADD_FORMS(start, forms, path, add)                                     \
    add_forms(start, forms, sizeof(forms) / sizeof(*(forms)), path, add)

/* A program with an adapter sends its results, and makes its folder. */
static int add_report(struct framework_program *program,
                      const struct test_log_run *run, const char *folder)
{
    const struct framework *framework = program->framework;
    struct framework_start *start = &program->start;
    char part[PATH_MAX], path[PATH_MAX];

    if (program->has_adapter)
        return 0;
    free(program->folder);
    program->folder = NULL;
    if (snprintf(part, sizeof(part), "tests/%s", folder) >= PATH_MAX ||
        test_log_make_program_folder(run, folder) ||
        test_log_local_path(run, part, path))
        return -1;
    program->folder = realpath(path, NULL);
    if (!program->folder)
        return -1;
    runners_report_pipes_open(program);
    return ADD_FORMS(start, framework->report, program->folder,
                     runners_framework_argument) ||
                   ADD_FORMS(start, framework->variables, program->folder,
                             runners_framework_variable)
               ? -1
               : 0;
}

static int add_chosen(struct framework_program *program)
{
    const struct framework *framework = program->framework;
    size_t count = program->chosen.count;
    char path[64];

    if (!program->chooses || !runners_framework_chooses(framework))
        return 0;
    program->taken =
        program->batch && program->batch < count ? program->batch : count;
    if (framework->choice == FRAMEWORK_BY_FILE)
        return write_chosen(program, path)
                   ? -1
                   : ADD_FORMS(&program->start, framework->chosen, path,
                               runners_framework_argument);
    program->taken = runners_framework_arguments(
        &program->start, &program->chosen, program->taken, framework);
    return program->taken || !count ? 0 : -1;
}

/* The first process of all; later ones find what is left to run. */
static int keep_chosen(struct framework_program *program)
{
    bool first = program->repetition.number == 1 && !program->results.count &&
                 !program->deaths;

    if (!first)
        return 0;
    program->repetition.chooses = program->chooses;
    return runners_framework_tests_copy(&program->repetition.chosen,
                                        &program->chosen);
}

static int add_repetition(struct framework_program *program)
{
    char text[64];

    if (!program->repetition.number || !program->has_adapter)
        return 0;
    snprintf(text, sizeof(text), TEST_LOG_REPETITION "=");
    runners_framework_repetition(program, text + strlen(text));
    return runners_framework_variable(&program->start, text, NULL);
}

static int add_flags(struct framework_program *program)
{
    int status = 0;

    for (size_t i = 0; i < program->flags.variable_count && !status; i++)
        status = runners_framework_variable(&program->start,
                                            program->flags.variables[i], NULL);
    return status;
}

const struct framework_start *runners_framework_begin(
    struct framework_program *program, const struct test_log_run *run,
    const char *folder)
{
    struct framework_start *start = &program->start;

    runners_framework_start_free(start);
    test_log_run_free(&program->seen);
    program->seen = (struct test_log_run){.count = 0};
    program->began = test_log_run_time(run) + 1;
    program->changed = program->printed.began = test_log_now();
    program->told = 0;
    return keep_chosen(program) ||
                   runners_framework_words(start, program->arguments) ||
                   runners_framework_clear(start, program->framework,
                                           program->has_adapter) ||
                   add_report(program, run, folder) || add_chosen(program) ||
                   add_repetition(program) || add_flags(program) ||
                   runners_left_crash_begin(program) ||
                   runners_sanitizer_begin(program)
               ? NULL
               : start;
}

/* ---- In a debugger ---- */

static int add_debugger(struct framework_start *start, const char *debugger)
{
    static const char *const of_gdb[] = {"gdb", "-q", "-ex", "run", "--args"};
    static const char *const of_lldb[] = {"lldb", "-o", "run", "--"};
    bool gdb = !strcmp(debugger, "gdb");
    const char *const *words = gdb ? of_gdb : of_lldb;
    int count = gdb ? sizeof(of_gdb) / sizeof(*of_gdb)
                    : sizeof(of_lldb) / sizeof(*of_lldb);
    int status = 0;

    for (int i = 0; i < count && !status; i++)
        status = runners_framework_argument(start, words[i], NULL);
    return status;
}

const struct framework_start *runners_framework_debug(
    struct framework_program *program, const struct test_log_result *result)
{
    const struct framework *framework = program->framework;
    struct framework_start *start = &program->start;
    const char *title = test_log_title(result);
    char *name = strdup(test_log_name(result));
    char *own =
        strndup(title, program->repetition.number ? test_log_base_size(title)
                                                  : strlen(title));
    struct framework_test test = {.name = name, .own = own};
    int status = name && own ? 0 : -1;

    runners_framework_start_free(start);
    runners_framework_tests_free(&program->chosen);
    if (!status)
        status = add_debugger(start, program->options->debugger) ||
                 runners_framework_argument(start, program->path, NULL) ||
                 runners_framework_words(start, program->arguments);
    for (char **word = program->place.arguments; word && *word && !status;
         word++)
        status = runners_framework_argument(start, *word, NULL);
    if (!status && framework->breaks)
        status = runners_framework_argument(start, framework->breaks, NULL);
    if (!status && runners_framework_tests_copy(
                       &program->chosen,
                       &(struct framework_tests){.all = &test, .count = 1}))
        status = -1;
    program->chooses = true;
    program->batch = 0;
    if (!status)
        status = add_chosen(program);
    free(name);
    free(own);
    return status ? NULL : start;
}

/* ---- While it runs ---- */

bool runners_framework_prints(const struct framework_program *program)
{
    return program->framework->prints_tests;
}

bool runners_framework_prints_reasons(const struct framework_program *program)
{
    return program->framework->prints_reasons;
}

void runners_framework_read(void *context, const char *bytes, size_t size)
{
    struct framework_program *program = context;

    runners_printed_tests_read(&program->printed, bytes, size);
}

static double limit_of(const struct framework_program *program)
{
    const struct test_log_options *options = program->options;
    const struct test_log_result *last =
        program->printed.runs ? &program->seen.results[program->seen.count - 1]
                              : NULL;
    double limit =
        last ? test_log_override_of(options, last->suite, last->test).timeout
             : 0;
    if (limit <= 0)
        limit = program->place.limit;
    return limit > 0 ? limit : options->timeout;
}

/* The reports of Catch2 and doctest grow when a test begins. */
static size_t told_by_report(const struct framework_program *program)
{
    char path[PATH_MAX];
    struct stat status;

    return program->folder &&
                   snprintf(path, sizeof(path), "%s/report.xml",
                            program->folder) < PATH_MAX &&
                   !lstat(path, &status)
               ? (size_t)status.st_size
               : 0;
}

/* Returns since when the process has done nothing that can be seen. */
static uint64_t quiet_since(struct framework_program *program, size_t told)
{
    if (program->framework->prints_tests &&
        program->printed.began > program->changed)
        return program->printed.began;
    told += told_by_report(program);
    if (told != program->told)
        program->changed = test_log_now();
    program->told = told;
    return program->changed;
}

static void look_at_stacks(struct framework_program *program, int pid)
{
    char tool[PATH_MAX];
    struct trace_text command = {0};

    if (program->options->stacks == TEST_LOG_STACKS_OFF ||
        !test_log_stacks_program(tool))
        return;
    test_log_add_word(&command, tool);
    trace_text_printf(&command,
                      " --fault=0,0,0,0,0,0 --exception=0,0 --first=0 %d "
                      "2>/dev/null",
                      pid);
    if (!command.failed)
        runners_command_text(command.data, &program->stacks);
    trace_text_free(&command);
}

/* Kills a process and all that it has started. */
static void kill_tree(const struct test_log_run *run, pid_t pid)
{
    struct test_log_tree tree;

    if (test_log_tree_begin(&tree, run, pid))
        test_log_tree_find(&tree);
    kill(pid, SIGKILL);
    for (size_t i = 0; i < tree.count; i++)
        kill(tree.all[i].pid, SIGKILL);
    test_log_tree_free(&tree);
}

/* The program is named if nothing has told which test runs. */
static void name_slow(struct framework_program *program, uint64_t since,
                      bool limited)
{
    const struct test_log_output *output = &program->options->output;
    struct test_log_result *last =
        program->printed.runs ? &program->seen.results[program->seen.count - 1]
                              : NULL;

    if (!output->named || program->named == since ||
        test_log_now() - since < output->named)
        return;
    program->named = since;
    if (last && !last->title)
        last->title = runners_framework_title(program->framework, last);
    test_log_print_running(output, last ? test_log_title(last) : program->path,
                           limited);
}

void runners_framework_check(struct framework_program *program,
                             const struct test_log_run *run, const char *folder,
                             int pid, size_t told)
{
    uint64_t since = quiet_since(program, told);
    double limit = limit_of(program);

    runners_report_pipes_read(program);
    name_slow(program, since, limit > 0);
    if (program->late || limit <= 0 ||
        (double)(test_log_now() - since) < limit * 1e9)
        return;
    program->late = true;
    test_log_core_take_output(run, folder);
    look_at_stacks(program, pid);
    kill_tree(run, pid);
}
