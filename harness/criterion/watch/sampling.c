/* sampling.c: takes samples: a thread reads the kernel's rings, or the memory
 * to which processes write samples of themselves.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/machine/notice.h"
#include "harness/machine/now.h"
#include "harness/options/gpu_setup.h"
#include "harness/run/folder/run_folder.h"
#include "jobs.h"
#include "sampling.h"
#include "trace/base/clock.h"
#include "trace/samples/sampler.h"
#include "trace/samples/timers.h"

enum { STACK = 256 * 1024, LOOK_EVERY = 100 /* ms */ };

/* An event may be in its ring a little later than its time. */
enum { SETTLED = 1000000 /* ns */ };

static struct {
    pthread_mutex_t lock; /* of what follows */
    struct trace_perf perf;
    struct trace_timers timers; /* instead of perf */
    struct trace_sampler sampler;
    pthread_t thread;
    uint32_t worker; /* its samples are put next */
    bool active, ending;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void read_until(uint64_t until)
{
    struct trace_perf_event event;

    while (state.timers.ring && trace_timers_next(&state.timers, &event))
        trace_sampler_take(&state.sampler, &event);
    trace_perf_look(&state.perf);
    while (state.perf.count && trace_perf_next(&state.perf, until, &event))
        trace_sampler_take(&state.sampler, &event);
}

static void *read_rings(void *context)
{
    (void)context;
    while (!__atomic_load_n(&state.ending, __ATOMIC_RELAXED)) {
        trace_perf_wait(&state.perf, LOOK_EVERY);
        pthread_mutex_lock(&state.lock);
        read_until(test_log_now() - SETTLED);
        pthread_mutex_unlock(&state.lock);
    }
    return NULL;
}

/* Signals are the other threads'. */
static int start_thread(void)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    int error = pthread_attr_init(&attributes);

    if (error)
        return error;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_setstacksize(&attributes, STACK);
    error = pthread_create(&state.thread, &attributes, read_rings, NULL);
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

/* ---- Timers ---- */

/* X(VARIABLE): what lets processes sample themselves. AddressSanitizer does not
 * want to be loaded after another library. */
#define VARIABLES(X)                                                           \
    X(LD_PRELOAD)                                                              \
    X(ASAN_OPTIONS)

static struct {
#define X(variable) char *variable;
    VARIABLES(X)
#undef X
} before; /* their values; NULL: none */

static char *copy_of(const char *variable)
{
    const char *value = getenv(variable);

    return value ? strdup(value) : NULL;
}

static void restore(const char *variable, char *value)
{
    if (value)
        setenv(variable, value, 1);
    else
        unsetenv(variable);
    free(value);
}

static void export_timers(const char *library)
{
    char id[16];

#define X(variable) before.variable = copy_of(#variable);
    VARIABLES(X)
#undef X
    snprintf(id, sizeof(id), "%d", state.timers.id);
    setenv(TRACE_TIMERS_VARIABLE, id, 1);
    test_log_list_append("LD_PRELOAD", library);
    test_log_list_append("ASAN_OPTIONS", "verify_asan_link_order=0");
}

static void hide_timers(void)
{
    unsetenv(TRACE_TIMERS_VARIABLE);
#define X(variable) restore(#variable, before.variable);
    VARIABLES(X)
#undef X
}

static void close_sources(void)
{
    if (state.timers.ring)
        hide_timers();
    trace_timers_close(&state.timers);
    trace_perf_close(&state.perf);
}

/* Returns what prevents it, or NULL. */
static const char *open_timers(size_t hz)
{
    char library[PATH_MAX] = "";
    bool found = test_log_sample_library(library);

    if (strpbrk(library, " :"))
        return "LD_PRELOAD ends a path at a blank or a colon: install testlog "
               "elsewhere";
    if (!found)
        return "cannot find libtestlog-sample.so beside testlog's libraries; "
               "set TESTLOG_SAMPLE_LIBRARY to its path";
    if (trace_timers_open(&state.timers, (unsigned)hz))
        return strerror(errno);
    state.sampler.misses_ends = true;
    export_timers(library);
    return NULL;
}

/* ---- Begin and end ---- */

static const char *advice(int error)
{
    if (error == ENOMEM)
        return "raise ulimit -l or kernel.perf_event_mlock_kb";
    return "set kernel.perf_event_paranoid to 2 or less, and let the container "
           "call perf_event_open";
}

/* Tells that the kernel has refused, and what is done instead; false if nothing
 * can be done. */
static bool open_other(size_t hz, int error)
{
    const char *fault = open_timers(hz);

    if (fault)
        test_log_notice("no samples: the kernel refuses them (%s): %s; or %s",
                        strerror(error), fault, advice(error));
    else
        test_log_notice("the kernel refuses samples (%s), so that tests take "
                        "them, %d a second; for better ones, %s",
                        strerror(error),
                        (int)(1000000000 / state.timers.period), advice(error));
    return !fault;
}

void test_log_sampling_begin(size_t hz, bool unwinds)
{
    int error;

    if (!hz)
        return;
    state.sampler.runner = (uint32_t)getpid();
    if (trace_perf_open(&state.perf, (unsigned)hz,
                        unwinds ? TRACE_SAMPLE_STACK : 0) &&
        !open_other(hz, errno))
        return;
    error = start_thread();
    state.active = !error;
    if (!error)
        return;
    test_log_notice("no samples: %s", strerror(error));
    close_sources();
}

static int put(int folder, const char *name)
{
    pthread_mutex_lock(&state.lock);
    state.timers.impatient = true; /* the writers have ended */
    read_until(UINT64_MAX - 1);
    state.timers.impatient = false;
    state.sampler.lost +=
        trace_sampler_put(&state.sampler, state.worker, folder, name);
    pthread_mutex_unlock(&state.lock);
    return 0;
}

void test_log_sampling_put(const struct test_log_run *run,
                           const struct test_log_result *result, uint32_t pid)
{
    state.worker = pid;
    if (state.active && pid)
        test_log_change_recording(run, result, put);
}

uint32_t test_log_sampling_first(void)
{
    uint32_t first = 0;

    if (!state.active)
        return 0;
    pthread_mutex_lock(&state.lock);
    read_until(UINT64_MAX - 1);
    first = trace_sampler_first(&state.sampler);
    pthread_mutex_unlock(&state.lock);
    return first;
}

void test_log_sampling_end(void)
{
    if (!state.active)
        return;
    __atomic_store_n(&state.ending, true, __ATOMIC_RELAXED);
    pthread_join(state.thread, NULL);
    state.sampler.lost += state.timers.lost;
    if (state.sampler.lost)
        test_log_notice("lost %" PRIu64 " samples, or events that samples need",
                        state.sampler.lost);
    trace_sampler_free(&state.sampler);
    close_sources();
    state.active = false;
}
