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

struct ring {
    struct trace_zone_buffer of;
    cl_context context;
    cl_command_queue queue;
    uint32_t device;
};

static cl_mem buffer_of(const struct ring *ring)
{
    return (cl_mem)ring->of.buffer;
}

static bool open_ring(struct ring *ring)
{
    cl_device_id device;
    cl_int error;

    if (opencl.next.GetMemObjectInfo(buffer_of(ring), OPENCL_MEM_CONTEXT,
                                     sizeof(ring->context), &ring->context,
                                     NULL) ||
        !opencl_first_device(ring->context, &device))
        return false;
    ring->device = opencl_device(device);
    ring->queue =
        opencl.next.CreateCommandQueue(ring->context, device, 0, &error);
    return ring->queue;
}

static bool copy(const struct ring *ring, size_t size, void *to)
{
    return !opencl.next.EnqueueReadBuffer(ring->queue, buffer_of(ring), 1, 0,
                                          size, to, 0, NULL, NULL);
}

/* Tells kernels which records have been read. */
static void write_back(const struct ring *ring, const trace_zone_ring *header)
{
    opencl.next.EnqueueWriteBuffer(
        ring->queue, buffer_of(ring), 1, offsetof(trace_zone_ring, read),
        sizeof(header->read), &header->read, 0, NULL, NULL);
}

static void take(const struct ring *ring)
{
    trace_zone_ring header;
    void *bytes;

    if (!copy(ring, sizeof(header), &header))
        return;
    bytes = header.taken != ring->of.read ? malloc(ring->of.size) : NULL;
    if (bytes && copy(ring, ring->of.size, bytes)) {
        opencl.host->take_ring(ring->of.number, bytes, ring->of.size,
                               ring->device);
        memcpy(&header, bytes, sizeof(header));
        write_back(ring, &header);
    }
    if (!bytes) /* it is empty, and thus read */
        opencl.host->take_ring(ring->of.number, &header, sizeof(header),
                               ring->device);
    free(bytes);
}

static void read_ring(const struct trace_zone_buffer *of)
{
    struct ring ring = {.of = *of};

    if (!opencl_memory_retain(of->buffer))
        return;
    if (open_ring(&ring)) {
        take(&ring);
        opencl.next.ReleaseCommandQueue(ring.queue);
    }
    opencl.next.ReleaseMemObject(buffer_of(&ring));
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
