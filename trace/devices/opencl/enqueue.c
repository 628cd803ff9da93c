/* enqueue.c: replaces the functions that enqueue commands. */
#include <string.h>

#include "opencl.h"

/* Where the driver puts the event. */
static cl_event *event_of(struct opencl_command *command)
{
    return command->own ? &command->event : command->given;
}

static uint64_t volume(const size_t *region)
{
    return region ? (uint64_t)region[0] * region[1] * region[2] : 0;
}

static uint64_t image_bytes(cl_mem image, const size_t *region)
{
    size_t element = 0;

    opencl.next.GetImageInfo(image, OPENCL_IMAGE_ELEMENT_SIZE, sizeof(element),
                             &element, NULL);
    return volume(region) * element;
}

static uint64_t sum(const size_t *sizes, cl_uint count)
{
    uint64_t all = 0;

    for (cl_uint i = 0; sizes && i < count; i++)
        all += sizes[i];
    return all;
}

/* After a blocking call, perhaps no command runs. */
static void end(struct opencl_command *command, cl_int result)
{
    if (opencl_command_end(command, result))
        opencl_rings_read();
}

/* ---- Copies and the like ---- */

/* X(name, kind, name of the activity, bytes, blocking, parameters behind the
 * queue, arguments) */
#define COMMANDS(X)                                                            \
    X(ReadBuffer, MEMCPY, "Memcpy DtoH", size, blocking,                       \
      (cl_mem buffer, cl_bool blocking, size_t offset, size_t size, void *to), \
      (buffer, blocking, offset, size, to))                                    \
    X(WriteBuffer, MEMCPY, "Memcpy HtoD", size, blocking,                      \
      (cl_mem buffer, cl_bool blocking, size_t offset, size_t size,            \
       const void *from),                                                      \
      (buffer, blocking, offset, size, from))                                  \
    X(CopyBuffer, MEMCPY, "Memcpy DtoD", size, 0,                              \
      (cl_mem from, cl_mem to, size_t from_offset, size_t to_offset,           \
       size_t size),                                                           \
      (from, to, from_offset, to_offset, size))                                \
    X(ReadBufferRect, MEMCPY, "Memcpy DtoH", volume(region), blocking,         \
      (cl_mem buffer, cl_bool blocking, OPENCL_RECT, void *to),                \
      (buffer, blocking, buffer_origin, host_origin, region, row, slice,       \
       host_row, host_slice, to))                                              \
    X(WriteBufferRect, MEMCPY, "Memcpy HtoD", volume(region), blocking,        \
      (cl_mem buffer, cl_bool blocking, OPENCL_RECT, const void *from),        \
      (buffer, blocking, buffer_origin, host_origin, region, row, slice,       \
       host_row, host_slice, from))                                            \
    X(CopyBufferRect, MEMCPY, "Memcpy DtoD", volume(region), 0,                \
      (cl_mem from, cl_mem to, OPENCL_RECT),                                   \
      (from, to, buffer_origin, host_origin, region, row, slice, host_row,     \
       host_slice))                                                            \
    X(ReadImage, MEMCPY, "Memcpy AtoH", image_bytes(image, region), blocking,  \
      (cl_mem image, cl_bool blocking, const size_t *origin,                   \
       const size_t *region, size_t row, size_t slice, void *to),              \
      (image, blocking, origin, region, row, slice, to))                       \
    X(WriteImage, MEMCPY, "Memcpy HtoA", image_bytes(image, region), blocking, \
      (cl_mem image, cl_bool blocking, const size_t *origin,                   \
       const size_t *region, size_t row, size_t slice, const void *from),      \
      (image, blocking, origin, region, row, slice, from))                     \
    X(CopyImage, MEMCPY, "Memcpy AtoA", image_bytes(image, region), 0,         \
      (cl_mem image, cl_mem to, const size_t *from_origin,                     \
       const size_t *to_origin, const size_t *region),                         \
      (image, to, from_origin, to_origin, region))                             \
    X(CopyImageToBuffer, MEMCPY, "Memcpy AtoD", image_bytes(image, region), 0, \
      (cl_mem image, cl_mem to, const size_t *origin, const size_t *region,    \
       size_t offset),                                                         \
      (image, to, origin, region, offset))                                     \
    X(CopyBufferToImage, MEMCPY, "Memcpy DtoA", image_bytes(image, region), 0, \
      (cl_mem from, cl_mem image, size_t offset, const size_t *origin,         \
       const size_t *region),                                                  \
      (from, image, offset, origin, region))                                   \
    X(UnmapMemObject, MEMCPY, "Unmap", 0, 0, (cl_mem memory, void *mapped),    \
      (memory, mapped))                                                        \
    X(FillBuffer, MEMSET, "Memset", size, 0,                                   \
      (cl_mem buffer, const void *pattern, size_t pattern_size, size_t offset, \
       size_t size),                                                           \
      (buffer, pattern, pattern_size, offset, size))                           \
    X(FillImage, MEMSET, "Memset", image_bytes(image, region), 0,              \
      (cl_mem image, const void *color, const size_t *origin,                  \
       const size_t *region),                                                  \
      (image, color, origin, region))                                          \
    X(MigrateMemObjects, MEMCPY, "Migrate", 0, 0,                              \
      (cl_uint memories, const cl_mem *memory, cl_bitfield flags),             \
      (memories, memory, flags))                                               \
    X(SVMMemcpy, MEMCPY, "Memcpy SVM", size, blocking,                         \
      (cl_bool blocking, void *to, const void *from, size_t size),             \
      (blocking, to, from, size))                                              \
    X(SVMMemFill, MEMSET, "Memset", size, 0,                                   \
      (void *to, const void *pattern, size_t pattern_size, size_t size),       \
      (to, pattern, pattern_size, size))                                       \
    X(SVMMap, MEMCPY, "Map SVM", size, blocking,                               \
      (cl_bool blocking, cl_bitfield flags, void *memory, size_t size),        \
      (blocking, flags, memory, size))                                         \
    X(SVMUnmap, MEMCPY, "Unmap SVM", 0, 0, (void *memory), (memory))           \
    X(SVMMigrateMem, MEMCPY, "Migrate SVM", sum(sizes, number), 0,             \
      (cl_uint number, const void **pointers, const size_t *sizes,             \
       cl_bitfield flags),                                                     \
      (number, pointers, sizes, flags))                                        \
    X(NativeKernel, KERNEL, "native kernel", 0, 0,                             \
      (opencl_native * function, void *arguments, size_t size,                 \
       cl_uint memories, const cl_mem *memory, const void **places),           \
      (function, arguments, size, memories, memory, places))

#define OPEN(...) __VA_ARGS__

#define TRACE_X(name_, kind_, label, bytes_, blocks, parameters, arguments)    \
    cl_int opencl_Enqueue##name_(cl_command_queue queue, OPEN parameters,      \
                                 OPENCL_WAIT)                                  \
    {                                                                          \
        struct opencl_command command = opencl_command_begin(                  \
            "clEnqueue" #name_, queue, event, TRACE_ACTIVITY_##kind_, label);  \
        cl_int result = opencl.next.Enqueue##name_(                            \
            queue, OPEN arguments, count, list, event_of(&command));           \
                                                                               \
        if (command.correlation && !result)                                    \
            command.bytes = bytes_;                                            \
        command.blocking = blocks;                                             \
        end(&command, result);                                                 \
        return result;                                                         \
    }
COMMANDS(TRACE_X)
#undef TRACE_X

/* ---- Maps, which return a pointer ---- */

void *opencl_EnqueueMapBuffer(cl_command_queue queue, cl_mem buffer,
                              cl_bool blocking, cl_bitfield flags,
                              size_t offset, size_t size, OPENCL_WAIT,
                              cl_int *error)
{
    struct opencl_command command = opencl_command_begin(
        "clEnqueueMapBuffer", queue, event, TRACE_ACTIVITY_MEMCPY, "Map");
    cl_int result = OPENCL_SUCCESS;
    void *mapped = opencl.next.EnqueueMapBuffer(queue, buffer, blocking, flags,
                                                offset, size, count, list,
                                                event_of(&command), &result);

    if (error)
        *error = result;
    command.bytes = size;
    command.blocking = blocking;
    end(&command, result);
    return mapped; /* cppcheck-suppress returnDanglingLifetime */
}

void *opencl_EnqueueMapImage(cl_command_queue queue, cl_mem image,
                             cl_bool blocking, cl_bitfield flags,
                             const size_t *origin, const size_t *region,
                             size_t *row, size_t *slice, OPENCL_WAIT,
                             cl_int *error)
{
    struct opencl_command command = opencl_command_begin(
        "clEnqueueMapImage", queue, event, TRACE_ACTIVITY_MEMCPY, "Map");
    cl_int result = OPENCL_SUCCESS;
    void *mapped = opencl.next.EnqueueMapImage(
        queue, image, blocking, flags, origin, region, row, slice, count, list,
        event_of(&command), &result);

    if (error)
        *error = result;
    if (command.correlation && !result)
        command.bytes = image_bytes(image, region);
    command.blocking = blocking;
    end(&command, result);
    return mapped; /* cppcheck-suppress returnDanglingLifetime */
}

/* ---- Kernels ---- */

/* Without a local size, the driver chooses one and does not tell: the count is
 * then that of work items. */
static void add_sizes(struct opencl_command *command, cl_uint dimensions,
                      const size_t *global, const size_t *local)
{
    for (cl_uint i = 0; i < 3; i++) {
        size_t all = i < dimensions && global ? global[i] : 1;
        size_t block = i < dimensions && local && local[i] ? local[i] : 1;

        command->count[i] = (uint32_t)((all + block - 1) / block);
        command->block[i] = local ? (uint32_t)block : 0;
    }
}

cl_int opencl_EnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel,
                                   cl_uint dimensions, const size_t *offset,
                                   const size_t *global, const size_t *local,
                                   OPENCL_WAIT)
{
    struct opencl_command command = opencl_command_begin(
        "clEnqueueNDRangeKernel", queue, event, TRACE_ACTIVITY_KERNEL, "");
    cl_int result = opencl.next.EnqueueNDRangeKernel(
        queue, kernel, dimensions, offset, global, local, count, list,
        event_of(&command));

    if (command.correlation && !result) {
        command.name = opencl_kernel_launched(kernel, &command.first);
        add_sizes(&command, dimensions, global, local);
    }
    end(&command, result);
    return result;
}

cl_int opencl_EnqueueTask(cl_command_queue queue, cl_kernel kernel, OPENCL_WAIT)
{
    struct opencl_command command = opencl_command_begin(
        "clEnqueueTask", queue, event, TRACE_ACTIVITY_KERNEL, "");
    cl_int result =
        opencl.next.EnqueueTask(queue, kernel, count, list, event_of(&command));

    if (command.correlation && !result) {
        command.name = opencl_kernel_launched(kernel, &command.first);
        add_sizes(&command, 0, NULL, NULL);
    }
    end(&command, result);
    return result;
}

/* ---- Markers and barriers ---- */

/* Here, no event is an error. */
cl_int opencl_EnqueueMarker(cl_command_queue queue, cl_event *event)
{
    struct opencl_command command = opencl_command_begin(
        "clEnqueueMarker", queue, event, TRACE_ACTIVITY_EVENT, "Marker");
    cl_int result = opencl.next.EnqueueMarker(queue, event);

    command.own = false;
    end(&command, result);
    return result;
}

#define WITH_WAIT_LIST(name_, label)                                           \
    cl_int opencl_Enqueue##name_(cl_command_queue queue, OPENCL_WAIT)          \
    {                                                                          \
        struct opencl_command command = opencl_command_begin(                  \
            "clEnqueue" #name_, queue, event, TRACE_ACTIVITY_EVENT, label);    \
        cl_int result = opencl.next.Enqueue##name_(queue, count, list,         \
                                                   event_of(&command));        \
                                                                               \
        end(&command, result);                                                 \
        return result;                                                         \
    }
WITH_WAIT_LIST(MarkerWithWaitList, "Marker")
WITH_WAIT_LIST(BarrierWithWaitList, "Barrier")

/* The program's function frees the memory, or the driver does. */
cl_int opencl_EnqueueSVMFree(cl_command_queue queue, cl_uint number,
                             void **pointers, opencl_on_free *function,
                             void *data, OPENCL_WAIT)
{
    struct opencl_command command = opencl_command_begin(
        "clEnqueueSVMFree", queue, event, TRACE_ACTIVITY_EVENT, "Free SVM");
    cl_int result =
        opencl.next.EnqueueSVMFree(queue, number, pointers, function, data,
                                   count, list, event_of(&command));

    for (cl_uint i = 0; !result && !function && i < number; i++)
        opencl_memory_released(pointers[i]);
    end(&command, result);
    return result;
}
