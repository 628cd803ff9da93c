/* soak_limits_test.c: under any resource limit under which Criterion alone
 * reports the right verdicts, testlog does too; and also if its runner is
 * stopped for a while. `make soak` tries more; SOAK_SEED repeats a run.
 */
#include "tests/support/e2e.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

E2E_FOLDER

TestSuite(soak_limits, .init = e2e_begin, .timeout = 1800);

/* X(name, option of ulimit, least and most as powers of two in its own units,
 * how much more testlog may need) */
#define LIMITS(X)                                                              \
    X(address_space, "v", 15, 21, 16384)                                       \
    X(file_size, "f", 5, 12, 0)                                                \
    X(open_files, "n", 3, 8, 8)                                                \
    X(processes, "u", 1, 6, 2)                                                 \
    X(stack, "s", 5, 13, 128)                                                  \
    X(data, "d", 10, 20, 2048)

static const char right[] = "Passing: 4 | Failing: 1 | Crashing: 0";

static size_t tries(size_t soaking, size_t else_)
{
    return getenv("SOAK") ? soaking : else_;
}

static unsigned random_between(double least, double most)
{
    static unsigned short state[3];
    static bool seeded;
    const char *text = getenv("SOAK_SEED");

    if (!seeded)
        state[0] = (unsigned short)(text ? atoi(text) : 1);
    seeded = true;
    return (unsigned)(least + erand48(state) * (most - least));
}

/* Builds the program without testlog. */
static const char *alone(void)
{
    static char path[PATH_MAX + 8];
    const struct e2e *built =
        e2e_once("bounded_alone",
                 "cc -DALONE -o $PWD/alone '%s/programs/bounded.c' -lcriterion",
                 TESTS_DIR);

    e2e_expect_code(built, 0);
    snprintf(path, sizeof(path), "%s/alone", built->folder);
    return path;
}

/* Runs a program under a limit in its own folder. Root has no limits, so it
 * becomes another user. */
static const struct e2e *run_limited(const char *program, const char *option,
                                     unsigned limit)
{
    /* A user that has no other processes. */
    const char *who = geteuid() ? ""
                                : "setpriv --reuid=$((60000 + $$ % 5000)) "
                                  "--regid=65534 --clear-groups";

    return e2e_run("d=$(mktemp -d) && cp %s $d/program && chmod 777 $d && "
                   "(cd $d && timeout -s KILL 200 %s bash -c 'ulimit -%s %u && "
                   "exec ./program -j2'); c=$?; rm -rf $d; exit $c",
                   program, who, option, limit);
}

/* A killed runner of another user, with the same process id, left its socket.
 */
static bool has_no_socket(const struct e2e *result)
{
    return strstr(result->err, "Address already in use");
}

static void compare(const char *option, unsigned limit, unsigned more)
{
    const struct e2e *criterion = run_limited(alone(), option, limit);
    const struct e2e *ours;

    if (criterion->code != 1 || !strstr(criterion->err, right))
        return;
    limit += more;
    ours = run_limited(e2e_program("bounded", E2E_TRACED), option, limit);
    if (has_no_socket(ours))
        return;
    cr_assert_eq(ours->code, 1, "ulimit -%s %u: exit %d: %s", option, limit,
                 ours->code, ours->err);
    cr_assert(strstr(ours->out, "4 passed, 1 failed, 0 skipped"),
              "ulimit -%s %u: %s", option, limit, ours->err);
    cr_assert_str_eq(e2e_last(ours->out), "4 passed, 1 failed, 0 skipped",
                     "ulimit -%s %u: %s", option, limit, ours->err);
}

/* Each power of two is equally likely. */
static unsigned random_limit(double least, double most)
{
    unsigned power = random_between(least, most);

    return random_between(1u << power, 2u << power);
}

#define TEST(name, option, least, most, more)                                  \
    Test(soak_limits, keeps_verdicts_under_a_limit_on_##name)                  \
    {                                                                          \
        if (e2e_sanitized())                                                   \
            cr_skip_test("sanitizers need more than a limit allows");          \
        for (size_t n = tries(40, 3); n > 0; n--)                              \
            compare(option, random_limit(least, most), more);                  \
    }
LIMITS(TEST)
#undef TEST

/* The limit is large: the point is that workers may not look into the runner's
 * /proc files. */
Test(soak_limits, keeps_verdicts_if_the_runner_is_undumpable)
{
    for (size_t n = tries(20, 1); n > 0; n--) {
        const struct e2e *result =
            run_limited(e2e_program("undumpable", E2E_TRACED), "n", 1024);

        if (has_no_socket(result))
            continue;
        cr_assert_eq(result->code, 1, "%s", result->err);
        cr_assert_str_eq(e2e_last(result->out), "1 passed, 3 failed, 0 skipped",
                         "%s", result->err);
    }
}

Test(soak_limits, keeps_verdicts_if_the_runner_is_stopped)
{
    for (size_t n = tries(15, 1); n > 0; n--) {
        unsigned before = random_between(0, 1500);
        unsigned stopped = random_between(100, 4000);
        const struct e2e *result = e2e_run(
            "( (sleep %u.%03u; kill -STOP $$; sleep %u.%03u; kill -CONT $$) "
            ">/dev/null 2>&1 & ); exec %s -j4 --filter 'brief/*'",
            before / 1000, before % 1000, stopped / 1000, stopped % 1000,
            e2e_program("starting", E2E_TRACED));

        cr_assert_eq(result->code, 0, "stopped after %u ms for %u ms: %s",
                     before, stopped, result->err);
        e2e_expect_closing(result, "4 passed, 0 failed, 0 skipped");
    }
}
