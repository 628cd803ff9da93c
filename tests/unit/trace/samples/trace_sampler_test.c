/* trace_sampler_test.c: gathers events as the kernel reports them, and reads
 * them back from a recording.
 */
#include "tests/support/calls.h"

#include "trace/samples/sampler.h"
#include "trace/samples/samples.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

TestSuite(trace_sampler, .init = test_folder);

enum { RUNNER = 10, WORKER = 20, OTHER = 30, CHILD = 21 };

static struct trace_sampler sampler;

static uint64_t now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void take(struct trace_perf_event event)
{
    event.time = event.time ? event.time : now();
    trace_sampler_take(&sampler, &event);
}

static void start(uint32_t pid, uint32_t parent)
{
    take((struct trace_perf_event){
        .kind = TRACE_PERF_FORK, .pid = pid, .tid = pid, .parent = parent});
}

static void map(uint32_t pid, const char *path, uint64_t low)
{
    take((struct trace_perf_event){.kind = TRACE_PERF_MAP,
                                   .pid = pid,
                                   .text = path,
                                   .low = low,
                                   .size = 0x1000,
                                   .place = 0x2000,
                                   .build_id = (const unsigned char *)"id",
                                   .build_id_size = 2});
}

static void sample(uint32_t pid, size_t count, const uint64_t *addresses)
{
    take((struct trace_perf_event){.kind = TRACE_PERF_SAMPLE,
                                   .weight = 1000000,
                                   .pid = pid,
                                   .tid = pid,
                                   .addresses = addresses,
                                   .count = count});
}

static const uint64_t two[] = {0x7010, 0x7101};

static void begin(void)
{
    sampler = (struct trace_sampler){.runner = RUNNER};
    start(WORKER, RUNNER);
    take((struct trace_perf_event){.kind = TRACE_PERF_EXEC, .pid = WORKER});
    map(WORKER, "/bin/worker", 0x7000);
}

/* A recording with so many bytes for calls. */
static void record(uint64_t limit)
{
    struct trace_options options = {.limit = TRACE_LIMIT_LEAST,
                                    .functions_limit = limit};

    cr_assert_eq(trace_open(test_path("recording"), &options), 0);
}

static size_t put(uint32_t worker)
{
    trace_close();
    return trace_sampler_put(&sampler, worker, AT_FDCWD,
                             test_path("recording"));
}

/* Returns the number of samples of a process. */
static size_t count_of(const struct trace_reader *reader, uint32_t pid)
{
    struct trace_sample_cursor cursor = {0};
    struct trace_sample found;
    size_t count = 0;

    while (trace_reader_sample(reader, &cursor, &found))
        count += found.thread->pid == pid;
    return count;
}

/* Returns the frames of a recording's first sample as a text. */
static const char *frames_of(const struct trace_reader *reader)
{
    static struct trace_text text;
    struct trace_sample_cursor cursor = {0};
    const struct trace_stack_frame *frames;
    struct trace_function_name unused;
    struct trace_sample found;
    size_t count;

    cr_assert(trace_reader_sample(reader, &cursor, &found));
    count = trace_reader_stack(reader, found.stack, &frames);
    trace_text_clear(&text);
    for (size_t i = 0; i < count; i++) {
        trace_text_string(&text, i ? " " : "");
        trace_name_frame(&text, reader, &frames[i], &unused);
    }
    return text.data;
}

/* A return address counts as the call before it. */
Test(trace_sampler, keeps_stacks_as_places_in_files)
{
    struct trace_reader *reader;
    struct trace_sample_cursor cursor = {0};
    struct trace_sample found;

    record(1 << 20);
    begin();
    sample(WORKER, 2, two);
    cr_assert_eq(put(WORKER), 0);
    reader = test_open();
    cr_expect_str_eq(frames_of(reader), "worker+0x2010 worker+0x2100");
    cr_assert(trace_reader_sample(reader, &cursor, &found));
    cr_expect_eq(found.weight, 1000000);
    cr_expect_leq(found.time, trace_reader_summary(reader).end);
    cr_expect_geq(found.time, trace_reader_summary(reader).begin);
    cr_expect_not(trace_reader_sample(reader, &cursor, &found));
}

Test(trace_sampler, leaves_entries_as_they_are)
{
    struct trace_reader *reader;
    struct trace_entry entry;
    size_t entries = 0;

    record(1 << 20);
    trace_event(INFO, "one");
    begin();
    for (int i = 0; i < 10000; i++)
        sample(WORKER, 2, two);
    trace_event(INFO, "two");
    cr_assert_eq(put(WORKER), 0);
    reader = test_open();
    while (trace_reader_next(reader, &entry))
        entries++;
    cr_expect_eq(entries, 2);
    cr_expect_eq(count_of(reader, WORKER), 10000);
}

Test(trace_sampler, ends_a_stack_where_no_code_is)
{
    const uint64_t addresses[] = {0x7010, 0x7101, 0x123, 0x7201};

    record(1 << 20);
    begin();
    sample(WORKER, 4, addresses);
    put(WORKER);
    cr_expect_str_eq(frames_of(test_open()), "worker+0x2010 worker+0x2100");
}

Test(trace_sampler, keeps_samples_in_memory_without_a_file)
{
    const uint64_t address = 0x123;

    record(1 << 20);
    begin();
    sample(WORKER, 1, &address);
    put(WORKER);
    cr_expect_str_eq(frames_of(test_open()), "code without a file");
}

Test(trace_sampler, gives_children_to_their_worker)
{
    struct trace_reader *reader;

    record(1 << 20);
    begin();
    start(OTHER, RUNNER);
    start(CHILD, WORKER);
    sample(CHILD, 2, two); /* it has its parent's code */
    sample(OTHER, 2, two);
    sample(RUNNER, 2, two);
    cr_assert_eq(put(WORKER), 0);
    reader = test_open();
    cr_expect_eq(count_of(reader, CHILD), 1);
    cr_expect_eq(count_of(reader, OTHER), 0);
    cr_expect_eq(count_of(reader, RUNNER), 0);
    cr_expect_str_eq(frames_of(reader), "worker+0x2010 worker+0x2100");
}

Test(trace_sampler, finds_the_code_that_was_mapped_last)
{
    record(1 << 20);
    begin();
    map(WORKER, "/bin/before", 0x6800);
    map(WORKER, "/bin/worker", 0x7800);
    map(WORKER, "/lib/plugin", 0x7000);
    sample(WORKER, 2, two);
    put(WORKER);
    cr_expect_str_eq(frames_of(test_open()), "plugin+0x2010 plugin+0x2100");
}

/* As mprotect reports a page in the middle of a program's code. */
Test(trace_sampler, finds_the_code_around_a_map)
{
    const uint64_t around[] = {0x7010, 0x7101, 0x7901};

    record(1 << 20);
    begin();
    take((struct trace_perf_event){.kind = TRACE_PERF_MAP,
                                   .pid = WORKER,
                                   .text = "/lib/page",
                                   .low = 0x7100,
                                   .size = 0x100,
                                   .place = 0x100});
    sample(WORKER, 3, around);
    put(WORKER);
    cr_expect_str_eq(frames_of(test_open()),
                     "worker+0x2010 page+0x100 worker+0x2900");
}

Test(trace_sampler, forgets_what_outlives_its_test)
{
    record(1 << 20);
    begin();
    start(CHILD, WORKER);
    cr_assert_eq(put(WORKER), 0);
    sample(CHILD, 2, two);
    cr_assert_eq(
        trace_sampler_put(&sampler, WORKER, AT_FDCWD, test_path("recording")),
        0);
    cr_expect_not(trace_reader_has_samples(test_open()));
    cr_expect_eq(sampler.lost, 0);
}

/* The kernel gives the numbers of ended processes to new ones. */
Test(trace_sampler, takes_a_number_again)
{
    record(1 << 20);
    begin();
    start(CHILD, WORKER);
    take((struct trace_perf_event){
        .kind = TRACE_PERF_EXIT, .pid = CHILD, .tid = CHILD});
    start(OTHER, RUNNER);
    start(CHILD, OTHER);
    sample(CHILD, 2, two);
    cr_assert_eq(put(WORKER), 0);
    cr_expect_eq(count_of(test_open(), CHILD), 0);
}

static void thread(enum trace_perf_kind kind, uint32_t tid)
{
    take((struct trace_perf_event){
        .kind = kind, .pid = WORKER, .tid = tid, .parent = WORKER});
}

Test(trace_sampler, knows_a_process_until_its_last_thread_ends)
{
    record(1 << 20);
    begin();
    thread(TRACE_PERF_FORK, WORKER + 1);
    thread(TRACE_PERF_EXIT, WORKER);
    sample(WORKER, 2, two);
    thread(TRACE_PERF_EXIT, WORKER + 1);
    thread(TRACE_PERF_EXIT, WORKER + 1);
    put(WORKER);
    cr_expect_str_eq(frames_of(test_open()), "worker+0x2010 worker+0x2100");
}

Test(trace_sampler, keeps_the_last_name_of_a_thread)
{
    struct trace_sample_cursor cursor = {0};
    struct trace_sample found;
    char name[32];

    record(1 << 20);
    begin();
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof(name), "name %d which is long", i);
        take((struct trace_perf_event){.kind = TRACE_PERF_NAME,
                                       .pid = WORKER,
                                       .tid = WORKER,
                                       .text = name});
    }
    sample(WORKER, 2, two);
    put(WORKER);
    cr_assert(trace_reader_sample(test_open(), &cursor, &found));
    cr_expect_str_eq(found.thread->name, "name 999 which ");
}

/* ---- Faults ---- */

Test(trace_sampler, counts_what_has_no_space)
{
    record(0);
    begin();
    for (int i = 0; i < 100; i++)
        sample(WORKER, 2, two);
    cr_expect_eq(put(WORKER), 100);
}

Test(trace_sampler, counts_what_has_no_recording)
{
    FILE *file;

    begin();
    sample(WORKER, 2, two);
    cr_expect_eq(
        trace_sampler_put(&sampler, WORKER, AT_FDCWD, test_path("recording")),
        1);
    start(WORKER, RUNNER);
    sample(WORKER, 2, two);
    file = fopen(test_path("recording"), "w");
    cr_assert_not_null(file);
    fputs("no recording", file);
    fclose(file);
    cr_expect_eq(
        trace_sampler_put(&sampler, WORKER, AT_FDCWD, test_path("recording")),
        1);
}

Test(trace_sampler, counts_what_the_kernel_lost)
{
    begin();
    take((struct trace_perf_event){.kind = TRACE_PERF_LOST, .lost = 7});
    cr_expect_eq(sampler.lost, 7);
    trace_sampler_free(&sampler);
}

/* Any bytes may stand where samples and stacks are. */
Test(trace_sampler, is_read_from_a_damaged_recording)
{
    record(1 << 20);
    begin();
    for (int i = 0; i < 500; i++)
        sample(WORKER, 2, two);
    put(WORKER);
    srand(7);
    for (int i = 0; i < 300; i++) {
        int file = open(test_path("recording"), O_RDWR);
        struct trace_reader *reader;
        char byte = (char)rand();

        cr_assert_eq(pwrite(file, &byte, 1, 4096 + rand() % (2 * 65536 + 4000)),
                     1);
        close(file);
        reader = trace_reader_open(test_path("recording"));
        if (reader && trace_reader_has_samples(reader))
            frames_of(reader);
        trace_reader_close(reader);
    }
}
