/* harness_notice_test.c: the lines that testlog prints itself. */
#include "harness/machine/notice.h"

#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "tests/support/support.h"

static char *printed;
static size_t size;

static void begin(void)
{
    test_log_out = open_memstream(&printed, &size);
    cr_assert_not_null(test_log_out);
    fflush(test_log_out); /* makes it "" */
}

static void end(void)
{
    fclose(test_log_out);
    free(printed);
}

TestSuite(harness_notice, .init = begin, .fini = end);

Test(harness_notice, begins_each_notice_with_the_name)
{
    test_log_notice("%d of %s", 1, "two");
    test_log_notice("more");
    cr_expect_str_eq(printed, "testlog: 1 of two\ntestlog: more\n");
}

Test(harness_notice, prints_no_control_bytes_of_tests)
{
    test_log_notice("%s", "a\033[31mb\nc");
    cr_expect_null(strchr(printed, '\033'), "%s", printed);
    cr_expect_eq(strchr(printed, '\n'), printed + size - 1, "%s", printed);
}

Test(harness_notice, prints_a_long_notice_whole)
{
    char text[2000];

    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    test_log_notice("%s", text);
    cr_expect_eq(size, strlen("testlog: \n") + sizeof(text) - 1);
}

Test(harness_notice, prints_a_notice_without_memory)
{
    if (!test_can_fail_memory())
        cr_skip_test("a sanitizer owns the memory");
    test_log_notice("begins"); /* the stream has its memory then */
    test_fail_memory(1, false);
    test_log_notice("%s is full", "memory");
    test_fail_memory(0, false);
    cr_expect_str_eq(printed, "testlog: begins\ntestlog: memory is full\n");
}

Test(harness_notice, goes_to_stderr_without_another_stream)
{
    FILE *stream = test_log_out;

    cr_expect_eq(test_log_stream(), stream);
    test_log_out = NULL;
    cr_expect_eq(test_log_stream(), stderr);
    test_log_out = stream;
}

/* The filter and the caret are indented. */
Test(harness_notice, names_itself_once_a_complaint)
{
    struct trace_text complaints = {0};

    test_log_complain(&complaints);
    cr_expect_str_eq(printed, "");
    trace_text_string(&complaints, "one\n  a=b\n   ^\ntwo");
    test_log_complain(&complaints);
    cr_expect_str_eq(printed, "testlog: one\n  a=b\n   ^\ntestlog: two\n");
    trace_text_free(&complaints);
}
