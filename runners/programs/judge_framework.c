/* judge_framework.c: how the tests of a program of another framework ended, and
 * which run again. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "framework_program.h"
#include "harness/core/in_process.h"
#include "harness/criterion/watch/jobs.h"
#include "harness/machine/notice.h"
#include "harness/machine/now.h"
#include "harness/options/options.h"
#include "harness/run/files/writers.h"
#include "harness/run/folder/run_folder.h"
#include "harness/run/model/test_stacks.h"
#include "trace/base/file.h"
#include "trace/base/strings.h"

enum { DEATHS_MOST = 100 }; /* of processes of a program */

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

static char *reason_of(int status)
{
    char reason[64];

    if (status >= 0 && WIFSIGNALED(status))
        snprintf(reason, sizeof(reason), "%s",
                 test_log_signal(WTERMSIG(status)));
    else
        snprintf(reason, sizeof(reason), "its process exited with %d",
                 status >= 0 ? WEXITSTATUS(status) : 127);
    return strdup(reason);
}

/* A program that is a test has its own. */
static bool make_folder(const struct test_log_run *run,
                        struct test_log_result *result)
{
    if (result->suite)
        return test_log_make_test_folder(run, result);
    if (test_log_make_program_folder(run, result->program) ||
        asprintf(&result->folder, "tests/%s", result->program) < 0)
        result->folder = NULL;
    return result->folder;
}

static void store_stacks(const struct trace_text *stacks,
                         const struct test_log_run *run,
                         struct test_log_result *result)
{
    struct trace_file file;

    if (!stacks->size || (!result->folder && !make_folder(run, result)) ||
        test_log_create_file(run, result, TEST_LOG_STACKS_FILE, &file))
        return;
    fwrite(stacks->data, 1, stacks->size, file.stream);
    trace_file_commit(&file);
}

void runners_framework_store_stacks(const struct framework_program *program,
                                    const struct test_log_run *run,
                                    struct test_log_result *result)
{
    store_stacks(&program->stacks, run, result);
}

static char *reason_of_timeout(uint64_t duration)
{
    char *reason = NULL;

    return duration && asprintf(&reason, "after %.2f s", duration / 1e9) >= 0
               ? reason
               : NULL;
}

static char *reason_of_death(const struct framework_program *program,
                             int status)
{
    const char *where = runners_framework_chooses(program->framework)
                            ? " outside of its tests"
                            : "";
    char reason[192];

    if (WIFSIGNALED(status))
        snprintf(reason, sizeof(reason), "the program died of %s%s",
                 test_log_signal(WTERMSIG(status)), where);
    else
        snprintf(reason, sizeof(reason),
                 "the program exited with %d%s and left no whole report of %s; "
                 "kind in " TEST_LOG_SETTINGS_FILE
                 " may tell another framework",
                 WEXITSTATUS(status), where, program->framework->title);
    return strdup(reason);
}

/* The first death counts. */
static void note_death(struct framework_program *program, const char *reason)
{
    if (program->death || !reason)
        return;
    program->death = strdup(reason);
    program->death_stacks = program->stacks;
    program->stacks = (struct trace_text){0};
    program->end =
        program->late ? TEST_LOG_OUTCOME_TIMEOUT : TEST_LOG_OUTCOME_CRASHED;
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
    else if (result->began)
        result->duration = test_log_run_time(run) - result->began;
    if (program->late) {
        result->outcome = TEST_LOG_OUTCOME_TIMEOUT;
        free(result->reason);
        result->reason = reason_of_timeout(result->duration);
        store_stacks(&program->stacks, run, result);
        return;
    }
    if (!result->reason || result->outcome != TEST_LOG_OUTCOME_CRASHED) {
        result->outcome = TEST_LOG_OUTCOME_CRASHED;
        free(result->reason);
        store_stacks(&program->stacks, run, result);
        result->reason = test_log_stacks_reason(run, result, "");
        if (!result->reason)
            result->reason = reason_of(status);
    }
}

/* ---- What a process tells ---- */

/* The program may have put anything there. */
static FILE *open_report(const char *folder, const char *name)
{
    char path[PATH_MAX];
    int fd = -1;

    if (snprintf(path, sizeof(path), "%s/%s", folder, name) < PATH_MAX)
        fd = trace_open_regular(path);
    return fd < 0 ? NULL : fdopen(fd, "r");
}

static void correct(const struct framework_program *program,
                    struct test_log_run *round)
{
    FILE *in = open_report(program->folder, FRAMEWORK_VERDICTS);

    if (!in)
        return;
    runners_framework_correct(round, in, program->name);
    fclose(in);
}

static enum told read_report(const struct framework_program *program,
                             struct test_log_run *round, bool *open)
{
    FILE *in = open_report(program->folder, "report.xml");
    bool whole;

    if (!in)
        return TOLD_NOTHING;
    whole = runners_framework_read_report(round, in, program->framework,
                                          program->name, open);
    fclose(in);
    correct(program, round);
    return whole ? TOLD_ALL : TOLD_PARTLY;
}

static enum told read_tap(const struct framework_program *program,
                          struct test_log_run *round)
{
    FILE *in = open_report(program->folder, "report.tap");
    bool whole;

    if (!in)
        return TOLD_NOTHING;
    whole = runners_framework_read_tap(round, in, program->name);
    fclose(in);
    return whole ? TOLD_ALL : TOLD_PARTLY;
}

static enum told read_output(struct framework_program *program,
                             struct test_log_run *round, bool *open)
{
    for (size_t i = 0; i < program->seen.count; i++) {
        struct test_log_result *result = test_log_run_add(round);

        if (result)
            *result = program->seen.results[i];
    }
    program->seen.count = 0;
    *open = program->printed.runs;
    return program->printed.ended ? TOLD_ALL
           : round->count         ? TOLD_PARTLY
                                  : TOLD_NOTHING;
}

static void say_source(const struct framework_program *program,
                       const char *source)
{
    test_log_notice("run: %s left no report of %s, because it writes another "
                    "or none; %s",
                    program->path, program->framework->title, source);
}

/* Judges a program whose framework would have begun a report before the first
 * test: only its exit code is left, and how many checks failed. If it printed
 * that tests begin, but no end, it died. */
static void judge_by_code(struct framework_program *program,
                          struct test_log_run *round, int status)
{
    unsigned bad = program->printed.check.bad;
    char reason[128];

    if (program->printed.check.begun > program->printed.check.ended)
        return;
    program->by_code = true;
    say_source(program, "its exit code tells how it ended");
    if (!bad || WEXITSTATUS(status))
        return;
    snprintf(reason, sizeof(reason),
             "%u of its checks failed, but it exited with 0", bad);
    runners_framework_itself(round, program->name, TEST_LOG_OUTCOME_FAILED,
                             reason);
}

/* Reads what a process tells of its tests: its report, otherwise another one or
 * its output. */
static enum told read_results(struct framework_program *program,
                              struct test_log_run *round, int status,
                              bool *open)
{
    enum told told = TOLD_NOTHING;

    if (!program->folder || status < 0) /* what is there is not its own */
        return told;
    runners_report_pipes_end(program);
    told = read_report(program, round, open);
    if (!told && (told = read_tap(program, round)))
        say_source(program, "its report in TAP tells how its tests ended");
    if (!round->count && program->framework->prints_tests) {
        enum told printed = read_output(program, round, open);

        if (!told && printed == TOLD_ALL && program->framework->report[0])
            say_source(program, "its output tells how its tests ended");
        if (!told)
            told = printed;
    }
    if (!told && program->framework->begins_report && status >= 0 &&
        WIFEXITED(status))
        judge_by_code(program, round, status);
    return told;
}

struct test_log_result *runners_framework_itself(struct test_log_run *run,
                                                 const char *program,
                                                 enum test_log_outcome outcome,
                                                 const char *reason)
{
    struct test_log_result *result = test_log_run_add(run);

    if (!result)
        return NULL;
    result->program = strdup(program);
    result->test = strdup(program);
    result->outcome = outcome;
    result->reason = reason ? strdup(reason) : NULL;
    return result;
}

void runners_framework_number_twins(struct test_log_run *run, size_t from)
{
    struct trace_table counts = {0};

    for (size_t i = from; i < run->count; i++) {
        struct test_log_result *result = &run->results[i];
        size_t number = runners_framework_twin(&counts, test_log_name(result));
        char *name;

        if (number == 1 ||
            asprintf(&name, "%s (%zu)", result->test, number) < 0)
            continue;
        free(result->test);
        result->test = name;
    }
    trace_table_free(&counts);
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

/* ---- Which results count ---- */

static size_t tries_left(const struct framework_program *program,
                         const struct test_log_result *result)
{
    size_t retries =
        test_log_override_of(program->options, result->suite, result->test)
            .retries;

    return test_log_outcome_bad(result->outcome) &&
                   result->earlier_count < retries &&
                   !(result->suite &&
                     test_log_known_of(&program->options->known, result->suite,
                                       result->test))
               ? retries - result->earlier_count
               : 0;
}

/* Whether a result is that of a test that was chosen. More may have run. */
static bool is_chosen(const struct framework_program *program,
                      const struct trace_table *chosen, const char *name)
{
    uintptr_t found;

    return !program->chooses ||
           program->framework->form == FRAMEWORK_LIST_SUITES ||
           trace_table_find(chosen, trace_hash_string(TRACE_HASH, name),
                            &found);
}

/* Whether a result of a program that runs whole is of a test that is selected,
 * and for a retry has failed. */
static bool is_selected(const struct framework_program *program,
                        const char *name, const char *title)
{
    const struct test_log_result *before =
        program->again ? find(program, name) : NULL;

    if (program->again && (!before || !tries_left(program, before)))
        return false;
    return !program->selects ||
           runners_framework_selects(program->options, program->history,
                                     program->name, name, title);
}

static void drop_uncounted(struct framework_program *program,
                           struct test_log_run *round)
{
    struct trace_table chosen = {0};
    size_t kept = 0;

    for (size_t i = 0; program->chooses && i < program->taken; i++)
        trace_table_set(
            &chosen, trace_hash_string(TRACE_HASH, program->chosen.all[i].name),
            1);
    for (size_t i = 0; i < round->count; i++) {
        struct test_log_result one = round->results[i];
        const char *name = test_log_name(&one);

        if (one.suite && (!is_chosen(program, &chosen, name) ||
                          !is_selected(program, name, one.title))) {
            program->explained |= test_log_outcome_bad(one.outcome);
            continue;
        }
        round->results[i] = round->results[kept];
        round->results[kept++] = one;
    }
    program->left_out += round->count - kept;
    while (round->count > kept)
        test_log_run_drop(round);
    trace_table_free(&chosen);
}

/* Adds the results of a process to those of earlier ones. */
static void add_round(struct framework_program *program,
                      struct test_log_run *round)
{
    for (size_t i = 0; i < round->count; i++)
        if (!round->results[i].title)
            round->results[i].title =
                runners_framework_title(program->framework, &round->results[i]);
    drop_uncounted(program, round);
    for (size_t i = 0; i < round->count; i++) {
        struct test_log_result *result = test_log_run_add(&program->results);
        struct test_log_result *before;

        if (!result)
            continue;
        *result = round->results[i];
        before = find(program, test_log_name(result));
        if (!before)
            continue;
        test_log_add_try(result, before);
        test_log_run_replace(&program->results,
                             (size_t)(before - program->results.results));
    }
    free(round->results);
    learn(program);
}

/* ---- A process that told nothing ---- */

static struct test_log_result *add_listed(
    const struct framework_program *program, struct test_log_run *round,
    const struct framework_test *test)
{
    struct test_log_result *result = test_log_run_add(round);

    if (!result)
        return NULL;
    result->program = strdup(program->name);
    result->suite = strndup(test->name, test->suite);
    result->test = strdup(test->name + test->suite + 1);
    result->title = runners_framework_title(program->framework, result);
    return result;
}

/* Lists the tests of a program that was to run them all, because its process
 * has died. The disabled ones have no other result. */
static int list_all(struct framework_program *program)
{
    struct framework_tests *tests = &program->chosen;

    if (runners_framework_list_own(program, true))
        return -1;
    for (size_t i = 0; i < tests->count; i++) {
        const struct framework_test *test = &tests->all[i];
        struct test_log_result *result = NULL;

        if (test->disabled && !find(program, test->name))
            result = add_listed(program, &program->results, test);
        if (!result)
            continue;
        result->outcome = TEST_LOG_OUTCOME_SKIPPED;
        result->reason = strdup("disabled");
        result->file = test->file ? strdup(test->file) : NULL;
        result->line = test->line;
    }
    runners_framework_drop_disabled(tests);
    learn(program);
    return 0;
}

/* Whether every test that has run died alone: the program always does. */
static bool always_dies(const struct framework_program *program)
{
    size_t died = 0;

    for (size_t i = 0; i < program->results.count; i++) {
        const struct test_log_result *result = &program->results.results[i];

        if (result->outcome == TEST_LOG_OUTCOME_CRASHED)
            died++;
        else if (!result->suite ||
                 !runners_framework_is_disabled(result->suite, result->test))
            return false;
    }
    return died > 1;
}

/* Whether a process died, and its framework can choose tests, but told nothing
 * of them. An exit code of its own is none. */
static bool is_silent_death(const struct framework_program *program,
                            const struct test_log_run *round, int status,
                            enum told told)
{
    return runners_framework_chooses(program->framework) &&
           !program->interrupted && !round->count && told != TOLD_ALL &&
           !program->by_code && status >= 0 &&
           (told || !WIFEXITED(status) || !WEXITSTATUS(status));
}

/* Some frameworks write their report at the end only. If a process dies before,
 * half of its tests run in the next one, until it is known which test dies.
 * Returns whether it was. */
static bool judge_silent(struct framework_program *program,
                         const struct test_log_run *run,
                         struct test_log_run *round, int status)
{
    struct test_log_result *result;

    if (!program->chooses && list_all(program))
        return false;
    if (!program->chooses)
        program->taken = program->chosen.count;
    program->broken = !program->taken || always_dies(program);
    if (program->broken)
        return false;
    program->chooses = true;
    if (!program->late) {
        char *reason = reason_of_death(program, status);

        note_death(program, reason);
        free(reason);
    }
    program->batch = (program->taken + 1) / 2;
    if (program->taken > 1)
        return true;
    result = add_listed(program, round, &program->chosen.all[0]);
    if (result)
        judge_open(program, run, result, status);
    return result;
}

/* ---- The next process ---- */

static bool any_try_left(const struct framework_program *program)
{
    for (size_t i = 0; i < program->results.count; i++)
        if (program->results.results[i].suite &&
            tries_left(program, &program->results.results[i]))
            return true;
    return false;
}

/* Leaves the tests that have not run, or failed and have another try. Returns
 * how many processes these may need at most, which each one makes fewer. */
static size_t keep_rest(struct framework_program *program)
{
    struct framework_tests *tests = &program->chosen;
    size_t kept = 0, tries = 0;

    for (size_t i = 0; i < tests->count; i++) {
        struct framework_test *test = &tests->all[i];
        const struct test_log_result *result = find(program, test->name);
        size_t left = result ? tries_left(program, result)
                             : 1 + test_log_most_retries(program->options);

        tries += left;
        if (left) {
            tests->all[kept++] = *test;
            continue;
        }
        runners_framework_test_free(test);
    }
    tests->count = kept;
    return tries;
}

static size_t count_missing(const struct framework_program *program)
{
    size_t count = 0;

    for (size_t i = 0; i < program->chosen.count; i++)
        count += !find(program, program->chosen.all[i].name);
    return count;
}

/* Says that tests did not run, because of too many deaths or because the
 * program runs others than it is asked for. */
static void add_missing(struct framework_program *program)
{
    size_t count = count_missing(program);
    const char *why = program->deaths == DEATHS_MOST ? "it died too often"
                      : program->death               ? program->death
                                                     : NULL;
    char *reason;

    if (!count || asprintf(&reason, "%zu of its tests did not run%s%s", count,
                           why ? ": " : "", why ? why : "") < 0)
        return;
    runners_framework_itself(&program->results, program->name,
                             TEST_LOG_OUTCOME_CRASHED, reason);
    free(reason);
}

static bool is_death(enum test_log_outcome outcome)
{
    return outcome == TEST_LOG_OUTCOME_CRASHED ||
           outcome == TEST_LOG_OUTCOME_TIMEOUT;
}

/* Says that a process died, though none of its tests does. */
static void add_death(struct framework_program *program,
                      const struct test_log_run *run)
{
    struct test_log_result *itself;

    for (size_t i = 0; i < program->results.count; i++) {
        const struct test_log_result *result = &program->results.results[i];

        if (is_death(result->outcome))
            return;
        for (size_t n = 0; n < result->earlier_count; n++)
            if (is_death(result->earlier[n].outcome))
                return;
    }
    if (!program->death)
        return;
    itself = runners_framework_itself(&program->results, program->name,
                                      program->end, program->death);
    if (itself)
        store_stacks(&program->death_stacks, run, itself);
}

/* Whether tests are left that must run in another process. */
static bool any_left(struct framework_program *program, bool died)
{
    bool part, narrows;
    size_t tries;

    if (!died && !program->chooses && !any_try_left(program))
        return false;
    if (!program->chooses && list_all(program))
        return false;
    program->chooses = true;
    if (program->broken)
        return false;
    part = program->taken && program->taken < program->chosen.count;
    if (!died)
        program->batch *= 2;
    tries = keep_rest(program);
    narrows = program->batch && program->batch < program->taken;
    if (!tries || !(died || part || any_try_left(program)) ||
        !(!program->tries || tries < program->tries || part || narrows))
        return false;
    program->tries = tries;
    return !died || ++program->deaths < DEATHS_MOST;
}

/* Whether there is something to run in another process. */
static bool goes_on(struct framework_program *program,
                    const struct test_log_run *run, bool died)
{
    if (!runners_framework_chooses(program->framework))
        return any_try_left(program) &&
               program->again++ < test_log_most_retries(program->options);
    if (any_left(program, died))
        return true;
    add_missing(program);
    add_death(program, run);
    return false;
}

/* ---- The end of a process ---- */

/* Whether the process died in the last test; Catch2 reports signals, too. */
static bool is_explained(const struct test_log_run *round)
{
    return round->count &&
           round->results[round->count - 1].outcome == TEST_LOG_OUTCOME_CRASHED;
}

/* ---- Repetitions ---- */

static bool any_bad(const struct test_log_run *round)
{
    for (size_t i = 0; i < round->count; i++)
        if (test_log_outcome_bad(round->results[i].outcome))
            return true;
    return false;
}

void runners_framework_repetition(const struct framework_program *program,
                                  char text[32])
{
    int digits = snprintf(text, 32, "%zu", program->options->repeat + 1);

    snprintf(text, 32, "#%0*zu", digits, program->repetition.number);
}

/* The names of an adapter's results have the end already. */
static void drop_repetition(const struct framework_program *program,
                            struct test_log_result *result)
{
    if (!program->repetition.number)
        return;
    result->test[test_log_base_size(result->test)] = '\0';
    if (result->title)
        result->title[test_log_base_size(result->title)] = '\0';
}

static void add_end(char **name, const char *end)
{
    char *longer;

    if (!*name || asprintf(&longer, "%s%s", *name, end) < 0)
        return;
    free(*name);
    *name = longer;
}

static bool has_program(const struct test_log_run *results)
{
    for (size_t i = 0; i < results->count; i++)
        if (!results->results[i].suite)
            return true;
    return false;
}

/* Moves the results of the repetition to those of earlier ones. Lines
 * about the program itself are printed once. */
static void end_repetition(struct framework_program *program)
{
    char end[32];

    runners_framework_repetition(program, end);
    for (size_t i = 0; i < program->results.count; i++) {
        struct test_log_run *done = &program->repetition.done;
        struct test_log_result *from = &program->results.results[i], *to;
        bool again = !from->suite && has_program(done);

        to = again ? NULL : test_log_run_add(done);
        if (!to)
            continue;
        *to = *from;
        *from = (struct test_log_result){.line = 0};
        if (to->suite) {
            add_end(&to->test, end);
            add_end(&to->title, end);
        }
    }
    test_log_run_free(&program->results);
}

/* Prepares the next repetition; false if there is none. */
static bool repeats(struct framework_program *program)
{
    const struct test_log_options *options = program->options;
    bool stops = options->fail_fast && any_bad(&program->results);

    if (!program->repetition.number)
        return false;
    end_repetition(program);
    if (stops || program->repetition.number >= options->repeat)
        return false;
    program->repetition.number++;
    program->chooses = program->repetition.chooses;
    program->batch = program->taken = program->tries = program->again = 0;
    program->deaths = 0;
    program->broken = false;
    free(program->death);
    program->death = NULL;
    trace_text_free(&program->death_stacks);
    trace_table_free(&program->known);
    return !runners_framework_tests_copy(&program->chosen,
                                         &program->repetition.chosen);
}

/* Whether a result is not as the program has sent it: because we judged that
 * the test crashed, or because its recording was copied since. The latter
 * matters only where the run is made of these lines. */
static bool must_be_written(const struct test_log_run *run,
                            const struct test_log_result *result)
{
    return result->outcome == TEST_LOG_OUTCOME_CRASHED ||
           (test_log_is_part(run) && result->recording);
}

static void rename_to_program(struct test_log_result *result)
{
    free(result->suite);
    free(result->test);
    free(result->title);
    result->suite = result->title = NULL;
    result->test = strdup(result->program);
}

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
        if (!strcmp(result->test, TEST_LOG_OF_PROGRAM))
            rename_to_program(result);
        drop_repetition(program, result);
        if (!must_be_written(run, result))
            result->written = result->outcome;
    }
    run->count = from;
    return is_explained(round);
}

/* Judges a process that ended outside of its tests; true if it died. If its
 * framework can choose tests, the others run in another process, and it is
 * judged after that. */
static bool judge_process(struct framework_program *program,
                          struct test_log_run *round, int status,
                          enum told told)
{
    char *reason = NULL;

    if (status < 0 || is_explained(round) || program->by_code ||
        !runners_framework_reports(program->framework))
        return false; /* the status is judged with the program */
    if (program->late)
        reason = reason_of_timeout(test_log_now() - program->changed);
    else if (WIFSIGNALED(status) ||
             (told != TOLD_ALL && (!WEXITSTATUS(status) || round->count)))
        reason = reason_of_death(program, status);
    if (!reason)
        return false;
    if (!runners_framework_chooses(program->framework) || program->interrupted)
        runners_framework_itself(round, program->name, TEST_LOG_OUTCOME_CRASHED,
                                 reason);
    else
        note_death(program, reason);
    free(reason);
    return true;
}

/* Whether a process whose adapter has told all died outside of its tests. */
static bool dies_outside(const struct framework_program *program, int status)
{
    return status >= 0 && WIFSIGNALED(status) && !program->interrupted &&
           runners_framework_chooses(program->framework);
}

/* Whether a test has ended the process of an adapter by exit(). */
static bool has_left(const struct framework_program *program,
                     const struct test_log_run *round)
{
    const struct test_log_result *last =
        round->count ? &round->results[round->count - 1] : NULL;

    return program->has_adapter && last &&
           last->outcome == TEST_LOG_OUTCOME_FAILED && last->reason &&
           !strcmp(last->reason, "not ended");
}

/* Tests that failed explain another exit code. */
static void add_sanitizer_error(struct framework_program *program,
                                struct test_log_run *round)
{
    if (!program->has_sanitizer_error)
        runners_framework_itself(round, program->name, TEST_LOG_OUTCOME_FAILED,
                                 "a sanitizer found an error that is not of "
                                 "one test, such as a leak");
    program->has_sanitizer_error = true;
}

/* Reads how the tests of a process have ended; true if it died. */
static bool take_round(struct framework_program *program,
                       struct test_log_run *run, size_t from, int status,
                       struct test_log_run *round)
{
    bool open = false, complete, died = false;
    enum told told = TOLD_ALL;

    program->by_code = false;
    if (program->has_adapter)
        open = take_sent(program, run, from, round);
    else
        told = read_results(program, round, status, &open);
    complete = told == TOLD_ALL;
    if (is_silent_death(program, round, status, told) &&
        judge_silent(program, run, round, status))
        return true;
    if (program->late && !open &&
        (program->has_adapter ||
         !runners_framework_chooses(program->framework)))
        open = runners_framework_itself(round, program->name,
                                        TEST_LOG_OUTCOME_NONE, NULL);
    if (open && round->count)
        judge_open(program, run, &round->results[round->count - 1], status);
    else if (!open && (!program->has_adapter || dies_outside(program, status)))
        died = judge_process(program, round, status, told);
    if (!program->has_adapter) {
        runners_printed_suites_take(&program->printed, round);
        runners_framework_number_twins(round, 0);
        set_times(program, round);
    }
    if (!open && runners_sanitizer_ended(program, status))
        add_sanitizer_error(program, round);
    program->is_empty = complete && !status && !round->count &&
                        runners_framework_reports(program->framework);
    return open || died || status < 0 || WIFSIGNALED(status) ||
           has_left(program, round) || (!complete && any_bad(round));
}

/* A test that our own signal ended is no crash. */
static void forgive(struct test_log_run *round)
{
    struct test_log_result *last =
        round->count ? &round->results[round->count - 1] : NULL;

    if (!last || last->outcome != TEST_LOG_OUTCOME_CRASHED)
        return;
    last->outcome = TEST_LOG_OUTCOME_SKIPPED;
    free(last->reason);
    last->reason = strdup(TEST_LOG_CUT_SHORT);
}

bool runners_framework_end(struct framework_program *program,
                           struct test_log_run *run, size_t from, int status,
                           bool interrupted)
{
    struct test_log_run round = {.count = 0};
    bool died;

    program->interrupted = interrupted;
    if (status >= 0 && WIFSIGNALED(status))
        runners_left_crash_read(program, WTERMSIG(status));
    died = take_round(program, run, from, status, &round);
    if (interrupted)
        forgive(&round);
    add_round(program, &round);
    if (interrupted || (!goes_on(program, run, died) && !repeats(program)))
        return false;
    program->late = false;
    trace_text_free(&program->stacks);
    runners_printed_tests_free(&program->printed);
    return true;
}

/* A framework prints failures, unless it prints a report only; it does not
 * print what ended its process. */
static void report(const struct framework_program *program,
                   const struct test_log_run *run,
                   struct test_log_result *result)
{
    bool tells = result->outcome == TEST_LOG_OUTCOME_FAILED &&
                 (program->has_adapter || !program->framework->is_silent);

    test_log_jsonl_result(result);
    if (!tells && test_log_outcome_bad(result->outcome))
        test_log_print_block(run, result, &program->options->output);
}

bool runners_framework_results(struct framework_program *program,
                               struct test_log_run *run)
{
    size_t from = run->count;

    if (program->repetition.number) {
        end_repetition(program);
        test_log_run_free(&program->results);
        program->results = program->repetition.done;
        program->repetition.done = (struct test_log_run){.count = 0};
        run->repeat = program->options->repeat;
    }
    for (size_t i = 0; i < program->results.count; i++) {
        struct test_log_result *result = test_log_run_add(run);

        if (!result)
            break;
        *result = program->results.results[i];
        if (result->suite)
            test_log_known_judge(test_log_known_of(&program->options->known,
                                                   result->suite, result->test),
                                 NULL, result);
        report(program, run, result);
    }
    program->results.count = 0;
    program->is_empty &= !program->left_out;
    return run->count > from || program->is_empty || program->left_out;
}

int runners_framework_status(const struct framework_program *program,
                             int status)
{
    return program->explained && status >= 0 && WIFEXITED(status) ? 0 : status;
}

bool runners_framework_selects_none(const struct framework_program *program)
{
    return program->selects && program->left_out;
}
