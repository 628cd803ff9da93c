/* harness_known_failures_test.c: sections of testlog.conf about tests that may
 * fail. */
#include "harness/options/known_failures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "tests/support/support.h"

static struct test_log_known_failures known;
static struct test_log_settings settings;

static void end(void)
{
    free(known.all);
    free(settings.lines);
}

TestSuite(harness_known_failures, .fini = end);

/* A section's lines share the address of its pattern. */
static void add(const char *pattern, const char *profile, const char *key,
                const char *value)
{
    struct test_log_settings_line *line;

    settings.lines =
        realloc(settings.lines, (settings.count + 1) * sizeof(*settings.lines));
    line = &settings.lines[settings.count++];
    *line = (struct test_log_settings_line){.key = key,
                                            .value = value,
                                            .origin = "testlog.conf:1",
                                            .profile = profile,
                                            .pattern = pattern};
}

/* Each section has its own copy of its pattern. */
static char patterns[8][8];

static void add_section(const char *text, const char *profile,
                        const char *expected, const char *reason,
                        const char *until)
{
    static unsigned next;
    char *pattern = patterns[next++ % 8];

    snprintf(pattern, sizeof(*patterns), "%s", text);
    add(pattern, profile, "expect", expected);
    add(pattern, profile, "reason", reason);
    if (until)
        add(pattern, profile, "until", until);
}

static const char *reason_of(const char *test)
{
    const struct test_log_known_failure *found =
        test_log_known_of(&known, "s", test);

    return found ? found->reason : "none";
}

Test(harness_known_failures, later_sections_beat_earlier_ones)
{
    add_section("s/*", NULL, "fail", "one", NULL);
    add_section("s/b*", NULL, "skip", "two", NULL);
    cr_assert_eq(test_log_known_read(&known, &settings, NULL, true), 0);
    cr_expect_str_eq(reason_of("a"), "one");
    cr_expect_str_eq(reason_of("bad"), "two");
    cr_expect_str_eq(reason_of("bad[3]"), "two");
    cr_expect_eq(test_log_known_of(&known, "s", "b")->expected,
                 TEST_LOG_EXPECT_SKIP);
    cr_expect_null(test_log_known_of(&known, "t", "a"));
}

Test(harness_known_failures, sections_of_a_profile_beat_the_others)
{
    add_section("s/*", "ci", "fail", "of ci", NULL);
    add_section("s/*", "other", "fail", "of another", NULL);
    add_section("s/*", NULL, "fail", "of none", NULL);
    cr_assert_eq(test_log_known_read(&known, &settings, "ci", true), 0);
    cr_expect_str_eq(reason_of("a"), "of ci");
    known.count = 0;
    cr_assert_eq(test_log_known_read(&known, &settings, NULL, true), 0);
    cr_expect_str_eq(reason_of("a"), "of none");
}

Test(harness_known_failures, expire_after_their_last_day)
{
    add_section("s/a", NULL, "fail", "over", "2000-01-01");
    add_section("s/b", NULL, "fail", "not yet", "9999-12-31");
    cr_assert_eq(test_log_known_read(&known, &settings, NULL, true), 0);
    cr_expect_str_eq(reason_of("a"), "none");
    cr_expect_str_eq(reason_of("b"), "not yet");
}

Test(harness_known_failures, knows_days)
{
    static const char *const bad[] = {"2026-02-30", "2026-13-01",  "2026-1-01",
                                      "26-01-01",   "2026-01-01x", "",
                                      "2025-02-29", "-2026-01-01"};

    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        settings.count = known.count = 0;
        add_section("s/a", NULL, "fail", "r", bad[i]);
        cr_expect_eq(test_log_known_read(&known, &settings, NULL, true), -1,
                     "%s", bad[i]);
    }
    settings.count = known.count = 0;
    add_section("s/a", NULL, "fail", "r", "2028-02-29");
    cr_expect_eq(test_log_known_read(&known, &settings, NULL, true), 0);
}

Test(harness_known_failures, knows_its_keys)
{
    const char *names[TEST_LOG_KNOWN_KEYS];

    cr_expect(test_log_known_key("until"));
    cr_expect_not(test_log_known_key("timeout"));
    cr_expect_eq(test_log_known_keys(names), TEST_LOG_KNOWN_KEYS);
    cr_expect_str_eq(names[0], "expect");
}
