/* runners_framework_tests_test.c: lists and chooses tests of frameworks. */
#include "runners/programs/frameworks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "harness/options/options.h"
#include "harness/run/past/history.h"

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

    cr_assert_eq(runners_framework_read_list(tests,
                                             runners_framework_named(framework),
                                             in, "prog", false),
                 0);
    fclose(in);
}

static void expect_file(const struct framework_tests *tests,
                        const char *framework, const char *expected)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    cr_expect_eq(runners_framework_write(tests, tests->count,
                                         runners_framework_named(framework),
                                         out),
                 0);
    fclose(out);
    cr_expect_str_eq(text, expected);
    free(text);
}

Test(runners_framework_tests, reads_the_list_of_gtest)
{
    struct framework_tests tests = {.count = 0};

    read_list(&tests, "gtest", list);
    cr_assert_eq(tests.count, 4);
    cr_expect_str_eq(tests.all[0].name, "Store/Passes");
    cr_expect_str_eq(tests.all[2].name, "Some/Sizes/AreSmall/0");
    cr_expect(tests.all[1].disabled && tests.all[3].disabled);
    cr_expect_not(tests.all[0].disabled || tests.all[2].disabled);
    expect_file(&tests, "gtest",
                "--gtest_filter=Store.Passes:Store.DISABLED_Later:"
                "Some/Sizes.AreSmall/0:Some/DISABLED_Sizes.Never\n");
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

/* "off" is disabled; a description follows a colon. */
Test(runners_framework_tests, reads_the_tree_of_boost_test)
{
    static const char tree[] = "store*: about it\n"
                               "    passes*\n"
                               "    inner*\n"
                               "        templ<unsigned long>*\n"
                               "        a::b*: why\n"
                               "    off \n"
                               "last*\n";
    static const char *const expected[][3] = {
        {"store/passes", "store/passes", "-r=store/passes"},
        {"store.inner/templ<unsigned_long>", "store/inner/templ<unsigned long>",
         "-r=store/inner/templ<unsigned long>"},
        {"store.inner/a__b", "store/inner/a::b", "-r=store/inner/a*"},
        {"prog/last", "last", "-r=last"},
    };
    struct framework_tests tests = {.count = 0};
    struct framework boost = *runners_framework_named("boost");
    struct framework_start start = {.argument_count = 0};

    read_list(&tests, "boost", tree);
    cr_assert_eq(tests.count, 4);
    boost.chosen[0] = "-r=%s";
    cr_expect_eq(runners_framework_arguments(&start, &tests, 4, &boost), 4);
    for (size_t i = 0; i < 4; i++) {
        cr_expect_str_eq(tests.all[i].name, expected[i][0]);
        cr_expect_str_eq(tests.all[i].own, expected[i][1]);
        cr_expect_str_eq(start.arguments[i], expected[i][2]);
    }
    runners_framework_start_free(&start);
    runners_framework_tests_free(&tests);
}

/* Two tests may have one name. */
Test(runners_framework_tests, reads_the_list_of_doctest)
{
    static const char xml[] =
        "<doctest><TestCase name=\"a, b\"/><TestCase name=\"x&lt;\\\"/>"
        "<TestCase name=\"x&lt;\\\"/></doctest>";
    struct framework_tests tests = {.count = 0};
    struct framework_start start = {.argument_count = 0};

    read_list(&tests, "doctest", xml);
    cr_assert_eq(tests.count, 3);
    cr_expect_str_eq(tests.all[0].name, "prog/a, b");
    cr_expect_str_eq(tests.all[2].name, "prog/x<\\ (2)");
    cr_expect_eq(runners_framework_arguments(
                     &start, &tests, 2, runners_framework_named("doctest")),
                 2);
    cr_expect_str_eq(start.arguments[0], "--test-case=a? b,x<?");
    runners_framework_start_free(&start);
    runners_framework_tests_free(&tests);
}

/* The rest is for another process. */
Test(runners_framework_tests, arguments_may_not_be_long)
{
    static const char *const names[] = {"doctest", "boost"};

    for (size_t i = 0; i < 2; i++) {
        const struct framework *framework = runners_framework_named(names[i]);
        struct framework_start start = {.argument_count = 0};
        struct framework_tests tests = {.count = 0};
        struct framework_test all[3000];
        size_t fit, size = 0;
        char name[1001];

        memset(name, 'x', sizeof(name) - 1);
        name[sizeof(name) - 1] = '\0';
        for (size_t n = 0; n < 3000; n++)
            all[n] = (struct framework_test){.name = name, .own = name};
        tests.all = all;
        fit = runners_framework_arguments(&start, &tests, 3000, framework);
        cr_expect_gt(fit, 80);
        for (size_t n = 0; n < start.argument_count; n++) {
            cr_expect_lt(strlen(start.arguments[n]), 128 << 10);
            size += strlen(start.arguments[n]);
        }
        cr_expect_lt(size, 3 << 19);
        runners_framework_start_free(&start);
    }
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
