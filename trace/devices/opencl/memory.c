/* memory.c: records when memory objects and shared virtual memory begin, and
 * when the program has released them. The driver may keep an object longer, for
 * commands that use it. */
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

static void begin(const void *address, const struct memory *memory)
{
    struct memory *kept = malloc(sizeof(*kept));
    uintptr_t old;
    bool ok;

    if (!kept)
        return;
    *kept = *memory;
    opencl_lock();
    if (trace_table_find(&memories, (uintptr_t)address, &old))
        free((void *)old);
    ok = trace_table_set(&memories, (uintptr_t)address, (uintptr_t)kept);
    opencl_unlock();
    if (ok)
        allocated(address, memory->bytes, kind_of(memory), memory->device);
    else
        free(kept);
}

static void retain(const void *address)
{
    uintptr_t at;

    opencl_lock();
    if (trace_table_find(&memories, (uintptr_t)address, &at))
        ((struct memory *)at)->references++;
    opencl_unlock();
}

static void release(const void *address)
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

/* ---- Memory objects ---- */

static cl_mem created(cl_mem object, cl_context context)
{
    struct memory memory = {.references = 1};
    size_t bytes = 0;

    if (!object || !opencl_is_on())
        return object;
    opencl.next.GetMemObjectInfo(object, OPENCL_MEM_SIZE, sizeof(bytes), &bytes,
                                 NULL);
    memory.bytes = bytes;
    memory.device = opencl_device_of(context);
    begin(object, &memory);
    return object;
}

cl_int opencl_RetainMemObject(cl_mem object)
{
    cl_int result = opencl.next.RetainMemObject(object);

    if (!result)
        retain(object);
    return result;
}

static bool is_last(const void *object)
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

/* Forgets the object first: another thread may get its address at once. */
cl_int opencl_ReleaseMemObject(cl_mem object)
{
    if (is_last(object))
        opencl_rings_released(object);
    release(object);
    return opencl.next.ReleaseMemObject(object);
}

#define OPEN(...) __VA_ARGS__

/* X(name, parameters behind the context, arguments) */
#define CREATES(X)                                                             \
    X(CreateBuffer,                                                            \
      (cl_bitfield flags, size_t size, void *host, cl_int *error),             \
      (flags, size, host, error))                                              \
    X(CreateBufferWithProperties,                                              \
      (const cl_ulong *properties, cl_bitfield flags, size_t size, void *host, \
       cl_int *error),                                                         \
      (properties, flags, size, host, error))                                  \
    X(CreateImage,                                                             \
      (cl_bitfield flags, const void *format, const void *shape, void *host,   \
       cl_int *error),                                                         \
      (flags, format, shape, host, error))                                     \
    X(CreateImageWithProperties,                                               \
      (const cl_ulong *properties, cl_bitfield flags, const void *format,      \
       const void *shape, void *host, cl_int *error),                          \
      (properties, flags, format, shape, host, error))                         \
    X(CreateImage2D,                                                           \
      (cl_bitfield flags, const void *format, size_t width, size_t height,     \
       size_t row, void *host, cl_int *error),                                 \
      (flags, format, width, height, row, host, error))                        \
    X(CreateImage3D,                                                           \
      (cl_bitfield flags, const void *format, size_t width, size_t height,     \
       size_t depth, size_t row, size_t slice, void *host, cl_int *error),     \
      (flags, format, width, height, depth, row, slice, host, error))          \
    X(CreatePipe,                                                              \
      (cl_bitfield flags, cl_uint packet, cl_uint packets,                     \
       const intptr_t *properties, cl_int *error),                             \
      (flags, packet, packets, properties, error))

#define TRACE_X(name, parameters, arguments)                                   \
    cl_mem opencl_##name(cl_context context, OPEN parameters)                  \
    {                                                                          \
        return created(opencl.next.name(context, OPEN arguments), context);    \
    }
CREATES(TRACE_X)
#undef TRACE_X

/* ---- Shared virtual memory ---- */

void *opencl_SVMAlloc(cl_context context, cl_bitfield flags, size_t size,
                      cl_uint alignment)
{
    void *address = opencl.next.SVMAlloc(context, flags, size, alignment);
    struct memory memory = {.bytes = size, .references = 1, .shared = true};

    if (!address || !opencl_is_on())
        return address;
    memory.device = opencl_device_of(context);
    begin(address, &memory);
    return address;
}

void opencl_memory_released(const void *address)
{
    release(address);
}

void opencl_SVMFree(cl_context context, void *memory)
{
    release(memory);
    opencl.next.SVMFree(context, memory);
}
