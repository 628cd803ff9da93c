/* judge_dying.c: testlog __judge RUN PROGRAM: prints the tests of a program
 * that is about to die, which calls it. */
#include "harness/core/core_run.h"
#include "harness/options/options.h"
#include "harness/run/program_run.h"
#include "runners/runners.h"

int runners_judge_dying(char **words)
{
    struct test_log_options options;
    int code;

    if (!words[0] || !words[1])
        return TEST_LOG_EXIT_USAGE;
    if (test_log_options_read(&options, (char *[]){words[1], NULL}, &code))
        return code;
    test_log_open_out();
    return test_log_judge_shown(words[0], &options) ? TEST_LOG_EXIT_FAILED
                                                    : TEST_LOG_EXIT_PASSED;
}
