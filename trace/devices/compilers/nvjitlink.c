/* nvjitlink.c: wraps nvJitLink, which links PTX, LTO IR and machine code. */
#include <errno.h>
#include <sys/stat.h>

#include "compilers.h"

/* X(name): the names of results, from 0. */
#define RESULTS(X)                                                             \
    X(SUCCESS)                                                                 \
    X(ERROR_UNRECOGNIZED_OPTION)                                               \
    X(ERROR_MISSING_ARCH)                                                      \
    X(ERROR_INVALID_INPUT)                                                     \
    X(ERROR_PTX_COMPILE)                                                       \
    X(ERROR_NVVM_COMPILE)                                                      \
    X(ERROR_INTERNAL)                                                          \
    X(ERROR_THREADPOOL)                                                        \
    X(ERROR_UNRECOGNIZED_INPUT)                                                \
    X(ERROR_FINALIZE)                                                          \
    X(ERROR_NULL_INPUT)                                                        \
    X(ERROR_INCOMPATIBLE_OPTIONS)                                              \
    X(ERROR_INCORRECT_INPUT_TYPE)                                              \
    X(ERROR_ARCH_MISMATCH)                                                     \
    X(ERROR_OUTDATED_LIBRARY)                                                  \
    X(ERROR_MISSING_FATBIN)                                                    \
    X(ERROR_UNRECOGNIZED_ARCH)                                                 \
    X(ERROR_UNSUPPORTED_ARCH)                                                  \
    X(ERROR_LTO_NOT_ENABLED)

enum {
#define TRACE_X(name) RESULT_##name,
    RESULTS(TRACE_X)
#undef TRACE_X
        RESULT_COUNT
};

static const char *name_of(int result)
{
    static const char *const names[] = {
#define TRACE_X(name) "NVJITLINK_" #name,
        RESULTS(TRACE_X)
#undef TRACE_X
    };

    return result >= 0 && result < RESULT_COUNT ? names[result] : NULL;
}

static const char *const input_types[] = {
    "none",    "cubin", "ptx", "ltoir", "fatbin", "object",
    "library", "index", "8",   "9",     "any",    NULL};

static const struct trace_compiler compiler = {
    .stage = "nvjitlink",
    .unnamed = "nvjitlink",
    .log_size = "GetErrorLogSize",
    .log = "GetErrorLog",
    .result_name = name_of,
    .input_types = input_types,
    .outputs = {{"GetLinkedCubinSize", TRACE_COMPILE_CUBIN_BYTES},
                {"GetLinkedPtxSize", TRACE_COMPILE_PTX_BYTES}},
};

typedef int create_function(void **, uint32_t, const char *const *);
typedef int data_function(void *, int, const void *, size_t, const char *);
typedef int file_function(void *, int, const char *);
typedef int complete_function(void *);

static int create(const struct trace_call *call, void **handle, uint32_t count,
                  const char *const *options)
{
    struct trace_compile begun = trace_compile_begin();
    int result = ((create_function *)call->real)(handle, count, options);
    int error = errno;
    struct trace_handle *info = result ? NULL : trace_handle_new(*handle);

    if (info)
        trace_compile_options(&info->options, count, options);
    trace_handle_keep(info);
    if (result)
        trace_compile_end(&begun, call, &compiler, NULL, result, count,
                          options);
    errno = error;
    return result;
}

static void note_input(void *handle, int type, size_t size, const char *name)
{
    struct trace_handle *info = trace_handle_take(handle);

    if (!info)
        return;
    info->inputs++;
    info->input_bytes += size;
    if (type >= 0 && type < (int)(sizeof(input_types) / sizeof(*input_types)))
        info->input_types |= 1u << type;
    trace_handle_name(info, name);
    trace_handle_keep(info);
}

static int add_data(const struct trace_call *call, void *handle, int type,
                    const void *data, size_t size, const char *name)
{
    struct trace_compile begun = trace_compile_begin();
    int result = ((data_function *)call->real)(handle, type, data, size, name);
    int error = errno;

    note_input(handle, type, size, name);
    if (result)
        trace_compile_end(&begun, call, &compiler, handle, result, 0, NULL);
    errno = error;
    return result;
}

static size_t size_of(const char *path)
{
    struct stat status;

    return path && !stat(path, &status) ? (size_t)status.st_size : 0;
}

static int add_file(const struct trace_call *call, void *handle, int type,
                    const char *path)
{
    struct trace_compile begun = trace_compile_begin();
    int result = ((file_function *)call->real)(handle, type, path);
    int error = errno;

    note_input(handle, type, size_of(path), path);
    if (result)
        trace_compile_end(&begun, call, &compiler, handle, result, 0, NULL);
    errno = error;
    return result;
}

static int complete(const struct trace_call *call, void *handle)
{
    struct trace_compile begun = trace_compile_begin();
    int result = ((complete_function *)call->real)(handle);

    trace_compile_end(&begun, call, &compiler, handle, result, 0, NULL);
    return result;
}

/* The header maps each function to the one of its own version. */
#define VERSION(X, before, after)                                              \
    X(before##Create##after, "Create", create,                                 \
      (void **handle, uint32_t count, const char *const *options),             \
      (handle, count, options))                                                \
    X(before##AddData##after, "AddData", add_data,                             \
      (void *handle, int type, const void *data, size_t size,                  \
       const char *name),                                                      \
      (handle, type, data, size, name))                                        \
    X(before##AddFile##after, "AddFile", add_file,                             \
      (void *handle, int type, const char *path), (handle, type, path))        \
    X(before##Complete##after, "Complete", complete, (void *handle), (handle)) \
    X(before##Destroy##after, "Destroy", trace_handle_destroy,                 \
      (void **handle), (handle))

#define FUNCTIONS(X)                                                           \
    VERSION(X, nvJitLink, )                                                    \
    VERSION(X, __nvJitLink, _12_0)                                             \
    VERSION(X, __nvJitLink, _12_1)                                             \
    VERSION(X, __nvJitLink, _12_2)                                             \
    VERSION(X, __nvJitLink, _12_3)                                             \
    VERSION(X, __nvJitLink, _12_4)                                             \
    VERSION(X, __nvJitLink, _12_5)                                             \
    VERSION(X, __nvJitLink, _12_6)                                             \
    VERSION(X, __nvJitLink, _12_7)                                             \
    VERSION(X, __nvJitLink, _12_8)                                             \
    VERSION(X, __nvJitLink, _12_9)                                             \
    VERSION(X, __nvJitLink, _13_0)                                             \
    VERSION(X, __nvJitLink, _13_1)                                             \
    VERSION(X, __nvJitLink, _13_2)                                             \
    VERSION(X, __nvJitLink, _13_3)

enum { FUNCTIONS(TRACE_WRAPPER_ROW) ROWS };

#define DEFINE(symbol, verb, work, parameters, arguments)                      \
    TRACE_WRAPPER_DEFINE(&trace_nvjitlink_wrappers, RESULT_ERROR_INTERNAL,     \
                         symbol, work, parameters, arguments)
FUNCTIONS(DEFINE)

static struct trace_wrapper wrappers[ROWS] = {FUNCTIONS(TRACE_WRAPPER_ENTRY)};
const struct trace_wrappers trace_nvjitlink_wrappers = {"nvJitLink", wrappers,
                                                        ROWS};
