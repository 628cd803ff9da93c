/* match_names.c: tells whether patterns and words match the name of a test, of
 * this program or another one. */
#include <stdio.h>
#include <string.h>

#include "harness/runner/options/options.h"
#include "harness/runner/plan/plan.h"

bool test_log_plan_has_word(const struct test_log_options *options,
                            const char *name)
{
    for (size_t i = 0; i < options->word_count; i++)
        if (strstr(name, options->words[i]))
            return true;
    return false;
}

bool test_log_plan_selects(const struct test_log_options *options,
                           const char *name)
{
    bool selects = !test_log_options_select(options) ||
                   test_log_plan_has_word(options, name);
    char suite[512];
    int size = (int)strcspn(name, "/");

    snprintf(suite, sizeof(suite), "%.*s", size, name);
    for (size_t i = 0; !selects && name[size] && i < options->pattern_count;
         i++)
        selects = !strcmp(options->patterns[i], name) ||
                  test_log_pattern_matches(options->patterns[i], suite,
                                           name + size + 1);
    return selects;
}
