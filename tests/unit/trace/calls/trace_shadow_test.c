/* trace_shadow_test.c: which calls enclose which, also after functions were
 * left without their exits. The file is built with functions_cflags.
 */
#include "tests/support/calls.h"

#include "trace/calls/calls.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

static void begin(void)
{
    test_folder();
    test_record_calls(TRACE_LIMIT_DEFAULT);
}

TestSuite(trace_shadow, .init = begin);

static volatile int sink;

static void leaf(void)
{
    sink++;
}

/* ---- Without jumps ---- */

static void inner(void)
{
    leaf();
    trace_event(INFO, "event");
}

static void outer(void)
{
    trace_span(INFO, "span");

    inner();
    leaf();
}

static void nest(void)
{
    outer();
    leaf();
}

Test(trace_shadow, nests_calls_spans_and_events)
{
    nest();
    test_expect_paths("nest", "outer\n"
                              "outer/span\n"
                              "outer/span/inner\n"
                              "outer/span/inner/leaf\n"
                              "outer/span/inner/event\n"
                              "outer/span/leaf\n"
                              "leaf\n");
}

enum { DEPTH = 20000 }; /* more than the stack's first memory has */

static int recurse(int depth)
{
    if (depth)
        return recurse(depth - 1) + 1;
    leaf();
    return 0;
}

static void descend(void)
{
    cr_expect_eq(recurse(DEPTH), DEPTH);
    leaf();
}

Test(trace_shadow, follows_recursion)
{
    struct trace_reader *reader;
    struct trace_entry entry, last = {0};
    uint32_t place;
    size_t depth = 0;

    descend();
    reader = test_read();
    cr_expect_eq(test_count(reader, TRACE_ENTRY_SPAN, "recurse"), DEPTH + 1);
    cr_assert(test_find(reader, TRACE_ENTRY_SPAN, "leaf", &entry));
    for (place = entry.span; trace_reader_span(reader, place, &last) &&
                             !strcmp(last.site->name, "recurse");
         place = last.span)
        depth++;
    cr_expect_eq(depth, DEPTH + 1);
    cr_expect_str_eq(last.site->name, "descend");
}

/* ---- Jumps ---- */

static jmp_buf back;

static void jump(void)
{
    leaf();
    longjmp(back, 1);
}

static void fall(void)
{
    jump();
}

static void use(volatile char *memory)
{
    memory[0] = 1;
}

static void catch (void)
{
    volatile int times = 0;

    if (setjmp(back) < 3 && times < 2) {
        times = times + 1;
        fall();
    }
    leaf();
    use(__builtin_alloca(2000));
}

Test(trace_shadow, leaves_what_longjmp_left)
{
    catch ();
    test_expect_paths("catch", "fall\n"
                               "fall/jump\n"
                               "fall/jump/leaf\n"
                               "fall\n"
                               "fall/jump\n"
                               "fall/jump/leaf\n"
                               "leaf\n"
                               "use\n");
}

static void catch_above(void)
{
    if (!setjmp(back))
        fall();
    use(__builtin_alloca(
        2000)); /* its frame is below that of the calls that are left */
    leaf();
}

Test(trace_shadow, leaves_frames_that_lie_above_the_next_one)
{
    catch_above();
    test_expect_paths("catch_above", "fall\n"
                                     "fall/jump\n"
                                     "fall/jump/leaf\n"
                                     "use\n"
                                     "leaf\n");
}

Test(trace_shadow, ends_left_calls_before_the_next_one)
{
    struct trace_reader *reader;
    struct trace_entry left, next;

    catch_above();
    reader = test_read();
    cr_assert(test_find(reader, TRACE_ENTRY_SPAN, "fall", &left));
    cr_assert(test_find(reader, TRACE_ENTRY_SPAN, "use", &next));
    cr_expect_leq(left.end, next.time);
}

/* ---- Signals ---- */

static sigjmp_buf out;

static void handle(int signal)
{
    leaf();
    if (signal == SIGUSR2)
        siglongjmp(out, 1);
}

static void interrupt(int signal)
{
    raise(signal);
    leaf();
}

static void be_interrupted(void)
{
    interrupt(SIGUSR1);
    if (!sigsetjmp(out, 1))
        interrupt(SIGUSR2);
    leaf();
}

static void handle_signals(int flags)
{
    struct sigaction action = {.sa_handler = handle, .sa_flags = flags};

    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGUSR2, &action, NULL);
    be_interrupted();
    test_expect_paths("be_interrupted", "interrupt\n"
                                        "interrupt/handle\n"
                                        "interrupt/handle/leaf\n"
                                        "interrupt/leaf\n"
                                        "interrupt\n"
                                        "interrupt/handle\n"
                                        "interrupt/handle/leaf\n"
                                        "leaf\n");
}

Test(trace_shadow, follows_signal_handlers)
{
    handle_signals(0);
}

/* The stack lies below the thread's, or above it. */
static void handle_elsewhere(void *memory, size_t size)
{
    stack_t stack = {.ss_sp = memory, .ss_size = size};

    cr_assert_eq(sigaltstack(&stack, NULL), 0);
    handle_signals(SA_ONSTACK);
}

Test(trace_shadow, follows_handlers_on_a_lower_stack)
{
    static char memory[64 << 10];

    handle_elsewhere(memory, sizeof(memory));
}

Test(trace_shadow, follows_handlers_on_a_higher_stack)
{
    char memory[64 << 10];

    handle_elsewhere(memory, sizeof(memory));
}

static volatile size_t ticks;

static void tick(int signal)
{
    (void)signal;
    ticks++;
}

static void be_interrupted_often(void)
{
    while (ticks < 200)
        leaf();
}

/* A handler may interrupt a hook. */
Test(trace_shadow, counts_calls_in_handlers_that_it_cannot_record)
{
    struct sigaction action = {.sa_handler = tick, .sa_flags = SA_RESTART};
    const struct itimerval every = {{0, 500}, {0, 500}};
    const struct itimerval never = {{0, 0}, {0, 0}};
    struct trace_reader *reader;
    uint64_t lost, recorded;

    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
    be_interrupted_often();
    setitimer(ITIMER_REAL, &never, NULL);
    reader = test_read();
    lost = trace_reader_summary(reader).lost[TRACE_LOSS_NESTED];
    recorded = test_count(reader, TRACE_ENTRY_SPAN, "tick");
    cr_expect_eq(trace_reader_calls_lost(reader), 0);
    cr_expect_eq(recorded + lost, ticks, "%llu + %llu of %zu",
                 (unsigned long long)recorded, (unsigned long long)lost, ticks);
    cr_expect_gt(lost, 0);
}

/* ---- Coroutines ---- */

static ucontext_t main_context, other_context;
static char other_stack[64 << 10];

static void swap(ucontext_t *from, ucontext_t *to)
{
    struct trace_stack *saved = trace_stack_save();

    swapcontext(from, to);
    trace_stack_restore(saved);
}

static void work(void)
{
    trace_event(INFO, "before");
    swap(&other_context, &main_context);
    trace_event(INFO, "after");
    swap(&other_context, &main_context);
}

static void schedule(void)
{
    cr_assert_eq(getcontext(&other_context), 0);
    other_context.uc_stack.ss_sp = other_stack;
    other_context.uc_stack.ss_size = sizeof(other_stack);
    makecontext(&other_context, work, 0);
    swap(&main_context, &other_context);
    trace_event(INFO, "between");
    swap(&main_context, &other_context);
}

static void expect_inside(struct trace_reader *reader, const char *event,
                          const char *function)
{
    struct trace_entry entry, around;

    cr_assert(test_find(reader, TRACE_ENTRY_EVENT, event, &entry));
    cr_assert(trace_reader_span(reader, entry.span, &around));
    cr_expect_str_eq(around.site->name, function);
}

Test(trace_shadow, keeps_the_calls_of_coroutines_apart)
{
    struct trace_reader *reader;

    schedule();
    reader = test_read();
    expect_inside(reader, "before", "work");
    expect_inside(reader, "between", "schedule");
    expect_inside(reader, "after", "work");
}

/* ---- Threads, processes, recordings ---- */

static void *end_thread(void *unused)
{
    leaf();
    pthread_exit(unused);
}

Test(trace_shadow, ends_the_calls_of_a_thread_that_exits)
{
    struct trace_entry entry;

    test_thread(end_thread, NULL);
    cr_assert(test_find(test_read(), TRACE_ENTRY_SPAN, "end_thread", &entry));
    cr_expect_neq(entry.end, UINT64_MAX);
    cr_expect_neq(entry.thread->tid, entry.thread->pid);
}

static void child(void)
{
    leaf();
    _exit(0);
}

static void parent(void)
{
    pid_t pid = fork();

    if (!pid)
        child();
    waitpid(pid, NULL, 0);
    leaf();
}

Test(trace_shadow, separates_the_calls_of_a_child)
{
    struct trace_reader *reader;
    struct trace_entry entry;

    parent();
    reader = test_read();
    cr_assert(test_find(reader, TRACE_ENTRY_SPAN, "child", &entry));
    cr_expect_eq(entry.end, UINT64_MAX); /* it did not return */
    cr_expect_neq(entry.thread->pid, (uint32_t)getpid());
    cr_assert(test_find(reader, TRACE_ENTRY_SPAN, "parent", &entry));
    cr_expect_neq(entry.end, UINT64_MAX);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_SPAN, "leaf"), 2);
}

static void end_and_begin(void)
{
    leaf();
    trace_close();
    leaf();
    unlink(test_path("recording"));
    test_record_calls(TRACE_LIMIT_DEFAULT);
    inner();
}

Test(trace_shadow, forgets_the_calls_of_an_earlier_recording)
{
    struct trace_reader *reader;

    end_and_begin();
    reader = test_read();
    cr_expect_eq(test_count(reader, TRACE_ENTRY_SPAN, "leaf"), 1);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_SPAN, "end_and_begin"), 0);
    expect_inside(reader, "event", "inner");
}

static void pause_recording(void)
{
    trace_disable();
    leaf();
    trace_enable();
    inner();
}

Test(trace_shadow, records_no_calls_while_disabled)
{
    pause_recording();
    test_expect_paths("pause_recording", "inner\n"
                                         "inner/leaf\n"
                                         "inner/event\n");
}
