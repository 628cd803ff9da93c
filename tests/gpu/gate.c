/* gate.c: whether CUPTI can write its records into a file that outlives the
 * process.
 *
 *  gate run FILE WORK COUNT    hands CUPTI buffers in FILE, launches as in
 *                              launches.h, appends a row, and kills itself
 *  gate read FILE WORK         appends a row of what lies in FILE
 *
 * Rows are JSON objects, which go to the file BENCH_OUT, or to stdout.
 * BENCH_LAUNCHES and TRACE_CUPTI are those of bench.c.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cupti_min.h"
#include "launches.h"

enum { BUFFERS = 512, BUFFER = 1 << 20, KERNEL = 10, RUNTIME = 5 };

/* The beginning of each buffer, for the reader. */
struct head {
    uint64_t valid;     /* bytes with records, once it is completed */
    uint32_t completed; /* atomic */
    uint32_t unused[13];
};
_Static_assert(sizeof(struct head) == 64, "buffers are aligned to 64 bytes");

/* The first bytes of the file; buffers follow, each in BUFFER bytes. */
struct file {
    uint64_t taken;    /* atomic: buffers */
    uint64_t launched; /* kernels */
};

static uint8_t *mapping;

static void stop(const char *what)
{
    fprintf(stderr, "gate: %s\n", what ? what : "?");
    exit(2);
}

static struct file *file(void)
{
    return (struct file *)mapping;
}

static struct head *head_of(uint64_t number)
{
    return (struct head *)(mapping + (number + 1) * BUFFER);
}

static void map_file(const char *path, bool create)
{
    const size_t size = (size_t)(BUFFERS + 1) * BUFFER;
    int fd = open(path, create ? O_RDWR | O_CREAT | O_TRUNC : O_RDWR, 0600);

    if (fd < 0 || (create && ftruncate(fd, (off_t)size)))
        stop(path);
    mapping = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (mapping == MAP_FAILED)
        stop("mmap");
    close(fd);
}

static FILE *open_rows(void)
{
    const char *path = getenv("BENCH_OUT");
    FILE *out = path ? fopen(path, "ae") : stdout;

    if (!out)
        stop("cannot write BENCH_OUT");
    return out;
}

/* ---- Writing ---- */

static uint8_t *make(size_t *size)
{
    uint64_t number = __atomic_fetch_add(&file()->taken, 1, __ATOMIC_RELAXED);

    *size = BUFFER - sizeof(struct head);
    return number < BUFFERS ? (uint8_t *)(head_of(number) + 1) : NULL;
}

static void take(uint8_t *buffer, size_t valid)
{
    struct head *head = (struct head *)buffer - 1;

    head->valid = valid;
    __atomic_store_n(&head->completed, 1, __ATOMIC_RELEASE);
}

static void launch(const char *work, long count)
{
    const char *path = getenv("BENCH_LAUNCHES");
    void *library = path ? dlopen(path, RTLD_NOW) : NULL;
    int (*init)(void) =
        (int (*)(void))(library ? dlsym(library, "launches_init") : NULL);
    int (*run)(const char *, long, struct launches *) =
        (int (*)(const char *, long, struct launches *))(
            library ? dlsym(library, "launches_run") : NULL);
    struct launches warm = {0}, done = {0};
    FILE *out = open_rows();

    cupti_min.make = make;
    cupti_min.take = take;
    if (!init || !run)
        stop(path ? dlerror() : "BENCH_LAUNCHES is not set");
    if (cupti_min_start(":10,5"))
        stop(cupti_min.refused);
    if (init() || run("empty", 1000, &warm) || run(work, count, &done))
        stop("the work failed");
    file()->launched = (uint64_t)(warm.kernels + done.kernels);
    fprintf(out,
            "{\"kind\":\"bench\",\"mode\":\"shared file\",\"work\":\"%s\","
            "\"count\":%ld,\"repetition\":0,\"launch_p50_ns\":%.0f,"
            "\"launch_mean_ns\":%.0f,\"launch_p99_ns\":%.0f}\n",
            work, count, done.p50, done.mean, done.p99);
    fflush(out);
    kill(getpid(), SIGKILL);
}

/* ---- Reading ---- */

struct found {
    long kernels, calls;
    long open; /* kernels without an end */
    long torn; /* kernels and calls without another part */
};

static uint64_t at(const uint8_t *record, size_t offset, size_t size)
{
    uint64_t value = 0;

    memcpy(&value, record + offset, size);
    return value;
}

/* The offsets are those of CUpti_ActivityKernel9 and CUpti_ActivityAPI. */
static void add(struct found *found, const uint8_t *record)
{
    if (at(record, 0, 4) == KERNEL) {
        found->kernels++;
        found->open += !at(record, 24, 8);
        found->torn +=
            !at(record, 16, 8) || !at(record, 92, 4) || !at(record, 104, 8);
    } else if (at(record, 0, 4) == RUNTIME) {
        found->calls++;
        found->torn +=
            !at(record, 8, 8) || !at(record, 16, 8) || !at(record, 32, 4);
    }
}

static void count(struct found *found, const uint8_t *buffer, size_t size)
{
    void *record = NULL;

    while (!cupti_min_next(buffer, size, &record) && at(record, 0, 4))
        add(found, record);
}

static void put_found(FILE *out, const char *name, const struct found *found)
{
    fprintf(out,
            ",\"%s\":{\"kernels\":%ld,\"calls\":%ld,\"open\":%ld,"
            "\"torn\":%ld}",
            name, found->kernels, found->calls, found->open, found->torn);
}

static void read_all(const char *work)
{
    struct found completed = {0}, unfinished = {0};
    uint64_t taken = file()->taken < BUFFERS ? file()->taken : BUFFERS;
    FILE *out = open_rows();

    if (cupti_min_load())
        stop(cupti_min.refused);
    for (uint64_t i = 0; i < taken; i++) {
        const struct head *head = head_of(i);

        if (head->completed)
            count(&completed, (const uint8_t *)(head + 1), head->valid);
        else
            count(&unfinished, (const uint8_t *)(head + 1),
                  BUFFER - sizeof(*head));
    }
    fprintf(out,
            "{\"kind\":\"gate\",\"work\":\"%s\",\"buffers\":%lu,"
            "\"launched\":%lu",
            work, (unsigned long)file()->taken,
            (unsigned long)file()->launched);
    put_found(out, "completed", &completed);
    put_found(out, "unfinished", &unfinished);
    fprintf(out, "}\n");
}

int main(int argc, char **argv)
{
    bool reads = argc == 4 && !strcmp(argv[1], "read");

    if (!reads && (argc != 5 || strcmp(argv[1], "run") != 0))
        stop("usage: gate run FILE WORK COUNT | gate read FILE WORK");
    map_file(argv[2], !reads);
    if (reads)
        read_all(argv[3]);
    else
        launch(argv[3], atol(argv[4]));
    return 0;
}
