/* deflate.c: compresses blocks of pages with zlib, if it is installed, which
 * nearly every system has. */
#include <stdlib.h>

#include "harness/run/page/blocks.h"
#include "trace/base/shared_library.h"

/* X(result, name, arguments), of zlib.h, "Utility Functions" */
#define FUNCTIONS(X)                                                           \
    X(unsigned long, compressBound, (unsigned long size))                      \
    X(int, compress2,                                                          \
      (void *, unsigned long *room, const void *, unsigned long size,          \
       int level))

enum { LEVEL = 1 /* others take longer, and save little */ };

void *test_log_deflate(const void *bytes, size_t size, size_t *deflated)
{
    static struct trace_library library = {.name = "libz.so.1"};
    static const char *const names[] = {FUNCTIONS(TRACE_LIBRARY_NAME)};
    static struct {
        FUNCTIONS(TRACE_LIBRARY_POINTER)
    } zlib;
    bool found = trace_library_open(&library, names,
                                    sizeof(names) / sizeof(*names), &zlib);
    unsigned long room = found ? zlib.compressBound(size) : 0;
    void *out = room ? malloc(room) : NULL;

    if (out && zlib.compress2(out, &room, bytes, size, LEVEL)) {
        free(out);
        out = NULL;
    }
    *deflated = room;
    return out;
}
