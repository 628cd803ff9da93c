/* runners_framework_tests_test.c: lists and chooses tests of frameworks. */
#include "runners/frameworks/frameworks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "harness/results/history/history.h"
#include "harness/runner/options/options.h"

static const char list[] = "Running main() from gtest_main.cc\n"
                           "Store.\n"
                           "  Passes\n"
                           "  DISABLED_Later\n"
                           "Some/Sizes.  # TypeParam = int\n"
                           "  AreSmall/0  # GetParam() = 1\n"
                           "Some/DISABLED_Sizes.\n"
                           "  Never\n";

static void read_list(struct framework_tests *tests, const char *framework,
                      const char *text)
{
    FILE *in = fmemopen((void *)(uintptr_t)text, strlen(text), "r");

    cr_assert_eq(runners_framework_read_list(
                     tests, runners_framework_named(framework), in, "prog"),
                 0);
    fclose(in);
}

static void expect_file(const struct framework_tests *tests,
                        const char *framework, const char *expected)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    cr_expect_eq(
        runners_framework_write(tests, runners_framework_named(framework), out),
        0);
    fclose(out);
    cr_expect_str_eq(text, expected);
    free(text);
}

Test(runners_framework_tests, reads_the_list_of_gtest)
{
    struct framework_tests tests = {.count = 0};

    read_list(&tests, "gtest", list);
    cr_assert_eq(tests.count, 2);
    cr_expect_str_eq(tests.all[0].name, "Store/Passes");
    cr_expect_str_eq(tests.all[1].name, "Some/Sizes/AreSmall/0");
    expect_file(&tests, "gtest",
                "--gtest_filter=Store.Passes:Some/Sizes.AreSmall/0\n");
    runners_framework_tests_free(&tests);
}

Test(runners_framework_tests, reads_the_list_of_catch2)
{
    struct framework_tests tests = {.count = 0};

    read_list(&tests, "catch2", "adds, and more\nsays \"so\"\n");
    cr_assert_eq(tests.count, 2);
    cr_expect_str_eq(tests.all[0].name, "prog/adds, and more");
    expect_file(&tests, "catch2",
                "\"adds\\, and more\"\n\"says \\\"so\\\"\"\n");
    runners_framework_tests_free(&tests);
}

Test(runners_framework_tests, selects_by_words_and_shards)
{
    struct test_log_history none = {.count = 0};
    size_t total = 0;

    for (size_t shard = 0; shard < 3; shard++) {
        struct framework_tests tests = {.count = 0};
        struct test_log_options options = {
            .shard = {.index = shard, .total = 3}};

        read_list(&tests, "catch2", "a\nb\nc\nd\ne\n");
        runners_framework_select(&tests, &options, &none, "prog");
        total += tests.count;
        runners_framework_tests_free(&tests);
    }
    cr_expect_eq(total, 5);
    for (int i = 0; i < 2; i++) {
        const char *words[] = {i ? "Small" : "nothing"};
        struct framework_tests tests = {.count = 0};
        struct test_log_options options = {.words = words, .word_count = 1};

        read_list(&tests, "gtest", list);
        runners_framework_select(&tests, &options, &none, "prog");
        cr_expect_eq(tests.count, (size_t)i);
        runners_framework_tests_free(&tests);
    }
}
