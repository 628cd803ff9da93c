/* unload.c: notices that shared objects are unloaded, because others may take
 * their addresses. */
#include <dlfcn.h>

#include "load_map.h"

TRACE_API int dlclose(void *handle)
{
    static int (*next)(void *); /* atomic */
    int (*found)(void *) = __atomic_load_n(&next, __ATOMIC_RELAXED);
    int result;

    if (!found) {
        *(void **)&found = dlsym(RTLD_NEXT, "dlclose");
        __atomic_store_n(&next, found, __ATOMIC_RELAXED);
    }
    result = found(handle);
    if (!result)
        trace_load_map_unload();
    return result;
}
