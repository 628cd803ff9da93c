/* trace_room_test.c: the space that threads and processes take in a recording.
 */
#include "tests/support/support.h"

#include "trace/format.h"
#include "trace/read/reader.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(trace_room, .init = test_folder, .timeout = 120);

static void expect_all(const char *name, size_t count)
{
    struct trace_reader *reader = test_read();

    cr_expect_eq(trace_reader_summary(reader).dropped, 0);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EVENT, name), count);
}

/* ---- Threads that live at the same time ---- */

static pthread_barrier_t all;
static unsigned each;

static void *record_in_wave(void *unused)
{
    for (unsigned i = 0; i < each; i++)
        trace_event(INFO, "of a wave", ("i", i));
    pthread_barrier_wait(&all);
    return unused;
}

static void run_wave(unsigned threads, unsigned events)
{
    pthread_t *started = calloc(threads, sizeof(*started));

    cr_assert_not_null(started);
    each = events;
    pthread_barrier_init(&all, NULL, threads);
    for (unsigned i = 0; i < threads; i++)
        cr_assert_eq(pthread_create(&started[i], NULL, record_in_wave, NULL),
                     0);
    for (unsigned i = 0; i < threads; i++)
        pthread_join(started[i], NULL);
    pthread_barrier_destroy(&all);
    free(started);
}

/* A chunk for each thread would take 16 MiB. */
Test(trace_room, shares_chunks_among_live_threads)
{
    test_record_limit(2 << 20);
    run_wave(256, 5);
    expect_all("of a wave", 256 * 5);
}

Test(trace_room, reuses_the_space_of_ended_threads)
{
    test_record_limit(2 << 20);
    for (int i = 0; i < 10; i++)
        run_wave(128, 5);
    expect_all("of a wave", 10 * 128 * 5);
}

/* At most twice the size of the records, plus one piece for each thread. */
Test(trace_room, takes_space_in_proportion_to_the_records)
{
    enum { THREADS = 16 };
    static const unsigned events[] = {1, 50, 100, 300, 1000, 3000};
    struct stat status;

    for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++) {
        off_t recorded = (off_t)THREADS * events[i] * 2 * TRACE_SLOT_SIZE;

        test_record();
        run_wave(THREADS, events[i]);
        expect_all("of a wave", THREADS * events[i]);
        cr_assert_eq(trace_shrink(test_path("recording")), 0);
        cr_assert_eq(stat(test_path("recording"), &status), 0);
        cr_expect_leq(
            status.st_size,
            2 * recorded + THREADS * TRACE_PIECE_SIZE + 3 * TRACE_CHUNK_SIZE,
            "%ld bytes for %ld", (long)status.st_size, (long)recorded);
        unlink(test_path("recording"));
    }
}

/* ---- One thread after another ---- */

static void *record_text(void *context)
{
    static const char text[20000];
    size_t size = *(size_t *)context;

    trace_event(INFO, "short", ("text", trace_bytes(text, size)));
    return NULL;
}

Test(trace_room, reuses_tails_of_any_size)
{
    size_t recorded = 0, threads = 4000;

    test_seed(7);
    test_record_limit(16 << 20);
    for (size_t i = 0; i < threads; i++) {
        size_t size = i % 50 ? test_below(500) : test_below(20000);

        recorded += size + 5 * TRACE_SLOT_SIZE;
        test_thread(record_text, &size);
    }
    expect_all("short", threads);
    cr_assert_eq(trace_shrink(test_path("recording")), 0);

    struct stat status;

    cr_assert_eq(stat(test_path("recording"), &status), 0);
    cr_expect_leq((size_t)status.st_size, recorded * 3 / 2, "%ld bytes for %zu",
                  (long)status.st_size, recorded);
}

/* ---- Processes ---- */

static void record_one(void)
{
    trace_event(INFO, "of a child");
}

Test(trace_room, shares_chunks_among_children)
{
    test_record_limit(2 << 20);
    for (int i = 0; i < 200; i++)
        cr_assert_eq(test_child(record_one), 0);
    expect_all("of a child", 200);
}

static pid_t fork_recorder(void)
{
    pid_t child = fork();

    cr_assert_geq(child, 0);
    if (!child) {
        for (int i = 0; i < 2000; i++)
            trace_event(INFO, "of a child", ("i", i));
        _exit(0);
    }
    return child;
}

Test(trace_room, records_children_and_threads_at_the_same_time)
{
    enum { CHILDREN = 20 };

    test_record();
    trace_event(INFO, "of the parent");
    for (int i = 0; i < CHILDREN; i++)
        fork_recorder();
    run_wave(16, 1000);
    for (int i = 0; i < CHILDREN; i++)
        wait(NULL);

    struct trace_reader *reader = test_read();

    cr_expect_eq(test_count(reader, TRACE_ENTRY_EVENT, "of a child"),
                 CHILDREN * 2000);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EVENT, "of a wave"), 16 * 1000);
}

/* ---- A full recording ---- */

enum { FULL = TRACE_LIMIT_LEAST / TRACE_SLOT_SIZE };

static void fill(void)
{
    for (int i = 0; i < FULL; i++)
        trace_event(INFO, "of the first");
}

static uint64_t lost_of(struct trace_reader *reader)
{
    return trace_reader_summary(reader).lost[TRACE_LOSS_LIMIT];
}

/* Each record is there or was counted as lost. */
static void expect_in_sum(const char *name, size_t count)
{
    struct trace_reader *reader = test_read();

    cr_expect_eq(test_count(reader, TRACE_ENTRY_EVENT, "of the first") +
                     test_count(reader, TRACE_ENTRY_EVENT, name) +
                     lost_of(reader),
                 FULL + count);
}

/* More threads than there are counters. */
Test(trace_room, counts_what_threads_lose)
{
    test_record_limit(TRACE_LIMIT_LEAST);
    fill();
    for (int i = 0; i < 3; i++)
        run_wave(TRACE_COUNTERS + 20, 100);
    expect_in_sum("of a wave", (size_t)3 * (TRACE_COUNTERS + 20) * 100);
}

enum { LOST_EACH = 50000 };

static void lose_many(void)
{
    for (int i = 0; i < LOST_EACH; i++)
        trace_event(INFO, "of a child");
}

/* A child has its parent's counters, but must not count there. */
Test(trace_room, counts_what_children_lose)
{
    enum { CHILDREN = 8 };

    test_record_limit(TRACE_LIMIT_LEAST);
    fill();
    for (int i = 0; i < CHILDREN; i++) {
        pid_t child = fork();

        cr_assert_geq(child, 0);
        lose_many();
        if (!child)
            _exit(0);
    }
    while (wait(NULL) > 0)
        ;
    expect_in_sum("of a child", (size_t)2 * CHILDREN * LOST_EACH);
}

static pthread_barrier_t ended;

static void *end_when_told(void *unused)
{
    trace_event(INFO, "of another");
    pthread_barrier_wait(&ended); /* it has space, */
    pthread_barrier_wait(&ended); /* and the recording is full */
    return unused;
}

Test(trace_room, uses_space_that_is_returned_when_it_is_full)
{
    struct trace_reader *reader;
    pthread_t other;

    test_record_limit(TRACE_LIMIT_LEAST);
    pthread_barrier_init(&ended, NULL, 2);
    cr_assert_eq(pthread_create(&other, NULL, end_when_told, NULL), 0);
    pthread_barrier_wait(&ended);
    fill();
    pthread_barrier_wait(&ended);
    pthread_join(other, NULL);
    for (int i = 0; i < 10; i++)
        trace_event(INFO, "after it");
    reader = test_read();
    cr_expect_gt(lost_of(reader), 0);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EVENT, "after it"), 10);
}

/* A site without an id asks for space for its description, too. */
Test(trace_room, counts_what_new_call_sites_lose)
{
    test_record_limit(TRACE_LIMIT_LEAST);
    fill();
    for (int i = 0; i < 100; i++) {
        trace_event(INFO, "never seen before");
        log_info("nor this %d", i);
    }
    expect_in_sum("never seen before", 200);
}
