/* harness_line_list_test.c: lists of lines. */
#include "tests/support/support.h"

#include "harness/symbols/symbols.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <string.h>

static struct test_log_line_list list;

static void read_list(const char *text)
{
    cr_assert_null(test_log_line_list_read(&list, text), "%s", text);
}

static bool has(const char *file, uint32_t line)
{
    return test_log_line_list_match(
        &list, &(struct test_log_line){.file = file, .line = line});
}

Test(harness_line_list, matches_lines_of_files)
{
    read_list("src/store.c:40-80,./net.c:7,/a/b.c:1");
    cr_expect(has("/home/src/store.c", 40) && has("src/store.c", 80));
    cr_expect_not(has("/home/src/store.c", 39) || has("/src/store.c", 81));
    cr_expect_not(has("/home/store.c", 50) || has("/mysrc/store.c", 50));
    cr_expect(has("/x/net.c", 7) && has("net.c", 7));
    cr_expect_not(has("/x/subnet.c", 7) || has("/x/net.c", 8));
    cr_expect(has("/a/b.c", 1));
    cr_expect_not(test_log_line_list_match_function(&list, "store"));
    test_log_line_list_free(&list);
}

Test(harness_line_list, matches_functions)
{
    read_list("parse_*,kv::Store::put");
    cr_expect(test_log_line_list_match_function(&list, "parse_key"));
    cr_expect(test_log_line_list_match_function(&list, "parse_key.part.0"));
    cr_expect(test_log_line_list_match_function(&list, "_ZN2kv5Store3putEi"));
    cr_expect_not(test_log_line_list_match_function(&list, "reparse_key"));
    cr_expect_not(has("parse_key", 1));
    test_log_line_list_free(&list);
}

Test(harness_line_list, marks_what_matched)
{
    read_list("a.c:1,b.c:1,f,g");
    has("a.c", 1);
    test_log_line_list_match_function(&list, "g");
    for (size_t i = 0; i < list.count; i++)
        cr_expect_eq(list.regions[i].matched, i == 0 || i == 3, "%zu", i);
    cr_expect_str_eq(list.regions[1].item, "b.c:1");
    test_log_line_list_free(&list);
}

static const char *const faults[][2] = {
    {"", "an item is empty"},
    {"f,", "an item is empty"},
    {"a.c:1,,f", "an item is empty"},
    {"store.c", "a file needs its lines"},
    {"src/store", "a file needs its lines"},
    {":5", "a file has no name"},
    {"a.c:", "a line is not a number from 1 on"},
    {"a.c:0", "a line is not a number from 1 on"},
    {"a.c:x", "a line is not a number from 1 on"},
    {"a.c:1-", "a line is not a number from 1 on"},
    {"a.c:1-2-3", "a line is not a number from 1 on"},
    {"a.c: 1", "a line is not a number from 1 on"},
    {"a.c:-1", "a line is not a number from 1 on"},
    {"a.c:1-99999999999", "a line is not a number from 1 on"},
    {"a.c:99999999999999999999999", "a line is not a number from 1 on"},
    {"a.c:5-4", "the last line is before the first"},
    {"!f", "it is neither lines nor a function"},
    {"none", "it is neither lines nor a function"},
    {"lib:libz*", "a line is not a number from 1 on"},
};

Test(harness_line_list, refuses_what_names_no_lines)
{
    for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++) {
        const char *fault = test_log_line_list_read(&list, faults[i][0]);

        cr_assert(fault, "%s", faults[i][0]);
        cr_expect_str_eq(fault, faults[i][1], "%s: %s", faults[i][0], fault);
        cr_expect_null(list.regions);
    }
}

Test(harness_line_list, survives_any_text)
{
    static const char letters[] = "ab.c:0123-,*!/~[ ";
    char text[40];

    for (int round = 0; round < 20000; round++) {
        size_t size = test_random() % sizeof(text);

        for (size_t i = 0; i < size; i++)
            text[i] = letters[test_random() % (sizeof(letters) - 1)];
        text[size ? size - 1 : 0] = '\0';
        if (!test_log_line_list_read(&list, text)) {
            has("/x/a.c", 1);
            test_log_line_list_match_function(&list, "ab");
            test_log_line_list_free(&list);
        }
    }
}
