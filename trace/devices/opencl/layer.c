/* layer.c: the functions that an OpenCL loader calls in a layer, and the table
 * of functions that it gets. */
#include <string.h>

#include "opencl.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT bool trace_opencl_loaded(void)
{
    return __atomic_load_n(&opencl.loaded, __ATOMIC_ACQUIRE);
}

/* ---- The tables ---- */

typedef void function(void);

/* A driver may be older than a function: the loader's table then has its own,
 * which fails. An entry that the table lacks stays NULL, and is not replaced.
 */
static void fill_next(function *const *target, cl_uint entries)
{
#define TRACE_X(slot, name, type, parameters)                                  \
    if (slot < entries)                                                        \
        opencl.next.name = (__typeof__(opencl.next.name))target[slot];
    OPENCL_FUNCTIONS(TRACE_X)
#undef TRACE_X
}

enum slot {
#define TRACE_X(slot, name, type, parameters) SLOT_##name = slot,
    OPENCL_FUNCTIONS(TRACE_X)
#undef TRACE_X
};

/* A list of layers may name this library twice. */
static bool is_ours(function *const *target, cl_uint entries)
{
    return SLOT_Finish < entries &&
           target[SLOT_Finish] == (function *)opencl_Finish;
}

static function **replacements(void)
{
    static function *table[OPENCL_SLOTS];

#define TRACE_X(name)                                                          \
    if (opencl.next.name)                                                      \
        table[SLOT_##name] = (function *)opencl_##name;
    OPENCL_REPLACED(TRACE_X)
#undef TRACE_X
    return table;
}

/* ---- The layer's interface: cl_layer.h ---- */

static cl_int answer(const void *what, size_t bytes, size_t size, void *value,
                     size_t *size_ret)
{
    if (value && size < bytes)
        return OPENCL_INVALID_VALUE;
    if (value)
        memcpy(value, what, bytes);
    if (size_ret)
        *size_ret = bytes;
    return OPENCL_SUCCESS;
}

EXPORT cl_int clGetLayerInfo(cl_uint info, size_t size, void *value,
                             size_t *size_ret);

cl_int clGetLayerInfo(cl_uint info, size_t size, void *value, size_t *size_ret)
{
    static const cl_uint version = OPENCL_LAYER_API_VERSION_100;
    static const char name[] = "testlog";

    switch (info) {
    case OPENCL_LAYER_API_VERSION:
        return answer(&version, sizeof(version), size, value, size_ret);
    case OPENCL_LAYER_NAME:
        return answer(name, sizeof(name), size, value, size_ret);
    default:
        return OPENCL_INVALID_VALUE;
    }
}

EXPORT cl_int clInitLayer(cl_uint entries, const void *target,
                          cl_uint *entries_ret, const void **layer);

/* Called within the program's first call of OpenCL: it must not call OpenCL. A
 * program may unload the loader and load it again. A slot that is NULL is the
 * driver's. */
cl_int clInitLayer(cl_uint entries, const void *target, cl_uint *entries_ret,
                   const void **layer)
{
    static function *const nothing[OPENCL_SLOTS];

    if (!target || !entries_ret || !layer)
        return OPENCL_INVALID_VALUE;
    *entries_ret = OPENCL_SLOTS;
    *layer = nothing;
    if (is_ours(target, entries))
        return OPENCL_SUCCESS;
    fill_next(target, entries);
    *layer = replacements();
    if (!__atomic_exchange_n(&opencl.loaded, true, __ATOMIC_ACQ_REL)) {
        opencl_objects_begin();
        opencl_retry();
    }
    return OPENCL_SUCCESS;
}
