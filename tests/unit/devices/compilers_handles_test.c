/* compilers_handles_test.c: remembers the handles of compilers. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/support.h"

#include "trace/devices/compilers/compilers.h"

Test(compilers_handles, returns_what_was_kept_once)
{
    static char handle, other;
    struct trace_handle *info = trace_handle_new(&handle);

    trace_handle_name(info, "");
    trace_handle_name(info, "saxpy.cu");
    trace_handle_name(info, "later.cu");
    trace_handle_keep(info);
    cr_expect_null(trace_handle_take(&other));
    cr_expect_eq(trace_handle_take(&handle), info);
    cr_expect_str_eq(info->name, "saxpy.cu");
    cr_expect_null(trace_handle_take(&handle));
    trace_handle_free(info);
}

/* The library may reuse the address of a handle that it has freed. */
Test(compilers_handles, a_reused_address_replaces_its_entry)
{
    static char handle;
    struct trace_handle *info = trace_handle_new(&handle);

    trace_handle_keep(trace_handle_new(&handle));
    trace_handle_keep(info);
    cr_expect_eq(trace_handle_take(&handle), info);
    cr_expect_null(trace_handle_take(&handle));
    trace_handle_free(info);
}

Test(compilers_handles, forgets_the_oldest_beyond_a_limit)
{
    enum { LIMIT = 1024 };
    static char handles[LIMIT + 1];

    for (size_t i = 0; i <= LIMIT; i++)
        trace_handle_keep(trace_handle_new(&handles[i]));
    cr_expect_null(trace_handle_take(&handles[0]));
    for (size_t i = 1; i <= LIMIT; i++) {
        struct trace_handle *info = trace_handle_take(&handles[i]);

        cr_assert(info, "%zu", i);
        trace_handle_free(info);
    }
}

Test(compilers_handles, hashes_source_that_comes_in_pieces)
{
    static char handle;
    struct trace_handle *pieces = trace_handle_new(&handle);
    struct trace_handle *whole = trace_handle_new(&handle);

    trace_handle_source(pieces, "foo", 3);
    trace_handle_source(pieces, NULL, 5);
    trace_handle_source(pieces, "bar", 3);
    trace_handle_source(whole, "foobar", 6);
    cr_expect_eq(pieces->source_bytes, 6);
    cr_expect_eq(pieces->source_fnv, whole->source_fnv);
    cr_expect_eq(whole->source_fnv, 0x85944171f73967e8);
    trace_handle_free(pieces);
    trace_handle_free(whole);
}

Test(compilers_handles, returns_no_entry_without_memory)
{
    char handle;

    if (!test_can_fail_memory())
        cr_skip_test("a sanitizer owns the memory");
    test_fail_memory(1, true);
    cr_expect_null(trace_handle_new(&handle));
    test_fail_memory(0, false);
    trace_handle_keep(NULL);
    trace_handle_name(NULL, "x");
    trace_handle_source(NULL, "x", 1);
    trace_handle_free(NULL);
}

/* ---- Threads and forks ---- */

static bool done;

static void *keeps_on(void *handle)
{
    while (!__atomic_load_n(&done, __ATOMIC_RELAXED)) {
        trace_handle_keep(trace_handle_new(handle));
        trace_handle_free(trace_handle_take(handle));
    }
    return NULL;
}

static void keep_one(void)
{
    char handle;

    alarm(20); /* in case it waits for a lock that its parent held */
    trace_handle_keep(trace_handle_new(&handle));
    trace_handle_free(trace_handle_take(&handle));
}

Test(compilers_handles, a_fork_during_compilations_leaves_no_lock)
{
    pthread_t threads[2];
    char handles[2];

    if (strstr(SANITIZE_FLAGS, "address"))
        cr_skip_test("the sanitizer's allocator is locked in the child");
    trace_handles_begin();
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, keeps_on, &handles[i]);
    for (int i = 0; i < 100; i++)
        cr_assert_eq(test_child(keep_one), 0);
    __atomic_store_n(&done, true, __ATOMIC_RELAXED);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}
