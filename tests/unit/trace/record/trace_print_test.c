/* trace_print_test.c: callbacks format at the call. */
#include "tests/support/support.h"

#include "trace/base/values.h"
#include "trace/read/reader.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <setjmp.h>
#include <string.h>

TestSuite(trace_print, .init = test_begin);

static void put_word(struct trace_text *out, const void *object)
{
    errno = 99;
    trace_text_string(out, object);
}

static const char *value_of(struct trace_reader *reader, const char *name)
{
    struct trace_entry entry;
    struct trace_values values;
    static struct trace_value value;

    cr_assert(test_find(reader, TRACE_ENTRY_EVENT, name, &entry), "%s", name);
    values = trace_values_of(&entry);
    cr_assert(trace_values_next(&values, &value));
    return value.as.text;
}

Test(trace_print, formats_an_object_and_preserves_errno)
{
    errno = 7;
    trace_event(INFO, "one", ("a", trace_display(put_word, "text")));
    cr_expect_eq(errno, 7);
    cr_expect_str_eq(value_of(test_read(), "one"), "text");
}

static void put_and_record(struct trace_text *out, const void *object)
{
    trace_event(INFO, "plain", ("b", "within"));
    trace_event(INFO, "nested", ("b", trace_display(put_word, "within")));
    trace_text_string(out, object);
}

/* A callback may record; only a second callback finds the text in use. */
Test(trace_print, drops_a_record_that_formats_within_a_callback)
{
    struct trace_reader *reader;

    trace_event(INFO, "outer", ("a", trace_display(put_and_record, "text")));
    trace_event(INFO, "after", ("a", trace_display(put_word, "again")));
    reader = test_read();
    cr_expect_str_eq(value_of(reader, "outer"), "text");
    cr_expect_str_eq(value_of(reader, "plain"), "within");
    cr_expect_str_eq(value_of(reader, "after"), "again");
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EVENT, "nested"), 0);
    cr_expect_eq(trace_reader_summary(reader).lost[TRACE_LOSS_NESTED], 1);
}

static jmp_buf away;

static void jump(struct trace_text *out, const void *object)
{
    trace_text_string(out, object);
    longjmp(away, 1);
}

__attribute__((noinline)) static void record_a_jump(void)
{
    trace_event(INFO, "abandoned", ("a", trace_display(jump, "text")));
}

Test(trace_print, formats_again_after_a_jump_out_of_a_callback)
{
    struct trace_reader *reader;

    if (!setjmp(away))
        record_a_jump();
    trace_event(INFO, "after", ("a", trace_display(put_word, "again")));
    reader = test_read();
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EVENT, "abandoned"), 0);
    cr_expect_str_eq(value_of(reader, "after"), "again");
}

static void put_much(struct trace_text *out, const void *object)
{
    for (int i = 0; i < 3 << 20; i++)
        trace_text_add(out, object, 1);
}

Test(trace_print, bounds_the_text)
{
    size_t size;

    trace_event(INFO, "large", ("a", trace_display(put_much, "x")));
    size = strlen(value_of(test_read(), "large"));
    cr_expect_gt(size, 1000);
    cr_expect_leq(size, 1 << 20);
}
