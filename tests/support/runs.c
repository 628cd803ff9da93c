/* runs.c: a folder of runs, and results of their tests. */
#include "runs.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "harness/machine/notice.h"

#include "support.h"

char runs_printed[4096];
int runs_dir;

void runs_begin(void)
{
    test_folder();
    test_log_out = fmemopen(runs_printed, sizeof(runs_printed), "w");
    mkdir(test_path("runs"), 0777);
    runs_dir = open(test_path("runs"), O_PATH | O_DIRECTORY | O_CLOEXEC);
}

void runs_end(void)
{
    fclose(test_log_out);
    close(runs_dir);
}

const char *runs_path(const char *name)
{
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "runs/%s", name);
    return test_path(path);
}

const char *runs_name(int number)
{
    static char name[64];

    snprintf(name, sizeof(name), "2026-11-21T02-08-30.%06d", number);
    return name;
}

struct test_log_result *runs_add_result(struct test_log_run *run,
                                        const char *program, const char *name,
                                        enum test_log_outcome outcome,
                                        const char *reason)
{
    struct test_log_result *result = test_log_run_add(run);

    cr_assert_not_null(result);
    result->program = strdup(program);
    result->suite = strdup("suite");
    result->test = strdup(name);
    result->outcome = outcome;
    result->reason = reason ? strdup(reason) : NULL;
    return result;
}
