/* print.c: formats at the call, before a record begins.
 *
 * A callback of the program may jump, throw, end its thread or record, so no
 * lock is held and no record begun while it runs. Its text belongs to the
 * thread, so that a jump does not leak it.
 */
#include <errno.h>

#include "write.h"

enum { KEPT = 4096, MOST = 1 << 20 };

static _Thread_local struct {
    struct trace_text text;
    uintptr_t frame; /* of the function that formats; 0: none */
} printing TRACE_TLS_;

/* Allocates a text's first memory outside of the callback: malloc may be
 * annotated. */
static void prepare(struct trace_text *text)
{
    struct trace_hold hold;
    uintptr_t busy;

    text->ceiling = MOST;
    if (!text->capacity && trace_writer_begin(&trace_writer)) {
        trace_hold(&hold);
        busy = trace_ours_begin(&trace_writer);
        trace_text_char(text, ' ');
        trace_ours_end(&trace_writer, busy);
        trace_release(&hold);
    }
    trace_text_clear(text);
}

__attribute__((noinline)) bool trace_print_begin(
    struct trace_printed *printed, size_t count,
    const struct trace_value *values)
{
    uintptr_t frame = trace_frame();

    printed->error = errno;
    if (trace_is_busy(&trace_writer) ||
        (printing.frame && !trace_has_left(printing.frame, frame))) {
        if (trace_header_now() && !(trace_writer.busy & TRACE_OURS))
            trace_lose(TRACE_LOSS_NESTED);
        errno = printed->error;
        return false;
    }
    printing.frame = frame;
    prepare(&printing.text);
    printed->values =
        trace_values_print(count, values, printed->copy, &printing.text);
    errno = printed->error; /* also for %m */
    return true;
}

void trace_print_end(struct trace_printed *printed)
{
    if (printing.text.capacity > KEPT)
        trace_text_free(&printing.text);
    printing.frame = 0;
    errno = printed->error;
}

void trace_print_free(void)
{
    trace_text_free(&printing.text);
    printing.frame = 0;
}
