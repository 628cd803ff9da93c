/* samples_test.c: code without annotations, whose samples show a bug.
 *
 * The test passes, but slowly. `samples_test --sample` and `testlog stat
 * --by=function` show why: most of the time is in is_same, and most of the rest
 * in find. So find compares far too many words: the lists are too long.
 */
#include <testlog/test_log.h>

#include <stdbool.h>
#include <string.h>

enum { LISTS = 4096, WORDS = 4000, LONGEST = 16 };

struct word {
    char text[LONGEST];
    unsigned count;
    struct word *next; /* of its list */
};

static struct word words[WORDS];
static struct word *lists[LISTS];

/* The bug: only the last letter counts, because `hash` is not multiplied. */
static unsigned hash_of(const char *text)
{
    unsigned hash = 0;

    for (; *text; text++)
        hash = 31 * (unsigned char)*text;
    return hash % LISTS;
}

/* If these were inlined, their time would be that of their callers. */
static __attribute__((noinline)) bool is_same(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

static __attribute__((noinline)) struct word *find(const char *text)
{
    struct word *word = lists[hash_of(text)];

    while (word && !is_same(word->text, text))
        word = word->next;
    return word;
}

static void count(const char *text, struct word *unused)
{
    struct word *word = find(text), **list = &lists[hash_of(text)];

    if (!word) {
        word = unused;
        memcpy(word->text, text, LONGEST);
        word->next = *list;
        *list = word;
    }
    word->count++;
}

TEST_LOG(samples, counts_words)
{
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < WORDS; i++) {
            char text[LONGEST];

            snprintf(text, sizeof(text), "word%d", i);
            count(text, &words[i]);
        }
    }
    cr_assert_eq(find("word7")->count, 10);
}
