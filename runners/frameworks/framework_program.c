/* framework_program.c: runs a program of another framework as often as its
 * tests need. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "frameworks.h"
#include "harness/core/in_process.h"
#include "harness/results/folder/notice.h"
#include "harness/results/folder/run_folder.h"
#include "harness/results/history/history.h"
#include "harness/results/model/test_stacks.h"
#include "harness/results/reports/writers.h"
#include "harness/runner/options/options.h"
#include "harness/runner/plan/plan.h"
#include "harness/runner/program/program.h"
#include "harness/runner/watch/jobs.h"
#include "trace/base/containers.h"
#include "trace/base/strings.h"

#define REPORT "report.xml"

struct framework_program {
    const struct framework *framework;
    const struct test_log_options *options;
    const char *path, *name;
    const char *arguments; /* of testlog.conf; NULL: none */
    bool has_adapter;
    struct framework_start flags, start;
    struct framework_tests chosen; /* of the next process */
    bool chooses;                  /* otherwise all tests run */
    int chosen_file;               /* 0: none */
    struct test_log_run results;   /* of all processes that have ended */
    struct trace_table known;      /* hashes of their names: their numbers */
    struct test_log_run seen;      /* of one, from its output */
    struct printed_tests printed;
    uint64_t began;   /* ns since the run's start, of the process */
    uint64_t changed; /* ns, monotonic, when it was last seen to go on */
    size_t told;      /* then, a measure of what it had done */
    bool late;        /* it was killed because of a time-out */
    struct trace_text stacks; /* then */
    char *report;             /* a path; NULL: there is none */
};

/* ---- Which program it is ---- */

/* Returns false if it has printed that the setting is wrong. */
static bool find_framework(struct framework_program *program)
{
    const char *const *names = runners_framework_names();
    const struct test_log_settings_line *kind = test_log_settings_of_program(
        &program->options->settings, program->path, "kind");
    unsigned choice;

    program->framework =
        runners_framework_of(program->path, &program->has_adapter);
    if (!kind)
        return true;
    if (test_log_read_word(kind->origin, kind->value, names, &choice))
        return false;
    program->framework = runners_framework_named(names[choice]);
    return true;
}

static int check_words(const struct framework_program *program)
{
    const struct framework *framework = program->framework;

    if (!program->options->word_count ||
        !runners_framework_reports(framework) ||
        runners_framework_chooses(framework))
        return 0;
    test_log_notice("run: %s uses %s, which cannot choose tests; leave out %s "
                    "or the program",
                    program->path, framework->title,
                    program->options->words[0]);
    return -1;
}

struct framework_program *runners_framework_open(
    const char *path, const char *name, const struct test_log_options *options,
    int argc, char **argv, bool *failed)
{
    struct framework_program *program = calloc(1, sizeof(*program));
    const struct test_log_settings_line *arguments;

    *failed = !program;
    if (!program)
        return NULL;
    program->path = path;
    program->name = name;
    program->options = options;
    *failed = !find_framework(program);
    if (*failed || !program->framework) {
        free(program);
        return NULL;
    }
    arguments = test_log_settings_of_program(&options->settings, path, "args");
    program->arguments = arguments ? arguments->value : NULL;
    program->printed =
        (struct printed_tests){.results = &program->seen, .program = name};
    *failed = check_words(program) ||
              runners_framework_take_flags(&program->flags, program->framework,
                                           path, argc, argv);
    if (!*failed)
        return program;
    runners_framework_close(program);
    return NULL;
}

void runners_framework_close(struct framework_program *program)
{
    if (!program)
        return;
    runners_framework_tests_free(&program->chosen);
    runners_framework_start_free(&program->flags);
    runners_framework_start_free(&program->start);
    runners_printed_tests_free(&program->printed);
    test_log_run_free(&program->results);
    test_log_run_free(&program->seen);
    if (program->chosen_file > 0)
        close(program->chosen_file);
    trace_table_free(&program->known);
    trace_text_free(&program->stacks);
    free(program->report);
    free(program);
}

bool runners_framework_is_known(const struct framework_program *program)
{
    return runners_framework_reports(program->framework);
}

/* ---- Choosing tests ---- */

static int list(struct framework_program *program)
{
    runners_framework_tests_free(&program->chosen);
    return runners_framework_list(&program->chosen, program->framework,
                                  program->path, program->arguments,
                                  program->name);
}

/* A program without a framework is a test of its own name. */
static int choose_program(struct framework_program *program)
{
    program->chooses = !test_log_plan_selects(program->options, program->name);
    return 0;
}

int runners_framework_choose(struct framework_program *program,
                             const struct test_log_history *history)
{
    const struct test_log_options *options = program->options;

    if (!runners_framework_is_known(program))
        return choose_program(program);
    if (!runners_framework_chooses(program->framework) ||
        !(test_log_options_select(options) || options->failed ||
          options->shard.total || options->informs))
        return 0;
    if (list(program)) {
        test_log_notice("run: cannot list the tests of %s with %s",
                        program->path, program->framework->list[0]);
        return -1;
    }
    runners_framework_select(&program->chosen, options, history, program->name);
    program->chooses = true;
    return 0;
}

bool runners_framework_is_empty(const struct framework_program *program)
{
    return program->chooses && !program->chosen.count;
}

void runners_framework_print_list(const struct framework_program *program)
{
    for (size_t i = 0; i < program->chosen.count; i++)
        puts(program->chosen.all[i].name);
}

static void put_listed(const struct framework_program *program,
                       const struct test_log_history *history, const char *name,
                       struct trace_text *text)
{
    const char *slash = strchr(name, '/');
    const char *test = slash ? slash + 1 : name;
    char *suite = slash ? strndup(name, (size_t)(slash - name)) : NULL;

    trace_text_string(text, text->size > 1 ? ",{\"name\":" : "{\"name\":");
    trace_json_string(text, name, strlen(name));
    if (suite) {
        trace_text_string(text, ",\"suite\":");
        trace_json_string(text, suite, strlen(suite));
    }
    trace_text_string(text, ",\"test\":");
    trace_json_string(text, test, strlen(test));
    test_log_list_tags(text, program->options, suite ? suite : "", test);
    test_log_list_past(text, history, program->name, name);
    trace_text_char(text, '}');
    free(suite);
}

void runners_framework_list_json(const struct framework_program *program,
                                 const struct test_log_history *history,
                                 struct trace_text *text)
{
    trace_text_char(text, '[');
    for (size_t i = 0; i < program->chosen.count; i++)
        put_listed(program, history, program->chosen.all[i].name, text);
    if (!runners_framework_is_known(program) && !program->chooses)
        put_listed(program, history, program->name, text);
    trace_text_char(text, ']');
}

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
    status = runners_framework_write(&program->chosen, program->framework, out);
    snprintf(path, 64, "/proc/%ld/fd/%d", (long)getpid(), fd);
    return fclose(out) || status ? -1 : 0;
}

/* Adds the words of a text, which blanks separate. */
static int add_words(struct framework_start *start, const char *text)
{
    char *words = text ? strdup(text) : NULL, *rest = words, *word;
    int status = text && !words ? -1 : 0;

    while (!status && rest && (word = strsep(&rest, " \t")))
        status = *word ? runners_framework_argument(start, word, NULL) : 0;
    free(words);
    return status;
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

/* Makes the folder of the program, and finds where its report goes. */
static int find_report(struct framework_program *program,
                       const struct test_log_run *run, const char *folder)
{
    char part[PATH_MAX], path[PATH_MAX], absolute[PATH_MAX];

    free(program->report);
    program->report = NULL;
    if (snprintf(part, sizeof(part), "tests/%s", folder) >= PATH_MAX ||
        (test_log_make_folder(run, "tests") && errno != EEXIST) ||
        (test_log_make_folder(run, part) && errno != EEXIST) ||
        test_log_local_path(run, part, path) || !realpath(path, absolute) ||
        asprintf(&program->report, "%s/" REPORT, absolute) < 0)
        return -1;
    unlink(program->report);
    return 0;
}

/* A program with an adapter sends its results, and makes its folder. */
static int add_report(struct framework_program *program,
                      const struct test_log_run *run, const char *folder)
{
    const struct framework *framework = program->framework;
    struct framework_start *start = &program->start;

    if (program->has_adapter)
        return 0;
    return find_report(program, run, folder) ||
                   ADD_FORMS(start, framework->report, program->report,
                             runners_framework_argument) ||
                   ADD_FORMS(start, framework->variables, program->report,
                             runners_framework_variable)
               ? -1
               : 0;
}

static int add_chosen(struct framework_program *program)
{
    char path[64];

    if (!program->chooses || !runners_framework_chooses(program->framework))
        return 0;
    return write_chosen(program, path)
               ? -1
               : ADD_FORMS(&program->start, program->framework->chosen, path,
                           runners_framework_argument);
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
    program->began = test_log_run_time(run) + 1;
    program->changed = program->printed.began = test_log_now();
    program->told = 0;
    return add_words(start, program->arguments) ||
                   add_report(program, run, folder) || add_chosen(program) ||
                   add_flags(program)
               ? NULL
               : start;
}

/* ---- While it runs ---- */

bool runners_framework_prints(const struct framework_program *program)
{
    return program->framework->prints_tests;
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

    return limit > 0 ? limit : options->timeout;
}

/* The report of Catch2 grows when a test begins. */
static size_t told_by_report(const struct framework_program *program)
{
    struct stat status;

    return program->report && !stat(program->report, &status)
               ? (size_t)status.st_size
               : 0;
}

/* Returns since when the process has done nothing that can be seen. */
static uint64_t quiet_since(struct framework_program *program, size_t told)
{
    if (program->framework->prints_tests)
        return program->printed.began;
    told += told_by_report(program);
    if (told != program->told)
        program->changed = test_log_now();
    program->told = told;
    return program->changed;
}

static void look_at_stacks(struct framework_program *program, int pid)
{
    char tool[PATH_MAX], bytes[4096];
    struct trace_text command = {0};
    size_t size;
    FILE *in;

    if (program->options->stacks == TEST_LOG_STACKS_OFF ||
        !test_log_stacks_program(tool))
        return;
    test_log_add_word(&command, tool);
    trace_text_printf(&command,
                      " --fault=0,0,0,0,0,0 --exception=0,0 --first=0 %d "
                      "2>/dev/null",
                      pid);
    in = command.failed ? NULL : popen(command.data, "re");
    while (in && (size = fread(bytes, 1, sizeof(bytes), in)))
        trace_text_add(&program->stacks, bytes, size);
    if (in)
        pclose(in);
    trace_text_free(&command);
}

void runners_framework_check(struct framework_program *program, int pid,
                             size_t told)
{
    uint64_t since = quiet_since(program, told);
    double limit = limit_of(program);

    if (program->late || limit <= 0 ||
        (double)(test_log_now() - since) < limit * 1e9)
        return;
    program->late = true;
    look_at_stacks(program, pid);
    kill(pid, SIGKILL);
}

/* ---- How its tests ended ---- */

static struct test_log_result *find(const struct framework_program *program,
                                    const char *name)
{
    uintptr_t number;

    return trace_table_find(&program->known,
                            trace_hash_string(TRACE_HASH, name), &number)
               ? &program->results.results[number]
               : NULL;
}

static void learn(struct framework_program *program)
{
    for (size_t i = 0; i < program->results.count; i++)
        trace_table_set(
            &program->known,
            trace_hash_string(TRACE_HASH,
                              test_log_name(&program->results.results[i])),
            i);
}

static void explain(struct test_log_result *result, int status)
{
    char reason[64];

    if (status >= 0 && WIFSIGNALED(status))
        snprintf(reason, sizeof(reason), "%s",
                 test_log_signal(WTERMSIG(status)));
    else
        snprintf(reason, sizeof(reason), "its process exited with %d",
                 status >= 0 ? WEXITSTATUS(status) : 127);
    free(result->reason);
    result->reason = strdup(reason);
}

static void store_stacks(struct framework_program *program,
                         const struct test_log_run *run,
                         struct test_log_result *result)
{
    struct trace_file file;

    if (!program->stacks.size ||
        (!result->folder && !test_log_make_test_folder(run, result)) ||
        test_log_create_file(run, result, TEST_LOG_STACKS_FILE, &file))
        return;
    fwrite(program->stacks.data, 1, program->stacks.size, file.stream);
    trace_file_commit(&file);
}

/* Judges the test in which the process ended. */
static void judge_open(struct framework_program *program,
                       const struct test_log_run *run,
                       struct test_log_result *result, int status)
{
    if (!program->has_adapter)
        result->duration = test_log_now() - (program->framework->prints_tests
                                                 ? program->printed.began
                                                 : program->changed);
    if (program->late) {
        result->outcome = TEST_LOG_OUTCOME_TIMEOUT;
        free(result->reason);
        result->reason = NULL;
        store_stacks(program, run, result);
    } else if (!result->reason || result->outcome != TEST_LOG_OUTCOME_CRASHED) {
        result->outcome = TEST_LOG_OUTCOME_CRASHED;
        explain(result, status);
    }
}

/* Reads what a process tells of its tests: its report, otherwise its output. */
static bool read_results(struct framework_program *program,
                         struct test_log_run *round)
{
    FILE *in = program->report ? fopen(program->report, "re") : NULL;
    bool open = false;
    size_t count = in ? runners_framework_read_report(
                            round, in, program->framework, program->name, &open)
                      : 0;

    if (in)
        fclose(in);
    if (count)
        return open;
    for (size_t i = 0; i < program->seen.count; i++) {
        struct test_log_result *result = test_log_run_add(round);

        if (result)
            *result = program->seen.results[i];
    }
    program->seen.count = 0;
    return program->printed.runs;
}

/* Outside of tests, or without any, the program itself took too long. */
static bool add_itself(const struct framework_program *program,
                       struct test_log_run *round)
{
    struct test_log_result *result = test_log_run_add(round);

    if (!result)
        return false;
    result->program = strdup(program->name);
    result->test = strdup(program->name);
    return true;
}

/* A report tells how long tests took, but not when they began. */
static void set_times(const struct framework_program *program,
                      struct test_log_run *round)
{
    uint64_t began = program->began;

    for (size_t i = 0; i < round->count; i++) {
        round->results[i].began = began;
        began += round->results[i].duration;
    }
}

static void add_try(struct test_log_result *result,
                    struct test_log_result *before)
{
    size_t count = before->earlier_count;

    result->earlier = before->earlier;
    result->earlier_capacity = before->earlier_capacity;
    before->earlier = NULL;
    before->earlier_count = 0;
    if (TRACE_ARRAY_RESERVE(result->earlier, result->earlier_capacity,
                            count + 1)) {
        result->earlier[count++] = (struct test_log_try){
            .outcome = before->outcome,
            .reason = before->reason,
            .folder = before->folder,
            .began = before->began,
            .duration = before->duration,
        };
        before->reason = before->folder = NULL;
    }
    result->earlier_count = count;
}

/* Adds the results of a process to those of earlier ones. */
static void add_round(struct framework_program *program,
                      struct test_log_run *round)
{
    for (size_t i = 0; i < round->count; i++) {
        struct test_log_result *result = test_log_run_add(&program->results);
        struct test_log_result *before;

        if (!result)
            continue;
        *result = round->results[i];
        before = find(program, test_log_name(result));
        if (!before)
            continue;
        add_try(result, before);
        test_log_run_replace(&program->results,
                             (size_t)(before - program->results.results));
    }
    free(round->results);
    learn(program);
}

/* ---- The next process ---- */

static bool has_try_left(const struct framework_program *program,
                         const struct test_log_result *result)
{
    size_t retries =
        test_log_override_of(program->options, result->suite, result->test)
            .retries;

    return test_log_outcome_bad(result->outcome) &&
           result->earlier_count < retries;
}

static bool any_try_left(const struct framework_program *program)
{
    for (size_t i = 0; i < program->results.count; i++)
        if (has_try_left(program, &program->results.results[i]))
            return true;
    return false;
}

/* Leaves the tests that have not run, or failed and have another try. */
static void keep_rest(struct framework_program *program)
{
    struct framework_tests *tests = &program->chosen;
    size_t kept = 0;

    for (size_t i = 0; i < tests->count; i++) {
        struct framework_test *test = &tests->all[i];
        const struct test_log_result *result = find(program, test->name);

        if (!result || has_try_left(program, result)) {
            tests->all[kept++] = *test;
            continue;
        }
        free(test->name);
        free(test->own);
    }
    tests->count = kept;
}

static bool goes_on(struct framework_program *program, bool died, size_t ended)
{
    if (!ended || !runners_framework_chooses(program->framework) ||
        !(died || any_try_left(program)))
        return false;
    if (!program->chooses && list(program))
        return false;
    program->chooses = true;
    keep_rest(program);
    return program->chosen.count;
}

/* ---- The end of a process ---- */

/* Takes the results that the program has sent; true if the process ended in the
 * last test. */
static bool take_sent(struct framework_program *program,
                      struct test_log_run *run, size_t from,
                      struct test_log_run *round)
{
    for (size_t i = from; i < run->count; i++) {
        struct test_log_result *result = test_log_run_add(round);

        if (!result)
            break;
        *result = run->results[i];
        free(result->program);
        result->program = strdup(program->name);
    }
    run->count = from;
    return round->count &&
           round->results[round->count - 1].outcome == TEST_LOG_OUTCOME_CRASHED;
}

/* Reads how the tests of a process have ended; true if it ended in the last
 * one. */
static bool take_round(struct framework_program *program,
                       struct test_log_run *run, size_t from, int status,
                       struct test_log_run *round)
{
    bool open = program->has_adapter ? take_sent(program, run, from, round)
                                     : read_results(program, round);

    if (program->late && !open)
        open = add_itself(program, round);
    if (open && round->count && (!program->has_adapter || program->late))
        judge_open(program, run, &round->results[round->count - 1], status);
    if (!program->has_adapter)
        set_times(program, round);
    return open;
}

bool runners_framework_end(struct framework_program *program,
                           struct test_log_run *run, size_t from, int status)
{
    struct test_log_run round = {.count = 0};
    bool open = take_round(program, run, from, status, &round);
    bool died = open || status < 0 || WIFSIGNALED(status);
    size_t ended = round.count;

    add_round(program, &round);
    if (!goes_on(program, died, ended))
        return false;
    program->late = false;
    trace_text_free(&program->stacks);
    runners_printed_tests_free(&program->printed);
    return true;
}

static void report(const struct framework_program *program,
                   const struct test_log_run *run,
                   struct test_log_result *result)
{
    test_log_jsonl_result(result);
    if (program->framework->is_silent && !program->has_adapter &&
        test_log_outcome_bad(result->outcome))
        test_log_print_block(run, result, &program->options->output);
}

bool runners_framework_results(struct framework_program *program,
                               struct test_log_run *run)
{
    size_t from = run->count;

    for (size_t i = 0; i < program->results.count; i++) {
        struct test_log_result *result = test_log_run_add(run);

        if (!result)
            break;
        *result = program->results.results[i];
        report(program, run, result);
    }
    program->results.count = 0;
    return run->count > from;
}
