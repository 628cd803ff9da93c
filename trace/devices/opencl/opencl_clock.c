/* opencl_clock.c: converts devices' times into the recording's clock.
 *
 * OpenCL says only that a device's clock counts nanoseconds. There are three
 * ways to compare it with ours, from the best:
 * - the driver reads both clocks at once (clGetDeviceAndHostTimer);
 * - the device's clock is one of the system's, if each of its stamps lies in
 *   the call that it was taken in (PoCL's is CLOCK_MONOTONIC_RAW);
 * - the stamp QUEUED was taken within the call.
 * Between two comparisons the clocks differ linearly.
 */
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "opencl.h"

enum {
    DEVICES = 32,
    SLACK_NS = 50000,     /* between a call and its stamp */
    AGAIN_NS = 1000000,   /* after which clocks are compared again */
    EXACT_NS = 100000000, /* after which the rate is exact */
    TRIES = 4,
};

enum way { UNKNOWN, TIMER, SYSTEM, STAMPS };

/* One moment on both clocks. */
struct pair {
    uint64_t ticks, ns;
    uint64_t error; /* ticks; at most, before and after */
};

struct clock {
    enum way way;
    clockid_t system;
    const char *name;
    struct pair first, last;
    uint64_t error; /* ticks; the largest of all pairs */
};

static struct {
    clockid_t id;
    const char *name;
    struct pair first; /* when the recording began */
} candidates[] = {
    {CLOCK_MONOTONIC_RAW, "CLOCK_MONOTONIC_RAW", {0}},
    {CLOCK_MONOTONIC, "CLOCK_MONOTONIC", {0}},
    {CLOCK_REALTIME, "CLOCK_REALTIME", {0}},
};

enum { CANDIDATES = sizeof(candidates) / sizeof(*candidates) };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct clock clocks[DEVICES];
static struct trace_anchor began;

/* ---- Comparing ---- */

static bool read_clock(const struct clock *clock, cl_device_id device,
                       uint64_t *ns)
{
    struct timespec now;
    cl_ulong host;

    if (clock->way == TIMER)
        return opencl.next.GetDeviceAndHostTimer &&
               !opencl.next.GetDeviceAndHostTimer(device, ns, &host);
    if (clock_gettime(clock->system, &now))
        return false;
    *ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    return true;
}

/* Keeps the closest of some comparisons. */
static bool compare(const struct clock *clock, cl_device_id device,
                    struct pair *pair)
{
    bool some = false;

    for (int i = 0; i < TRIES; i++) {
        uint64_t ns, before = opencl.host->now(), half;

        if (!read_clock(clock, device, &ns))
            break;
        half = (opencl.host->now() - before) / 2;
        if (some && half >= pair->error)
            continue;
        some = true;
        *pair = (struct pair){before + half, ns, half};
    }
    return some;
}

void opencl_clock_begin(void)
{
    began = opencl.host->anchor();
    for (size_t i = 0; i < CANDIDATES; i++)
        compare(&(struct clock){.way = SYSTEM, .system = candidates[i].id},
                NULL, &candidates[i].first);
}

static void keep(struct clock *clock, const struct pair *pair)
{
    clock->last = *pair;
    if (!clock->first.ns)
        clock->first = *pair;
    if (pair->error > clock->error)
        clock->error = pair->error;
}

/* ---- Converting ---- */

/* Reading all clocks takes time, so a rate that is exact is kept. */
static double ticks_per_ns(void)
{
    static double exact;
    struct trace_anchor now;
    double rate;

    if (exact > 0)
        return exact;
    now = opencl.host->anchor();
    if (now.monotonic <= began.monotonic || now.ticks <= began.ticks)
        return 1;
    rate = (double)(now.ticks - began.ticks) /
           (double)(now.monotonic - began.monotonic);
    if (now.monotonic > began.monotonic + EXACT_NS)
        exact = rate;
    return rate;
}

/* Comparisons that are close to each other give no exact rate. */
static uint64_t convert(const struct clock *clock, uint64_t ns)
{
    const struct pair *a = &clock->first, *b = &clock->last;
    double rate = b->ns > a->ns + AGAIN_NS && b->ticks > a->ticks
                      ? (double)(b->ticks - a->ticks) / (double)(b->ns - a->ns)
                      : ticks_per_ns();

    return b->ticks + (uint64_t)(int64_t)((double)(int64_t)(ns - b->ns) * rate);
}

/* ---- Choosing ---- */

static bool is_within(const struct clock *clock,
                      const struct opencl_stamp *stamp)
{
    uint64_t slack = (uint64_t)(SLACK_NS * ticks_per_ns());
    uint64_t at = convert(clock, stamp->queued);

    return at + slack >= stamp->begin && at <= stamp->end + slack;
}

static bool try_timer(struct clock *clock, cl_device_id device)
{
    struct pair pair;

    *clock = (struct clock){.way = TIMER, .name = "clGetDeviceAndHostTimer"};
    if (!compare(clock, device, &pair) || !pair.ns)
        return false;
    keep(clock, &pair);
    return true;
}

static bool try_system(struct clock *clock, const struct opencl_stamp *stamp)
{
    for (size_t i = 0; i < CANDIDATES; i++) {
        struct pair pair;

        *clock = (struct clock){.way = SYSTEM,
                                .system = candidates[i].id,
                                .name = candidates[i].name,
                                .first = candidates[i].first};
        if (!compare(clock, NULL, &pair))
            continue;
        keep(clock, &pair);
        if (is_within(clock, stamp))
            return true;
    }
    return false;
}

static void follow(struct clock *clock, cl_device_id device,
                   const struct opencl_stamp *stamp, uint64_t ns)
{
    uint64_t half = (stamp->end - stamp->begin) / 2;
    struct pair pair = {stamp->begin + half, stamp->queued, half};
    bool is_better;

    if ((clock->way == UNKNOWN ||
         (clock->way == SYSTEM && !is_within(clock, stamp))) &&
        !try_timer(clock, device) && !try_system(clock, stamp))
        *clock = (struct clock){.way = STAMPS,
                                .name = "CL_PROFILING_COMMAND_QUEUED"};
    /* A stamp that is much less exact than an earlier one is not used. */
    if (clock->way == STAMPS)
        is_better = !clock->last.ns || half <= 2 * clock->last.error;
    else
        is_better =
            ns > clock->last.ns + AGAIN_NS && compare(clock, device, &pair);
    if (is_better)
        keep(clock, &pair);
}

bool opencl_clock_ticks(cl_device_id device, uint32_t number,
                        const struct opencl_stamp *stamp, uint64_t ns,
                        uint64_t *ticks)
{
    struct clock *clock = &clocks[number % DEVICES];

    if (!stamp->queued || !ns)
        return false;
    pthread_mutex_lock(&lock);
    follow(clock, device, stamp, ns);
    *ticks = convert(clock, ns);
    pthread_mutex_unlock(&lock);
    return true;
}

void opencl_clock_note(void)
{
    double rate = ticks_per_ns();

    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < DEVICES; i++) {
        char key[32];

        if (clocks[i].way == UNKNOWN)
            continue;
        snprintf(key, sizeof(key), "opencl.clock.%u", TRACE_DEVICES_opencl + i);
        opencl_note(key, "%s, error %.0f ns", clocks[i].name,
                    (double)clocks[i].error / rate);
    }
    pthread_mutex_unlock(&lock);
}
