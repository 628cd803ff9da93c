/* long_new.c: assertions in Criterion's newer style with very long values. */
#include <string.h>

#include <testlog/test_log.h>

#include <criterion/new/assert.h>

/* Returns "begin", three million letters and "end". */
static char *text_of(char letter)
{
    enum { SIZE = 3 << 20 };
    char *text = malloc(SIZE);

    memset(text, letter, SIZE);
    memcpy(text, "begin", 5);
    memcpy(text + SIZE - 4, "end", 4);
    return text;
}

TEST_LOG(long_new, strings)
{
    cr_assert(eq(str, text_of('x'), text_of('y')));
}

TEST_LOG(long_new, message)
{
    cr_assert(eq(int, 1, 2), "%s", text_of('x'));
}

TEST_LOG(long_new, nested)
{
    cr_assert(all(eq(int, 1, 1), eq(str, text_of('x'), text_of('y'))));
}
