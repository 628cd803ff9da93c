/* e2e_core_test.c: programs of other frameworks, whose tests run in one
 * process. */
#include "tests/support/e2e.h"

#include <stdio.h>
#include <string.h>

E2E_FOLDER

TestSuite(e2e_core, .init = e2e_begin, .timeout = 300);

#define TESTLOG "'" BUILD_DIR "/testlog' "
#define LATEST  "testlog-runs/latest/"
#define TESTS   LATEST "tests/in_process_test/"

/* AddressSanitizer would end a process with 1 instead of the signal, and an
 * installed testlog would judge its tests at once. */
#define NOT_HANDLED                                                            \
    "PATH=/usr/bin:/bin ASAN_OPTIONS=detect_leaks=0:handle_segv=0 "

static const struct e2e *core(const char *arguments)
{
    return e2e_run(NOT_HANDLED "'%s' %s", e2e_program("in_process", E2E_CORE),
                   arguments);
}

static const cJSON *test_of(const char *name)
{
    const cJSON *run = e2e_json(LATEST "run.json");
    const cJSON *tests = cJSON_GetObjectItem(run, "tests"), *test;

    for (test = tests ? tests->child : NULL; test; test = test->next)
        if (!strcmp(e2e_text(test, "name"), name))
            break;
    cr_assert(test, "run.json lacks %s", name);
    return test;
}

static void expect_test(const char *name, const char *outcome,
                        const char *reason)
{
    const cJSON *test = test_of(name);

    cr_expect_str_eq(e2e_text(test, "outcome"), outcome, "%s", name);
    cr_expect_str_eq(e2e_text(test, "reason"), reason, "%s", name);
}

/* The line that a test has logged, up to its end. */
static const char *hello(int number)
{
    static char line[32];

    snprintf(line, sizeof(line), "hello %d\n", number);
    return line;
}

Test(e2e_core, needs_no_criterion)
{
    const struct e2e *result =
        e2e_run("ldd '%s'", e2e_program("in_process", E2E_CORE));

    e2e_expect_lacks(result->out, "criterion");
    e2e_expect_lacks(e2e_run("ldd " TESTLOG)->out, "criterion");
}

Test(e2e_core, closes_as_a_program_of_criterion)
{
    const struct e2e *result = core("passes fails skips passes");

    e2e_expect_code(result, 7);
    e2e_expect_is(result->out, "main returns\n\n"
                               "2 passed, 1 failed, 1 skipped\n");
    e2e_expect_has(result->err,
                   "---- core/fails: failed ----\n"
                   "in_process.c:33: one is not two\n",
                   "output:\nand on stderr\nprinted by 1\n",
                   " INFO work{n=1}: programs::in_process: hello 1\n",
                   "DEBUG work{n=1}: programs::in_process: hidden 1\n",
                   "in_process.c:33: core/fails: failed: one is not two ...\n",
                   "core/skips: skipped: no\tdevice\n");
    e2e_expect_lacks(result->err, "--filter");
}

Test(e2e_core, only_tests_that_fail_have_a_folder)
{
    core("passes fails skips");
    e2e_expect_is(e2e_run("ls " TESTS)->out,
                  "core.fails\noutput.txt\nrecording\n");
    e2e_expect_is(e2e_run("ls " TESTS "core.fails")->out,
                  "log.txt\noutput.txt\nrecording\ntrace.json\n");
    e2e_expect_is(e2e_read(TESTS "core.fails/output.txt"),
                  "and on stderr\nprinted by 1");
    cr_expect_str_eq(e2e_text(test_of("core/passes"), "recording"),
                     "tests/in_process_test/recording#0");
}

Test(e2e_core, readers_find_the_tests_that_pass)
{
    core("passes*3 fails");
    e2e_expect_has(e2e_run(TESTLOG "log latest core/passes --time=none")->out,
                   " INFO work{n=2}: programs::in_process: hello 2\n");
    e2e_expect_has(e2e_run(TESTLOG "stat latest --csv")->out, "\n4,");
    cr_expect_eq(e2e_count(e2e_run(TESTLOG "export latest --chrome -o -")->out,
                           "\"name\":\"work\""),
                 4);
    e2e_expect_has(
        e2e_run(TESTLOG "log '" TESTS "recording#0' --time=none")->out,
        "hello 0\n");
}

Test(e2e_core, a_file_of_parts_is_read_without_an_offset)
{
    const struct e2e *result;

    core("passes*3");
    result = e2e_run(TESTLOG "log " TESTS "recording");
    for (int i = 0; i < 3; i++)
        cr_expect_eq(e2e_count(result->out, hello(i)), 1);
}

/* A follower may see a part while the process ends it and begins another. */
Test(e2e_core, readers_find_each_test_of_a_running_process_once)
{
    const struct e2e *result = e2e_run(
        "'%s' 'passes*3' fails waits 'passes*300' >/dev/null 2>&1 & pid=$!; "
        "until [ -e ready ]; do sleep 0.01; done; " TESTLOG
        "log latest >early; " TESTLOG "log -f latest >followed & until grep -q "
        "'hello 3' followed; do sleep 0.01; done; touch go; wait; cat followed",
        e2e_program("in_process", E2E_CORE));

    for (int i = 0; i < 305; i++)
        if (i != 4)
            cr_expect_eq(e2e_count(result->out, hello(i)), 1, "%s", hello(i));
    cr_expect_eq(e2e_count(result->out, "hello"), 304);
    for (int i = 0; i < 4; i++)
        cr_expect_eq(e2e_count(e2e_read("early"), hello(i)), 1);
}

Test(e2e_core, closes_the_spans_that_a_test_has_left)
{
    core("is_left passes");
    e2e_expect_is(e2e_run(TESTLOG "log latest core/is_left --time=none "
                                  "--span-events=close")
                      ->out,
                  " INFO left{a=1}:work{n=0}: programs::in_process: hello 0\n"
                  " INFO left{a=1}:work{n=0}: programs::in_process: close\n"
                  " INFO left{a=1}: programs::in_process: close\n");
}

Test(e2e_core, begin_fails_an_open_test)
{
    const struct e2e *result = core("is_left passes is_left");

    e2e_expect_code(result, 7);
    expect_test("core/is_left", "failed", "not ended");
    expect_test("core/passes", "passed", "");
    e2e_expect_has(result->out, "\n1 passed, 2 failed, 0 skipped\n");
}

Test(e2e_core, exit_fails_an_open_test)
{
    const struct e2e *result = core("passes exits passes");

    e2e_expect_code(result, 6);
    expect_test("core/exits", "failed", "not ended");
    e2e_expect_is(result->out, "\n1 passed, 1 failed, 0 skipped\n");
}

/* Each row ends the process. */
static const struct death {
    const char *test, *reason;
    int code;
} deaths[] = {{"crashes", "SIGSEGV, in crashes (", 128 + 11},
              {"is_killed", "its process died", 128 + 9},
              {"leaves", "its process died", 5}};

enum { DEATHS = sizeof(deaths) / sizeof(*deaths) };

static void expect_judged(const struct death *death)
{
    char name[64];

    snprintf(name, sizeof(name), "core/%s", death->test);
    expect_test("core/passes", "passed", "");
    expect_test("core/fails", "failed",
                "in_process.c:33: one is not two\nmore");
    cr_expect_str_eq(e2e_text(test_of(name), "outcome"), "crashed");
    e2e_expect_has(e2e_text(test_of(name), "reason"), death->reason);
}

Test(e2e_core, a_command_judges_a_process_that_died)
{
    for (int i = 0; i < DEATHS; i++) {
        char words[64], notice[128];
        const struct e2e *result;

        snprintf(words, sizeof(words), "passes fails %s skips", deaths[i].test);
        snprintf(notice, sizeof(notice), "in_process_test died in core/%s (%s",
                 deaths[i].test, deaths[i].reason);
        result = core(words);
        e2e_expect_code(result, deaths[i].code);
        cr_expect_eq(strstr(result->err, "last words") != NULL,
                     !strcmp(deaths[i].test, "crashes"));
        cr_expect_not(e2e_exists(LATEST "run.json"));
        result = e2e_run(TESTLOG "list");
        e2e_expect_has(result->err, notice, "); its tests are judged now\n");
        expect_judged(&deaths[i]);
        e2e_run("rm -r testlog-runs");
    }
}

Test(e2e_core, the_history_knows_the_tests_of_a_process_that_died)
{
    e2e_run(NOT_HANDLED "GITHUB_SHA=aaaa1111 '%s' passes crashes",
            e2e_program("in_process", E2E_CORE));
    e2e_run("GITHUB_SHA=bbbb2222 " TESTLOG "list");
    e2e_expect_has(e2e_run("cat testlog-runs/.history/*")->out, "core/crashes");
    e2e_expect_has(e2e_run("cat testlog-runs/.history/*")->out, "\taaaa1111\t");
    e2e_expect_has(e2e_read(LATEST "results.tap"), "not ok");
}

Test(e2e_core, the_next_run_judges_a_process_that_died)
{
    core("passes crashes");
    e2e_expect_has(
        core("passes")->err,
        "died in core/crashes (SIGSEGV); its tests are judged now\n");
    e2e_expect_is(e2e_run("cat testlog-runs/2*/results.tsv | cut -f 1")->out,
                  "passed\ncrashed\npassed\n");
    e2e_expect_has(
        e2e_run("cat testlog-runs/2*/tests/*/core.crashes/output.txt")->out,
        "last words");
    e2e_expect_has(e2e_run(TESTLOG "log latest~1")->out,
                   "ERROR fatal: crash: SIGSEGV");
}

/* ---- GPUs ---- */

#define PLAYED(fixture)                                                        \
    "TESTLOG_GPU_LIBRARY=" BUILD_DIR "/libtestlog-gpu.so "                     \
    "TESTLOG_GPU_ROOT=$PWD/root TRACE_CUPTI=" BUILD_DIR                        \
    "/tests/playback.so PLAYBACK_FIXTURE=" TESTS_DIR "/playback/" fixture      \
    ".fixture "

static void begin_gpu(void)
{
    e2e_run("mkdir -p root/dev && touch root/dev/nvidiactl");
    if (!e2e_exists("%s/tests/playback.so", BUILD_DIR))
        cr_skip_test("no playback library");
}

static const struct e2e *played(const char *fixture, const char *words)
{
    return e2e_run("%s '%s' %s", fixture, e2e_program("in_process", E2E_CORE),
                   words);
}

Test(e2e_core, gpu_work_belongs_to_its_test)
{
    const struct e2e *result;
    const cJSON *run, *test;
    size_t number = 0;

    begin_gpu();
    result = played(PLAYED("plain"), "passes launches passes launches");
    e2e_expect_has(result->out, "\n4 passed, 0 failed, 0 skipped\n");
    e2e_expect_has(result->err, "testlog: GPU: kernels 13 in ");
    run = e2e_run_json();
    e2e_expect_is(e2e_text(cJSON_GetObjectItem(run, "gpu"), "state"),
                  "playback");
    cJSON_ArrayForEach(test, cJSON_GetObjectItem(run, "tests"))
    {
        const char *lines = e2e_run(TESTLOG "log '" LATEST "%s' --filter trace",
                                    e2e_text(test, "recording"))
                                ->out;
        size_t count = e2e_count(lines, "Executing kernel");

        /* The fixture has nine kernels, and each test launches two. */
        cr_expect_eq(count,
                     number == 1   ? 11u
                     : number == 3 ? 2u
                                   : 0u,
                     "%zu: %zu\n%s", number, count, lines);
        cr_expect_null(cJSON_GetObjectItem(test, "survivors"));
        number++;
    }
    cr_expect_eq(number, 4);
}

Test(e2e_core, memory_that_a_test_leaves_on_a_gpu_may_fail_it)
{
    const struct e2e *result;

    begin_gpu();
    e2e_expect_has(played(PLAYED("leak"), "launches passes")->err,
                   "testlog: core/launches: warning: leaked GPU memory: ");
    result = played("TRACE_OPTIONS=gpu_leaks=fail " PLAYED("leak"),
                    "launches passes");
    e2e_expect_has(result->out, "\n1 passed, 1 failed, 0 skipped\n");
    e2e_expect_has(result->err,
                   "---- core/launches: failed: leaked GPU memory: ");
    e2e_expect_has(e2e_text(e2e_latest("core/launches"), "reason"),
                   "leaked GPU memory: ");
    e2e_expect_lacks(
        played("TRACE_OPTIONS=gpu_leaks=off " PLAYED("leak"), "launches passes")
            ->err,
        "leaked");
}

Test(e2e_core, children_record_into_their_test)
{
    e2e_expect_has(core("forks")->out, "\n1 passed, 0 failed, 0 skipped\n");
    cr_expect_eq(e2e_count(e2e_run(TESTLOG "log latest")->out, "hello 0"), 1);
}

Test(e2e_core, children_run_tests_of_their_own)
{
    const struct e2e *result = core("forks_tests passes");

    e2e_expect_has(result->out, "\n3 passed, 3 failed, 0 skipped\n");
    expect_test("child/passes", "passed", "");
    expect_test("child/crashes", "crashed", "SIGSEGV");
    expect_test("child/exits", "failed", "not ended");
    expect_test("core/forks_tests", "passed", "");
    e2e_expect_is(e2e_run("ls -d " TESTS "child.*")->out,
                  TESTS "child.crashes\n" TESTS "child.exits\n" TESTS
                        "child.fails\n");
    cr_expect_eq(
        e2e_count(e2e_run(TESTLOG "log latest core/forks_tests")->out, "hello"),
        1);
}

/* The part of each child is behind the one of its parent, which may grow. */
Test(e2e_core, children_that_run_tests_take_little_space)
{
    core("'forks_tests*3' is_killed");
    e2e_expect_is(e2e_run("test $(du -sk " LATEST "/ | cut -f 1) -le 100000 || "
                          "du -sk " LATEST "/")
                      ->out,
                  "");
}

Test(e2e_core, a_crashed_child_has_its_own_output_only)
{
    core("forks_tests passes*3");
    e2e_expect_is(e2e_read(TESTS "child.crashes/output.txt"), "last words");
}

Test(e2e_core, a_thread_never_records_into_the_next_test)
{
    core("starts_thread lets_thread_log passes");
    cr_expect_str_eq(e2e_text(test_of("core/starts_thread"), "survivors"),
                     "1 thread");
    e2e_expect_is(e2e_run(TESTLOG "log latest --time=none --compact")->out, "");
}

Test(e2e_core, a_silent_thread_never_records_into_the_next_test)
{
    core("starts_silent_thread lets_thread_log");
    cr_expect_str_eq(
        e2e_text(test_of("core/starts_silent_thread"), "survivors"),
        "1 thread");
    e2e_expect_lacks(e2e_run(TESTLOG "log latest")->out, "from the thread");
}

Test(e2e_core, survives_odd_programs)
{
    const struct e2e *result =
        core("jumps passes changes_folder passes misuses passes");

    e2e_expect_code(result, 7);
    e2e_expect_has(result->out, "\n5 passed, 1 failed, 0 skipped\n");
    e2e_expect_lacks(result->err, "cannot");
    expect_test("core/changes_folder", "failed", "moved");
}

/* What they print afterwards is lost, but no result. */
Test(e2e_core, survives_programs_that_close_all)
{
    e2e_expect_code(core("passes closes_all passes"), 7);
    expect_test("core/closes_all", "failed", "closed");
    expect_test("core/passes", "passed", "");
    e2e_expect_has(e2e_run(TESTLOG "log latest core/closes_all")->out, "hello");
    e2e_expect_is(e2e_run("grep -c passed " LATEST "results.tsv")->out, "2\n");
}

Test(e2e_core, takes_names_of_any_characters)
{
    const struct e2e *result = core(
        "'named:a/b c' 'named:../../../up' 'named:.hidden' "
        "'named:\t\n\033[31m' 'named:a/b_c' \"named:$(printf 'x%.0s' $(seq "
        "3000))\" 'named:\xff\xc3\xa4' 'named:a#0' 'named:*?['");

    e2e_expect_code(result, 7);
    e2e_expect_has(result->out, "\n0 passed, 9 failed, 0 skipped\n");
    cr_expect_eq(strtol(e2e_run("ls -d " TESTS "*/ | wc -l")->out, NULL, 10),
                 9);
    cr_expect_not(e2e_exists("up"));
    e2e_exits(0, TESTLOG "log latest");
}

Test(e2e_core, takes_a_bad_setting_before_any_test)
{
    const struct e2e *result = e2e_exits(2, "LOG_FORMAT=loud '%s' passes",
                                         e2e_program("in_process", E2E_CORE));

    e2e_expect_is(result->out, "");
    e2e_expect_has(result->err, "LOG_FORMAT");
    cr_expect_not(e2e_exists("testlog-runs"));
}

Test(e2e_core, prints_live_lines_among_the_output)
{
    const struct e2e *result =
        e2e_run("NOCAPTURE=1 LOG_TIME=none LOG=debug '%s' passes 2>&1",
                e2e_program("in_process", E2E_CORE));

    e2e_expect_has(result->out, " INFO work{n=0}: programs::in_process: hello "
                                "0\nDEBUG work{n=0}: programs::in_process: "
                                "hidden 0\nprinted by 0\n");
}

Test(e2e_core, testlog_run_judges_test_by_test)
{
    const struct e2e *result = e2e_exits(1, TESTLOG "run '%s' '%s' 2>&1",
                                         e2e_program("in_process", E2E_CORE),
                                         e2e_program("small", E2E_TRACED));

    e2e_expect_has(result->out, "in_process_test: failed: the program exited "
                                "with 7");
    e2e_run("cp '%s' p; printf '#!/bin/sh\\nexec ./p passes fails skips' >run; "
            "chmod +x run",
            e2e_program("in_process", E2E_CORE));
    result = e2e_exits(1, TESTLOG "run ./run 2>&1");
    e2e_expect_has(result->out, "core/fails: failed");
    e2e_expect_lacks(result->out, "exited with", "--filter");
    expect_test("core/passes", "passed", "");
    e2e_expect_has(e2e_run(TESTLOG "log latest core/passes")->out, "hello 0");
}

Test(e2e_core, testlog_run_names_the_test_that_crashed)
{
    const struct e2e *result;

    e2e_run("cp '%s' p; printf '#!/bin/sh\nexec ./p passes crashes skips' "
            ">run; chmod +x run",
            e2e_program("in_process", E2E_CORE));
    result = e2e_exits(1, NOT_HANDLED TESTLOG "run ./run '%s' 2>&1",
                       e2e_program("small", E2E_TRACED));
    e2e_expect_has(
        result->out, "---- core/crashes: crashed: SIGSEGV, in crashes (",
        "output:\nlast words\n", "\n17 passed, 1 failed, 0 skipped\n");
    e2e_expect_lacks(result->out, "the program died");
    e2e_expect_has(e2e_run(TESTLOG "log latest core/crashes")->out,
                   "ERROR fatal: crash: SIGSEGV");
    e2e_expect_has(e2e_run(TESTLOG "log latest core/passes")->out, "hello 0");
    cr_expect_not(e2e_exists(LATEST "tests/run/recording.live"));
}

/* A program that closes its descriptors loses its locks. */
Test(e2e_core, no_live_run_is_judged)
{
    const struct e2e *result = e2e_run(
        "'%s' passes closes_all waits passes & pid=$!; while [ ! -e ready ]; "
        "do sleep 0.01; done; " TESTLOG "list; touch go; wait $pid",
        e2e_program("in_process", E2E_CORE));

    e2e_expect_lacks(result->err, "died");
    expect_test("core/waits", "passed", "");
    e2e_expect_is(e2e_run("grep -c passed " LATEST "results.tsv")->out, "3\n");
}

/* Tests that it begins then are in a run of its own. */
Test(e2e_core, a_child_may_outlive_its_parent)
{
    const struct e2e *result = e2e_run(
        "'%s' outlives; " TESTLOG "list; child=$(grep outlives " TESTS
        "journal.tsv | tail -n 1 | cut -f 2); touch go; while grep -q "
        "'State:\t[^ZX]' /proc/$child/status 2>/dev/null; do sleep 0.01; "
        "done; " TESTLOG "list >/dev/null",
        e2e_program("in_process", E2E_CORE));

    e2e_expect_has(result->err, "a forked child still runs child/outlives");
    e2e_expect_has(result->out, "running");
    e2e_expect_is(e2e_run("cut -f 1,4 testlog-runs/2*/results.tsv")->out,
                  "passed\tcore/outlives\npassed\tchild/outlives\n"
                  "passed\tchild/next\n");
}

Test(e2e_core, an_exit_in_a_handler_ends)
{
    for (int i = 0; i < 5; i++) {
        e2e_expect_code(core("exits_in_a_handler"), 14);
        e2e_run(TESTLOG "list");
        cr_expect(e2e_exists(LATEST "run.json"));
    }
}

Test(e2e_core, a_kill_loses_no_test_that_has_ended)
{
    for (int i = 0; i < 10; i++) {
        const struct e2e *result = e2e_run(
            "'%s' 'passes*100000' >/dev/null 2>&1 & pid=$!; until [ -s " TESTS
            "journal.tsv ]; do :; done; sleep 0.0%d; kill -9 $pid; wait $pid; "
            "grep -c '^end' " TESTS "journal.tsv; " TESTLOG "list >/dev/null; "
            "grep -c ^passed " LATEST "results.tsv; rm -r testlog-runs",
            e2e_program("in_process", E2E_CORE), i);
        char *end;
        long ended = strtol(result->out, &end, 10);

        cr_expect_eq(strtol(end, NULL, 10), ended, "%s", result->out);
    }
}

#define ON_DISK(disk, words)                                                   \
    "unshare -m sh -c 'mkdir d && " disk                                       \
    " && cd d && TMPDIR=$PWD \"$0\" " words "' '%s'"

Test(e2e_core, loses_no_result_on_a_full_disk)
{
    const struct e2e *result;

    if (e2e_run("unshare -m true")->code)
        cr_skip_test("cannot mount a small file system");
    result = e2e_exits(
        7, ON_DISK("mount -t tmpfs -o size=900k none d", "passes*3000"),
        e2e_program("in_process", E2E_CORE));
    e2e_expect_has(result->out, "\n3000 passed, 0 failed, 0 skipped\n");
    e2e_expect_has(result->err, "has no recording: No space left on device");
}

/* The disk is full in the middle of a line of the journal, at another place for
 * each size. */
Test(e2e_core, invents_no_result_on_a_full_disk)
{
    if (e2e_run("unshare -m true")->code)
        cr_skip_test("cannot mount a small file system");
    for (int pages = 5; pages < 35; pages++)
        e2e_expect_has(
            e2e_run("rm -rf d && " ON_DISK("mount -t tmpfs -o size=%dk none d",
                                           "passes*1500"),
                    4 * pages, e2e_program("in_process", E2E_CORE))
                ->out,
            "\n1500 passed, 0 failed, 0 skipped\n");
}

/* The process dies after it has written its run, or cannot remove a file. */
Test(e2e_core, a_run_that_is_written_is_not_judged_again)
{
    const struct e2e *result = e2e_run(
        "'%s' passes waits passes fails >/dev/null 2>&1 & while [ ! -e ready "
        "]; do sleep 0.01; done; cp " TESTS "journal.tsv .; touch go; wait; cp "
        "journal.tsv " TESTS "; " TESTLOG "list; cut -f 1 " LATEST
        "results.tsv",
        e2e_program("in_process", E2E_CORE));

    e2e_expect_lacks(result->err, "died");
    e2e_expect_has(result->out, "\npassed\npassed\npassed\nfailed\n");
}

Test(e2e_core, loses_no_result_without_a_folder)
{
    const struct e2e *result;

    if (e2e_run("unshare -m true")->code)
        cr_skip_test("cannot mount a file system");
    result =
        e2e_exits(7, ON_DISK("mount -t tmpfs -o ro none d", "passes*3 fails"),
                  e2e_program("in_process", E2E_CORE));
    e2e_expect_has(result->out, "\n3 passed, 1 failed, 0 skipped\n");
    e2e_expect_has(result->err, "this run keeps no logs and traces\n");
}

Test(e2e_core, runs_many_tests_in_little_memory)
{
    const struct e2e *result;

    if (e2e_sanitized())
        cr_skip_test("a sanitizer owns the memory");
    result = e2e_run("ulimit -v 2000000; '%s' 'passes*20000'",
                     e2e_program("in_process", E2E_CORE));
    e2e_expect_has(result->out, "\n20000 passed, 0 failed, 0 skipped\n");
    e2e_expect_is(e2e_run("test $(du -sk " LATEST "/ | cut -f 1) -le 160000 || "
                          "du -sk " LATEST "/")
                      ->out,
                  "");
}

/* It reports what the program does, and not what the library does. */
Test(e2e_core, runs_in_a_program_with_memory_sanitizer)
{
    const struct e2e *result;

    if (e2e_sanitized() || e2e_run("command -v clang")->code)
        cr_skip_test("no clang, or the library has a sanitizer");
    e2e_run("cat >msan.c <<'END'\n"
            "#include <testlog/core.h>\n"
            "#include <testlog/log.h>\n"
            "#include <stdlib.h>\n"
            "int main(int argc, char **argv)\n"
            "{\n"
            "    int *numbers = malloc(8);\n"
            "    test_log_begin(\"s\", \"t\");\n"
            "    { trace_span(INFO, \"a\", (\"i\", 1)); log_warn(\"w %%s\", "
            "argv[0]); }\n"
            "    test_log_end(TEST_LOG_FAILED, \"why\");\n"
            "    if (argc > 1 && numbers[1])\n"
            "        return 3;\n"
            "    return 0;\n"
            "}\n"
            "END");
    e2e_exits(0, "clang -g -fsanitize=memory -DTRACING -I '" BUILD_DIR
                 "/include' msan.c -o msan -L '" BUILD_DIR
                 "/shared' -Wl,-rpath,'" BUILD_DIR "/shared' -ltestlog-core");
    result = e2e_run("./msan");
    e2e_expect_has(result->err, "WARN a{i=1}: msan: w ");
    e2e_expect_lacks(result->err, "MemorySanitizer");
    e2e_expect_has(e2e_run("./msan x")->err, "use-of-uninitialized-value");
}
