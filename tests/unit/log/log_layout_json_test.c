/* log_layout_json_test.c: writes valid JSON lines as tracing-subscriber does.
 */
#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/formats.h"

TestSuite(log_layout_json, .init = test_folder);

/* DEL is escaped like all control characters, so that no value controls the
 * terminal. */
static const struct format_deviation deviations[] = {
    {7, "\x7f", "\\u007f"},
    {0},
};

static const struct format_deviation number_deviations[] = {
    {2, "\x7f", "\\u007f"},
    {0},
};

Test(log_layout_json, matches_upstream_lines)
{
    struct log_style style = {.format = LOG_FORMAT_JSON, .time = LOG_TIME_NONE};

    cr_expect_eq(
        format_check("formats/cases.tsv", "json.expected", &style, deviations),
        8);
    cr_expect_eq(format_check("formats/numbers.tsv", "numbers-json.expected",
                              &style, number_deviations),
                 2);
}

Test(log_layout_json, matches_upstream_span_events)
{
    struct log_style style = {.format = LOG_FORMAT_JSON, FORMAT_ALL};

    cr_expect_eq(format_check("formats/cases.tsv",
                              "json-ansi-spanevents.expected", &style,
                              deviations),
                 8);
}

/* ---- Parsed lines ---- */

/* Checks that no object has a key twice. */
static void check_keys(const cJSON *object)
{
    const cJSON *item, *other;

    cJSON_ArrayForEach(item, object)
    {
        check_keys(item);
        for (other = item->next; item->string && other; other = other->next)
            cr_expect_str_neq(item->string, other->string);
    }
}

static const char *text_of(const cJSON *object, const char *key)
{
    const char *text =
        cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));

    return text ? text : "(none)";
}

static const cJSON *part(const cJSON *object, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(object, key);
}

/* Returns the only line of the recording, to be deleted. */
static cJSON *read_line(const struct log_style *style)
{
    char *line = test_lines(test_read(), "trace", style);
    const char *end;
    cJSON *object = cJSON_ParseWithOpts(line, &end, false);

    cr_assert_not_null(object, "%s", line);
    cr_expect_str_eq(end, "\n");
    cr_expect_eq(strchr(line, '\n'), end);
    check_keys(object);
    return object;
}

Test(log_layout_json, writes_every_entry_as_a_json_object)
{
    struct log_style style = {
        .format = LOG_FORMAT_JSON, FORMAT_ALL, .test = "a \"b\"\n"};

    test_record();
    test_rich();
    style.time = LOG_TIME_UTC;

    struct trace_reader *reader = test_read();
    char *lines = test_lines(reader, "trace", &style), *rest = lines, *line;
    size_t count = 0;

    while ((line = strsep(&rest, "\n")) && *line) {
        cJSON *object = cJSON_Parse(line);

        cr_assert_not_null(object, "%s", line);
        cr_expect_str_eq(text_of(object, "test"), "a \"b\"\n");
        check_keys(object);
        cJSON_Delete(object);
        count++;
    }
    cr_expect_gt(count, 10, "%zu", count);
}

Test(log_layout_json, writes_values_of_every_type)
{
    static const char *const names[] = {"i", "f",  "inf", "b",    "s",
                                        "x", "no", "big", "bytes"};
    struct trace_value values[] = {trace_i64_(INT64_MIN),
                                   trace_f32_(0.1f),
                                   trace_f64_(-1.0 / 0.0),
                                   trace_bool(true),
                                   trace_text_("\xff\n\xc3\xa9"),
                                   trace_pointer_((void *)0xbeef),
                                   trace_errno(2),
                                   trace_i128_(-7),
                                   trace_bytes("ab\xff", 3)};
    struct trace_site site = TEST_SITE(EVENT, INFO, "", "m", names, 9);
    struct log_style style = {.format = LOG_FORMAT_JSON, .time = LOG_TIME_NONE};

    test_record();
    trace_event_(&site, 9, values);

    char *line = test_lines(test_read(), "trace", &style);

    cr_expect_str_eq(
        line,
        "{\"level\":\"INFO\",\"fields\":{\"i\":-9223372036854775808,"
        "\"f\":0.1,\"inf\":null,\"b\":true,\"s\":\"\xef\xbf\xbd\\n\xc3\xa9\","
        "\"x\":\"0xbeef\",\"no\":\"No such file or directory (ENOENT)\","
        "\"big\":\"-7\",\"bytes\":\"[61 62 ff]\"},\"target\":\"m\"}\n",
        "%s", line);
}

Test(log_layout_json, writes_each_key_once)
{
    static const char *const names[] = {"message", "a", "a"};
    static const char *const span_names[] = {"name", "field.name", "z"};
    struct trace_value values[] = {trace_text_("mine"), trace_i64_(1),
                                   trace_i64_(2)};
    struct trace_value span_values[] = {trace_text_("lost"),
                                        trace_text_("kept"), trace_i64_(3)};
    struct trace_site site = TEST_SITE(EVENT, INFO, "said", "m", names, 3);
    struct trace_site span = TEST_SITE(SPAN, INFO, "s", "m", span_names, 3);
    struct log_style style = {.format = LOG_FORMAT_JSON, .time = LOG_TIME_NONE};

    test_record();

    struct trace_span_ref ref = trace_span_open_(&span, 3, span_values);

    trace_event_(&site, 3, values);
    trace_span_leave_(ref);

    cJSON *line = read_line(&style);
    const cJSON *fields = part(line, "fields");

    cr_expect_str_eq(text_of(fields, "message"), "said");
    cr_expect_str_eq(text_of(fields, "field.message"), "mine");
    cr_expect_eq(cJSON_GetNumberValue(part(fields, "a")), 2);
    cr_expect_str_eq(text_of(part(line, "span"), "name"), "s");
    cr_expect_str_eq(text_of(part(line, "span"), "field.name"), "kept");
    cr_expect_eq(cJSON_GetArraySize(part(line, "spans")), 1);
    cJSON_Delete(line);
}

Test(log_layout_json, uses_a_field_named_message_as_the_message)
{
    static const char *const names[] = {"message"};
    struct trace_value value = trace_text_("mine");
    struct trace_site site = TEST_SITE(EVENT, INFO, "", "m", names, 1);
    struct log_style style = {.format = LOG_FORMAT_JSON};

    test_record();
    trace_event_(&site, 1, &value);

    cJSON *line = read_line(&style);

    cr_expect_str_eq(text_of(part(line, "fields"), "message"), "mine");
    cr_expect_eq(strlen(text_of(line, "timestamp")), 27);
    cJSON_Delete(line);
}
