/* soak_removal_test.c: `rm -rf` of the run's folder at any moment loses no
 * result. `make soak` does it 60 times, `make test` a few times.
 */
#include "tests/support/support.h"

#include "tests/support/e2e.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TESTLOG BUILD_DIR "/testlog"

E2E_FOLDER

static void begin(void)
{
    const char *seed = getenv("SOAK_SEED");
    const char *program = e2e_program("losing", E2E_TRACED);

    e2e_begin();
    cr_assert_eq(symlink(program, "one") | symlink(program, "two"), 0, "%s",
                 strerror(errno));
    test_seed(seed ? strtoull(seed, NULL, 10) : 1);
}

TestSuite(soak_removal, .init = begin, .timeout = 3600);

static const struct e2e *run_and_remove(unsigned moment, const char *what,
                                        unsigned jobs)
{
    return e2e_run("rm -rf testlog-runs; (sleep 0.%03u; rm -rf %s) & "
                   "LOSING_WAIT=2000 exec " TESTLOG " run ./one ./two -- -j%u",
                   moment, what, jobs);
}

static void expect_all_counted(const struct e2e *result, unsigned moment,
                               const char *what)
{
    static const char *const failed[] = {"t01", "t05", "t08", "t13", "t17"};
    char line[64];

    cr_expect_eq(result->code, 1, "%s after %u ms: exit code %d", what, moment,
                 result->code);
    cr_expect_str_eq(e2e_last(result->out), "28 passed, 10 failed, 2 skipped",
                     "%s after %u ms:\n%.2000s", what, moment, result->err);
    for (size_t i = 0; i < sizeof(failed) / sizeof(*failed); i++) {
        snprintf(line, sizeof(line), ": one: losing/%s: failed", failed[i]);
        cr_expect_eq(e2e_count(result->err, line), 1, "%s after %u ms: %s",
                     what, moment, line);
        snprintf(line, sizeof(line), ": two: losing/%s: failed", failed[i]);
        cr_expect_eq(e2e_count(result->err, line), 1, "%s after %u ms: %s",
                     what, moment, line);
    }
}

Test(soak_removal, keeps_results_when_the_folder_is_removed)
{
    static const char *const what[] = {"testlog-runs", "testlog-runs/latest/*",
                                       "testlog-runs/latest/tests/*"};
    unsigned times = getenv("SOAK") ? 60 : 4;

    for (unsigned i = 0; i < times; i++) {
        unsigned moment = test_below(i % 4 ? 400 : 20);
        const char *removed = what[test_below(3)];

        expect_all_counted(run_and_remove(moment, removed, 1 + test_below(4)),
                           moment, removed);
    }
}
