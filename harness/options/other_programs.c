/* other_programs.c: what `testlog run` tells a program of the others of its
 * run.
 */
#include <stdio.h>

#include "harness/session.h"
#include "other_programs.h"

void test_log_others_text(const struct test_log_others *given, char *text,
                          size_t size)
{
    snprintf(text, size, "%llu %llu %llu %llu %u %u", given->done,
             given->failed, given->to_come, given->time, given->number,
             given->count);
}

struct test_log_others test_log_others_given(void)
{
    const char *text = test_log_session()->others;
    struct test_log_others given;

    if (!text ||
        sscanf(text, "%llu %llu %llu %llu %u %u", &given.done, &given.failed,
               &given.to_come, &given.time, &given.number, &given.count) != 6)
        given = (struct test_log_others){.count = 0};
    return given;
}
