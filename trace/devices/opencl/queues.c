/* queues.c: enables profiling on each queue, and hides that from the program.
 * Also of queues that it makes with a function that it looked up by its name.
 */
#include <stdlib.h>
#include <string.h>

#include "opencl.h"

enum { PROFILING = OPENCL_QUEUE_PROFILING_ENABLE };

/* ---- Creation ---- */

cl_command_queue opencl_CreateCommandQueue(cl_context context,
                                           cl_device_id device,
                                           cl_bitfield properties,
                                           cl_int *error)
{
    cl_command_queue queue = opencl.next.CreateCommandQueue(
        context, device, properties | PROFILING, error);
    bool profiled = queue;

    if (!queue)
        queue =
            opencl.next.CreateCommandQueue(context, device, properties, error);
    if (queue)
        opencl_queue_add(queue, context, device, NULL, 0,
                         profiled || properties & PROFILING,
                         profiled && !(properties & PROFILING));
    return queue;
}

/* Returns the number of words with the final 0. */
static size_t count_of(const cl_ulong *properties)
{
    size_t count = 0;

    while (properties && properties[count])
        count += 2;
    return properties ? count + 1 : 0;
}

/* Returns a copy with profiling, NULL without memory. */
static cl_ulong *with_profiling(const cl_ulong *properties, size_t count)
{
    cl_ulong *copy = calloc(count + 3, sizeof(*copy));
    size_t at = 0;

    if (!copy)
        return NULL;
    if (count)
        memcpy(copy, properties, count * sizeof(*copy));
    while (copy[at] && copy[at] != OPENCL_QUEUE_PROPERTIES)
        at += 2;
    copy[at] = OPENCL_QUEUE_PROPERTIES;
    copy[at + 1] |= PROFILING;
    return copy;
}

static cl_ulong bits_of(const cl_ulong *properties)
{
    for (; properties && *properties; properties += 2)
        if (*properties == OPENCL_QUEUE_PROPERTIES)
            return properties[1];
    return 0;
}

/* A queue on a device takes no commands of the host. */
static cl_command_queue create(opencl_create_queue *next, cl_context context,
                               cl_device_id device, const cl_ulong *properties,
                               cl_int *error)
{
    cl_ulong bits = bits_of(properties);
    size_t count = count_of(properties);
    cl_ulong *more = bits & (PROFILING | OPENCL_QUEUE_ON_DEVICE)
                         ? NULL
                         : with_profiling(properties, count);
    cl_command_queue queue = NULL;
    bool hidden;

    if (more)
        queue = next(context, device, more, error);
    hidden = queue;
    free(more);
    if (!queue)
        queue = next(context, device, properties, error);
    if (queue)
        opencl_queue_add(queue, context, device, properties, count,
                         hidden || bits & PROFILING, hidden);
    return queue;
}

cl_command_queue opencl_CreateCommandQueueWithProperties(
    cl_context context, cl_device_id device, const cl_ulong *properties,
    cl_int *error)
{
    return create(opencl.next.CreateCommandQueueWithProperties, context, device,
                  properties, error);
}

/* ---- Functions that a program looks up ---- */

static const char khr_name[] = "clCreateCommandQueueWithPropertiesKHR";

enum { PLATFORMS = 16 };

/* Each platform has a function of its own. It is looked up without a platform
 * as well: that one is NULL. */
static struct {
    cl_platform_id platform;
    opencl_create_queue *create;
} khr[PLATFORMS];
static size_t khr_count;

static opencl_create_queue *find_khr(cl_platform_id platform)
{
    opencl_create_queue *found = NULL;

    opencl_lock();
    for (size_t i = 0; i < khr_count; i++)
        if (khr[i].platform == platform)
            found = khr[i].create;
    opencl_unlock();
    return found;
}

static bool keep_khr(cl_platform_id platform, opencl_create_queue *function)
{
    bool kept;

    if (find_khr(platform))
        return true;
    opencl_lock();
    kept = khr_count < PLATFORMS;
    if (kept) {
        khr[khr_count].platform = platform;
        khr[khr_count++].create = function;
    }
    opencl_unlock();
    return kept;
}

static cl_command_queue create_khr(cl_context context, cl_device_id device,
                                   const cl_ulong *properties, cl_int *error)
{
    cl_platform_id platform = NULL;
    opencl_create_queue *next = NULL;

    if (!opencl.next.GetDeviceInfo(device, OPENCL_DEVICE_PLATFORM,
                                   sizeof(platform), &platform, NULL))
        next = find_khr(platform);
    if (!next)
        next = find_khr(NULL);
    if (!next)
        next = khr[0].create; /* a device of no platform: an error */
    return create(next, context, device, properties, error);
}

/* Returns our function for one that the layer follows. */
static void *follow(cl_platform_id platform, const char *name, void *function)
{
    if (!function || !name || strcmp(name, khr_name) != 0 ||
        !keep_khr(platform, (opencl_create_queue *)(uintptr_t)function))
        return function;
    return (void *)(uintptr_t)create_khr;
}

void *opencl_GetExtensionFunctionAddress(const char *name)
{
    return follow(NULL, name, opencl.next.GetExtensionFunctionAddress(name));
}

void *opencl_GetExtensionFunctionAddressForPlatform(cl_platform_id platform,
                                                    const char *name)
{
    return follow(
        platform, name,
        opencl.next.GetExtensionFunctionAddressForPlatform(platform, name));
}

/* ---- References ---- */

cl_int opencl_RetainCommandQueue(cl_command_queue queue)
{
    cl_int result = opencl.next.RetainCommandQueue(queue);

    if (!result)
        opencl_queue_retain(queue);
    return result;
}

/* Another thread may get the queue's address at once. */
cl_int opencl_ReleaseCommandQueue(cl_command_queue queue)
{
    opencl_queue_release(queue);
    return opencl.next.ReleaseCommandQueue(queue);
}

/* ---- Questions ---- */

static bool is_hidden(cl_command_queue queue)
{
    struct opencl_place place;

    return opencl_queue_find(queue, &place) && place.hidden;
}

static cl_int answer_properties(cl_command_queue queue, size_t size,
                                void *value, size_t *size_ret)
{
    size_t bytes = opencl_queue_properties(queue, NULL, 0);

    if (value && size < bytes)
        return OPENCL_INVALID_VALUE;
    if (value)
        opencl_queue_properties(queue, value, size);
    if (size_ret)
        *size_ret = bytes;
    return OPENCL_SUCCESS;
}

/* An old driver does not know of the array: it decides whether there is one. */
cl_int opencl_GetCommandQueueInfo(cl_command_queue queue, cl_uint info,
                                  OPENCL_INFO)
{
    cl_int result;

    if (info == OPENCL_QUEUE_PROPERTIES_ARRAY && is_hidden(queue)) {
        result = opencl.next.GetCommandQueueInfo(queue, info, 0, NULL, NULL);
        return result ? result
                      : answer_properties(queue, size, value, size_ret);
    }
    result =
        opencl.next.GetCommandQueueInfo(queue, info, size, value, size_ret);
    if (!result && info == OPENCL_QUEUE_PROPERTIES && value && is_hidden(queue))
        *(cl_bitfield *)value &= ~(cl_bitfield)PROFILING;
    return result;
}

/* Profiling that a program disables stays enabled, and hidden no more: drivers
 * since OpenCL 1.1 refuse this call. */
cl_int opencl_SetCommandQueueProperty(cl_command_queue queue,
                                      cl_bitfield properties, cl_bool enable,
                                      cl_bitfield *old)
{
    bool hidden = is_hidden(queue);
    cl_int result =
        opencl.next.SetCommandQueueProperty(queue, properties, enable, old);

    if (result)
        return result;
    if (old && hidden)
        *old &= ~(cl_bitfield)PROFILING;
    if (enable && properties & PROFILING)
        opencl_queue_show(queue);
    return OPENCL_SUCCESS;
}

cl_int opencl_GetEventProfilingInfo(cl_event event, cl_uint info, OPENCL_INFO)
{
    cl_command_queue queue = NULL;

    if (!opencl.next.GetEventInfo(event, OPENCL_EVENT_COMMAND_QUEUE,
                                  sizeof(queue), &queue, NULL) &&
        queue && is_hidden(queue))
        return OPENCL_PROFILING_INFO_NOT_AVAILABLE;
    return opencl.next.GetEventProfilingInfo(event, info, size, value,
                                             size_ret);
}
