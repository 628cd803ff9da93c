/* program_verdict.c: what the end of a program means for the run. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "harness/results/reports/writers.h"
#include "harness/runner/options/options.h"
#include "run.h"

enum { BAD_PATTERN = 3 }; /* Criterion's code */

/* A program counts as one test. */
static void add_program(struct test_log_run *run, const char *folder,
                        enum test_log_outcome outcome, const char *reason)
{
    struct test_log_result *result =
        runners_framework_itself(run, folder, outcome, reason);

    if (result)
        test_log_jsonl_result(result);
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

static int exit_status(int status)
{
    return status >= 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* None of its tests has failed. */
static int flagless_verdict(struct test_log_run *run, const char *folder,
                            int status)
{
    char reason[128];

    if (status == 0)
        return TEST_LOG_EXIT_PASSED;
    explain(reason, sizeof(reason), status, TOLD_FLAGLESS);
    add_program(run, folder, TEST_LOG_OUTCOME_CRASHED, reason);
    return TEST_LOG_EXIT_FAILED;
}

/* The exit code is all that is known. */
static int verdict_by_code(struct test_log_run *run, const char *folder,
                           int status)
{
    char reason[128];

    if (status == 0) {
        add_program(run, folder, TEST_LOG_OUTCOME_PASSED, NULL);
        return TEST_LOG_EXIT_PASSED;
    }
    explain(reason, sizeof(reason), status, TOLD_BY_CODE);
    add_program(run, folder,
                exit_status(status) > 0 ? TEST_LOG_OUTCOME_FAILED
                                        : TEST_LOG_OUTCOME_CRASHED,
                reason);
    return TEST_LOG_EXIT_FAILED;
}

static bool has_tests(const struct test_log_run *run, const char *folder)
{
    for (size_t i = run->count; i-- > 0;)
        if (!strcmp(run->results[i].program, folder))
            return true;
    return false;
}

int runners_verdict(struct test_log_run *run, const char *folder, int status,
                    enum told told, const char *own_flag)
{
    int code = exit_status(status);
    char reason[128];

    if (told == TOLD_FLAGLESS)
        return flagless_verdict(run, folder, status);
    if (told == TOLD_BY_CODE)
        return verdict_by_code(run, folder, status);
    if (!told && (code == TEST_LOG_EXIT_USAGE || code == BAD_PATTERN))
        return TEST_LOG_EXIT_USAGE;
    if (code == TEST_LOG_EXIT_NO_TEST && !has_tests(run, folder))
        return code;
    if (told == TOLD_ALL && (code == 0 || code == 1))
        return code;
    if (told && code > TEST_LOG_EXIT_SIGNAL && runners_interrupted())
        return TEST_LOG_EXIT_PASSED; /* its results tell the rest */
    if (code == 0 && !told && !own_flag) {
        add_program(run, folder, TEST_LOG_OUTCOME_PASSED, NULL);
        return TEST_LOG_EXIT_PASSED;
    }
    explain(reason, sizeof(reason), status, told);
    if (code == 0 && !told)
        snprintf(reason, sizeof(reason),
                 "no test ran: its main does not call test_log_main, and "
                 "Criterion lacks %s",
                 own_flag);
    add_program(run, folder,
                code == 1 && !told ? TEST_LOG_OUTCOME_FAILED
                                   : TEST_LOG_OUTCOME_CRASHED,
                reason);
    return TEST_LOG_EXIT_FAILED;
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
