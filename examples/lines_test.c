/* lines_test.c: code without annotations, whose lines show a bug.
 *
 * The test passes, but slowly. `lines_test --lines=find` and `testlog stat
 * --lines` show why: the key that is looked for is the first one, and yet the
 * loop runs to its end. Built with lines_cflags (examples.mk).
 */
#include <testlog/test_log.h>

enum { KEYS = 1000 };

/* The bug: the loop goes on after it has found the key. */
static int find(const int *keys, int key)
{
    int found = -1;

    for (int i = 0; i < KEYS; i++) {
        if (keys[i] == key)
            found = i;
    }
    return found;
}

TEST_LOG(lines, finds_a_key)
{
    int keys[KEYS];

    for (int i = 0; i < KEYS; i++)
        keys[i] = 3 * i;
    cr_expect_eq(find(keys, 0), 0);
    cr_expect_eq(find(keys, 1), -1);
}
