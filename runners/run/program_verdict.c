/* program_verdict.c: what the end of a program means for the run. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "harness/options/options.h"
#include "harness/run/files/writers.h"
#include "harness/run/model/test_stacks.h"
#include "run.h"

enum { BAD_PATTERN = 3 }; /* Criterion's code */

/* Programs of any build system say so that they were skipped. */
enum { SKIPPED = 77 };

static const char refusal[] = "OPTIONS\noptions: \n"
                              "    -h or --help: prints this message\n";

void runners_refusal_read(void *seen, const char *bytes, size_t size)
{
    size_t *matched = seen;

    for (size_t i = 0; i < size && refusal[*matched]; i++)
        if (bytes[i] == refusal[*matched])
            ++*matched;
        else
            *matched = bytes[i] == refusal[0];
}

bool runners_refusal_is_whole(size_t seen)
{
    return !refusal[seen];
}

static void add_stacks(const struct test_log_run *run,
                       struct test_log_result *result,
                       const struct program_end *end)
{
    char *why, *reason;

    runners_framework_store_stacks(end->framework, run, result);
    why = test_log_stacks_reason(run, result, "");
    if (why && asprintf(&reason, "the program died of %s", why) >= 0) {
        free(result->reason);
        result->reason = reason;
    }
    free(why);
}

/* A program counts as one test. */
static void add_program(struct test_log_run *run, const struct program_end *end,
                        enum test_log_outcome outcome, const char *reason)
{
    struct test_log_result *result =
        runners_framework_itself(run, end->folder, outcome, reason);

    if (!result)
        return;
    result->began = end->began;
    result->duration = end->duration;
    if (end->has_output &&
        asprintf(&result->folder, "tests/%s", end->process) < 0)
        result->folder = NULL;
    if (end->framework)
        add_stacks(run, result, end);
    test_log_jsonl_result(result);
}

static void explain(char *reason, size_t size, const struct program_end *end)
{
    int status = end->status;

    if (status < 0)
        snprintf(reason, size, "cannot be run: %s", strerror(-status));
    else if (WIFSIGNALED(status))
        snprintf(reason, size, "the program died of %s",
                 test_log_signal(WTERMSIG(status)));
    else if (!status && !end->told)
        snprintf(reason, size, "no test ran: %s, and Criterion lacks %s",
                 end->is_script ? "it starts a program without testlog"
                                : "its main does not call test_log_main",
                 end->own_flag);
    else
        snprintf(reason, size, "the program exited with %d%s",
                 WEXITSTATUS(status),
                 end->told == TOLD_PARTLY ? " before its tests ended" : "");
}

static int exit_status(int status)
{
    return status >= 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int fail(struct test_log_run *run, const struct program_end *end,
                enum test_log_outcome outcome)
{
    char reason[160];

    explain(reason, sizeof(reason), end);
    add_program(run, end, outcome, reason);
    return TEST_LOG_EXIT_FAILED;
}

/* The exit code is all that is known. */
static int verdict_by_code(struct test_log_run *run,
                           const struct program_end *end)
{
    int code = exit_status(end->status);

    if (code && code != SKIPPED)
        return fail(run, end,
                    code > 0 ? TEST_LOG_OUTCOME_FAILED
                             : TEST_LOG_OUTCOME_CRASHED);
    add_program(run, end,
                code ? TEST_LOG_OUTCOME_SKIPPED : TEST_LOG_OUTCOME_PASSED,
                code ? "the program exited with 77" : NULL);
    return TEST_LOG_EXIT_PASSED;
}

/* A script may start any program, which may mean anything by the code. */
static int verdict_of_usage(struct test_log_run *run,
                            const struct program_end *end)
{
    fail(run, end, TEST_LOG_OUTCOME_FAILED);
    return TEST_LOG_EXIT_USAGE;
}

static bool has_tests(const struct test_log_run *run, const char *folder)
{
    for (size_t i = run->count; i-- > 0;)
        if (!strcmp(run->results[i].program, folder))
            return true;
    return false;
}

/* The signal that ends the run is no fault of the program's. */
static bool is_interrupted(const struct program_end *end)
{
    return end->status >= 0 && WIFSIGNALED(end->status) &&
           WTERMSIG(end->status) == runners_interrupted();
}

int runners_verdict(struct test_log_run *run, const struct program_end *end)
{
    int code = exit_status(end->status);
    enum told told = end->told;

    if (is_interrupted(end)) {
        if (!has_tests(run, end->folder))
            add_program(run, end, TEST_LOG_OUTCOME_SKIPPED, TEST_LOG_CUT_SHORT);
        return TEST_LOG_EXIT_PASSED;
    }
    if (told == TOLD_FLAGLESS && !code) /* none of its tests has failed */
        return TEST_LOG_EXIT_PASSED;
    if (told == TOLD_FLAGLESS)
        return fail(run, end,
                    code > 0 ? TEST_LOG_OUTCOME_FAILED
                             : TEST_LOG_OUTCOME_CRASHED);
    if (told == TOLD_BY_CODE || (!told && end->is_script && code == SKIPPED))
        return verdict_by_code(run, end);
    if (!told && (code == TEST_LOG_EXIT_USAGE || code == BAD_PATTERN))
        return end->is_script ? verdict_of_usage(run, end)
                              : TEST_LOG_EXIT_USAGE;
    if (code == TEST_LOG_EXIT_NO_TEST && !has_tests(run, end->folder) &&
        (!end->is_script || end->selects))
        return code;
    if (told == TOLD_ALL && (code == 0 || code == 1))
        return code;
    if (told && code > TEST_LOG_EXIT_SIGNAL && runners_interrupted())
        return TEST_LOG_EXIT_PASSED; /* its results tell the rest */
    if (code == 0 && !told &&
        (!end->own_flag || (end->is_script && !end->has_refused))) {
        add_program(run, end, TEST_LOG_OUTCOME_PASSED, NULL);
        return TEST_LOG_EXIT_PASSED;
    }
    return fail(run, end,
                !told &&
                        (code == 0 || code == 1 || (end->is_script && code > 0))
                    ? TEST_LOG_OUTCOME_FAILED
                    : TEST_LOG_OUTCOME_CRASHED);
}

int runners_worse(int all, int one)
{
    if (all == TEST_LOG_EXIT_USAGE || one == TEST_LOG_EXIT_USAGE)
        return TEST_LOG_EXIT_USAGE;
    if (all == TEST_LOG_EXIT_NO_TEST)
        return one;
    if (one == TEST_LOG_EXIT_NO_TEST)
        return all;
    return all > one ? all : one;
}

int runners_code(int status)
{
    int code = exit_status(status);

    if (code == BAD_PATTERN)
        return TEST_LOG_EXIT_USAGE;
    if (code == TEST_LOG_EXIT_PASSED || code == TEST_LOG_EXIT_USAGE ||
        code == TEST_LOG_EXIT_NO_TEST)
        return code;
    return TEST_LOG_EXIT_FAILED;
}
