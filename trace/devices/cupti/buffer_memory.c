/* buffer_memory.c: keeps buffers for CUPTI.
 *
 * Each is a mapping of its own, which the kernel hands over zeroed, and which
 * stays: unmapping interrupts every processor that the program uses. CUPTI
 * takes them within calls of the program, so a thread of ours zeroes used ones,
 * and has one more ready, with all of its pages.
 */
#include <string.h>
#include <sys/mman.h>

#include "cupti.h"
#include "trace/base/lock.h"

static size_t used; /* atomic: bytes that CUPTI has, without spare buffers */

static struct trace_lock lock;
static struct cupti_buffer *pool; /* that nobody uses */

static size_t whole(const struct cupti_buffer *buffer)
{
    return buffer->size + sizeof(*buffer);
}

static struct cupti_buffer *make(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    struct cupti_buffer *buffer = memory;

    if (memory == MAP_FAILED)
        return NULL;
    buffer->self = buffer;
    buffer->size = size - sizeof(*buffer);
    return buffer;
}

static struct cupti_buffer *take(size_t size)
{
    struct cupti_buffer **at = &pool, *found;

    trace_lock(&lock);
    while (*at && whole(*at) != size)
        at = &(*at)->next;
    found = *at;
    if (found)
        *at = found->next;
    trace_unlock(&lock);
    return found;
}

static void put(struct cupti_buffer *buffer)
{
    trace_lock(&lock);
    buffer->next = pool;
    pool = buffer;
    trace_unlock(&lock);
}

struct cupti_buffer *cupti_buffer_take(size_t size, bool spare)
{
    struct cupti_buffer *buffer = take(size);

    if (!buffer)
        buffer = make(size);
    if (!buffer)
        return NULL;
    buffer->next = NULL;
    buffer->head.valid = 0;
    buffer->spare = spare;
    if (!spare)
        __atomic_add_fetch(&used, size, __ATOMIC_RELAXED);
    return buffer;
}

size_t cupti_buffers_used(void)
{
    return __atomic_load_n(&used, __ATOMIC_RELAXED);
}

void cupti_buffer_give_back(struct cupti_buffer *buffer)
{
    if (buffer->abandoned)
        return;
    if (!buffer->spare)
        __atomic_sub_fetch(&used, whole(buffer), __ATOMIC_RELAXED);
    if (cupti.zeroed)
        memset(buffer->bytes, 0, buffer->head.valid);
    put(buffer);
}

void cupti_buffer_prepare(size_t size)
{
    struct cupti_buffer *buffer = take(size);

    if (!buffer) {
        buffer = make(size);
#ifdef MADV_POPULATE_WRITE
        if (buffer)
            madvise(buffer, size, MADV_POPULATE_WRITE);
#endif
    }
    if (buffer)
        put(buffer);
}
