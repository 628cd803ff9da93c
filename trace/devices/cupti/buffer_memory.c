/* buffer_memory.c: allocates buffers for CUPTI, and counts them. */
#include <stdlib.h>

#include "cupti.h"

static unsigned used; /* atomic: buffers, without spare ones */

struct cupti_buffer *cupti_buffer_make(size_t size, bool spare)
{
    void *memory = NULL;
    struct cupti_buffer *buffer;

    if (posix_memalign(&memory, 64, sizeof(*buffer) + size))
        return NULL;
    buffer = memory;
    *buffer = (struct cupti_buffer){.self = buffer, .spare = spare};
    __atomic_add_fetch(&used, !spare, __ATOMIC_RELAXED);
    return buffer;
}

unsigned cupti_buffers_used(void)
{
    return __atomic_load_n(&used, __ATOMIC_RELAXED);
}

void cupti_buffer_free(struct cupti_buffer *buffer)
{
    __atomic_sub_fetch(&used, !buffer->spare, __ATOMIC_RELAXED);
    free(buffer);
}
