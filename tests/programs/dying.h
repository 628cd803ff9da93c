/* dying.h: a process that records on several threads, notes its progress in a
 * shared page, and dies; for soak_death_test.c and programs/dying.c.
 */
#ifndef TESTS_DYING_H
#define TESTS_DYING_H

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <testlog/log.h>

enum { DYING_THREADS = 3, DYING_LONGEST = 100 * 1000, DYING_SLACK = 300 };

/* X(way, outcome, in its reason) */
#define DYING_WAYS(X)                                                          \
    X(killed, "crashed", "SIGKILL")                                            \
    X(segfaults, "crashed", "SIGSEGV")                                         \
    X(aborts, "crashed", "SIGABRT")                                            \
    X(exits, "failed", "exited with 3")                                        \
    X(executes, "failed", "exited with 4")                                     \
    X(cannot_map, "crashed", "SIGSEGV")                                        \
    X(overflows, "crashed", "SIGSEGV")

enum dying_way {
#define TEST_X(way, outcome, reason) DYING_##way,
    DYING_WAYS(TEST_X)
#undef TEST_X
        DYING_COUNT
};

/* The progress of a process that died: the steps that each thread has
 * recorded. */
struct dying_page {
    uint64_t steps[DYING_THREADS];
};

/* How a process dies; only the seed and its number decide. */
struct dying_plan {
    enum dying_way way;
    uint64_t goal; /* steps of all threads before the end */
    uint64_t chance;
};

static inline uint64_t dying_chance(uint64_t seed) /* splitmix64 */
{
    seed += UINT64_C(0x9e3779b97f4a7c15);
    seed = (seed ^ seed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    seed = (seed ^ seed >> 27) * UINT64_C(0x94d049bb133111eb);
    return seed ^ seed >> 31;
}

static inline struct dying_plan dying_plan(uint64_t seed, unsigned number)
{
    uint64_t chance = dying_chance(seed * 1000003 + number);
    uint64_t most = chance >> 40 & 7 ? 300 : 3000;

    return (struct dying_plan){(enum dying_way)(chance % DYING_COUNT),
                               (chance >> 16) % most, chance};
}

/* ---- Recording ---- */

struct dying_thread {
    struct dying_page *page;
    uint64_t chance, goal;
    int number;
};

/* Mostly small, sometimes larger than a chunk. */
static size_t dying_size(uint64_t chance)
{
    return chance % 128 ? (chance >> 8) % 500 : (chance >> 8) % DYING_LONGEST;
}

static void dying_step(const struct dying_thread *self, uint64_t n)
{
    static const char filler[DYING_LONGEST];
    uint64_t chance = dying_chance(self->chance + n);

    {
        trace_span(INFO, "step", ("thread", self->number), ("n", n),
                   ("late", trace_empty()));
        trace_event(DEBUG, "filler",
                    ("bytes", trace_bytes(filler, dying_size(chance))));
        trace_record(trace_span_current(), ("late", chance));
        trace_event(INFO, "committed", ("thread", self->number), ("n", n));
    }
    __atomic_store_n(&self->page->steps[self->number], n + 1, __ATOMIC_RELEASE);
}

static uint64_t dying_sum(const struct dying_page *page)
{
    uint64_t sum = 0;

    for (int i = 0; i < DYING_THREADS; i++)
        sum += __atomic_load_n(&page->steps[i], __ATOMIC_ACQUIRE);
    return sum;
}

/* Waits now and then, because the killer may be slow. */
static void *dying_goes_on(void *context)
{
    const struct dying_thread *self = context;

    for (uint64_t n = 0;; n++) {
        while (dying_sum(self->page) > self->goal + DYING_SLACK)
            usleep(100);
        dying_step(self, n);
    }
    return NULL;
}

/* ---- Dying ---- */

#if defined(__GNUC__) && !defined(__clang__)
#    pragma GCC diagnostic ignored "-Winfinite-recursion"
#endif

static int dying_overflow(volatile char *above)
{
    volatile char frame[4096];

    frame[0] = above ? above[0] : 0;
    return dying_overflow(frame) + frame[0];
}

static void dying_die(enum dying_way way)
{
    char *volatile map;

    switch (way) {
    case DYING_segfaults:
        map = (char *)1; /* sanitizers would report NULL */
        *map = 1;
        break;
    case DYING_aborts:
        abort();
    case DYING_exits:
        _exit(3);
    case DYING_executes:
        execl("/bin/sh", "sh", "-c", "exit 4", (char *)NULL);
        break;
    case DYING_cannot_map:
        map = mmap(NULL, SIZE_MAX / 4, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        *map = 1;
        break;
    case DYING_overflows:
        dying_overflow(NULL);
        break;
    default:
        break;
    }
}

/* Starts a process that kills this one at any step of its threads. */
static void dying_await_killer(const struct dying_page *page, uint64_t goal)
{
    pid_t victim = getpid();

    if (fork())
        return;
    while (dying_sum(page) < goal && getppid() == victim)
        ;
    kill(victim, SIGKILL);
    _exit(0);
}

/* Records until the plan says to die. */
static inline void dying_run(struct dying_page *page, struct dying_plan plan)
{
    static struct dying_thread threads[DYING_THREADS];
    pthread_t thread;

    signal(SIGSEGV, SIG_DFL); /* sanitizers and Criterion have handlers */
    signal(SIGABRT, SIG_DFL);
    if (plan.way == DYING_killed)
        dying_await_killer(page, plan.goal);
    for (int i = 0; i < DYING_THREADS; i++)
        threads[i] = (struct dying_thread){page, plan.chance + (unsigned)i,
                                           plan.goal, i};
    for (int i = 1; i < DYING_THREADS; i++)
        if (pthread_create(&thread, NULL, dying_goes_on, &threads[i]))
            _exit(9);
    if (plan.way == DYING_killed)
        dying_goes_on(&threads[0]);
    for (uint64_t n = 0;; n++) {
        if (dying_sum(page) >= plan.goal)
            dying_die(plan.way);
        dying_step(&threads[0], n);
    }
}

#endif
