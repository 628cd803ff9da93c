/* buffer_memory.c: allocates buffers for CUPTI, and counts them. */
#include <stdlib.h>

#include "cupti.h"

static size_t used; /* atomic: bytes, without spare buffers */

struct cupti_buffer *cupti_buffer_make(size_t size, bool spare)
{
    void *memory = NULL;
    struct cupti_buffer *buffer;

    if (posix_memalign(&memory, 64, sizeof(*buffer) + size))
        return NULL;
    buffer = memory;
    *buffer =
        (struct cupti_buffer){.self = buffer, .size = size, .spare = spare};
    if (!spare)
        __atomic_add_fetch(&used, size, __ATOMIC_RELAXED);
    return buffer;
}

size_t cupti_buffers_used(void)
{
    return __atomic_load_n(&used, __ATOMIC_RELAXED);
}

void cupti_buffer_free(struct cupti_buffer *buffer)
{
    if (!buffer->spare)
        __atomic_sub_fetch(&used, buffer->size, __ATOMIC_RELAXED);
    free(buffer);
}
