/* e2e_page_link_test.c: a run names its report.html, as a link on terminals,
 * and --open opens it. */
#include "tests/support/e2e.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TESTLOG BUILD_DIR "/testlog"

E2E_FOLDER

TestSuite(e2e_page_link, .init = e2e_begin, .timeout = 300);

static const char *small(void)
{
    return e2e_program("small", E2E_TRACED);
}

/* Expects that stderr ends with the path of a page that exists. */
static void expect_page(const struct e2e *result)
{
    const char *line = e2e_last(result->err);
    char path[PATH_MAX];

    cr_assert(!strncmp(line, "report: ", strlen("report: ")), "%s", line);
    snprintf(path, sizeof(path), "%s", line + strlen("report: "));
    cr_expect(e2e_exists("%s", path), "%s", path);
    e2e_expect_lacks(result->err, "\033");
}

Test(e2e_page_link, names_the_page_last)
{
    const struct e2e *result = e2e_run("%s small/passes", small());

    expect_page(result);
    e2e_expect_closing(result, "1 passed, 0 failed, 0 skipped");
    e2e_expect_has(result->err, "\nrun: testlog-runs/");
    result = e2e_run(TESTLOG " run %s -- small/passes", small());
    expect_page(result);
    e2e_expect_closing(result, "1 passed, 0 failed, 0 skipped");
    result = e2e_run(TESTLOG " merge testlog-runs/latest -o all");
    expect_page(result);
    e2e_expect_is(e2e_last(result->err), "report: all/report.html");
    e2e_expect_closing(result, "1 passed, 0 failed, 0 skipped");
    expect_page(e2e_run(TESTLOG " report -o again.html"));
    expect_page(e2e_run(TESTLOG " record -- true"));
}

Test(e2e_page_link, names_the_address_of_a_failed_test)
{
    const struct e2e *result = e2e_run("SMALL=sizes %s", small());

    e2e_expect_has(result->err, "/report.html#view=log&test=small/sizes[03]\n");
    cr_expect_eq(e2e_count(result->err, "#view=log"), 1);
    expect_page(result);
    result = e2e_run("SMALL=sizes " TESTLOG " run %s", small());
    e2e_expect_has(result->err, "/report.html#view=log&test=small/sizes[03]\n");
    e2e_expect_lacks(e2e_run("%s --show-output", small())->err, "#view");
}

/* Another program may have a test of the same name. */
Test(e2e_page_link, names_the_program_among_several)
{
    e2e_link("small", E2E_TRACED, "one_test");
    e2e_link("small", E2E_TRACED, "other_test");
    e2e_expect_has(
        e2e_run("SMALL=other " TESTLOG " run ./one_test ./other_test")->err,
        "/report.html#view=log&test=one_test:other/passes\n",
        "/report.html#view=log&test=other_test:other/passes\n");
}

/* The limit leaves room for small files, but not for the page. */
Test(e2e_page_link, names_no_page_that_was_not_written)
{
    const struct e2e *result = e2e_exits(
        0, "bash -c \"ulimit -f 150; exec '%s' small/passes\"", small());

    e2e_expect_has(result->err, "testlog: cannot write report.html: ",
                   "\nrun: testlog-runs/");
    e2e_expect_lacks(result->err, "report: ");
}

Test(e2e_page_link, github_summary_names_the_page)
{
    e2e_run("GITHUB_ACTIONS=true GITHUB_STEP_SUMMARY=summary %s small/passes",
            small());
    e2e_expect_has(e2e_read("summary"), "/report.html");
}

/* ---- Terminals ---- */

#define LINK_BEGIN "\033]8;;"
#define LINK_END   "\033]8;;\033\\"

static const struct e2e *on_a_terminal(const char *settings,
                                       const char *command)
{
    const struct e2e *result =
        e2e_run("command -v script >/dev/null || exit 77; "
                "env -u CI -u NO_COLOR TERM=xterm %s script -qec \"%s\" "
                "/dev/null",
                settings, command);

    if (result->code == 77)
        cr_skip_test("script(1) is not installed");
    return result;
}

/* The address is that of the shown path, with the host. */
static void expect_link(const char *line, const char *host, const char *shown)
{
    char begin[2 * PATH_MAX];

    snprintf(begin, sizeof(begin), "report: " LINK_BEGIN "file://%s/", host);
    cr_expect(!strncmp(line, begin, strlen(begin)), "%s", line);
    e2e_expect_has(line, shown, LINK_END "\r");
}

Test(e2e_page_link, links_to_the_page_on_a_terminal)
{
    char host[256] = "", command[PATH_MAX];
    const struct e2e *result;

    gethostname(host, sizeof(host) - 1);
    result = on_a_terminal("SMALL=sizes", small());
    expect_link(e2e_line(result->out, "report.html\033"), host,
                "\033\\testlog-runs/");
    expect_link(e2e_line(result->out, "#view"), host,
                "/report.html#view=log&test=small/sizes%5B03%5D\033\\"
                "testlog-runs/");
    e2e_expect_has(result->out,
                   "report.html#view=log&test=small/sizes[03]" LINK_END);
    snprintf(command, sizeof(command), TESTLOG " run %s %s -- -j2", small(),
             small());
    result = on_a_terminal("SMALL=sizes", command);
    cr_expect_eq(e2e_count(result->out, "report: " LINK_BEGIN), 3);
}

Test(e2e_page_link, prints_no_link_where_it_may_be_unwelcome)
{
    static const char *const settings[] = {"NO_COLOR=1", "TERM=dumb",
                                           "TERM=linux", "CI=true"};
    char command[PATH_MAX];

    for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++)
        e2e_expect_lacks(on_a_terminal(settings[i], small())->out, LINK_BEGIN);
    snprintf(command, sizeof(command), "%s --color=never", small());
    e2e_expect_lacks(on_a_terminal("", command)->out, LINK_BEGIN);
    e2e_expect_lacks(e2e_run("TERM=xterm %s --color=always", small())->err,
                     LINK_BEGIN);
}

/* Blanks, quotes and other bytes that an address has no place for. */
#define ODD "it's \"50%\" #1?;"

Test(e2e_page_link, escapes_long_and_odd_paths)
{
    const struct e2e *result;
    char path[PATH_MAX] = ODD "/", settings[PATH_MAX];

    cr_assert_eq(mkdir(ODD, 0777), 0);
    for (size_t end = strlen(path), i = 0; i < 70; i++)
        end += (size_t)snprintf(path + end, sizeof(path) - end, "a b");
    cr_assert_eq(mkdir(path, 0777), 0);
    cr_assert_eq(chdir(path), 0);
    snprintf(settings, sizeof(settings), "TRACE_DIR='%s/a b;c'",
             strchr(path, '/') + 1);
    result = on_a_terminal(settings, small());
    e2e_expect_has(result->out, "/it%27s%20%2250%25%22%20%231%3F%3B/a%20ba%20b",
                   "/a%20b%3Bc/20", "/a b;c/20");
}

/* ---- Opening ---- */

/* Puts an xdg-open into a folder, which notes what it gets. */
static void fake(const char *more)
{
    FILE *file;

    mkdir("fake", 0777);
    file = fopen("fake/xdg-open", "w");
    cr_assert_not_null(file);
    fprintf(file,
            "#!/bin/sh\nhere=%s\nprintf '%%s\\n' \"$@\" >>$here/opened\n"
            "files=$(readlink /proc/$$/fd/0 /proc/$$/fd/1 /proc/$$/fd/2)\n"
            "echo \"$files\" >$here/files\n%s\n",
            getcwd((char[PATH_MAX]){""}, PATH_MAX), more);
    cr_assert_eq(fclose(file), 0);
    cr_assert_eq(chmod("fake/xdg-open", 0777), 0);
}

#define WITH_FAKE "PATH=\"$PWD/fake:$PATH\" "

/* Expects that the page of the latest run was opened once. */
static void expect_opened(const struct e2e *result)
{
    char path[PATH_MAX], line[PATH_MAX + 1];

    e2e_expect_code(result, 0);
    e2e_expect_lacks(result->err, "--open");
    cr_assert_not_null(realpath("testlog-runs/latest/report.html", path));
    snprintf(line, sizeof(line), "%s\n", path);
    e2e_expect_is(e2e_read("opened"), line);
    e2e_expect_is(e2e_read("files"), "/dev/null\n/dev/null\n/dev/null\n");
    unlink("opened");
}

Test(e2e_page_link, opens_the_page)
{
    fake("");
    expect_opened(e2e_run(WITH_FAKE "%s --open", small()));
    expect_opened(e2e_run(WITH_FAKE "TEST_LOG_OPEN=1 %s", small()));
    expect_opened(e2e_run(WITH_FAKE TESTLOG " run --open %s", small()));
    expect_opened(e2e_run(WITH_FAKE TESTLOG " run %s -- --open", small()));
    expect_opened(e2e_run(WITH_FAKE TESTLOG " report --open"));
    e2e_run("echo 'open = true' >testlog.conf");
    expect_opened(e2e_run(WITH_FAKE "%s", small()));
    e2e_exits(2, WITH_FAKE "%s --open=0", small());
}

Test(e2e_page_link, opens_nothing_without_being_asked)
{
    fake("");
    e2e_run(WITH_FAKE "%s", small());
    e2e_run(WITH_FAKE "TEST_LOG_OPEN=0 %s", small());
    e2e_run(WITH_FAKE "%s --open --list", small());
    cr_expect_not(e2e_exists("opened"));
}

/* A browser that stays open keeps neither the run nor its pipe. */
Test(e2e_page_link, does_not_wait_for_the_browser)
{
    fake("echo $$ >$here/pid; exec sleep 1000");
    expect_opened(e2e_run(WITH_FAKE "%s --open 2>&1 | cat", small()));
    e2e_exits(0, "kill $(cat pid)");
}

Test(e2e_page_link, explains_why_nothing_opens)
{
    const struct e2e *result;

    fake("exit 3");
    result = e2e_exits(0, WITH_FAKE "%s --open", small());
    e2e_expect_has(result->err, "\ntestlog: --open: xdg-open found no browser; "
                                "open the page yourself\nreport: ");
    cr_assert_eq(chmod("fake/xdg-open", 0666), 0);
    result = e2e_exits(0, "PATH=\"$PWD/fake\" %s --open", small());
    e2e_expect_closing(result, "16 passed, 0 failed, 0 skipped");
    cr_expect_eq(e2e_count(result->err, "--open"), 1);
    unlink("fake/xdg-open");
    result = e2e_exits(0, "PATH=\"$PWD/fake\" %s --open", small());
    e2e_expect_has(result->err, "\ntestlog: --open: xdg-open is not in PATH; "
                                "install xdg-utils, or open the page "
                                "yourself\nreport: ");
}
