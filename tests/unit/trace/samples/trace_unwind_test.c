/* trace_unwind_test.c: the callers in a copy of a stack. */
#include "tests/support/support.h"

#include "trace/read/reader.h"
#include "trace/samples/sampled.h"

#include <criterion/criterion.h>
#include <string.h>

/* Code of 0x100 bytes for each of three functions, at 0x10000. */
enum { CODE = 0x10000, STACK = 0x7000, FRAMES = 8 };

static struct trace_frame_rules rules[3];

static const struct trace_frame_rules *find(
    const struct trace_module_file *file, uint64_t place)
{
    cr_expect_str_eq(file->path, "/program");
    return place / 0x100 < 3 ? &rules[place / 0x100] : NULL;
}

static uint64_t stack[16];
static struct trace_perf_event event;
static struct trace_stack_frame frames[FRAMES];

static size_t unwind(void)
{
    static const struct trace_resolver resolver = {.rules = find};
    static char path[] = "/program";
    struct trace_sampled_image image = {.path = path};
    struct trace_sampled_map map = {CODE, CODE + 0x1000, 0, 1};
    struct trace_sampled_process process = {.maps = &map, .map_count = 1};
    struct trace_sampler sampler = {.images = &image, .image_count = 1};

    trace_resolve_with(&resolver);
    event.stack = (const unsigned char *)stack;
    event.stack_size = sizeof(stack);
    event.stack_pointer = STACK;
    return trace_sampled_unwind(&sampler, &process, &event, frames, FRAMES);
}

static const struct trace_saved at_8 = {TRACE_SAVED_ON_STACK, -8};

/* A leaf, a function with a frame of two words, and one with a frame pointer.
 */
static void prepare(void)
{
    rules[0] = (struct trace_frame_rules){
        .offset = 8, .back = at_8, .frame = {TRACE_SAVED_SAME, 0}};
    rules[1] = (struct trace_frame_rules){
        .offset = 24, .back = at_8, .frame = {TRACE_SAVED_SAME, 0}};
    rules[2] = (struct trace_frame_rules){.by_frame = true,
                                          .offset = 16,
                                          .back = at_8,
                                          .frame = {TRACE_SAVED_ON_STACK, -16}};
    memset(stack, 0, sizeof(stack));
    event = (struct trace_perf_event){.at = CODE + 0x10,
                                      .frame_pointer = STACK + 6 * 8};
    stack[0] = CODE + 0x110;
    stack[3] = CODE + 0x210;
}

TestSuite(trace_unwind, .init = prepare);

Test(trace_unwind, finds_callers)
{
    cr_assert_eq(unwind(), 3);
    cr_expect_eq(frames[0].place, 0x10);
    cr_expect_eq(frames[1].place, 0x10f, "a return address is behind its call");
    cr_expect_eq(frames[2].place, 0x20f);
}

Test(trace_unwind, follows_saved_frame_pointers)
{
    stack[6] = STACK + 9 * 8;
    stack[7] = CODE + 0x220;
    stack[9] = 0;
    stack[10] = CODE + 0x230;
    cr_expect_eq(unwind(), 5);
    cr_expect_eq(frames[4].place, 0x22f);
}

Test(trace_unwind, reads_frames_whose_address_is_stored)
{
    rules[1] =
        (struct trace_frame_rules){.indirect = true, .offset = 0, .back = at_8};
    stack[1] = STACK + 4 * 8;
    cr_assert_eq(unwind(), 3);
    cr_expect_eq(frames[2].place, 0x20f);
}

Test(trace_unwind, reads_return_addresses_in_a_register)
{
    rules[0].back = (struct trace_saved){TRACE_SAVED_SAME, 0};
    rules[0].offset = 0;
    rules[1].offset = 32;
    event.link = CODE + 0x120;
    cr_assert_eq(unwind(), 3);
    cr_expect_eq(frames[1].place, 0x11f);
    rules[1] = rules[0];
    cr_expect_eq(unwind(), 2, "the register has one return address");
}

Test(trace_unwind, ends_where_the_copy_ends)
{
    rules[1].offset = 1 << 20;
    cr_expect_eq(unwind(), 2);
    rules[1].offset = -(1 << 20);
    cr_expect_eq(unwind(), 2);
    rules[1].offset = INT64_MIN;
    cr_expect_eq(unwind(), 2);
}

Test(trace_unwind, ends_with_the_last_function)
{
    rules[2].back.how = TRACE_SAVED_NOWHERE;
    cr_expect_eq(unwind(), 3);
    stack[3] = CODE + 0x310;
    cr_expect_eq(unwind(), 3, "code without rules");
    stack[3] = 1;
    cr_expect_eq(unwind(), 2, "no code");
}

/* A stack that leads in a circle would never end. */
Test(trace_unwind, goes_up_only)
{
    rules[0].offset = 0;
    cr_expect_eq(unwind(), 1);
    rules[0].offset = 8;
    rules[1].offset = -8;
    cr_expect_eq(unwind(), 2);
}

Test(trace_unwind, survives_any_stack)
{
    for (int round = 0; round < 20000; round++) {
        for (size_t i = 0; i < sizeof(stack) / sizeof(*stack); i++)
            stack[i] = test_random() % 2 ? CODE + test_random() % 0x300
                                         : STACK + test_random() % 256;
        for (int i = 0; i < 3; i++)
            rules[i] = (struct trace_frame_rules){
                .by_frame = test_random() % 2,
                .indirect = test_random() % 4 == 0,
                .offset = (int64_t)(test_random() % 256) - 64,
                .back = {test_random() % 3, (int64_t)(test_random() % 64) - 48},
                .frame = {test_random() % 3,
                          (int64_t)(test_random() % 64) - 48},
            };
        cr_assert_leq(unwind(), FRAMES);
    }
}
