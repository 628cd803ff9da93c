/* calls.c: helpers of tests that record calls of functions. */
#include "calls.h"

#include "harness/symbols/symbols.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static void record(uint64_t limit, const struct trace_function_filter *filter)
{
    struct trace_options options = {.limit = TRACE_LIMIT_LEAST * 4,
                                    .functions_limit = limit,
                                    .functions = filter};

    test_log_name_functions();
    cr_assert_eq(trace_open(test_path("recording"), &options), 0);
}

void test_record_calls(uint64_t limit)
{
    record(limit, NULL);
}

void test_filter_calls(const struct trace_function_filter *filter)
{
    record(TRACE_LIMIT_LEAST * 4, filter);
}

/* Adds the names from `root` inwards; false if it is not around. */
static bool add_path(struct trace_text *text, const struct trace_reader *reader,
                     const struct trace_entry *entry, const char *root)
{
    struct trace_entry around;

    if (!strcmp(entry->site->name, root))
        return true;
    if (!trace_reader_span(reader, entry->span, &around) ||
        !add_path(text, reader, &around, root))
        return false;
    trace_text_printf(text, "%s%s",
                      text->size && text->data[text->size - 1] != '\n' ? "/"
                                                                       : "",
                      entry->site->name);
    return true;
}

char *test_paths(struct trace_reader *reader, const char *root)
{
    struct trace_text text = {0};
    struct trace_entry entry;

    while (trace_reader_next(reader, &entry))
        if ((entry.kind == TRACE_ENTRY_SPAN ||
             entry.kind == TRACE_ENTRY_EVENT) &&
            strcmp(entry.site->name, root) &&
            add_path(&text, reader, &entry, root))
            trace_text_char(&text, '\n');
    return test_keep(text.data ? text.data : strdup(""));
}

void test_expect_paths(const char *root, const char *expected)
{
    char *paths = test_paths(test_read(), root);

    cr_expect_str_eq(paths, expected, "%s", paths);
}
