/* opencl_backend.c: attaches to a recording, and says what was lost. */
#include <pthread.h>
#include <string.h>

#include "opencl.h"
#include "trace/devices/standalone.h"

/* ---- Losses ---- */

static uint64_t counted(const uint64_t *counter)
{
    return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

static void note_counts(void)
{
#define TRACE_X(name)                                                          \
    opencl_note("opencl." #name, "%llu",                                       \
                (unsigned long long)counted(&opencl.counts.name));
    TRACE_BACKEND_COUNTS(TRACE_X)
#undef TRACE_X
}

/* Launches of an earlier recording may be unfinished, too. */
static void count_lost(void)
{
    uint64_t missing =
        counted(&opencl.counts.launches) - counted(&opencl.counts.launched);

    if (opencl.counts.unfinished > missing)
        opencl.counts.unfinished = missing;
    opencl.counts.lost = missing - opencl.counts.unfinished;
}

static void add_loss(struct trace_text *text, uint64_t count, const char *one,
                     const char *many)
{
    if (count)
        trace_text_printf(text, "%s%llu %s", text->size ? "; " : "",
                          (unsigned long long)count, count == 1 ? one : many);
}

static void warn_of_losses(void)
{
    struct trace_text text = {0};

    add_loss(&text, counted(&opencl.counts.lost), "launch has no kernel record",
             "launches have no kernel record");
    add_loss(&text, counted(&opencl.counts.pending), "command has not ended",
             "commands have not ended");
    add_loss(&text, counted(&opencl.counts.bad_times), "command has no times",
             "commands have no times");
    if (text.size)
        opencl.host->say(TRACE_LEVEL_WARN, text.data);
    trace_text_free(&text);
}

/* ---- The back end ---- */

static void flush(bool last)
{
    if (!opencl_is_on() || opencl.ended)
        return;
    if (!last) {
        opencl_rings_read();
        return;
    }
    opencl_queues_flush();
    opencl_commands_wait();
    opencl_rings_read();
    count_lost();
    opencl_clock_note();
    note_counts();
    warn_of_losses();
}

/* Commands of the earlier recording are not recorded when they end. */
static void resume(void)
{
    __atomic_add_fetch(&opencl.recording, 1, __ATOMIC_ACQ_REL);
    memset(&opencl.counts, 0, sizeof(opencl.counts));
    note_counts();
    opencl.ended = false;
}

/* The child has none of the driver's threads. */
static void in_child(void)
{
    __atomic_store_n(&opencl.on, false, __ATOMIC_RELEASE);
    opencl_commands_in_child();
}
static void attach(void)
{
    static const struct trace_backend backend = {.flush = flush,
                                                 .resume = resume};

    if (!opencl.host->attach(&backend))
        return;
    pthread_atfork(NULL, NULL, in_child);
    opencl_clock_begin();
    opencl.flush = flush;
    __atomic_store_n(&opencl.on, true, __ATOMIC_RELEASE);
    opencl_note("opencl.state", "on");
    opencl_note_devices();
}

/* Starts to record if the process has a recording. */
void opencl_retry(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

    if (!__atomic_load_n(&opencl.loaded, __ATOMIC_ACQUIRE))
        return;
    pthread_mutex_lock(&lock);
    if (!opencl.host) {
        opencl.host = trace_device_record_here();
        if (opencl.host)
            attach();
    }
    pthread_mutex_unlock(&lock);
}
