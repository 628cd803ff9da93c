/* harness_plan_test.c: checks and matches patterns of test names. */
#include "harness/criterion/plan/plan.h"
#include "harness/options/options.h"

#include <string.h>

#include <criterion/criterion.h>

static const struct {
    const char *pattern, *fault;
} faults[] = {
    {"", NULL},
    {"suite/test", NULL},
    {"suite/*", NULL},
    {"@(a|b)/x", NULL},
    {"!(a)", NULL},
    {"?(a)*(b)+(c)", NULL},
    {"@(a|@(b|c))", NULL},
    {"[abc]/x", NULL},
    {"suite/test[07]", NULL},
    {"a\\(b", NULL},
    {"a\\|b", NULL},
    {"a\\[b", NULL},
    {"a\\", NULL},
    {"@()", NULL},
    {"[(]", NULL},
    {"[|]", NULL},
    {"(a)", "a ( without one of ! ? @ * + before it"},
    {"x(a)", "a ( without one of ! ? @ * + before it"},
    {"(", "a ( without one of ! ? @ * + before it"},
    {"@(a", "a ( without a )"},
    {"@(a|@(b)", "a ( without a )"},
    {"a)", "a ) without a ("},
    {"@(a))", "a ) without a ("},
    {"a|b", "a | outside of ( )"},
    {"[a", "a [ without a ]"},
    {"@([a)", "a [ without a ]"},
};

Test(harness_plan, names_the_fault_of_a_pattern)
{
    for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++) {
        const char *fault = test_log_pattern_fault(faults[i].pattern);

        if (faults[i].fault)
            cr_expect(fault && !strcmp(fault, faults[i].fault), "%s: %s",
                      faults[i].pattern, fault ? fault : "none");
        else
            cr_expect_null(fault, "%s: %s", faults[i].pattern, fault);
    }
}

static const struct {
    const char *pattern, *suite, *test;
    bool matches;
} matches[] = {
    {"suite/test", "suite", "test", true},
    {"suite/test", "suite", "tests", false},
    {"suite/*", "suite", "test", true},
    {"*", "suite", "test", true},
    {"*/test", "suite", "test", true},
    {"suite", "suite", "test", false},
    {"@(suite|other)/test", "other", "test", true},
    {"!(suite)/test", "suite", "test", false},
    {"!(other)/test", "suite", "test", true},
    {"suite/[st]*", "suite", "test", true},
    {"suite/sizes", "suite", "sizes[07]", true},
    {"suite/sizes*", "suite", "sizes[07]", true},
    {"suite/sizes\\[07\\]", "suite", "sizes[07]", true},
    {"suite/sizes\\[07\\]", "suite", "sizes[08]", false},
    {"suite/si*7*", "suite", "sizes[07]", true},
    {"suite/size", "suite", "sizes[07]", false},
    {"", "suite", "test", false},
    {"Suite/test", "suite", "test", false},
};

Test(harness_plan, matches_names_and_groups_of_instances)
{
    for (size_t i = 0; i < sizeof(matches) / sizeof(*matches); i++)
        cr_expect_eq(test_log_pattern_matches(
                         matches[i].pattern, matches[i].suite, matches[i].test),
                     matches[i].matches, "%s and %s/%s", matches[i].pattern,
                     matches[i].suite, matches[i].test);
}

Test(harness_plan, matches_very_long_names)
{
    char suite[600], test[600];

    memset(suite, 's', sizeof(suite));
    suite[sizeof(suite) - 1] = '\0';
    memset(test, 't', sizeof(test));
    memcpy(test + sizeof(test) - 5, "[07]", 5);
    cr_expect(test_log_pattern_matches("*", suite, test));
    cr_expect_not(test_log_pattern_matches("no", suite, test));
    cr_expect_not(test_log_pattern_matches("no", "s", test));
}
