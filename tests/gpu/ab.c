/* ab.c: which part of tracing costs a launch how much, in one process, in
 * turns.
 *
 *  ab WORK COUNT ROUNDS [NAME...]    WORK as in launches.h, COUNT for a block
 *
 * Each round runs a block of each variant, or of those named, in an order that
 * rotates. A row for each variant, a JSON object, is appended to the file
 * BENCH_OUT, or to stdout: the median over all rounds of what a launch took in
 * its block more than in that of "off", with its quartiles.
 *
 * BENCH_LAUNCHES and TRACE_CUPTI are those of bench.c. AB_LAUNCH_CPU,
 * AB_SIBLING_CPU and AB_OTHER_CPU name processors: the launching thread's, one
 * of the same core, and one of another core.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "launches.h"

enum { ROUNDS = 64, RECORD = 256 /* bytes of a launch, about */ };

typedef void on_request(uint8_t **, size_t *, size_t *);
typedef void on_complete(void *, uint32_t, uint8_t *, size_t, size_t);

#define CALLS(X)                                                               \
    X(ActivityRegisterCallbacks, (on_request *, on_complete *))                \
    X(ActivityRegisterTimestampCallback, (uint64_t(*)(void)))                  \
    X(ActivityEnable, (int))                                                   \
    X(ActivityDisable, (int))                                                  \
    X(ActivityFlushAll, (uint32_t))                                            \
    X(ActivitySetAttribute, (int, size_t *, void *))

static struct {
#define X(name, parameters) int(*name) parameters;
    CALLS(X)
#undef X
} cupti;

static struct {
    int (*init)(void);
    int (*run)(const char *, long, struct launches *);
} launcher;

static void stop(const char *what)
{
    fprintf(stderr, "ab: %s\n", what ? what : "?");
    exit(2);
}

static uint64_t monotonic(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t ticks(void)
{
#ifdef __x86_64__
    return __builtin_ia32_rdtsc();
#else
    return monotonic();
#endif
}

/* ---- Variants ---- */

enum place { ANYWHERE, SIBLING, OTHER, SAME, PLACES };

static const struct variant {
    const char *name, *kinds;
    size_t buffer;      /* bytes */
    bool pool, zeroed;  /* buffers are used again; they are promised zeroed */
    bool prefault;      /* all pages of some are there */
    unsigned flush_ms;  /* 0: at the end */
    unsigned decode_ns; /* work for each record, while the program launches */
    enum place place;   /* of that work */
    bool fast_clock;
} variants[] = {
#define ALL   "10,5,39,1,22,2,4,17,52,38,49,8,9,37,11,36,25"
#define TORCH "10,5,39,1,2,4,17"
#define MIB   ((size_t)1 << 20)
#define POOL  .buffer = 4 * MIB, .pool = true
#define DECODE(ns, where)                                                      \
    .buffer = MIB, .flush_ms = 20, .decode_ns = (ns), .place = (where)
    {"off", "", .buffer = MIB},
    {"kernel", "10", .buffer = 4 * MIB},
    {"kernel+runtime", "10,5", .buffer = 4 * MIB},
    {"torch's", TORCH, .buffer = 4 * MIB, .fast_clock = true},
    {"torch's, slow clock", TORCH, .buffer = 4 * MIB},
    {"all kinds", ALL, .buffer = 4 * MIB},
    {"all, 256K", ALL, .buffer = MIB / 4},
    {"all, 1M", ALL, .buffer = MIB},
    {"all, 16M", ALL, .buffer = 16 * MIB},
    {"all, pool", ALL, POOL},
    {"all, pool+zeroed", ALL, POOL, .zeroed = true},
    {"all, pool+zeroed+prefault", ALL, POOL, .zeroed = true, .prefault = true},
    {"all, flush 250", ALL, .buffer = 4 * MIB, .flush_ms = 250},
    {"all, flush 20", ALL, .buffer = 4 * MIB, .flush_ms = 20},
    {"all, decode 3us other", ALL, DECODE(3000, OTHER)},
    {"all, decode 3us sibling", ALL, DECODE(3000, SIBLING)},
    {"all, decode 3us same", ALL, DECODE(3000, SAME)},
    {"all, decode 0.5us sibling", ALL, DECODE(500, SIBLING)},
    {"all, fast clock", ALL, .buffer = 4 * MIB, .fast_clock = true},
};
enum { VARIANTS = sizeof(variants) / sizeof(*variants) };

static const struct variant *volatile now_on = variants;

/* Registered once: after another time, CUPTI gives one more kernel the time of
 * another clock. */
static uint64_t stamp(void)
{
    return now_on->fast_clock ? ticks() : monotonic();
}

/* ---- Buffers ---- */

struct buffer {
    struct buffer *next;
    size_t size, valid;
    _Alignas(64) uint8_t bytes[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
static struct buffer *pool, *full;
static uint64_t requests, request_ns; /* atomic */

static struct buffer *map(size_t size, bool all_pages)
{
    struct buffer *one = mmap(
        NULL, sizeof(*one) + size, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | (all_pages ? MAP_POPULATE : 0), -1, 0);

    if (one == MAP_FAILED)
        return NULL;
    one->size = size;
    return one;
}

static void put(struct buffer **stack, struct buffer *one)
{
    pthread_mutex_lock(&lock);
    one->next = *stack;
    *stack = one;
    pthread_cond_signal(&wake);
    pthread_mutex_unlock(&lock);
}

static struct buffer *take_all(struct buffer **stack)
{
    struct buffer *all;

    pthread_mutex_lock(&lock);
    all = *stack;
    *stack = NULL;
    pthread_mutex_unlock(&lock);
    return all;
}

static void unmap_all(struct buffer *all)
{
    while (all) {
        struct buffer *next = all->next;

        munmap(all, sizeof(*all) + all->size);
        all = next;
    }
}

static void request(uint8_t **at, size_t *size, size_t *most)
{
    uint64_t begin = monotonic();
    struct buffer *one;

    pthread_mutex_lock(&lock);
    one = pool;
    if (one)
        pool = one->next;
    pthread_mutex_unlock(&lock);
    if (!one)
        one = map(now_on->buffer, false);
    *at = one ? one->bytes : NULL;
    *size = one ? one->size : 0;
    *most = 0;
    __atomic_fetch_add(&requests, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&request_ns, monotonic() - begin, __ATOMIC_RELAXED);
}

static void complete(void *context, uint32_t stream, uint8_t *at, size_t size,
                     size_t valid)
{
    struct buffer *one;

    (void)context, (void)stream, (void)size;
    if (!at)
        return;
    one = (struct buffer *)(at - offsetof(struct buffer, bytes));
    one->valid = valid;
    put(&full, one);
}

/* ---- The other thread ---- */

static volatile bool launching, ended;
static int cpus[PLACES] = {-1, -1, -1, -1};

static void pin(int cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    if (cpu < 0)
        sched_getaffinity(getpid(), sizeof(set), &set);
    else
        CPU_SET((size_t)cpu, &set);
    sched_setaffinity(0, sizeof(set), &set);
}

/* Reads each record, and writes as much as testlog would. */
static void decode(const struct buffer *one, unsigned each_ns)
{
    static uint8_t sink[1 << 20];
    size_t to = 0;

    for (size_t i = 0; i + RECORD <= one->valid && launching; i += RECORD) {
        uint64_t until = monotonic() + each_ns;

        memcpy(sink + to, one->bytes + i, RECORD);
        to = (to + RECORD) % sizeof(sink);
        while (monotonic() < until)
            ;
    }
}

static void work_on(const struct variant *variant)
{
    struct buffer *all = take_all(&full);

    while (all) {
        struct buffer *next = all->next;

        if (variant->decode_ns)
            decode(all, variant->decode_ns);
        if (variant->zeroed)
            memset(all->bytes, 0, all->valid);
        all->next = NULL;
        if (variant->pool)
            put(&pool, all);
        else
            unmap_all(all);
        all = next;
    }
}

static void wait_a_moment(void)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 5000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&lock);
    if (!full)
        pthread_cond_timedwait(&wake, &lock, &until);
    pthread_mutex_unlock(&lock);
}

static void *run_other(void *unused)
{
    const struct variant *seen = NULL;
    uint64_t flushed = monotonic();

    while (!ended) {
        const struct variant *variant = now_on;

        if (variant != seen)
            pin(cpus[variant->place]);
        seen = variant;
        wait_a_moment();
        if (launching && variant->flush_ms &&
            monotonic() - flushed > variant->flush_ms * UINT64_C(1000000)) {
            cupti.ActivityFlushAll(0);
            flushed = monotonic();
        }
        if (launching && (variant->decode_ns || variant->pool))
            work_on(variant); /* otherwise at the end, as torch does */
    }
    return unused;
}

/* ---- Blocks ---- */

/* The time of a launch, in ns, and of asking for a buffer, in us. */
enum number { P50, MEAN, WALL, REQUEST_US, NUMBERS };
static const char *const names[NUMBERS] = {"p50", "mean", "wall", "request_us"};

struct taken {
    double of[NUMBERS];
};

static void each_kind(const char *kinds, int (*call)(int))
{
    while (*kinds) {
        char *end;

        call((int)strtol(kinds, &end, 10));
        kinds = *end ? end + 1 : end;
    }
}

static void begin(const struct variant *variant)
{
    enum { ZEROED = 5 }; /* CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER */
    uint8_t zeroed = variant->zeroed;
    size_t size = sizeof(zeroed);
    struct launches first = {0};

    now_on = variant;
    unmap_all(take_all(&pool));
    if (cupti.ActivitySetAttribute)
        cupti.ActivitySetAttribute(ZEROED, &size, &zeroed);
    for (int i = 0; variant->prefault && i < 4; i++) {
        struct buffer *one = map(variant->buffer, true);

        if (one)
            put(&pool, one);
    }
    each_kind(variant->kinds, cupti.ActivityEnable);
    launcher.run("empty", 200, &first); /* asks for the first buffers */
    requests = request_ns = 0;
}

static struct taken block(const struct variant *variant, const char *work,
                          long count)
{
    struct launches done = {0};
    double calls;

    begin(variant);
    launching = true;
    launcher.run(work, count, &done);
    launching = false;
    each_kind(variant->kinds, cupti.ActivityDisable);
    cupti.ActivityFlushAll(1);
    unmap_all(take_all(&full));
    calls = done.calls ? (double)done.calls : 1;
    return (struct taken){
        {done.p50, done.mean, done.wall / calls,
         requests ? (double)request_ns / 1e3 / (double)requests : 0}};
}

/* ---- Rows ---- */

static struct taken taken[VARIANTS][ROUNDS];

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Adds quartiles of what a variant takes more than "off". */
static void put_more(FILE *out, int variant, int rounds, enum number number)
{
    const char *name = names[number];
    double more[ROUNDS] = {0};

    for (int r = 0; r < rounds; r++)
        more[r] = taken[variant][r].of[number] -
                  (variant ? taken[0][r].of[number] : 0);
    qsort(more, (size_t)rounds, sizeof(*more), compare);
    fprintf(out, ",\"%s\":%.0f,\"%s_q1\":%.0f,\"%s_q3\":%.0f", name,
            more[rounds / 2], name, more[rounds / 4], name,
            more[rounds * 3 / 4]);
}

static void put_rows(const bool *wanted, int rounds, const char *work)
{
    const char *path = getenv("BENCH_OUT");
    FILE *out = path ? fopen(path, "ae") : stdout;

    if (!out)
        stop("cannot write BENCH_OUT");
    for (int i = 0; i < VARIANTS; i++) {
        if (!wanted[i])
            continue;
        fprintf(out, "{\"kind\":\"ab\",\"work\":\"%s\",\"variant\":\"%s\"",
                work, variants[i].name);
        for (int number = 0; number < NUMBERS; number++)
            put_more(out, i, rounds, (enum number)number);
        fprintf(out, "}\n");
    }
}

/* ---- The run ---- */

static void load(void)
{
    const char *path = getenv("BENCH_LAUNCHES"), *of = getenv("TRACE_CUPTI");
    void *library = dlopen(of ? of : "libcupti.so", RTLD_NOW);
    void *work = path ? dlopen(path, RTLD_NOW) : NULL;

    if (!library || !work)
        stop(path ? dlerror() : "BENCH_LAUNCHES is not set");
#define X(name, parameters)                                                    \
    cupti.name = (__typeof__(cupti.name))dlsym(library, "cupti" #name);
    CALLS(X)
#undef X
    launcher.init = (__typeof__(launcher.init))dlsym(work, "launches_init");
    launcher.run = (__typeof__(launcher.run))dlsym(work, "launches_run");
    if (!cupti.ActivityFlushAll || !launcher.init || !launcher.run)
        stop(dlerror());
}

static int cpu_of(const char *name)
{
    const char *value = getenv(name);

    return value && *value ? atoi(value) : -1;
}

static void choose(bool *wanted, int count, char **wanted_names)
{
    for (int i = 0; i < VARIANTS; i++) {
        wanted[i] = !count || !i;
        for (int k = 0; k < count; k++)
            wanted[i] |= !strcmp(wanted_names[k], variants[i].name);
    }
}

int main(int argc, char **argv)
{
    bool wanted[VARIANTS];
    pthread_t other;
    int rounds = argc > 3 ? atoi(argv[3]) : 0;

    if (rounds < 1 || rounds > ROUNDS)
        stop("usage: ab WORK COUNT ROUNDS [NAME...]");
    choose(wanted, argc - 4, argv + 4);
    load();
    cpus[SAME] = cpu_of("AB_LAUNCH_CPU");
    cpus[SIBLING] = cpu_of("AB_SIBLING_CPU");
    cpus[OTHER] = cpu_of("AB_OTHER_CPU");
    cupti.ActivityRegisterCallbacks(request, complete);
    cupti.ActivityRegisterTimestampCallback(stamp);
    if (launcher.init() || pthread_create(&other, NULL, run_other, NULL))
        stop("cannot begin");
    if (cpus[SAME] >= 0)
        pin(cpus[SAME]);
    for (int r = -1; r < rounds; r++) /* the first one warms up */
        for (int i = 0; i < VARIANTS; i++) {
            int at = (i + (r < 0 ? 0 : r * 7)) % VARIANTS;

            if (wanted[at])
                taken[at][r < 0 ? 0 : r] =
                    block(&variants[at], argv[1], atol(argv[2]));
        }
    ended = true;
    pthread_join(other, NULL);
    put_rows(wanted, rounds, argv[1]);
    return 0;
}
