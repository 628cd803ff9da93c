/* sample_rows.c: samples: a tree of stacks, and the stack of each sample. */
#include <stddef.h>
#include <stdlib.h>

#include "harness/run/page/recorded.h"
#include "trace/samples/samples.h"

const struct test_log_table_kind test_log_stack_kind = {
    "stacks",
    5,
    {{"caller", TEST_LOG_NUMBER},
     {"name", TEST_LOG_NUMBER},
     {"file", TEST_LOG_NUMBER},
     {"line", TEST_LOG_NUMBER},
     {"self", TEST_LOG_NUMBER}}};

const struct test_log_table_kind test_log_sample_kind = {
    "samples",
    4,
    {{"time", TEST_LOG_DELTA},
     {"track", TEST_LOG_NUMBER},
     {"stack", TEST_LOG_NUMBER},
     {"weight", TEST_LOG_NUMBER}}};

/* A page draws no more. */
enum { STACKS_MOST = 200000, SAMPLES_MOST = 200000 };

/* A frame below its caller. */
struct stack {
    uint32_t caller; /* number + 1; 0: none */
    uint32_t name, file, line;
    uint64_t self; /* ns */
};

struct stacks {
    struct test_log_recorded *recorded;
    struct stack *all;
    size_t count, capacity;
    struct trace_table by_frame; /* hashes of caller, name, file and line */
    struct trace_table by_place; /* of recorded stacks: to numbers + 1 */
};

/* Returns the number + 1 of a frame below its caller; that of the caller if
 * there is no space. */
static uint32_t add_frame(struct stacks *stacks, uint32_t caller,
                          const struct trace_stack_frame *frame)
{
    struct test_log_recorded *recorded = stacks->recorded;
    struct trace_text *text = &recorded->text;
    struct trace_function_name function;
    struct stack stack = {.caller = caller};
    uintptr_t number;
    uint64_t key;

    trace_text_clear(text);
    trace_name_frame(text, recorded->reader, frame, &function);
    stack.name =
        test_log_strings_add(&recorded->strings, text->data, text->size);
    stack.file = test_log_strings_of(&recorded->strings, function.file);
    stack.line = function.line;
    key = trace_hash(TRACE_HASH, &stack, offsetof(struct stack, self));
    if (trace_table_find(&stacks->by_frame, key, &number))
        return (uint32_t)number;
    number = stacks->count + 1;
    if (number > STACKS_MOST ||
        !TRACE_ARRAY_RESERVE(stacks->all, stacks->capacity, number) ||
        !trace_table_set(&stacks->by_frame, key, number))
        return caller;
    stacks->all[stacks->count++] = stack;
    return (uint32_t)number;
}

/* Returns the number + 1 of the innermost frame of a stack, 0 without one. */
static uint32_t stack_of(struct stacks *stacks, uint32_t place)
{
    const struct trace_stack_frame *frames;
    uintptr_t known;
    uint32_t stack = 0;
    size_t count;

    if (trace_table_find(&stacks->by_place, place, &known))
        return (uint32_t)known;
    count = trace_reader_stack(stacks->recorded->reader, place, &frames);
    while (count--)
        stack = add_frame(stacks, stack, &frames[count]);
    trace_table_set(&stacks->by_place, place, stack);
    return stack;
}

static size_t count_of(const struct trace_reader *reader)
{
    struct trace_sample_cursor cursor = {0};
    struct trace_sample sample;
    size_t count = 0;

    while (trace_reader_sample(reader, &cursor, &sample))
        count++;
    return count;
}

/* Of very many samples, only some have a row, which stands for the others. */
void test_log_samples_put(struct test_log_recorded *recorded)
{
    struct stacks stacks = {.recorded = recorded};
    uint64_t step = count_of(recorded->reader) / SAMPLES_MOST + 1;
    struct trace_sample_cursor cursor = {0};
    struct trace_sample sample;

    for (uint64_t i = 0;
         trace_reader_sample(recorded->reader, &cursor, &sample); i++) {
        const struct trace_entry entry = {.kind = TRACE_ENTRY_EVENT,
                                          .thread = sample.thread};
        uint32_t stack = stack_of(&stacks, sample.stack);

        if (!stack)
            continue;
        stacks.all[stack - 1].self += sample.weight;
        if (i % step == 0)
            TEST_LOG_ROW(&recorded->tables[TEST_LOG_SAMPLES], sample.time,
                         test_log_track_of(recorded, &entry), stack - 1,
                         sample.weight * step);
    }
    for (size_t i = 0; i < stacks.count; i++) {
        const struct stack *stack = &stacks.all[i];

        TEST_LOG_ROW(&recorded->tables[TEST_LOG_STACKS], stack->caller,
                     stack->name, stack->file, stack->line, stack->self);
    }
    free(stacks.all);
    trace_table_free(&stacks.by_frame);
    trace_table_free(&stacks.by_place);
}
