/* limited.c: tests that print and record more than a small file can hold. */
#include <stdio.h>
#include <unistd.h>

#include <testlog/test_log.h>

TEST_LOG(limited, prints)
{
    for (int i = 0; i < 4000; i++)
        printf("%070d\n", i);
}

TEST_LOG(limited, records)
{
    for (int i = 0; i < 20000; i++)
        log_info("line %d", i);
}

TEST_LOG(limited, fails)
{
    puts("was printed");
    log_info("was logged");
    cr_assert_fail("on purpose");
}

/* The child prints after its test has ended: nobody reads that. */
TEST_LOG(limited, leaves_a_child)
{
    if (!fork()) {
        for (int i = 0; i < 30; i++) {
            usleep(100000);
            puts("still there");
        }
        _exit(0);
    }
}
