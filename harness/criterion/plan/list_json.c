/* list_json.c: --list=json, the tests of a program for other programs. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "harness/machine/notice.h"
#include "harness/options/options.h"
#include "harness/run/past/history.h"
#include "plan.h"

static void put_switch(struct trace_text *text, const char *member, bool on)
{
    trace_text_printf(text, ",\"%s\":%s", member, on ? "true" : "false");
}

/* Adds the settings of a test. */
static void put_settings(struct trace_text *text,
                         const struct test_log_options *options,
                         const struct criterion_suite *suite,
                         const struct criterion_test *test)
{
    const char *category = test->category, *name = test->name;
    const struct test_log_known_failure *known =
        test_log_known_of(&options->known, category, name);
    double limit = test_log_plan_limit(options, suite, test);

    if (limit > 0)
        trace_text_printf(text, ",\"timeout_s\":%.15g", limit);
    put_switch(text, "disabled",
               test->data->disabled || (suite->data && suite->data->disabled) ||
                   (known && known->expected == TEST_LOG_EXPECT_SKIP));
    put_switch(text, "serial",
               options->serial ||
                   test_log_override_of(options, category, name).serial);
}

static const struct criterion_test *test_in(
    const struct criterion_ordered_set_node *node)
{
    return (const struct criterion_test *)(node + 1);
}

/* Returns the size of "test" in "test[07]"; 0 if it is no instance. */
static size_t size_of_test(const char *name)
{
    size_t size = strlen(name);

    return size && name[size - 1] == ']' ? (size_t)(strrchr(name, '[') - name)
                                         : 0;
}

static bool is_instance_of(const char *name, const char *other, size_t size)
{
    return size_of_test(name) == size && !strncmp(name, other, size);
}

/* Counts the instances of a test's parameterized test from a node on. */
static size_t count_instances(const struct criterion_ordered_set_node *node)
{
    const char *name = test_in(node)->name;
    size_t size = size_of_test(name), count = 1;

    while (size && (node = node->next) &&
           is_instance_of(test_in(node)->name, name, size))
        count++;
    return count;
}

int test_log_list_json(const struct criterion_test_set *set,
                       const struct test_log_options *options,
                       const struct test_log_history *history,
                       const char *program)
{
    const struct criterion_ordered_set_node *suites = set->suites->first, *node;
    struct trace_text text = {0}, name = {0};
    char path[PATH_MAX];
    int failed;

    trace_text_char(&text, '[');
    for (; suites; suites = suites->next) {
        const struct criterion_suite_set *suite =
            (const struct criterion_suite_set *)(suites + 1);
        const char *last = NULL;
        size_t instances = 0;

        node = suite->tests ? suite->tests->first : NULL;
        for (; node; node = node->next) {
            const struct criterion_test *test = test_in(node);
            size_t size = size_of_test(test->name);

            if (!last || !size || !is_instance_of(last, test->name, size))
                instances = count_instances(node);
            last = test->name;
            trace_text_clear(&name);
            trace_text_printf(&name, "%s/%s", test->category, test->name);
            trace_text_string(&text,
                              text.size > 1 ? ",\n{\"name\":" : "\n{\"name\":");
            if (name.data)
                trace_json_string(&text, name.data, name.size);
            trace_json_member(&text, "suite", test->category);
            trace_json_member(&text, "test", test->name);
            if (test->data->file_)
                trace_json_member(&text, "file",
                                  test_log_shown_path(test->data->file_, path));
            trace_text_printf(&text, ",\"line\":%u",
                              (unsigned)test->data->line_);
            put_settings(&text, options, &suite->suite, test);
            trace_text_printf(&text, ",\"instances\":%zu", instances);
            test_log_list_tags(&text, options, test->category, test->name);
            trace_json_member(&text, "flavour", history->flavour);
            if (name.data)
                test_log_list_past(&text, history, program, name.data);
            trace_text_char(&text, '}');
        }
    }
    trace_text_string(&text, "\n]\n");
    errno = ENOMEM;
    failed = text.failed || fputs(text.data, stdout) < 0 || fflush(stdout);
    trace_text_free(&name);
    trace_text_free(&text);
    return failed ? -1 : 0;
}
