/* filter_functions.c: which calls of functions the tests of a run record. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "harness/results/folder/notice.h"
#include "harness/runner/options/filters.h"
#include "harness/symbols/symbols.h"
#include "plan.h"

static struct {
    struct test_log_function_list list;
    char field[16]; /* of the session */
    bool made;
    bool hooked; /* some module has calls */
} functions;

static bool is_asked(const struct test_log_options *options)
{
    return options->functions.value || options->functions_depth ||
           options->functions_least;
}

static void share(const struct test_log_options *options,
                  const struct test_log_run *run)
{
    int id = test_log_function_filter_share(
        &functions.list, (uint32_t)options->functions_depth,
        options->functions_least, &run->start, &functions.hooked);

    if (id < 0)
        test_log_notice("cannot share memory with tests: %s; calls of all "
                        "functions are recorded",
                        strerror(errno));
    else
        snprintf(functions.field, sizeof(functions.field), "%d", id);
}

const char *test_log_functions_prepare(const struct test_log_options *options,
                                       const struct test_log_run *run)
{
    const char *text = options->functions.value;

    if (functions.made || !run->annotated || !is_asked(options))
        return functions.field;
    functions.made = true;
    if (text && test_log_function_list_read(&functions.list, text))
        test_log_notice("out of memory");
    if (functions.list.none)
        snprintf(functions.field, sizeof(functions.field), "none");
    else
        share(options, run);
    return functions.field;
}

/* testlog run asks all programs before it prints anything. */
static bool has_no_effect(const struct test_log_run *run)
{
    return !functions.hooked && !run->foreign;
}

void test_log_functions_find_unmatched(struct test_log_run *run,
                                       const struct test_log_options *options)
{
    const struct test_log_function_list *list = &functions.list;
    const char *origin = options->functions.origin;

    if (!list->count || list->none)
        return;
    if (has_no_effect(run))
        test_log_notice("%s has no effect: the program calls no function that "
                        "was built with -finstrument-functions",
                        origin);
    else
        for (size_t i = 0; i < list->count; i++)
            if (!list->globs[i].matched)
                test_log_filters_add_unmatched(run, origin,
                                               list->globs[i].item);
    test_log_function_list_free(&functions.list);
}
