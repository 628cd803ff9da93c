/* annotated.c: the list of this program's annotated tests. */
#include <string.h>

#include <testlog/test_log.h>

#include "harness/session.h"

/* The sanitizers' libraries define these. */
void __asan_init(void) __attribute__((weak));
void __tsan_init(void) __attribute__((weak));
void __msan_init(void) __attribute__((weak));

static struct test_log_entry *entries;
static const char *flavour; /* of the first */

/* Whether a name is a test's, its instance's ("name[07]") or its repetition's
 * ("name#2"). */
static bool same_test(const char *test, const char *name)
{
    size_t size = strlen(test);

    return !strncmp(test, name, size) &&
           (!name[size] || name[size] == '[' || name[size] == '#');
}

void test_log_annotated_add(struct test_log_entry *entry)
{
    if (!entries)
        flavour = entry->flavour;
    entry->next = entries;
    entries = entry;
}

const char *test_log_flavour(void)
{
    if (flavour)
        return flavour;
    return __asan_init   ? "plain-asan"
           : __tsan_init ? "plain-tsan"
           : __msan_init ? "plain-msan"
                         : "plain";
}

bool test_log_annotated(void)
{
    return entries != NULL;
}

const struct test_log_entry *test_log_annotated_find(const char *suite,
                                                     const char *name)
{
    for (struct test_log_entry *entry = entries; entry; entry = entry->next)
        if (!strcmp(entry->test->category, suite) &&
            same_test(entry->test->name, name))
            return entry;
    return NULL;
}
