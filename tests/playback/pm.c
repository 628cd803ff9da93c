/* pm.c: PM sampling of the libcupti that plays back: a device whose counters
 * change as time passes. Counter I of sample N is 10 * I, and 5 more if N is
 * odd.
 *
 * Variables, all starting with PLAYBACK_PM_:
 *   CHIP=NAME        the chip (default GH100)
 *   LATE=N           the driver has not started the first N times
 *   UNKNOWN=TEXT     counters with this in their name do not exist
 *   PASSES=TEXT      each counter with this in its name needs another pass
 *   FAIL=CALL:CODE   cuptiPmSamplingCALL returns CODE
 *   LACKS=PART       the device does not support it because of "vgpu", ...
 *   ROOM=N           at most N samples are decoded at a time
 *   OVERFLOW=N       the Nth decoding finds that samples were lost
 *   OFF=N            times are N seconds off
 *   NAN=1            the second counter is not a number
 *   HANG=1           decoding never returns
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calls.h"
#include "playback.h"
#include "trace/devices/cupti/pm.h"

enum { DEVICES = 8, METRICS = 64, SAMPLES = 100000 };

/* The image of samples: `count` of them from number `first` on. */
struct image {
    uint64_t count, first;
};

static struct device {
    bool enabled, started;
    uint64_t interval, begin; /* ns */
    uint64_t taken;           /* samples of the session */
    uint32_t room;            /* samples in an image */
} devices[DEVICES];

/* A list of counters for a chip; it is unusable after a failure. */
struct host {
    const char *names[METRICS];
    size_t count;
    bool bad;
};

/* Notes a call, and returns the result that it shall have. */
static int called(const char *call, long argument, size_t size, size_t expected)
{
    const char *fail = playback_setting("PM_FAIL");
    size_t length = strlen(call);

    calls_note(call, argument);
    if (size != expected)
        return CUPTI_PM_RESULT_INVALID_PARAMETER;
    return fail && !strncmp(fail, call, length) && fail[length] == ':'
               ? atoi(fail + length + 1)
               : 0;
}

#define CALLED(name, call, argument)                                           \
    called(call, (long)(argument), p->head.size, CUPTI_PM_SIZE_##name)

static long index_of(const void *sampler)
{
    return (const struct device *)sampler - devices;
}

static bool has(const char *setting, const char *name)
{
    const char *part = playback_setting(setting);

    return part && strstr(name, part);
}

/* ---- The device ---- */

CALL(cuptiProfilerInitialize, struct cupti_pm_head *p)
{
    static long calls;

    if (p->size != CUPTI_PM_SIZE_initialize)
        return CUPTI_PM_RESULT_INVALID_PARAMETER;
    return ++calls > playback_number("PM_LATE", 0)
               ? called("Initialize", 0, 0, 0)
               : CUPTI_RESULT_NOT_INITIALIZED;
}

CALL(cuptiProfilerDeviceSupported, struct cupti_pm_support *p)
{
    const char *lacks = playback_setting("PM_LACKS");
    const struct {
        const char *part;
        uint32_t *level;
    } parts[] = {{"architecture", &p->architecture},
                 {"sli", &p->sli},
                 {"vgpu", &p->vgpu},
                 {"confidential", &p->confidential},
                 {"cmp", &p->cmp},
                 {"wsl", &p->wsl},
                 {"any", &p->supported}};

    if (p->api != CUPTI_PM_SAMPLING)
        return CUPTI_PM_RESULT_INVALID_PARAMETER;
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
        *parts[i].level =
            lacks && (!strcmp(lacks, parts[i].part) || i == 6) ? 1 : 3;
    return CALLED(support, "DeviceSupported", p->device);
}

CALL(cuptiDeviceGetChipName, struct cupti_pm_chip *p)
{
    const char *chip = playback_setting("PM_CHIP");

    p->name = chip ? chip : "GH100";
    return CALLED(chip, "GetChipName", p->device);
}

CALL(cuptiPmSamplingGetCounterAvailability, struct cupti_pm_availability *p)
{
    if (p->image)
        memset(p->image, 'a', p->size);
    else
        p->size = 100;
    return CALLED(availability, "GetCounterAvailability", p->device);
}

/* ---- Counters of a chip ---- */

CALL(cuptiProfilerHostInitialize, struct cupti_pm_host *p)
{
    int result = CALLED(host, "HostInitialize", 0);

    if (p->kind != CUPTI_PM_HOST)
        return CUPTI_PM_RESULT_INVALID_PARAMETER;
    if (!result)
        p->host = calloc(1, sizeof(struct host));
    return result;
}

CALL(cuptiProfilerHostDeinitialize, struct cupti_pm_host_end *p)
{
    free(p->host);
    return CALLED(host_end, "HostDeinitialize", 0);
}

CALL(cuptiProfilerHostGetBaseMetrics, struct cupti_pm_base_metrics *p)
{
    static const char *names[] = {"sm__cycles_active", "gr__cycles_active"};

    p->names = names;
    p->count = p->kind == CUPTI_PM_COUNTER ? 2 : 0;
    return CALLED(base_metrics, "GetBaseMetrics", p->kind);
}

CALL(cuptiProfilerHostGetSubMetrics, struct cupti_pm_sub_metrics *p)
{
    static const char *names[] = {".sum", ".avg.pct_of_peak_sustained_elapsed"};

    p->names = names;
    p->count = 2;
    return CALLED(sub_metrics, "GetSubMetrics", p->kind);
}

CALL(cuptiProfilerHostConfigAddMetrics, struct cupti_pm_metrics *p)
{
    struct host *host = p->host;

    if (host->bad || host->count + p->count > METRICS)
        return CUPTI_RESULT_UNKNOWN;
    for (size_t i = 0; i < p->count; i++) {
        host->names[host->count++] = p->names[i];
        host->bad |= has("PM_UNKNOWN", p->names[i]);
    }
    return host->bad ? CUPTI_PM_RESULT_INVALID_PARAMETER
                     : CALLED(metrics, "ConfigAddMetrics", p->count);
}

CALL(cuptiProfilerHostGetConfigImageSize, struct cupti_pm_config_size *p)
{
    p->size = 8;
    return CALLED(config_size, "GetConfigImageSize", 0);
}

/* The image has the number of passes. */
CALL(cuptiProfilerHostGetConfigImage, struct cupti_pm_config *p)
{
    const struct host *host = p->host;
    uint64_t passes = 1;

    for (size_t i = 0; i < host->count; i++)
        passes += has("PM_PASSES", host->names[i]);
    memcpy(p->image, &passes, p->size);
    return CALLED(config, "GetConfigImage", 0);
}

CALL(cuptiProfilerHostGetNumOfPasses, struct cupti_pm_passes *p)
{
    memcpy(&p->count, p->image, sizeof(p->count));
    return CALLED(passes, "GetNumOfPasses", p->count);
}

CALL(cuptiProfilerHostEvaluateToGpuValues, struct cupti_pm_values *p)
{
    struct image image;

    memcpy(&image, p->image, sizeof(image));
    for (size_t i = 0; i < p->count; i++)
        p->values[i] = (double)(10 * i + (image.first + p->index) % 2 * 5);
    if (p->count > 1 && playback_number("PM_NAN", 0))
        p->values[1] = NAN;
    return p->head.size == CUPTI_PM_SIZE_values && p->index < image.count
               ? 0
               : CUPTI_PM_RESULT_INVALID_PARAMETER;
}

/* ---- Sampling ---- */

CALL(cuptiPmSamplingEnable, struct cupti_pm_enable *p)
{
    struct device *device = &devices[p->device % DEVICES];
    int result = CALLED(enable, "Enable", p->device);

    if (device->enabled)
        return CUPTI_RESULT_UNKNOWN;
    device->enabled = !result;
    p->sampler = device;
    return result;
}

CALL(cuptiPmSamplingSetConfig, struct cupti_pm_set_config *p)
{
    struct device *device = p->sampler;
    uint64_t passes = 0;

    if (p->size == sizeof(passes))
        memcpy(&passes, p->image, p->size);
    device->interval = p->interval;
    calls_note("interval", (long)p->interval);
    calls_note("trigger", (long)p->trigger);
    calls_note("append", (long)p->append);
    return passes == 1 ? CALLED(set_config, "SetConfig", p->room)
                       : CUPTI_PM_RESULT_INVALID_PARAMETER;
}

CALL(cuptiPmSamplingGetCounterDataSize, struct cupti_pm_data_size *p)
{
    struct device *device = p->sampler;

    device->room = (uint32_t)playback_number("PM_ROOM", p->samples);
    p->size = sizeof(struct image);
    return CALLED(data_size, "GetCounterDataSize", p->samples);
}

CALL(cuptiPmSamplingCounterDataImageInitialize, struct cupti_pm_data *p)
{
    memset(p->image, 0, p->size);
    return CALLED(data, "CounterDataImageInitialize", 0);
}

CALL(cuptiPmSamplingStart, struct cupti_pm_sampler *p)
{
    struct device *device = p->sampler;
    int result = CALLED(start, "Start", index_of(device));

    device->started = !result;
    device->begin = playback_clock();
    device->taken = 0;
    return result;
}

CALL(cuptiPmSamplingStop, struct cupti_pm_sampler *p)
{
    struct device *device = p->sampler;

    device->started = false;
    return CALLED(stop, "Stop", index_of(device));
}

CALL(cuptiPmSamplingDisable, struct cupti_pm_sampler *p)
{
    struct device *device = p->sampler;

    if (!device->enabled || device->started)
        abort();
    device->enabled = false;
    return CALLED(disable, "Disable", index_of(device));
}

CALL(cuptiPmSamplingDecodeData, struct cupti_pm_decode *p)
{
    static long calls;
    struct device *device = p->sampler;
    struct image image;
    uint64_t since = playback_clock() - device->begin;
    uint64_t some = since / device->interval - device->taken;

    while (playback_setting("PM_HANG"))
        pause();
    if (!device->enabled)
        abort();
    memcpy(&image, p->image, sizeof(image));
    if (image.count)
        abort(); /* it still has samples of before */
    image = (struct image){some < device->room ? some : device->room,
                           device->taken};
    device->taken += image.count;
    memcpy(p->image, &image, sizeof(image));
    p->reason = image.count < some ? CUPTI_PM_FULL : CUPTI_PM_END;
    p->overflow = ++calls == playback_number("PM_OVERFLOW", 0);
    return CALLED(decode, "DecodeData", index_of(device));
}

/* The last sample is not complete yet. */
CALL(cuptiPmSamplingGetCounterDataInfo, struct cupti_pm_info *p)
{
    struct image image;

    memcpy(&image, p->image, sizeof(image));
    p->total = SAMPLES;
    p->populated = image.count + 1;
    p->completed = image.count;
    return p->head.size == CUPTI_PM_SIZE_info
               ? 0
               : CUPTI_PM_RESULT_INVALID_PARAMETER;
}

CALL(cuptiPmSamplingCounterDataGetSampleInfo, struct cupti_pm_sample *p)
{
    const struct device *device = p->sampler;
    struct image image;
    uint64_t off = (uint64_t)playback_number("PM_OFF", 0) * 1000000000;

    memcpy(&image, p->image, sizeof(image));
    p->begin =
        device->begin + (image.first + p->index) * device->interval + off;
    p->end = p->begin + device->interval;
    return p->head.size == CUPTI_PM_SIZE_sample && p->index < image.count
               ? 0
               : CUPTI_PM_RESULT_INVALID_PARAMETER;
}
