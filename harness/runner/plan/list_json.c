/* list_json.c: --list=json, the tests of a program for other programs. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "harness/results/folder/notice.h"
#include "harness/results/history/durations.h"
#include "plan.h"

static void put_string(struct trace_text *text, const char *member,
                       const char *value)
{
    trace_text_printf(text, ",\"%s\":", member);
    trace_json_string(text, value, strlen(value));
}

/* A test that has not run here has neither member. */
static void put_past(struct trace_text *text, const struct test_log_past *past)
{
    uint64_t median = past ? test_log_history_median(past) : 0;

    if (past && past->outcome != TEST_LOG_OUTCOME_SKIPPED)
        put_string(text, "outcome", test_log_outcome_word(past->outcome));
    if (median)
        trace_text_printf(text, ",\"median_ns\":%llu",
                          (unsigned long long)median);
}

static void put_test(struct trace_text *text, const struct criterion_test *test,
                     const struct test_log_history *history,
                     const char *program)
{
    struct trace_text name = {0};
    char path[PATH_MAX];

    trace_text_printf(&name, "%s/%s", test->category, test->name);
    trace_text_string(text, text->size > 1 ? ",\n{\"name\":" : "\n{\"name\":");
    if (name.data)
        trace_json_string(text, name.data, name.size);
    if (test->data->file_)
        put_string(text, "file", test_log_shown_path(test->data->file_, path));
    trace_text_printf(text, ",\"line\":%u", (unsigned)test->data->line_);
    put_string(text, "flavour", history->flavour);
    if (name.data)
        put_past(text, test_log_history_of(history, program, name.data));
    trace_text_char(text, '}');
    trace_text_free(&name);
}

static void put_suite(struct trace_text *text,
                      const struct criterion_suite_set *suite,
                      const struct test_log_history *history,
                      const char *program)
{
    const struct criterion_ordered_set_node *node =
        suite->tests ? suite->tests->first : NULL;

    for (; node; node = node->next)
        put_test(text, (const struct criterion_test *)(node + 1), history,
                 program);
}

int test_log_list_json(const struct criterion_test_set *set,
                       const struct test_log_history *history,
                       const char *program)
{
    struct trace_text text = {0};
    int failed;

    trace_text_char(&text, '[');
    for (const struct criterion_ordered_set_node *node = set->suites->first;
         node; node = node->next)
        put_suite(&text, (const struct criterion_suite_set *)(node + 1),
                  history, program);
    trace_text_string(&text, "\n]\n");
    errno = ENOMEM;
    failed = text.failed || fputs(text.data, stdout) < 0 || fflush(stdout);
    trace_text_free(&text);
    return failed ? -1 : 0;
}
