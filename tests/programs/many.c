/* many.c: a test that logs 200,000 lines and passes, one that fails, and one
 * with much output. */
#include <stdio.h>

#include <testlog/test_log.h>

enum { LINES = 200000 };

TEST_LOG(many, lines)
{
    for (int i = 0; i < LINES; i++)
        log_info("inserted key %d of %d", i * 7, LINES);
}

TEST_LOG(many, lines_and_a_failure)
{
    for (int i = 0; i < LINES; i++)
        log_debug("inserted key %d of %d", i * 7, LINES);
    cr_expect(false);
}

TEST_LOG(many, prints)
{
    for (int i = 0; i < LINES; i++)
        printf("printed %d\n", i);
}
