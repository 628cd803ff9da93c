/* backends.h: the tables of device back ends. Private to the project.
 *
 * Outside of its folder in trace/devices/, a back end is only a row in these
 * tables, and what its runtime looks for in trace/devices/inject/exports.
 */
#ifndef TRACE_BACKENDS_H
#define TRACE_BACKENDS_H

#include <stdbool.h>
#include <stdint.h>

/* X(folder, member of run.json and prefix of its notes, name for people, first
 * device, first correlation, what its queues are called, category of its calls
 * in Chrome's trace, category of its waits). Back ends in one process share the
 * numbers of devices and correlations; rows are in their order. */
#define TRACE_BACKENDS(X)                                                      \
    X(cupti, gpu, "GPU", 0, 0, "stream", "cuda_runtime", "cuda_sync")          \
    X(opencl, opencl, "OpenCL", 32, UINT32_C(1) << 31, "queue",                \
      "opencl_runtime", "opencl_sync")

/* X(folder, variable): back ends that a loader finds by a list of paths in a
 * variable, and may pass over. */
#define TRACE_LOADERS(X) X(opencl, "OPENCL_LAYERS")

/* X(name in a recording, after the prefix, and in run.json): the counts of a
 * back end. CUPTI has more. Every launch has a record on its device, or is
 * unfinished, or is lost. `pending` counts all commands that have not ended. */
#define TRACE_BACKEND_COUNTS(X)                                                \
    X(launches) X(launched) X(unfinished) X(lost) X(pending) X(bad_times)

enum trace_backend_row {
#define TRACE_X(folder, ...) TRACE_BACKEND_##folder,
    TRACE_BACKENDS(TRACE_X)
#undef TRACE_X
        TRACE_BACKEND_COUNT,
    TRACE_BACKENDS_MOST = 4
};

/* TRACE_DEVICES_opencl is the first device of a back end. */
enum {
#define TRACE_X(folder, member, name, device, ...)                             \
    TRACE_DEVICES_##folder = device,
    TRACE_BACKENDS(TRACE_X)
#undef TRACE_X
};

struct trace_backend_words {
    const char *member, *name;
    uint32_t first_device, first_correlation;
    const char *queue, *calls, *waits;
};

/* trace_backends has the rows; trace_backend_of returns that of a device. */
extern const struct trace_backend_words trace_backends[];
const struct trace_backend_words *trace_backend_of(uint32_t device);

/* FOLDER_retry starts a back end when a recording begins, because constructors
 * of the program may have used the device before. */
#define TRACE_X(folder, ...) void folder##_retry(void);
TRACE_BACKENDS(TRACE_X)
#undef TRACE_X

/* trace_FOLDER_loaded, in the library, returns whether a loader has called it.
 * The folder's file FOLDER_loader.c is linked into test programs, too:
 * trace_FOLDER_is_missing returns whether this process has used the device
 * without our library, although the variable names it, and trace_FOLDER_check
 * notes that in the recording. */
#define TRACE_X(folder, variable)                                              \
    bool trace_##folder##_loaded(void);                                        \
    bool trace_##folder##_is_missing(void);                                    \
    void trace_##folder##_check(void);
TRACE_LOADERS(TRACE_X)
#undef TRACE_X

#endif
