/* fatal_signal.c: leaves the stack of a process that dies of a signal in the
 * recording. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "fatal_signal.h"
#include "stack.h"
#include "trace/base/valgrind_requests.h"
#include "trace/device.h"

/* ---- The event ---- */

/* Live lines are formatted at once, for which a handler must not allocate
 * memory. */
static struct trace_site site = {
    .name = "",
    .target = "crash",
    .file = "",
    .function = "",
    .level = TRACE_LEVEL_ERROR,
    .interest = TRACE_UNREGISTERED,
};
static bool prepared;

void trace_crash_prepare(void)
{
    prepared = true;
    trace_site_register(&site);
}

/* A signal that was sent may arrive while the thread has one of our locks. A
 * record that it interrupts is never finished, because the thread dies. */
static bool can_record(void)
{
    struct trace_writer *writer = &trace_writer;

    if (trace_held || writer->busy == TRACE_REFUSING ||
        writer->busy == TRACE_LOCKED)
        return false;
    writer->busy = 0;
    return true;
}

void trace_crash_event(const struct trace_crash *crash)
{
    char text[64];

    if (!prepared || !can_record())
        return;
    snprintf(text, sizeof(text), crash->code > 0 ? "SIG%s at %#llx" : "SIG%s",
             sigabbrev_np(crash->signal), (unsigned long long)crash->address);
    trace_message(&site, text);
}

/* ---- The stack ---- */

static bool put(struct trace_writer *writer,
                const struct trace_crash_left *left)
{
    struct trace_value value = trace_bytes(left, trace_crash_left_size(left));
    size_t bytes = trace_values_size(1, &value);
    struct trace_record *record =
        trace_put_now(writer, TRACE_KIND_CRASH, 0, 1, &value, bytes);

    if (!record)
        record = trace_put_spare(writer, TRACE_KIND_CRASH, NULL, 0, 1, &value);
    if (record)
        trace_commit(writer, record);
    return record;
}

/* A crash without its stack needs little space. */
static void put_left(const struct trace_crash_left *left)
{
    struct trace_writer *writer = trace_enter();

    if (!writer)
        return;
    if (!put(writer, left) && left->crash.stack_size) {
        trace_undrop(writer);
        put(writer, trace_crash_copy(&left->crash, false));
    }
    trace_leave(writer);
}

/* Nobody erases a stack that comes after the end of the test. */
static bool is_over(const struct trace_header *header)
{
    return __atomic_load_n(&header->ended, __ATOMIC_ACQUIRE) ||
           __atomic_load_n(&header->used, __ATOMIC_ACQUIRE);
}

static bool take_turn(uint32_t *stacks)
{
    uint32_t count = __atomic_load_n(stacks, __ATOMIC_RELAXED);

    while (count)
        if (__atomic_compare_exchange_n(stacks, &count, count - 1, false,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return true;
    return false;
}

static void leave_stack(const struct trace_crash *crash)
{
    struct trace_header *header = trace_header_now();

    __atomic_fetch_add(&header->crashes, 1, __ATOMIC_RELAXED);
    if (!can_record())
        return;
    put_left(trace_crash_copy(crash,
                              !is_over(header) && take_turn(&header->stacks)));
}

void trace_crash_keep(uint32_t stacks)
{
    if (!trace_is_recording())
        return;
    trace_header_now()->stacks = stacks;
    trace_header_now()->watched = 1;
}

/* ---- The handler ---- */

/* Other signals wait: they must not end the process in place of this one. */
void trace_crash_leave(const struct trace_crash *crash)
{
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    if (!trace_is_recording() || (pid_t)crash->process < 0 ||
        !trace_crash_is_first())
        return; /* a sandbox may forbid getpid() */
    trace_crash_event(crash);
    leave_stack(crash);
}

static bool (*look)(const struct trace_crash *, const void *context);

static void on_crash(const struct trace_crash *crash, const void *context)
{
    trace_device_demand(TRACE_DEMAND_TIME);
    if (!look || !look(crash, context))
        trace_crash_leave(crash);
}

void trace_crash_watch(const struct trace_crash_watch *watch)
{
    look = watch->crashed;
    trace_thread_hooks =
        (struct trace_thread_hooks){trace_crash_stack, trace_crash_stack_end};
    trace_crash_handle(&(struct trace_crash_hooks){
        watch->wants, watch->begins, on_crash,
        trace_valgrind_ask(TRACE_RUNNING_ON_VALGRIND, 0, 0, 0, 0)});
}
