/* cupti.c: starts tracing with a loaded libcupti, or finds out why it can't. */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "cupti.h"

/* ---- Metadata ---- */

static void note_variables(void)
{
    for (char **at = environ; at && *at; at++) {
        const char *value = strchr(*at, '=');

        if (value && !strncmp(*at, "CUDA_", 5) &&
            strncmp(*at, "CUDA_INJECTION64_PATH=", 22) != 0) {
            char name[128];

            snprintf(name, sizeof(name), "gpu.env.%.*s", (int)(value - *at),
                     *at);
            cupti.host->note(name, value + 1);
        }
    }
}

/* ---- Records' lengths ---- */

/* The length of a record by kind: in a buffer filled with the kind's number,
 * the library's second record is that far behind the first. */
static uint16_t probe(uint32_t kind)
{
    static _Alignas(8) uint8_t bytes[2048];
    void *record = NULL;

    for (size_t i = 0; i < sizeof(bytes); i += 8)
        memcpy(bytes + i, (uint32_t[]){kind, 0}, 8);
    if (cupti.next_record(bytes, sizeof(bytes), &record) || record != bytes ||
        cupti.next_record(bytes, sizeof(bytes), &record))
        return 0;

    ptrdiff_t size = (uint8_t *)record - bytes;

    return size >= 16 && size <= 1024 && size % 8 == 0 ? (uint16_t)size : 0;
}

/* ---- Starting ---- */

/* Sets the state and the notice for a call that failed. */
static void explain(const char *call, int result)
{
    char cure[256] = "";
    const char *now = "too-old";

    switch (result) {
    case CUPTI_RESULT_NOT_INITIALIZED:
    case CUPTI_RESULT_UNKNOWN:
        now = "no-driver";
        snprintf(cure, sizeof(cure), " (no NVIDIA driver)");
        break;
    case CUPTI_RESULT_INSUFFICIENT_PRIVILEGES:
        now = "denied";
        snprintf(cure, sizeof(cure), " (" CUPTI_PRIVILEGES ")");
        break;
    case CUPTI_RESULT_VIRTUALIZED_DEVICE_NOT_SUPPORTED:
    case CUPTI_RESULT_LEGACY_PROFILER_NOT_SUPPORTED:
        now = "denied";
        break;
    }
    cupti_fail(now, "GPU trace off: %s returned %d %s%s", call, result,
               cupti_result_name(result), cure);
}

static bool need(const char *call, int result)
{
    if (result)
        explain(call, result);
    return !result;
}

static bool look_up(void *handle)
{
    const char *missing = NULL;

#define TRACE_X(name, symbol, parameters)                                      \
    if (!(cupti.name = (int(*) parameters)(uintptr_t)dlsym(handle, symbol)) && \
        !missing)                                                              \
        missing = symbol;
    CUPTI_REQUIRED(TRACE_X)
#undef TRACE_X
#define TRACE_X(name, symbol, parameters)                                      \
    cupti.name = (int(*) parameters)(uintptr_t)dlsym(handle, symbol);
    CUPTI_OPTIONAL(TRACE_X)
#undef TRACE_X
    if (missing)
        cupti_fail("too-old", "GPU trace off: libcupti lacks %s", missing);
    return !missing;
}

/* Otherwise CUPTI would zero each buffer in a thread of the program. */
static void promise_zeroed_buffers(void)
{
    enum { ZEROED = 5 }; /* CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER */
    uint8_t yes = 1;
    size_t size = sizeof(yes);

    cupti.zeroed =
        cupti.set_attribute && !cupti.set_attribute(ZEROED, &size, &yes);
}

/* Callbacks cannot be unregistered; after a failure they drop their buffers.
 * The clock is registered once: after another time, CUPTI returns a kernel with
 * the time of another clock. */
static bool start(void *handle)
{
    int result;

    trace_text_clear(&cupti.refused);
    if (!look_up(handle) ||
        !need("cuptiGetVersion", cupti.get_version(&cupti.version)) ||
        !cupti_is_free())
        return false;
    for (uint32_t kind = 1; kind < CUPTI_KIND_LIMIT; kind++)
        cupti.decoder.library.strides[kind] = probe(kind);
    if ((result = cupti.thread_id_type(CUPTI_THREAD_SYSTEM)))
        cupti_note_refusal("threads", result);
    cupti.decoder.library.system_threads = !result;
    promise_zeroed_buffers();
    cupti_watch_nodes();
    if (need("cuptiActivityRegisterCallbacks",
             cupti.register_callbacks(cupti_buffer_requested,
                                      cupti_buffer_completed)) &&
        need("cuptiActivityRegisterTimestampCallback",
             cupti.register_clock(cupti_clock_now)) &&
        need("cuptiActivityEnable", cupti_enable_all()))
        return true;
    cupti_disable_all();
    return false;
}

/* Keeps the first library's failure. Other libraries are tried only if this one
 * is too old or finds no driver. */
static bool try_one(void *handle)
{
    const char *first_state = cupti.state;
    char first[sizeof(cupti.notice)];

    if (cupti.state && strcmp(cupti.state, "no-driver") != 0 &&
        strcmp(cupti.state, "too-old") != 0)
        return false;
    snprintf(first, sizeof(first), "%s", cupti.notice);
    if (start(handle)) {
        cupti.handle = handle;
        return true;
    }
    if (first_state) {
        cupti.state = first_state;
        snprintf(cupti.notice, sizeof(cupti.notice), "%s", first);
    }
    return false;
}

/* ---- Other tools ---- */

/* Returns whether the driver was told to load another library. */
static bool injected_by_other(char path[PATH_MAX])
{
    const char *set = getenv("CUDA_INJECTION64_PATH");
    char own[PATH_MAX], other[PATH_MAX];
    Dl_info info;

    if (!set || !*set || !dladdr((void *)(uintptr_t)cupti_begin, &info) ||
        !info.dli_fname)
        return false;
    snprintf(path, PATH_MAX, "%s", set);
    if (!realpath(
            info.dli_fname,
            own) && /* the program's name is relative to where it was started */
        !realpath("/proc/self/exe", own))
        return false;
    return !realpath(set, other) || strcmp(other, own) != 0;
}

/* ---- Beginning and ending ---- */

static bool find_and_start(void)
{
    const char *given = getenv("TRACE_CUPTI");
    char other[PATH_MAX];

    if (given && !strcmp(given, "off")) {
        cupti.state = "unused";
        return false;
    }
    if (getenv("NSYS_PROFILING_SESSION_ID")) {
        cupti_fail("busy", "GPU trace off: in use by Nsight Systems");
        return false;
    }
    if (injected_by_other(other)) {
        cupti_fail("busy",
                   "GPU trace off: in use by %.400s (CUDA_INJECTION64_PATH)",
                   other);
        return false;
    }
    if (!cupti_search(try_one))
        cupti_fail("no-libcupti", "GPU trace off: no libcupti found (%s%s)",
                   given && *given ? "TRACE_CUPTI is " : "set TRACE_CUPTI",
                   given && *given ? given : "");
    return cupti.handle != NULL;
}

static void note_start(void)
{
    const char *blocking = getenv("CUDA_LAUNCH_BLOCKING");
    const char *(*playback)(void) = (const char *(*)(void))(uintptr_t)dlsym(
        cupti.handle, "trace_playback_id");
    Dl_info info;

    cupti.state = "on";
    cupti.notice[0] = '\0';
    if (blocking && atoi(blocking)) /* times differ from those of other runs */
        cupti_fail(cupti.state,
                   "GPU trace: each launch waits until its kernel "
                   "has ended (CUDA_LAUNCH_BLOCKING is %s)",
                   blocking);
    if (playback) {
        cupti.state = "playback";
        cupti.host->note("gpu.source", "playback");
        cupti_fail(cupti.state, "GPU trace is playback: %s", playback());
    }
    if (dladdr((void *)(uintptr_t)cupti.get_version, &info) && info.dli_fname)
        cupti.host->note("gpu.library", info.dli_fname);
    cupti_note("gpu.api", "%u", cupti.version);
    cupti_note_kinds();
    if (cupti.enabled[CUPTI_KIND_GRAPH_TRACE])
        cupti.host->note("gpu.graph_level", "true");
    note_variables();
}

static void attach(void)
{
    static const struct trace_backend backend = {
        .inside = cupti_enter_span,
        .flush = cupti_flush,
        .resume = cupti_resume,
        .pause = cupti_pause,
    };

    __atomic_store_n(&cupti.on, true, __ATOMIC_RELEASE);
    if (!cupti.host->attach(&backend)) {
        cupti_stop("busy", "GPU trace off: another device is recorded");
        cupti_disable_all();
        return;
    }
    cupti_raw_prepare();
    cupti_enter_span(cupti.host->current());
    if (cupti.after_init) {
        cupti_begin_flusher(); /* CUPTI may have a buffer already */
        cupti.flush_all(1);    /* the devices, before the first kernel */
    }
    cupti_note_state();
}

/* ---- The decoder ---- */

static void put(void *context, const struct trace_activity *activity)
{
    (void)context;
    cupti.host->put(activity);
}

static void note(void *context, const char *name, const char *value)
{
    (void)context;
    cupti.host->note(name, value);
}

static void say(void *context, unsigned level, const char *message)
{
    (void)context;
    cupti.host->say(level, message);
}

static void stop_as_strange(void *context)
{
    char why[CUPTI_STRANGE_ROOM];

    (void)context;
    cupti_say_strange(why, cupti.version);
    cupti_stop("too-old", why);
}

void cupti_begin_decoder(void)
{
    static const struct cupti_sink sink = {put, note, say, stop_as_strange};
    const struct trace_profiler *options = cupti.host->profiler;

    cupti.decoder.source = &cupti_process;
    cupti.decoder.sink = &sink;
    cupti.decoder.limits = (struct cupti_limits){
        .devices = options->gpu_num_chips_to_profile_per_task,
        .calls = options->gpu_max_callback_api_events,
        .activities = options->gpu_max_activity_api_events,
        .spans = options->gpu_max_annotation_strings};
    cupti_clock_compare(&cupti.decoder.clock, cupti.host->anchor());
}

/* ---- Beginning ---- */

bool cupti_begin(const struct trace_device_host *host, bool after_init)
{
    if (cupti.host)
        return false;
    cupti.host = host;
    cupti.pid = (uint32_t)getpid();
    cupti.after_init = after_init;
    cupti_begin_decoder();
    if (after_init)
        host->note("gpu.late", "CUDA was used before the recording began");
    if (find_and_start()) {
        note_start();
        attach();
    } else {
        cupti_note_state();
    }
    return cupti_is_on();
}

/* ---- Spans ---- */

/* CUPTI keeps a stack of ids per thread; it holds at most the current span. */
void cupti_enter_span(uint32_t span)
{
    static __thread bool pushed;
    uint64_t last;

    if (!__atomic_load_n(&cupti.on, __ATOMIC_RELAXED))
        return;
    if (pushed && cupti.pop(CUPTI_EXTERNAL_CUSTOM0, &last))
        pushed = false; /* CUPTI lost the thread's stack */
    pushed = span && !cupti.push(CUPTI_EXTERNAL_CUSTOM0, span);
}
