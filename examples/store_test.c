/* store_test.c: the store's tests; it teaches each kind of annotated test.
 *
 * TEST_LOG and its kin take what Criterion's own macros take: options such as
 * .timeout and .init, a TestSuite around them, parameters, data points. See
 * what they recorded with `make test TRACING=1 LOG=trace SHOW_OUTPUT=1`.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <testlog/test_log.h>

#include "store.h"

static struct store *store;

static void open_store(void)
{
    store = store_new(3);
}

static void close_store(void)
{
    store_free(store);
}

/* Around every test below; lines from here belong to the test, too. */
TestSuite(store, .init = open_store, .fini = close_store);

static bool has(struct store *in, const char *key, const char *expected)
{
    char *value = store_get(in, key);
    bool same = value && !strcmp(value, expected);

    free(value);
    return same;
}

TEST_LOG(store, returns_what_was_put)
{
    cr_assert(!store_put(store, "fox", "red"));
    cr_assert(!store_put(store, "fox", "grey"));
    cr_expect(has(store, "fox", "grey"));
    cr_expect_eq(store_len(store), 1);
}

TEST_LOG(store, deletes_once)
{
    store_put(store, "fox", "red");
    cr_expect_eq(store_delete(store, "fox"), 0);
    cr_expect_eq(store_delete(store, "fox"), -1);
    cr_expect_eq(errno, ENOENT);
}

TEST_LOG(store, evicts_the_least_recently_used, .timeout = 5)
{
    {
        trace_span(INFO, "fill", ("pairs", 3)); /* to the end of the block */

        store_put(store, "ant", "black");
        store_put(store, "bee", "yellow");
        store_put(store, "cat", "white");
    }
    log_info("reading ant, so that bee is the oldest of %zu", store_len(store));
    cr_assert(has(store, "ant", "black"));
    store_put(store, "dog", "brown");
    cr_expect_null(store_get(store, "bee"));
    cr_expect(has(store, "ant", "black"));
}

TEST_LOG(store, refuses_to_keep_nothing)
{
    cr_expect_null(store_new(0));
    cr_expect_eq(errno, EINVAL);
}

static char path[] = "/tmp/store_test.XXXXXX";

static void make_file(void)
{
    int fd = mkstemp(path);

    cr_assert_geq(fd, 0);
    close(fd);
}

static void remove_file(void)
{
    unlink(path);
}

/* Where LOG says nothing, this test shows its lines at INFO and the store's at
 * every level. */
TEST_LOG_DEFAULT("info,kv=trace", store, survives_a_restart, .init = make_file,
                 .fini = remove_file)
{
    store_put(store, "ant", "black");
    store_put(store, "bee", "yellow\nand black");
    cr_assert_eq(store_save(store, path), 0);

    struct store *copy = store_new(1); /* keeps the newest only */

    cr_assert_eq(store_load(copy, path), 0);
    cr_expect(has(copy, "bee", "yellow\nand black"));
    cr_expect_eq(store_len(copy), 1);
    store_free(copy);
}

/* Two ERROR lines in a test that passes: they are what it is about. */
TEST_LOG(store, says_why_it_cannot_save_or_load, .init = make_file,
         .fini = remove_file)
{
    cr_expect_eq(store_save(store, "/dev/full"), -1);
    cr_expect_eq(errno, ENOSPC);
    cr_expect_eq(store_load(store, path), -1);
    cr_expect_eq(errno, EBADMSG);
}

struct filling {
    size_t capacity, puts, len; /* pairs */
};

ParameterizedTestParameters(store, keeps_its_capacity)
{
    static struct filling fillings[] = {
        {1, 5, 1}, {4, 4, 4}, {64, 10, 10}, {100, 1000, 100}};

    return cr_make_param_array(struct filling, fillings,
                               sizeof(fillings) / sizeof(fillings[0]));
}

PARAMETERIZED_TEST_LOG(struct filling *filling, store, keeps_its_capacity)
{
    struct store *filled = store_new(filling->capacity);

    trace_span(INFO, "filling", ("capacity", filling->capacity),
               ("puts", filling->puts));
    for (size_t i = 0; i < filling->puts; i++) {
        char key[32];

        snprintf(key, sizeof(key), "key %zu", i);
        store_put(filled, key, "value");
    }
    cr_expect_eq(store_len(filled), filling->len);
    store_free(filled);
}

TheoryDataPoints(store, any_string_will_do) = {
    DataPoints(const char *, "", "fox", "two\nlines", "a=b",
               "f\xc3\xbc"
               "chse"),
    DataPoints(const char *, "", "red", "\x1b[31mred"),
};

THEORY_LOG((const char *key, const char *value), store, any_string_will_do)
{
    store_put(store, key, value);
    cr_assert(has(store, key, value));
}

TEST_LOG(store, forgets_pairs_after_a_while)
{
    cr_skip_test("the store has no clock yet");
}
