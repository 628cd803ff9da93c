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

/* A program whose tests are listed. */
struct listing {
    struct trace_text text;
    const struct test_log_options *options;
    const struct test_log_history *history;
    const char *program;
    const struct criterion_suite *suite;
    size_t instances; /* of the current test */
};

static void put_switch(struct trace_text *text, const char *member, bool on)
{
    trace_text_printf(text, ",\"%s\":%s", member, on ? "true" : "false");
}

static bool is_disabled(const struct listing *listing,
                        const struct criterion_test *test)
{
    const struct test_log_known_failure *known =
        test_log_known_of(&listing->options->known, test->category, test->name);

    return test->data->disabled ||
           (listing->suite->data && listing->suite->data->disabled) ||
           (known && known->expected == TEST_LOG_EXPECT_SKIP);
}

/* Adds the settings of the test. */
static void put_settings(struct listing *listing,
                         const struct criterion_test *test)
{
    const struct test_log_options *options = listing->options;
    struct trace_text *text = &listing->text;
    double limit = test_log_plan_limit(options, listing->suite, test);

    if (limit > 0)
        trace_text_printf(text, ",\"timeout_s\":%.15g", limit);
    put_switch(text, "disabled", is_disabled(listing, test));
    put_switch(
        text, "serial",
        options->serial ||
            test_log_override_of(options, test->category, test->name).serial);
    trace_text_printf(text, ",\"instances\":%zu", listing->instances);
    test_log_list_tags(text, options, test->category, test->name);
    trace_json_member(text, "flavour", listing->history->flavour);
}

static void put_test(struct listing *listing, const struct criterion_test *test)
{
    struct trace_text *text = &listing->text, name = {0};
    char path[PATH_MAX];

    trace_text_printf(&name, "%s/%s", test->category, test->name);
    trace_text_string(text, text->size > 1 ? ",\n{\"name\":" : "\n{\"name\":");
    if (name.data)
        trace_json_string(text, name.data, name.size);
    trace_json_member(text, "suite", test->category);
    trace_json_member(text, "test", test->name);
    if (test->data->file_)
        trace_json_member(text, "file",
                          test_log_shown_path(test->data->file_, path));
    trace_text_printf(text, ",\"line\":%u", (unsigned)test->data->line_);
    put_settings(listing, test);
    if (name.data)
        test_log_list_past(text, listing->history, listing->program, name.data);
    trace_text_char(text, '}');
    trace_text_free(&name);
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

static void put_suite(struct listing *listing,
                      const struct criterion_suite_set *suite)
{
    const struct criterion_ordered_set_node *node =
        suite->tests ? suite->tests->first : NULL;
    const char *last = NULL;

    listing->suite = &suite->suite;
    for (; node; node = node->next) {
        const char *name = test_in(node)->name;
        size_t size = size_of_test(name);

        if (!last || !size || !is_instance_of(last, name, size))
            listing->instances = count_instances(node);
        last = name;
        put_test(listing, test_in(node));
    }
}

int test_log_list_json(const struct criterion_test_set *set,
                       const struct test_log_options *options,
                       const struct test_log_history *history,
                       const char *program)
{
    struct listing listing = {
        .options = options, .history = history, .program = program};
    struct trace_text *text = &listing.text;
    int failed;

    trace_text_char(text, '[');
    for (const struct criterion_ordered_set_node *node = set->suites->first;
         node; node = node->next)
        put_suite(&listing, (const struct criterion_suite_set *)(node + 1));
    trace_text_string(text, "\n]\n");
    errno = ENOMEM;
    failed = text->failed || fputs(text->data, stdout) < 0 || fflush(stdout);
    trace_text_free(text);
    return failed ? -1 : 0;
}
