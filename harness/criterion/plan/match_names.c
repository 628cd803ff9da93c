/* match_names.c: tells whether patterns and words match the name of a test, of
 * this program or another one. */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "harness/criterion/plan/plan.h"
#include "harness/options/options.h"

bool test_log_plan_has_word(const struct test_log_options *options,
                            const char *name)
{
    for (size_t i = 0; i < options->word_count; i++)
        if (strstr(name, options->words[i]))
            return true;
    return false;
}

/* A program without a framework is a test without a suite. */
static bool matches(const char *pattern, const char *name)
{
    char suite[512];
    int size = (int)strcspn(name, "/");

    if (!strcmp(pattern, name))
        return true;
    if (!name[size])
        return !fnmatch(pattern, name, FNM_EXTMATCH);
    snprintf(suite, sizeof(suite), "%.*s", size, name);
    return test_log_pattern_matches(pattern, suite, name + size + 1);
}

bool test_log_plan_selects(const struct test_log_options *options,
                           const char *name, const char *title)
{
    bool selects = !test_log_options_select(options) ||
                   test_log_plan_has_word(options, name) ||
                   (title && test_log_plan_has_word(options, title));

    for (size_t i = 0; !selects && i < options->pattern_count; i++)
        selects =
            matches(options->patterns[i], name) ||
            (title && (!strcmp(options->patterns[i], title) ||
                       !fnmatch(options->patterns[i], title, FNM_EXTMATCH)));
    return selects;
}
