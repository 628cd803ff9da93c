/* bounded.c: tests that need a little of each resource; -DALONE builds them for
 * Criterion alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef ALONE
#    include <criterion/criterion.h>
#    define TEST_LOG      Test
#    define log_info(...) ((void)0)
#else
#    include <testlog/test_log.h>
#endif

TEST_LOG(bounded, passes)
{
    log_info("is recorded");
}

TEST_LOG(bounded, fails)
{
    cr_assert_fail("on purpose");
}

TEST_LOG(bounded, prints)
{
    for (int i = 0; i < 1000; i++)
        printf("%0100d\n", i);
}

TEST_LOG(bounded, logs)
{
    for (int i = 0; i < 5000; i++)
        log_info("line %d", i);
}

TEST_LOG(bounded, allocates)
{
    char *memory = malloc(1 << 20);

    cr_assert_not_null(memory);
    memset(memory, 1, 1 << 20);
    free(memory);
}
