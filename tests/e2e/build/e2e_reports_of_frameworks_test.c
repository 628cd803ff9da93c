/* e2e_reports_of_frameworks_test.c: testlog run judges programs of other
 * frameworks that know nothing of testlog, test by test. */
#include "tests/support/e2e.h"

#include <stdio.h>
#include <string.h>

E2E_FOLDER

TestSuite(e2e_reports_of_frameworks, .init = e2e_begin, .timeout = 300);

#define RUN "'" BUILD_DIR "/testlog' run "

/* Builds tests/programs/frameworks/NAME_plain once, and copies it to NAME;
 * skips the test without the framework. */
static void build(const char *name, const char *compiler, const char *libraries)
{
    const struct e2e *built;

    built = e2e_once(name,
                     "%s -g -o %s '" SOURCE_DIR
                     "/tests/programs/frameworks/%s_plain.'c* %s",
                     compiler, name, name, libraries);
    if (built->code && strstr(built->err, "No such file"))
        cr_skip_test("%s is not installed", name);
    e2e_expect_code(built, 0);
    e2e_exits(0, "cp '%s/%s' .", built->folder, name);
}

static void build_gtest(void)
{
    build("gtest", "g++", "-lgtest_main -lgtest -lpthread");
}

static void build_check(void)
{
    build("check", "gcc", "$(pkg-config --libs check)");
}

/* "outcome suite/test" of each result, in order. */
static const char *outcomes(void)
{
    return e2e_run("cut -f 1,4 testlog-runs/latest/results.tsv | tr '\\t' ' '")
        ->out;
}

static const char *sorted(void)
{
    return e2e_run("cut -f 1,4 testlog-runs/latest/results.tsv | tr '\\t' ' ' "
                   "| sort")
        ->out;
}

static const cJSON *test_of(const char *name)
{
    const cJSON *test, *tests = cJSON_GetObjectItem(e2e_run_json(), "tests");

    cJSON_ArrayForEach(test, tests)
    {
        if (!strcmp(e2e_text(test, "name"), name))
            break;
    }
    cr_assert_not_null(test, "no %s", name);
    return test;
}

Test(e2e_reports_of_frameworks, gtest)
{
    const struct e2e *result;

    build_gtest();
    result = e2e_exits(1, RUN "./gtest -- --timeout=1 --retries=1");
    e2e_expect_is(outcomes(), "passed Store/Passes\n"
                              "failed Store/Fails\n"
                              "skipped Store/Skips\n"
                              "crashed Store/Crashes\n"
                              "skipped Store/DISABLED_Later\n"
                              "passed Store/IsFlaky\n"
                              "timeout Store/Hangs\n"
                              "passed Some/Sizes/AreSmall/0\n"
                              "passed Some/Sizes/AreSmall/1\n");
    e2e_expect_has(result->err, "Store.IsFlaky: passed on try 2");
    e2e_expect_has(e2e_text(test_of("Store/Fails"), "reason"),
                   "told & \"quoted\"");
}

/* The time-out shows where the test hung. */
Test(e2e_reports_of_frameworks, a_hang_has_stacks)
{
    build_gtest();
    e2e_expect_has(e2e_run(RUN "./gtest -- --timeout=1 --filter=Store/Hangs "
                               "&& true; cat "
                               "testlog-runs/latest/tests/gtest/*Hangs/stacks")
                       ->out,
                   "Store_Hangs_Test");
}

/* A single program's output is not kept from the terminal. The summary has a
 * command that runs the failed tests, and the page none that debugs them. */
Test(e2e_reports_of_frameworks, prints_directly_and_says_how_to_run_again)
{
    const struct e2e *result;

    build_gtest();
    e2e_expect_has(e2e_run(RUN "./gtest -- Small")->out, "[       OK ] Some");
    result = e2e_run(RUN "./gtest -- --timeout=1 'Fails' Hangs");
    e2e_expect_has(result->err,
                   "run ./gtest -- --timeout=1 --filter 'Store.Fails'");
    e2e_expect_has(result->err,
                   "run ./gtest -- --timeout=1 --filter 'Store.Fails' "
                   "--debug-failed");
    e2e_expect_has(result->err, "Store.Hangs: timed out: after 1.",
                   "Store_Hangs_Test");
    e2e_expect_lacks(e2e_read("testlog-runs/latest/report.html"),
                     "Fails --debug-failed");
}

/* testlog.conf says which tests may fail. */
Test(e2e_reports_of_frameworks, known_failures_do_not_fail_the_run)
{
    const struct e2e *result;

    build_gtest();
    e2e_run("printf '[test Store/Fails]\nexpect = fail\nreason = bug 7\n[test "
            "Store/Passes]\nexpect = fail\nstrict = yes\nreason = bug 8\n' "
            ">testlog.conf");
    result = e2e_exits(0, RUN "./gtest -- Fails");
    e2e_expect_has(result->err, "Store.Fails: failed: bug 7");
    result = e2e_exits(1, RUN "./gtest -- Passes");
    e2e_expect_has(result->err,
                   "passed, although it is a known failure: bug 8");
}

Test(e2e_reports_of_frameworks, flags_choose_tests)
{
    build_gtest();
    e2e_exits(0, RUN "./gtest -- Small");
    e2e_expect_is(outcomes(), "passed Some/Sizes/AreSmall/0\n"
                              "passed Some/Sizes/AreSmall/1\n");
    e2e_exits(1, RUN "./gtest -- --filter='Store.Fa*'");
    e2e_expect_is(outcomes(), "failed Store/Fails\n");
    e2e_exits(1, RUN "./gtest -- --failed");
    e2e_expect_is(outcomes(), "failed Store/Fails\n");
    e2e_exits(4, RUN "./gtest -- nothing");
    e2e_run("for i in 1 2 3; do " RUN "./gtest -- --timeout=1 --shard=$i/3; "
            "cut -f 4 testlog-runs/latest/results.tsv; done | grep '^S[^ ]*/' "
            ">shards");
    e2e_expect_is(e2e_run("wc -l <shards; sort -u shards | wc -l")->out,
                  "8\n8\n");
    e2e_expect_has(e2e_run(RUN "./gtest -- --list")->out, "Store.Hangs\n");
}

Test(e2e_reports_of_frameworks, repeats_tests)
{
    const struct e2e *result;

    build_gtest();
    result = e2e_exits(1, RUN "./gtest --timeout=1 --repeat=2 "
                              "--filter='Store.[CFP]*' --filter='Some/*'");
    e2e_expect_is(sorted(), "crashed Store/Crashes#1\ncrashed "
                            "Store/Crashes#2\nfailed Store/Fails#1\nfailed "
                            "Store/Fails#2\npassed Some/Sizes/AreSmall/0#1\n"
                            "passed Some/Sizes/AreSmall/0#2\n"
                            "passed Some/Sizes/AreSmall/1#1\n"
                            "passed Some/Sizes/AreSmall/1#2\n"
                            "passed Store/Passes#1\npassed Store/Passes#2\n");
    e2e_expect_has(
        result->err,
        "run ./gtest -- --timeout=1 --repeat 2 --filter 'Store.Fails' "
        "--filter 'Store.Crashes'\n");
    e2e_exits(1, RUN "./gtest --repeat=3 --fail-fast --filter=Store.Fails");
    e2e_expect_is(sorted(), "failed Store/Fails#1\n");
    e2e_expect_has(e2e_exits(2, RUN "/bin/true --repeat=2")->err,
                   "/bin/true cannot take --repeat, because it uses no ");
}

/* The debugger stops at the first failure. */
Test(e2e_reports_of_frameworks, debugs_the_first_failed_test)
{
    const struct e2e *result;

    build_gtest();
    e2e_script("gdb", "echo \"arguments: $*\"; echo \"$TESTLOG_RUN.\"");
    result = e2e_exits(1, "PATH=$PWD:$PATH " RUN
                          "./gtest --debug-failed --filter='Store.[FP]*'");
    e2e_expect_has(result->err, "testlog: Store.Fails has failed; gdb runs it "
                                "again: bt shows the stack, quit ends the "
                                "run\n");
    e2e_expect_has(result->out,
                   "arguments: -q -ex run --args ./gtest "
                   "--gtest_break_on_failure --gtest_flagfile=/proc/",
                   "\n.\n");
    result = e2e_exits(0, "PATH=$PWD:$PATH " RUN
                          "./gtest --debug-failed --filter='Store.P*'");
    e2e_expect_lacks(result->out, "arguments:");
}

Test(e2e_reports_of_frameworks, catch2)
{
    build("catch2", "g++", "");
    e2e_exits(1, RUN "./catch2 -- --timeout=1");
    e2e_expect_is(outcomes(), "passed catch2/passes, with a comma\n"
                              "failed catch2/fails\n"
                              "failed catch2/throws\n"
                              "crashed catch2/crashes\n"
                              "crashed catch2/is killed\n"
                              "timeout catch2/hangs\n"
                              "passed catch2/#has a sign\n"
                              "passed catch2/is last\n");
    e2e_exits(0, RUN "./catch2 -- --filter='*/#has*'");
    e2e_expect_is(outcomes(), "passed catch2/#has a sign\n");
    e2e_exits(0, RUN "./catch2 -- --filter='*/passes*'");
    e2e_expect_is(outcomes(), "passed catch2/passes, with a comma\n");
}

Test(e2e_reports_of_frameworks, doctest)
{
    build("doctest", "g++", "");
    e2e_exits(1, RUN "./doctest");
    e2e_expect_is(outcomes(), "passed doctest/passes\n"
                              "failed doctest/fails\n"
                              "passed doctest/should fail\n"
                              "failed doctest/fails too seldom\n"
                              "passed doctest/warns\n"
                              "passed doctest/may be killed\n"
                              "passed doctest/has no suite\n");
    e2e_exits(1, "KILLED=1 " RUN "./doctest");
    e2e_expect_has(outcomes(), "crashed doctest/may be killed\n");
}

Test(e2e_reports_of_frameworks, boost_test)
{
    build("boost", "g++", "-lboost_unit_test_framework");
    e2e_exits(1, RUN "./boost");
    e2e_expect_is(outcomes(), "passed store/passes\n"
                              "failed store/fails\n"
                              "passed store.inner/should_fail\n"
                              "failed store.inner/fails_too_often\n"
                              "timeout store/hangs\n"
                              "passed store/may_die\n"
                              "passed boost/should_fail\n");
}

Test(e2e_reports_of_frameworks, check)
{
    build_check();
    e2e_exits(1, RUN "./check");
    e2e_expect_is(outcomes(), "passed store/passes\n"
                              "failed store/fails\n"
                              "crashed store/crashes\n");
}

Test(e2e_reports_of_frameworks, cmocka)
{
    const struct e2e *result;

    build("cmocka", "gcc", "-lcmocka");
    result = e2e_exits(1, RUN "./cmocka");
    e2e_expect_is(sorted(), "failed cmocka/fails\n"
                            "passed cmocka/passes\n"
                            "passed cmocka/passes (2)\n"
                            "skipped cmocka/skips\n");
    e2e_expect_has(result->err,
                   "cmocka_plain.c:17: fails: failed: 0x2 != 0x3\n");
}

/* A program that no framework is found in is one test, and gets no flag. */
Test(e2e_reports_of_frameworks, a_program_without_a_framework_is_a_test)
{
    e2e_run("printf 'int main(int n, char **v) { (void)v; return n - 1; }' | "
            "gcc -o plain -x c -; echo '[program pl*]' >testlog.conf; echo "
            "'args = one two' >>testlog.conf");
    e2e_exits(1, RUN "./plain -- --timeout=9 --log=debug");
    e2e_expect_is(e2e_text(test_of("plain"), "reason"),
                  "the program exited with 2");
    e2e_run("rm testlog.conf");
    e2e_exits(0, RUN "./plain -- --timeout=9");
    e2e_expect_is(outcomes(), "passed plain\n");
    e2e_exits(4, RUN "./plain -- other");
    e2e_exits(0, RUN "./plain -- plai");
    e2e_run("printf '[program plain]\\nkind = gtets\\n' >testlog.conf");
    e2e_expect_is(
        e2e_exits(2, RUN "./plain")->err,
        "testlog: testlog.conf:2: kind: unknown value \"gtets\"; write "
        "criterion, gtest, catch2, doctest, boost, check, cmocka or exit\n");
    e2e_run("printf '[program plain]\\nkinds = gtest\\n' >testlog.conf");
    e2e_expect_has(e2e_run(RUN "./plain")->err,
                   "testlog.conf:2: kinds is not a setting of programs");
}

Test(e2e_reports_of_frameworks, a_program_that_hangs_is_ended)
{
    e2e_run("printf '#include <unistd.h>\\nint main(void) { return pause(); }' "
            "| gcc -o hangs -x c -");
    e2e_exits(1, RUN "./hangs -- --timeout=0.5");
    e2e_expect_is(outcomes(), "timeout hangs\n");
}

/* Frameworks, testlog's tests and a plain program make one run. */
Test(e2e_reports_of_frameworks, share_a_run)
{
    build_gtest();
    build_check();
    e2e_exits(1, RUN "./gtest ./check '%s' /bin/true -- --timeout=2",
              e2e_program("small", E2E_TRACED));
    e2e_expect_has(outcomes(), "timeout Store/Hangs\n",
                   "crashed store/crashes\n", "passed small/", "passed true\n");
}

/* ---- Ends that reports do not tell ---- */

static void build_hostile(void)
{
    if (e2e_run("g++ -g -o hostile '" SOURCE_DIR "/tests/programs/frameworks/"
                "gtest_hostile.cpp' -lgtest -lpthread")
            ->code)
        cr_skip_test("no GoogleTest");
}

static const struct hostile {
    const char *way, *flags, *outcomes;
} hostile[] = {
    {"aborts", "",
     "crashed hostile\npassed A/IsFlaky\npassed A/Ok\npassed A/Prints\n"
     "passed B/Ok\npassed C/Ok\n"},
    {"lies", "",
     "crashed hostile\npassed A/IsFlaky\npassed A/Ok\npassed A/Prints\n"
     "passed B/Ok\npassed C/Ok\n"},
    {"exits", "",
     "crashed B/Ok\npassed A/IsFlaky\npassed A/Ok\npassed A/Prints\n"
     "passed C/Ok\n"},
    {"hangs", "--timeout=0.5",
     "passed A/IsFlaky\npassed A/Ok\npassed A/Prints\npassed C/Ok\n"
     "timeout B/Ok\n"},
    {"chooses", "--filter='*'", "crashed hostile\npassed A/Ok\n"},
};

Test(e2e_reports_of_frameworks, no_end_of_a_process_passes_for_its_tests)
{
    build_hostile();
    for (size_t i = 0; i < sizeof(hostile) / sizeof(*hostile); i++) {
        e2e_exits(1, "HOSTILE=%s " RUN "./hostile -- %s", hostile[i].way,
                  hostile[i].flags);

        e2e_expect_is(sorted(), hostile[i].outcomes);
    }
}

/* A report that is no file is none; then the output tells all. */
Test(e2e_reports_of_frameworks, reads_no_pipe_of_the_program)
{
    build_hostile();
    e2e_expect_has(e2e_exits(0, "HOSTILE=fifo " RUN "./hostile")->err,
                   "left no report of GoogleTest, because it writes another or "
                   "none; its output tells how its tests ended\n");
}

/* The output of a dead process counts once. */
Test(e2e_reports_of_frameworks, each_try_counts_once)
{
    build_hostile();
    e2e_exits(0, "HOSTILE=flaky " RUN "./hostile -- --retries=3");
    cr_expect_eq(cJSON_GetArraySize(
                     cJSON_GetObjectItem(test_of("A/IsFlaky"), "earlier")),
                 2);
    cr_expect_null(cJSON_GetObjectItem(test_of("A/Ok"), "earlier"));
}

/* A program that hangs when it is asked for its tests ends with us. */
Test(e2e_reports_of_frameworks, a_list_that_hangs_can_be_interrupted)
{
    const struct e2e *run;

    build_hostile();
    run = e2e_run("HOSTILE='hangs listing' timeout -k 60 3 " RUN
                  "./hostile -- --filter=x; pgrep -f '[h]ostile --gtest_list'");
    e2e_expect_is(run->out, "");
    e2e_expect_has(run->err, "cannot list the tests of ./hostile");
}

/* Arguments of testlog.conf do not reach a shell. */
Test(e2e_reports_of_frameworks, arguments_are_words)
{
    build_gtest();
    e2e_run("printf '[program gtest]\\nargs = $(touch pwned) ; touch pwned\\n' "
            ">testlog.conf");
    e2e_exits(0, RUN "./gtest -- Small");
    cr_expect_not(e2e_exists("pwned"));
}
