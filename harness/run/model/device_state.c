/* device_state.c: what recordings contain about each device back end. */
#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "harness/machine/notice.h"
#include "harness/run/model/model.h"

#define MEMBER(type, member_kind, member, ...)                                 \
    {                                                                          \
        .name = #member, .kind = TEST_LOG_##member_kind,                       \
        .at = offsetof(struct type, member), __VA_ARGS__                       \
    }

/* ---- CUDA ---- */

#define GPU(...) MEMBER(test_log_gpu, __VA_ARGS__)

static const char *const gpu_states[] = {
#define TEST_LOG_X(name, word) word,
    TEST_LOG_GPU_STATES(TEST_LOG_X)
#undef TEST_LOG_X
        NULL};

static const char *const nvtx_states[] = {
#define TEST_LOG_X(name, word) word,
    TEST_LOG_NVTX_STATES(TEST_LOG_X)
#undef TEST_LOG_X
        NULL};

const struct test_log_member test_log_gpu_members[] = {
    GPU(STATE, state, .words = gpu_states),
    GPU(ANY, cuda),
    GPU(STATE, nvtx, .words = nvtx_states),
    GPU(LAST, nvtx_tool),
    GPU(TEXT, nvtx_notice, .state = offsetof(struct test_log_gpu, nvtx)),
    GPU(TEXT, notice),
    GPU(TEXT, library),
    GPU(TEXT, api),
    GPU(WORDS, kinds),
    GPU(TEXT, refused),
    GPU(TEXT, source),
    GPU(FLAG, graph_level),
    GPU(FIRST, clocks),
    GPU(NAMES, devices),
#define TEST_LOG_X(name) GPU(COUNT, name),
    TEST_LOG_GPU_COUNTS(TEST_LOG_X)
#undef TEST_LOG_X
        {.name = NULL},
};

const char *test_log_gpu_word(enum test_log_gpu_state state)
{
    return gpu_states[state];
}

bool test_log_gpu_state_of(const char *word, enum test_log_gpu_state *state)
{
    unsigned number;

    if (!test_log_member_state(gpu_states, word, &number))
        return false;
    *state = (enum test_log_gpu_state)number;
    return true;
}

static void read_devices(struct test_log_gpu *gpu,
                         const struct trace_reader *reader)
{
    static const char prefix[] = "gpu.device.";
    const size_t size = sizeof(prefix) - 1;
    const char *name, *value;
    size_t cursor = 0;

    while (trace_reader_metas(reader, &cursor, &name, &value)) {
        char *end;
        size_t ordinal;

        if (strncmp(name, prefix, size) != 0 ||
            !isdigit((unsigned char)name[size]))
            continue;
        ordinal = strtoul(name + size, &end, 10);
        if (!*end)
            test_log_device_name(gpu->devices, ordinal, value);
    }
}

bool test_log_gpu_read(struct test_log_gpu *gpu,
                       const struct trace_reader *reader)
{
    const bool known = test_log_gpu_state_of(
        trace_reader_meta(reader, "gpu.state"), &gpu->state);

    *gpu = (struct test_log_gpu){0};
    if (known) {
        test_log_members_read(gpu, test_log_gpu_members, reader, "gpu");
        read_devices(gpu, reader);
        /* A program without CUDA always records "unused". */
        gpu->cuda = gpu->state != TEST_LOG_GPU_UNUSED;
    } else {
        gpu->nvtx_notice = test_log_meta_text(reader, "gpu.nvtx_notice");
    }
    if (gpu->nvtx_notice)
        gpu->nvtx = TEST_LOG_NVTX_NOT_LOADED;
    return known || gpu->nvtx_notice;
}

void test_log_gpu_free(struct test_log_gpu *gpu)
{
    test_log_members_free(gpu, test_log_gpu_members);
    *gpu = (struct test_log_gpu){0};
}

void test_log_gpu_print(const struct test_log_gpu *gpu)
{
    if (gpu->nvtx_notice)
        test_log_notice("%s", gpu->nvtx_notice);
    if (!gpu->asked && !gpu->cuda)
        return;
    if (gpu->notice)
        test_log_notice("%s", gpu->notice);
    else if (gpu->state == TEST_LOG_GPU_PLAYBACK)
        test_log_notice("GPU trace: played back, no GPU was used");
}

/* ---- Other back ends ---- */

#define DEVICE(...) MEMBER(test_log_device, __VA_ARGS__)

/* In a run, a later state replaces an earlier one. */
const char *const test_log_device_states[] = {"unused", "on", "not-loaded",
                                              NULL};

const struct test_log_member test_log_device_members[] = {
    DEVICE(STATE, state, .words = test_log_device_states),
    DEVICE(TEXT, notice),
    DEVICE(FIRST, clock),
#define TEST_LOG_X(name) DEVICE(COUNT, name),
    TRACE_BACKEND_COUNTS(TEST_LOG_X)
#undef TEST_LOG_X
        {.name = NULL},
};

/* A call that puts a kernel into a queue. */
static bool is_launch(const struct trace_entry *entry)
{
    static const char *const calls[] = {
        "clEnqueueNDRangeKernel", "clEnqueueTask", "clEnqueueNativeKernel"};

    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
        if (!strcmp(entry->site->name, calls[i]))
            return entry->at.correlation &&
                   entry->site->level != TRACE_LEVEL_ERROR;
    return false;
}

/* A process that was killed, or has called _exit, has noted no counts. */
static void count_records(struct test_log_device *device,
                          enum trace_backend_row row,
                          struct trace_reader *reader)
{
    const struct trace_backend_words *words = &trace_backends[row];
    struct trace_entry entry;

    if (trace_reader_rewind(reader))
        return;
    while (trace_reader_next(reader, &entry)) {
        if (entry.kind != TRACE_ENTRY_DEVICE ||
            trace_backend_of(entry.at.device) != words)
            continue;
        device->launches += is_launch(&entry);
        device->launched += entry.at.launched;
    }
    if (device->launches > device->launched)
        device->lost = device->launches - device->launched;
}

void test_log_device_read(struct test_log_device *device,
                          enum trace_backend_row row,
                          struct trace_reader *reader)
{
    const struct trace_backend_words *words = &trace_backends[row];
    char key[64];

    *device = (struct test_log_device){0};
    test_log_members_read(device, test_log_device_members, reader,
                          words->member);
    snprintf(key, sizeof(key), "%s.clock.%u", words->member,
             words->first_device);
    device->clock = test_log_meta_text(reader, key);
    if (device->state && !trace_reader_summary(reader).ended)
        count_records(device, row, reader);
}

/* ---- Zones ---- */

#define ZONES(...) MEMBER(test_log_zones, __VA_ARGS__)

const struct test_log_member test_log_zones_members[] = {
#define TEST_LOG_X(name) ZONES(COUNT, name),
    TRACE_ZONE_COUNTS(TEST_LOG_X)
#undef TEST_LOG_X
        ZONES(FIRST, clock),
    {.name = NULL},
};

/* ---- All of a run ---- */

void *test_log_devices_object(struct test_log_run *run, size_t number,
                              const char **name,
                              const struct test_log_member **members)
{
    if (number == TRACE_BACKEND_COUNT) {
        *name = "zones";
        *members = test_log_zones_members;
        return &run->zones;
    }
    if (number > TRACE_BACKEND_COUNT)
        return NULL;
    *name = trace_backends[number].member;
    *members = number ? test_log_device_members : test_log_gpu_members;
    return number ? (void *)&run->devices[number] : &run->gpu;
}

void test_log_devices_members(struct trace_text *text,
                              const struct test_log_run *given)
{
    struct test_log_run *run = (struct test_log_run *)(uintptr_t)given;
    const struct test_log_member *members;
    const char *name;
    const void *object;

    for (size_t i = 0;
         (object = test_log_devices_object(run, i, &name, &members)); i++) {
        if (object == &run->zones && !run->zones.clock)
            continue;
        trace_text_printf(text, ",\n\"%s\":{", name);
        test_log_members_put(text, object, members);
        trace_text_char(text, '}');
    }
}

void test_log_devices_free(struct test_log_run *run)
{
    const struct test_log_member *members;
    const char *name;
    void *object;

    for (size_t i = 0;
         (object = test_log_devices_object(run, i, &name, &members)); i++)
        test_log_members_free(object, members);
}

bool test_log_devices_without_cuda(const struct test_log_run *run)
{
    for (size_t i = 1; i < TRACE_BACKEND_COUNT; i++)
        if (run->devices[i].state)
            return !run->gpu.cuda;
    return false;
}

void test_log_devices_print(const struct test_log_run *run)
{
    for (size_t i = 1; i < TRACE_BACKEND_COUNT; i++)
        if (run->devices[i].notice)
            test_log_notice("%s", run->devices[i].notice);
}
