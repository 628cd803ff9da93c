/* stepping.c: a test of functions whose lines are recorded. */
#include <testlog/test_log.h>

#include <stdlib.h>

struct item {
    int key, value;
};

__attribute__((noinline)) //
    int look_up(const struct item *items, int count, int key)
{
    int found = -1;

    for (int i = 0; i < count; i++) {
        if (items[i].key == key) {
            found = i;
        } else if (items[i].key < 0) {
            continue;
        }
    }
    if (found < 0)
        return -1;
    return items[found].value;
}

int twice(int n)
{
    int a = n;
    a += n;
    return a;
}

int never(int n)
{
    return n + 1;
}

static volatile int steps;

static void step(void)
{
    for (int i = getenv("STEPS") ? atoi(getenv("STEPS")) : 0; i > 0; i--)
        steps++;
}

TEST_LOG(stepping, finds)
{
    const struct item items[] = {{1, 10}, {-1, 0}, {3, 30}};

    cr_expect_eq(look_up(items, 3, 3), 30);
    cr_expect_eq(look_up(items, 3, 4), -1);
    cr_expect_eq(twice(4), 8);
    step();
}
