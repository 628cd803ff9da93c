/* lined.c: small functions whose lines are counted, as the comments tell. The
 * numbers of lines matter to nobody: tests look for the comments.
 */
#include <testlog/test_log.h>

static volatile int sink;

void skips(int n)
{
    if (n > 100)
        sink = 1; /* never */
} /* once: skips ends */

void first(void)
{
    sink++; /* once: first */
}

void second(void)
{
    sink = 7; /* twice: second */
    sink++;   /* twice: second goes on */
}

int returns(int n)
{
    int i;

    for (i = 0; i < n; i++)
        sink++;
    return i; /* three times: returns */
}

void goes_straight(void)
{
    sink = 1;
    sink = 2; /* once: in the middle of a block */
    sink = 3;
}

TEST_LOG(lined, runs)
{
    skips(1);
    first();
    second();
    second();
    returns(1);
    returns(2);
    returns(3);
    goes_straight();
}
