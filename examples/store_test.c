/* store_test.c: tests of the store; an example of each kind of annotated test.
 *
 * TEST_LOG, PARAMETERIZED_TEST_LOG and THEORY_LOG accept everything that
 * Criterion's own macros accept: options such as .timeout and .init, a
 * TestSuite, parameters and data points.
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

/* Runs around every test below; its lines belong to the test. */
TestSuite(store, .init = open_store, .fini = close_store);

static bool has(struct store *in, const char *key, const char *expected)
{
    char *value = store_get(in, key);
    bool same = value && !strcmp(value, expected);

    free(value);
    return same;
}

TEST_LOG(store, returns_stored_values)
{
    cr_assert_eq(store_put(store, "fox", "red"), 0);
    cr_assert_eq(store_put(store, "fox", "grey"), 0);
    cr_expect(has(store, "fox", "grey"));
    cr_expect_eq(store_len(store), 1);
}

TEST_LOG(store, deletes_a_key_only_once)
{
    store_put(store, "fox", "red");
    cr_expect_eq(store_delete(store, "fox"), 0);
    cr_expect_eq(store_delete(store, "fox"), -1);
    cr_expect_eq(errno, ENOENT);
}

TEST_LOG(store, evicts_the_least_recently_used, .timeout = 5)
{
    {
        trace_span(INFO, "fill", ("pairs", 3)); /* until the end of the block */

        store_put(store, "ant", "black");
        store_put(store, "bee", "yellow");
        store_put(store, "cat", "white");
    }
    cr_assert(has(store, "ant", "black"));
    log_info("ant was used, so bee is the oldest of %zu", store_len(store));
    store_put(store, "dog", "brown");
    cr_expect_not(has(store, "bee", "yellow"));
    cr_expect(has(store, "ant", "black"));
    /* A test can assert on all records, whatever LOG shows. */
    log_expect_event_count(1, "kv=debug", "/^evicted/");
    log_expect_event("{entry=\"bee -> yellow\"}");
    log_expect_span_count(3, "fill:store_put");
}

static char path[] = "/tmp/store_test.XXXXXX";

static void make_file(void)
{
    int fd = mkstemp(path);

    if (fd >= 0)
        close(fd);
}

static void remove_file(void)
{
    unlink(path);
}

/* This test shows every line of the store, unless LOG is set. */
TEST_LOG_DEFAULT("info,kv=trace", store, loads_a_snapshot, .init = make_file,
                 .fini = remove_file)
{
    store_put(store, "ant", "black");
    store_put(store, "bee", "yellow\nand black");
    cr_assert_eq(store_save(store, path), 0);

    struct store *copy = store_new(1); /* room for the newest pair */

    cr_assert_eq(store_load(copy, path), 0);
    cr_expect(has(copy, "bee", "yellow\nand black"));
    cr_expect_eq(store_len(copy), 1);
    store_free(copy);
}

/* ERROR lines do not fail a test. This test asserts on them. */
TEST_LOG(store, logs_why_a_snapshot_failed, .init = make_file,
         .fini = remove_file)
{
    cr_expect_eq(store_load(store, path), -1,
                 "an empty file is not a snapshot");
    cr_expect_eq(errno, EBADMSG);
    cr_expect_eq(store_save(store, "/dev/full"), -1);
    cr_expect_eq(errno, ENOSPC);
    log_expect_event("=error", "{error=EBADMSG}");
    log_expect_contains("snapshot failed what=");
}

struct filling {
    size_t capacity, puts, len; /* pairs */
};

ParameterizedTestParameters(store, never_exceeds_its_capacity)
{
    static struct filling fillings[] = {
        {1, 5, 1}, {4, 4, 4}, {64, 10, 10}, {10, 15, 10}};

    return cr_make_param_array(struct filling, fillings,
                               sizeof(fillings) / sizeof(fillings[0]));
}

PARAMETERIZED_TEST_LOG(struct filling *filling, store,
                       never_exceeds_its_capacity)
{
    struct store *filled = store_new(filling->capacity);

    trace_span(INFO, "filling", ("puts", filling->puts));
    for (size_t i = 0; i < filling->puts; i++) {
        char key[32];

        snprintf(key, sizeof(key), "key %zu", i);
        store_put(filled, key, "value");
    }
    cr_expect_eq(store_len(filled), filling->len);
    store_free(filled);
}

TheoryDataPoints(store, stores_any_string) = {
    DataPoints(const char *, "", "fox", "two\nlines", "a=b", "f\xc3\xbcr"),
    DataPoints(const char *, "", "red", "\x1b[31mred"),
};

THEORY_LOG((const char *key, const char *value), store, stores_any_string)
{
    store_put(store, key, value);
    cr_assert(has(store, key, value));
}

TEST_LOG(store, expires_old_pairs)
{
    cr_skip_test("the store has no clock");
}
