/* runners_made_recording_test.c: recordings of what other tools have recorded.
 */
#include "tests/support/support.h"

#include "runners/record/made_recording.h"
#include "trace/read/reader.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TestSuite(runners_made_recording, .init = test_folder);

enum { SECOND = 1000000000 };

static struct trace_reader *write_and_read(
    struct runners_made_recording *import)
{
    struct trace_reader *reader;

    cr_assert_eq(runners_made_write(import, test_path("made"), 812, 0), 0);
    reader = trace_reader_open(test_path("made"));
    cr_assert_not_null(reader);
    return reader;
}

/* Steps to the next span. */
static bool next(struct trace_reader *reader, struct trace_entry *entry)
{
    bool more;

    while ((more = trace_reader_next(reader, entry)) &&
           entry->kind != TRACE_ENTRY_SPAN)
        ;
    return more;
}

Test(runners_made_recording, has_the_spans_of_threads)
{
    struct runners_made_recording import = {.pid = 0};
    struct trace_reader *reader;
    struct trace_entry entry, around;
    uint32_t outer, inner;

    runners_made_thread(&import, 812, 812, "main");
    outer = runners_made_begin(&import, "outer", 5 * (uint64_t)SECOND, 0);
    inner = runners_made_begin(&import, "inner", 6 * (uint64_t)SECOND, outer);
    runners_made_end(&import, inner, 7 * (uint64_t)SECOND);
    runners_made_end(&import, outer, 8 * (uint64_t)SECOND);
    runners_made_thread(&import, 812, 813, "helper");
    runners_made_begin(&import, "inner", 6 * (uint64_t)SECOND, 0);
    runners_made_meta(&import, "imported", "a test");
    reader = write_and_read(&import);
    cr_expect_str_eq(trace_reader_meta(reader, "imported"), "a test");
    cr_expect_eq(trace_reader_summary(reader).pid, 812);
    cr_expect_eq(trace_reader_summary(reader).end -
                     trace_reader_summary(reader).begin,
                 3 * (uint64_t)SECOND);
    cr_assert(next(reader, &entry));
    cr_expect_str_eq(entry.site->name, "outer");
    cr_expect_str_eq(entry.site->target, "fn");
    cr_expect_eq(entry.end - entry.time, 3 * (uint64_t)SECOND);
    cr_assert(next(reader, &entry));
    cr_expect_eq(entry.thread->tid, 812);
    cr_assert(trace_reader_span(reader, entry.span, &around));
    cr_expect_str_eq(around.site->name, "outer");
    cr_assert(next(reader, &entry));
    cr_expect_eq(entry.thread->tid, 813);
    cr_expect_eq(entry.end, UINT64_MAX, "it is open");
    cr_expect_not(next(reader, &entry));
    trace_reader_close(reader);
    runners_made_free(&import);
}

/* Spans and call sites go over chunks; each chunk begins with its thread. */
Test(runners_made_recording, has_many_chunks)
{
    struct runners_made_recording import = {.pid = 0};
    struct trace_reader *reader;
    struct trace_entry entry;
    size_t count = 0;

    for (uint32_t i = 0; i < 50000; i++) {
        char name[300];

        if (i % 10000 == 0)
            runners_made_thread(&import, 812, 812 + i, "thread");
        snprintf(name, sizeof(name), "function %u %0*u", (unsigned)i % 5000,
                 (int)(i % 200) + 1, 0U);
        runners_made_end(&import,
                         runners_made_begin(&import, name, 1000 + 2 * i, 0),
                         1001 + 2 * i);
    }
    reader = write_and_read(&import);
    for (; next(reader, &entry); count++) {
        cr_assert_eq(entry.end - entry.time, 1);
        cr_assert_eq(strncmp(entry.site->name, "function ", 9), 0);
    }
    cr_expect_eq(count, 50000);
    trace_reader_close(reader);
    runners_made_free(&import);
}

Test(runners_made_recording, cuts_names_that_do_not_fit)
{
    struct runners_made_recording import = {.pid = 0};
    struct trace_reader *reader;
    struct trace_entry entry;
    char *name = calloc(1, 1 << 20);

    memset(name, 'x', (1 << 20) - 1);
    runners_made_thread(&import, 1, 1, "");
    runners_made_begin(&import, name, 1, 0);
    runners_made_meta(&import, "long", name);
    reader = write_and_read(&import);
    cr_assert(next(reader, &entry));
    cr_expect_eq(strlen(entry.site->name), 4096);
    cr_expect_null(trace_reader_meta(reader, "long"));
    trace_reader_close(reader);
    runners_made_free(&import);
    free(name);
}

Test(runners_made_recording, replaces_no_file)
{
    struct runners_made_recording import = {.pid = 0};

    cr_assert_eq(runners_made_write(&import, test_path("made"), 1, 0), 0);
    cr_expect_eq(runners_made_write(&import, test_path("made"), 1, 0), -1);
    cr_expect_eq(runners_made_write(&import, test_path("no/made"), 1, 0), -1);
}
