/* floor.c: the lower bounds of recording, and the simplest alternatives. The
 * floor of a span is two reads of the recording's clock and two stores of 32
 * bytes into warm shared memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench.h"

#include "trace/base/clock.h"
#include "trace/format.h"
#include "trace/record/recorder.h"

/* ---- A call site that is off ---- */

#define FOUR(...)    __VA_ARGS__ __VA_ARGS__ __VA_ARGS__ __VA_ARGS__
#define SIXTEEN(...) FOUR(FOUR(__VA_ARGS__))

static uint8_t flag;

static __attribute__((noinline, cold)) void flagged(size_t i)
{
    keep(i);
}

double bench_load_and_branch(size_t count)
{
    double from = now_ns();

    for (size_t i = 0; i < count / 16; i++) {
        SIXTEEN(
            if (__builtin_expect(__atomic_load_n(&flag, __ATOMIC_RELAXED) != 0,
                                 0)) flagged(i);)
    }
    return (now_ns() - from) / (double)count;
}

/* ---- A span ---- */

/* Makes and maps a file like a recording's, with the first part reserved. */
static void *make_file(size_t size, size_t reserved)
{
    int fd = open(bench_path(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

    if (fd < 0 || (errno = posix_fallocate(fd, 0, (off_t)reserved)) ||
        ftruncate(fd, (off_t)size))
        bench_stop(bench_path());

    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (at == MAP_FAILED)
        bench_stop(bench_path());
    close(fd);
    madvise(at, size, MADV_RANDOM);
    return at;
}

static void *map_file(size_t size, size_t reserved)
{
    void *at = make_file(size, reserved);

    unlink(bench_path());
    return at;
}

struct trace_record *bench_ring(void)
{
    size_t size = BENCH_SLOTS * sizeof(struct trace_record);
    void *ring = map_file(size, size);

    memset(ring, 0, size);
    return ring;
}

static inline void store(struct trace_record *to, uint64_t time, uint64_t i)
{
    *to = (struct trace_record){.time = time, .site = 1, .end = i};
    keep(to);
}

void bench_store_spans(struct trace_record *ring, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        store(&ring[2 * i % BENCH_SLOTS], trace_clock_now(), i);
        store(&ring[(2 * i + 1) % BENCH_SLOTS], trace_clock_now(), i);
    }
}

static struct trace_record *own_ring(void)
{
    static struct trace_record *ring;

    if (!ring)
        ring = bench_ring();
    return ring;
}

double bench_floor(size_t count)
{
    struct trace_record *ring = own_ring();
    double from = now_ns();

    bench_store_spans(ring, count);
    return (now_ns() - from) / (double)count;
}

double bench_clock_gettime(size_t count)
{
    struct trace_record *ring = own_ring();
    double from = now_ns();

    for (size_t i = 0; i < count; i++) {
        store(&ring[2 * i % BENCH_SLOTS], (uint64_t)now_ns(), i);
        store(&ring[(2 * i + 1) % BENCH_SLOTS], (uint64_t)now_ns(), i);
    }
    return (now_ns() - from) / (double)count;
}

/* Returns a new file's records; space is reserved as the recorder does. */
static struct trace_record *fresh_records(void)
{
    size_t first = TRACE_HEADER_SIZE + TRACE_FIRST_CHUNKS * TRACE_CHUNK_SIZE;
    char *file = map_file(TRACE_LIMIT_DEFAULT, first);

    return (void *)(file + TRACE_HEADER_SIZE);
}

static inline void reserve_at(struct trace_record *record, size_t i)
{
    if (i % TRACE_CHUNK_SLOTS == 0 &&
        i / TRACE_CHUNK_SLOTS + 1 >= TRACE_FIRST_CHUNKS &&
        madvise(&record[i + TRACE_CHUNK_SLOTS], TRACE_CHUNK_SIZE,
                MADV_POPULATE_WRITE))
        bench_stop("madvise");
}

static void free_records(struct trace_record *record)
{
    munmap((char *)record - TRACE_HEADER_SIZE, TRACE_LIMIT_DEFAULT);
}

/* The bare loop: one record, whose end is stored in place. */
double bench_floor_fresh(size_t count)
{
    struct trace_record *record = fresh_records();
    double from = now_ns();

    for (size_t i = 0; i < count; i++) {
        reserve_at(record, i);
        store(&record[i], trace_clock_now(), 0);
        record[i].end = trace_clock_now();
        keep(record);
    }
    from = (now_ns() - from) / (double)count;
    free_records(record);
    return from;
}

/* A record at the beginning of a call, and one at its end. */
double bench_two_fresh(size_t count)
{
    struct trace_record *record = fresh_records();
    double from = now_ns();

    for (size_t i = 0; i < 2 * count; i++) {
        reserve_at(record, i);
        store(&record[i], trace_clock_now(), i);
    }
    from = (now_ns() - from) / (double)count;
    free_records(record);
    return from;
}

/* ---- A test's file ---- */

/* Only the system calls, and the first store to its header and to its first
 * chunk. */
double bench_make_file(size_t count)
{
    size_t first = TRACE_HEADER_SIZE + TRACE_FIRST_CHUNKS * TRACE_CHUNK_SIZE;
    double sum = 0;

    for (size_t i = 0; i < count; i++) {
        double from = now_ns();
        char *file = make_file(TRACE_LIMIT_DEFAULT, first);

        file[0] = file[TRACE_HEADER_SIZE] = 1;
        sum += now_ns() - from;
        munmap(file, TRACE_LIMIT_DEFAULT);
        unlink(bench_path());
    }
    return sum / (double)count;
}

/* ---- A line ---- */

/* Only the system call. */
static double write_all(int fd, size_t count)
{
    static const char line[] =
        "2026-11-21T01:56:24.123456Z  INFO request:parse: bench: fetched "
        "index=1234 share=0.5 key=\"value\"\n";
    double from = now_ns();

    for (size_t i = 0; i < count; i++)
        if (write(fd, line, sizeof(line) - 1) < 0)
            bench_stop("write");
    from = (now_ns() - from) / (double)count;
    close(fd);
    return from;
}

double bench_write_null(size_t count)
{
    return write_all(open("/dev/null", O_WRONLY | O_CLOEXEC), count);
}

double bench_write_file(size_t count)
{
    return write_all(scratch_file(), count);
}

/* Prints the text of a line in two spans, with three fields and a known
 * date. */
static double print(int fd, size_t count)
{
    char line[256];
    double from = now_ns();

    for (size_t i = 0; i < count; i++) {
        int size =
            snprintf(line, sizeof(line),
                     "%s.%06uZ %5s %s:%s: %s: %s index=%d share=%.1f "
                     "key=\"%s\"\n",
                     "2026-11-21T01:56:24", (unsigned)i, "INFO", "request",
                     "parse", "bench", "fetched", (int)i, 0.5, "value");

        if (write(fd, line, (size_t)size) < 0)
            bench_stop("write");
    }
    from = (now_ns() - from) / (double)count;
    close(fd);
    return from;
}

double bench_snprintf_null(size_t count)
{
    return print(open("/dev/null", O_WRONLY | O_CLOEXEC), count);
}

double bench_snprintf_file(size_t count)
{
    return print(scratch_file(), count);
}
