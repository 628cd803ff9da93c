/* runners_program_verdict_test.c: turns the end of a program into a result and
 * an exit code. */
#include "harness/options/options.h"
#include "harness/run/model/model.h"
#include "runners/run/run.h"

#include <signal.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include "tests/support/support.h"

enum { EXITED = 256 }; /* a status contains the exit code above the signal */

struct end {
    int status;
    enum told told;
    int code;
    enum test_log_outcome outcome; /* of the test that represents the program */
    char reason[64];
};

ParameterizedTestParameters(runners_program_verdict,
                            turns_each_end_into_a_result)
{
    static struct end ends[] = {
        {0, TOLD_ALL, 0, TEST_LOG_OUTCOME_NONE, ""},
        {1 * EXITED, TOLD_ALL, 1, TEST_LOG_OUTCOME_NONE, ""},
        {2 * EXITED, TOLD_NOTHING, 2, TEST_LOG_OUTCOME_FAILED,
         "the program exited with 2"},
        {2 * EXITED, TOLD_ALL, 1, TEST_LOG_OUTCOME_CRASHED,
         "the program exited with 2"},
        {3 * EXITED, TOLD_NOTHING, 2, TEST_LOG_OUTCOME_FAILED,
         "the program exited with 3"},
        {4 * EXITED, TOLD_NOTHING, 1, TEST_LOG_OUTCOME_FAILED,
         "the program exited with 4"},
        {0, TOLD_NOTHING, 0, TEST_LOG_OUTCOME_PASSED, ""},
        {1 * EXITED, TOLD_NOTHING, 1, TEST_LOG_OUTCOME_FAILED,
         "the program exited with 1"},
        {0, TOLD_PARTLY, 1, TEST_LOG_OUTCOME_CRASHED,
         "the program exited with 0 before its tests ended"},
        {7 * EXITED, TOLD_ALL, 1, TEST_LOG_OUTCOME_CRASHED,
         "the program exited with 7"},
        {SIGKILL, TOLD_ALL, 1, TEST_LOG_OUTCOME_CRASHED,
         "the program died of SIGKILL"},
        {0, TOLD_FLAGLESS, 0, TEST_LOG_OUTCOME_NONE, ""},
        {3 * EXITED, TOLD_FLAGLESS, 1, TEST_LOG_OUTCOME_FAILED,
         "the program exited with 3"},
        {0, TOLD_BY_CODE, 0, TEST_LOG_OUTCOME_PASSED, ""},
        {2 * EXITED, TOLD_BY_CODE, 1, TEST_LOG_OUTCOME_FAILED,
         "the program exited with 2"},
        {SIGKILL, TOLD_BY_CODE, 1, TEST_LOG_OUTCOME_CRASHED,
         "the program died of SIGKILL"},
        {77 * EXITED, TOLD_BY_CODE, 0, TEST_LOG_OUTCOME_SKIPPED,
         "the program exited with 77"},
        {77 * EXITED, TOLD_NOTHING, 0, TEST_LOG_OUTCOME_SKIPPED,
         "the program exited with 77"},
        {77 * EXITED, TOLD_PARTLY, 1, TEST_LOG_OUTCOME_CRASHED,
         "the program exited with 77 before its tests ended"},
        {-2, TOLD_NOTHING, 1, TEST_LOG_OUTCOME_CRASHED,
         "cannot be run: No such file or directory"},
    };

    return cr_make_param_array(struct end, ends, sizeof(ends) / sizeof(*ends));
}

ParameterizedTest(struct end *end, runners_program_verdict,
                  turns_each_end_into_a_result)
{
    struct test_log_run run = {0};
    const struct test_log_result *result;

    cr_expect_eq(runners_verdict(&run,
                                 &(struct program_end){
                                     .folder = "p",
                                     .status = end->status,
                                     .told = end->told,
                                     .is_script = true,
                                 }),
                 end->code);
    cr_assert_eq(run.count, end->outcome != TEST_LOG_OUTCOME_NONE);
    result = run.results;
    if (!result)
        return;
    cr_expect_str_eq(result->program, "p");
    cr_expect_str_eq(result->test, "p");
    cr_expect_eq(result->outcome, end->outcome);
    cr_expect_str_eq(result->reason ? result->reason : "", end->reason);
    test_log_run_free(&run);
}

Test(runners_program_verdict, keeps_the_worse_exit_code)
{
    static const int codes[][3] = {{4, 4, 4}, {4, 0, 0}, {0, 4, 0}, {4, 1, 1},
                                   {0, 0, 0}, {0, 1, 1}, {1, 0, 1}, {1, 2, 2},
                                   {2, 1, 2}, {4, 2, 2}, {2, 4, 2}};

    for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++)
        cr_expect_eq(runners_worse(codes[i][0], codes[i][1]), codes[i][2],
                     "%d, %d", codes[i][0], codes[i][1]);
}

Test(runners_program_verdict, counts_programs_without_results_by_their_status)
{
    static const int codes[][2] = {
        {0, 0},          {1 * EXITED, 1}, {2 * EXITED, 2}, {3 * EXITED, 2},
        {4 * EXITED, 4}, {9 * EXITED, 1}, {SIGSEGV, 1},    {-2, 1}};

    for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++)
        cr_expect_eq(runners_code(codes[i][0]), codes[i][1], "%d", codes[i][0]);
}
