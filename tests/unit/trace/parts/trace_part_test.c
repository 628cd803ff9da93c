/* trace_part_test.c: recordings that follow each other in one file, with
 * threads and children that outlive them. */
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/format.h"
#include "trace/parts/parts.h"
#include "trace/read/reader.h"
#include "trace/recording.h"

static int file;

static void begin(void)
{
    test_folder();
    file = open(test_path("parts"), O_RDWR | O_CREAT | O_EXCL, 0600);
    cr_assert_geq(file, 0);
    cr_assert_eq(trace_parts_begin(), 0);
}

TestSuite(trace_part, .init = begin, .timeout = 60);

static uint64_t file_size(void)
{
    struct stat status;

    fstat(file, &status);
    return (uint64_t)status.st_size;
}

static uint64_t open_next(void)
{
    uint64_t offset;

    cr_assert_eq(trace_open_part(file, &offset, &(struct trace_options){0}), 0,
                 "%s", strerror(errno));
    return offset;
}

static struct trace_reader *read_part(uint64_t offset)
{
    char name[64];

    snprintf(name, sizeof(name), "parts#%llu", (unsigned long long)offset);
    return trace_reader_open(test_path(name));
}

static size_t events_of(uint64_t offset)
{
    struct trace_reader *reader = read_part(offset);
    struct trace_entry entry;
    size_t count = 0;

    cr_assert(reader, "%s", strerror(errno));
    while (trace_reader_next(reader, &entry))
        count += entry.kind == TRACE_ENTRY_EVENT;
    trace_reader_close(reader);
    return count;
}

static void record(int events)
{
    for (int i = 0; i < events; i++)
        trace_event(INFO, "event", ("i", i));
}

Test(trace_part, follow_each_other)
{
    enum { PARTS = 50 };
    uint64_t offsets[PARTS], size = 0;

    for (int i = 0; i < PARTS; i++) {
        offsets[i] = open_next();
        record(i * i);
        cr_expect_eq(offsets[i], size);
        size += trace_close_part();
    }
    for (int i = 0; i < PARTS; i++)
        cr_expect_eq(events_of(offsets[i]), (size_t)(i * i));
}

Test(trace_part, a_short_one_takes_two_pages)
{
    open_next();
    record(3);
    cr_expect_eq(trace_close_part(), 2 * 4096);
}

Test(trace_part, need_few_addresses)
{
    const struct rlimit limit = {UINT64_C(2) << 30, UINT64_C(2) << 30};

    if (SANITIZE_FLAGS[0])
        cr_skip_test("a sanitizer owns the memory");
    setrlimit(RLIMIT_AS, &limit);
    for (int i = 0; i < 200; i++) {
        open_next();
        record(3);
        trace_close_part();
    }
}

Test(trace_part, refuse_what_is_no_part)
{
    open_next();
    record(3);
    trace_close_part();
    cr_expect_null(trace_reader_open(test_path("parts#4096")));
    cr_expect_null(trace_reader_open(test_path("parts#99999999")));
    cr_expect_null(trace_reader_open(test_path("parts#18446744073709551615")));
    cr_expect_null(trace_reader_open(test_path("parts#")));
    cr_expect_null(trace_reader_open(test_path("parts#0x")));
    cr_expect_null(trace_reader_open(test_path("missing#0")));
}

Test(trace_part, prefers_a_file_of_that_name)
{
    uint64_t offset = open_next();

    record(3);
    trace_close_part();
    cr_expect_eq(events_of(offset), 3);
    cr_assert_eq(symlink("/dev/null", test_path("parts#0")), 0);
    cr_expect_null(read_part(offset));
}

/* ---- Threads ---- */

struct worker {
    pthread_t thread;
    uint32_t id;
    int number; /* of the step that it has done */
    int wanted;
};

static void step(struct worker *worker)
{
    int wanted = __atomic_add_fetch(&worker->wanted, 1, __ATOMIC_SEQ_CST);

    while (__atomic_load_n(&worker->number, __ATOMIC_SEQ_CST) < wanted)
        usleep(100);
}

static void *work(void *context)
{
    struct worker *worker = context;

    worker->id = (uint32_t)syscall(SYS_gettid);
    while (worker->number >= 0) {
        while (__atomic_load_n(&worker->wanted, __ATOMIC_SEQ_CST) ==
               worker->number)
            usleep(100);
        record(1);
        __atomic_add_fetch(&worker->number, 1, __ATOMIC_SEQ_CST);
    }
    return NULL;
}

Test(trace_part, threads_record_into_the_next_one)
{
    static struct worker worker; /* it goes on when the test has ended */
    uint64_t offsets[20];

    pthread_create(&worker.thread, NULL, work, &worker);
    for (int i = 0; i < 20; i++) {
        offsets[i] = open_next();
        record(2);
        step(&worker);
        trace_close_part();
    }
    for (int i = 0; i < 20; i++)
        cr_expect_eq(events_of(offsets[i]), 3);
}

Test(trace_part, barred_threads_record_nothing)
{
    static struct worker worker; /* it goes on when the test has ended */
    uint64_t first, second;

    first = open_next();
    pthread_create(&worker.thread, NULL, work, &worker);
    step(&worker);
    trace_close_part();
    cr_assert_eq(trace_bar_threads((uint32_t[]){7, worker.id}, 2), 0);
    second = open_next();
    record(2);
    step(&worker);
    trace_close_part();
    cr_expect_eq(events_of(first), 1);
    cr_expect_eq(events_of(second), 2);
}

/* ---- Children ---- */

Test(trace_part, a_child_records_into_its_parents)
{
    uint64_t offset = open_next();
    pid_t child = fork();

    record(1);
    if (!child)
        _exit(0);
    waitpid(child, NULL, 0);
    trace_close_part();
    cr_expect_eq(events_of(offset), 2);
}

Test(trace_part, a_child_may_begin_one_behind_its_parents)
{
    uint64_t offset = open_next(), behind = 4096 + 4095 * 65536;
    pid_t child = fork();

    if (!child) {
        trace_close_part();
        if (open_next() != behind)
            _exit(1);
        record(5);
        trace_close_part();
        _exit(0);
    }
    record(1);
    waitpid(child, NULL, 0);
    trace_close_part();
    cr_expect_eq(events_of(offset), 1);
    cr_expect_eq(events_of(behind), 5);
}

Test(trace_part, a_killed_process_leaves_one)
{
    pid_t child = fork();

    if (!child) {
        open_next();
        record(7);
        kill(getpid(), SIGKILL);
    }
    waitpid(child, NULL, 0);
    cr_expect_eq(events_of(0), 7);
}

/* ---- Compact parts ---- */

enum { COPIED = 5 };

/* Writes parts of 0, 3, ... events, one of which is long, and copies them. */
static void copy_parts(uint64_t offsets[COPIED])
{
    static const int events[COPIED] = {0, 3, 3000, 1, 7};
    FILE *copy = fopen(test_path("copy"), "w");
    uint64_t at = 0;

    cr_assert(copy);
    for (int i = 0; i < COPIED; i++) {
        offsets[i] = open_next();
        record(events[i]);
        trace_close_part();
        cr_assert_eq(trace_copy_part(file, &offsets[i], copy, &at), 0);
    }
    cr_assert_eq(fclose(copy), 0);
    cr_assert_eq(rename(test_path("copy"), test_path("parts")), 0);
    file = open(test_path("parts"), O_RDWR);
    cr_expect_eq(file_size(), at);
}

Test(trace_part, a_compact_copy_has_the_same_records)
{
    uint64_t offsets[COPIED], offset = 0;

    copy_parts(offsets);
    cr_expect_eq(events_of(offsets[0]), 0);
    cr_expect_eq(events_of(offsets[1]), 3);
    cr_expect_eq(events_of(offsets[2]), 3000);
    cr_expect_eq(events_of(offsets[3]), 1);
    cr_expect_eq(events_of(offsets[4]), 7);
    cr_expect_lt(offsets[1], 1024);
    for (int i = 1; i < COPIED; i++) {
        cr_expect(trace_next_part(file, &offset));
        cr_expect_eq(offset, offsets[i]);
    }
    cr_expect_not(trace_next_part(file, &offset));
}

Test(trace_part, a_part_is_found_behind_a_hole)
{
    uint64_t offset = 0, behind = open_next();
    pid_t child = fork();

    if (!child) {
        behind = open_next();
        record(2);
        trace_close_part();
        _exit(0);
    }
    waitpid(child, NULL, 0);
    trace_close_part();
    cr_expect(trace_next_part(file, &offset));
    cr_expect_neq(offset, behind);
    cr_expect_eq(events_of(offset), 2);
    cr_expect_not(trace_next_part(file, &offset));
}

/* Any bytes can be read, and the parts of any file end. */
Test(trace_part, reads_damaged_parts)
{
    uint64_t offsets[COPIED], size;
    unsigned char *whole;

    copy_parts(offsets);
    size = file_size();
    whole = malloc(size);
    cr_assert_eq(pread(file, whole, size, 0), (ssize_t)size);
    srand(1);
    for (int round = 0; round < 300; round++) {
        uint64_t offset = 0;
        int steps = 0;

        cr_assert_eq(pwrite(file, whole, size, 0), (ssize_t)size);
        for (int i = 0; i < 20; i++) {
            uint64_t at = offsets[rand() % COPIED] + (uint64_t)rand() % 512;
            unsigned char byte = (unsigned char)(rand() % 3 ? rand() : 0xff);

            cr_assert_eq(pwrite(file, &byte, 1, (off_t)at), 1);
        }
        do {
            trace_reader_close(read_part(offset));
            steps++;
        } while (trace_next_part(file, &offset));
        cr_expect_leq(steps, 2 * COPIED);
    }
    free(whole);
}
