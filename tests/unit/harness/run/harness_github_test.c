/* harness_github_test.c: GitHub's workflow commands, which tests must not
 * forge. */
#include "harness/machine/notice.h"
#include "harness/run/files/writers.h"
#include "harness/run/folder/run_folder.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "tests/support/runs.h"
#include "tests/support/support.h"

static struct test_log_run run;
static char token[33];

static void begin(void)
{
    test_folder();
    unsetenv("GITHUB_WORKSPACE");
    setenv("GITHUB_ACTIONS", "true", 1);
    test_log_out = fopen(test_path("out"), "we");
    cr_assert_not_null(test_log_out);
}

static void end(void)
{
    test_log_run_free(&run);
    fclose(test_log_out);
}

TestSuite(harness_github, .init = begin, .fini = end);

static struct test_log_result *add(const char *name,
                                   enum test_log_outcome outcome,
                                   const char *reason)
{
    struct test_log_result *result =
        runs_add_result(&run, "p", name, outcome, reason);

    result->file = strdup("test.c");
    result->line = 5;
    return result;
}

static const char *printed(void)
{
    return test_load(test_path("out"), NULL);
}

static size_t count(const char *part)
{
    size_t found = 0;

    for (const char *at = printed(); (at = strstr(at, part)); at++)
        found++;
    return found;
}

static void start(void)
{
    test_log_github_begin(&run);
    cr_assert_eq(sscanf(printed(), "::stop-commands::%32s\n", token), 1);
    cr_assert_eq(strlen(token), 32);
}

/* Expects a command between the tokens, on its own line. */
static void expect_command(const char *command)
{
    char all[8192];

    snprintf(all, sizeof(all), "\n::%s::\n%s\n::stop-commands::%s\n", token,
             command, token);
    cr_expect_not_null(strstr(printed(), all), "%s is not in:\n%s", command,
                       printed());
}

Test(harness_github, stops_commands_until_the_end)
{
    char all[128];

    start();
    test_log_github_end(&run);
    snprintf(all, sizeof(all), "::stop-commands::%s\n\n::%s::\n", token, token);
    cr_expect_str_eq(printed(), all);
}

Test(harness_github, uses_a_random_token)
{
    char first[33];

    start();
    memcpy(first, token, sizeof(first));
    test_log_github_end(&run);
    fclose(test_log_out);
    test_log_out = fopen(test_path("out"), "we");
    start();
    cr_expect_str_neq(token, first);
    cr_expect_eq(strspn(token, "0123456789abcdef"), 32);
}

Test(harness_github, prints_a_block_as_a_group)
{
    start();
    test_log_github_group(add("a", TEST_LOG_OUTCOME_FAILED, "why\nand what"));
    fputs("::error::forged\n", test_log_out);
    test_log_github_endgroup();
    expect_command("::group::suite/a: failed: why");
    expect_command("::endgroup::");
}

Test(harness_github, ends_an_open_line_before_the_token)
{
    start();
    fputs("open", test_log_out);
    test_log_github_endgroup();
    expect_command("::endgroup::");
    cr_expect_eq(count("open\n::"), 1);
}

Test(harness_github, annotates_failures_at_their_location)
{
    start();
    add("a", TEST_LOG_OUTCOME_FAILED, "other.c:7: why");
    add("b", TEST_LOG_OUTCOME_CRASHED, "SIGSEGV, below test.c:6");
    add("c", TEST_LOG_OUTCOME_TIMEOUT, NULL);
    add("d", TEST_LOG_OUTCOME_PASSED, NULL);
    add("e", TEST_LOG_OUTCOME_SKIPPED, "no time");
    add("f", TEST_LOG_OUTCOME_FAILED, "note: 7 of 8");
    test_log_github_end(&run);
    expect_command("::error file=other.c,line=7,title=suite/a::"
                   "failed: other.c:7: why");
    expect_command("::error file=test.c,line=5,title=suite/b::"
                   "crashed: SIGSEGV, below test.c:6");
    expect_command("::error file=test.c,line=5,title=suite/c::timed out");
    expect_command("::error file=test.c,line=5,title=suite/f::"
                   "failed: note: 7 of 8");
    cr_expect_eq(count("::error"), 4);
}

Test(harness_github, annotates_a_test_without_a_location)
{
    struct test_log_result *result = add("a", TEST_LOG_OUTCOME_FAILED, NULL);

    free(result->file);
    result->file = NULL;
    start();
    test_log_github_end(&run);
    expect_command("::error title=suite/a::failed");
}

Test(harness_github, prints_paths_relative_to_the_workspace)
{
    setenv("GITHUB_WORKSPACE", "/home/me", 1);
    start();
    add("a", TEST_LOG_OUTCOME_FAILED, "/home/me/src/a.c:7: why");
    add("b", TEST_LOG_OUTCOME_FAILED, "/home/men/b.c:8: why");
    test_log_github_end(&run);
    expect_command("::error file=src/a.c,line=7,title=suite/a::"
                   "failed: /home/me/src/a.c:7: why");
    expect_command("::error file=/home/men/b.c,line=8,title=suite/b::"
                   "failed: /home/men/b.c:8: why");
}

/* Meson, for example, compiles in a build folder. */
Test(harness_github, finds_files_in_the_workspace_from_any_build_folder)
{
    char workspace[PATH_MAX];

    snprintf(workspace, sizeof(workspace), "%s/work", test_path("."));
    cr_assert_eq(test_log_make_folders(test_path("work/src")), 0);
    cr_assert_eq(test_log_make_folders(test_path("work/build")), 0);
    test_save(test_path("work/src/a.c"), "", 0);
    test_save(test_path("outside.c"), "", 0);
    setenv("GITHUB_WORKSPACE", workspace, 1);
    cr_assert_eq(chdir(test_path("work/build")), 0);
    start();
    add("a", TEST_LOG_OUTCOME_FAILED, "../src/a.c:1: why");
    cr_assert_eq(chdir("/"), 0);
    add("b", TEST_LOG_OUTCOME_FAILED, "../../src/a.c:2: why");
    add("c", TEST_LOG_OUTCOME_FAILED, "src/a.c:3: why");
    add("d", TEST_LOG_OUTCOME_FAILED, "../outside.c:4: why");
    test_log_github_end(&run);
    expect_command("::error file=src/a.c,line=1,title=suite/a::"
                   "failed: ../src/a.c:1: why");
    expect_command("::error file=src/a.c,line=2,title=suite/b::"
                   "failed: ../../src/a.c:2: why");
    expect_command("::error file=src/a.c,line=3,title=suite/c::"
                   "failed: src/a.c:3: why");
    expect_command("::error file=../outside.c,line=4,title=suite/d::"
                   "failed: ../outside.c:4: why");
}

Test(harness_github, escapes_text_from_tests)
{
    start();
    add("a,b:c%", TEST_LOG_OUTCOME_FAILED,
        "o,d d.c:7: 50%\n::error::x\r\n::add-mask::y\033[1m\xe2\x80\xae");
    test_log_github_end(&run);
    expect_command("::error file=o%2Cd d.c,line=7,title=suite/a%2Cb%3Ac%25::"
                   "failed: o,d d.c:7: 50%25%0A::error::x?%0A"
                   "::add-mask::y?[1m\xef\xbf\xbd");
    cr_expect_eq(count("\n::error"), 1);
    cr_expect_eq(count("\n::add-mask"), 0);
}

Test(harness_github, annotates_at_most_ten_tests)
{
    char name[16];

    start();
    for (int i = 0; i < 30; i++) {
        snprintf(name, sizeof(name), "t%d", i);
        add(name, TEST_LOG_OUTCOME_FAILED, "why");
    }
    test_log_github_end(&run);
    cr_expect_eq(count("::error"), 10);
}

/* A pipe may interrupt longer writes with other text. */
Test(harness_github, cuts_long_commands)
{
    enum { SIZE = 100000 };
    char *reason = malloc(SIZE + 1), *name = malloc(SIZE + 1);
    const char *from, *to;

    cr_assert(reason && name);
    memset(reason, '%', SIZE);
    memset(name, ':', SIZE);
    reason[SIZE] = name[SIZE] = '\0';
    start();
    free(add(name, TEST_LOG_OUTCOME_FAILED, reason)->file);
    run.results[0].file = strdup(name);
    test_log_github_end(&run);
    from = strstr(printed(), "::error");
    to = from ? strstr(from, "::stop-commands") : NULL;
    cr_assert_not_null(to);
    cr_expect_lt(to - from, PIPE_BUF - 100);
    free(reason);
    free(name);
}

Test(harness_github, cuts_messages_between_characters)
{
    char reason[3000] = "";

    for (size_t i = 0; i < 900; i++)
        memcpy(reason + 1 + 3 * i, "\342\202\254", 3);
    reason[0] = 'a';
    add("a", TEST_LOG_OUTCOME_FAILED, reason);
    start();
    test_log_github_end(&run);
    cr_expect_not_null(strstr(printed(), "\254\n::stop-commands"), "%s",
                       printed());
}

Test(harness_github, prints_nothing_outside_github)
{
    static const char *const values[] = {"false", "", "1"};

    add("a", TEST_LOG_OUTCOME_FAILED, "why");
    for (size_t i = 0; i <= sizeof(values) / sizeof(*values); i++) {
        if (i)
            setenv("GITHUB_ACTIONS", values[i - 1], 1);
        else
            unsetenv("GITHUB_ACTIONS");
        test_log_github_begin(&run);
        test_log_github_group(run.results);
        test_log_github_endgroup();
        test_log_github_end(&run);
    }
    cr_expect_str_eq(printed(), "");
}

Test(harness_github, prints_nothing_in_nested_runs)
{
    run.parent.nested = true;
    test_log_github_begin(&run);
    cr_expect_str_eq(printed(), "");
}

Test(harness_github, uses_the_token_of_testlog_run)
{
    add("a", TEST_LOG_OUTCOME_FAILED, "why");
    run.role = TEST_LOG_ROLE_APART;
    run.parent.token = "0123456789abcdef0123456789abcdef";
    test_log_github_begin(&run);
    cr_expect_str_eq(printed(), "");
    snprintf(token, sizeof(token), "0123456789abcdef0123456789abcdef");
    test_log_github_group(run.results);
    expect_command("::group::suite/a: failed: why");
    test_log_github_end(&run);
    cr_expect_eq(count("::error"), 0);
}

Test(harness_github, passes_the_token_to_programs)
{
    test_log_github_begin(&run);
    cr_assert_eq(sscanf(printed(), "::stop-commands::%32s\n", token), 1);
    cr_expect_str_eq(test_log_github_token(), token);
}
