/* trace_printf_test.c: deferred formatting writes what printf would. */
#include <criterion/criterion.h>
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "tests/fuzz/fuzz_format.c"
#include "tests/support/support.h"

#include "trace/base/values.h"
#include "trace/read/reader.h"

/* The formats are odd on purpose. */
#pragma GCC diagnostic ignored "-Wformat"
#pragma GCC diagnostic ignored "-Wformat-extra-args"
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
#ifndef __clang__
#    pragma GCC diagnostic ignored "-Wformat-truncation"
#    pragma GCC diagnostic ignored "-Wformat-overflow"
#endif

/* ---- What printf wrote ---- */

enum { EXPECTED_MAX = 32768 };

static struct expected {
    char *text;
    int size;
    const char *format;
    bool deferred;
} expected[EXPECTED_MAX];
static size_t expected_count;

static void expect(const char *format, bool deferred, char *text, int size)
{
    cr_assert_lt(expected_count, EXPECTED_MAX);
    cr_assert_geq(size, 0, "%s", format);
    expected[expected_count++] =
        (struct expected){text, size, format, deferred};
}

/* Formats immediately and records the same, at a call site of the caller's. */
#define FIRST(first, ...) first
#define RECORD(site, deferred, ...)                                            \
    do {                                                                       \
        char *text_ = NULL;                                                    \
                                                                               \
        errno = ENOENT;                                                        \
        int size_ = asprintf(&text_, __VA_ARGS__);                             \
        expect(FIRST(__VA_ARGS__, ), deferred, text_, size_);                  \
        errno = ENOENT;                                                        \
        trace_log_(site, __VA_ARGS__);                                         \
        cr_expect_eq(errno, ENOENT);                                           \
    } while (0)

/* LATER expects a deferred format, NOW one that is formatted at the call; each
 * twice, because the second call finds the parsed format. */
#define LATER(...) TWICE(true, __VA_ARGS__)
#define NOW(...)   TWICE(false, __VA_ARGS__)
#define TWICE(deferred, ...)                                                   \
    do {                                                                       \
        static struct trace_site site_ =                                       \
            TEST_SITE(EVENT, INFO, NULL, "m", NULL, 0);                        \
                                                                               \
        RECORD(&site_, deferred, __VA_ARGS__);                                 \
        RECORD(&site_, deferred, __VA_ARGS__);                                 \
    } while (0)

static void text_of(const struct trace_entry *entry, struct trace_text *text)
{
    struct trace_values values = trace_values_of(entry);
    struct trace_value value;

    if (entry->printf_)
        trace_format(text, entry->site->name, &values);
    else if (trace_values_next(&values, &value))
        trace_text_add(text, value.as.text, value.size);
}

static void compare_one(const struct expected *one,
                        const struct trace_entry *entry)
{
    struct trace_text text = {0};

    text_of(entry, &text);
    cr_expect_eq(entry->printf_, one->deferred, "%s", one->format);
    cr_expect(text.size == (size_t)one->size &&
                  (!one->size || !memcmp(text.data, one->text, text.size)),
              "%s: \"%s\", not \"%s\"", one->format, text.data ? text.data : "",
              one->text);
    trace_text_free(&text);
}

static void compare(void)
{
    struct trace_reader *reader = test_read();
    struct trace_entry entry;

    for (size_t i = 0; i < expected_count; i++) {
        cr_assert(trace_reader_next(reader, &entry));
        compare_one(&expected[i], &entry);
        free(expected[i].text);
    }
    cr_expect_not(trace_reader_next(reader, &entry));
    expected_count = 0;
}

TestSuite(trace_printf, .init = test_begin);

/* ---- Conversions ---- */

Test(trace_printf, formats_integers_of_every_length)
{
    LATER("plain");
    LATER("%%");
    LATER("%d%%%i", 1, -2);
    LATER("%d %i %u %o %x %X", INT32_MIN, INT32_MAX, UINT32_MAX, 8, 255, 255);
    LATER("%hhd %hhu %hhx", 300, 300, -1);
    LATER("%hd %hu %ho", 70000, 70000, -1);
    LATER("%ld %lu %lx", INT64_MIN, UINT64_MAX, UINT64_MAX);
    LATER("%lld %llu %llo", (long long)INT64_MIN, ~0ull, ~0ull);
    LATER("%jd %ju", INTMAX_MIN, UINTMAX_MAX);
    LATER("%zd %zu %td", (ssize_t)-1, SIZE_MAX, PTRDIFF_MIN);
    LATER("%qd %Ld", -1ll, 1ll);
    LATER("%c%c%c", 'a', 0, 0x1ff);
    LATER("%" PRId8 " %" PRIu64, (int8_t)-1, UINT64_MAX);
    compare();
}

Test(trace_printf, applies_flags_widths_and_precisions)
{
    LATER("[%5d][%-5d][%05d][%+d][% d][%#x][%#o]", 42, 42, 42, 42, 42, 42, 42);
    LATER("[%-+8d][%+-8d][%--8d][%0-8d][%+ d]", 1, 2, 3, 4, 5);
    LATER("[%.0d][%.d][%.3d][%8.3d][%-8.3d][%08.3d]", 0, 0, 7, 7, 7, 7);
    LATER("[%#X][%#010x][%#.0o]", 255u, 255u, 0u);
    LATER("[%3c][%-3c]", 'x', 'y');
    LATER("[%10.2s][%-10.2s][%.0s][%.s]", "abc", "abc", "abc", "abc");
    LATER("[%20s][%-20s]", "right", "left");
    LATER("[%254.254s]", "long");
    NOW("[%255.255s]", "long");
    LATER("[%20m][%-30m][%.3m]");
    LATER("[%20p][%-20p]", (void *)16, (void *)16);
    compare();
}

Test(trace_printf, takes_widths_and_precisions_from_arguments)
{
    LATER("[%*d][%*d][%-*d]", 5, 42, -5, 42, 5, 42);
    LATER("[%*d][%*.0d][%*c]", -1, 7, -1, 0, -1, 'x');
    LATER("[%.*d][%.*d][%.*d]", 3, 7, 0, 0, -1, 7);
    LATER("[%*.*f][%-*.*f]", 10, 2, 3.14159, 10, -1, 3.14159);
    LATER("[%.*s][%.*s][%.*s]", 2, "abc", 0, "abc", -1, "abc");
    LATER("[%*.*s][%*.*s][%*.*s]", 6, 2, "abc", -6, 2, "abc", -1, 0, "abc");
    LATER("[%*m][%.*m]", 40, 4);
    NOW("[%*s][%*s]", 6, "abc", -6, "abc");
    NOW("[%*.2s]", 6, "abc");
    compare();
}

Test(trace_printf, formats_floating_point)
{
    static const double numbers[] = {0.0,       -0.0, 1.5,   1e300, 5e-324,
                                     123456789, 0.1,  -1e-9, 1e16};

    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        LATER("%f %F %e %E", numbers[i], numbers[i], numbers[i], numbers[i]);
        LATER("%g %G %a %A", numbers[i], numbers[i], numbers[i], numbers[i]);
        LATER("%.0f %#.0f %+.17g %012.3e", numbers[i], numbers[i], numbers[i],
              numbers[i]);
        LATER("%lf %Lf %La %.3Lg", numbers[i], (long double)numbers[i],
              (long double)numbers[i], (long double)numbers[i]);
    }
    LATER("%f %F %g %010f %e", INFINITY, -INFINITY, NAN, INFINITY, -NAN);
    LATER("%.20Lf", 0.1L);
    NOW("%Lf %Lf %Lf %Lf %Lf", 1.0L, 2.0L, 3.0L, 4.0L, 5.0L);
    compare();
}

Test(trace_printf, formats_pointers_and_strings)
{
    char text[] = "changes";

    LATER("%p %p", (void *)0, (void *)0xabc);
    LATER("%s", text);
    text[0] = 'C';
    LATER("%s%s%s", "", "a", "\xff\n\033");
    LATER("%s", (char *)0);
    LATER("[%.6s][%.5s][%.0s][%10s]", (char *)0, (char *)0, (char *)0,
          (char *)0);
    LATER("[%.*s][%.*s]", 5, (char *)0, 6, (char *)0);
    NOW("[%.256s]", "abc");
    compare();
}

Test(trace_printf, formats_error_numbers)
{
    LATER("open: %m");
    LATER("%m %d %m %s", 5, "x");
    compare();
}

/* A sanitizer reports a read behind the precision. */
Test(trace_printf, reads_no_more_of_a_string_than_its_precision)
{
    char *bytes = malloc(4);

    cr_assert_not_null(bytes);
    memcpy(bytes, "abcd", 4);
    LATER("%.4s|%.*s|%.2s", bytes, 3, bytes, bytes);
    LATER("%*.*s|", 8, 4, bytes);
    free(bytes);
    compare();
}

Test(trace_printf, formats_what_it_cannot_defer_at_the_call)
{
    NOW("%ls %S", L"wide", L"wide");
    NOW("%lc%C", (wint_t)'w', (wint_t)'w');
    NOW("%2$s %1$d", 1, "two");
    NOW("%'d", 1234567);
    NOW("%5%|");
    compare();
}

Test(trace_printf, defers_up_to_32_arguments)
{
    LATER("%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d", 1,
          2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
          21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32);
    NOW("%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d", 1,
        2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
        22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33);
    LATER("%*.*d%*.*d%*.*d%*.*d%*.*d%*.*d", 5, 2, 1, 5, 2, 2, 5, 2, 3, 5, 2, 4,
          5, 2, 5, 5, 2, 6);
    compare();
}

Test(trace_printf, formats_huge_widths_at_the_call)
{
    LATER("%65535d|%.65535d", 1, 2);
    NOW("%65536d|", 1);
    NOW("%-70000s|%.70000f", "x", 1.0);
    NOW("%*d|", 70000, 1);
    NOW("%.*f|", 70000, 1.0);
    NOW("%*.*s|", -70000, 1, "abc");
    compare();
}

Test(trace_printf, defers_again_after_a_width_that_was_too_large)
{
    static struct trace_site site = TEST_SITE(EVENT, INFO, NULL, "m", NULL, 0);
    const char *format = "%*d|";

    RECORD(&site, false, format, 70000, 1);
    RECORD(&site, true, format, 2, 7);
    compare();
}

/* C++ code may choose among constants. */
Test(trace_printf, takes_different_formats_at_one_call_site)
{
    static struct trace_site site = TEST_SITE(EVENT, INFO, NULL, "m", NULL, 0);
    const char *first = "a %d", *second = "b %s";

    RECORD(&site, true, first, 1);
    RECORD(&site, false, second, "x");
    RECORD(&site, true, first, 2);
    compare();
}

Test(trace_printf, formats_at_the_call_in_a_decimal_comma_locale)
{
    if (!test_decimal_comma())
        cr_skip_test("no locale with a decimal comma");
    NOW("%.2f", 1.5);
    LATER("%d", 1);
    compare();
}

Test(trace_printf, writes_deferred_numbers_with_a_decimal_point)
{
    LATER("%.2f %5g %Le", 1.5, 2.5, 0.1L);
    if (!test_decimal_comma())
        cr_skip_test("no locale with a decimal comma");
    compare();
}

/* ---- %n ---- */

Test(trace_printf, refuses_percent_n)
{
    static const char *const formats[] = {
        "a %n", "a %hhn", "a %5n", "a %ls %n", "a %ls %hhn", "a %1$n", "%*n",
    };
    struct trace_entry entry;

    for (size_t i = 0; i < 2 * sizeof(formats) / sizeof(*formats); i++) {
        const char *name = i % 2 ? "another format" : NULL;
        struct trace_site site = TEST_SITE(EVENT, INFO, name, "m", NULL, 0);
        char untouched[8] = "abcdefg";

        trace_log_(&site, formats[i / 2], untouched, untouched);
        cr_expect_str_eq(untouched, "abcdefg", "%s", formats[i / 2]);
    }

    struct trace_reader *reader = test_read();

    for (size_t i = 0; i < 2 * sizeof(formats) / sizeof(*formats); i++) {
        struct trace_text text = {0};

        cr_assert(trace_reader_next(reader, &entry));
        text_of(&entry, &text);
        cr_expect_str_eq(text.data, formats[i / 2]);
        trace_text_free(&text);
    }
}

Test(trace_printf, accepts_an_escaped_percent_before_n)
{
    static struct trace_site site =
        TEST_SITE(EVENT, INFO, "another format", "m", NULL, 0);

    NOW("%ls 100%%now", L"w");
    expect("100%%now", false, strdup("100%now"), 7);
    trace_log_(&site, "100%%now");
    compare();
}

Test(trace_printf, shows_an_invalid_format_unchanged)
{
    static const char *const formats[] = {
        "100%", "%", "%-", "%5.", "%l", "%y", "%.99999999999d"};

    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
        struct trace_site site = TEST_SITE(EVENT, INFO, NULL, "m", NULL, 0);
        char *text = NULL;
        int size = asprintf(&text, formats[i], 1);

        if (size < 0)
            text = strdup(formats[i]);
        expect(formats[i], false, text, (int)strlen(text));
        trace_log_(&site, formats[i], 1);
    }
    compare();
}

/* ---- Random formats ---- */

static void random_spec(char *format, size_t room, const char *lengths,
                        const char *verbs)
{
    char flags[8] = "", width[8] = "", precision[8] = "";
    char length[3] = {lengths[test_below((uint32_t)strlen(lengths))]};

    for (uint32_t i = 0, n = test_below(4); i < n; i++)
        flags[i] = "-+ #0"[test_below(5)];
    if (test_below(2))
        snprintf(width, sizeof(width), "%u", 1 + test_below(40));
    if (test_below(2))
        snprintf(precision, sizeof(precision), ".%u", test_below(30));
    snprintf(format, room, "<%%%s%s%s%s%c>", flags, width, precision,
             length[0] == ' ' ? "" : length,
             verbs[test_below((uint32_t)strlen(verbs))]);
}

static double random_double(void)
{
    double f;

    test_random_bytes(&f, sizeof(f));
    return test_below(4) ? f : (double)(int)test_random() / 64;
}

/* Static, because call sites keep the formats that they get. */
Test(trace_printf, formats_random_conversions_as_printf_does)
{
    static char formats[5000][32];

    test_seed(7);
    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
        struct trace_site site = TEST_SITE(EVENT, INFO, NULL, "m", NULL, 0);
        char *format = formats[i];

        double f = random_double();
        long n = (long)((uint64_t)test_random() << 32 | test_random());

        if (i % 3 == 0) {
            random_spec(format, sizeof(*formats), "ljzt", "diouxX");
            RECORD(&site, true, format, n);
        } else if (i % 3 == 1) {
            random_spec(format, sizeof(*formats), " ", "aAeEfFgG");
            RECORD(&site, true, format, f);
        } else {
            random_spec(format, sizeof(*formats), " ", "s");
            RECORD(&site, true, format, i % 2 ? "some text" : "");
        }
    }
    compare();
}

Test(trace_printf, survives_any_format_and_any_values)
{
    static const char likely[] = "%%%%%%-+ #0*.$'Ihljzt15dsfpcmnxgL";
    uint8_t soup[160];

    test_seed(3);
    for (int round = 0; round < 30000; round++) {
        size_t size = test_below(sizeof(soup));
        size_t length = test_below(24);

        test_random_bytes(soup, size);
        for (size_t i = 0; i < length && i < size; i++)
            soup[i] = (uint8_t)likely[soup[i] % (sizeof(likely) - 1)];
        if (length < size)
            soup[length] = 0;
        LLVMFuzzerTestOneInput(soup, size);
    }
}

static struct trace_value random_value(void)
{
    static const char text[] = "some text";
    struct trace_value value = {test_below(TRACE_TYPE_CALLBACK), 0, {0}, {0}};

    test_random_bytes(&value.as, sizeof(value.as));
    if (test_below(2))
        value.as.i %= 100;
    if (value.type == TRACE_TYPE_STRING || value.type == TRACE_TYPE_DISPLAY ||
        value.type == TRACE_TYPE_BYTES ||
        value.type == TRACE_TYPE_LONG_DOUBLE) {
        value.as.text = text;
        value.size = test_below(sizeof(text));
    }
    return value;
}

/* Each value is intact, but of the wrong type or number. */
Test(trace_printf, survives_values_that_do_not_match_the_format)
{
    static const char *const formats[] = {
        "%d %s", "%*.*f|%s", "%Lf%Lf", "%s%s%s%s%s", "%m%p%c", "%*d%*s%-*m",
    };

    test_seed(4);
    for (int round = 0; round < 20000; round++) {
        struct trace_value given[5];
        struct trace_text text = {.ceiling = 1 << 20};
        uint64_t bytes[32];

        for (size_t i = 0; i < 5; i++)
            given[i] = random_value();
        cr_assert_leq(trace_values_size(5, given), sizeof(bytes));
        trace_values_store(bytes, 5, given);

        const unsigned char *from = (const unsigned char *)bytes;
        struct trace_values values = {from, from + trace_values_size(5, given),
                                      NULL};

        trace_format(&text, formats[round % 6], &values);
        trace_text_free(&text);
    }
}
