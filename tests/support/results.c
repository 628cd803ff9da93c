/* results.c: results of tests. */
#include "results.h"

#include <string.h>

#include <criterion/criterion.h>

struct test_log_result *test_add_result(struct test_log_run *run,
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
