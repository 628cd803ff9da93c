/* e2e_trust_test.c: files of other users are neither written to nor loaded, and
 * verdicts stay.
 */
#include "tests/support/e2e.h"
#include "tests/support/support.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TESTLOG BUILD_DIR "/testlog"
#define CLOSING "14 passed, 5 failed, 1 skipped"

E2E_FOLDER

TestSuite(e2e_trust, .init = e2e_begin, .timeout = 300);

static void need_root(void)
{
    if (geteuid())
        cr_skip_test("only root can give a file away");
}

static const char *losing(void)
{
    return e2e_program("losing", E2E_TRACED);
}

/* ---- Runs folders ---- */

static void expect_elsewhere(const struct e2e *result, const char *folder)
{
    e2e_expect_code(result, 1);
    e2e_expect_is(e2e_last(result->out), CLOSING);
    cr_expect_eq(e2e_count(result->err, "testlog: cannot write to "), 1, "%s",
                 result->err);
    e2e_expect_has(e2e_line(result->err, "testlog: cannot write to "), folder);
    e2e_expect_has(result->err, "it belongs to another user (54321); "
                                "this run is in ");
    cr_expect_eq(e2e_run("test -z \"$(ls -A %s)\"", folder)->code, 0);
}

#define IN_TMP "mkdir -p tmp && TMPDIR=$PWD/tmp "

Test(e2e_trust, writes_nothing_to_another_users_folder)
{
    need_root();
    e2e_run("mkdir testlog-runs && chown 54321 testlog-runs");
    expect_elsewhere(e2e_run(IN_TMP "%s -j1", losing()), "testlog-runs");
    expect_elsewhere(e2e_run(IN_TMP TESTLOG " run %s -- -j1", losing()),
                     "testlog-runs");
    e2e_exits(0, "test $(ls tmp | grep -c ^testlog-) = 2");
}

Test(e2e_trust, writes_nothing_through_another_users_link)
{
    need_root();
    e2e_run("mkdir there && ln -s there testlog-runs && "
            "chown -h 54321 testlog-runs");
    expect_elsewhere(e2e_run(IN_TMP "%s -j1", losing()), "testlog-runs");
    e2e_exits(0, "rmdir there");
}

static void expect_here(const struct e2e *result)
{
    e2e_expect_code(result, 1);
    e2e_expect_lacks(result->err, "cannot write");
    e2e_expect_has(result->err, "run: testlog-runs/");
    cr_expect(e2e_exists("testlog-runs/latest/trace.json"));
    e2e_run("rm -rf testlog-runs/*");
}

Test(e2e_trust, writes_to_another_users_folder_on_request)
{
    need_root();
    e2e_run("mkdir testlog-runs && chown 54321 testlog-runs");
    expect_here(e2e_run("%s -j1 --trace-dir=testlog-runs", losing()));
    expect_here(e2e_run("TRACE_DIR=testlog-runs %s -j1", losing()));
    expect_here(
        e2e_run("TRACE_DIR=testlog-runs " TESTLOG " run %s -- -j1", losing()));
}

Test(e2e_trust, writes_to_the_folder_of_the_user_who_called_sudo)
{
    need_root();
    e2e_run("mkdir testlog-runs && chown 54321 testlog-runs");
    expect_here(e2e_run("SUDO_UID=54321 %s -j1", losing()));
}

/* Root works so in a container. */
Test(e2e_trust, writes_to_a_checkout_of_the_programs_owner)
{
    need_root();
    e2e_run("mkdir -p u/testlog-runs u/build && cp %s u/build/losing_test && "
            "chown 54321 u u/testlog-runs",
            losing());
    e2e_expect_lacks(e2e_run("cd u && build/losing_test -j1")->err, "cannot");
    e2e_expect_lacks(
        e2e_run("cd u && " TESTLOG " run build/losing_test -- -j1")->err,
        "cannot");
    e2e_exits(0, "test $(ls -d u/testlog-runs/20* | wc -l) = 2");
}

/* Another user's list of failures must not decide which tests run. */
Test(e2e_trust, reads_no_history_of_another_user)
{
    const struct e2e *result;

    need_root();
    e2e_run("%s -j1; chown -R 54321 testlog-runs; cd testlog-runs/.history && "
            "sed -i s/^failed/passed/ *.tsv",
            losing());
    result = e2e_exits(1, IN_TMP "%s -j1 --failed", losing());
    e2e_expect_is(e2e_last(result->out), CLOSING);
}

/* ---- Settings of an archive ---- */

/* Makes a folder "archive" with such settings, and two runs elsewhere. */
static void unpack(const char *settings)
{
    e2e_run("echo original >victim; mkdir archive; ln -s ../elsewhere "
            "archive/link; printf '%s' >archive/testlog.conf; "
            "printf '#!/bin/sh\ntouch %s/opened\n' >browser; "
            "chmod +x browser; for i in 1 2; do %s --trace-dir=elsewhere "
            "--filter losing/t09; done",
            settings, getenv("PWD"), losing());
    e2e_expect_is(e2e_run("ls -d elsewhere/2* | wc -l")->out, "2\n");
}

static const struct {
    const char *command;
} bystanders[] = {
    {"record -- true"}, {"list"}, {"clean"},
    {"report"},         {"stat"}, {"merge -o new ../elsewhere/*"},
    {"flaky"},          {"pack"},
};

/* These commands run no test of the project, so that nobody expects them to do
 * what its settings say. */
Test(e2e_trust, lets_the_settings_of_an_archive_name_no_files)
{
    unpack("report = tap:../victim\nopen = 1\nscratch = ../elsewhere\n"
           "history = ../victim\nkeep = 1\ntrace-dir = ../elsewhere\n");
    for (size_t i = 0; i < sizeof(bystanders) / sizeof(*bystanders); i++) {
        const struct e2e *run =
            e2e_run("cd archive && BROWSER=../browser " TESTLOG " %s",
                    bystanders[i].command);

        e2e_expect_has(run->err, "testlog: testlog.conf:6: trace-dir: commands "
                                 "that run no tests take only a folder below "
                                 "this one; set TRACE_DIR to use "
                                 "../elsewhere\n");
        e2e_expect_is(e2e_read("victim"), "original\n");
        e2e_expect_is(e2e_run("ls -d elsewhere/2* | wc -l")->out, "2\n");
        cr_expect_not(e2e_exists("opened"), "%s", bystanders[i].command);
    }
    e2e_expect_is(e2e_run("ls -d archive/testlog-runs/2* | wc -l")->out, "1\n");
}

Test(e2e_trust, follows_no_link_to_a_folder_of_runs)
{
    unpack("keep = 1\ntrace-dir = link/\n");
    e2e_expect_has(e2e_run("cd archive && " TESTLOG " clean")->err,
                   "take only a folder below this one");
    e2e_expect_is(e2e_run("ls -d elsewhere/2* | wc -l")->out, "2\n");
}

static const char *const links[] = {"report = tap:out", "report = jsonl:out",
                                    "tap = out", "output = xml:out"};

Test(e2e_trust, follows_a_link_to_a_report_only_for_a_flag)
{
    e2e_run("echo original >victim; ln -s victim out");
    for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++) {
        e2e_run("echo '%s' >testlog.conf", links[i]);
        e2e_expect_has(e2e_exits(2, "%s --filter losing/t09", losing())->err,
                       ": out is a link; only a flag may name one\n");
        e2e_expect_is(e2e_read("victim"), "original\n");
    }
    e2e_run("rm testlog.conf; %s --report=tap:out --filter losing/t09",
            losing());
    e2e_expect_lacks(e2e_read("victim"), "original");
}

/* ---- Libraries ---- */

static const char *gpu(void)
{
    return e2e_program("gpu", E2E_TRACED);
}

static const char *gpu_state(void)
{
    const cJSON *run = e2e_run_json();

    return e2e_text(e2e_result(run, "gpu/uses_it"), "gpu");
}

#define USES_IT "TESTLOG_GPU_ROOT=$PWD/root %s --filter gpu/uses_it"

static const char *const places[] = {"b", "b/../lib", "."};

Test(e2e_trust, loads_nothing_from_beside_the_program)
{
    e2e_run("mkdir -p root/dev b lib && touch root/dev/nvidiactl && "
            "cp %s b/gpu_test",
            gpu());
    for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
        e2e_run("cp %s %s/", e2e_stub(), places[i]);
        e2e_exits(0, USES_IT, "b/gpu_test");
        e2e_expect_is(gpu_state(), "no-libcupti");
        e2e_run("rm %s/libtestlog-gpu.so", places[i]);
    }
}

Test(e2e_trust, loads_the_library_beside_the_shared_library)
{
    if (SANITIZE_FLAGS[0])
        cr_skip_test("there is no shared library with sanitizers");
    e2e_run("mkdir -p root/dev lib && touch root/dev/nvidiactl && "
            "cp %s/shared/libtestlog.so.* lib/ && cp %s lib/",
            BUILD_DIR, e2e_stub());
    e2e_exits(0,
              "cc -D_GNU_SOURCE -DTRACING -I'%s/include' -o gpu_test "
              "'%s/programs/gpu.c' -L'%s/shared' -ltestlog -lcriterion "
              "-lpcre2-8 -lpthread",
              BUILD_DIR, TESTS_DIR, BUILD_DIR);
    e2e_exits(0, "LD_LIBRARY_PATH=$PWD/lib " USES_IT, "./gpu_test");
    e2e_expect_is(gpu_state(), "on");
}

/* Ways in which others can replace a copy of the library. */
static const char *const faults[] = {
    "chown 54321 l/libtestlog-gpu.so",
    "chmod 0666 l/libtestlog-gpu.so",
    "chown 54321 l",
    "chmod 0777 l",
    "chmod 1777 l",
    "chmod 0777 .",
};

Test(e2e_trust, loads_no_library_that_others_can_replace)
{
    need_root();
    e2e_run("mkdir -p root/dev && touch root/dev/nvidiactl");
    for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++) {
        const struct e2e *result;

        e2e_run("rm -rf l; mkdir l && cp %s l/ && %s", e2e_stub(), faults[i]);
        result = e2e_exits(
            0, "TESTLOG_GPU_LIBRARY=$PWD/l/libtestlog-gpu.so LOG=gpu " USES_IT,
            gpu());
        e2e_run("chmod 0755 .");
        e2e_expect_is(gpu_state(), "no-libcupti");
        e2e_expect_has(result->err, "/l/libtestlog-gpu.so is not loaded: "
                                    "another user can replace it");
    }
}

Test(e2e_trust, loads_no_replaceable_library_of_another_tool)
{
    need_root();
    e2e_run("mkdir -p root/dev l && touch root/dev/nvidiactl && cp %s l/ && "
            "chmod 0777 l",
            e2e_stub());
    e2e_run("CUDA_INJECTION64_PATH=$PWD/l/libtestlog-gpu.so " USES_IT, gpu());
    e2e_expect_is(gpu_state(), "no-libcupti");
}
