/* interpose.c: finds the functions behind ours of the same name. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/session.h"

/* dlsym returns a data pointer; POSIX has the bits be a function's. */
void test_log_next_function(const char *name, void *function)
{
    void *found = dlsym(RTLD_NEXT, name);

    if (!found) {
        fprintf(stderr,
                "testlog: Criterion has no %s behind testlog; write -ltestlog "
                "before -lcriterion\n",
                name);
        abort();
    }
    memcpy(function, &found, sizeof(found));
}
