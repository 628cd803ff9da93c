/* trace_strings_test.c: UTF-8, hashes and base names. */
#include "trace/base/strings.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(trace_strings);

static size_t decode(const char *text, uint32_t *character)
{
    return trace_utf8_decode(text, strlen(text), character);
}

Test(trace_strings, decodes_the_limits_of_each_length)
{
    static const struct {
        const char *text;
        uint32_t character;
    } rows[] = {
        {"\x01", 0x01},
        {"\x7f", 0x7f},
        {"\xc2\x80", 0x80},
        {"\xdf\xbf", 0x7ff},
        {"\xe0\xa0\x80", 0x800},
        {"\xed\x9f\xbf", 0xd7ff},
        {"\xee\x80\x80", 0xe000},
        {"\xef\xbf\xbf", 0xffff},
        {"\xf0\x90\x80\x80", 0x10000},
        {"\xf4\x8f\xbf\xbf", 0x10ffff},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        uint32_t character = 0;

        cr_expect_eq(decode(rows[i].text, &character), strlen(rows[i].text),
                     "row %zu", i);
        cr_expect_eq(character, rows[i].character, "row %zu", i);
    }
}

Test(trace_strings, decodes_a_nul)
{
    uint32_t character = 1;

    cr_expect_eq(trace_utf8_decode("\0x", 2, &character), 1);
    cr_expect_eq(character, 0);
}

/* Overlong forms, surrogates, characters beyond U+10FFFF, cut and stray
 * bytes. */
Test(trace_strings, refuses_invalid_utf8)
{
    static const char *const rows[] = {"\x80",
                                       "\xbf",
                                       "\xc0\x80",
                                       "\xc1\xbf",
                                       "\xe0\x9f\xbf",
                                       "\xed\xa0\x80",
                                       "\xf0\x8f\xbf\xbf",
                                       "\xf4\x90\x80\x80",
                                       "\xf8\x88\x80",
                                       "\xff",
                                       "\xc2",
                                       "\xc2x",
                                       "\xe2\x82",
                                       "\xe2\x82x",
                                       "\xf0\x9f\x98",
                                       "\xe2\x28\xa1"};
    uint32_t character = 7;

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        cr_expect_eq(decode(rows[i], &character), 0, "row %zu", i);
    cr_expect_eq(trace_utf8_decode("x", 0, &character), 0);
    cr_expect_eq(character, 7);
}

Test(trace_strings, finds_where_a_character_begins)
{
    static const char text[] = "a\xc2\xb5\xe2\x82\xac\xf0\x9f\x98\x80";
    static const size_t begins[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10};

    for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++)
        cr_expect_eq(trace_utf8_boundary(text, i), begins[i], "at %zu", i);
}

Test(trace_strings, keeps_an_offset_among_stray_bytes)
{
    cr_expect_eq(trace_utf8_boundary("\x80\x80\x80\x80\x80\x80", 4), 4);
    cr_expect_eq(trace_utf8_boundary("\x80", 0), 0);
}

/* Published values of 64-bit FNV-1a. */
Test(trace_strings, hashes_as_fnv_1a_does)
{
    cr_expect_eq(trace_hash_string(TRACE_HASH, ""), 0xcbf29ce484222325);
    cr_expect_eq(trace_hash_string(TRACE_HASH, "a"), 0xaf63dc4c8601ec8c);
    cr_expect_eq(trace_hash_string(TRACE_HASH, "foobar"), 0x85944171f73967e8);
}

Test(trace_strings, hashes_in_pieces)
{
    uint64_t hash = trace_hash(TRACE_HASH, "foo", 3);

    cr_expect_eq(trace_hash(hash, "bar", 3),
                 trace_hash_string(TRACE_HASH, "foobar"));
}

Test(trace_strings, takes_the_base_name_of_a_path)
{
    cr_expect_str_eq(trace_base_name("/usr/lib/libc.so.6"), "libc.so.6");
    cr_expect_str_eq(trace_base_name("libc.so.6"), "libc.so.6");
    cr_expect_str_eq(trace_base_name("./a/b"), "b");
    cr_expect_str_eq(trace_base_name("folder/"), "");
    cr_expect_str_eq(trace_base_name(""), "");
}
