/* runners_select_tests_test.c: which tests of a run a word selects. */
#include "runners/runners.h"
#include "runners/runs/find.h"

#include <string.h>

#include <criterion/criterion.h>

static struct selectable tests[] = {
    {.name = "pipe/blur"},
    {.name = "pipe/blurs#1"},
    {.name = "pipe/blurs#2"},
    {.name = "pipe/scales[07]"},
    {.name = "pipe/scales[08]"},
    {.name = "store/pipes"},
    {.name = "I/P/Q/0", .title = "I/P.Q/0"},
};

enum { COUNT = sizeof(tests) / sizeof(*tests) };

/* `expected` has a letter for each test: y is selected. */
static void expect(const char *first, const char *second, const char *expected)
{
    char *words[] = {(char *)first, (char *)second, NULL};
    char selected[COUNT + 1] = "";

    runners_select_tests(words, tests, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        selected[i] = tests[i].selected ? 'y' : '-';
    cr_expect_str_eq(selected, expected, "%s %s: %s", first,
                     second ? second : "", selected);
}

Test(runners_select_tests, selects_all_without_a_word)
{
    expect(NULL, NULL, "yyyyyyy");
    runners_select_tests(NULL, tests, COUNT);
    cr_expect(tests[0].selected && tests[5].selected);
}

Test(runners_select_tests, prefers_a_name_to_those_that_contain_it)
{
    expect("pipe/blur", NULL, "y------");
    expect("pipe/scales[07]", NULL, "---y---");
    expect("pipe/blurs#2", NULL, "--y----");
}

Test(runners_select_tests, selects_instances_and_tries_by_their_tests_name)
{
    expect("pipe/blurs", NULL, "-yy----");
    expect("pipe/scales", NULL, "---yy--");
}

Test(runners_select_tests, matches_patterns)
{
    expect("pipe/*", NULL, "yyyyy--");
    expect("@(pipe|store)/*s", NULL, "-----y-");
}

Test(runners_select_tests, selects_by_a_part_of_the_name)
{
    expect("blur", NULL, "yyy----");
    expect("pipe", NULL, "yyyyyy-");
    expect("e/sc", NULL, "---yy--");
    expect("[07]", NULL, "---y---");
    expect("PIPE", NULL, "-------");
}

Test(runners_select_tests, names_by_title)
{
    expect("I/P.Q/0", NULL, "------y");
    expect("I/P.*", NULL, "------y");
    expect("P.Q", NULL, "------y");
    expect("I/P/*", NULL, "------y");
}

Test(runners_select_tests, selects_what_any_word_selects)
{
    expect("pipe/blur", "stor", "y----y-");
    expect("nothing", "store/pipes", "-----y-");
    expect("nothing", "nowhere", "-------");
}
