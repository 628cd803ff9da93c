/* log_level_test.c: parses levels and trims white space. */
#include <criterion/criterion.h>
#include <locale.h>
#include <string.h>

#include "tests/support/support.h"

#include "log/filter/filter.h"

enum { NONE = 99 };

static unsigned level_of(const char *text)
{
    unsigned level = NONE;

    return log_level_of(text, &level) ? level : NONE;
}

Test(log_level, parses_levels_as_rust_does)
{
    static const struct {
        const char *text;
        unsigned level;
    } rows[] = {
        {"off", 0},
        {"error", 1},
        {"WARN", 2},
        {"Info", 3},
        {"dEbUg", 4},
        {"trace", 5},
        {"0", 0},
        {"5", 5},
        {"05", 5},
        {"+3", 3},
        {"00000000000000000000000000000000000004", 4},
        {"6", NONE},
        {"18446744073709551617", NONE},
        {"99999999999999999999999999999999999999", NONE},
        {"+", NONE},
        {"-0", NONE},
        {"++1", NONE},
        {"3 ", NONE},
        {" 3", NONE},
        {"1.0", NONE},
        {"0x1", NONE},
        {"", NONE},
        {"warning", NONE},
        {"inf", NONE},
        {"infox", NONE},
        {"\xc4\xb0nfo", NONE},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        cr_expect_eq(level_of(rows[i].text), rows[i].level, "\"%s\": %u",
                     rows[i].text, level_of(rows[i].text));
}

Test(log_level, leaves_the_level_alone_if_parsing_fails)
{
    unsigned level = 3;

    cr_expect_not(log_level_of("6", &level));
    cr_expect_not(log_level_of("net", &level));
    cr_expect_eq(level, 3);
}

/* In Turkish, "INFO" in lower case has a dotless i. */
Test(log_level, parses_levels_in_a_turkish_locale)
{
    if (!setlocale(LC_ALL, "tr_TR.UTF-8") && !setlocale(LC_ALL, "tr_TR"))
        cr_skip_test("no Turkish locale");
    cr_expect_eq(level_of("INFO"), 3);
    cr_expect_str_eq(log_nearest_level("INOF"), "info");
}

/* ---- White space ---- */

/* All characters that Unicode 15 calls White_Space, and their neighbours. */
Test(log_level, recognizes_the_white_space_of_unicode)
{
    static const char *const spaces[] = {
        "\t",     "\n",     "\v",     "\f",     "\r",     " ",      "\xc2\x85",
        "\u00a0", "\u1680", "\u2000", "\u2001", "\u2002", "\u2003", "\u2004",
        "\u2005", "\u2006", "\u2007", "\u2008", "\u2009", "\u200a", "\u2028",
        "\u2029", "\u202f", "\u205f", "\u3000",
    };
    static const char *const others[] = {
        "",         "\b",       "\x0e",     "\x1f",   "!",
        "\xc2\x84", "\u00a1",   "\u180e",   "\u200b", "\u2027",
        "\u2030",   "\u2060",   "\ufeff",   "\xc2",   "\x85",
        "\xa0 ",    "\xe2\x80", "\xe3\x80", "\xff",   "a ",
    };

    for (size_t i = 0; i < sizeof(spaces) / sizeof(*spaces); i++) {
        char text[16];

        cr_expect_eq(log_space(spaces[i]), strlen(spaces[i]), "%zu", i);
        snprintf(text, sizeof(text), "%sx", spaces[i]);
        cr_expect_eq(log_space(text), strlen(spaces[i]), "%zu", i);
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        cr_expect_eq(log_space(others[i]), 0, "%zu", i);
}

Test(log_level, trims_both_ends)
{
    static const struct {
        const char *text, *trimmed;
    } rows[] = {
        {"", ""},
        {" ", ""},
        {"\u3000\t\u00a0", ""},
        {"a", "a"},
        {" a  b ", "a  b"},
        {"a\u3000b\u3000", "a\u3000b"},
        {"\u2028\xe2\x80", "\xe2\x80"},
        {"\xc2 \xc2\xa0", "\xc2"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        char text[32];

        snprintf(text, sizeof(text), "%s", rows[i].text);
        cr_expect_str_eq(log_trim(text), rows[i].trimmed, "row %zu", i);
    }
}
