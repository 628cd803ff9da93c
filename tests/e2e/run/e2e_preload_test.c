/* e2e_preload_test.c: testlog run --preload: programs without testlog. */
#include "tests/support/e2e.h"
#include "tests/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TESTLOG        BUILD_DIR "/testlog"
#define SHARED_LIBRARY BUILD_DIR "/shared/libtestlog.so.0"
#define FLAGS          "-g -D_GNU_SOURCE "

E2E_FOLDER

static void begin(void)
{
    e2e_begin();
    if (SANITIZE_FLAGS[0])
        cr_skip_test("a sanitized library is not preloaded");
}

TestSuite(e2e_preload, .init = begin, .timeout = 300);

/* Builds the program, and returns its name. */
static const char *build(const char *flags)
{
    cr_assert_eq(e2e_run("cc " FLAGS "'" TESTS_DIR
                         "/programs/unlinked.c' -o unlinked %s -lcriterion",
                         flags)
                     ->code,
                 0);
    return "./unlinked";
}

static void expect_outcome(const cJSON *run, const char *test,
                           const char *outcome)
{
    char name[64];

    snprintf(name, sizeof(name), "unlinked/%s", test);
    e2e_expect_is(e2e_text(e2e_result(run, name), "outcome"), outcome);
}

static void expect_all_recorded(void)
{
    const cJSON *run = e2e_run_json();

    expect_outcome(run, "passes", "passed");
    expect_outcome(run, "fails", "failed");
    expect_outcome(run, "exits", "passed");
    expect_outcome(run, "hangs", "timeout");
    expect_outcome(run, "is_disabled", "skipped");
    expect_outcome(run, "instances[0]", "passed");
    expect_outcome(run, "instances[1]", "failed");
    cr_expect(e2e_exists(
        "testlog-runs/latest/tests/unlinked/unlinked.passes/recording"));
    e2e_expect_is(e2e_read("testlog-runs/latest/tests/unlinked/"
                           "unlinked.fails/output.txt"),
                  "printed by a failing test\n");
}

Test(e2e_preload, records_all_tests_with_the_same_verdicts)
{
    static const char *const flags[] = {"", "-no-pie", "-O2 -Wl,-z,now"};

    for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
        const struct e2e *run =
            e2e_exits(1, TESTLOG " run --preload %s", build(flags[i]));

        e2e_expect_closing(run, "4 passed, 4 failed, 1 skipped");
        expect_outcome(e2e_run_json(), "crashes", "crashed");
        e2e_expect_has(run->err, "unlinked.c:22: unlinked_crashes_impl\n");
        expect_all_recorded();
    }
}

/* The runtime of AddressSanitizer must be the first library. */
Test(e2e_preload, records_programs_with_a_sanitizer)
{
    build("-fsanitize=address,undefined -fno-omit-frame-pointer");
    e2e_expect_lacks(e2e_exits(1, TESTLOG " run --preload ./unlinked")->err,
                     "runtime does not come first");
    expect_all_recorded();
}

Test(e2e_preload, leaves_the_environment_of_tests_alone)
{
    const char *sees;

    build("-fsanitize=address");
    e2e_run("UNLINKED=seen " TESTLOG
            " run --preload ./unlinked -- starts_a_program");
    sees = e2e_read("seen");
    e2e_expect_has(sees, "PATH=");
    e2e_expect_lacks(sees, "LD_PRELOAD", "TEST_LOG_ALL", "libasan");
    build("");
    e2e_run("rm seen; UNLINKED=seen LD_PRELOAD=libm.so.6 " TESTLOG
            " run --preload ./unlinked -- starts_a_program");
    e2e_expect_has(e2e_read("seen"), "LD_PRELOAD=libm.so.6\n");
}

Test(e2e_preload, prints_commands_that_preload)
{
    const char *again;
    const struct e2e *run;

    build("");
    run = e2e_run(TESTLOG " run --preload ./unlinked -- passes fails");
    again = e2e_between(run->err, "run them again:\n    ", "\n");
    e2e_expect_has(again, " run --preload ./unlinked -- --filter "
                          "'unlinked/fails'");
    e2e_expect_closing(e2e_run("%s", again), "0 passed, 1 failed, 0 skipped");
    e2e_expect_has(run->err, "debug the first one:\n    " TESTLOG
                             " run --preload ./unlinked -- --filter "
                             "'unlinked/fails' --debug-failed\n");
    e2e_expect_has(
        e2e_run(TESTLOG " run --preload ./unlinked -- --list fails")->out,
        "fails");
}

/* Its own main would run twice, and its tests too. */
Test(e2e_preload, leaves_programs_with_testlog_as_they_are)
{
    const struct e2e *run =
        e2e_run(TESTLOG " run --preload %s -- --filter small/passes",
                e2e_program("small", E2E_PLAIN));

    e2e_expect_closing(run, "1 passed, 0 failed, 0 skipped");
    e2e_expect_lacks(run->err, "--preload");
    cr_expect_not(e2e_exists(
        "testlog-runs/latest/tests/small_test/small.passes/recording"));
}

Test(e2e_preload, counts_other_programs_by_their_exit_status)
{
    const struct e2e *run;

    build("");
    e2e_script("wrapper", "exec ./unlinked \"$@\"");
    e2e_script("fails", "exit 1");
    test_save("own.c", "int main(void) { return 0; }\n", 29);
    cr_assert_eq(
        e2e_run("cc own.c -o own && cc -static own.c -o own_static")->code, 0);
    run = e2e_exits(1, TESTLOG " run --preload ./wrapper ./own ./own_static "
                               "./fails -- --filter unlinked/passes");
    e2e_expect_closing(run, "3 passed, 1 failed, 0 skipped");
    cr_expect(e2e_exists("testlog-runs/latest/tests/wrapper/unlinked.passes/"
                         "recording"));
    cr_expect_eq(e2e_count(run->err, "--preload: "), 1, "%s", run->err);
    e2e_expect_has(run->err, " and 2 more sent no results");
    run = e2e_run(TESTLOG " run --preload ./own");
    e2e_expect_has(run->err, "testlog: --preload: ./own sent no results, so "
                             "only its exit status counts");
    e2e_expect_closing(run, "1 passed, 0 failed, 0 skipped");
}

Test(e2e_preload, finds_an_installed_library)
{
    const struct e2e *run;

    build("");
    cr_assert_eq(e2e_run("mkdir -p opt/bin opt/lib alone 'a b/shared' && "
                         "cp " TESTLOG " opt/bin && cp " TESTLOG
                         " alone && cp " TESTLOG " 'a b' && "
                         "cp -L " SHARED_LIBRARY " 'a b/shared' && "
                         "cp -L " SHARED_LIBRARY " opt/lib")
                     ->code,
                 0);
    run = e2e_run("opt/bin/testlog run --preload ./unlinked -- passes");
    e2e_expect_closing(run, "1 passed, 0 failed, 0 skipped");
    cr_expect(e2e_exists(
        "testlog-runs/latest/tests/unlinked/unlinked.passes/recording"));
    run = e2e_exits(2, "'a b/testlog' run --preload ./unlinked");
    e2e_expect_has(run->err, "LD_PRELOAD ends a path at a blank or colon");
    if (e2e_exists("/usr/local/lib/libtestlog.so.0"))
        return;
    run = e2e_exits(2, "alone/testlog run --preload ./unlinked");
    e2e_expect_has(run->err, "testlog: --preload: no libtestlog.so beside ");
}

Test(e2e_preload, refuses_wrong_use_in_one_line)
{
    static const char *const commands[] = {
        "run --preload", "run --preload=yes ./unlinked",
        "run --preload --launch 'mpirun -n 2' ./unlinked"};

    build("");
    for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
        const struct e2e *run = e2e_exits(2, TESTLOG " %s", commands[i]);

        cr_expect_eq(e2e_count(run->err, "\n"), 1, "%s", run->err);
    }
    cr_expect_not(e2e_exists("testlog-runs"));
}

/* A file may contain any bytes; whatever they are, it is only read. */
Test(e2e_preload, survives_damaged_programs)
{
    build("");
    for (size_t size = 1; size < 8192; size = size * 2 + 7) {
        const struct e2e *run =
            e2e_run("head -c %zu unlinked >cut; chmod +x cut; " TESTLOG
                    " run --preload ./cut",
                    size);

        cr_expect(run->code == 1 || run->code == 2, "%zu: %d", size, run->code);
    }
}
