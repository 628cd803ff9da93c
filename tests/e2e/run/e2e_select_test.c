/* e2e_select_test.c: words on the command line select tests by name. */
#include "tests/support/e2e.h"

#include <stdio.h>
#include <string.h>

E2E_FOLDER

TestSuite(e2e_select, .init = e2e_begin, .timeout = 300);

static const struct {
    const char *arguments;
    int code;
    const char *closing, *line; /* of stderr; "": not checked */
} selections[] = {
    {"inherits", 0, "1 passed, 0 failed, 0 skipped", ""},
    {"other passes inherits", 0, "3 passed, 0 failed, 0 skipped", ""},
    {"l/pass", 0, "1 passed, 0 failed, 0 skipped", ""},
    {"'sizes[0'", 0, "10 passed, 0 failed, 0 skipped", ""},
    {"-j1 default -q", 0, "1 passed, 0 failed, 0 skipped", ""},
    {"-- default", 0, "1 passed, 0 failed, 0 skipped", ""},
    {"default --filter other/passes", 0, "2 passed, 0 failed, 0 skipped", ""},
    {"default lru evict", 0, "1 passed, 0 failed, 0 skipped",
     "testlog: no test matched the word evict\n"},
    {"lru", 4, "0 passed, 0 failed, 0 skipped", "testlog: no test matched"},
    {"inherit_no_run", 4, "0 passed, 0 failed, 0 skipped",
     "did you mean small/inherits_no_run?"},
    {"'other/*'", 4, "0 passed, 0 failed, 0 skipped",
     "did you mean --filter='other/*'?"},
};

static void expect_selections(const char *command)
{
    for (size_t i = 0; i < sizeof(selections) / sizeof(*selections); i++) {
        const struct e2e *result = e2e_exits(selections[i].code, "%s %s",
                                             command, selections[i].arguments);

        cr_expect_str_eq(e2e_last(result->out), selections[i].closing, "%s: %s",
                         selections[i].arguments, result->out);
        if (strstr(command, " run ") == NULL)
            e2e_expect_has(result->err, selections[i].line);
    }
}

Test(e2e_select, words_select_tests_whose_names_contain_one)
{
    expect_selections(e2e_program("small", E2E_TRACED));
    expect_selections(e2e_program("small", E2E_PLAIN));
}

Test(e2e_select, run_passes_words_to_its_programs)
{
    char command[PATH_MAX];

    snprintf(command, sizeof(command), "%s/testlog run %s --", BUILD_DIR,
             e2e_program("small", E2E_TRACED));
    expect_selections(command);
}

Test(e2e_select, list_prints_the_tests_that_words_select)
{
    const struct e2e *result =
        e2e_run("%s --list other inherits", e2e_program("small", E2E_TRACED));

    e2e_expect_has(result->out, "inherits_no_run", "other: 1 test");
    e2e_expect_lacks(result->out, "sizes");
}

Test(e2e_select, list_prints_json)
{
    const char *program = e2e_program("small", E2E_TRACED);
    const cJSON *list, *test;

    e2e_exits(0, "%s --list=json >list.json 2>list.err", program);
    e2e_expect_is(e2e_run("cat list.err")->out, "");
    list = e2e_json("list.json");
    cr_assert(cJSON_IsArray(list));
    cr_expect_gt(cJSON_GetArraySize(list), 5);
    cJSON_ArrayForEach(test, list)
    {
        cr_expect(strstr(e2e_text(test, "name"), "/"));
        cr_expect(strstr(e2e_text(test, "file"), "small.c"));
        cr_expect_gt(e2e_number(test, "line"), 0);
        cr_expect_null(cJSON_GetObjectItem(test, "outcome"));
        cr_expect_not(cJSON_IsTrue(cJSON_GetObjectItem(test, "disabled")));
        cr_expect_eq(e2e_number(test, "instances"),
                     strstr(e2e_text(test, "name"), "sizes") ? 12 : 1);
    }
    e2e_run("%s --filter=small/passes", program);
    e2e_run("%s --list=json --filter=small/passes >list.json", program);
    list = e2e_json("list.json");
    cr_assert_eq(cJSON_GetArraySize(list), 1);
    test = cJSON_GetArrayItem(list, 0);
    cr_expect_str_eq(e2e_text(test, "name"), "small/passes");
    cr_expect_str_eq(e2e_text(test, "outcome"), "passed");
    cr_expect_gt(e2e_number(test, "median_ns"), 0);
    e2e_run("%s --list=json 'small/sizes[03]' >list.json", program);
    cr_expect_eq(cJSON_GetArraySize(e2e_json("list.json")), 1);
    e2e_run("%s --list=json --filter=none >list.json", program);
    cr_expect_eq(cJSON_GetArraySize(e2e_json("list.json")), 0);
    e2e_exits(2, "%s --list=xml", program);
    e2e_expect_has(e2e_run("%s --list=xml", program)->err,
                   "--list: unknown value \"xml\"; write json or cmake\n");
    e2e_exits(1, "%s --list=json >/dev/full", program);
}

Test(e2e_select, list_has_the_settings_of_tests)
{
    const char *program = e2e_program("small", E2E_TRACED);
    const cJSON *test;

    e2e_run("printf 'timeout = 9\\n[test small/passes]\\ntimeout = 1.5\\n"
            "serial = 1\\ntags = slow, net\\n[test small/*]\\ntags = all\\n"
            "expect = skip\\nreason = later\\n' >testlog.conf");
    e2e_run("%s --list=json small/passes >list.json", program);
    test = cJSON_GetArrayItem(e2e_json("list.json"), 0);
    cr_expect_str_eq(e2e_text(test, "suite"), "small");
    cr_expect_str_eq(e2e_text(test, "test"), "passes");
    cr_expect_eq(e2e_number(test, "timeout_s"), 1.5);
    cr_expect(cJSON_IsTrue(cJSON_GetObjectItem(test, "serial")));
    cr_expect(cJSON_IsTrue(cJSON_GetObjectItem(test, "disabled")));
    e2e_expect_has(e2e_read("list.json"),
                   "\"tags\":[\"slow\",\"net\",\"all\"]");
    e2e_run("%s --list=json other/ >list.json", program);
    test = cJSON_GetArrayItem(e2e_json("list.json"), 0);
    cr_expect_eq(e2e_number(test, "timeout_s"), 9);
}

Test(e2e_select, a_word_overrides_a_pattern_that_is_meant_for_others)
{
    e2e_exits(4, "CRITERION_TEST_PATTERN='none/*' %s lru",
              e2e_program("small", E2E_TRACED));
}

/* The lists of several programs, of any framework, are one. */
Test(e2e_select, testlog_run_lists_all_programs)
{
    const cJSON *list, *test;
    int small = 0;

    e2e_run("printf 'int main(void) { return 0; }' | gcc -o plain -x c -");
    e2e_exits(
        0, "'" BUILD_DIR "/testlog' run '%s' ./plain -- --list=json >list.json",
        e2e_program("small", E2E_TRACED));
    list = e2e_json("list.json");
    cJSON_ArrayForEach(test, list)
    {
        small += !strcmp(e2e_text(test, "program"), "small_test");
    }
    cr_expect_gt(small, 5);
    test = cJSON_GetArrayItem(list, cJSON_GetArraySize(list) - 1);
    cr_expect_str_eq(e2e_text(test, "program"), "plain");
    cr_expect_str_eq(e2e_text(test, "name"), "plain");
    e2e_exits(2, "'" BUILD_DIR "/testlog' run '%s' -- --list=json --jobs=x",
              e2e_program("small", E2E_TRACED));
}
