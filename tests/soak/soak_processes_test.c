/* soak_processes_test.c: threads and processes that come and go in great
 * numbers and at bad moments lose no record. `make soak` has more of them.
 */
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(soak_processes, .init = test_folder, .timeout = 300);

static unsigned in_soak(unsigned much, unsigned little)
{
    return getenv("SOAK") ? much : little;
}

static off_t size_of_recording(void)
{
    struct stat status;

    cr_assert_eq(trace_shrink(test_path("recording")), 0);
    cr_assert_eq(stat(test_path("recording"), &status), 0);
    return status.st_size;
}

static void expect_all(size_t count)
{
    struct trace_reader *reader = test_read();

    cr_expect_eq(trace_reader_summary(reader).dropped, 0);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EVENT, "kept"), count);
}

/* ---- Threads ---- */

static pthread_barrier_t wave;

static void *record_once(void *unused)
{
    trace_event(INFO, "kept");
    return unused;
}

static void *record_in_wave(void *unused)
{
    for (int i = 0; i < 10; i++)
        trace_event(INFO, "kept", ("i", i));
    pthread_barrier_wait(&wave);
    return unused;
}

Test(soak_processes, short_threads_lose_no_record)
{
    unsigned threads = in_soak(100000, 3000);

    test_record();
    for (unsigned i = 0; i < threads; i++)
        test_thread(record_once, NULL);
    expect_all(threads);
    cr_expect_lt(size_of_recording(), (off_t)threads * 256 + (1 << 20));
}

Test(soak_processes, waves_of_threads_lose_no_record)
{
    enum { MOST = 1000 };
    static pthread_t live[MOST];
    unsigned waves = in_soak(20, 2), threads = in_soak(MOST, 200);

    test_record();
    pthread_barrier_init(&wave, NULL, threads);
    for (unsigned n = 0; n < waves; n++) {
        for (unsigned i = 0; i < threads; i++)
            if (pthread_create(&live[i], NULL, record_in_wave, NULL))
                cr_skip_test("cannot start that many threads");
        for (unsigned i = 0; i < threads; i++)
            pthread_join(live[i], NULL);
    }
    expect_all((size_t)waves * threads * 10);
    cr_expect_lt(size_of_recording(), (off_t)waves * threads * 10 * 96 +
                                          (off_t)threads * 8192 + (1 << 20));
}

/* ---- Children ---- */

static void record_one(void)
{
    trace_event(INFO, "kept");
}

Test(soak_processes, forked_children_lose_no_record)
{
    unsigned children = in_soak(5000, 200);

    test_record_limit((uint64_t)children * 4096 + (2 << 20));
    for (unsigned i = 0; i < children; i++)
        cr_assert_eq(test_child(record_one), 0);
    expect_all(children);
}

static bool stop;

/* Holds the recorder's locks most of the time, and allocates chunks. */
static void *keep_locks_busy(void *unused)
{
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        test_thread(record_once, NULL);
        trace_disable();
        trace_enable();
    }
    return unused;
}

static void record_as_child(void)
{
    alarm(20); /* in case it waits for its parent's lock */
    for (int i = 0; i < 50; i++)
        trace_event(INFO, "of a child", ("i", i));
    _exit(0);
}

/* Returns how many children got stuck. A raw clone may find malloc's lock held,
 * but the recorder needs no memory. */
static unsigned clone_children(unsigned children)
{
    unsigned stuck = 0;
    int status;

    for (unsigned i = 0; i < children && !stuck; i++) {
        pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

        if (!child)
            record_as_child();
        cr_assert_eq(waitpid(child, &status, 0), child);
        stuck += status != 0;
        trace_event(INFO, "of the parent");
    }
    return stuck;
}

Test(soak_processes, raw_clones_lose_no_record)
{
    unsigned children = in_soak(3000, 100), stuck;
    struct trace_reader *reader;
    pthread_t thread;

    test_record();
    stuck = clone_children(children);
    cr_expect_eq(stuck, 0);
    reader = test_read();
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EVENT, "of a child"),
                 (size_t)children * 50);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EVENT, "of the parent"),
                 children);
    cr_expect_eq(trace_reader_summary(reader).dropped, 0);
    unlink(test_path("recording"));

    test_record();
    pthread_create(&thread, NULL, keep_locks_busy, NULL);
    stuck = clone_children(children);
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    cr_expect_eq(stuck, 0, "a child waited for its parent's lock");
}

/* ---- Survivors of a test ---- */

static void leave_behind(void)
{
    test_record();
    trace_event(INFO, "kept");
    for (int i = 0; i < 4; i++)
        if (!fork()) {
            for (int n = 0; n < 20000; n++)
                trace_event(INFO, "of a survivor", ("n", n));
            _exit(0);
        }
    _exit(0);
}

/* The file is truncated at any moment of their work. */
Test(soak_processes, survivors_outlive_truncation)
{
    unsigned runs = in_soak(200, 10);
    int status;

    cr_assert_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    test_seed(3);
    for (unsigned i = 0; i < runs; i++) {
        cr_assert_eq(test_child(leave_behind), 0);
        usleep(test_below(3000));
        cr_assert_eq(trace_shrink(test_path("recording")), 0);
        while (wait(&status) > 0)
            cr_assert_eq(status, 0, "a survivor died");

        struct trace_reader *reader = test_read();
        struct trace_summary summary = trace_reader_summary(reader);

        cr_expect_eq(test_count(reader, TRACE_ENTRY_EVENT, "kept"), 1);
        cr_expect_leq(test_count(reader, TRACE_ENTRY_EVENT, "of a survivor") +
                          summary.lost[TRACE_LOSS_END],
                      4 * 20000);
        cr_expect_eq(summary.dropped, summary.lost[TRACE_LOSS_END]);
        unlink(test_path("recording"));
    }
}
