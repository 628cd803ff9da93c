/* functions_test.c: code without annotations, whose calls are recorded because
 * it is built with functions_cflags (examples.mk).
 *
 * The test passes, but look_up is slow. `testlog stat
 * functions/caches_what_it_loads` shows why: load is called as often as
 * look_up, so the cache never has the key.
 */
#include <testlog/test_log.h>

#include <string.h>

enum { SLOTS = 8, LOOK_UPS = 100 };

struct slot {
    const char *key;
    size_t value;
};

static struct slot slots[SLOTS];

/* Stands for reading a file. */
static size_t load(const char *key)
{
    size_t value = 0;

    for (int i = 0; i < 1000; i++)
        value += strlen(key);
    return value;
}

static struct slot *slot_of(const char *key)
{
    return &slots[(unsigned char)key[0] % SLOTS];
}

static size_t look_up(const char *key)
{
    struct slot *slot = slot_of(key);

    if (slot->key != key) /* the bug: it compares addresses, not texts */
        *slot = (struct slot){key, load(key)};
    return slot->value;
}

TEST_LOG(functions, caches_what_it_loads)
{
    char keys[2][8] = {"apple", "apple"};

    for (int i = 0; i < LOOK_UPS; i++)
        cr_assert_eq(look_up(keys[i % 2]), 5000);
}
