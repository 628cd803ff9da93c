/* memory.c: records when memory objects and shared virtual memory begin, and
 * when the program has released them. The driver may keep an object longer, for
 * commands that use it. */
#include "opencl.h"

/* ---- Memory objects ---- */

static cl_mem created(cl_mem object, cl_context context)
{
    size_t bytes = 0;

    if (!object || !opencl_is_on())
        return object;
    opencl.next.GetMemObjectInfo(object, OPENCL_MEM_SIZE, sizeof(bytes), &bytes,
                                 NULL);
    opencl_memory_begin(object, bytes, context, false);
    return object;
}

cl_int opencl_RetainMemObject(cl_mem object)
{
    cl_int result = opencl.next.RetainMemObject(object);

    if (!result)
        opencl_memory_reference(object);
    return result;
}

/* Forgets the object first: another thread may get its address at once. */
cl_int opencl_ReleaseMemObject(cl_mem object)
{
    if (opencl_memory_is_last(object))
        opencl_rings_released(object);
    opencl_memory_released(object);
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

    if (address && opencl_is_on())
        opencl_memory_begin(address, size, context, true);
    return address;
}

void opencl_SVMFree(cl_context context, void *memory)
{
    opencl_memory_released(memory);
    opencl.next.SVMFree(context, memory);
}
