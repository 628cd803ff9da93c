/* rings.c: reads the rings in which kernels record their zones.
 *
 * A ring is read when no command runs, so that no kernel writes to it and no
 * other command delays the reading. A queue of the layer's own reads it: those
 * of the program may have commands that wait for the program.
 */
#include <stdlib.h>
#include <string.h>
#include <testlog/zone.h>
#include <time.h>

#include "opencl.h"

enum { GRACE = 20, NAP_NS = 50000 };

/* The last events may report their end a little after the program's wait. */
static bool is_idle(void)
{
    const struct timespec nap = {0, NAP_NS};

    for (int i = 0; i < GRACE && opencl_commands_run(); i++)
        nanosleep(&nap, NULL);
    return !opencl_commands_run();
}

/* ---- One ring ---- */

static bool copy(cl_command_queue queue, const struct trace_zone_buffer *ring,
                 size_t size, void *to)
{
    return !opencl.next.EnqueueReadBuffer(queue, (cl_mem)ring->buffer, 1, 0,
                                          size, to, 0, NULL, NULL);
}

static void take(cl_command_queue queue, uint32_t device,
                 const struct trace_zone_buffer *ring)
{
    trace_zone_ring header;
    void *bytes;

    if (!copy(queue, ring, sizeof(header), &header))
        return;
    bytes = header.taken != ring->read ? malloc(ring->size) : NULL;
    if (bytes && copy(queue, ring, ring->size, bytes)) {
        opencl.host->take_ring(ring->number, bytes, ring->size, device);
        memcpy(&header, bytes, sizeof(header));
        /* Tells kernels which records have been read. */
        opencl.next.EnqueueWriteBuffer(
            queue, (cl_mem)ring->buffer, 1, offsetof(trace_zone_ring, read),
            sizeof(header.read), &header.read, 0, NULL, NULL);
    }
    if (!bytes) /* it is empty, and thus read */
        opencl.host->take_ring(ring->number, &header, sizeof(header), device);
    free(bytes);
}

static void read_ring(const struct trace_zone_buffer *ring)
{
    cl_mem buffer = (cl_mem)ring->buffer;
    cl_command_queue queue = NULL;
    cl_context context;
    cl_device_id device;
    cl_int error;

    if (!opencl_memory_retain(ring->buffer))
        return;
    if (!opencl.next.GetMemObjectInfo(buffer, OPENCL_MEM_CONTEXT,
                                      sizeof(context), &context, NULL) &&
        opencl_first_device(context, &device))
        queue = opencl.next.CreateCommandQueue(context, device, 0, &error);
    if (queue) {
        take(queue, opencl_device(device), ring);
        opencl.next.ReleaseCommandQueue(queue);
    }
    opencl.next.ReleaseMemObject(buffer);
}

/* ---- All rings ---- */

void opencl_rings_read(void)
{
    struct trace_zone_buffer of;
    uint32_t cursor = 0;

    while (opencl_is_on() && opencl.host->next_ring(&cursor, &of) && is_idle())
        read_ring(&of);
}

void opencl_rings_released(const void *buffer)
{
    struct trace_zone_buffer of;
    uint32_t cursor = 0;

    while (opencl_is_on() && opencl.host->next_ring(&cursor, &of)) {
        if (of.buffer != buffer)
            continue;
        if (is_idle())
            read_ring(&of);
        opencl.host->forget_ring(of.number);
    }
}
