/* harness_program_share_test.c: what a program gets beside others. */
#include "harness/criterion/watch/supervisor.h"
#include "harness/options/options.h"
#include "harness/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <criterion/criterion.h>

static void begin(void)
{
    unsetenv("TESTLOG_SESSION");
    test_log_session_forget();
}

TestSuite(harness_program_share, .init = begin);

/* Takes what the process `runner` gives. */
static bool take(const char *text, pid_t runner, struct test_log_share *share)
{
    char number[16];

    snprintf(number, sizeof(number), "%ld", (long)runner);
    test_log_session_export(
        &(struct test_log_session){.share = text, .runner = number});
    test_log_session_forget();
    return test_log_share_take(share);
}

Test(harness_program_share, program_takes_what_its_parent_wrote)
{
    const struct test_log_share given = {
        .jobs = 12, .color = true, .links = true};
    struct test_log_share share = {0};
    char text[32];

    test_log_share_text(&given, text, sizeof(text));
    cr_assert(take(text, getppid(), &share));
    cr_expect_eq(share.jobs, 12);
    cr_expect(share.color);
    cr_expect(share.links);
}

Test(harness_program_share, colors_and_links_may_be_off)
{
    const struct test_log_share given = {.jobs = 1};
    struct test_log_share share = {.color = true, .links = true};
    char text[32];

    test_log_share_text(&given, text, sizeof(text));
    cr_assert(take(text, getppid(), &share));
    cr_expect_eq(share.jobs, 1);
    cr_expect_not(share.color);
    cr_expect_not(share.links);
}

/* A program that a script of `testlog run` starts inherits the variable. */
Test(harness_program_share, share_of_another_process_is_not_taken)
{
    struct test_log_share share;

    cr_expect_not(take("2 1 1", getpid(), &share));
}

Test(harness_program_share, malformed_shares_are_not_taken)
{
    static const char *const texts[] = {NULL, "", "2", "2 1", "x 1 1", "0 1 1"};
    struct test_log_share share;

    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        cr_expect_not(take(texts[i], getppid(), &share), "%zu", i);
}
