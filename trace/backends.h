/* backends.h: the tables of device back ends. Private to the project.
 *
 * A back end is a folder in trace/devices/, a row here, and the names that its
 * runtime looks for, in trace/devices/inject/exports.
 */
#ifndef TRACE_BACKENDS_H
#define TRACE_BACKENDS_H

#include <stdbool.h>

/* X(folder). The folder's FOLDER_retry is called when a recording begins,
 * because constructors of the program may have used the device before. */
#define TRACE_BACKENDS(X) X(cupti) X(opencl)

/* X(folder): back ends whose loader may pass our library over.
 * trace_FOLDER_loaded, in the library, returns whether a loader has called it.
 * The folder's file FOLDER_loader.c is linked into test programs, too:
 * trace_FOLDER_is_missing returns whether this process has used the device
 * without our library, although it was named to the loader, and
 * trace_FOLDER_check notes that in the recording. */
#define TRACE_LOADERS(X) X(opencl)

#define TRACE_X(folder) void folder##_retry(void);
TRACE_BACKENDS(TRACE_X)
#undef TRACE_X

#define TRACE_X(folder)                                                        \
    bool trace_##folder##_loaded(void);                                        \
    bool trace_##folder##_is_missing(void);                                    \
    void trace_##folder##_check(void);
TRACE_LOADERS(TRACE_X)
#undef TRACE_X

#endif
