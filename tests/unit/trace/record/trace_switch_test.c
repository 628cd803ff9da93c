/* trace_switch_test.c: spans of coroutines, of blocks that a jump left, and of
 * threads that end inside them.
 */
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

TestSuite(trace_switch, .init = test_begin);

/* Returns the spans around an event, innermost first: "inner outer". */
static char *spans_of(struct trace_reader *reader, const char *event)
{
    struct trace_text text = {0};
    struct trace_entry entry, span;

    cr_assert(test_find(reader, TRACE_ENTRY_EVENT, event, &entry));
    for (uint32_t place = entry.span; trace_reader_span(reader, place, &span);
         place = span.span)
        trace_text_printf(&text, "%s%s", text.size ? " " : "", span.site->name);
    return test_keep(text.data ? text.data : strdup(""));
}

static void expect_spans(struct trace_reader *reader, const char *event,
                         const char *expected)
{
    char *spans = spans_of(reader, event);

    cr_expect_str_eq(spans, expected, "%s: %s", event, spans);
}

/* ---- Coroutines ---- */

enum { STACK = 64 << 10 };

struct coroutine {
    ucontext_t context;
    struct trace_stack *spans;
    char stack[STACK];
};

static struct coroutine first, second, scheduler;

static void switch_to(struct coroutine *from, struct coroutine *to)
{
    from->spans = trace_stack_save();
    swapcontext(&from->context, &to->context);
    trace_stack_restore(from->spans);
}

static void run_first(void)
{
    trace_span(INFO, "first");
    {
        trace_span(INFO, "inner");
        trace_event(INFO, "1 before");
        switch_to(&first, &scheduler);
        trace_event(INFO, "1 after");
    }
    trace_event(INFO, "1 last");
    switch_to(&first, &scheduler);
}

static void run_second(void)
{
    struct trace_span_ref handle = trace_span_begin(INFO, "second");

    trace_event(INFO, "2 before");
    switch_to(&second, &scheduler);
    trace_event(INFO, "2 after");
    trace_span_end(handle);
    trace_event(INFO, "2 last");
    switch_to(&second, &scheduler);
}

static void make(struct coroutine *coroutine, void (*run)(void))
{
    cr_assert_eq(getcontext(&coroutine->context), 0);
    coroutine->context.uc_stack.ss_sp = coroutine->stack;
    coroutine->context.uc_stack.ss_size = STACK;
    makecontext(&coroutine->context, run, 0);
}

static void take_turns(void)
{
    trace_span(INFO, "main");

    make(&first, run_first);
    make(&second, run_second);
    for (int i = 0; i < 2; i++) {
        switch_to(&scheduler, &first);
        trace_event(INFO, "between");
        switch_to(&scheduler, &second);
    }
    trace_event(INFO, "end");
}

Test(trace_switch, keeps_the_spans_of_coroutines_apart)
{
    struct trace_reader *reader;

    take_turns();
    cr_expect_eq(trace_span_current().place, 0);
    reader = test_read();
    expect_spans(reader, "1 before", "inner first");
    expect_spans(reader, "2 before", "second");
    expect_spans(reader, "between", "main");
    expect_spans(reader, "1 after", "inner first");
    expect_spans(reader, "1 last", "first");
    expect_spans(reader, "2 after", "second");
    expect_spans(reader, "2 last", "");
    expect_spans(reader, "end", "main");
    /* main was left four times and entered again. */
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EXIT, "main"), 5);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_ENTER, "main"), 4);
    /* first, its inner span and second were left once more than they ended. */
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EXIT, "inner"), 2);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EXIT, "second"), 2);
    cr_expect_eq(trace_reader_summary(reader).dropped, 0);
}

static void *restore(void *stack)
{
    trace_stack_restore(stack);
    trace_event(INFO, "elsewhere");
    free(trace_stack_save());
    trace_event(INFO, "behind");
    return NULL;
}

Test(trace_switch, restores_a_coroutine_s_spans_on_another_thread)
{
    struct trace_stack *stack;
    struct trace_reader *reader;

    trace_span(INFO, "outer");
    trace_span(INFO, "inner");
    stack = trace_stack_save();
    trace_event(INFO, "outside");
    test_thread(restore, stack);
    reader = test_read();
    expect_spans(reader, "outside", "");
    expect_spans(reader, "elsewhere", "inner outer");
    expect_spans(reader, "behind", "");
}

Test(trace_switch, saves_nothing_outside_of_spans)
{
    cr_expect_null(trace_stack_save());
    trace_stack_restore(NULL);
}

/* ---- Jumps ---- */

static jmp_buf back;

static __attribute__((noinline)) void open_and_jump(void)
{
    trace_span(INFO, "left");
    longjmp(back, 1);
}

static __attribute__((noinline)) void open_deeper(void)
{
    trace_span(INFO, "around");
    open_and_jump();
}

Test(trace_switch, does_not_nest_spans_in_a_loop_of_jumps)
{
    struct trace_reader *reader;
    volatile int i = 0;

    setjmp(back);
    if (i++ < 100)
        open_deeper();
    {
        trace_span(INFO, "after");
        trace_event(INFO, "event");
    }
    cr_expect_eq(trace_depth(), 0);
    reader = test_read();
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EXIT, "left"), 100);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EXIT, "around"), 100);
    expect_spans(reader, "event", "after");
}

Test(trace_switch, does_not_nest_spans_in_a_loop_of_jumps_within_a_block)
{
    struct trace_reader *reader;
    volatile int i = 0;

    trace_span(INFO, "outer");
    if (setjmp(back) < 1 || i < 100) {
        trace_span(INFO, "left");
        cr_assert_leq(trace_depth(), 2);
        if (i++ < 99)
            longjmp(back, 1);
        trace_event(INFO, "event");
    }
    reader = test_read();
    cr_expect_eq(test_count(reader, TRACE_ENTRY_SPAN, "left"), 100);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EXIT, "left"), 100);
    expect_spans(reader, "event", "left outer");
}

static __attribute__((noinline)) void recurse(int depth)
{
    trace_function(INFO, (depth));

    if (depth)
        recurse(depth - 1);
    else
        trace_event(INFO, "deepest");
    cr_expect_eq(trace_depth(), 50 - (size_t)depth);
}

Test(trace_switch, nests_spans_in_a_recursion)
{
    recurse(49);
}

/* ---- Threads ---- */

static void *exit_within(void *unused)
{
    trace_span(INFO, "block");
    (void)unused;
    trace_span_begin(INFO, "handle");
    trace_span_new(INFO, "not entered");
    pthread_exit(NULL);
}

Test(trace_switch, ends_a_thread_s_spans_with_the_thread)
{
    struct trace_reader *reader;

    test_thread(exit_within, NULL);
    reader = test_read();
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EXIT, "block"), 1);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EXIT, "handle"), 1);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EXIT, "not entered"), 0);
}
