/* objects.c: facts about the program's queues, devices and contexts. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opencl.h"
#include "trace/base/containers.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void opencl_lock(void)
{
    pthread_mutex_lock(&lock);
}

void opencl_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

void opencl_objects_begin(void)
{
    pthread_atfork(opencl_lock, opencl_unlock, opencl_unlock);
}

static uint64_t key_of(const void *handle)
{
    return (uintptr_t)handle;
}

/* ---- Devices and contexts ---- */

enum { DEVICES = 32, QUEUES = 1024 };

/* Each handle has the number of its place. */
struct handles {
    const void **handles;
    size_t count, room;
};

static struct handles devices, contexts;

/* Returns the place, and whether it is new. Without memory it is the first. */
static size_t place_of(struct handles *all, const void *handle, bool *new)
{
    *new = false;
    for (size_t i = all->count; i-- > 0;)
        if (all->handles[i] == handle)
            return i;
    if (!TRACE_ARRAY_RESERVE(all->handles, all->room, all->count + 1))
        return 0;
    *new = true;
    all->handles[all->count] = handle;
    return all->count++;
}

static void note_device(size_t place, cl_device_id device)
{
    char key[32], name[256] = "";

    opencl.next.GetDeviceInfo(device, OPENCL_DEVICE_NAME, sizeof(name) - 1,
                              name, NULL);
    snprintf(key, sizeof(key), "gpu.device.%zu", TRACE_DEVICES_opencl + place);
    opencl.host->note(key, name);
}

uint32_t opencl_device(cl_device_id device)
{
    size_t place;
    bool new;

    opencl_lock();
    place = place_of(&devices, device, &new);
    opencl_unlock();
    place = place < DEVICES ? place : DEVICES - 1;
    if (new &&opencl_is_on())
        note_device(place, device);
    return TRACE_DEVICES_opencl + (uint32_t)place;
}

uint32_t opencl_context(cl_context context)
{
    uint32_t number;
    bool new;

    opencl_lock();
    number = (uint32_t)place_of(&contexts, context, &new) + 1;
    opencl_unlock();
    return number;
}

bool opencl_first_device(cl_context context, cl_device_id *first)
{
    cl_device_id all[DEVICES];
    size_t size;

    if (opencl.next.GetContextInfo(context, OPENCL_CONTEXT_DEVICES, sizeof(all),
                                   all, &size) ||
        size < sizeof(*all))
        return false;
    *first = all[0];
    return true;
}

uint32_t opencl_device_of(cl_context context)
{
    cl_device_id first;

    return opencl_first_device(context, &first) ? opencl_device(first)
                                                : TRACE_DEVICES_opencl;
}

void opencl_note_devices(void)
{
    const void *all[DEVICES];
    size_t count;

    opencl_lock();
    count = devices.count < DEVICES ? devices.count : DEVICES;
    if (count)
        memcpy(all, devices.handles, count * sizeof(*all));
    opencl_unlock();
    for (size_t i = 0; i < count; i++)
        note_device(i, (cl_device_id)(uintptr_t)all[i]);
}

/* ---- Queues ---- */

struct queue {
    struct opencl_place place;
    cl_command_queue handle;
    uint32_t references; /* of the program; 0: only its events keep it */
    size_t count;
    cl_ulong properties[]; /* as the program gave them */
};

static struct trace_table queues; /* struct queue, by handle */

static struct queue *find(cl_command_queue handle)
{
    uintptr_t at;

    return trace_table_find(&queues, key_of(handle), &at) ? (struct queue *)at
                                                          : NULL;
}

static void forget(cl_command_queue handle)
{
    free(find(handle));
    trace_table_remove(&queues, key_of(handle));
}

static struct queue *make(cl_command_queue handle, const cl_ulong *properties,
                          size_t count)
{
    struct queue *one = malloc(sizeof(*one) + count * sizeof(*properties));

    if (!one)
        return NULL;
    *one = (struct queue){.handle = handle, .references = 1, .count = count};
    if (count)
        memcpy(one->properties, properties, count * sizeof(*properties));
    return one;
}

void opencl_queue_add(cl_command_queue handle, cl_context context,
                      cl_device_id device, const cl_ulong *properties,
                      size_t count, bool profiled, bool hidden)
{
    static uint32_t last; /* number */
    uint32_t context_number = opencl_context(context);
    uint32_t device_number = opencl_device(device);
    struct queue *one = make(handle, properties, count);

    opencl_flush_at_exit();
    if (!one)
        return;
    opencl_lock();
    one->place = (struct opencl_place){.device = device_number,
                                       .context = context_number,
                                       .queue = ++last,
                                       .id = device,
                                       .profiled = profiled,
                                       .hidden = hidden};
    forget(handle);
    if (!trace_table_set(&queues, key_of(handle), (uintptr_t)one))
        free(one);
    opencl_unlock();
}

void opencl_queue_retain(cl_command_queue handle)
{
    struct queue *one;

    opencl_lock();
    one = find(handle);
    if (one)
        one->references++;
    opencl_unlock();
}

void opencl_queue_release(cl_command_queue handle)
{
    struct queue *one;

    opencl_lock();
    one = find(handle);
    if (one && one->references)
        one->references--;
    opencl_unlock();
}

bool opencl_queue_find(cl_command_queue handle, struct opencl_place *place)
{
    const struct queue *one;

    opencl_lock();
    one = find(handle);
    if (one)
        *place = one->place;
    opencl_unlock();
    return one;
}

void opencl_queue_show(cl_command_queue handle)
{
    struct queue *one;

    opencl_lock();
    one = find(handle);
    if (one)
        one->place.hidden = false;
    opencl_unlock();
}

size_t opencl_queue_properties(cl_command_queue handle, void *to, size_t size)
{
    const struct queue *one;
    size_t bytes = 0;

    opencl_lock();
    one = find(handle);
    if (one)
        bytes = one->count * sizeof(*one->properties);
    if (to && bytes)
        memcpy(to, one->properties, bytes < size ? bytes : size);
    opencl_unlock();
    return bytes;
}

/* Under the lock the program cannot release a queue. To flush may call back, so
 * it needs a reference. */
static size_t take_queues(cl_command_queue *all, size_t most)
{
    size_t cursor = 0, count = 0;
    uintptr_t at;

    opencl_lock();
    while (count < most && trace_table_next(&queues, &cursor, &at)) {
        const struct queue *one = (const struct queue *)at;

        if (one->references && !opencl.next.RetainCommandQueue(one->handle))
            all[count++] = one->handle;
    }
    opencl_unlock();
    return count;
}

void opencl_queues_flush(void)
{
    cl_command_queue all[QUEUES];
    size_t count = take_queues(all, QUEUES);

    for (size_t i = 0; i < count; i++) {
        opencl.next.Flush(all[i]);
        opencl.next.ReleaseCommandQueue(all[i]);
    }
}
