/* pm_sampling.c: samples hardware counters of GPUs.
 *
 * A device collects samples in a buffer; a thread of ours decodes and records
 * them now and then. CUPTI converts their times as it does for activities, with
 * our clock. Only one process can sample a device, and that keeps its clocks
 * at a fixed frequency.
 */
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "pm.h"
#include "trace/base/values.h"

enum {
    DEVICES = 64,
    START_MS = 10,      /* between two looks whether the driver has started */
    PERIOD_MS = 100,    /* between decoding twice */
    DRAIN_MS = 2000,    /* for decoding at the end */
    SAMPLES_LEAST = 64, /* that can be decoded at a time */
    SAMPLES_MOST = 16384,
};

static struct sampler {
    struct cupti_pm_counters counters;
    void *object; /* CUPTI's; NULL: the device is not sampled */
    bool chosen, started;
    bool first;             /* sample of a session */
    uint8_t *image, *empty; /* CUPTI's image of samples; without any */
    size_t size;
} samplers[DEVICES];

static uint32_t device_count;
static struct cupti_clock sample_clock; /* the thread's */

static struct {
    uint64_t sessions, samples, foreign, overflows;
} counts;

/* ---- Refusals ---- */

#define VIRTUAL      "it is virtual (vGPU)"
#define CONFIDENTIAL "confidential computing does not allow it"
#define MINING       "it is for mining (CMP)"
#define SLI          "SLI does not allow it"
#define WSL          "Windows does not allow it (WSL)"

static void TRACE_PRINTF(1, 2) say(const char *format, ...)
{
    char text[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    cupti.host->say(TRACE_LEVEL_WARN, text);
}

static void refuse(uint32_t device, const char *why)
{
    say("counters of GPU %u are not sampled: %s", device, why);
}

/* Returns whether a call succeeded, and otherwise says why not. */
static bool need(uint32_t device, const char *call, int result)
{
    static const struct {
        int result;
        const char *why;
    } reasons[] = {
        {CUPTI_PM_RESULT_HARDWARE_BUSY, "another process samples it"},
        {CUPTI_RESULT_INSUFFICIENT_PRIVILEGES, CUPTI_PRIVILEGES},
        {CUPTI_PM_RESULT_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES,
         CUPTI_PRIVILEGES},
        {CUPTI_RESULT_VIRTUALIZED_DEVICE_NOT_SUPPORTED, VIRTUAL},
        {CUPTI_PM_RESULT_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED, CONFIDENTIAL},
        {CUPTI_PM_RESULT_CMP_DEVICE_NOT_SUPPORTED, MINING},
        {CUPTI_PM_RESULT_MIG_DEVICE_NOT_SUPPORTED, "it is divided (MIG)"},
        {CUPTI_PM_RESULT_SLI_DEVICE_NOT_SUPPORTED, SLI},
        {CUPTI_PM_RESULT_WSL_DEVICE_NOT_SUPPORTED, WSL},
    };
    char text[128];

    if (!result)
        return true;
    for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++)
        if (reasons[i].result == result) {
            refuse(device, reasons[i].why);
            return false;
        }
    snprintf(text, sizeof(text), "%s returned %d %s", call, result,
             cupti_result_name(result));
    refuse(device, text);
    return false;
}

static bool is_supported(uint32_t device)
{
    struct cupti_pm_support support = {CUPTI_PM_HEAD(support),
                                       .device = (int)device,
                                       .api = CUPTI_PM_SAMPLING};
    bool known = need(device, "cuptiProfilerDeviceSupported",
                      cupti_pm.support(&support));
    const struct {
        uint32_t level;
        const char *why;
    } parts[] = {
        {support.architecture, "it is older than Turing"},
        {support.sli, SLI},
        {support.vgpu, VIRTUAL},
        {support.confidential, CONFIDENTIAL},
        {support.cmp, MINING},
        {support.wsl, WSL},
        {support.supported, "CUPTI does not support it"},
    };

    for (size_t i = 0; known && i < sizeof(parts) / sizeof(*parts); i++)
        if (parts[i].level != CUPTI_PM_SUPPORTED &&
            parts[i].level != CUPTI_PM_UNKNOWN) {
            refuse(device, parts[i].why);
            return false;
        }
    return known;
}

/* ---- Beginning ---- */

/* Returns CUPTI's image of what a device has, NULL without one. */
static uint8_t *availability_of(uint32_t device)
{
    struct cupti_pm_availability all = {CUPTI_PM_HEAD(availability),
                                        .device = device};

    if (cupti_pm.availability(&all) || !(all.image = malloc(all.size)))
        return NULL;
    if (!cupti_pm.availability(&all))
        return all.image;
    free(all.image);
    return NULL;
}

/* Chooses the counters of a device; they are kept for later recordings. */
static bool choose(uint32_t device, const char *chip)
{
    struct sampler *sampler = &samplers[device];
    struct trace_text left_out = {0};
    uint8_t *availability;

    if (sampler->chosen)
        return sampler->counters.count;
    availability = availability_of(device);
    sampler->chosen =
        need(device, "cuptiProfilerHostInitialize",
             cupti_pm_choose(&sampler->counters, cupti.host->profiler->counters,
                             chip, availability, &left_out));
    free(availability);
    if (left_out.size && !left_out.failed)
        say("gpu_pm_sample_counters: %s", left_out.data);
    trace_text_free(&left_out);
    return sampler->chosen && sampler->counters.count;
}

/* Some chips sample after a number of cycles only, of which there are about
 * 10^9 a second. */
static int configure(const struct sampler *sampler, const char *chip)
{
    const struct trace_profiler *options = cupti.host->profiler;
    bool turing = !strncmp(chip, "TU", 2);
    struct cupti_pm_set_config config = {
        CUPTI_PM_HEAD(set_config),
        .sampler = sampler->object,
        .size = sampler->counters.config_size,
        .image = sampler->counters.config,
        .room = options->gpu_pm_sample_buffer_size_per_gpu_mb << 20,
        .interval = options->gpu_pm_sample_interval_us * 1000,
        .trigger =
            turing || !strcmp(chip, "GA100") ? CUPTI_PM_CYCLES : CUPTI_PM_TIME,
        .append = turing ? CUPTI_PM_OLDEST : CUPTI_PM_LATEST};

    return cupti_pm.set_config(&config);
}

/* The image has room for 2.5 times what is sampled until it is decoded. */
static int make_image(struct sampler *sampler)
{
    uint64_t samples = UINT64_C(2500) * PERIOD_MS /
                       cupti.host->profiler->gpu_pm_sample_interval_us;
    struct cupti_pm_data_size size = {
        CUPTI_PM_HEAD(data_size), .sampler = sampler->object,
        .names = sampler->counters.metrics, .count = sampler->counters.count};
    struct cupti_pm_data data = {CUPTI_PM_HEAD(data),
                                 .sampler = sampler->object};
    int result;

    samples = samples < SAMPLES_LEAST ? SAMPLES_LEAST : samples;
    size.samples = (uint32_t)(samples > SAMPLES_MOST ? SAMPLES_MOST : samples);
    if ((result = cupti_pm.data_size(&size)))
        return result;
    sampler->size = data.size = size.size;
    sampler->image = data.image = malloc(size.size);
    sampler->empty = malloc(size.size);
    if (!sampler->image || !sampler->empty)
        return CUPTI_PM_RESULT_OUT_OF_MEMORY;
    if (!(result = cupti_pm.data(&data)))
        memcpy(sampler->empty, sampler->image, size.size);
    return result;
}

static int start(struct sampler *sampler)
{
    struct cupti_pm_sampler one = {CUPTI_PM_HEAD(start),
                                   .sampler = sampler->object};
    int result = cupti_pm.start(&one);

    sampler->started = !result;
    sampler->first = true;
    counts.sessions += !result;
    return result;
}

static bool begin_one(uint32_t device)
{
    struct sampler *sampler = &samplers[device];
    struct cupti_pm_chip chip = {CUPTI_PM_HEAD(chip), .device = device};
    struct cupti_pm_enable enable = {CUPTI_PM_HEAD(enable), .device = device};

    if (!need(device, "cuptiDeviceGetChipName", cupti_pm.chip(&chip)) ||
        !is_supported(device) || !choose(device, chip.name) ||
        !need(device, "cuptiPmSamplingEnable", cupti_pm.enable(&enable)))
        return false;
    sampler->object = enable.sampler;
    return need(device, "cuptiPmSamplingSetConfig",
                configure(sampler, chip.name)) &&
           need(device, "cuptiPmSamplingGetCounterDataSize",
                make_image(sampler)) &&
           need(device, "cuptiPmSamplingStart", start(sampler));
}

/* Notes what the counters of a device are, and that their sampling changes
 * times. */
static void note(const struct cupti_pm_counters *counters, uint32_t device)
{
    struct trace_text names = {0};
    char pair[64];

    for (size_t i = 0; i < counters->count; i++)
        trace_text_printf(&names, "%s%s", i ? "," : "", counters->metrics[i]);
    snprintf(pair, sizeof(pair), "gpu.device.%u.counters", device);
    cupti.host->note(pair, names.data ? names.data : "");
    trace_text_free(&names);
    cupti.host->note("gpu.clocks", "locked");
}

static uint32_t count_devices(void)
{
    int (*get_count)(int *) = (int (*)(int *))(uintptr_t)cupti_symbol(
        "libcuda.so", "cuDeviceGetCount");
    uint64_t most = cupti.host->profiler->gpu_num_chips_to_profile_per_task;
    int count = 0;

    if (!get_count || get_count(&count))
        return 0;
    if (most && (uint64_t)count > most)
        return (uint32_t)most;
    return count > DEVICES ? DEVICES : (uint32_t)count;
}

static void begin_all(void)
{
    device_count = count_devices();
    if (!device_count)
        say("counters of GPUs are not sampled: the driver has no device");
    for (uint32_t device = 0; device < device_count; device++)
        if (begin_one(device))
            note(&samplers[device].counters, device);
}

/* ---- Samples ---- */

static void put_sample(const struct sampler *sampler,
                       const struct cupti_pm_sample *sample,
                       const double *numbers)
{
    const struct cupti_pm_counters *counters = &sampler->counters;
    struct trace_value values[TRACE_ACTIVITY_FIELDS];
    struct trace_activity activity = {
        .at = {.begin = cupti_ticks(&sample_clock, sample->begin),
               .device = (uint32_t)(sampler - samplers),
               .kind = TRACE_ACTIVITY_COUNTERS,
               .on_device = true},
        .end = cupti_ticks(&sample_clock, sample->end),
        .name = "counters",
        .fields = counters->names,
        .field_count = counters->count,
        .values = values};

    for (size_t i = 0; i < counters->count; i++)
        values[i] =
            isfinite(numbers[i]) ? trace_f64_(numbers[i]) : trace_empty();
    cupti.host->put(&activity);
    counts.samples++;
}

/* Records a sample of the image, except that the first one of a session may be
 * wrong. */
static void take_sample(struct sampler *sampler, size_t index)
{
    struct cupti_pm_counters *counters = &sampler->counters;
    double numbers[TRACE_ACTIVITY_FIELDS] = {0};
    struct cupti_pm_sample sample = {
        CUPTI_PM_HEAD(sample), .sampler = sampler->object,
        .image = sampler->image, .size = sampler->size, .index = index};
    struct cupti_pm_values values = {
        CUPTI_PM_HEAD(values),    .host = counters->host,
        .image = sampler->image,  .size = sampler->size,
        .index = index,           .names = counters->metrics,
        .count = counters->count, .values = numbers};
    bool first = sampler->first;

    sampler->first = false;
    if (first || cupti_pm.sample(&sample) || cupti_pm.values(&values))
        return;
    if (sample.begin <= sample.end &&
        cupti_is_time(&sample_clock, sample.begin) &&
        cupti_is_time(&sample_clock, sample.end))
        put_sample(sampler, &sample, numbers);
    else
        counts.foreign++;
}

static int stop(struct sampler *sampler)
{
    struct cupti_pm_sampler one = {CUPTI_PM_HEAD(stop),
                                   .sampler = sampler->object};

    sampler->started = false;
    return cupti_pm.stop(&one);
}

/* Records what a device has collected. Returns why it ended: CUPTI_PM_FULL if
 * there may be more, CUPTI_PM_END if there is none. */
static uint32_t decode(struct sampler *sampler)
{
    struct cupti_pm_decode some = {
        CUPTI_PM_HEAD(decode), .sampler = sampler->object,
        .image = sampler->image, .size = sampler->size};
    struct cupti_pm_info info = {CUPTI_PM_HEAD(info), .image = sampler->image,
                                 .size = sampler->size};
    int result;

    memcpy(sampler->image, sampler->empty, sampler->size);
    result = cupti_pm.decode(&some);
    cupti_clock_compare(&sample_clock, cupti.host->anchor());
    if (!result && !cupti_pm.info(&info))
        for (size_t i = 0; i < info.completed; i++)
            take_sample(sampler, i);
    if (result == CUPTI_PM_RESULT_OUT_OF_MEMORY || some.overflow) {
        counts.overflows++;
        if (sampler->started && !stop(sampler))
            start(sampler);
        return CUPTI_PM_END;
    }
    return result ? CUPTI_PM_END : some.reason;
}

static void end_all(void)
{
    uint64_t until = cupti_clock_now() + UINT64_C(1000000) * DRAIN_MS;

    for (uint32_t device = 0; device < device_count; device++) {
        uint32_t reason = CUPTI_PM_END;

        if (samplers[device].started && !stop(&samplers[device]))
            reason = decode(&samplers[device]);
        while (reason != CUPTI_PM_END && cupti_clock_now() < until) {
            if (reason != CUPTI_PM_FULL)
                usleep(1000);
            reason = decode(&samplers[device]);
        }
    }
}

/* ---- The thread ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;
static bool ending;
static pthread_t thread;
static bool running, stuck;

/* Returns whether the thread must end. */
static bool wait(unsigned ms)
{
    struct timespec until;
    bool end;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += (long)ms * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&lock);
    while (!ending &&
           !pthread_cond_clockwait(&ended, &lock, CLOCK_MONOTONIC, &until))
        ;
    end = ending;
    pthread_mutex_unlock(&lock);
    return end;
}

/* Waits until the driver has started. Before that, other calls would crash. */
static bool begin_profiler(void)
{
    struct cupti_pm_head head = CUPTI_PM_HEAD(initialize);
    int result;

    while ((result = cupti_pm.initialize(&head)) &&
           (result == CUPTI_RESULT_NOT_INITIALIZED ||
            result == CUPTI_RESULT_NOT_READY || result == CUPTI_RESULT_UNKNOWN))
        if (wait(START_MS))
            return false;
    if (result)
        need(0, "cuptiProfilerInitialize", result);
    return !result;
}

/* Sanitizers end a process in which libcupti loads its library for counters,
 * because that takes its own symbols first (RTLD_DEEPBIND). */
static bool is_forbidden(void)
{
    static const char *const starts[] = {"__asan_init", "__tsan_init",
                                         "__msan_init", "__hwasan_init"};
    bool found = false;

    for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++)
        found |= dlsym(RTLD_DEFAULT, starts[i]) != NULL;
    return found && !dlsym(cupti.handle, "trace_playback_id");
}

static void *run(void *unused)
{
    (void)unused;
    cupti.decoder.own.sampling_thread = (uint32_t)gettid();
    cupti_raw_note_own();
    if (is_forbidden()) {
        say("counters of GPUs are not sampled: the program's sanitizer does "
            "not allow it");
        return NULL;
    }
    if (!cupti_pm_load(cupti.handle)) {
        say("counters of GPUs are not sampled: libcupti %u lacks PM sampling; "
            "CUDA 12.6 and newer have it",
            cupti.version);
        return NULL;
    }
    if (!begin_profiler())
        return NULL;
    begin_all();
    while (!wait(PERIOD_MS))
        for (uint32_t device = 0; device < device_count; device++)
            while (samplers[device].started &&
                   decode(&samplers[device]) == CUPTI_PM_FULL)
                ;
    end_all();
    return NULL;
}

void cupti_pm_begin(void)
{
    if (!cupti.host->profiler->counters[0] || stuck)
        return;
    memset(&counts, 0, sizeof(counts));
    sample_clock = cupti.decoder.clock;
    ending = false;
    running = !pthread_create(&thread, NULL, run, NULL);
    if (running)
        pthread_setname_np(thread, "testlog-pm");
}

void cupti_pm_stop(void)
{
    if (!running)
        return;
    running = false;
    pthread_mutex_lock(&lock);
    ending = true;
    pthread_cond_signal(&ended);
    pthread_mutex_unlock(&lock);
    stuck = !cupti_join(thread);
    if (stuck)
        say("CUPTI does not answer; its last samples are lost");
}

static void note_counts(void)
{
    cupti_note("gpu.pm_samples", "%llu", (unsigned long long)counts.samples);
    cupti_note("gpu.pm_foreign", "%llu", (unsigned long long)counts.foreign);
    cupti_note("gpu.pm_overflows", "%llu",
               (unsigned long long)counts.overflows);
    if (counts.overflows)
        say("samples of counters were lost %llu time%s: raise "
            "gpu_pm_sample_interval_us or gpu_pm_sample_buffer_size_per_gpu_mb",
            (unsigned long long)counts.overflows,
            counts.overflows == 1 ? "" : "s");
    else if (counts.foreign && !counts.samples)
        say("counters have no sample: its times are of another clock");
    else if (!counts.samples)
        say("counters have no sample: the recording is shorter than two "
            "intervals of %llu µs",
            (unsigned long long)
                cupti.host->profiler->gpu_pm_sample_interval_us);
}

void cupti_pm_end(void)
{
    if (stuck)
        return;
    for (uint32_t device = 0; device < device_count; device++) {
        struct sampler *sampler = &samplers[device];
        struct cupti_pm_sampler one = {CUPTI_PM_HEAD(disable),
                                       .sampler = sampler->object};

        if (!sampler->object)
            continue;
        cupti_pm.disable(&one);
        free(sampler->image);
        free(sampler->empty);
        sampler->object = sampler->image = sampler->empty = NULL;
    }
    device_count = 0;
    if (counts.sessions)
        note_counts();
    counts.sessions = 0;
}
