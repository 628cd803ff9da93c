/* trace_fields_test.c: reads the fields that a span had at a given time. */
#include "tests/support/support.h"

#include "trace/chrome/chrome.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(trace_fields, .init = test_begin);

Test(trace_fields, omits_fields_beyond_the_maximum)
{
    static char names[200][8];
    struct trace_field fields[TRACE_FIELDS_MAX];
    struct trace_entry span;
    struct trace_span_ref ref = trace_span_begin(INFO, "span", ("first", 1));

    for (int i = 0; i < 200; i++) {
        const char *name[] = {names[i]};
        struct trace_site site = TEST_SITE(FIELDS, TRACE, NULL, "m", name, 1);
        struct trace_value value = trace_i64_(i);

        snprintf(names[i], sizeof(names[i]), "f%d", i % 100);
        trace_record_(ref, &site, 1, &value);
    }

    struct trace_reader *reader = test_read();

    cr_assert(test_find(reader, TRACE_ENTRY_SPAN, "span", &span));
    cr_expect_eq(trace_reader_fields(reader, &span, UINT64_MAX, fields),
                 TRACE_FIELDS_MAX);
    cr_expect_str_eq(fields[0].name, "first");
    cr_expect_str_eq(fields[1].name, "f0");
    cr_expect_eq(fields[1].value.as.i, 100);
    cr_expect_eq(trace_reader_fields(reader, &span, span.time, fields), 1);
}

/* Returns the value of the span's only field at the time of the event, or -1,
 * and stores what the event expects. */
static int64_t value_at(const struct trace_reader *reader,
                        const struct trace_entry *event, int64_t *expected)
{
    struct trace_values values = trace_values_of(event);
    struct trace_field fields[TRACE_FIELDS_MAX];
    struct trace_value value;
    struct trace_entry span;

    cr_assert(trace_values_next(&values, &value));
    *expected = value.as.i;
    cr_assert(trace_reader_span(reader, event->span, &span));
    return trace_reader_fields(reader, &span, event->time, fields)
               ? fields[0].value.as.i
               : -1;
}

/* Records more spans than the reader caches, each with many late fields. */
static void record_some(void)
{
    struct trace_span_ref refs[40];

    for (int i = 0; i < 40; i++)
        refs[i] = trace_span_new(INFO, "span");
    for (int i = -1; i < 30; i++)
        for (int k = 0; k < 40; k++) {
            trace_span_enter(refs[k]);
            if (i >= 0)
                trace_record(refs[k], ("i", i * 100 + k));
            if (i % 7 == 0)
                trace_record(refs[k], ("i", trace_empty()));
            trace_event(INFO, "hi", ("i", i < 0 ? -1 : i * 100 + k));
        }
}

Test(trace_fields, returns_earlier_values_in_either_direction)
{
    struct trace_entry *events = malloc(31 * 40 * sizeof(*events)), entry;
    size_t count = 0;
    int64_t expected;

    record_some();

    struct trace_reader *reader = test_read();

    while (trace_reader_next(reader, &entry)) {
        if (entry.kind != TRACE_ENTRY_EVENT)
            continue;
        cr_assert_eq(value_at(reader, &entry, &expected), expected);
        events[count++] = entry;
    }
    cr_assert_eq(count, 31 * 40);
    while (count--)
        cr_assert_eq(value_at(reader, &events[count], &expected), expected);
    free(events);
}

/* Rereading all late fields for each line and each entering takes minutes. */
Test(trace_fields, reads_many_late_fields_only_once, .timeout = 60)
{
    enum { MANY = 100000 };
    struct trace_span_ref span = trace_span_new(INFO, "span");
    struct log_style style = {.time = LOG_TIME_NONE};
    FILE *null = fopen("/dev/null", "we");
    struct trace_chrome chrome;
    struct trace_reader *reader;

    for (int i = 0; i < MANY; i++) {
        trace_span_enter(span);
        trace_record(span, ("i", i));
        trace_event(INFO, "hi");
    }
    reader = test_read();
    cr_expect(strstr(test_lines(reader, "info", &style),
                     " INFO span{i=99999}: "
                     "tests::unit::trace::read::trace_fields_test: hi\n"));
    trace_chrome_begin(&chrome, null);
    cr_expect_eq(trace_chrome_add(&chrome, reader, 1, "many"), 0);
    trace_chrome_end(&chrome, NULL);
    fclose(null);
}
