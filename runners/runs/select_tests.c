/* select_tests.c: which tests of a run the arguments of a command select. */
#include <fnmatch.h>
#include <string.h>

#include "find.h"
#include "runners/runners.h"

/* Whether the word is the test's name, the name without its instance or try, or
 * a pattern that matches one of these. */
static bool names(const char *word, const char *test)
{
    size_t size = strlen(word);

    if (!strncmp(word, test, size) && strchr("[#", test[size]))
        return true; /* the end of the name, too */
    return !fnmatch(word, test, FNM_EXTMATCH);
}

void runners_select_tests(char **words, struct selectable *tests, size_t count)
{
    bool all = !words || !*words;

    for (size_t i = 0; i < count; i++)
        tests[i].selected = all;
    for (; words && *words; words++) {
        bool named = false;

        for (size_t i = 0; i < count; i++)
            if (names(*words, tests[i].name) ||
                (tests[i].title && names(*words, tests[i].title)))
                named = tests[i].selected = true;
        for (size_t i = 0; i < count && !named; i++)
            tests[i].selected |=
                strstr(tests[i].name, *words) ||
                (tests[i].title && strstr(tests[i].title, *words));
    }
}
