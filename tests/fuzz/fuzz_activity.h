/* fuzz_activity.h: a host for the decoder of CUPTI's records, and buffers of
 * any bytes. */
#ifndef TESTS_FUZZ_ACTIVITY_H
#define TESTS_FUZZ_ACTIVITY_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/devices/cupti/cupti.h"

/* What the decoder put. */
static struct {
    size_t puts, notes;
    uint64_t sum; /* of all bytes, so that every byte is read */
    uint64_t last;
    bool disorder;
} fuzz_seen;

static inline void fuzz_read(const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        fuzz_seen.sum += ((const unsigned char *)bytes)[i];
}

static inline void fuzz_put(const struct trace_activity *activity)
{
    size_t count = activity->field_count;

    if (count > TRACE_ACTIVITY_FIELDS || activity->end < activity->at.begin)
        abort();
    count += activity->at.launched ? TRACE_LAUNCH_FIELDS : 0;
    fuzz_read(activity->name, strlen(activity->name));
    for (size_t i = 0; i < activity->field_count; i++)
        fuzz_read(activity->fields[i], strlen(activity->fields[i]));
    for (size_t i = 0; i < count; i++)
        if (activity->values[i].type == TRACE_TYPE_DISPLAY)
            fuzz_read(activity->values[i].as.text, activity->values[i].size);
    fuzz_seen.disorder |= activity->at.begin < fuzz_seen.last;
    fuzz_seen.last = activity->at.begin;
    fuzz_seen.puts++;
}

static inline void fuzz_say(unsigned level, const char *message)
{
    fuzz_read(message, strlen(message) + level);
}

static inline void fuzz_note(const char *name, const char *value)
{
    fuzz_read(name, strlen(name));
    fuzz_read(value, strlen(value));
    fuzz_seen.notes++;
}

static inline int fuzz_name(int domain, uint32_t id, const char **name)
{
    *name = id % 2 ? "cuLaunchKernel_ptsz" : "";
    return domain + (int)(id % 3) == 1;
}

static inline int fuzz_kind(int kind)
{
    return kind < 0;
}

/* Nearly all times are possible. */
static inline struct trace_anchor fuzz_anchor(void)
{
    return (struct trace_anchor){UINT64_C(1) << 62, UINT64_C(1) << 62, 0};
}

static const struct trace_device_host fuzz_host = {.put = fuzz_put,
                                                   .say = fuzz_say,
                                                   .note = fuzz_note,
                                                   .anchor = fuzz_anchor,
                                                   .profiler =
                                                       &trace_profiler_default};

/* Begins with a libcupti that is on. */
static inline void fuzz_begin(void)
{
    cupti_decoder_free(&cupti.decoder);
    memset(&cupti, 0, sizeof(cupti));
    memset(&fuzz_seen, 0, sizeof(fuzz_seen));
    cupti.host = &fuzz_host;
    cupti.callback_name = fuzz_name;
    cupti.disable = fuzz_kind;
    cupti.pid = (uint32_t)getpid();
    cupti.on = true;
    cupti_begin_decoder();
    cupti.decoder.library.system_threads = true;
    cupti.decoder.clock.first = (struct trace_anchor){1, 1, 0};
    cupti_clock_compare(&cupti.decoder.clock, fuzz_anchor());
}

/* Returns a copy of records, to be freed, that has exactly their size. Pointers
 * in records come from CUPTI and are trusted, so they must be valid. */
static inline struct cupti_range fuzz_range(const void *bytes, size_t size)
{
    struct cupti_record record = {0};
    uint64_t name = (uintptr_t) "_Z4fuzzv";
    uint8_t *copy = malloc(size + !size);

    if (!copy)
        abort();
    memcpy(copy, bytes, size);
    while (cupti_next(cupti.decoder.library.strides, copy, size, &record) &&
           record.at) {
        uint8_t *at = copy + (record.at - copy);

        if (record.kind == CUPTI_KIND_CONCURRENT_KERNEL && record.stride >= 112)
            memcpy(at + 104, &name, 8);
        if (record.kind == CUPTI_KIND_DEVICE && record.stride >= 144)
            memcpy(at + 136, &name, 8);
        if (record.kind == CUPTI_KIND_NAME && record.stride >= 32)
            memcpy(at + 24, &name, 8);
    }
    return (struct cupti_range){NULL, copy, size};
}

static inline void fuzz_decode(const void *bytes, size_t size, bool last)
{
    struct cupti_range range = fuzz_range(bytes, size);

    cupti_decode(&cupti.decoder, &range, last);
    free((void *)(uintptr_t)range.bytes);
}

#endif
