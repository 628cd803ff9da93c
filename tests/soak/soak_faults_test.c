/* soak_faults_test.c: no failing system call, full disk or missing /proc
 * changes a verdict, and one line says what is missing. `make soak` fails every
 * call, `make test` some of each.
 */
#include "tests/support/e2e.h"
#include "tests/support/support.h"

#include "trace/format.h"
#include "trace/read/reader.h"
#include "trace/read/reader_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

E2E_FOLDER

TestSuite(soak_faults, .init = e2e_begin, .timeout = 3600);

static bool soaking(void)
{
    return getenv("SOAK") != NULL;
}

/* ---- What must hold ---- */

/* The closing line of programs/faulty.c. */
#define CLOSING "2 passed, 2 failed, 0 skipped"

/* A program without memory for its options or results may run no test, if it
 * doesn't report success. */
static bool refused(const struct e2e *result)
{
    const char *why =
        result->code == 1 ? "out of memory: no test runs" : "out of memory";

    return (result->code == 1 || result->code == 2) &&
           e2e_count(result->err, why) == 1 &&
           !e2e_count(result->err, "[FAIL]");
}

static void expect_verdicts(const struct e2e *result, const char *what)
{
    cr_expect_eq(result->code, 1, "%s: exit code %d:\n%.2000s", what,
                 result->code, result->err);
    cr_expect_str_eq(e2e_last(result->out), CLOSING, "%s: %s\n%.2000s", what,
                     result->out, result->err);
}

/* ---- Failing calls ---- */

static const char *fault_library(void)
{
    const struct e2e *built =
        e2e_once("faults",
                 "cc -shared -fPIC -O1 -D_GNU_SOURCE -o faults.so "
                 "'%s/faults/faults.c' -ldl",
                 TESTS_DIR);

    cr_assert_eq(built->code, 0, "%s", built->err);
    return built->folder;
}

/* Makes call number `nth` and, with `all`, those after it fail in the runner or
 * the workers. Returns how many calls there were. */
static unsigned fail_call(const char *call, const char *in, unsigned nth,
                          bool all)
{
    const char *program = e2e_program("faulty", E2E_TRACED);
    unsigned count[2] = {0};
    const struct e2e *result;
    char what[128], *counted;

    snprintf(what, sizeof(what), "%s of the %s, number %u%s", call, in, nth,
             all ? " and all after it" : "");
    test_save("count", count, sizeof(count));
    result = e2e_run(
        "TRACE_LIMIT=4M " /* recordings that cannot be cut stay small */
        "FAULT_CALL=%s FAULT_IN=%s FAULT_NTH=%u %s FAULT_COUNT=\"$PWD/count\" "
        "LD_PRELOAD=%s/faults.so TMPDIR=\"$PWD\" exec %s -j4",
        call, in, nth, all ? "FAULT_ALL=1" : "", fault_library(), program);
    counted = test_load("count", NULL);
    memcpy(count, counted, sizeof(count));
    if (!refused(result))
        expect_verdicts(result, what);
    test_remove_tree("testlog-runs");
    return count[0];
}

/* The next call to fail: every call in `make soak`, otherwise the first two and
 * one or two more. */
static unsigned after(unsigned nth, unsigned count)
{
    return soaking() || nth < 2 ? nth + 1 : nth + 1 + count / 2;
}

static void fail_each(const char *call, const char *in)
{
    unsigned count = 1;

    for (unsigned nth = 1; nth <= count; nth = after(nth, count))
        count = fail_call(call, in, nth, false);
    for (unsigned nth = 1; nth <= (soaking() ? count : 1); nth++)
        fail_call(call, in, nth, true);
}

static void skip_if_sanitized(void)
{
    if (SANITIZE_FLAGS[0])
        cr_skip_test("sanitizers must be loaded first");
}

#define FAULT_TEST(call)                                                       \
    Test(soak_faults, survives_failing_##call)                                 \
    {                                                                          \
        skip_if_sanitized();                                                   \
        fail_each(#call, "runner");                                            \
        fail_each(#call, "worker");                                            \
    }

FAULT_TEST(malloc)
FAULT_TEST(strdup)
FAULT_TEST(realpath)
FAULT_TEST(vasprintf)
FAULT_TEST(open)
FAULT_TEST(fopen)
FAULT_TEST(fdopen)
FAULT_TEST(fclose)
FAULT_TEST(fflush)
FAULT_TEST(fwrite)
FAULT_TEST(write)
FAULT_TEST(pwrite)
FAULT_TEST(read)
FAULT_TEST(pread)
FAULT_TEST(mmap)
FAULT_TEST(madvise)
FAULT_TEST(posix_fallocate)
FAULT_TEST(ftruncate)
FAULT_TEST(openat)
FAULT_TEST(renameat)
FAULT_TEST(linkat)
FAULT_TEST(mkdir)
FAULT_TEST(mkdirat)
FAULT_TEST(symlinkat)
FAULT_TEST(stat)
FAULT_TEST(fstat)
FAULT_TEST(dup)
FAULT_TEST(dup2)
FAULT_TEST(memfd_create)
FAULT_TEST(setenv)
FAULT_TEST(pthread_create)

/* ---- Folders and limits ---- */

/* Notices about a full disk. However many files or tests one is about, it is
 * printed once. */
static const char *const kinds[] = {
    "cannot write to ",
    "has no recording: ",
    "not judged: ", /* of the one test that expects a line */
    "no stacks: ",
    "cannot write the trace and log of ",
    "cannot write trace.json: ",
    "cannot write report.html: ",
    "/run.json: ",
    "/results.tsv: ",
    "/results.jsonl: ",
    "/.history: ",
    "/index.html: ",
};

/* Expects a notice that contains `part`, among few others and none twice. */
static void expect_notice(const struct e2e *result, const char *part)
{
    const size_t count = sizeof(kinds) / sizeof(*kinds);

    expect_verdicts(result, result->command);
    e2e_expect_has(result->err, part);
    for (size_t i = 0; i < count; i++)
        cr_expect_leq(e2e_count(result->err, kinds[i]), 1, "%s:\n%s", kinds[i],
                      result->err);
    cr_expect_leq(e2e_count(result->err, "testlog: "), count, "%s",
                  result->err);
}

static const struct e2e *run_in(const char *folder)
{
    return e2e_run("TMPDIR=/nowhere TRACE_DIR=%s exec %s -j4", folder,
                   e2e_program("faulty", E2E_TRACED));
}

Test(soak_faults, reports_a_folder_that_it_cannot_write)
{
    mkdir("refusing", 0555);
    if (!access("refusing", W_OK) && (rmdir("refusing") || geteuid() != 0))
        cr_skip_test("cannot make a read-only folder");
    /* Root may write anywhere except in /proc. */
    expect_notice(run_in(geteuid() ? "refusing" : "/proc/refusing"),
                  "cannot write to ");
}

Test(soak_faults, reports_a_full_disk)
{
    const struct e2e *result;

    mkdir("full", 0777);
    if (mount("testlog", "full", "tmpfs", 0, "size=320k"))
        cr_skip_test("no permission to mount a small disk");
    result = run_in("\"$PWD/full/runs\"");
    umount2("full", MNT_DETACH);
    /* The reason is optional, because there may be space again by then. */
    expect_notice(result, " (others may lack one, too); results are");
}

Test(soak_faults, keeps_verdicts_under_a_file_size_limit)
{
    const struct e2e *result = e2e_run("ulimit -f 300; exec %s -j4",
                                       e2e_program("faulty", E2E_TRACED));

    expect_verdicts(result, "ulimit -f");
}

/* Without /sys, the kernel's choice of clock is unknown. */
Test(soak_faults, falls_back_to_the_monotonic_clock)
{
    const char *program = e2e_program("faulty", E2E_TRACED);
    struct trace_reader *reader;

    if (e2e_run("unshare -m mount -t tmpfs none /sys")->code)
        cr_skip_test("no permission to hide /sys");
    expect_verdicts(e2e_run("unshare -m sh -c 'mount -t tmpfs none /sys && "
                            "exec %s -j4'",
                            program),
                    "without /sys");
    e2e_json("testlog-runs/latest/tests/faulty_test/faulty.crashes/trace.json");
    reader = trace_reader_open(
        "testlog-runs/latest/tests/faulty_test/faulty.crashes/recording");
    cr_assert_not_null(reader);
    cr_expect_eq(reader->header.clock, TRACE_CLOCK_MONOTONIC);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EVENT, "soon"), 1);
    trace_reader_close(reader);
}

/* Without /proc, Criterion finds no test and passes. */
Test(soak_faults, fails_without_proc)
{
    const char *program = e2e_program("faulty", E2E_TRACED);
    const struct e2e *result;

    if (e2e_sanitized())
        cr_skip_test("sanitizers need /proc");
    if (e2e_run("unshare -m mount -t tmpfs none /proc")->code)
        cr_skip_test("no permission to hide /proc");
    result = e2e_exits(
        4, "unshare -m sh -c 'mount -t tmpfs none /proc && exec %s -j4'",
        program);
    e2e_expect_has(result->err, "testlog: Criterion cannot find tests without "
                                "/proc; mount it\n");
}

/* ---- No shared memory ---- */

static const char *const mounts[][2] = {
    {"mount -t tmpfs -o ro none /dev/shm", "Read-only file system"},
    {"mount -t tmpfs -o size=4k none /dev/shm", "No space left on device"},
    {"ulimit -f 100", "File too large"},
    {"mount -t tmpfs -o mode=555 none /dev/shm && exec setpriv --reuid 65534",
     "Permission denied"},
};

Test(soak_faults, refuses_to_run_without_shared_memory)
{
    const char *program = e2e_program("faulty", E2E_TRACED);

    if (e2e_run("unshare -m mount -t tmpfs none /dev/shm")->code)
        cr_skip_test("no permission to mount a small disk");
    chmod(".", 0777);
    for (size_t i = 0; i < sizeof(mounts) / sizeof(*mounts); i++) {
        const struct e2e *result =
            e2e_exits(2, "unshare -m sh -c '%s %s %s'", mounts[i][0],
                      strstr(mounts[i][0], "exec") ? "" : "&& exec", program);

        e2e_expect_has(result->err,
                       "cannot share memory in /dev/shm: ", mounts[i][1]);
        cr_expect_eq(e2e_count(result->err, "\n"), 1, "%s", result->err);
        cr_expect_not(e2e_exists("testlog-runs"));
    }
}
