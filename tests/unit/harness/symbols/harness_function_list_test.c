/* harness_function_list_test.c: lists of functions, and what they match. */
#include "tests/support/support.h"

#include "harness/symbols/symbols.h"

#include <criterion/criterion.h>

enum {
    IN = TEST_LOG_FUNCTION_INCLUDED,
    OUT = TEST_LOG_FUNCTION_EXCLUDED,
};

static const struct {
    const char *list, *symbol;
    unsigned result;
} matches[] = {
    {"store_*", "store_find", IN},
    {"store_*", "restore_find", 0},
    {"store_*,!*_cmp", "store_cmp", IN | OUT},
    {"!*_cmp", "store_cmp", OUT},
    {"!*_cmp", "store_find", 0},
    {"store_find", "store_find.constprop.0", IN},
    {"store_find", "store_find.cold", IN},
    {"store_find.*", "store_find.part.3", IN},
    {"@(a|b)", "b", IN},
    {"lib:store_*", "store_find", 0},
    {"kv::Store::find", "_ZN2kv5Store4findEi", IN},
    {"find", "_ZN2kv5Store4findEi", IN},
    {"Store::find", "_ZN2kv5Store4findEi", 0},
    {"kv::*", "_ZN2kv5Store4findEi", IN},
    {"operator()", "_ZN2kv5StoreclEv", IN},
    {"*", "_Z3foov", IN},
};

Test(harness_function_list, matches_names_of_functions)
{
    for (size_t i = 0; i < sizeof(matches) / sizeof(*matches); i++) {
        struct test_log_function_list list;

        cr_assert_null(test_log_function_list_read(&list, matches[i].list));
        cr_expect_eq(test_log_function_list_match(&list, matches[i].symbol),
                     matches[i].result, "%s: %s", matches[i].list,
                     matches[i].symbol);
        test_log_function_list_free(&list);
    }
}

Test(harness_function_list, matches_names_of_files)
{
    struct test_log_function_list list;

    cr_assert_null(
        test_log_function_list_read(&list, "lib:libz*,!lib:*crypt*,libm"));
    cr_expect_eq(test_log_function_list_match_file(&list, "/lib/libz.so.1"),
                 IN);
    cr_expect_eq(test_log_function_list_match_file(&list, "libzcrypt.so"),
                 IN | OUT);
    cr_expect_eq(test_log_function_list_match_file(&list, "/libz/libm"), 0);
    cr_expect(list.includes);
    cr_expect(list.globs[0].matched && list.globs[1].matched);
    cr_expect_not(list.globs[2].matched);
    test_log_function_list_free(&list);
}

Test(harness_function_list, knows_lists_that_only_exclude)
{
    struct test_log_function_list list;

    cr_assert_null(test_log_function_list_read(&list, "!a,!lib:b"));
    cr_expect_not(list.includes);
    cr_expect_eq(list.count, 2);
    test_log_function_list_free(&list);
    cr_assert_null(test_log_function_list_read(&list, "none"));
    cr_expect(list.none);
    test_log_function_list_free(&list);
}

static const char *const wrong[][2] = {
    {"", "a glob is empty"},         {"a,,b", "a glob is empty"},
    {",", "a glob is empty"},        {"!", "a glob is empty"},
    {"lib:", "a glob is empty"},     {"a,!lib:", "a glob is empty"},
    {"a,none", "none stands alone"},
};

Test(harness_function_list, says_what_is_wrong)
{
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        struct test_log_function_list list;
        const char *fault = test_log_function_list_read(&list, wrong[i][0]);

        cr_assert_not_null(fault, "%s", wrong[i][0]);
        cr_expect_str_eq(fault, wrong[i][1], "%s", wrong[i][0]);
    }
}

Test(harness_function_list, survives_any_text)
{
    for (int i = 0; i < 20000; i++) {
        static const char letters[] = "a,!*?[]()<>:o|@lib:operator.";
        struct test_log_function_list list;
        char text[24], symbol[24];

        for (size_t at = 0; at < 23; at++) {
            text[at] = letters[test_random() % (sizeof(letters) - 1)];
            symbol[at] = letters[test_random() % (sizeof(letters) - 1)];
        }
        text[23] = symbol[23] = '\0';
        if (test_log_function_list_read(&list, text))
            continue;
        test_log_function_list_match(&list, symbol);
        test_log_function_list_free(&list);
    }
}
