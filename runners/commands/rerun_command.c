/* rerun_command.c: the command that runs tests of a finished run again. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <wordexp.h>

#include "harness/machine/notice.h"
#include "harness/options/options.h"
#include "report_page.h"
#include "runners/run/run.h"
#include "trace/base/text.h"

/* Adds the words of a command up to "--", or all; returns how many. */
static size_t add_words(struct trace_text *text, const wordexp_t *words)
{
    size_t count = 0;

    for (; count < words->we_wordc; count++) {
        if (!strcmp(words->we_wordv[count], "--"))
            break;
        if (count)
            trace_text_char(text, ' ');
        test_log_add_word(text, words->we_wordv[count]);
    }
    return count;
}

static char *ctest_of(const char *where)
{
    char runs[PATH_MAX];

    return snprintf(runs, sizeof(runs), "%s/..", where) < PATH_MAX
               ? runners_ctest_command(runs, false)
               : NULL;
}

/* Names that the run was given would choose others, too. */
char *runners_rerun_of(const struct test_log_run *run, const char *where,
                       bool debugs)
{
    struct trace_text text = {0};
    wordexp_t words;
    char **argv;
    size_t at = 0;

    if (run->command && !strcmp(run->command, "ctest"))
        return ctest_of(where);
    if (!run->command || wordexp(run->command, &words, WRDE_NOCMD))
        return NULL;
    argv = words.we_wordv;
    if (words.we_wordc > 1 && !strcmp(argv[1], "run")) { /* testlog run */
        at = add_words(&text, &words);
        trace_text_string(&text, " --");
    } else if (run->flagless) {
        trace_text_string(&text, "testlog run ");
        test_log_add_word(&text, argv[0]);
        trace_text_string(&text, " --");
        at = words.we_wordc; /* they are the framework's */
    } else {
        test_log_add_word(&text, argv[0]);
    }
    if (at < words.we_wordc)
        test_log_add_deciding(&text, argv + at, debugs);
    wordfree(&words);
    return text.data;
}
