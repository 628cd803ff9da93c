/* e2e_terminal_test.c: names and messages cannot send commands to a terminal or
 * to GitHub.
 */
#include "tests/support/e2e.h"
#include "tests/support/support.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TESTLOG BUILD_DIR "/testlog"

E2E_FOLDER

TestSuite(e2e_terminal, .init = e2e_begin, .timeout = 300);

/* A newline, a GitHub command, and a terminal command. */
#define EVIL "$(printf 'evil\\n::error ::forged\\033[31m')"

static void expect_harmless(const char *what, const char *text)
{
    cr_expect_eq(e2e_count(text, "\n::error ::forged"), 0, "%s: %s", what,
                 text);
    cr_expect_eq(e2e_count(text, "\033[31m"), 0, "%s: %s", what, text);
}

static void expect_run(const struct e2e *result)
{
    expect_harmless("stdout", result->out);
    expect_harmless("stderr", result->err);
    expect_harmless("results.tsv", e2e_read("testlog-runs/latest/results.tsv"));
    expect_harmless("results.tap", e2e_read("testlog-runs/latest/results.tap"));
}

Test(e2e_terminal, escapes_names_of_programs)
{
    e2e_run("ln -s %s \"" EVIL "\"", e2e_program("losing", E2E_TRACED));
    expect_run(e2e_run("./\"" EVIL "\" -j1"));
    expect_run(e2e_run("GITHUB_ACTIONS=true ./\"" EVIL "\" -j1"));
    expect_run(e2e_run(TESTLOG " run ./\"" EVIL "\" -- -j1"));
    expect_run(
        e2e_run("GITHUB_ACTIONS=true " TESTLOG " run ./\"" EVIL "\" -- -j1"));
    expect_harmless("log", e2e_run(TESTLOG " log")->out);
    expect_harmless("unknown flag", e2e_run("./\"" EVIL "\" --nonsense")->err);
    expect_harmless("no test", e2e_run("./\"" EVIL "\" nonsense")->err);
}

/* A character that reverses text, and a terminal command of one character. */
#define BENT "$(printf 'bent\342\200\256txt\302\23331m')"

static void expect_straight(const char *what, const char *text)
{
    cr_expect_eq(e2e_count(text, "\342\200\256"), 0, "%s: %s", what, text);
    cr_expect_eq(e2e_count(text, "\302\233"), 0, "%s: %s", what, text);
}

static void expect_straight_run(const struct e2e *result)
{
    expect_straight("stdout", result->out);
    expect_straight("stderr", result->err);
}

Test(e2e_terminal, escapes_names_that_reorder_text)
{
    e2e_run("ln -s %s \"" BENT "\"", e2e_program("losing", E2E_TRACED));
    expect_straight_run(e2e_run("./\"" BENT "\" -j1"));
    expect_straight_run(e2e_run(TESTLOG " run ./\"" BENT "\" -- -j1"));
}

Test(e2e_terminal, escapes_names_of_programs_that_cannot_run)
{
    expect_harmless("run", e2e_run(TESTLOG " run \"" EVIL "\"")->err);
    expect_harmless("record", e2e_run(TESTLOG " record -- \"" EVIL "\"")->err);
    expect_harmless("log", e2e_run(TESTLOG " log \"" EVIL "\"")->err);
    expect_harmless("export", e2e_run(TESTLOG " export \"" EVIL "\"")->err);
    expect_harmless("filter",
                    e2e_run(TESTLOG " filter info \"" EVIL "\"")->err);
    expect_harmless("flag", e2e_run(TESTLOG " run \"--" EVIL "\"")->err);
    expect_harmless("flag", e2e_run(TESTLOG " log \"--" EVIL "\"")->err);
    expect_harmless("command", e2e_run(TESTLOG " \"" EVIL "\"")->err);
}

/* The name of the test in a recording. */
Test(e2e_terminal, escapes_names_in_recordings)
{
    static const char *const meta[] = {"test", "a\n::error ::forged\033[31m/b",
                                       NULL};
    struct trace_options options = {.meta = meta};

    e2e_run("mkdir -p run/tests/p/a.b run/tests/p/c.d");
    cr_assert_eq(trace_open("run/tests/p/a.b/recording", &options), 0);
    log_info("line");
    trace_close();
    e2e_run("cp run/tests/p/a.b/recording run/tests/p/c.d/ && "
            "touch run/run.json"); /* it has ended */
    expect_harmless("log", e2e_run(TESTLOG " log run")->out);
    expect_harmless("json", e2e_run(TESTLOG " log run --format json")->out);
    expect_harmless("follow", e2e_run(TESTLOG " log run --follow")->out);
}

/* ---- Forged lines ---- */

Test(e2e_terminal, indents_the_rest_of_a_message)
{
    const struct e2e *run = e2e_run("%s", e2e_program("forging", E2E_TRACED));

    e2e_expect_has(run->err, "forging.c:6: first\n    other.c:9: forged\n");
    cr_expect_eq(e2e_count(run->err, "\nother.c:9"), 0);
}
