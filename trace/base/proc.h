/* proc.h: whether /proc tells of our processes. Private. */
#ifndef TRACE_PROC_H
#define TRACE_PROC_H

#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

/* trace_proc_is_ours returns whether /proc has the numbers of this process's
 * PID namespace. Otherwise its folders are those of other processes. */
static inline bool trace_proc_is_ours(void)
{
    char self[16] = "";

    return readlink("/proc/self", self, sizeof(self) - 1) > 0 &&
           atol(self) == (long)getpid();
}

#endif
