/* log_message_test.c: the message and the fields of an event. */
#include "tests/support/support.h"

#include "log/replay/entry_text.h"
#include "trace/read/reader.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(log_message, .init = test_begin);

static void expect_event(struct trace_reader *reader, const char *name,
                         const char *message, size_t fields)
{
    struct trace_text text = {0};
    struct trace_entry entry;
    struct trace_values values;
    struct trace_value value;
    size_t count = 0;

    cr_assert(test_find(reader, TRACE_ENTRY_EVENT, name, &entry), "%s", name);
    log_message_of(&entry, &text);
    cr_expect_str_eq(text.data, message);
    for (values = log_values_of(&entry); trace_values_next(&values, &value);)
        count++;
    cr_expect_eq(count, fields, "%s", name);
    trace_text_free(&text);
}

Test(log_message, formats_the_message_of_an_event)
{
    struct trace_reader *reader;

    trace_event(INFO, "named", ("a", 1), ("b", 2));
    log_info("%d of %s", 3, "4");
    reader = test_read();
    expect_event(reader, "named", "named", 2);
    expect_event(reader, "%d of %s", "3 of 4", 0);
}

Test(log_message, shows_a_signpost_s_header)
{
    trace_signpost("here", "at %d", 5);
    expect_event(test_read(), NULL, "here: at 5", 0);
}

Test(log_message, shows_the_message_of_an_activity_s_kind)
{
    struct trace_activity kernel = test_kernel(1, 2);
    struct trace_text text = {0};
    struct trace_entry entry;

    trace_device_put(&kernel);
    cr_assert(test_find(test_read(), TRACE_ENTRY_DEVICE, NULL, &entry));
    log_message_of(&entry, &text);
    cr_expect_str_eq(text.data, "Executing kernel");
    trace_text_free(&text);
}
