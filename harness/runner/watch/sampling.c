/* sampling.c: takes samples: a thread reads the kernel's rings. */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "harness/results/folder/notice.h"
#include "harness/results/folder/run_folder.h"
#include "jobs.h"
#include "sampling.h"
#include "trace/base/clock.h"
#include "trace/samples/sampler.h"

enum { STACK = 256 * 1024, LOOK_EVERY = 100 /* ms */ };

/* An event may be in its ring a little later than its time. */
enum { SETTLED = 1000000 /* ns */ };

static struct {
    pthread_mutex_t lock; /* of perf and sampler */
    struct trace_perf perf;
    struct trace_sampler sampler;
    pthread_t thread;
    uint32_t worker; /* its samples are put next */
    bool active, ending;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void read_until(uint64_t until)
{
    struct trace_perf_event event;

    trace_perf_look(&state.perf);
    while (trace_perf_next(&state.perf, until, &event))
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

static void refuse(int error)
{
    const char *advice = "";

    if (error == EACCES || error == EPERM || error == ENOSYS)
        advice = "; set kernel.perf_event_paranoid to 2 or less, and let the "
                 "container call perf_event_open";
    else if (error == ENOMEM)
        advice = "; the limit on locked memory is reached: raise ulimit -l or "
                 "kernel.perf_event_mlock_kb";
    test_log_notice("no samples: the kernel refuses them: %s%s",
                    strerror(error), advice);
}

void test_log_sampling_begin(size_t hz)
{
    int error = 0;

    if (!hz)
        return;
    if (trace_perf_open(&state.perf, (unsigned)hz))
        error = errno;
    state.sampler.runner = (uint32_t)getpid();
    state.sampler.period = state.perf.period;
    if (!error)
        error = start_thread();
    state.active = !error;
    if (error)
        refuse(error);
}

static int put(int folder, const char *name)
{
    pthread_mutex_lock(&state.lock);
    read_until(UINT64_MAX - 1);
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
    if (state.sampler.lost)
        test_log_notice("lost %" PRIu64 " samples, or events that samples need",
                        state.sampler.lost);
    trace_sampler_free(&state.sampler);
    trace_perf_close(&state.perf);
    state.active = false;
}
