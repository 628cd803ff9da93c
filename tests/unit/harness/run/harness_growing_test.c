/* harness_growing_test.c: blocks of a recording that grows. */
#include "tests/support/support.h"

#include "harness/run/page/growing.h"
#include "harness/run/page/recorded.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "tests/support/page.h"

TestSuite(harness_growing, .init = test_folder, .timeout = 120);

static struct trace_reader *reader;
static struct test_log_growing *growing;

static void begin(void)
{
    test_record();
    reader = trace_reader_follow(test_path("recording"));
    cr_assert(reader);
    growing = test_log_growing_new(reader, "info");
    cr_assert(growing);
}

static void end(void)
{
    trace_close();
    test_log_growing_free(growing);
    trace_reader_close(reader);
}

/* Looks, and reads the next block. */
static struct page_block next_block(void)
{
    struct trace_text text = {0};

    cr_assert_geq(trace_reader_look(reader, UINT64_MAX), 0);
    test_log_growing_add(growing);
    test_log_growing_put(&text, "\"name\":\"a/b\",", growing);
    cr_assert_not(text.failed);
    return page_decode(test_keep(text.data), text.size);
}

static int64_t slice(const struct page_block *block, const char *column,
                     size_t row)
{
    return page_number(block, "slices", column, row);
}

Test(harness_growing, ends_slices_that_were_open)
{
    struct page_block one, two, three;

    begin();
    {
        trace_span(INFO, "outer", ("n", 1));
        one = next_block();
        {
            trace_span(INFO, "inner");
        }
        two = next_block();
    }
    three = next_block();
    cr_assert_eq(page_rows(&one, "slices"), 1);
    cr_expect_eq(slice(&one, "state", 0), 1);
    cr_expect_eq(slice(&one, "fields", 0), 1);
    cr_assert_eq(page_rows(&two, "slices"), 1);
    cr_expect_str_eq(page_text(&two, "slices", "name", 0), "inner");
    cr_expect_eq(slice(&two, "parent", 0), 1);
    cr_expect_eq(slice(&two, "depth", 0), 1);
    cr_expect_eq(slice(&two, "state", 0), 0);
    cr_expect_eq(page_rows(&two, "ended"), 0);
    cr_assert_eq(page_rows(&three, "ended"), 1);
    cr_expect_eq(page_number(&three, "ended", "row", 0), 0);
    cr_expect_gt(page_number(&three, "ended", "duration", 0),
                 slice(&two, "duration", 0));
    cr_expect_eq(page_number(&three, "ended", "fields", 0), 0);
    end();
}

Test(harness_growing, sends_sites_and_tracks_once)
{
    struct page_block block;

    begin();
    for (int i = 0; i < 3; i++) {
        trace_span(INFO, "step");
        trace_event(INFO, "event", ("i", i));
        block = next_block();
        cr_expect_eq(page_rows(&block, "sites"), i ? 0 : 2);
        cr_expect_eq(page_rows(&block, "tracks"), i ? 0 : 1);
        cr_expect_str_eq(page_text(&block, "slices", "name", 0), "step");
        cr_expect_eq(page_number(&block, "lines", "slice", 0), i + 1);
        cr_expect_eq(page_number(&block, "lines", "shown", 0), 1);
        cr_expect_eq(page_number(&block, "slices", "site", 0), 0);
        cr_expect_eq(page_number(&block, "lines", "site", 0), 1);
    }
    end();
}

Test(harness_growing, sends_fields_that_were_recorded_late)
{
    struct page_block block;

    begin();
    {
        struct trace_span_ref span =
            trace_span_begin(INFO, "job", ("n", trace_empty()), ("m", 1));

        next_block();
        trace_record(span, ("n", 7));
        trace_span_end(span);
    }
    block = next_block();
    cr_assert_eq(page_rows(&block, "ended"), 1);
    cr_assert_eq(page_number(&block, "ended", "fields", 0), 2);
    cr_assert_eq(page_find(&block, "ended_fields", "name", "m"), 0);
    cr_assert_eq(page_find(&block, "ended_fields", "name", "n"), 1);
    cr_expect_str_eq(page_text(&block, "ended_fields", "value", 1), "7");
    end();
}

/* Adds up what blocks have; `name` is of all slices. */
struct sums {
    size_t slices, summed, ended, lines, cut;
};

static void add(struct sums *sums, const struct page_block *block)
{
    size_t rows = page_rows(block, "slices"), field = 0;

    for (size_t i = 0; i < rows; i++) {
        bool sum = !strcmp(page_text(block, "slices", "name", i), "step …");

        if (sum)
            sums->summed += strtoul(
                page_text(block, "slice_fields", "value", field), NULL, 10);
        field += (size_t)slice(block, "fields", i);
        sums->slices += !sum;
    }
    sums->ended += page_rows(block, "ended");
    sums->lines += page_rows(block, "lines");
    sums->cut = (size_t)cJSON_GetObjectItem(block->json, "lines_cut")->valueint;
}

Test(harness_growing, loses_no_span_and_no_line_that_it_does_not_count)
{
    enum { BLOCKS = 10, STEPS = 40000, LINES = 7000 };
    struct page_block block;
    struct sums sums = {0};

    begin();
    for (int i = 0; i < BLOCKS; i++) {
        for (int k = 0; k < STEPS; k++) {
            trace_span(INFO, "step");
        }
        for (int k = 0; k < LINES; k++)
            trace_event(INFO, "event");
        block = next_block();
        add(&sums, &block);
    }
    cr_expect_eq(sums.slices + sums.summed, BLOCKS * STEPS);
    cr_expect_gt(sums.summed, sums.slices);
    cr_expect_eq(sums.lines + sums.cut, BLOCKS * LINES);
    cr_expect_eq(sums.lines, LINES + (BLOCKS - 1) * 5000);
    end();
}

/* The blocks have the same rows as the whole recording. */
Test(harness_growing, adds_up_to_the_whole_recording)
{
    enum { BLOCKS = 40 };
    struct test_log_counts counts;
    struct trace_text text = {0};
    struct page_block block, whole;
    size_t slices = 0, lines = 0;
    struct {
        int64_t start, depth, parent;
    } seen[BLOCKS * 3];

    begin();
    for (int i = 0; i < BLOCKS; i++) {
        trace_span(INFO, "outer", (i));
        trace_span(DEBUG, "middle");
        trace_event(INFO, "event", (i));
        if (i % 3)
            trace_event(TRACE, "hidden");
        block = next_block();
        for (size_t row = 0; row < page_rows(&block, "slices"); row++) {
            seen[slices].start = slice(&block, "start", row);
            seen[slices].depth = slice(&block, "depth", row);
            seen[slices++].parent = slice(&block, "parent", row);
        }
        lines += page_rows(&block, "lines");
    }
    end();
    reader = test_read();
    cr_assert_eq(test_log_recorded_put(&text, "", reader, "info", 0, &counts),
                 0);
    whole = page_decode(test_keep(text.data), text.size);
    cr_assert_eq(page_rows(&whole, "slices"), slices);
    cr_expect_eq(page_rows(&whole, "lines"), lines);
    for (size_t row = 0; row < slices; row++) {
        cr_expect_eq(slice(&whole, "depth", row), seen[row].depth);
        cr_expect_eq(slice(&whole, "parent", row), seen[row].parent);
        cr_expect_leq(llabs(slice(&whole, "start", row) - seen[row].start),
                      100000, "clocks are measured anew");
    }
}

/* Makes blocks of a recording that changes at random places meanwhile. */
static void grow_damaged(const char *bytes, size_t size)
{
    int fd = memfd_create("damaged", MFD_CLOEXEC);
    char path[64];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    cr_assert_eq(write(fd, bytes, size), (ssize_t)size);
    reader = trace_reader_follow(path);
    growing = reader ? test_log_growing_new(reader, "info") : NULL;
    for (int i = 0; growing && i < 10; i++) {
        uint32_t noise = test_random() >> test_below(32);
        off_t at = (off_t)test_below((uint32_t)size) & ~INT64_C(3);
        struct trace_text text = {0};

        cr_assert_eq(pwrite(fd, &noise, sizeof(noise), at), sizeof(noise));
        if (trace_reader_look(reader, UINT64_MAX) >= 0)
            test_log_growing_add(growing);
        test_log_growing_put(&text, "", growing);
        trace_text_free(&text);
    }
    close(fd);
    test_log_growing_free(growing);
    trace_reader_close(reader);
}

Test(harness_growing, survives_any_bytes)
{
    size_t size;
    char *bytes;

    test_record();
    test_rich();
    trace_close();
    bytes = test_load(test_path("recording"), &size);
    test_seed(11);
    for (int i = 0; i < 300; i++)
        grow_damaged(bytes, size);
}

Test(harness_growing, survives_a_lack_of_memory)
{
    if (!test_can_fail_memory())
        cr_skip("allocations cannot be made to fail\n");
    for (size_t nth = 1, calls = nth; calls >= nth; nth++) {
        struct trace_text text = {0};

        begin();
        {
            trace_span(INFO, "outer", ("n", 1));
            trace_event(INFO, "event");
        }
        test_fail_memory(nth, true);
        if (trace_reader_look(reader, UINT64_MAX) >= 0)
            test_log_growing_add(growing);
        test_log_growing_put(&text, "", growing);
        calls = test_fail_memory(0, true);
        trace_text_free(&text);
        end();
        cr_assert_lt(nth, 10000);
    }
}
