/* memory_table.c: the memory that the program has, and how much that is. */
#include <stdlib.h>

#include "opencl.h"
#include "trace/base/containers.h"

enum { DEVICES = 32 };

static uint64_t totals[DEVICES]; /* atomic: bytes in use */

/* ---- Activities ---- */

static void put(unsigned kind, const void *address, const uint64_t *bytes,
                const char *memory, uint32_t device, const uint64_t *in_use)
{
    char room[OPENCL_DEVICE_ROOM];
    struct opencl_fields fields;

    fields.value_count = 0;
    fields.activity = (struct trace_activity){
        .at = {.begin = opencl.host->now(),
               .thread = opencl_thread(),
               .device = device,
               .kind = (uint16_t)kind},
        .span = opencl.host->current(),
        .name = kind == TRACE_ACTIVITY_ALLOCATE ? "Allocate" : "Release",
    };
    fields.activity.end = fields.activity.at.begin;
    opencl_add_number(&fields, "bytes", *bytes);
    opencl_add(&fields, "address", trace_pointer_(address));
    opencl_add(&fields, "memory", opencl_display(memory));
    opencl_add_number(&fields, "in_use", *in_use);
    opencl_add_device(&fields, device, room);
    opencl_put(&fields);
}

static void allocated(const void *address, uint64_t bytes, const char *memory,
                      uint32_t device)
{
    uint64_t in_use =
        __atomic_add_fetch(&totals[device % DEVICES], bytes, __ATOMIC_RELAXED);

    put(TRACE_ACTIVITY_ALLOCATE, address, &bytes, memory, device, &in_use);
}

static void released(const void *address, uint64_t bytes, const char *memory,
                     uint32_t device)
{
    uint64_t in_use =
        __atomic_sub_fetch(&totals[device % DEVICES], bytes, __ATOMIC_RELAXED);

    if (opencl_is_on())
        put(TRACE_ACTIVITY_RELEASE, address, &bytes, memory, device, &in_use);
}

/* ---- What the program has ---- */

struct memory {
    uint64_t bytes;
    uint32_t device, references;
    bool shared; /* virtual memory */
};

static struct trace_table memories; /* struct memory, by handle or address */

static const char *kind_of(const struct memory *memory)
{
    return memory->shared ? "managed" : "device";
}

void opencl_memory_begin(const void *address, uint64_t bytes,
                         cl_context context, bool shared)
{
    struct memory *kept = malloc(sizeof(*kept));
    struct memory memory = {.bytes = bytes,
                            .device = opencl_device_of(context),
                            .references = 1,
                            .shared = shared};
    uintptr_t old;
    bool ok;

    if (!kept)
        return;
    *kept = memory;
    opencl_lock();
    if (trace_table_find(&memories, (uintptr_t)address, &old))
        free((void *)old);
    ok = trace_table_set(&memories, (uintptr_t)address, (uintptr_t)kept);
    opencl_unlock();
    if (ok)
        allocated(address, bytes, kind_of(&memory), memory.device);
    else
        free(kept);
}

void opencl_memory_reference(const void *address)
{
    uintptr_t at;

    opencl_lock();
    if (trace_table_find(&memories, (uintptr_t)address, &at))
        ((struct memory *)at)->references++;
    opencl_unlock();
}

void opencl_memory_released(const void *address)
{
    struct memory *memory = NULL;
    uintptr_t at;

    opencl_lock();
    if (trace_table_find(&memories, (uintptr_t)address, &at) &&
        !--((struct memory *)at)->references) {
        memory = (struct memory *)at;
        trace_table_remove(&memories, (uintptr_t)address);
    }
    opencl_unlock();
    if (memory)
        released(address, memory->bytes, kind_of(memory), memory->device);
    free(memory);
}

bool opencl_memory_is_last(const void *object)
{
    uintptr_t at;
    bool last;

    opencl_lock();
    last = trace_table_find(&memories, (uintptr_t)object, &at) &&
           ((const struct memory *)at)->references == 1;
    opencl_unlock();
    return last;
}

/* Under the lock, the program cannot release it. */
bool opencl_memory_retain(void *object)
{
    uintptr_t at;
    bool ok;

    opencl_lock();
    ok = trace_table_find(&memories, (uintptr_t)object, &at) &&
         !opencl.next.RetainMemObject((cl_mem)object);
    opencl_unlock();
    return ok;
}
