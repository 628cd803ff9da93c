/* trace_lines_test.c: lines that ran, and their order. The file is built with
 * functions_cflags and lines_cflags.
 */
#include "tests/support/calls.h"

#include "trace/base/strings.h"
#include "trace/calls/calls.h"

#include <criterion/criterion.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TestSuite(trace_lines, .init = test_folder);

static volatile int sink;
static jmp_buf out;

/* ---- The code whose lines are recorded ---- */

static void leaf(void)
{
    sink++;
}

static void choose(int n)
{
    if (n > 1)
        leaf();
    sink++;
}

static void twice(void)
{
    for (int i = 1; i < 3; i++)
        choose(i);
}

static void jump(void)
{
    if (sink)
        longjmp(out, 1);
    sink++;
}

static void land(void)
{
    if (!setjmp(out))
        jump();
    leaf();
}

static int recurse(int depth)
{
    if (!depth)
        return 0;
    return recurse(depth - 1) + 1;
}

static void speak(void)
{
    if (sink)
        log_info("line");
}

/* ---- Recording ---- */

/* A filter of this program that has the lines of some functions, and calls of
 * all or of none. */
static struct trace_function_filter *filter_of(void (*const *functions)(void),
                                               size_t count, bool calls)
{
    size_t head = sizeof(struct trace_function_filter) +
                  sizeof(struct trace_filtered_module);
    struct trace_function_filter *filter;
    const struct trace_loaded *module;
    unsigned char *lines;
    char path[PATH_MAX];

    test_record_calls(TRACE_LIMIT_LEAST * 4);
    leaf();
    module = trace_calls.module;
    filter = calloc(1, head + 2 * (module->size + 1));
    cr_assert(filter && realpath("/proc/self/exe", path));
    lines = (unsigned char *)filter + head;
    for (size_t i = 0; i < count; i++)
        memset(lines + ((uintptr_t)functions[i] - module->low) + 1, 1,
               (uintptr_t)functions[i + 1] - (uintptr_t)functions[i]);
    filter->lines = 1;
    filter->module_count = 1;
    filter->modules[0] = (struct trace_filtered_module){
        trace_hash_string(TRACE_HASH, path), module->size,
        calls ? 0 : head + module->size + 1, head};
    trace_close();
    unlink(test_path("recording"));
    return filter;
}

/* Filters are used up to the end of the process. */
static struct trace_function_filter *filters[4];
static size_t filter_count;

/* Compilers place functions in the order of the file, or backwards. */
static void record(void (*function)(void), void (*next)(void), bool calls)
{
    void (*ends[])(void) = {function, next};

    if ((uintptr_t)next < (uintptr_t)function)
        cr_skip_test("the compiler has moved functions");
    filters[filter_count] = filter_of(ends, 1, calls);
    test_filter_calls(filters[filter_count++]);
}

/* Returns the names of all spans in order, each once in a row: compilers make
 * different blocks. */
static __attribute__((no_instrument_function)) const char *names(
    struct trace_text *text)
{
    struct trace_reader *reader = test_read();
    struct trace_entry entry;

    while (trace_reader_next(reader, &entry)) {
        const char *name = entry.site ? entry.site->name : "?";
        size_t length;

        if (entry.kind != TRACE_ENTRY_SPAN)
            continue;
        if (strchr(name, ':'))
            name = entry.site->function;
        length = strlen(name);
        if (text->size <= length ||
            strncmp(text->data + text->size - length - 1, name, length) != 0)
            trace_text_printf(text, "%s ", name);
    }
    return text->data ? text->data : "";
}

static __attribute__((no_instrument_function)) size_t count_spans(void)
{
    struct trace_reader *reader = test_read();
    struct trace_entry entry;
    size_t count = 0;

    while (trace_reader_next(reader, &entry))
        count += entry.kind == TRACE_ENTRY_SPAN;
    return count;
}

/* Returns how many blocks of choose() run. */
static __attribute__((no_instrument_function)) size_t blocks_of(int n)
{
    size_t count;

    record((void (*)(void))choose, twice, false);
    choose(n);
    count = count_spans();
    unlink(test_path("recording"));
    return count;
}

Test(trace_lines, records_the_blocks_of_a_function)
{
    size_t without = blocks_of(1), with = blocks_of(2);

    cr_expect_geq(without, 2, "the condition, and the rest");
    cr_expect_gt(with, without, "the call, too");
}

Test(trace_lines, nests_calls_in_lines)
{
    struct trace_text text = {0};

    record((void (*)(void))choose, twice, true);
    twice();
    cr_expect_str_eq(names(&text), "twice choose leaf choose ");
    trace_text_free(&text);
}

Test(trace_lines, ends_lines_that_a_jump_left)
{
    struct trace_reader *reader;
    struct trace_entry entry;
    uint64_t end = 0;

    record(jump, land, false);
    sink = 1;
    land();
    land();
    reader = test_read();
    for (size_t i = 0; trace_reader_next(reader, &entry); i++) {
        if (entry.kind != TRACE_ENTRY_SPAN)
            continue;
        cr_expect_geq(entry.time, end, "overlaps");
        cr_expect_eq(entry.span, 0);
        end = entry.end;
    }
}

Test(trace_lines, follows_recursion)
{
    struct trace_reader *reader;
    struct trace_entry entry, around;
    size_t depth = 0, most = 0;

    record((void (*)(void))recurse, speak, false);
    recurse(100);
    reader = test_read();
    while (trace_reader_next(reader, &entry)) {
        if (entry.kind != TRACE_ENTRY_SPAN)
            continue;
        for (depth = 1; trace_reader_span(reader, entry.span, &around); depth++)
            entry = around;
        most = depth > most ? depth : most;
    }
    cr_expect_eq(most, 101);
}

static void *run(void *unused)
{
    for (int i = 0; i < 100; i++)
        choose(2);
    return unused;
}

Test(trace_lines, records_each_thread)
{
    size_t blocks = blocks_of(2);
    pthread_t threads[4];

    record((void (*)(void))choose, twice, false);
    for (int i = 0; i < 4; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, run, NULL), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    cr_expect_eq(count_spans(), 4 * 100 * blocks);
}

Test(trace_lines, has_events_in_lines)
{
    struct trace_reader *reader;
    struct trace_entry entry, around;
    bool found = false;

    record(speak, (void (*)(void))((uintptr_t)speak + 200), false);
    sink = 1;
    speak();
    reader = test_read();
    while (trace_reader_next(reader, &entry))
        if (entry.kind == TRACE_ENTRY_EVENT &&
            trace_reader_span(reader, entry.span, &around)) {
            found = true;
            cr_expect_str_eq(around.site->function, "speak");
            cr_expect_eq(strncmp(around.site->target, "line::", 6), 0);
            cr_expect(strstr(around.site->name, "trace_lines_test.c:"));
        }
    cr_expect(found);
}
