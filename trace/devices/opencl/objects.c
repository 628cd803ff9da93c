/* objects.c: facts about the program's queues, devices and contexts. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opencl.h"
#include "trace/containers.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void before_fork(void)
{
    pthread_mutex_lock(&lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&lock);
}

void opencl_objects_begin(void)
{
    pthread_atfork(before_fork, after_fork, after_fork);
}

static uint64_t key_of(const void *handle)
{
    return (uintptr_t)handle;
}

/* ---- Devices and contexts ---- */

enum { DEVICES = 32 };

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

static void note_device(size_t place)
{
    char key[32], name[256] = "";

    opencl.next.GetDeviceInfo((cl_device_id)(uintptr_t)devices.handles[place],
                              OPENCL_DEVICE_NAME, sizeof(name) - 1, name, NULL);
    snprintf(key, sizeof(key), "gpu.device.%zu", TRACE_OPENCL_DEVICES + place);
    opencl.host->note(key, name);
}

static uint32_t number_device(cl_device_id device)
{
    bool new;
    size_t place = place_of(&devices, device, &new);

    place = place < DEVICES ? place : DEVICES - 1;
    if (new &&opencl_is_on())
        note_device(place);
    return TRACE_OPENCL_DEVICES + (uint32_t)place;
}

uint32_t opencl_device(cl_device_id device)
{
    uint32_t number;

    pthread_mutex_lock(&lock);
    number = number_device(device);
    pthread_mutex_unlock(&lock);
    return number;
}

uint32_t opencl_context(cl_context context)
{
    uint32_t number;
    bool new;

    pthread_mutex_lock(&lock);
    number = (uint32_t)place_of(&contexts, context, &new) + 1;
    pthread_mutex_unlock(&lock);
    return number;
}

uint32_t opencl_device_of(cl_context context)
{
    cl_device_id all[DEVICES];
    size_t size;

    if (opencl.next.GetContextInfo(context, OPENCL_CONTEXT_DEVICES, sizeof(all),
                                   all, &size) ||
        size < sizeof(*all))
        return TRACE_OPENCL_DEVICES;
    return opencl_device(all[0]);
}

void opencl_note_devices(void)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < devices.count && i < DEVICES; i++)
        note_device(i);
    pthread_mutex_unlock(&lock);
}

/* ---- Queues ---- */

struct queue {
    struct opencl_place place;
    cl_command_queue handle;
    uint32_t references; /* of the program */
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
    struct queue *one = make(handle, properties, count);

    if (!one)
        return;
    pthread_mutex_lock(&lock);
    one->place = (struct opencl_place){.device = number_device(device),
                                       .context = context_number,
                                       .queue = ++last,
                                       .id = device,
                                       .profiled = profiled,
                                       .hidden = hidden};
    forget(handle);
    if (!trace_table_set(&queues, key_of(handle), (uintptr_t)one))
        free(one);
    pthread_mutex_unlock(&lock);
}

void opencl_queue_retain(cl_command_queue handle)
{
    struct queue *one;

    pthread_mutex_lock(&lock);
    one = find(handle);
    if (one)
        one->references++;
    pthread_mutex_unlock(&lock);
}

void opencl_queue_release(cl_command_queue handle)
{
    struct queue *one;

    pthread_mutex_lock(&lock);
    one = find(handle);
    if (one && !--one->references)
        forget(handle);
    pthread_mutex_unlock(&lock);
}

bool opencl_queue_find(cl_command_queue handle, struct opencl_place *place)
{
    const struct queue *one;

    pthread_mutex_lock(&lock);
    one = find(handle);
    if (one)
        *place = one->place;
    pthread_mutex_unlock(&lock);
    return one;
}

void opencl_queue_show(cl_command_queue handle)
{
    struct queue *one;

    pthread_mutex_lock(&lock);
    one = find(handle);
    if (one)
        one->place.hidden = false;
    pthread_mutex_unlock(&lock);
}

size_t opencl_queue_properties(cl_command_queue handle, void *to, size_t size)
{
    const struct queue *one;
    size_t bytes = 0;

    pthread_mutex_lock(&lock);
    one = find(handle);
    if (one)
        bytes = one->count * sizeof(*one->properties);
    if (to && bytes)
        memcpy(to, one->properties, bytes < size ? bytes : size);
    pthread_mutex_unlock(&lock);
    return bytes;
}

/* A queue in the table is one that the program has not released, and under the
 * lock it cannot release it. */
void opencl_queues_flush(void)
{
    size_t cursor = 0;
    uintptr_t at;

    pthread_mutex_lock(&lock);
    while (trace_table_next(&queues, &cursor, &at))
        opencl.next.Flush(((const struct queue *)at)->handle);
    pthread_mutex_unlock(&lock);
}
