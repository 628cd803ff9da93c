/* sandbox.c: threads that enter a seccomp sandbox, which may end them for a
 * system call.
 *
 * The strict mode allows four system calls, and ends who reads the processor's
 * clock, too: nothing more is recorded. A filter may allow what recording
 * needs, so the thread takes space beforehand, and asks for more when that is
 * full.
 */
#include <dlfcn.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>

#include "write.h"

enum { SLOTS = TRACE_CHUNK_SLOTS - TRACE_THREAD_SLOTS };

void trace_lose_refused(const struct trace_writer *writer)
{
    if (!(writer->busy & TRACE_OURS))
        trace_lose(writer->sandboxed ? TRACE_LOSS_SANDBOX : TRACE_LOSS_NESTED);
}

static void prepare(void)
{
    struct trace_writer *writer = trace_enter();
    const struct trace_call_hooks *hooks = trace_call_hooks_now();
    struct trace_hold hold;

    if (!writer)
        return;
    trace_hold(&hold);
    if (writer->end - writer->next < SLOTS / 2) {
        trace_give_room(writer);
        trace_more_room(writer, SLOTS);
    }
    if (hooks)
        hooks->prepare(writer);
    trace_release(&hold);
    trace_leave(writer);
}

TRACE_API int prctl(int option, ...)
{
    static int (*next)(int, ...); /* atomic */
    int (*found)(int, ...) = __atomic_load_n(&next, __ATOMIC_RELAXED);
    unsigned long with[4];
    int result;
    va_list more;

    va_start(more, option);
    for (int i = 0; i < 4; i++)
        with[i] = va_arg(more, unsigned long);
    va_end(more);
    if (!found) {
        *(void **)&found = dlsym(RTLD_NEXT, "prctl");
        __atomic_store_n(&next, found, __ATOMIC_RELAXED);
    }
    if (option != PR_SET_SECCOMP || !trace_is_recording())
        return found(option, with[0], with[1], with[2], with[3]);

    bool strict = with[0] == SECCOMP_MODE_STRICT;

    if (!strict)
        prepare();
    result = found(option, with[0], with[1], with[2], with[3]);
    if (!result && strict)
        trace_writer.busy = TRACE_REFUSING;
    trace_writer.sandboxed |= !result && strict;
    trace_writer.filtered |= !result;
    return result;
}
