/* filter_functions.c: which calls of functions and which lines the tests of a
 * run record. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "harness/machine/notice.h"
#include "harness/options/filters.h"
#include "harness/symbols/symbols.h"
#include "plan.h"

static struct {
    struct test_log_recorded_code code;
    char field[16]; /* of the session */
    bool made;
} recorded;

static bool is_asked(const struct test_log_options *options)
{
    return options->functions.value || options->functions_depth ||
           options->functions_least || options->lines.value;
}

static void read_lists(const struct test_log_options *options)
{
    struct test_log_recorded_code *code = &recorded.code;
    const char *functions = options->functions.value;
    const char *lines = options->lines.value;

    if ((functions &&
         test_log_function_list_read(&code->functions, functions)) ||
        (lines && test_log_line_list_read(&code->lines, lines)))
        test_log_notice("out of memory");
    code->depth = lines ? 0 : (uint32_t)options->functions_depth;
    if (lines && options->functions_depth)
        test_log_notice("--functions-depth has no effect with %s: lines would "
                        "count as calls",
                        options->lines.origin);
    code->least = options->functions_least;
}

static void share(const struct test_log_run *run)
{
    int id = test_log_function_filter_share(&recorded.code, &run->start);

    if (id < 0)
        test_log_notice("cannot share memory with tests: %s; calls of all "
                        "functions are recorded, and no lines",
                        strerror(errno));
    else
        snprintf(recorded.field, sizeof(recorded.field), "%d", id);
}

const char *test_log_functions_prepare(const struct test_log_options *options,
                                       const struct test_log_run *run,
                                       struct dl_phdr_info *modules)
{
    if (recorded.made || (!modules && !run->annotated) || !is_asked(options))
        return recorded.field;
    recorded.made = true;
    recorded.code.modules = modules;
    read_lists(options);
    if (recorded.code.functions.none && !recorded.code.lines.count)
        snprintf(recorded.field, sizeof(recorded.field), "none");
    else
        share(run);
    return recorded.field;
}

static void note_globs(struct test_log_run *run, const char *origin)
{
    const struct test_log_function_list *list = &recorded.code.functions;

    if (list->none)
        return;
    for (size_t i = 0; i < list->count; i++)
        if (!list->globs[i].matched)
            test_log_filters_add_unmatched(run, origin, list->globs[i].item);
}

static void note_regions(struct test_log_run *run, const char *origin)
{
    const struct test_log_line_list *list = &recorded.code.lines;

    for (size_t i = 0; i < list->count; i++)
        if (!list->regions[i].matched)
            test_log_filters_add_unmatched(run, origin, list->regions[i].item);
}

/* testlog run asks all programs before it prints anything. */
void test_log_functions_find_unmatched(struct test_log_run *run,
                                       const struct test_log_options *options)
{
    struct test_log_recorded_code *code = &recorded.code;
    bool globs = code->functions.count && !code->functions.none;

    if (globs && !code->hooked && !test_log_is_part(run))
        test_log_notice("%s has no effect: the program calls no function that "
                        "was built with -finstrument-functions",
                        options->functions.origin);
    else
        note_globs(run, options->functions.origin);
    if (code->lines.count && !code->lined && !test_log_is_part(run))
        test_log_notice("%s has no effect: no file of the program was built "
                        "with -fsanitize-coverage=trace-pc",
                        options->lines.origin);
    else
        note_regions(run, options->lines.origin);
    test_log_function_list_free(&code->functions);
    test_log_line_list_free(&code->lines);
}
