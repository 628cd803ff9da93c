/* judge_run.c: ends the run of a program that has died. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "harness/core/core_run.h"
#include "harness/core/in_process.h"
#include "harness/machine/notice.h"
#include "harness/pending_output.h"
#include "harness/run/files/writers.h"
#include "harness/run/finish_run.h"
#include "harness/run/folder/run_folder.h"
#include "harness/session.h"

/* Returns the name of the only program, to be freed; NULL if there are none or
 * several. */
static char *program_of(const char *path)
{
    char folder[PATH_MAX];
    struct dirent *entry;
    char *name = NULL;
    DIR *programs;
    int count = 0;

    if (snprintf(folder, sizeof(folder), "%s/tests", path) >= PATH_MAX)
        return NULL;
    programs = opendir(folder);
    while (programs && (entry = readdir(programs))) {
        if (entry->d_name[0] == '.')
            continue;
        free(name);
        name = strdup(entry->d_name);
        count++;
    }
    if (programs)
        closedir(programs);
    if (count == 1)
        return name;
    free(name);
    return NULL;
}

/* Opens a file of a process's folder in the run; -1 if there is none. */
static int open_file(const struct test_log_run *run, const char *process,
                     const char *file, int flags)
{
    char name[PATH_MAX];

    return snprintf(name, sizeof(name), "tests/%s/%s", process, file) < PATH_MAX
               ? test_log_open(run, name, flags)
               : -1;
}

/* Reads the journal if there is one, and neither its process nor a child is
 * still in a test. */
static bool read_journal(const struct test_log_run *run,
                         struct test_log_journal *journal)
{
    int fd = open_file(run, test_log_process_folder(run), TEST_LOG_JOURNAL,
                       O_RDONLY);
    bool read;

    if (fd < 0)
        return false;
    read =
        !test_log_journal_is_owned(fd) && !test_log_journal_read(journal, fd);
    close(fd);
    if (read && (test_log_journal_is_alive(journal) ||
                 test_log_journal_running(journal))) {
        test_log_journal_free(journal);
        return false;
    }
    return read;
}

static char *fact(const struct test_log_journal *journal, const char *name)
{
    const char *value = test_log_journal_value(journal, name);

    return value ? strdup(value) : NULL;
}

static void take_facts(struct test_log_run *run,
                       const struct test_log_journal *journal)
{
    const char *start = test_log_journal_value(journal, "start");

    if (start)
        run->start = test_log_anchor_of(start);
    run->command = fact(journal, "command");
    run->commit = fact(journal, "commit");
    run->executable = test_log_journal_value(journal, "executable");
    run->show = fact(journal, "log");
    run->show_origin = fact(journal, "log_origin");
    run->record = fact(journal, "trace");
    run->record_origin = fact(journal, "trace_origin");
    run->annotated = true;
    run->flagless = true;
    run->process = test_log_journal_owner(journal);
}

/* Returns the test that the program died in; NULL if it did in none. */
static const struct test_log_result *crashed_in(const struct test_log_run *run)
{
    for (size_t i = 0; i < run->count; i++)
        if (run->results[i].outcome == TEST_LOG_OUTCOME_CRASHED)
            return &run->results[i];
    return NULL;
}

/* Adds that the program died outside of its tests, if it could note so. */
static void add_death(struct test_log_run *run,
                      const struct test_log_journal *journal)
{
    const char *died = test_log_journal_value(journal, TEST_LOG_DIED);
    struct test_log_result *result = died ? test_log_run_add(run) : NULL;

    if (!result)
        return;
    result->program = strdup(run->program);
    result->test = strdup(run->program);
    result->outcome = TEST_LOG_OUTCOME_CRASHED;
    if (asprintf(&result->reason, "the program died of %s outside of its tests",
                 died) < 0)
        result->reason = NULL;
}

/* Says which test the program died in, if it did in one. */
static void say(const struct test_log_run *run)
{
    const struct test_log_result *crashed = crashed_in(run);

    if (crashed)
        test_log_notice("%s: %s died in %s (%s); its tests are judged now",
                        run->path, run->program, test_log_title(crashed),
                        crashed->reason ? crashed->reason : "");
    else
        test_log_notice("%s: %s ended without writing its run; its tests are "
                        "judged now",
                        run->path, run->program);
}

static void judge(struct test_log_run *run, struct test_log_journal *journal,
                  const struct test_log_options *options)
{
    take_facts(run, journal);
    test_log_core_results(run, 0, journal, &options->output.style, false);
    if (!crashed_in(run))
        add_death(run, journal);
    run->took = test_log_run_last_end(run);
    test_log_run_finish(
        run, &(struct test_log_finish){.options = options,
                                       .without = TEST_LOG_WITHOUT(PRUNE)});
    if (test_log_core_is_written(run))
        test_log_core_remove_journal(run);
}

static void print_bad(struct test_log_run *run, size_t from)
{
    for (size_t i = from; run->output && i < run->count; i++)
        if (!run->output->quiet &&
            test_log_outcome_bad(run->results[i].outcome))
            test_log_print_block(run, &run->results[i], run->output);
}

bool test_log_judge_program(struct test_log_run *run, const char *program,
                            const char *process, size_t from, bool prints)
{
    const struct log_style style = {.format = LOG_FORMAT_FULL};
    const char *process_of_run = run->parent.process;
    char *program_of_run = run->program;
    struct test_log_journal journal;
    size_t before = run->count;
    bool read;

    run->program = (char *)program;
    run->parent.process = process;
    read = run->path && read_journal(run, &journal);
    if (read) {
        test_log_core_results(run, from, &journal, &style, false);
        test_log_core_remove_journal(run);
        test_log_journal_free(&journal);
    }
    run->program = program_of_run;
    run->parent.process = process_of_run;
    if (prints)
        print_bad(run, before);
    return read;
}

void test_log_core_take_output(const struct test_log_run *run,
                               const char *process)
{
    int journals = open_file(run, process, TEST_LOG_JOURNAL, O_RDONLY);
    int output = open_file(run, process, TEST_LOG_OUTPUT, O_WRONLY | O_APPEND);
    struct test_log_journal journal;

    if (journals >= 0 && output >= 0 &&
        !test_log_journal_read(&journal, journals)) {
        const char *at = test_log_journal_value(&journal, "stdout");

        if (at && test_log_journal_is_alive(&journal))
            test_log_take_pending(test_log_journal_owner(&journal),
                                  strtoull(at, NULL, 10), output);
        test_log_journal_free(&journal);
    }
    if (journals >= 0)
        close(journals);
    if (output >= 0)
        close(output);
}

/* Holds the run, unless a process still writes to it or judges it. */
static bool hold(struct test_log_run *run)
{
    run->lock = openat(run->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (run->lock < 0)
        run->lock = 0;
    return run->lock && !flock(run->lock, LOCK_EX | LOCK_NB);
}

/* Tests that have ended have been printed. */
static void show(struct test_log_run *run,
                 const struct test_log_options *options)
{
    struct test_log_history history;

    for (size_t i = 0; !options->output.quiet && i < run->count; i++)
        if (run->results[i].outcome == TEST_LOG_OUTCOME_CRASHED)
            test_log_print_block(run, &run->results[i], &options->output);
    test_log_history_open(&history, options->dir, NULL,
                          test_log_flavour_given(options));
    test_log_history_read(&history, test_log_rerun_name(run->executable));
    test_log_run_print(run, options, &history, NULL, NULL);
    test_log_history_free(&history);
}

/* Judges the run, and prints it as the options say; NULL: only a notice. */
static int judge_at(const char *path, const struct test_log_options *shown)
{
    char dir[PATH_MAX];
    const struct test_log_options hidden = {.profiler = trace_profiler_default,
                                            .dir = dir};
    struct test_log_run run = {.path = realpath(path, NULL)};
    struct test_log_journal journal;
    int status = -1;

    run.folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
    if (run.path && run.folder > 0 && !test_log_core_is_written(&run))
        run.program = program_of(path);
    if (run.program && hold(&run) && read_journal(&run, &journal)) {
        if (test_log_journal_value(&journal, "alone")) {
            snprintf(dir, sizeof(dir), "%s", run.path);
            *strrchr(dir, '/') = '\0';
            run.output = shown ? &shown->output : NULL;
            judge(&run, &journal, shown ? shown : &hidden);
            if (shown)
                show(&run, shown);
            else
                say(&run);
            status = 0;
        }
        test_log_journal_free(&journal);
    }
    if (run.folder < 0)
        run.folder = 0;
    test_log_run_free(&run);
    return status;
}

void test_log_judge(const char *path)
{
    judge_at(path, NULL);
}

int test_log_judge_shown(const char *path,
                         const struct test_log_options *options)
{
    return judge_at(path, options);
}
