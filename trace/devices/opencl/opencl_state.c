/* opencl_state.c: what all files of the OpenCL layer share. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "opencl.h"

/* A driver registers handlers of its own with its first compilations, and ours
 * must run before them: it is registered again, at most so often. */
enum { HANDLERS = 16 };

struct opencl opencl;

void opencl_note(const char *name, const char *format, ...)
{
    char value[512];
    va_list args;

    va_start(args, format);
    vsnprintf(value, sizeof(value), format, args);
    va_end(args);
    opencl.host->note(name, value);
}

static void at_exit(void)
{
    if (opencl.flush)
        opencl.flush(true);
    opencl.ended = true;
}

void opencl_flush_at_exit(void)
{
    static unsigned count; /* atomic */

    if (__atomic_fetch_add(&count, 1, __ATOMIC_RELAXED) < HANDLERS)
        atexit(at_exit);
}
