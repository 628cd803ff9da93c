/* e2e_verdicts_test.c: a program of any framework is as green or red here as
 * alone, whatever its reports and its environment are. */
#include "tests/support/e2e.h"

#include <stdio.h>
#include <string.h>

E2E_FOLDER

TestSuite(e2e_verdicts, .init = e2e_begin, .timeout = 300);

#define RUN "'" BUILD_DIR "/testlog' run "

/* Builds a program of tests/programs/frameworks once, and copies it here; skips
 * the test without the framework. */
static void build(const char *name, const char *compiler, const char *libraries)
{
    const struct e2e *built = e2e_once(name,
                                       "%s -w -g -o %s '" SOURCE_DIR
                                       "/tests/programs/frameworks/%s.'c* %s",
                                       compiler, name, name, libraries);

    if (built->code && strstr(built->err, "No such file"))
        cr_skip_test("%s is not installed", name);
    e2e_expect_code(built, 0);
    e2e_exits(0, "cp '%s/%s' .", built->folder, name);
}

static const char *outcomes(void)
{
    return e2e_run("cut -f 1,4 testlog-runs/latest/results.tsv | tr '\t' ' '")
        ->out;
}

/* A program in a situation, the exit code, the results, and a part of the
 * output. */
struct situation {
    const char *environment, *flags;
    int code;
    const char *outcomes, *says;
};

static void expect_all(const char *program, const struct situation *all,
                       size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct situation *one = &all[i];
        const struct e2e *run =
            e2e_run("%s " RUN "./%s -- %s 2>&1", one->environment, program,
                    one->flags ? one->flags : "");

        cr_expect_eq(run->code, one->code, "%s %s: %s", one->environment,
                     one->flags, run->out);
        if (one->outcomes)
            e2e_expect_is(outcomes(), one->outcomes);
        if (one->says)
            e2e_expect_has(run->out, one->says);
    }
}

#define EXPECT_ALL(program, situations)                                        \
    expect_all(program, situations, sizeof(situations) / sizeof(*(situations)))

/* ---- Criterion ---- */

#define FAILING                                                                \
    "#include <criterion/criterion.h>\n"                                       \
    "Test(a, fails) { cr_assert(0); }\n"                                       \
    "Test(a, passes) {}\n"

#define OWN_MAIN                                                               \
    "int main(int n, char **v) {\n"                                            \
    "struct criterion_test_set *set = criterion_initialize();\n"               \
    "int code = criterion_handle_args(n, v, true) &&\n"                        \
    "    !criterion_run_all_tests(set);\n"                                     \
    "criterion_finalize(set); return code; }\n"

static void build_criterion(const char *name, const char *text)
{
    e2e_exits(0,
              "cat >%s.c <<'END'\n%sEND\n"
              "gcc -o %s %s.c -lcriterion",
              name, text, name, name);
}

/* Criterion prints its usage for a flag that only testlog has, and exits with
 * 0. */
Test(e2e_verdicts, our_flags_do_not_reach_criterion_alone)
{
    static const char *const ours[] = {
        "--retries=2",   "--shard=1/2", "--log=debug", "--failed",
        "--show-output", "--repeat=2",  "fails",       "--trace-limit=1M"};
    static const char *const theirs[] = {"",
                                         "-j2",
                                         "--timeout=9",
                                         "--fail-fast",
                                         "--trace-dir=d",
                                         "--report=junit:r.xml",
                                         "--durations=1"};
    const struct e2e *run;

    build_criterion("plain", FAILING);
    for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++) {
        run = e2e_exits(2, RUN "./plain -- %s", ours[i]);
        e2e_expect_has(run->err, "because it uses Criterion without testlog; "
                                 "add --preload, or link it with -ltestlog\n");
        cr_expect_not(e2e_exists("testlog-runs"));
    }
    for (size_t i = 0; i < sizeof(theirs) / sizeof(*theirs); i++)
        e2e_exits(1, RUN "./plain -- %s", theirs[i]);
    e2e_exits(0, RUN "./plain -- '--filter=*/passes'");
    e2e_expect_has(e2e_run(RUN "--launch env ./plain")->err,
                   "./plain cannot take --launch, because it uses Criterion "
                   "without testlog; link it with -ltestlog\n");
    run = e2e_exits(2, "cd / && PATH=\"$PATH:$OLDPWD\" " RUN
                       "plain -- --retries=2");
}

/* The program of a script is known only once it has refused the flags. */
Test(e2e_verdicts, a_script_of_criterion_alone_is_no_success)
{
    static const char *const ours[] = {"--retries=2", "--repeat=2",
                                       "-j1 --log=info", "--nocapture"};
    const struct e2e *run;

    build_criterion("plain", FAILING);
    e2e_run("printf '#!/bin/sh\nexec ./plain \"$@\"\n' >script && "
            "printf '#!/bin/sh\ncat >read; echo done\n' >test && "
            "chmod +x script test");
    for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++) {
        run = e2e_exits(1, RUN "./script -- %s", ours[i]);
        e2e_expect_has(run->err,
                       "script: failed: no test ran: it starts a "
                       "program without testlog, and Criterion lacks");
        e2e_exits(1, RUN "./script ./test -- %s", ours[i]);
        e2e_expect_has(outcomes(), "failed script\npassed test\n");
    }
    e2e_exits(1, RUN "./script -- --timeout=9");
    run = e2e_exits(0, "echo typed | " RUN "./test -- --retries=2");
    e2e_expect_has(run->out, "done\n");
    e2e_expect_is(e2e_read("read"), "typed\n");
}

/* With a main of its own, testlog cannot take the flags. */
Test(e2e_verdicts, flags_that_no_main_takes_are_no_success)
{
    if (SANITIZE_FLAGS[0])
        cr_skip_test("a sanitized library is not preloaded");
    build_criterion("own", FAILING OWN_MAIN);
    e2e_expect_has(e2e_exits(1, RUN "--preload ./own -- --retries=2")->err,
                   "no test ran: its main does not call test_log_main, and "
                   "Criterion lacks --retries");
}

/* ---- GoogleTest ---- */

static const struct situation of_gtest[] = {
    {"HOSTILE='skips late'", "Prints", 1, "failed A/Prints\n",
     "gtest_hostile.cpp"},
    {"HOSTILE='forbidden bytes'", NULL, 0,
     "passed A/Ok\nskipped A/Prints\npassed A/IsFlaky\npassed B/Ok\n"
     "passed C/Ok\n",
     "ln ]]> <b> & "},
    {"HOSTILE='long line'", NULL, 1,
     "passed A/Ok\npassed A/Prints\ncrashed A/IsFlaky\npassed B/Ok\n"
     "passed C/Ok\n",
     NULL},
    {"HOSTILE='prints otherwise'", NULL, 1,
     "passed A/Ok\npassed A/Prints\npassed A/IsFlaky\ncrashed B/Ok\n"
     "passed C/Ok\n",
     NULL},
    {"GTEST_COLOR=yes HOSTILE='long line'", NULL, 1,
     "passed A/Ok\npassed A/Prints\ncrashed A/IsFlaky\npassed B/Ok\n"
     "passed C/Ok\n",
     NULL},
    {"GTEST_BRIEF=1 HOSTILE='long line'", NULL, 1,
     "passed A/Ok\npassed A/Prints\ncrashed A/IsFlaky\npassed B/Ok\n"
     "passed C/Ok\n",
     NULL},
    {"GTEST_TOTAL_SHARDS=2 GTEST_SHARD_INDEX=0", NULL, 0,
     "passed A/Prints\npassed A/IsFlaky\npassed C/Ok\n", NULL},
    {"GTEST_REPEAT=2", "A/Ok", 0, "passed A/Ok\n", NULL},
    {"GTEST_OUTPUT=json:own.json", "C", 0, "passed C/Ok\n", NULL},
};

Test(e2e_verdicts, google_test)
{
    build("gtest_hostile", "g++", "-lgtest -lpthread");
    EXPECT_ALL("gtest_hostile", of_gtest);
}

/* A program in which no test was linked has none. */
Test(e2e_verdicts, a_program_without_tests_does_not_pass)
{
    const struct e2e *run;

    if (e2e_run("echo '#include <gtest/gtest.h>' | g++ -o none -xc++ - "
                "-lgtest_main -lgtest -lpthread")
            ->code)
        cr_skip_test("no GoogleTest");
    run = e2e_exits(0, RUN "./none");
    e2e_expect_has(run->out, "\n0 passed, 0 failed, 0 skipped\n");
    e2e_expect_has(run->err, "testlog: ./none has no tests\n");
}

/* ---- cmocka ---- */

static const struct situation of_cmocka[] = {
    {"WAY=", NULL, 0,
     "passed cmocka_groups/a < \"b\"\npassed cmocka_groups/may_fail\n"
     "passed cmocka_groups/a < \"b\" (2)\n",
     NULL},
    {"WAY=fails", NULL, 1,
     "passed cmocka_groups/a < \"b\"\nfailed cmocka_groups/may_fail\n"
     "passed cmocka_groups/a < \"b\" (2)\n",
     "may_fail: failed: a[i[0]] > 1\n"},
    {"WAY=exits", NULL, 1,
     "passed cmocka_groups/a < \"b\"\ncrashed cmocka_groups/may_fail\n", NULL},
    {"WAY='group fails'", NULL, 1,
     "passed cmocka_groups/a < \"b\"\nfailed cmocka_groups/tests\n"
     "passed cmocka_groups/a < \"b\" (2)\n",
     "tests: failed: no server ..."},
    {"OLDER=1 WAY=", NULL, 0,
     "passed cmocka_groups/passes\npassed cmocka_groups/may_fail\n", NULL},
    {"OLDER=1 WAY=fails", NULL, 1,
     "passed cmocka_groups/passes\nfailed cmocka_groups/may_fail\n",
     "may_fail: failed: a[i[0]] > 1\n"},
    {"CMOCKA_MESSAGE_OUTPUT=XML CMOCKA_XML_FILE=own.xml WAY=fails", NULL, 1,
     "passed cmocka_groups/a < \"b\"\nfailed cmocka_groups/may_fail\n"
     "passed cmocka_groups/a < \"b\" (2)\n",
     NULL},
    {"WAY=fails", "may_fail", 1, "failed cmocka_groups/may_fail\n",
     "runs whole, because cmocka cannot choose tests; only those that are "
     "selected count"},
    {"WAY=fails", "'--filter=*/a*'", 0,
     "passed cmocka_groups/a < \"b\"\npassed cmocka_groups/a < \"b\" (2)\n",
     NULL},
    {"WAY=fails", "nothing", 4, NULL, "no test of any program matched"},
    {"WAY=fails", "--retries=1", 1, NULL, "2 passed, 1 failed"},
};

Test(e2e_verdicts, cmocka)
{
    build("cmocka_groups", "gcc", "-lcmocka");
    EXPECT_ALL("cmocka_groups", of_cmocka);
}

/* ---- Check ---- */

#define BOTH                                                                   \
    "passed first/passes\npassed first/may_fail\npassed second/passes\n"

static const struct situation of_check[] = {
    {"WAY=", NULL, 0, BOTH, NULL},
    {"WAY=fails", NULL, 1,
     "passed first/passes\nfailed first/may_fail\npassed second/passes\n",
     "first/may_fail: failed: Assertion"},
    {"WAY=exits", NULL, 1, "passed first/passes\ncrashed check_runners\n",
     NULL},
    {"OWN=xml WAY=fails", NULL, 1, NULL,
     "its report in TAP tells how its tests ended"},
    {"OWN=xml WAY=", NULL, 0, NULL, "\n3 passed, 0 failed"},
    {"OWN=xml WAY=exits", NULL, 1, NULL, NULL},
    {"OWN=xml,tap WAY=", NULL, 0, "passed check_runners\n",
     "its exit code tells how it ended"},
    {"OWN=xml,tap WAY=fails", NULL, 1, "failed check_runners\n",
     "1 of its checks failed, but it exited with 0"},
    {"OWN=xml,tap WAY=exits", NULL, 1, "crashed check_runners\n", NULL},
    {"CK_XML_LOG_FILE_NAME=own.xml CK_TAP_LOG_FILE_NAME=own.tap WAY=fails",
     NULL, 1,
     "passed first/passes\nfailed first/may_fail\npassed second/passes\n",
     NULL},
    {"CK_RUN_SUITE=second WAY=fails", NULL, 0, "passed second/passes\n", NULL},
    {"CK_VERBOSITY=silent WAY=fails", NULL, 1, NULL, "2 passed, 1 failed"},
    {"WAY=fails", "second", 0, "passed second/passes\n", NULL},
    {"WAY=fails", "--shard=2/2", 0, NULL, NULL},
};

Test(e2e_verdicts, check)
{
    build("check_runners", "gcc", "$(pkg-config --libs check)");
    EXPECT_ALL("check_runners", of_check);
}

/* ---- Boost.Test ---- */

#define BOOST_AROUND(dies)                                                     \
    "passed store/passes\nfailed store/fails\n"                                \
    "passed store.inner/should_fail\nfailed store.inner/fails_too_often\n"     \
    "timeout store/hangs\n" dies                                               \
    " store/may_die\npassed boost_plain/should_fail\n"

static const struct situation of_boost[] = {
    {"", NULL, 1, BOOST_AROUND("passed"), NULL},
    {"DIES=9", NULL, 1, BOOST_AROUND("crashed"),
     "store/may_die: crashed: SIGKILL"},
    {"DIES=0", NULL, 1, BOOST_AROUND("crashed"),
     "store/may_die: crashed: its process exited with 0"},
    {"BOOST_TEST_LOGGER=HRF,all", "passes", 0, "passed store/passes\n", NULL},
    {"BOOST_TEST_OUTPUT_FORMAT=XML", "passes", 0, "passed store/passes\n",
     NULL},
    {"BOOST_TEST_LOG_LEVEL=nothing BOOST_TEST_RESULT_CODE=no", "store/fails", 1,
     "failed store/fails\n", "check 1 + 1 == 3"},
    {"BOOST_TEST_LIST_CONTENT=HRF", "passes", 0, "passed store/passes\n", NULL},
    {"", "inner", 1,
     "passed store.inner/should_fail\nfailed store.inner/fails_too_often\n",
     NULL},
    {"DIES=9", "may_die --retries=1", 1, "crashed store/may_die\n", NULL},
};

Test(e2e_verdicts, boost_test)
{
    build("boost_plain", "g++", "-lboost_unit_test_framework");
    EXPECT_ALL("boost_plain", of_boost);
}

/* ---- doctest ---- */

static const struct situation of_doctest[] = {
    {"KILLED=1", NULL, 1,
     "passed doctest_plain/passes\nfailed doctest_plain/fails\n"
     "passed doctest_plain/should fail\n"
     "failed doctest_plain/fails too seldom\npassed doctest_plain/warns\n"
     "crashed doctest_plain/may be killed\npassed doctest_plain/has no suite\n",
     NULL},
    {"", "'has no'", 0, "passed doctest_plain/has no suite\n", NULL},
    {"KILLED=1", "'may be' --retries=2", 1,
     "crashed doctest_plain/may be killed\n", NULL},
};

Test(e2e_verdicts, doctest)
{
    build("doctest_plain", "g++", "");
    EXPECT_ALL("doctest_plain", of_doctest);
}

/* ---- Several programs ---- */

/* A program that cannot select tests blocks nobody. */
Test(e2e_verdicts, flags_that_one_program_lacks_are_for_the_others)
{
    const struct e2e *run;

    build("check_runners", "gcc", "$(pkg-config --libs check)");
    run = e2e_exits(0, RUN "./check_runners '%s' -- --fail-leaky",
                    e2e_program("small", E2E_TRACED));
    e2e_expect_has(run->err, "./check_runners runs without --fail-leaky, "
                             "because it uses Check\n");
    e2e_exits(2, RUN "./check_runners -- --fail-leaky");
}

/* One of the shards has a program that cannot be divided. */
Test(e2e_verdicts, a_program_that_is_not_divided_is_in_one_shard)
{
    build("check_runners", "gcc", "$(pkg-config --libs check)");
    e2e_run("for i in 1 2 3 4; do " RUN "./check_runners /bin/true -- "
            "--shard=$i/4; cut -f 4 testlog-runs/latest/results.tsv; done | "
            "grep '^[^ ]*/\\|^true' >all");
    e2e_expect_is(e2e_run("sort all")->out,
                  "first/may_fail\nfirst/passes\nsecond/passes\ntrue\n");
}

/* ---- Lines of JSON ---- */

static const struct {
    const char *lines;
    int code;
    const char *outcomes;
} of_json[] = {
    {"T(net/a, failed)T(net/a, passed)R", 1,
     "failed net/a\npassed net/a (2)\n"},
    {"T(net/a, passed)RT(net/b, failed)~", 1, "passed net/a\nfailed net/b\n"},
    {"T(net/a, passed)R~", 0, "passed net/a\n"},
    {"T(net/a, passed)RT(net/b, fa~", 1, "passed net/a\ncrashed sends\n"},
};

/* "~" ends the output without a newline. */
Test(e2e_verdicts, lines_of_json)
{
    for (size_t i = 0; i < sizeof(of_json) / sizeof(*of_json); i++) {
        e2e_run("cat >lines <<'END'\n%s\nEND\n"
                "sed -i 's/T(\\([^,]*\\), \\([a-z]*\\)/{\"schema\":1,"
                "\"event\":\"test\",\"name\":\"\\1\",\"outcome\":\"\\2\"/g; "
                "s/)/}\\n/g; s/R/{\"schema\":1,\"event\":\"run\",\"flags\":"
                "false}\\n/' lines; tr -d '~' <lines | head -c -1 >cut; "
                "grep -q '~' lines || echo >>cut",
                of_json[i].lines);
        e2e_script("sends", "cat cut >/dev/fd/\"$TESTLOG_RESULTS\"");
        e2e_exits(of_json[i].code, RUN "./sends");
        e2e_expect_is(outcomes(), of_json[i].outcomes);
    }
}
