/* log_pattern_test.c: matches field values against the patterns of directives.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/support.h"

#include "log/filter/filter.h"

#define TEXT(text)   trace_string(text, sizeof(text) - 1)
#define WIDE(hi, lo) trace_u128_((trace_u128_t)(hi) << 64 | (lo))
#define BELOW(hi, lo)                                                          \
    trace_i128_(-(trace_i128_t)((trace_u128_t)(hi) << 64 | (lo)))

static struct trace_value display(const char *text)
{
    struct trace_value value = trace_string(text, strlen(text));

    value.type = TRACE_TYPE_DISPLAY;
    return value;
}

/* Parses "k..." as the field of a directive for spans or events. */
static struct log_filter *parse_field(const char *field, bool of_span)
{
    struct trace_text text = {0}, complaints = {0};
    struct log_filter *filter;

    trace_text_printf(&text, of_span ? "[s{k%s}]" : "{k%s}", field);
    filter = log_filter_parse(text.data, NULL, "LOG", &complaints);
    if (filter && filter->count != 1) {
        log_filter_free(filter);
        filter = NULL;
    }
    trace_text_free(&text);
    trace_text_free(&complaints);
    return filter;
}

static bool matches_as(const char *field, bool of_span,
                       struct trace_value value)
{
    struct log_filter *filter = parse_field(field, of_span);
    bool matches;

    cr_assert_not_null(filter, "k%s", field);
    cr_assert_eq(filter->directives[0].field_count, 1, "k%s", field);
    matches = log_pattern_matches(&filter->directives[0].fields[0], &value);
    log_filter_free(filter);
    return matches;
}

static bool span_matches(const char *field, struct trace_value value)
{
    return matches_as(field, true, value);
}

static bool event_matches(const char *field, struct trace_value value)
{
    return matches_as(field, false, value);
}

static bool parses(const char *field, bool of_span)
{
    struct log_filter *filter = parse_field(field, of_span);
    bool there = filter != NULL;

    log_filter_free(filter);
    return there;
}

struct row {
    const char *field;
    struct trace_value value;
    bool matches;
};

static void check(const struct row *rows, size_t count, bool spans, bool events)
{
    for (size_t i = 0; i < count; i++) {
        if (spans)
            cr_expect_eq(span_matches(rows[i].field, rows[i].value),
                         rows[i].matches, "row %zu, [s{k%s}]", i,
                         rows[i].field);
        if (events)
            cr_expect_eq(event_matches(rows[i].field, rows[i].value),
                         rows[i].matches, "row %zu, {k%s}", i, rows[i].field);
    }
}

#define COUNT(rows)        (sizeof(rows) / sizeof(*(rows)))
#define CHECK_SPANS(rows)  check(rows, COUNT(rows), true, false)
#define CHECK_EVENTS(rows) check(rows, COUNT(rows), false, true)
#define CHECK_BOTH(rows)   check(rows, COUNT(rows), true, true)

/* ---- "=" in a span, as in EnvFilter ---- */

Test(log_pattern, matches_a_bool_only_with_a_bool)
{
    const struct row rows[] = {
        {"=true", trace_bool(true), true},
        {"=true", trace_bool(false), false},
        {"=false", trace_bool(false), true},
        {"=true", TEXT("true"), false},
        {"=true", display("true"), false},
        {"=true", trace_i64_(1), false},
        {"=false", trace_u64_(0), false},
        {"=True", trace_bool(true), false},
        {"=True", TEXT("True"), true},
        {"=1", trace_bool(true), false},
    };

    CHECK_SPANS(rows);
}

Test(log_pattern, matches_an_integer_only_with_64_bit_integers)
{
    const struct row rows[] = {
        {"=5", trace_u64_(5), true},
        {"=5", trace_i64_(5), true},
        {"=+5", trace_i64_(5), true},
        {"=005", trace_i64_(5), true},
        {"=5", trace_i64_(-5), false},
        {"=5", trace_f64_(5), false},
        {"=5", trace_f32_(5), false},
        {"=5", TEXT("5"), false},
        {"=5", display("5"), false},
        {"=5", WIDE(0, 5), false},
        {"=5", BELOW(0, 5), false},
        {"=5", trace_bool(true), false},
        {"=18446744073709551615", trace_u64_(UINT64_MAX), true},
        {"=18446744073709551615", trace_i64_(-1), false},
        {"=9223372036854775808", trace_i64_(INT64_MIN), false},
        {"=-5", trace_i64_(-5), true},
        {"=-5", trace_u64_((uint64_t)-5), false},
        {"=-9223372036854775808", trace_i64_(INT64_MIN), true},
        {"=-0", trace_i64_(0), true},
        {"=-0", trace_u64_(0), false},
        {"=2", trace_errno(ENOENT), true},
        {"=0x5", trace_i64_(5), false},
        {"=0x5", TEXT("0x5"), true},
    };

    CHECK_SPANS(rows);
}

Test(log_pattern, matches_a_real_with_reals_within_epsilon)
{
    const struct row rows[] = {
        {"=5.0", trace_f64_(5), true},
        {"=5.", trace_f64_(5), true},
        {"=.5", trace_f64_(0.5), true},
        {"=+.5e1", trace_f64_(5), true},
        {"=-1E-1", trace_f64_(-0.1), true},
        {"=5.0", trace_i64_(5), false},
        {"=5.0", TEXT("5.0"), false},
        {"=0.0", trace_f64_(DBL_EPSILON / 2), true},
        {"=0.0", trace_f64_(DBL_EPSILON), false},
        {"=1e300", trace_f64_(nextafter(1e300, 0)), false},
        {"=0.5", trace_f32_(0.5f), true},
        {"=0.1", trace_f32_(0.1f), false},
        {"=inf", trace_f64_(INFINITY), false},
        {"=-Infinity", trace_f64_(-INFINITY), false},
        {"=nan", trace_f64_(NAN), true},
        {"=-NaN", trace_f32_(NAN), true},
        {"=nan", trace_f64_(1), false},
        {"=nan", TEXT("nan"), false},
        {"=18446744073709551616", trace_f64_(0x1p64), true},
        {"=-9223372036854775809", trace_f64_(-0x1p63), true},
    };

    CHECK_SPANS(rows);
}

/* Rust does not parse these as numbers, so they are expressions. */
Test(log_pattern, parses_as_expressions_what_rust_rejects_as_numbers)
{
    static const char *const texts[] = {
        "1_000", "1e",   "e5",  ".",    "0x10",
        "0x1p3", "1.5f", "1 2", "inf1", "nan0",
    };

    for (size_t i = 0; i < COUNT(texts); i++) {
        char field[32];
        size_t size = strlen(texts[i]);

        snprintf(field, sizeof(field), "=%s", texts[i]);
        cr_expect(span_matches(field, trace_string(texts[i], size)), "%s",
                  field);
    }
}

Test(log_pattern, matches_an_expression_with_text_and_formatted_values)
{
    const struct row rows[] = {
        {"=bob", TEXT("bob"), true},
        {"=bob", display("bob"), true},
        {"=\"bob\"", TEXT("bob"), false},
        {"=\"bob\"", display("\"bob\""), true},
        {"=.*", trace_i64_(5), false},
        {"=.*", trace_u64_(5), false},
        {"=.*", trace_f64_(5), false},
        {"=.*", trace_f32_(5), false},
        {"=.*", trace_bool(true), false},
        {"=.*", WIDE(1, 0), true},
        {"=1844.*16", WIDE(1, 0), true},
        {"=-1844.*16", BELOW(1, 0), true},
        {"=0x2a", trace_pointer_((void *)42), true},
        {"=.61 62.", trace_bytes("ab", 2), true},
        {"=ENOENT", trace_errno(ENOENT), true},
        {"=NOENT", trace_errno(ENOENT), true},
        {"=ENO", trace_errno(ENOENT), false},
        {"=No such.*", trace_errno(ENOENT), true},
        {"=.*", trace_empty(), false},
        {"=a=b", TEXT("a"), true},
        {"=x.y=1", TEXT("x?y"), true},
        {"= bob ", TEXT("bob"), true},
    };

    CHECK_SPANS(rows);
}

/* The first match must end where the value ends. */
Test(log_pattern, requires_an_expression_to_match_to_the_end)
{
    const struct row rows[] = {
        {"=b", TEXT("ab"), true},        {"=b", TEXT("bob"), false},
        {"=ob", TEXT("bob"), true},      {"=bo", TEXT("bob"), false},
        {"=a|ab", TEXT("ab"), false},    {"=ab|a", TEXT("ab"), true},
        {"=a+?", TEXT("baaa"), false},   {"=a+", TEXT("baaa"), true},
        {"=.*", TEXT("a\nb"), false},    {"=.*", TEXT("a\rb"), true},
        {"=(?s).*", TEXT("a\nb"), true}, {"=", TEXT(""), true},
        {"=", TEXT("a"), false},         {"=(?i)BOB", TEXT("bob"), true},
        {"=^b", TEXT("b"), true},        {"=^b", TEXT("ab"), false},
        {"=b$", TEXT("ab"), true},       {"=b$", TEXT("b\n"), false},
        {"=b\\n$", TEXT("b\n"), true},   {"=a.c", TEXT("a\0c"), true},
        {"=c", TEXT("a\0c"), true},      {"=a", TEXT("a\0c"), false},
    };

    CHECK_SPANS(rows);
}

/* ---- Comparisons ---- */

Test(log_pattern, compares_integers)
{
    const struct row rows[] = {
        {"<6", trace_i64_(5), true},
        {"<5", trace_i64_(5), false},
        {"<=5", trace_i64_(5), true},
        {">4", trace_i64_(5), true},
        {">5", trace_i64_(5), false},
        {">=5", trace_i64_(5), true},
        {">=6", trace_i64_(5), false},
        {"!=6", trace_i64_(5), true},
        {"!=5", trace_i64_(5), false},
        {">-1", trace_u64_(0), true},
        {"<-1", trace_i64_(INT64_MIN), true},
        {"<0", trace_u64_(UINT64_MAX), false},
        {">9223372036854775807", trace_u64_(UINT64_MAX), true},
        {">=18446744073709551615", trace_u64_(UINT64_MAX), true},
        {"<18446744073709551616", trace_u64_(UINT64_MAX), true},
        {"!=18446744073709551616", trace_u64_(UINT64_MAX), true},
        {">-9223372036854775809", trace_i64_(INT64_MIN), true},
        {"<=-9223372036854775808", trace_i64_(INT64_MIN), true},
        {">9007199254740992", trace_i64_(9007199254740993), true},
        {"<5.5", trace_i64_(5), true},
        {">4.5", trace_u64_(5), true},
        {">=5.0", trace_u64_(5), true},
        {"<inf", trace_u64_(UINT64_MAX), true},
        {"<nan", trace_i64_(5), false},
        {">=nan", trace_i64_(5), false},
        {"!=nan", trace_i64_(5), true},
        {">=0x10", trace_i64_(16), true},
        {"<0x10", trace_i64_(16), false},
        {">=0", trace_pointer_(NULL), true},
        {"> 4", trace_i64_(5), true},
    };

    CHECK_BOTH(rows);
}

Test(log_pattern, compares_128_bits_exactly)
{
    const struct row rows[] = {
        {">18446744073709551615", WIDE(1, 0), true},
        {">18446744073709551616", WIDE(1, 0), false},
        {">=18446744073709551616", WIDE(1, 0), true},
        {"<18446744073709551617", WIDE(1, 0), true},
        {"!=18446744073709551617", WIDE(1, 0), true},
        {">=340282366920938463463374607431768211455",
         WIDE(UINT64_MAX, UINT64_MAX), true},
        {"<=340282366920938463463374607431768211454",
         WIDE(UINT64_MAX, UINT64_MAX), false},
        {"<0", BELOW(1, 0), true},
        {"<-18446744073709551615", BELOW(1, 0), true},
        {"<-18446744073709551616", BELOW(1, 0), false},
        {">-18446744073709551617", BELOW(1, 0), true},
        {"<99999999999999999999", trace_u64_(5), true},
        {">-99999999999999999999", trace_i64_(5), true},
        {"<=-00099999999999999999999", trace_i64_(5), false},
        {"<=7", WIDE(0, 7), true},
        {"<1e30", WIDE(1, 0), true},
    };
    const struct row ids[] = {
        {"=338953138925153547590470800371487866881",
         WIDE(0xff00000000000000, 1), true},
        {"=338953138925153547590470800371487866880",
         WIDE(0xff00000000000000, 1), false},
        {"=18446744073709551616", WIDE(1, 0), true},
        {"=-18446744073709551616", BELOW(1, 0), true},
    };

    CHECK_BOTH(rows);
    CHECK_EVENTS(ids);
}

Test(log_pattern, compares_reals)
{
    const struct row rows[] = {
        {"<0.2", trace_f64_(0.1), true},
        {">=0.1", trace_f64_(0.1), true},
        {">0.1", trace_f64_(0.1), false},
        {"!=0.1", trace_f64_(0.1), false},
        {">=0.1", trace_f32_(0.1f), true},
        {">0.1", trace_f32_(0.1f), false},
        {"<=0.1", trace_f32_(0.1f), true},
        {">1e38", trace_f32_(FLT_MAX), true},
        {">4", trace_f64_(4.5), true},
        {"<5", trace_f64_(4.5), true},
        {">1e308", trace_f64_(INFINITY), true},
        {"<-1e308", trace_f64_(-INFINITY), true},
        {">=inf", trace_f64_(INFINITY), true},
        {"<5", trace_f64_(NAN), false},
        {">=5", trace_f64_(NAN), false},
        {"!=5", trace_f64_(NAN), true},
        {"!=nan", trace_f64_(NAN), false},
        {"<nan", trace_f64_(NAN), false},
        {"<=0", trace_f64_(-0.0), true},
    };
    const struct row equal[] = {
        {"=0.1", trace_f32_(0.1f), true},
        {"=0.1", trace_f64_(0.1), true},
        {"=5", trace_f64_(5), true},
        {"=5.0", trace_i64_(5), true},
        {"=inf", trace_f64_(INFINITY), true},
        {"=inf", trace_f64_(-INFINITY), false},
        {"=nan", trace_f64_(NAN), true},
        {"=nan", trace_f64_(1), false},
        {"=0.1", trace_f64_(nextafter(0.1, 1)), false},
    };

    CHECK_BOTH(rows);
    CHECK_EVENTS(equal);
}

/* In C, a truth value is as often an int as a bool. */
Test(log_pattern, compares_booleans_with_numbers)
{
    const struct row rows[] = {
        {"!=true", trace_bool(false), true},
        {"!=true", trace_i64_(0), true},
        {"!=true", trace_i64_(2), false},
        {"!=1", trace_bool(true), false},
        {">0", trace_bool(true), true},
        {">0", trace_bool(false), false},
        {">true", trace_f64_(2), false},
        {">=true", trace_f64_(1), false},
        {">false", WIDE(1, 0), false},
        {"<true", trace_bool(false), false},
        {"!=true", TEXT("yes"), true},
    };
    const struct row equal[] = {
        {"=true", trace_bool(true), true}, {"=true", trace_bool(false), false},
        {"=true", trace_i64_(1), true},    {"=true", trace_u64_(0), false},
        {"=false", trace_i64_(0), true},   {"=1", trace_bool(true), true},
        {"=0", trace_bool(false), true},   {"=0", trace_bool(true), false},
        {"=true", TEXT("true"), true},     {"=true", display("true"), true},
        {"=true", trace_f64_(1), false},   {"=TRUE", trace_bool(true), false},
    };

    CHECK_BOTH(rows);
    CHECK_EVENTS(equal);
}

Test(log_pattern, compares_text_by_its_bytes)
{
    const struct row rows[] = {
        {"!=bob", TEXT("bob"), false}, {"!=bob", TEXT("bobby"), true},
        {"<bobby", TEXT("bob"), true}, {"<bob", TEXT("bobby"), false},
        {">bob", TEXT("bobby"), true}, {">=bob", TEXT("bob"), true},
        {"<bob", TEXT("Bob"), true},   {">z", TEXT("\xc3\xa9"), true},
        {">a", TEXT("a\0"), true},     {"!=a", TEXT("a\0b"), true},
        {"!=", TEXT(""), false},       {"!=", TEXT("a"), true},
        {"<5", TEXT("4"), false},      {">5", TEXT("6"), false},
        {"!=5", TEXT("5"), false},     {"<\"5\"", TEXT("4"), true},
        {">\"5\"", TEXT("6"), true},   {"<a", trace_i64_(5), false},
        {">a", trace_i64_(5), false},  {"!=a", trace_i64_(5), true},
        {"!=a", trace_empty(), false},
    };
    const struct row equal[] = {
        {"=bob", TEXT("bob"), true},
        {"=bob", display("bob"), true},
        {"=bob", TEXT("bobby"), false},
        {"=bo.", TEXT("bob"), false},
        {"=\"bob\"", TEXT("bob"), true},
        {"=\"bob\"", TEXT("\"bob\""), false},
        {"=", TEXT(""), true},
        {"=\"\"", TEXT(""), true},
        {"=", TEXT("a"), false},
        {"=5", TEXT("5"), true},
        {"=\"5\"", trace_i64_(5), true},
        {"=\"5\"", trace_f64_(5), false},
        {"=[61 62]", trace_bytes("ab", 2), true},
        {"=[61]", trace_bytes("ab", 2), false},
        {"=", trace_empty(), false},
    };

    CHECK_BOTH(rows);
    CHECK_EVENTS(equal);
}

Test(log_pattern, removes_quotes_and_escapes)
{
    const struct row rows[] = {
        {"=\"a,b\"", TEXT("a,b"), true},
        {"=\"a}b\"", TEXT("a}b"), true},
        {"=\"a=b\"", TEXT("a=b"), true},
        {"=\" a \"", TEXT(" a "), true},
        {"= \"a\" ", TEXT("a"), true},
        {"=\"say \\\"hi\\\"\"", TEXT("say \"hi\""), true},
        {"=\"a\\\\\"", TEXT("a\\"), true},
        {"=\"a\\b\"", TEXT("a\\b"), true},
        {"=\"\\\\\\\"\"", TEXT("\\\""), true},
        {"=\"\\\"\"", TEXT("\""), true},
        {"=a\"b", TEXT("a\"b"), true},
        {"=say \"hi\"", TEXT("say \"hi\""), true},
        {"=a=b", TEXT("a=b"), true},
        {"~=\"^a,b$\"", TEXT("a,b"), true},
        {"~=\"^a{2}$\"", TEXT("aa"), true},
        {"~=\"^\\\"\\d\\\"$\"", TEXT("\"5\""), true},
        {"~=\"^\\\\$\"", TEXT("\\"), true},
    };

    CHECK_EVENTS(rows);
}

Test(log_pattern, matches_errors_by_number_and_name)
{
    const struct row rows[] = {
        {"!=ENOENT", trace_errno(ENOENT), false},
        {"!=ENOENT", trace_errno(EPERM), true},
        {"!=2", trace_errno(ENOENT), false},
        {">1", trace_errno(ENOENT), true},
        {"<ENOENT", trace_errno(EPERM), false},
        {"~=^No such", trace_errno(ENOENT), true},
        {"~=ENO", trace_errno(ENOENT), true},
        {"!=ENOENT", trace_errno(123456), true},
        {"!=ENOENT", trace_i64_(ENOENT), true},
    };
    const struct row equal[] = {
        {"=ENOENT", trace_errno(ENOENT), true},
        {"=ENOENT", trace_errno(EPERM), false},
        {"=2", trace_errno(ENOENT), true},
        {"=\"No such file or directory (ENOENT)\"", trace_errno(ENOENT), true},
        {"=ENOEN", trace_errno(ENOENT), false},
        {"=0x2a", trace_pointer_((void *)42), true},
        {"=42", trace_pointer_((void *)42), true},
    };

    CHECK_BOTH(rows);
    CHECK_EVENTS(equal);
}

Test(log_pattern, matches_any_value_with_a_bare_field_name)
{
    cr_expect(event_matches("", TEXT("")));
    cr_expect(event_matches("", trace_bool(false)));
    cr_expect_not(event_matches("", trace_empty()));
}

/* ---- Regular expressions ---- */

Test(log_pattern, searches_the_formatted_value)
{
    const struct row rows[] = {
        {"~=o", TEXT("bob"), true},
        {"~=^bob$", TEXT("bob"), true},
        {"~=^b$", TEXT("bob"), false},
        {"~=b$", TEXT("b\n"), false},
        {"~=a.b", TEXT("a\nb"), false},
        {"~=a.b", TEXT("a\rb"), true},
        {"~=(?m)^b", TEXT("a\nb"), true},
        {"~=^5$", trace_i64_(5), true},
        {"~=^0\\.1$", trace_f32_(0.1f), true},
        {"~=^true$", trace_bool(true), true},
        {"~=61 62", trace_bytes("ab", 2), true},
        {"~=^1844.*16$", WIDE(1, 0), true},
        {"~=", TEXT("a"), true},
        {"~=5", trace_empty(), false},
    };

    CHECK_BOTH(rows);
}

Test(log_pattern, supports_unicode_in_expressions)
{
    const struct row rows[] = {
        {"~=^.$", TEXT("\xc3\xa9"), true},
        {"~=^\\w$", TEXT("\xc3\xa9"), true},
        {"~=(?i)^\xc3\x89$", TEXT("\xc3\xa9"), true},
        {"~=^\\d$", TEXT("\xd9\xa3"), true},
        {"~=^\\s$", TEXT("\xe3\x80\x80"), true},
        {"~=^\\pL$", TEXT("\xc3\xa9"), true},
        {"~=\\bb",
         TEXT("\xc3\xa9"
              "b"),
         false},
    };

    CHECK_BOTH(rows);
}

Test(log_pattern, searches_text_that_is_not_utf_8)
{
    const struct row rows[] = {
        {"~=b$",
         TEXT("\xff\xfe"
              "b"),
         true},
        {"~=^b", TEXT("b\xff"), true},
        {"~=a.b",
         TEXT("a\xff"
              "b"),
         false},
        {"~=ab",
         TEXT("a\xff"
              "b"),
         false},
        {"~=z", TEXT("\x80\xc3\xe2\x82"), false},
    };

    CHECK_BOTH(rows);
}

Test(log_pattern, rejects_invalid_expressions)
{
    static const char *const fields[] = {
        "~=(",  "~=[",    "~=*",    "~=\"a{2,1}\"",    "~=\\C",
        "~=\\", "~=\xff", "~=(?<n", "~=\\p{Nonsense}", "~=(?1)",
        "=(",   "=[a-",   "=+",
    };

    for (size_t i = 0; i < COUNT(fields); i++)
        cr_expect_not(parses(fields[i], true), "%s", fields[i]);
}

static struct trace_value long_text(const char *begin, const char *end)
{
    static char text[1 << 20];
    size_t size = sizeof(text);

    memset(text, 'a', size);
    memcpy(text, begin, strlen(begin));
    memcpy(text + size - strlen(end), end, strlen(end));
    return trace_string(text, size);
}

/* Without limits these take ages: by backtracking, or by searching on from
 * every position. */
Test(log_pattern, gives_up_on_catastrophic_expressions)
{
    static const char *const fields[] = {
        "~=^(a+)+$",
        "~=(a|aa)+$",
        "~=(a*)*b$",
        "~=(?:(?:(?:a?)*)*)*c",
        "~=\"(a{1,40}){1,40}c\"",
        "~=^(?:a|a|a|a|a|a)*$",
        "~=\\w+\\d",
        "~=[a-z]*\\d",
        "~=(?:\\w\\w)*\\d",
        "~=.*.*.*\\d",
        "~=(.+)\\1\\1\\d",
        "~=(?<=a)(?=a*\\d)",
    };
    struct trace_value text = long_text("", "a!");

    for (size_t i = 0; i < COUNT(fields); i++)
        cr_expect_not(event_matches(fields[i], text), "%s", fields[i]);
    cr_expect_not(span_matches("=(?:a|aa)+", text));
}

Test(log_pattern, searches_long_texts_to_the_end)
{
    const struct row rows[] = {
        {"~=done$", long_text("ready", "done"), true},
        {"~=ready.*done", long_text("ready", "done"), true},
        {"~=^ready.*done$", long_text("ready", "done"), true},
        {"~=a+d", long_text("ready", "done"), true},
        {"~=y[a-z]+e$", long_text("ready", "done"), true},
        {"~=undone", long_text("ready", "done"), false},
    };

    CHECK_BOTH(rows);
    cr_expect(span_matches("=.*done", long_text("ready", "done")));
    cr_expect(span_matches("=done", long_text("ready", "done")));
}

Test(log_pattern, matches_alternatives_along_100_kb)
{
    struct trace_value text = long_text("ab", "ba");

    text.size = 100000;
    cr_expect(event_matches("~=^(a|b)+$", text));
    cr_expect(span_matches("=(a|b)+", text));
}

static char *repeated(const char *text, size_t times)
{
    struct trace_text all = {0};

    trace_text_string(&all, "~=\"");
    while (times--)
        trace_text_string(&all, text);
    trace_text_string(&all, "\"");
    return all.data;
}

Test(log_pattern, rejects_huge_expressions)
{
    static const char *const nested[] = {
        "~=\"((((a{1000}){1000}){1000}){1000})\"",
        "~=\"(?:(?:a{65535}){65535}){65535}\"",
        "~=\"a{65536}\"",
    };

    for (size_t i = 0; i < COUNT(nested); i++)
        cr_expect_not(parses(nested[i], false), "%s", nested[i]);
    cr_expect_not(event_matches("~=\"a{65535}\"", TEXT("aaa")));

    static const char *const many[] = {"a", "(", "(?:a|", "[a]", "a*", "(?=a)"};

    for (size_t i = 0; i < COUNT(many); i++) {
        char *field = repeated(many[i], 100000);

        cr_expect_not(parses(field, false), "%s...", many[i]);
        free(field);
    }
}

Test(log_pattern, parses_numbers_in_any_locale)
{
    test_folder();
    if (!test_decimal_comma())
        cr_skip_test("no locale with a decimal comma");
    cr_expect(span_matches("=0.5", trace_f64_(0.5)));
    cr_expect(event_matches("<0.75", trace_f64_(0.5)));
    cr_expect_not(span_matches("=0.5", TEXT("0.5")));
}

Test(log_pattern, leaves_errno_alone)
{
    errno = EBUSY;
    cr_expect_not(span_matches("=99999999999999999999", trace_i64_(5)));
    cr_expect_eq(errno, EBUSY);
}
