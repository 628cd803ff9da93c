/* log_line_parts_test.c: the parts of lines that the layouts share. */
#include <criterion/criterion.h>
#include <string.h>

#include "tests/support/support.h"

#include "log/lines/layout.h"
#include "log/replay/replay.h"
#include "trace/base/text.h"
#include "trace/read/reader.h"

TestSuite(log_line_parts, .init = test_folder);

static struct trace_text out;

static const struct trace_site site =
    TEST_SITE(EVENT, WARN, "evicted", "kv::store", NULL, 0);

static void expect_text(const char *expected)
{
    cr_expect_str_eq(out.data ? out.data : "", expected);
    trace_text_free(&out);
}

Test(log_line_parts, styles_text_and_escapes_it)
{
    log_styled(&out, false, LOG_BOLD, "a\x1b");
    expect_text("a\\x1b");
    log_styled(&out, true, LOG_BOLD, "a\x1b");
    expect_text("\033[1ma\\x1b\033[0m");
}

Test(log_line_parts, pads_levels_to_one_width)
{
    struct trace_site levels = site;
    struct log_parts parts = {.site = &levels};

    cr_expect_str_eq(log_level_text(&parts), " WARN");
    levels.level = TRACE_LEVEL_ERROR;
    cr_expect_str_eq(log_level_text(&parts), "ERROR");
    levels.level = 77; /* of a damaged recording */
    cr_expect_str_eq(log_level_text(&parts), "  OFF");
}

Test(log_line_parts, prints_the_uptime)
{
    struct log_style style = {.time = LOG_TIME_UPTIME};
    struct log_parts parts = {.style = &style, .time = 12000000345};

    log_put_time(&parts, &out);
    expect_text("  12.000000345s ");
    style.color = true;
    log_put_time(&parts, &out);
    expect_text("\033[2m  12.000000345s\033[0m ");
    style.time = LOG_TIME_NONE;
    log_put_time(&parts, &out);
    expect_text("");
}

Test(log_line_parts, prints_the_time_since_the_test_began)
{
    struct log_style style = {.time = LOG_TIME_RELATIVE};
    struct log_parts parts = {.style = &style};
    struct trace_reader *reader;
    uint64_t began;

    test_record();
    parts.reader = reader = test_read();
    began = trace_reader_began(reader);
    parts.time = began + 1234567;
    log_put_time(&parts, &out);
    expect_text("    +1.234ms ");
    parts.time = began + UINT64_C(123456789012345);
    log_put_time(&parts, &out);
    expect_text("+123456789.012ms ");
    style.format = LOG_FORMAT_JSON;
    parts.time = began;
    log_put_time(&parts, &out);
    expect_text("+0.000ms ");
}

/* The date is formatted once a second: it must follow the time both ways. */
Test(log_line_parts, prints_the_date_of_each_second)
{
    struct log_style style = {.time = LOG_TIME_UTC};
    struct log_memory memory = {.second = 0};
    struct log_parts parts = {.style = &style, .memory = &memory};
    struct trace_reader *reader;

    test_record();
    parts.reader = reader = test_read();

    uint64_t wall = trace_reader_summary(reader).origin.wall;
    static const uint64_t times[] = {0, 500000000, 1000000000, 86400000000000,
                                     0};

    for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
        struct trace_text expected = {0};

        parts.time = times[i];
        trace_text_moment(&expected, wall + times[i]);
        log_put_time(&parts, &out);
        trace_text_string(&expected, " ");
        expect_text(expected.data);
        trace_text_free(&expected);
    }
}

Test(log_line_parts, aligns_names_of_threads_after_processes)
{
    struct log_style style = {.time = LOG_TIME_NONE,
                              .details = LOG_DETAIL_THREAD_NAME};
    struct log_memory memory = {.thread_width = 0};
    struct trace_thread thread = {.pid = 5, .tid = 7, .name = "worker"};
    struct log_parts parts = {
        .style = &style, .memory = &memory, .site = &site, .thread = &thread};

    log_put_head(&parts, &out);
    expect_text(" WARN worker ");
    thread.name = "io";
    log_put_head(&parts, &out);
    expect_text(" WARN     io ");
    thread.name = "";
    log_put_head(&parts, &out);
    expect_text(" WARN ThreadId(07) ");
    style.details |= LOG_DETAIL_THREAD_ID;
    thread.name = "io";
    log_put_head(&parts, &out);
    expect_text(" WARN     io ThreadId(07) ");
    style.details = LOG_DETAIL_PID;
    log_put_head(&parts, &out);
    expect_text(" WARN ProcessId(5) ");
}

Test(log_line_parts, prints_file_and_line_on_demand)
{
    struct log_style style = {.details = 0};
    struct log_parts parts = {.style = &style, .site = &site};
    struct trace_site nowhere = site;

    log_put_place(&parts, &out, false);
    expect_text("kv::store: ");
    style.details = LOG_DETAIL_FILE | LOG_DETAIL_LINE;
    log_put_place(&parts, &out, false);
    expect_text("kv::store: src/lib.rs:42: ");
    style.details = LOG_DETAIL_LINE;
    log_put_place(&parts, &out, false);
    expect_text("kv::store: 42: ");
    style.color = true;
    log_put_place(&parts, &out, true);
    expect_text("\033[2mkv::store\033[0m\033[2m:\033[0m "
                "\033[2m42\033[0m\033[2m:\033[0m ");
    style.color = false;
    nowhere.file = "";
    parts.site = &nowhere;
    log_put_place(&parts, &out, false);
    expect_text("kv::store: ");
}

Test(log_line_parts, prints_the_message_before_fields)
{
    struct log_style style = {.color = false};
    struct trace_field fields[] = {
        {.name = "n", .value = trace_u64_(3)},
        {.name = "message", .value = trace_text_("again")},
        {.name = "message", .value = trace_u64_(5)},
    };
    struct log_parts parts = {.style = &style,
                              .message = "evicted",
                              .message_size = 7,
                              .fields = fields,
                              .field_count = 3};

    log_put_event(&parts, &out);
    expect_text("evicted n=3 again message=5");
    parts.message_size = 0;
    parts.field_count = 1;
    log_put_event(&parts, &out);
    expect_text("n=3");
}
