/* cupti_state_test.c: whether CUPTI is tracing, and why not. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/devices.h"

TestSuite(cupti_state, .init = devices_init);

Test(cupti_state, records_the_reason_for_stopping)
{
    struct trace_reader *reader;
    char *calls, *first, *last;

    devices_begin();
    cr_assert(cupti_is_on());
    cupti_stop("too-old", "GPU trace off: a test");
    cr_expect_not(cupti_is_on());
    calls = devices_calls();
    cr_expect_null(strstr(calls, "\nDisable "), "CUPTI was called");
    cupti_disable_all();
    calls = devices_calls();
    first = strstr(calls, "\nDisable 37\n");
    last = strstr(calls, "\nDisable 10\n");
    cr_expect(first && last && first < last, "in reverse order: %s", calls);
    reader = test_read();
    cr_expect_str_eq(devices_meta(reader, "state"), "too-old");
    cr_expect_str_eq(devices_meta(reader, "notice"), "GPU trace off: a test");
}

static void be_off(void)
{
    _exit(cupti_is_on());
}

Test(cupti_state, turns_off_in_a_forked_child)
{
    devices_begin();
    cr_expect(cupti_is_on());
    cr_expect_eq(test_child(be_off), 0);
    trace_close();
}

Test(cupti_state, names_results)
{
    cr_expect_str_eq(cupti_result_name(15), "?", "before CUPTI is loaded");
    devices_begin();
    cr_expect_eq(strncmp(cupti_result_name(15), "CUPTI_ERROR", 11), 0, "%s",
                 cupti_result_name(15));
    trace_close();
}
