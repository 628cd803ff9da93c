/* e2e_pack_test.c: packs runs, and reads the packs as runs. */
#include "tests/support/e2e.h"
#include "tests/support/page.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

E2E_FOLDER

/* KiB. AddressSanitizer keeps memory that is free. */
#ifdef __SANITIZE_ADDRESS__
enum { MEMORY_MOST = 2000000 };
#else
enum { MEMORY_MOST = 500000 };
#endif

TestSuite(e2e_pack, .init = e2e_begin, .timeout = 300);

#define TESTLOG "'" BUILD_DIR "/testlog' "
/* Unpacks in a folder of the test's own, which must stay empty. */
#define HERE "TMPDIR=\"$PWD/tmp\" " TESTLOG
#define LEFT "test -z \"$(ls -A tmp)\""

static void run(void)
{
    e2e_run("mkdir tmp; %s", e2e_program("small", E2E_TRACED));
}

/* Packs the latest run; skips the test without libarchive. */
static const struct e2e *pack_latest(const char *file)
{
    const struct e2e *result = e2e_run(TESTLOG "pack -o %s", file);

    if (strstr(result->err, "is missing"))
        cr_skip_test("no libarchive");
    e2e_expect_code(result, 0);
    e2e_expect_is(result->out, "");
    return result;
}

static void pack(void)
{
    run();
    pack_latest("run.tar.zst");
}

static off_t size_of(const char *name)
{
    return atol(e2e_run("du -bs %s", name)->out);
}

static void expect_refusal(const struct e2e *result, int code, const char *text)
{
    e2e_expect_code(result, code);
    e2e_expect_is(result->out, "");
    e2e_expect_has(result->err, text);
    cr_expect_eq(e2e_count(result->err, "\n"), 1, "%s", result->err);
}

Test(e2e_pack, packs_a_run_into_a_tenth_of_its_size)
{
    const char *names;

    pack();
    cr_expect_lt(size_of("run.tar.zst") * 10, size_of("testlog-runs/latest/"));
    names = e2e_run("zstd -dc run.tar.zst | tar -t")->out;
    e2e_expect_has(names, "/run.json\n", "/small.passes/recording\n",
                   "/small.passes/output.txt\n");
    e2e_expect_lacks(names, "trace.json", "log.txt", "report.html", "junit.xml",
                     "results.");
}

Test(e2e_pack, names_the_pack_after_the_run)
{
    const struct e2e *result;

    pack();
    result = e2e_run(TESTLOG "pack && cmp *.000*.tar.zst run.tar.zst; "
                             "name=$(readlink testlog-runs/latest); "
                             "cmp $name.tar.zst run.tar.zst");
    e2e_expect_has(result->err, "pack: 20");
    cr_expect(e2e_exists("run.tar.zst"));
    e2e_expect_is(e2e_run(TESTLOG "pack -o - | cmp - run.tar.zst")->out, "");
}

/* Runs a command for the run and for its pack; the output must be the same. */
static void compare(const char *command, const char *flags)
{
    const struct e2e *result = e2e_run(
        HERE "%s testlog-runs/latest %s >run 2>&1; echo $?; " HERE
             "%s run.tar.zst %s >pack 2>&1; echo $?; "
             "sed -i 's/testlog-runs.latest/RUN/' run; "
             "sed -i 's/run.tar.zst/RUN/' pack; cmp run pack && test -s pack",
        command, flags, command, flags);

    e2e_expect_is(result->out, "0\n0\n");
    cr_expect_eq(result->code, 0, "%s %s: %s", command, flags, result->err);
}

Test(e2e_pack, reads_a_pack_as_a_run)
{
    pack();
    compare("log", "--filter trace");
    compare("log", "small/passes");
    compare("stat", "--by=test --json");
    compare("stat", "--critical");
    compare("export", "--speedscope");
    compare("export", "small/passes");
    e2e_exits(0, LEFT);
}

Test(e2e_pack, compares_a_pack_with_a_run)
{
    const struct e2e *result;

    pack();
    result = e2e_exits(0, HERE "diff run.tar.zst");
    e2e_expect_has(result->out, "old: run.tar.zst", "0 newly failing");
    result = e2e_exits(0, HERE "diff run.tar.zst run.tar.zst --json");
    e2e_expect_has(result->out, "\"new\":\"run.tar.zst\"");
    result = e2e_exits(0, HERE "list run.tar.zst");
    e2e_expect_has(result->out, " passed, ");
    e2e_exits(0, LEFT);
}

Test(e2e_pack, writes_the_report_beside_the_pack)
{
    struct page_block block;

    pack();
    e2e_exits(0, "mkdir other && mv run.tar.zst other && " HERE
                 "report other/run.tar.zst");
    cr_assert(e2e_exists("other/run.html"));
    if (page_can_read()) {
        block = page_block(e2e_read("other/run.html"), "run");
        e2e_expect_is(e2e_text(block.json, "path"), "other/run.tar.zst");
    }
    e2e_exits(0, LEFT);
}

Test(e2e_pack, recognizes_a_pack_by_its_content)
{
    pack();
    e2e_exits(0, "mv run.tar.zst artifact; " HERE "log artifact small/passes");
}

/* zstd decompresses whole blocks only, the first of which is large. */
Test(e2e_pack, recognizes_a_large_pack_by_its_content)
{
    run();
    e2e_run("base64 -w0 /dev/urandom | head -c 300000 "
            ">testlog-runs/latest/a");
    pack_latest("artifact");
    e2e_exits(0, HERE "log artifact small/passes");
    e2e_exits(0, HERE "stat artifact");
    e2e_exits(0, HERE "diff artifact");
    e2e_exits(0, HERE "report artifact");
    cr_expect(e2e_exists("artifact.html"));
}

Test(e2e_pack, unpacks_with_tar)
{
    pack();
    e2e_exits(0,
              "name=$(readlink testlog-runs/latest); rm -r testlog-runs/$name "
              "&& zstd -dc run.tar.zst | tar -x -C testlog-runs && " TESTLOG
              "log latest small/passes");
}

Test(e2e_pack, extracts_a_pack)
{
    const struct e2e *result;

    pack();
    result = e2e_exits(0, "mkdir other && cd other && " HERE
                          "pack --extract ../run.tar.zst");
    e2e_expect_has(result->err, "pack: testlog-runs/20");
    e2e_exits(0, "cd other && " TESTLOG "log testlog-runs/20* small/passes");
    result = e2e_run("cd other && " TESTLOG "pack -x ../run.tar.zst");
    expect_refusal(result, 1, "pack: testlog-runs/20");
    e2e_expect_has(result->err, " exists; name another folder with -o\n");
    e2e_expect_is(e2e_run("ls -A other/testlog-runs | wc -l")->out, "1\n");
    e2e_exits(0, TESTLOG "pack -x run.tar.zst -o new/folder");
    e2e_exits(0, "ls new/folder/20*/run.json");
}

/* As the manual describes it. */
Test(e2e_pack, makes_the_files_of_an_extracted_run_again)
{
    pack();
    e2e_exits(0, TESTLOG
              "pack --extract run.tar.zst -o back && mv back/20* back/run");
    e2e_exits(0, TESTLOG "report back/run");
    cr_expect(e2e_exists("back/run/report.html"));
    e2e_exits(0, TESTLOG "export back/run -o trace.json && cmp trace.json "
                         "testlog-runs/latest/trace.json");
    e2e_exits(0, TESTLOG "log back/run small/passes >log.txt && cmp log.txt "
                         "testlog-runs/latest/tests/*/small.passes/log.txt");
}

Test(e2e_pack, removes_the_temporary_folder_when_killed)
{
    pack();
    e2e_exits(
        0, "mkfifo out; exec 3<>out; dd if=/dev/zero of=out bs=4k "
           "oflag=nonblock 2>/dev/null; " HERE
           "log run.tar.zst --filter trace --format json >out & pid=$!; while "
           "! ls -d tmp/*/1/*/run.json 2>/dev/null; do sleep 0.01; done; kill "
           "-9 $pid; while ! " LEFT "; do sleep 0.01; done");
}

Test(e2e_pack, packs_a_run_that_was_killed)
{
    run();
    e2e_run("rm testlog-runs/latest/*.*");
    pack_latest("run.tar.zst");
    compare("log", "--filter trace");
}

/* The recording of a killed test has a hole of hundreds of MiB at its end. */
Test(e2e_pack, prints_the_size_without_holes)
{
    run();
    e2e_run("truncate -s 64M "
            "testlog-runs/latest/tests/small_test/small.passes/recording");
    e2e_expect_lacks(pack_latest("run.tar.zst")->err, "MiB");
}

/* ---- Refusals ---- */

Test(e2e_pack, refuses_what_is_no_run)
{
    run();
    expect_refusal(e2e_run(TESTLOG "pack nowhere"), 2,
                   "pack: there is no run nowhere; testlog list lists them");
    expect_refusal(e2e_run(TESTLOG "pack tmp"), 2,
                   "/tmp is not a run; name a run's folder");
    expect_refusal(e2e_run(TESTLOG "pack latest latest"), 2,
                   "pack: one run is enough; leave out latest");
}

Test(e2e_pack, extracts_nothing_from_a_bad_pack)
{
    pack();
    e2e_run("head -c 900 run.tar.zst >cut.tar.zst");
    expect_refusal(e2e_run(TESTLOG "pack -x cut.tar.zst -o new"), 2,
                   "testlog: pack: cannot open the pack cut.tar.zst: Trunc");
    expect_refusal(e2e_run(TESTLOG "pack -x nowhere -o new"), 2,
                   "pack: cannot open the pack nowhere: No such file");
    expect_refusal(e2e_run(TESTLOG "pack -x tmp -o new"), 2,
                   "pack: cannot open the pack tmp: Is a directory");
    expect_refusal(e2e_run(TESTLOG "pack -x"), 2,
                   "pack: --extract needs one pack");
    cr_expect_not(e2e_exists("new"));
}

Test(e2e_pack, makes_no_folders_for_a_bad_pack)
{
    pack();
    e2e_run("head -c 900 run.tar.zst >cut.tar.zst; echo x >file");
    e2e_exits(2, TESTLOG "pack -x cut.tar.zst -o new/a/b/");
    cr_expect_not(e2e_exists("new"));
    e2e_exits(1, TESTLOG "pack -x run.tar.zst -o file/b");
    e2e_exits(1, TESTLOG "pack -x run.tar.zst -o new/../file/b");
    e2e_exits(0, TESTLOG "pack -x run.tar.zst -o new/a/b/");
    e2e_expect_is(e2e_run("ls new/a/b/*/run.json | wc -l")->out, "1\n");
    e2e_expect_is(e2e_run("find . -name '.testlog-pack-*'")->out, "");
}

Test(e2e_pack, packs_tests_of_a_hidden_program)
{
    e2e_run("mkdir tmp; cp %s .small && ./.small",
            e2e_program("small", E2E_TRACED));
    e2e_expect_lacks(pack_latest("run.tar.zst")->err, "left out");
    e2e_expect_has(e2e_run(TESTLOG "log run.tar.zst")->out, "_small");
    e2e_exits(0, "tar -tf run.tar.zst | grep tests/_small/");
}

/* git runs what the configuration of such a repository names. */
Test(e2e_pack, extracts_nothing_into_a_folder_of_another_kind)
{
    static const char *const names[] = {".git", ".history", "latest", "-rf",
                                        "..."};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        const struct e2e *result = e2e_run(
            "rm -rf files; mkdir -p files/%s/tests && cd files && "
            "echo '{}' >./%s/run.json && tar -c -- %s | zstd >../evil.tar.zst "
            "&& cd .. && mkdir -p there && ls -A there >before; " TESTLOG
            "pack -x evil.tar.zst -o there; code=$?; ls -A there | "
            "diff before - && exit $code",
            names[i], names[i], names[i]);

        expect_refusal(result, 2,
                       "testlog: pack: cannot open the pack evil.tar.zst: ");
        e2e_expect_has(result->err, names[i]);
    }
}

Test(e2e_pack, packs_no_scratch_and_no_hidden_file)
{
    run();
    e2e_run("cp -rL testlog-runs/latest nightly && echo x >nightly/scratch && "
            "echo x >nightly/tests/.hidden");
    e2e_expect_has(
        e2e_run(TESTLOG "pack nightly -o n.tar.zst")->err,
        "testlog: pack: links, hidden or special files left out: 1\n");
    e2e_exits(1, "tar -tf n.tar.zst | grep -E 'scratch|hidden'");
    e2e_exits(0, TESTLOG "pack -x n.tar.zst -o there");
    e2e_run("mv nightly 'a run'");
    expect_refusal(e2e_run(TESTLOG "pack 'a run'"), 2,
                   "testlog: pack: no pack can contain a folder called a run; "
                   "rename it with letters, digits and ._-+: only");
}

/* A pack may have as many folders as tests, each below the same three. */
Test(e2e_pack, makes_each_folder_once)
{
    const char *calls;

    e2e_run("mkdir -p many/tests/p && for i in $(seq 200); do "
            "mkdir many/tests/p/s.$i; echo >many/tests/p/s.$i/file; done");
    e2e_exits(0, TESTLOG "pack many -o many.tar.zst");
    e2e_run("strace -f -e trace=mkdirat -o calls " TESTLOG
            "pack -x many.tar.zst -o there");
    if (!e2e_exists("there/many"))
        cr_skip_test("strace is missing or may not trace");
    calls = e2e_read("calls");
    cr_expect_geq(e2e_count(calls, "mkdirat("), 200);
    cr_expect_leq(e2e_count(calls, "mkdirat("), 210);
    e2e_expect_is(e2e_run("find there/many -type f | wc -l")->out, "200\n");
}

Test(e2e_pack, refuses_a_run_in_progress)
{
    run();
    expect_refusal(
        e2e_run("exec 3<testlog-runs/latest/; flock -s 3; " TESTLOG "pack"), 2,
        " is in progress; wait until it has ended");
}

static const char *const commands[] = {
    "log",  "stat", "stat --critical", "export", "report", "diff",
    "pack", "list",
};

Test(e2e_pack, refuses_a_bad_pack_with_one_line)
{
    pack();
    e2e_run("mkdir files && ln -s /etc/passwd files/run.json && "
            "tar -c files | zstd >link.tar.zst; "
            "head -c 900 run.tar.zst >cut.tar.zst; rm -r files");
    for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
        expect_refusal(e2e_run(HERE "%s link.tar.zst", commands[i]), 2,
                       "testlog: cannot open the pack link.tar.zst: "
                       "files/run.json is a symbolic link");
        expect_refusal(e2e_run(HERE "%s cut.tar.zst", commands[i]), 2,
                       "testlog: cannot open the pack cut.tar.zst: Truncated");
        e2e_exits(0, LEFT);
    }
}

/* A pack of 100 KB can have a run.json of any size, whose values take 40 times
 * as much memory, and whose tests 250 times. */
Test(e2e_pack, reads_a_huge_run_json_in_little_memory)
{
    static const char *const members[] = {
        "\"x\":[$(yes 0, | head -n 9000000 | tr -d '\\n')0],\n\"tests\":[\n]}",
        "\"tests\":[$(yes 0, | head -n 9000000 | tr -d '\\n')0]}",
        "\"tests\":[\n$(yes {}, | head -n 4000000)\n{}\n]}",
        "\"tests\":[\n{\"test\":\"a/b\",\"earlier\":["
        "$(yes {}, | head -n 4000000 | tr -d '\\n'){}]}\n]}"};

    e2e_run("mkdir -p runs/2026-11-20T10-00-00.000001 && "
            "ln -s 2026-11-20T10-00-00.000001 runs/latest");
    for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++) {
        const struct e2e *result;

        e2e_run("printf '{\"schema\":1,\n%%b\n' \"%s\" "
                ">runs/latest/run.json",
                members[i]);
        cr_assert_gt(size_of("runs/latest/run.json"), 10 << 20);
        result = e2e_run("'" BUILD_DIR "/tests/peak' peak " TESTLOG
                         "diff runs/latest runs/latest; cat peak");
        cr_expect_leq(atol(result->out), MEMORY_MOST, "%zu: %s", i,
                      result->out);
        cr_expect_gt(atol(result->out), 1000, "%zu: %s", i, result->out);
    }
}

Test(e2e_pack, refuses_a_pack_that_needs_too_much_space)
{
    const struct e2e *result;

    pack();
    if (mount("testlog", "tmp", "tmpfs", 0, "size=64k"))
        cr_skip_test("no permission to mount a small disk");
    result = e2e_run(HERE "log run.tar.zst");
    expect_refusal(result, 2,
                   "cannot open the pack run.tar.zst: it needs more than half "
                   "of the free space in TMPDIR");
    e2e_exits(0, LEFT);
    umount2("tmp", MNT_DETACH);
}

Test(e2e_pack, leaves_nothing_behind_on_a_full_disk)
{
    const struct e2e *result;

    pack();
    result = e2e_run("mkdir small; trap '' XFSZ; ulimit -f 1; " TESTLOG
                     "pack -o small/run.tar.zst");
    expect_refusal(result, 1,
                   "testlog: pack: cannot write small/run.tar.zst: File too "
                   "large");
    e2e_exits(0, "test -z \"$(ls -A small)\"");
    expect_refusal(e2e_run(TESTLOG "pack -o - >/dev/full"), 1,
                   "pack: cannot write standard output: No space left");
}
