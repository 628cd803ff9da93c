/* pm.h: samples hardware counters of GPUs with CUPTI's PM sampling, which CUDA
 * 12.6 and newer have. Private to this folder.
 *
 * As in cupti.h, no header of CUPTI is needed.
 * tests/unit/devices/cupti_pm_versions_test.c compares this file with those of
 * a toolkit.
 */
#ifndef TRACE_DEVICES_CUPTI_PM_H
#define TRACE_DEVICES_CUPTI_PM_H

#include "cupti.h"

/* ---- Facts: the parameters of calls ---- */

/* Each call has one parameter, which begins with its own size. */
struct cupti_pm_head {
    size_t size;
    void *unused; /* NULL */
};

struct cupti_pm_support {
    struct cupti_pm_head head;
    int device;
    uint32_t supported, architecture, sli, vgpu, confidential, cmp,
        wsl; /* out: CUPTI_PM_SUPPORTED, ... */
    uint32_t api;
};

struct cupti_pm_chip {
    struct cupti_pm_head head;
    size_t device;
    const char *name; /* out */
};

struct cupti_pm_availability {
    struct cupti_pm_head head;
    size_t device;
    size_t size; /* out, if `image` is NULL */
    uint8_t *image;
};

struct cupti_pm_host {
    struct cupti_pm_head head;
    uint32_t kind;
    const char *chip;
    const uint8_t *availability;
    void *host; /* out */
};

struct cupti_pm_host_end {
    struct cupti_pm_head head;
    void *host;
};

struct cupti_pm_base_metrics {
    struct cupti_pm_head head;
    void *host;
    uint32_t kind;
    const char **names; /* out */
    size_t count;       /* out */
};

struct cupti_pm_sub_metrics {
    struct cupti_pm_head head;
    void *host;
    uint32_t kind;
    const char *name;
    size_t count;       /* out */
    const char **names; /* out */
};

struct cupti_pm_metrics {
    struct cupti_pm_head head;
    void *host;
    const char **names;
    size_t count;
};

struct cupti_pm_config_size {
    struct cupti_pm_head head;
    void *host;
    size_t size; /* out */
};

struct cupti_pm_config {
    struct cupti_pm_head head;
    void *host;
    size_t size;
    uint8_t *image;
};

struct cupti_pm_passes {
    struct cupti_pm_head head;
    size_t size;
    uint8_t *image;
    size_t count; /* out */
};

struct cupti_pm_values {
    struct cupti_pm_head head;
    void *host;
    const uint8_t *image;
    size_t size;
    size_t index;
    const char **names;
    size_t count;
    double *values;
};

struct cupti_pm_enable {
    struct cupti_pm_head head;
    size_t device;
    void *sampler; /* out */
};

struct cupti_pm_set_config {
    struct cupti_pm_head head;
    void *sampler;
    size_t size;
    const uint8_t *image;
    size_t room;       /* bytes */
    uint64_t interval; /* ns, or cycles */
    uint32_t trigger, append;
};

struct cupti_pm_data_size {
    struct cupti_pm_head head;
    void *sampler;
    const char **names;
    size_t count;
    uint32_t samples;
    size_t size; /* out */
};

struct cupti_pm_data {
    struct cupti_pm_head head;
    void *sampler;
    size_t size;
    uint8_t *image;
};

struct cupti_pm_sampler {
    struct cupti_pm_head head;
    void *sampler;
};

struct cupti_pm_decode {
    struct cupti_pm_head head;
    void *sampler;
    uint8_t *image;
    size_t size;
    uint32_t reason;  /* out */
    uint8_t overflow; /* out */
};

struct cupti_pm_info {
    struct cupti_pm_head head;
    const uint8_t *image;
    size_t size;
    size_t total, populated, completed; /* out: samples */
};

struct cupti_pm_sample {
    struct cupti_pm_head head;
    void *sampler;
    const uint8_t *image;
    size_t size;
    size_t index;
    uint64_t begin, end; /* out: of CUPTI's clock */
};

/* X(our name, its name, the parameter, the last member of it) */
#define CUPTI_PM_CALLS(X)                                                      \
    X(initialize, "cuptiProfilerInitialize", head, unused)                     \
    X(support, "cuptiProfilerDeviceSupported", support, api)                   \
    X(chip, "cuptiDeviceGetChipName", chip, name)                              \
    X(availability, "cuptiPmSamplingGetCounterAvailability", availability,     \
      image)                                                                   \
    X(host, "cuptiProfilerHostInitialize", host, host)                         \
    X(host_end, "cuptiProfilerHostDeinitialize", host_end, host)               \
    X(base_metrics, "cuptiProfilerHostGetBaseMetrics", base_metrics, count)    \
    X(sub_metrics, "cuptiProfilerHostGetSubMetrics", sub_metrics, names)       \
    X(metrics, "cuptiProfilerHostConfigAddMetrics", metrics, count)            \
    X(config_size, "cuptiProfilerHostGetConfigImageSize", config_size, size)   \
    X(config, "cuptiProfilerHostGetConfigImage", config, image)                \
    X(passes, "cuptiProfilerHostGetNumOfPasses", passes, count)                \
    X(values, "cuptiProfilerHostEvaluateToGpuValues", values, values)          \
    X(enable, "cuptiPmSamplingEnable", enable, sampler)                        \
    X(set_config, "cuptiPmSamplingSetConfig", set_config, append)              \
    X(data_size, "cuptiPmSamplingGetCounterDataSize", data_size, size)         \
    X(data, "cuptiPmSamplingCounterDataImageInitialize", data, image)          \
    X(start, "cuptiPmSamplingStart", sampler, sampler)                         \
    X(decode, "cuptiPmSamplingDecodeData", decode, overflow)                   \
    X(info, "cuptiPmSamplingGetCounterDataInfo", info, completed)              \
    X(sample, "cuptiPmSamplingCounterDataGetSampleInfo", sample, end)          \
    X(stop, "cuptiPmSamplingStop", sampler, sampler)                           \
    X(disable, "cuptiPmSamplingDisable", sampler, sampler)

enum cupti_pm_size {
#define TRACE_X(name, symbol, type, last)                                      \
    CUPTI_PM_SIZE_##name = offsetof(struct cupti_pm_##type, last) +            \
                           sizeof(((struct cupti_pm_##type *)NULL)->last),
    CUPTI_PM_CALLS(TRACE_X)
#undef TRACE_X
};

#define CUPTI_PM_HEAD(name)                                                    \
    {                                                                          \
        CUPTI_PM_SIZE_##name, NULL                                             \
    }

/* X(NAME, number): results */
#define CUPTI_PM_RESULTS(X)                                                    \
    X(INVALID_PARAMETER, 1)                                                    \
    X(OUT_OF_MEMORY, 8)                                                        \
    X(INVALID_METRIC_NAME, 17)                                                 \
    X(HARDWARE_BUSY, 26)                                                       \
    X(VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES, 40)                          \
    X(CONFIDENTIAL_COMPUTING_NOT_SUPPORTED, 41)                                \
    X(CMP_DEVICE_NOT_SUPPORTED, 42)                                            \
    X(MIG_DEVICE_NOT_SUPPORTED, 43)                                            \
    X(SLI_DEVICE_NOT_SUPPORTED, 44)                                            \
    X(WSL_DEVICE_NOT_SUPPORTED, 45)

enum cupti_pm_result {
#define TRACE_X(name, number) CUPTI_PM_RESULT_##name = number,
    CUPTI_PM_RESULTS(TRACE_X)
#undef TRACE_X
};

/* X(NAME, its name, number): other constants */
#define CUPTI_PM_CONSTANTS(X)                                                  \
    X(SUPPORTED, "CUPTI_PROFILER_CONFIGURATION_SUPPORTED", 3)                  \
    X(UNKNOWN, "CUPTI_PROFILER_CONFIGURATION_UNKNOWN", 0)                      \
    X(SAMPLING, "CUPTI_PROFILER_PM_SAMPLING", 3)                               \
    X(HOST, "CUPTI_PROFILER_TYPE_PM_SAMPLING", 1)                              \
    X(COUNTER, "CUPTI_METRIC_TYPE_COUNTER", 0)                                 \
    X(RATIO, "CUPTI_METRIC_TYPE_RATIO", 1)                                     \
    X(THROUGHPUT, "CUPTI_METRIC_TYPE_THROUGHPUT", 2)                           \
    X(CYCLES, "CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_SYSCLK_INTERVAL", 0)         \
    X(TIME, "CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL", 1)             \
    X(FULL, "CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL", 1)       \
    X(END, "CUPTI_PM_SAMPLING_DECODE_STOP_REASON_END_OF_RECORDS", 2)           \
    X(OLDEST, "CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST", 0)  \
    X(LATEST, "CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_LATEST", 1)

enum cupti_pm_constant {
#define TRACE_X(name, theirs, number) CUPTI_PM_##name = number,
    CUPTI_PM_CONSTANTS(TRACE_X)
#undef TRACE_X
};

/* ---- pm_metrics.c: which counters a chip can sample ---- */

/* The functions of the running library. */
struct cupti_pm_calls {
#define TRACE_X(name, symbol, type, last) int (*name)(struct cupti_pm_##type *);
    CUPTI_PM_CALLS(TRACE_X)
#undef TRACE_X
};
extern struct cupti_pm_calls cupti_pm;

/* cupti_pm_load looks the functions up in a library. Returns false if it lacks
 * one. */
bool cupti_pm_load(void *handle);

/* The counters of a device. Names are for display and end with a space and
 * their unit, if they have one. */
struct cupti_pm_counters {
    const char *metrics[TRACE_ACTIVITY_FIELDS]; /* CUPTI's names */
    const char *names[TRACE_ACTIVITY_FIELDS];
    size_t count;
    void *host;      /* CUPTI's object, which computes their values */
    uint8_t *config; /* CUPTI's image, which configures the device */
    size_t config_size;
    struct trace_text text; /* has CUPTI's names */
};

/* cupti_pm_choose fills the counters of a list, "default+A+B", that a chip such
 * as "GH100" can sample together, which is in one pass; `availability` is
 * CUPTI's image of the device, or NULL. It adds a sentence to `left_out` about
 * those that it leaves out. Returns CUPTI's result if there is no support for
 * the chip; the count is 0 if no counter is left. They are not freed. */
int cupti_pm_choose(struct cupti_pm_counters *, const char *list,
                    const char *chip, const uint8_t *availability,
                    struct trace_text *left_out);

/* ---- pm_sampling.c ---- */

/* cupti_pm_begin starts a thread that samples the counters that the options
 * name, if any, once the driver has started. cupti_pm_stop ends the thread
 * after it has recorded the last samples; then records of activities can be
 * flushed. cupti_pm_end gives the devices free, after which CUPTI may have no
 * more records. */
void cupti_pm_begin(void);
void cupti_pm_stop(void);
void cupti_pm_end(void);

#endif
