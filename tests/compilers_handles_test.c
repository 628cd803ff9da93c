/* compilers_handles_test.c: what is known of compilers' handles. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "support.h"
#include "trace/devices/compilers/compilers.h"

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

    alarm(20); /* it waits for ever for a lock that nobody holds */
    trace_handle_keep(trace_handle_new(&handle));
    trace_handle_free(trace_handle_take(&handle));
}

Test(compilers_handles, a_fork_amid_compilers)
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
