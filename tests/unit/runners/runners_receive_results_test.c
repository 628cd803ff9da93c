/* runners_receive_results_test.c: reads the results that a program sends, line
 * by line. */
#include "harness/run/files/writers.h"
#include "runners/run/run.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "tests/support/support.h"

#define LINE TEST_LOG_JSONL_TEST "\"name\":\"s/t\"}\n"

static void send(const struct handover *handover, const char *text)
{
    cr_assert_eq(write(handover->to, text, strlen(text)),
                 (ssize_t)strlen(text));
}

Test(runners_receive_results, passes_its_pipe_to_the_program)
{
    struct handover handover;

    runners_handover_begin(&handover);
    cr_assert_gt(handover.to, 0);
    cr_expect_neq(fcntl(handover.to, F_GETFD) & FD_CLOEXEC, 0);
    runners_handover_give(&handover);
    cr_expect_eq(fcntl(handover.to, F_GETFD) & FD_CLOEXEC, 0);
    runners_handover_end(&handover);
    cr_expect_eq(handover.to, 0);
}

Test(runners_receive_results, counts_whole_lines_of_tests)
{
    struct handover handover;

    runners_handover_begin(&handover);
    runners_handover_read(&handover); /* nothing yet; must not wait */
    cr_expect_eq(handover.tests, 0);
    send(&handover, LINE LINE "{\"schema\"");
    runners_handover_read(&handover);
    cr_expect_eq(handover.tests, 2);
    send(&handover, ":1,\"event\":\"test\",\"name\":\"a\"}\n{\"schema\":1}\n");
    runners_handover_read(&handover);
    cr_expect_eq(handover.tests, 3, "the last line is the run's");
    runners_handover_end(&handover);
}

Test(runners_receive_results, does_nothing_without_a_pipe)
{
    struct handover handover = {0};

    runners_handover_give(&handover);
    runners_handover_read(&handover);
    runners_handover_end(&handover);
    cr_expect_eq(handover.text.size, 0);
}
