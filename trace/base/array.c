/* array.c: arrays that grow. */
#include <stdlib.h>
#include <string.h>

#include "containers.h"

bool trace_array_reserve(void *array, size_t *capacity, size_t count,
                         size_t size)
{
    size_t old = *capacity, more = old ? 2 * old : 8;
    void **elements = array, *grown;

    if (count <= old)
        return true;
    more = more > count ? more : count;
    if (more > SIZE_MAX / size)
        return false;
    grown = realloc(*elements, more * size);
    if (!grown)
        return false;
    memset((char *)grown + old * size, 0, (more - old) * size);
    *elements = grown;
    *capacity = more;
    return true;
}
