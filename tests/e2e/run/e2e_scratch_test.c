/* e2e_scratch_test.c: runs in shared file systems, which are recorded in a
 * local folder and move at their end. */
#include "tests/support/e2e.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

E2E_FOLDER

#define TESTLOG "'" BUILD_DIR "/testlog' "
#define LATEST  "runs/latest/"
/* Scratch folders in the test's own folder, where none must stay. */
#define HERE "TMPDIR=\"$PWD/tmp\" "
#define LEFT "ls -A tmp"
/* Tests that crash and hang. */
#define FEW                                                                    \
    "--filter 'crashing/@(null_pointer|thread)' --filter hanging/deadlock "    \
    "--filter 'slow/*' --filter 'small/*' --filter traced/dies_in_spans"

static void begin(void)
{
    e2e_begin();
    e2e_run("mkdir tmp");
}

TestSuite(e2e_scratch, .init = begin, .timeout = 300);

static const char *program(const char *name)
{
    return e2e_program(name, E2E_TRACED);
}

static void expect_moved(void)
{
    e2e_expect_is(e2e_run(LEFT)->out, "");
    cr_expect(e2e_exists(LATEST "run.json"));
    cr_expect_not(e2e_exists(LATEST "scratch"));
}

static void expect_same_files(const char *folder, const char *other)
{
    const struct e2e *result =
        e2e_exits(0,
                  "(cd %s && find . | sort) >files; (cd %s && find . | sort) "
                  ">others; test -s files && diff files others",
                  folder, other);

    e2e_expect_is(result->out, "");
}

/* ---- A folder that the user names ---- */

Test(e2e_scratch, records_in_the_folder_that_is_named)
{
    const struct e2e *result = e2e_exits(
        0, "%s --trace-dir=runs --scratch=tmp 2>&1", program("small"));
    const cJSON *run = e2e_json(LATEST "run.json");

    e2e_expect_lacks(result->out, "tmp/");
    e2e_expect_has(e2e_text(run, "scratch"), "/tmp/testlog-scratch-");
    expect_moved();
    e2e_run("%s --trace-dir=usual", program("small"));
    expect_same_files(LATEST, "usual/latest/");
    cr_assert_null(
        cJSON_GetObjectItem(e2e_json("usual/latest/run.json"), "scratch"));
}

Test(e2e_scratch, takes_the_setting_from_the_variable)
{
    e2e_run("TRACE_DIR=runs TRACE_SCRATCH=tmp %s", program("small"));
    e2e_expect_has(e2e_text(e2e_json(LATEST "run.json"), "scratch"),
                   "/testlog-scratch-");
    expect_moved();
}

Test(e2e_scratch, refuses_an_empty_setting)
{
    const struct e2e *result = e2e_exits(2, "%s --scratch=", program("small"));

    e2e_expect_has(result->err, "--scratch: needs auto, off or a folder");
}

static void expect_refusal(const struct e2e *result, const char *text)
{
    e2e_expect_code(result, 2);
    e2e_expect_is(result->err, text);
    e2e_expect_is(result->out, "");
    cr_expect_not(e2e_exists("runs"));
    cr_expect_not(e2e_exists("missing"));
}

#define NO_FOLDER                                                              \
    "testlog: --scratch: cannot record in missing: No such file or "           \
    "directory; name a folder that exists\n"

Test(e2e_scratch, refuses_a_folder_that_does_not_exist)
{
    e2e_run("touch file");
    expect_refusal(
        e2e_run("%s --trace-dir=runs --scratch=missing", program("small")),
        NO_FOLDER);
    expect_refusal(e2e_run("TRACE_SCRATCH=missing TRACE_DIR=runs " TESTLOG
                           "run %s",
                           program("small")),
                   NO_FOLDER);
    expect_refusal(
        e2e_run("TRACE_SCRATCH=missing " TESTLOG "record -o runs -- true"),
        NO_FOLDER);
    expect_refusal(
        e2e_run("%s --trace-dir=runs --scratch=file", program("small")),
        "testlog: --scratch: cannot record in file: Not a directory; name a "
        "folder that exists\n");
}

/* The setting may be that of another machine, where the run was recorded. */
Test(e2e_scratch, reads_runs_without_the_folder)
{
    e2e_run("%s --trace-dir=runs", program("small"));
    e2e_exits(0, "TRACE_DIR=runs TRACE_SCRATCH=missing " TESTLOG "log latest");
}

Test(e2e_scratch, records_in_place_if_it_cannot_use_the_folder)
{
    const struct e2e *result = e2e_exits(
        0, "%s --trace-dir=runs --scratch=/proc 2>&1", program("small"));

    e2e_expect_has(result->out, "cannot record in /proc: ",
                   "; this run is recorded in runs/20");
    cr_expect(e2e_exists(LATEST "run.json"));
}

/* Runs programs together; paths that are printed are those of the end. */
Test(e2e_scratch, moves_a_run_of_several_programs)
{
    const struct e2e *result = e2e_exits(
        1, TESTLOG "run %s %s -- --trace-dir=runs --scratch=tmp " FEW " 2>&1",
        program("small"), program("traced"));

    e2e_expect_has(result->out, "trace: runs/20");
    e2e_expect_lacks(result->out, "testlog-scratch");
    e2e_expect_has(e2e_read(LATEST "junit.xml"), "value=\"runs/20");
    expect_moved();
    cr_expect(
        e2e_exists(LATEST "tests/traced_test/traced.dies_in_spans/log.txt"));
    e2e_expect_has(e2e_run(TESTLOG "log " LATEST " traced/dies_in_spans")->out,
                   "nobody handles SIGKILL");
}

Test(e2e_scratch, moves_a_recorded_program)
{
    e2e_exits(0, "TRACE_SCRATCH=tmp " TESTLOG "record -o runs -- true");
    expect_moved();
}

Test(e2e_scratch, compresses_before_it_moves)
{
    e2e_run("LARGE_TESTS=1 LARGE_EVENTS=12800 %s --trace-dir=runs "
            "--scratch=tmp",
            program("large"));
    expect_moved();
    cr_expect_not(
        e2e_exists(LATEST "tests/large_test/large.records_much/recording"));
}

/* ---- Runs that are killed ---- */

/* Starts a program and waits for its recording, as $pid. */
#define START                                                                  \
    "SLOW_UNTIL=$PWD/go %s --trace-dir=runs --scratch=tmp >/dev/null 2>&1 & "  \
    "pid=$!; while ! "                                                         \
    "grep -qs one tmp/*/*/tests/*/*/recording; do sleep 0.01; done; "
#define KILL "kill -9 $pid; wait $pid 2>/dev/null; "

Test(e2e_scratch, reads_a_run_in_progress)
{
    const struct e2e *result =
        e2e_run(START TESTLOG "log " LATEST "; " TESTLOG "list runs; ls " LATEST
                              "; " KILL,
                program("slow"));

    e2e_expect_has(result->out, "one", "  running", "\nscratch\n");
}

Test(e2e_scratch, follows_a_run_that_moves)
{
    const struct e2e *result =
        e2e_exits(0,
                  START "(sleep 0.7; touch go) & " TESTLOG
                        "log --follow " LATEST "; wait $pid",
                  program("slow"));

    cr_expect_eq(e2e_count(result->out, ": one"), 1, "%s", result->out);
    cr_expect_eq(e2e_count(result->out, ": two"), 1, "%s", result->out);
    expect_moved();
}

Test(e2e_scratch, finds_a_run_whose_runner_was_killed)
{
    const struct e2e *result = e2e_run(
        START KILL "cd runs; for run in latest \"$(readlink latest)\"; do "
                   "TRACE_DIR=. " TESTLOG "log $run; done; " TESTLOG "list .",
        program("slow"));

    cr_expect_eq(e2e_count(result->out, "one"), 2, "%s", result->out);
    e2e_expect_has(result->out, "  unfinished");
}

Test(e2e_scratch, moves_a_run_whose_runner_was_killed)
{
    const struct e2e *result;

    e2e_run(START KILL, program("slow"));
    result = e2e_exits(0, "%s --trace-dir=runs --scratch=tmp 2>&1",
                       program("small"));
    e2e_expect_has(result->out, " was killed; it has been moved there from ");
    expect_moved();
    e2e_expect_has(e2e_run("TRACE_DIR=runs " TESTLOG "log latest~1")->out,
                   "one");
}

Test(e2e_scratch, keeps_a_killed_run_of_another_machine)
{
    e2e_run(START KILL "sed -i 1s/.*/elsewhere/ " LATEST "scratch",
            program("slow"));
    e2e_expect_has(e2e_exits(2, TESTLOG "log " LATEST)->err,
                   "is recorded in elsewhere:/", "open it there");
    e2e_run("%s --trace-dir=runs --scratch=tmp --keep=1", program("small"));
    e2e_exits(0, "ls runs/20*/scratch");
    e2e_expect_is(e2e_run("ls tmp | wc -l")->out, "1\n");
}

Test(e2e_scratch, says_that_the_scratch_folder_is_gone)
{
    e2e_run(START KILL "rm -r tmp/*", program("slow"));
    e2e_expect_has(e2e_exits(2, TESTLOG "log " LATEST)->err,
                   ", which no longer exists");
    e2e_exits(0, "%s --trace-dir=runs --scratch=tmp", program("small"));
    expect_moved();
}

/* Whoever can write to the shared folder can name any folder of ours. */
Test(e2e_scratch, moves_no_folder_of_another_kind)
{
    e2e_run("%s --trace-dir=runs; rm runs/latest/run.json; mkdir -p mine/tests;"
            " printf '%%s\\n%%s\\n' \"$(uname -n)\" \"$PWD/mine\" >" LATEST
            "scratch; %s --trace-dir=runs --scratch=tmp",
            program("small"), program("small"));
    cr_expect(e2e_exists("mine/tests"));
}

#define OLD "2020-01-01T00-00-00.000000"

/* Each row makes a folder `precious` reachable by a path that looks like that
 * of a scratch folder, and names the path. */
static const char *const attacks[][2] = {
    {"mkdir tmp/testlog-scratch-abcdef",
     "$PWD/tmp/testlog-scratch-abcdef/../../precious"},
    {"mkdir tmp/testlog-scratch-abcdef; "
     "ln -s ../../precious tmp/testlog-scratch-abcdef/RUN",
     "$PWD/tmp/testlog-scratch-abcdef/RUN"},
    {"mv precious RUN; mkdir above; mv RUN above; "
     "ln -s ../above tmp/testlog-scratch-abcdef",
     "$PWD/tmp/testlog-scratch-abcdef/RUN"},
    {"mkdir precious/RUN; mv precious testlog-scratch-abcdef; ln -s . link",
     "$PWD/link/testlog-scratch-abcdef/RUN"},
    {"mkdir tmp/testlog-scratch-abcdef; mv precious tmp/testlog-scratch-abcdef",
     "$PWD/tmp/testlog-scratch-abcdef/precious"},
    {"mkdir -p tmp/testlog-scratch-abcdef/x; "
     "mv precious tmp/testlog-scratch-abcdef/x/RUN",
     "$PWD/tmp/testlog-scratch-abcdef/x/RUN"},
    {"mkdir -p tmp/testlog-scratch-abcdefg; "
     "mv precious tmp/testlog-scratch-abcdefg/RUN",
     "$PWD/tmp/testlog-scratch-abcdefg/RUN"},
    {"mkdir -p tmp/testlog-scratch-abcdef; "
     "mv precious tmp/testlog-scratch-abcdef/RUN",
     "$PWD/tmp/./testlog-scratch-abcdef/RUN"},
    {"mkdir -m 777 tmp/testlog-scratch-abcdef; "
     "mv precious tmp/testlog-scratch-abcdef/RUN",
     "$PWD/tmp/testlog-scratch-abcdef/RUN"},
    {"mkdir tmp/testlog-scratch-abcdef; chmod 770 precious; "
     "mv precious tmp/testlog-scratch-abcdef/RUN",
     "$PWD/tmp/testlog-scratch-abcdef/RUN"},
};

Test(e2e_scratch, touches_only_its_own_folder)
{
    for (size_t i = 0; i < sizeof(attacks) / sizeof(*attacks); i++) {
        const struct e2e *result =
            e2e_run("rm -rf a; mkdir a; cd a; umask 022; mkdir -p runs/" OLD
                    " precious/tests tmp; echo 1 >precious/tests/file; "
                    "echo '%s' | sed s/RUN/" OLD "/g >commands; . ./commands; "
                    "echo \"$(uname -n)\" >runs/" OLD "/scratch; "
                    "echo \"%s\" | sed s/RUN/" OLD "/g >>runs/" OLD "/scratch; "
                    "%s --trace-dir=runs --scratch=tmp; "
                    "cat runs/" OLD "/scratch; find . -name file | wc -l; "
                    "ls runs/" OLD,
                    attacks[i][0], attacks[i][1], program("small"));

        e2e_expect_has(result->out, "testlog-scratch-", "\n1\nscratch\n");
    }
}

/* A test may leave anything in its folder. */
Test(e2e_scratch, leaves_what_is_no_file)
{
    const struct e2e *result;

    e2e_run(START KILL "cd tmp/testlog-scratch-*/*/tests/*/; "
                       "ln -s /etc link; mkfifo pipe",
            program("slow"));
    result = e2e_exits(0, "%s --trace-dir=runs --scratch=tmp 2>&1",
                       program("small"));
    cr_expect_eq(e2e_count(result->out, " and others in it are neither files "
                                        "nor folders; all files have been "
                                        "moved\n"),
                 1, "%s", result->out);
    e2e_exits(2, "ls runs/20*/scratch");
    e2e_exits(0, "test -p tmp/testlog-scratch-*/*/tests/*/pipe && test -h "
                 "tmp/testlog-scratch-*/*/tests/*/link");
    e2e_exits(1, "find runs/ -name pipe | grep .");
    e2e_expect_lacks(
        e2e_run("%s --trace-dir=runs --scratch=tmp 2>&1", program("small"))
            ->out,
        "in it");
}

Test(e2e_scratch, moves_a_run_whose_results_are_no_file)
{
    static const char *const makes[] = {"ln -s /etc/passwd", "mkfifo"};

    for (size_t i = 0; i < sizeof(makes) / sizeof(*makes); i++) {
        e2e_run("rm -rf runs tmp/*");
        e2e_run(START KILL "cd tmp/testlog-scratch-*/*/ && rm -f run.json && "
                           "%s run.json",
                program("slow"), makes[i]);
        e2e_expect_has(
            e2e_run("%s --trace-dir=runs --scratch=tmp 2>&1", program("small"))
                ->out,
            " stays, because run.json in it is neither a file nor a folder; "
            "all files have been moved\n");
        e2e_exits(2, "ls runs/20*/scratch");
    }
}

/* ---- A file system that cannot map files for writing ---- */

/* Mounts one at runs/; skips the test without FUSE. */
static void mount(const char *from)
{
    const struct e2e *result =
        e2e_run("mkdir -p runs %s && bindfs -o direct_io %s runs", from, from);

    if (result->code)
        cr_skip_test("no FUSE file system; install bindfs: %s", result->err);
}

static void unmount(void)
{
    e2e_run("fusermount -u -z runs; umount -l small");
}

TestSuite(e2e_scratch_shared, .init = begin, .fini = unmount, .timeout = 300);

/* Some file systems give all folders one owner, or let all write to them. */
Test(e2e_scratch_shared, records_in_place_if_others_own_the_scratch_folder)
{
    const struct e2e *result;

    mount("local");
    result =
        e2e_exits(0,
                  "fusermount -u -z runs; bindfs --force-user=nobody "
                  "--perms=0777 local runs; %s --trace-dir=own --scratch=runs",
                  program("small"));
    e2e_expect_has(result->err,
                   "testlog: cannot record in runs: its folders belong to "
                   "others, or others can write to them; this run is recorded "
                   "in own/20");
    e2e_expect_is(e2e_run("ls -A local")->out, "");
}

Test(e2e_scratch_shared, records_nothing_without_a_scratch_folder)
{
    mount("shared");
    e2e_expect_has(
        e2e_run("%s --trace-dir=runs --scratch=off 2>&1", program("small"))
            ->out,
        " has no recording: No such device");
}

Test(e2e_scratch_shared, loses_nothing_of_tests_that_crash_and_hang)
{
    const struct e2e *result;

    mount("shared");
    result = e2e_exits(
        1, HERE TESTLOG "run %s %s %s %s -- --trace-dir=runs " FEW " 2>&1",
        program("crashing"), program("hanging"), program("slow"),
        program("traced"));
    e2e_expect_lacks(result->out, "no recording");
    e2e_expect_has(e2e_text(e2e_json(LATEST "run.json"), "scratch"), "/tmp/");
    expect_moved();
    e2e_run(TESTLOG "run %s -- --trace-dir=local " FEW, program("crashing"));
    expect_same_files(LATEST "tests/crashing_test",
                      "local/latest/tests/crashing_test");
    if (!e2e_sanitized())
        e2e_expect_has(
            e2e_run(TESTLOG "log " LATEST " crashing/null_pointer")->out,
            "SIGSEGV at 0");
    e2e_expect_has(e2e_run(TESTLOG "log " LATEST " traced/dies_in_spans")->out,
                   "nobody handles SIGKILL");
    e2e_expect_has(e2e_run(TESTLOG "stat " LATEST " slow/*")->out, "waiting");
}

Test(e2e_scratch_shared, keeps_runs_as_on_a_local_disk)
{
    mount("shared");
    e2e_run(HERE "SMALL=passes %s --trace-dir=runs", program("small"));
    e2e_expect_has(
        e2e_run(HERE "%s --trace-dir=runs --failed 2>&1", program("small"))
            ->out,
        "1 passed, 0 failed");
    for (int i = 0; i < 2; i++)
        e2e_run(HERE "%s --trace-dir=runs --keep=1", program("small"));
    e2e_expect_is(e2e_run("ls -d runs/20* | wc -l")->out, "2\n");
    expect_moved();
}

/* Runs slow_test, and `command` while it runs. */
static const struct e2e *run_beside(const char *command)
{
    return e2e_run(HERE "SLOW_UNTIL=$PWD/go %s --trace-dir=runs >out 2>&1 & "
                        "pid=$!; while ! grep -qs one "
                        "tmp/*/*/tests/*/*/recording; do sleep 0.01; done; %s; "
                        "touch go; wait $pid; code=$?; cat out; exit $code",
                   program("slow"), command);
}

static void expect_stayed(const struct e2e *result, const char *why)
{
    e2e_expect_code(result, 0);
    e2e_expect_has(result->out, "testlog: cannot move the run to runs/20", why);
    cr_expect_eq(e2e_count(result->out, "testlog: "), 2, "%s", result->out);
    e2e_expect_has(result->out, "\n1 passed, 0 failed, 0 skipped\n");
    e2e_expect_has(result->out, "\nrun: tmp/testlog-");
    e2e_expect_has(e2e_run(TESTLOG "log tmp/*/*/")->out, "one");
}

Test(e2e_scratch_shared, keeps_a_run_whose_folder_disappears)
{
    mount("shared");
    expect_stayed(run_beside("rm -r runs/20* runs/.history"),
                  "No such file or directory; it stays in ");
}

Test(e2e_scratch_shared, keeps_a_run_whose_file_system_disappears)
{
    mount("shared");
    if (geteuid())
        cr_skip_test("only root can break the connection");
    expect_stayed(run_beside("umount -f runs 2>/dev/null"),
                  "Transport endpoint is not connected; it stays in ");
}

Test(e2e_scratch_shared, keeps_a_run_that_does_not_fit)
{
    if (e2e_run("mkdir small && mount -t tmpfs -o size=300k none small")->code)
        cr_skip_test("cannot mount a small file system");
    mount("small");
    expect_stayed(run_beside("head -c 200000 /dev/zero >runs/large"),
                  "No space left on device; it stays in ");
}
