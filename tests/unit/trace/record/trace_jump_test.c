/* trace_jump_test.c: signal handlers and callbacks that jump out of records. */
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "trace/record/write.h"

static void begin(void)
{
    test_folder();
    alarm(20);
}

TestSuite(trace_jump, .init = begin);

static sigjmp_buf back;

static size_t dropped(void)
{
    return trace_recording.header->losses.lost[TRACE_LOSS_NESTED];
}

static void expect_events(const char *name, size_t count)
{
    cr_expect_eq(test_count(test_read(), TRACE_ENTRY_EVENT, name), count);
}

/* ---- Jumps out of a record ---- */

/* Copying the bytes of such a field faults inside the record. */
static const void *unreadable(void)
{
    static void *page;

    if (!page)
        page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert_neq(page, MAP_FAILED);
    return page;
}

static void jump_back(int number)
{
    (void)number;
    trace_event(INFO, "from the handler");
    siglongjmp(back, 1);
}

/* The handler runs on the stack `alternate`, if given. */
static void handle(void (*handler)(int), void *alternate, size_t size)
{
    stack_t stack = {.ss_sp = alternate, .ss_size = size};
    struct sigaction action = {.sa_handler = handler,
                               .sa_flags = alternate ? SA_ONSTACK : 0};

    if (alternate)
        cr_assert_eq(sigaltstack(&stack, NULL), 0);
    cr_assert_eq(sigaction(SIGSEGV, &action, NULL), 0);
}

static __attribute__((noinline)) void record_fault(void)
{
    trace_event(INFO, "never", ("bytes", trace_bytes(unreadable(), 64)));
}

static void fault_and_return(void)
{
    if (!sigsetjmp(back, 1))
        record_fault();
}

Test(trace_jump, records_again_after_a_jump_out_of_a_record)
{
    test_record();
    handle(jump_back, NULL, 0);
    for (int i = 0; i < 100; i++) {
        fault_and_return();
        trace_event(INFO, "after");
    }
    cr_expect_eq(dropped(), 100); /* the handler's own event */
    expect_events("after", 100);
}

Test(trace_jump, records_again_after_a_jump_off_the_alternate_stack)
{
    char above[64 << 10];

    test_record();
    handle(jump_back, above, sizeof(above));
    for (int i = 0; i < 100; i++) {
        fault_and_return();
        trace_event(INFO, "after");
    }
    cr_expect_eq(dropped(), 100);
    expect_events("after", 100);
}

/* The handler's stack is above the record, but the record continues
 * afterwards. */
static int repaired;

static void repair(int number)
{
    (void)number;
    trace_event(INFO, "from the handler");
    mprotect((void *)unreadable(), 4096, PROT_READ);
    repaired++;
}

Test(trace_jump, completes_a_record_after_a_handler_returns)
{
    char above[64 << 10];

    test_record();
    handle(repair, above, sizeof(above));
    record_fault();
    cr_expect_eq(repaired, 1);
    cr_expect_eq(dropped(), 1);
    trace_event(INFO, "after");
    expect_events(NULL, 2);
}

static __attribute__((noinline)) void open_span(void)
{
    trace_span(INFO, "never", ("bytes", trace_bytes(unreadable(), 64)));
}

Test(trace_jump, does_not_enter_a_span_that_a_jump_interrupted)
{
    struct trace_entry entry;

    test_record();
    handle(jump_back, NULL, 0);
    if (!sigsetjmp(back, 1))
        open_span();
    trace_event(INFO, "after");
    cr_assert(test_find(test_read(), TRACE_ENTRY_EVENT, "after", &entry));
    cr_expect_eq(entry.span, 0);
}

/* ---- Jumps out of a live line ---- */

static bool raises;

static void raise_when_told(const struct trace_reader *reader,
                            const struct trace_entry *entry)
{
    (void)reader;
    (void)entry;
    if (raises)
        raise(SIGUSR1);
}

static void *record_two(void *unused)
{
    (void)unused;
    trace_event(INFO, "second");
    trace_event(INFO, "third");
    return NULL;
}

static void record_in_child(void)
{
    record_two(NULL);
}

Test(trace_jump, delays_a_handler_until_the_live_line_is_written)
{
    static const struct trace_subscriber live = {.live = raise_when_told};

    trace_subscribe(&live);
    signal(SIGUSR1, jump_back);
    test_record();
    raises = true;
    if (!sigsetjmp(back, 1))
        trace_event(INFO, "first");
    raises = false;
    cr_expect_eq(dropped(), 1); /* the handler's own event */
    test_thread(record_two, NULL);
    cr_expect_eq(test_child(record_in_child), 0);
    expect_events("third", 2);
}

/* ---- Jumps out of callbacks ---- */

static void print_and_jump(struct trace_text *out, const void *unused)
{
    (void)unused;
    trace_text_string(out, "a text that is not leaked");
    siglongjmp(back, 1);
}

static void print_and_record(struct trace_text *out, const void *unused)
{
    (void)unused;
    trace_event(INFO, "within", ("nested", trace_display(print_and_jump, "")));
    trace_text_string(out, "printed");
}

Test(trace_jump, records_again_after_a_callback_jumps)
{
    test_record();
    for (int i = 0; i < 100; i++) {
        if (!sigsetjmp(back, 1))
            trace_event(INFO, "never",
                        ("x", trace_display(print_and_jump, "")));
        trace_event(INFO, "after");
    }
    cr_expect_eq(dropped(), 0);
    expect_events("after", 100);
}

Test(trace_jump, drops_a_record_nested_in_a_callback)
{
    test_record();
    trace_event(INFO, "outer", ("x", trace_display(print_and_record, "")));
    cr_expect_eq(dropped(), 1);
    expect_events("outer", 1);
}

static void print_and_exit(struct trace_text *out, const void *unused)
{
    (void)unused;
    trace_text_string(out, "a text that is not leaked");
    pthread_exit(NULL);
}

static void *exit_in_callback(void *unused)
{
    (void)unused;
    trace_event(INFO, "never", ("x", trace_display(print_and_exit, "")));
    return NULL;
}

Test(trace_jump, records_again_after_a_callback_ends_its_thread)
{
    test_record();
    test_thread(exit_in_callback, NULL);
    trace_event(INFO, "after");
    expect_events("after", 1);
}
