/* allocator.c: a program with an annotated malloc and an annotated printer. */
#include <errno.h>
#include <string.h>

#include <testlog/test_log.h>

enum { ROOM = 256 << 20 };

static _Alignas(16) unsigned char heap[ROOM];
static size_t used;

static void print_size(struct trace_text *text, const void *size)
{
    trace_text_printf(text, "%zu bytes", *(const size_t *)size);
}

void *malloc(size_t size)
{
    size_t whole = (size + 31) / 16 * 16;
    size_t at = __atomic_fetch_add(&used, whole, __ATOMIC_RELAXED);

    trace_function(DEBUG, ("size", trace_display(print_size, &size)));
    log_trace("malloc(%zu)", size);
    if (at + whole > ROOM) {
        errno = ENOMEM;
        return NULL;
    }
    *(size_t *)(void *)(heap + at) = size;
    return heap + at + 16;
}

void free(void *block)
{
    log_trace("free(%p)", block);
}

void *calloc(size_t count, size_t size)
{
    void *block = malloc(count * size);

    log_trace("calloc(%zu, %zu)", count, size);
    if (block)
        memset(block, 0, count * size);
    return block;
}

void *realloc(void *old, size_t size)
{
    void *block = malloc(size);
    size_t before = old ? ((size_t *)old)[-2] : 0;

    if (block && old)
        memcpy(block, old, before < size ? before : size);
    log_trace("realloc(%p, %zu)", old, size);
    return block;
}

TEST_LOG(allocator, gives_memory)
{
    char *volatile block = malloc(100);
    char *volatile larger;

    cr_assert_not_null(block);
    larger = realloc(block, 1000);
    cr_assert_not_null(larger);
    free(larger);
    log_expect_contains("realloc(");
    log_expect_span("malloc{size=100 bytes}");
}

TEST_LOG(allocator, fails)
{
    void *block = malloc(10);

    free(block);
    cr_assert_null(block, "as it should");
}
