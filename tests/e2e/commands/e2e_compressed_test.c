/* e2e_compressed_test.c: runs with compressed recordings. */
#include "tests/support/e2e.h"

#include <string.h>

E2E_FOLDER

TestSuite(e2e_compressed, .init = e2e_begin, .timeout = 300);

#define TESTLOG "'" BUILD_DIR "/testlog' "
#define TESTS   "testlog-runs/latest/tests/large_test/"
#define LARGE   "LARGE_TESTS=9 LARGE_EVENTS=12800 "
#define MUCH    TESTS "large.records_much/"

enum { LINES = 12800 / 2 };

static const struct e2e *run(const char *before, const char *flags)
{
    return e2e_run(LARGE "%s " TESTLOG "run '%s' -- %s", before,
                   e2e_program("large", E2E_TRACED), flags);
}

Test(e2e_compressed, compresses_large_recordings)
{
    const struct e2e *result = run("", "--render=all");

    e2e_expect_code(result, 1);
    e2e_expect_is(e2e_last(result->out), "9 passed, 1 failed, 0 skipped");
    e2e_expect_lacks(result->err, "GPU");
    cr_expect(e2e_exists(MUCH "recording.zst"));
    cr_expect_not(e2e_exists(MUCH "recording"));
    cr_expect(e2e_exists(MUCH "trace.json"));
    cr_expect(e2e_exists(TESTS "large.one_of_many[7]/recording"));
    cr_expect_not(e2e_exists(TESTS "large.one_of_many[7]/recording.zst"));
    cr_expect(e2e_exists("testlog-runs/latest/run.json"));
    result = run("", "--failed");
    e2e_expect_is(e2e_last(result->out), "0 passed, 1 failed, 0 skipped");
}

static const char *const left[][2] = {{"TRACE_OPTIONS=compress=0", ""},
                                      {"", "--trace-options=compress=0"}};

Test(e2e_compressed, compresses_nothing_if_the_option_is_off)
{
    for (size_t i = 0; i < sizeof(left) / sizeof(*left); i++) {
        const struct e2e *result = run(left[i][0], left[i][1]);

        e2e_expect_code(result, 1);
        e2e_expect_lacks(result->err, "GPU");
        cr_expect(e2e_exists(MUCH "recording"));
        cr_expect_not(e2e_exists(MUCH "recording.zst"));
    }
}

Test(e2e_compressed, compresses_without_testlog_run)
{
    const char *large = e2e_program("large", E2E_TRACED);

    e2e_run(LARGE "'%s'", large);
    cr_expect(e2e_exists(MUCH "recording.zst"));
    cr_expect_not(e2e_exists(MUCH "recording"));
    cr_expect(e2e_exists(TESTS "large.one_of_many[7]/recording"));
    cr_expect_eq(
        e2e_count(e2e_run(TESTLOG "log large/records_much --filter debug")->out,
                  "event "),
        LINES);
    e2e_run(LARGE "'%s' --trace-options=compress=0", large);
    cr_expect(e2e_exists(MUCH "recording"));
    cr_expect_not(e2e_exists(MUCH "recording.zst"));
}

/* As versions before 0.3 left them. */
static void run_gzip(void)
{
    e2e_run(LARGE "'%s' --trace-options=compress=0; gzip -1 " MUCH "recording",
            e2e_program("large", E2E_TRACED));
    cr_assert(e2e_exists(MUCH "recording.gz"));
}

Test(e2e_compressed, reads_recordings_of_zlib)
{
    static const char *const names[] = {"large/records_much", MUCH,
                                        MUCH "recording", MUCH "recording.gz"};

    run_gzip();
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        cr_expect_eq(
            e2e_count(e2e_run(TESTLOG "log %s --filter debug", names[i])->out,
                      "event "),
            LINES, "%s", names[i]);
    e2e_run("truncate -s 1000 " MUCH "recording.gz");
    e2e_expect_has(e2e_run(TESTLOG "log large/records_much 2>&1")->out,
                   "recording.gz: it is damaged or truncated\n");
}

/* ---- Without a library ---- */

#define WITHOUT "LD_PRELOAD=\"$PWD/hides.so\" "

/* Builds a library that hides another one from programs that open it. */
static void hide(const char *library)
{
    const struct e2e *made = e2e_run(
        "cat >hides.c <<'END'\n"
        "#include <dlfcn.h>\n#include <string.h>\n"
        "void *dlopen(const char *name, int flags)\n"
        "{\n"
        "    void *(*next)(const char *, int) = dlsym(RTLD_NEXT, \"dlopen\");\n"
        "    return name && strstr(name, \"%s\") ? 0 : next(name, flags);\n"
        "}\nEND\n"
        "cc -D_GNU_SOURCE -shared -fPIC -o hides.so hides.c",
        library);

    if (SANITIZE_FLAGS[0])
        cr_skip_test("sanitizers must be loaded first");
    cr_assert_eq(made->code, 0, "%s", made->err);
}

Test(e2e_compressed, leaves_recordings_uncompressed_without_zstd)
{
    const char *large = e2e_program("large", E2E_TRACED);
    const struct e2e *with, *without;

    hide("libzstd.so");
    with = e2e_run(LARGE "'%s' --log-time=none", large);
    cr_assert(e2e_exists(MUCH "recording.zst"));
    without = e2e_run(LARGE WITHOUT "'%s' --log-time=none", large);
    cr_expect_eq(without->code, with->code);
    e2e_expect_is(without->out, with->out);
    e2e_expect_lacks(without->err, "zstd");
    cr_expect(e2e_exists(MUCH "recording"));
    cr_expect_not(e2e_exists(MUCH "recording.zst"));
    cr_expect_eq(
        e2e_count(e2e_run(WITHOUT TESTLOG "log --filter debug")->out, "event "),
        LINES);
}

static void expect_named(const char *library, const char *name,
                         const char *reason)
{
    const struct e2e *result;

    hide(library);
    result = e2e_exits(0, WITHOUT TESTLOG "log");
    e2e_expect_has(result->out, "test 8");
    cr_expect(!strncmp(result->err, "testlog: cannot read " MUCH "recording.",
                       strlen("testlog: cannot read " MUCH "recording.")));
    e2e_expect_has(result->err, name, reason);
    cr_expect_eq(e2e_count(result->err, "\n"), 1, "%s", result->err);
}

Test(e2e_compressed, names_zlib_if_a_recording_needs_it)
{
    run_gzip();
    expect_named("libz.so", "recording.gz: ", "libz.so.1 is not installed\n");
}

Test(e2e_compressed, names_zstd_if_a_recording_needs_it)
{
    e2e_run(LARGE "'%s'", e2e_program("large", E2E_TRACED));
    expect_named("libzstd.so", "recording.zst: ",
                 "libzstd.so.1 is missing; install the package libzstd1\n");
}

Test(e2e_compressed, commands_name_the_libraries_that_they_lack)
{
    static const char *const lines[][2] = {
        {"view", "testlog: view: libmicrohttpd.so.12 is missing; install the "
                 "package libmicrohttpd12\n"},
        {"pack", "libarchive.so.13 is missing; install the package "
                 "libarchive13\n"},
        {"log some.tar.zst", "libarchive.so.13 is missing; install the package "
                             "libarchive13\n"}};

    e2e_run(LARGE "'%s'; " TESTLOG "pack -o some.tar.zst",
            e2e_program("large", E2E_TRACED));
    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
        const struct e2e *result;

        hide(i ? "libarchive" : "libmicrohttpd");
        result = e2e_run(WITHOUT TESTLOG "%s", lines[i][0]);
        cr_expect_neq(result->code, 0);
        e2e_expect_has(result->err, lines[i][1]);
        cr_expect_eq(e2e_count(result->err, "\n"), 1, "%s", result->err);
    }
}

/* ---- Killed midway ---- */

/* Builds a library that kills testlog when it calls `call` for a recording. */
static void make_killer(const char *call, const char *suffix)
{
    const struct e2e *made = e2e_run(
        "printf '%%s\\n' '#include <signal.h>' '#include <string.h>' "
        "'#include <sys/syscall.h>' '#include <unistd.h>' "
        "'static int is(const char *p) { size_t n = strlen(p), s = "
        "strlen(\"%s\"); return n >= s && !strcmp(p + n - s, \"%s\"); }' "
        "'int renameat(int i, const char *a, int j, const char *b) { "
        "if (KILL_rename && is(b)) raise(SIGKILL); "
        "return (int)syscall(SYS_renameat, i, a, j, b); }' "
        "'int linkat(int i, const char *a, int j, const char *b, int flags) { "
        "if (KILL_rename && is(b)) raise(SIGKILL); "
        "return (int)syscall(SYS_linkat, i, a, j, b, flags); }' "
        "'int unlinkat(int i, const char *p, int flags) { "
        "if (KILL_unlink && is(p)) raise(SIGKILL); "
        "return (int)syscall(SYS_unlinkat, i, p, flags); }' >killer.c && "
        "cc -D_GNU_SOURCE "
        "-DKILL_rename=%d -DKILL_unlink=%d -shared -fPIC -o killer.so killer.c",
        suffix, suffix, !strcmp(call, "rename"), !strcmp(call, "unlink"));

    cr_assert_eq(made->code, 0, "%s", made->err);
}

static void kill_at(const char *call, const char *suffix)
{
    const struct e2e *result;

    if (SANITIZE_FLAGS[0])
        cr_skip_test("sanitizers must be loaded first");
    make_killer(call, suffix);
    result = run("LD_PRELOAD=\"$PWD/killer.so\"", "");
    e2e_expect_code(result, 128 + 9);
    e2e_expect_is(e2e_last(result->out), "9 passed, 1 failed, 0 skipped");
}

#define LOG_OF_ALL TESTLOG "log --filter trace"

/* Everything that `log` and `export` print of the run. */
static const char *all_of_it(void)
{
    const struct e2e *log = e2e_exits(0, LOG_OF_ALL);
    const struct e2e *trace = e2e_exits(0, TESTLOG "export");

    e2e_expect_is(log->err, "");
    e2e_expect_is(trace->err, "");
    cr_expect_eq(e2e_count(log->out, "event "), (size_t)LINES);
    return e2e_run(LOG_OF_ALL "; " TESTLOG "export")->out;
}

Test(e2e_compressed, reads_the_same_if_killed_before_removal)
{
    const char *both, *compressed;

    kill_at("unlink", "recording");
    cr_assert(e2e_exists(MUCH "recording"));
    cr_assert(e2e_exists(MUCH "recording.zst"));
    both = all_of_it();
    e2e_run("rm " MUCH "recording");
    compressed = all_of_it();
    cr_expect_eq(strcmp(both, compressed), 0);
}

Test(e2e_compressed, keeps_the_original_if_killed_midway)
{
    kill_at("rename", "recording.zst");
    cr_assert(e2e_exists(MUCH "recording"));
    cr_assert_not(e2e_exists(MUCH "recording.zst"));
    all_of_it();
}

/* ---- Reading ---- */

Test(e2e_compressed, reads_a_recording_by_any_name)
{
    static const char *const names[] = {"large/records_much", "'large/rec*'",
                                        MUCH, MUCH "recording",
                                        MUCH "recording.zst"};

    run("", "");
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        const struct e2e *result =
            e2e_exits(0, TESTLOG "log %s --filter trace", names[i]);

        cr_expect_eq(e2e_count(result->out, "event "), (size_t)LINES, "%s",
                     names[i]);
    }
}

Test(e2e_compressed, follows_a_recording_that_gets_compressed)
{
    const struct e2e *result = e2e_exits(
        0,
        LARGE TESTLOG
        "run '%s' >run.out 2>&1 & until [ -e testlog-runs/latest/tests ]; do "
        "sleep 0.01; done; " TESTLOG "log --follow --filter trace; wait",
        e2e_program("large", E2E_TRACED));

    e2e_expect_lacks(result->err, "cannot");
    cr_expect_eq(e2e_count(result->out, ": event "), (size_t)LINES);
}

Test(e2e_compressed, reports_and_skips_a_damaged_recording)
{
    const struct e2e *log, *trace;

    run("", "");
    e2e_run("truncate -s 1000 " MUCH "recording.zst");
    log = e2e_exits(0, TESTLOG "log");
    e2e_expect_has(log->out, "test 8");
    e2e_expect_is(log->err, "testlog: cannot read " MUCH
                            "recording.zst: it is truncated\n");
    trace = e2e_exits(0, TESTLOG "export -o trace.json");
    e2e_expect_is(trace->err, log->err);
    cr_expect_eq(
        e2e_count(e2e_read("trace.json"), "{\"name\":\"large_test large/"), 9);
}

/* One that is not compressed is no recording if its beginning is lost. */
Test(e2e_compressed, names_a_recording_that_is_none)
{
    run("", "--trace-options=compress=0");
    e2e_run("head -c 2000 /dev/zero >" MUCH "recording");
    e2e_expect_has(e2e_run(TESTLOG "log")->err,
                   "log: cannot read " MUCH
                   "recording: it is not a recording\n");
    e2e_expect_has(e2e_run(TESTLOG "stat")->err,
                   "recording: it is not a recording; the table lacks");
}

/* A link in a run may lead to what is not the run's own; one that the user
 * names is followed, and a page replaces it. */
Test(e2e_compressed, follows_no_link_in_a_run)
{
    run("", "--trace-options=compress=0");
    e2e_run("mv " MUCH "recording elsewhere; ln -s $PWD/elsewhere " MUCH
            "recording; echo original >victim; "
            "ln -sf $PWD/victim testlog-runs/latest/report.html");
    e2e_expect_lacks(e2e_run(TESTLOG "log --filter trace")->out, ": event ");
    cr_expect_eq(e2e_count(e2e_run(TESTLOG "log elsewhere --filter trace")->out,
                           ": event "),
                 (size_t)LINES);
    e2e_run("ln -s elsewhere link");
    cr_expect_eq(
        e2e_count(e2e_run(TESTLOG "log link --filter trace")->out, ": event "),
        (size_t)LINES);
    e2e_exits(0, TESTLOG "report latest");
    e2e_expect_is(e2e_read("victim"), "original\n");
    e2e_expect_has(e2e_read("testlog-runs/latest/report.html"), "<!doctype");
}
