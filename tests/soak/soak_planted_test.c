/* soak_planted_test.c: links, FIFOs, folders, hard links and truncated files
 * appear in a run's folder at random moments. No outside file changes, nothing
 * hangs or dies, and verdicts stay.
 */
#include "tests/support/support.h"

#include "tests/support/e2e.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define TESTLOG BUILD_DIR "/testlog"
#define CLOSING "14 passed, 5 failed, 1 skipped"
#define LATEST  "testlog-runs/latest/"
#define TESTS   LATEST "tests/losing_test/"

E2E_FOLDER

TestSuite(soak_planted, .init = e2e_begin, .timeout = 3600);

static const char *const names[] = {
    "log.txt", "trace.json", "output.txt",    "recording",   "run.json",
    "x.part",  "junit.xml",  "results.jsonl", "results.tsv", "results.tap"};

enum { NAMES = sizeof(names) / sizeof(*names), TESTS_OF_IT = 20 };

/* ---- The planter ---- */

/* Chooses a folder of the run, of a program or of a test; with a slash. */
static void choose_folder(char *folder, size_t size)
{
    switch (test_below(4)) {
    case 0:
        snprintf(folder, size, LATEST);
        break;
    case 1:
        snprintf(folder, size, TESTS);
        break;
    default:
        snprintf(folder, size, TESTS "losing.t%02u/", test_below(TESTS_OF_IT));
    }
}

/* Truncates only recordings that are complete: as the manual says, a test dies
 * if its recording is truncated while it writes. */
static void cut(const char *folder, const char *path)
{
    char log[PATH_MAX];

    snprintf(log, sizeof(log), "%slog.txt", folder);
    if (strstr(path, "recording") && access(log, F_OK))
        return;
    if (truncate(path, (off_t)test_below(80000)))
        return; /* no such file */
}

static void plant(void)
{
    char folder[PATH_MAX / 2], path[PATH_MAX];
    unsigned what = test_below(6);

    choose_folder(folder, sizeof(folder));
    snprintf(path, sizeof(path), "%s%s", folder, names[test_below(NAMES)]);
    if (what == 5) {
        cut(folder, path);
        return;
    }
    unlink(path);
    if (what == 0 && symlink("/proc/self/cwd/outside", path))
        return;
    if (what == 1 && mkfifo(path, 0666))
        return;
    if (what == 2 && mkdir(path, 0777))
        return;
    if (what == 3 && link("outside", path))
        return;
}

static pid_t start_planting(void)
{
    pid_t child = fork();

    cr_assert_geq(child, 0);
    if (child)
        return child;
    signal(SIGTERM, SIG_DFL);
    for (;;) {
        plant();
        usleep(test_below(500));
    }
}

static void stop(pid_t child)
{
    kill(child, SIGKILL);
    cr_assert_eq(waitpid(child, NULL, 0), child);
}

/* ---- What must hold ---- */

static void expect_untouched(const struct e2e *result)
{
    struct stat status;
    char *text = test_load("outside", NULL);

    cr_expect_eq(result->code, 1, "%d\n%.4000s", result->code, result->err);
    e2e_expect_is(e2e_last(result->out), CLOSING);
    cr_expect_str_eq(text, "outside");
    cr_expect_eq(stat("outside", &status), 0);
}

/* Whatever is left, `log` and `export` finish without a crash. */
static void expect_readable(void)
{
    const struct e2e *log = e2e_run(TESTLOG " log >/dev/null");
    const struct e2e *trace = e2e_run(TESTLOG " export >/dev/null");

    cr_expect_leq(log->code, 2, "%d\n%s", log->code, log->err);
    cr_expect_leq(trace->code, 2, "%d\n%s", trace->code, trace->err);
}

static const struct e2e *run_beside_planter(bool several)
{
    const char *program = e2e_program("losing", E2E_TRACED);
    pid_t planter;
    const struct e2e *result;

    test_save("outside", "outside", 7);
    planter = start_planting();
    result =
        e2e_run("LOSING_WAIT=2000 %s %s %s -j2", several ? TESTLOG " run" : "",
                program, several ? "--" : "");
    stop(planter);
    return result;
}

Test(soak_planted, planted_files_change_nothing)
{
    const char *given = getenv("SOAK_SEED");
    unsigned times = getenv("SOAK") ? 100 : 4;

    test_seed(given ? strtoull(given, NULL, 10) : 1);
    for (unsigned i = 0; i < times; i++) {
        expect_untouched(run_beside_planter(i % 2));
        expect_readable();
        test_random();
        if (i % 4 == 3)
            test_remove_tree("testlog-runs");
    }
}
