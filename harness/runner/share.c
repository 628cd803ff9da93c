/* share.c: what `testlog run` gives a program that runs beside others: how many
 * tests it may run at once, and whether its lines have colours.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "harness/results/notice.h"
#include "harness/runner/supervisor.h"

#define VARIABLE "TESTLOG_SHARE"

void test_log_share_export(const struct test_log_share *share)
{
    char text[64];

    unsetenv(VARIABLE);
    if (!share->jobs)
        return;
    snprintf(text, sizeof(text), "%zu %d", share->jobs, (int)share->color);
    setenv(VARIABLE, text, 1);
}

/* Those that a script starts share nothing. */
bool test_log_share_take(struct test_log_share *share)
{
    const char *text = test_log_variable(VARIABLE);
    const char *runner = test_log_variable("TESTLOG_RUNNER");
    int color = 0;
    bool taken = text && runner && strtol(runner, NULL, 10) == getppid() &&
                 sscanf(text, "%zu %d", &share->jobs, &color) == 2 &&
                 share->jobs;

    share->color = color;
    unsetenv(VARIABLE);
    return taken;
}
