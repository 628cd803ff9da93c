/* trace_call_filter_test.c: calls that a filter leaves out. The file is built
 * with functions_cflags. */
#include "tests/support/calls.h"

#include "trace/base/strings.h"
#include "trace/calls/calls.h"

#include <criterion/criterion.h>
#include <limits.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

TestSuite(trace_call_filter, .init = test_folder);

static volatile int sink;
static jmp_buf out;

static void leaf(void)
{
    sink++;
}

static void logging(void)
{
    log_info("line");
}

static void twice(void)
{
    leaf();
    leaf();
}

static void work(void)
{
    twice();
    logging();
    leaf();
}

/* ---- Names ---- */

enum { MODULE = 16 << 20 };

/* A filter of this program, with all functions but some. */
static struct trace_function_filter *filter_without(
    void (*const *functions)(void), size_t count)
{
    size_t head = sizeof(struct trace_function_filter) +
                  sizeof(struct trace_filtered_module);
    struct trace_function_filter *filter = calloc(1, head + MODULE);
    const struct trace_loaded *module;
    unsigned char *wanted;
    char path[PATH_MAX];

    cr_assert(filter && realpath("/proc/self/exe", path));
    wanted = (unsigned char *)filter + head;
    test_record_calls(TRACE_LIMIT_LEAST * 4);
    leaf();
    module = trace_calls.module;
    cr_assert_lt(module->size >> TRACE_WANTED_SHIFT, MODULE);
    memset(wanted, 1, MODULE);
    for (size_t i = 0; i < count; i++)
        wanted[((uintptr_t)functions[i] - module->low) >> TRACE_WANTED_SHIFT] =
            0;
    filter->module_count = 1;
    filter->modules[0] = (struct trace_filtered_module){
        trace_hash_string(TRACE_HASH, path), module->size, head, 0};
    trace_close();
    unlink(test_path("recording"));
    return filter;
}

Test(trace_call_filter, leaves_out_functions)
{
    static void (*const unwanted[])(void) = {twice, logging};
    struct trace_function_filter *filter = filter_without(unwanted, 2);

    test_filter_calls(filter);
    work();
    test_expect_paths("work", "leaf\nleaf\nline\nleaf\n");
    free(filter);
}

/* The filter lists no module. */
Test(trace_call_filter, knows_what_other_modules_are_for)
{
    static const struct trace_function_filter all = {.others = 1}, none;
    struct trace_reader *reader;

    test_filter_calls(&none);
    work();
    reader = test_read();
    cr_expect_eq(test_count(reader, TRACE_ENTRY_SPAN, "leaf"), 0);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EVENT, "line"), 1);
    unlink(test_path("recording"));
    test_filter_calls(&all);
    work();
    test_expect_paths("work", "twice\ntwice/leaf\ntwice/leaf\nlogging\n"
                              "logging/line\nleaf\n");
}

/* ---- Depth ---- */

static void down(int depth)
{
    if (depth > 1)
        down(depth - 1);
    leaf();
}

Test(trace_call_filter, records_calls_up_to_a_depth)
{
    static const struct trace_function_filter two = {.depth = 2, .others = 1};

    test_filter_calls(&two);
    down(3);
    test_expect_paths("down", "leaf\n");
}

/* More than the first memory of the shadow stack has room for. */
Test(trace_call_filter, records_calls_up_to_a_great_depth)
{
    static const struct trace_function_filter deep = {.depth = 5000,
                                                      .others = 1};

    test_filter_calls(&deep);
    down(6000);
    cr_expect_eq(test_count(test_read(), TRACE_ENTRY_SPAN, "down"), 5000);
}

static void jump(void)
{
    longjmp(out, 1);
}

/* Calls that longjmp has left do not count. */
Test(trace_call_filter, counts_the_depth_of_open_calls)
{
    static const struct trace_function_filter two = {.depth = 2, .others = 1};

    test_filter_calls(&two);
    for (volatile int i = 0; i < 10; i++)
        if (!setjmp(out))
            jump();
    twice();
    cr_expect_eq(test_count(test_read(), TRACE_ENTRY_SPAN, "leaf"), 2);
}

/* ---- Length ---- */

Test(trace_call_filter, takes_short_calls_back_unless_something_is_in_them)
{
    static const struct trace_function_filter longer = {.least = UINT32_MAX - 1,
                                                        .others = 1};

    test_filter_calls(&longer);
    work();
    test_expect_paths("work", "logging\nlogging/line\n");
}

Test(trace_call_filter, uses_the_space_of_short_calls_again)
{
    static const struct trace_function_filter longer = {.least = UINT32_MAX - 1,
                                                        .others = 1};
    struct trace_reader *reader;

    test_filter_calls(&longer);
    for (int i = 0; i < 1000000; i++)
        leaf();
    reader = test_read();
    cr_expect_eq(trace_reader_calls_lost(reader), 0);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_SPAN, "leaf"), 0);
}

/* ---- Several recordings ---- */

/* Each needs the modules again, even if it lies where the last one did. */
Test(trace_call_filter, names_the_functions_of_each_recording)
{
    static const struct trace_function_filter none;

    for (int i = 0; i < 4; i++) {
        if (i % 2)
            test_filter_calls(&none);
        else
            test_record_calls(TRACE_LIMIT_LEAST * 4);
        leaf();
        cr_expect_eq(test_count(test_read(), TRACE_ENTRY_SPAN, "leaf"),
                     !(i % 2), "%d", i);
        unlink(test_path("recording"));
        munmap(trace_recording.header, trace_recording.map_size);
        trace_recording.header = NULL;
    }
}
