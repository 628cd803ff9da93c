/* stacks_json.c: writes the stacks of a test as JSON. */
#include <string.h>

#include "harness/run/model/test_stacks.h"
#include "trace/base/text.h"

static void put(struct trace_text *text, const char *name, const char *value)
{
    trace_text_printf(text, "\"%s\":", name);
    trace_json_string(text, value, strlen(value));
}

/* Adds a member unless its value is unknown. */
static void put_known(struct trace_text *text, const char *name,
                      const char *value)
{
    if (!value[0])
        return;
    trace_text_char(text, ',');
    put(text, name, value);
}

static void put_frame(struct trace_text *text,
                      const struct test_log_frame *frame)
{
    trace_text_char(text, '{');
    put(text, "address", frame->address);
    put_known(text, "function", frame->function);
    put_known(text, "file", frame->file);
    if (strspn(frame->line, "0123456789") == strlen(frame->line) &&
        frame->line[0])
        trace_text_printf(text, ",\"line\":%s", frame->line);
    put_known(text, "module", frame->module);
    put_known(text, "offset", frame->offset);
    if (frame->inlined)
        trace_text_string(text, ",\"inlined\":true");
    trace_text_char(text, '}');
}

static void put_stack(struct trace_text *text,
                      const struct test_log_stacks *stacks,
                      const struct test_log_stack *stack)
{
    trace_text_char(text, '{');
    put(text, "process", stack->process);
    put_known(text, "thread", stack->thread);
    put_known(text, "name", stack->name);
    put_known(text, "waits_for", stack->waits);
    put_known(text, "assertion", stack->assertion);
    if (stack->crashed && !stacks->signal)
        trace_text_string(text, ",\"threw\":true");
    else if (stack->crashed || stack->child)
        trace_text_string(text, ",\"crashed\":true");
    trace_text_string(text, ",\"frames\":[");
    for (size_t i = 0; i < stack->count; i++) {
        if (i)
            trace_text_char(text, ',');
        put_frame(text, &stacks->frames[stack->first + i]);
    }
    trace_text_string(text, stack->more ? "],\"more\":true}" : "]}");
}

static void put_exception(struct trace_text *text,
                          const struct test_log_stacks *stacks)
{
    trace_text_literal(text, ",\"exception\":{");
    put(text, "type", stacks->exception);
    put_known(text, "what", stacks->what);
    trace_text_char(text, '}');
}

static void put_signal(struct trace_text *text, int number, const char *address,
                       const char *fault)
{
    put(text, "signal", test_log_signal(number));
    put_known(text, "address", address);
    put_known(text, "fault", fault);
    trace_text_char(text, '}');
}

static void put_children(struct trace_text *text,
                         const struct test_log_stacks *stacks)
{
    trace_text_printf(text, ",\"child_crashes\":%zu,\"crashed_children\":[",
                      stacks->crashes);
    for (size_t i = 0; i < stacks->child_count; i++) {
        const struct test_log_child *child = &stacks->children[i];

        trace_text_string(text, i ? ",{" : "{");
        put(text, "process", child->process);
        put_known(text, "name", child->name);
        put_known(text, "note", child->note);
        trace_text_char(text, ',');
        put_signal(text, child->signal, child->address, child->fault);
    }
    trace_text_char(text, ']');
}

void test_log_stacks_members(struct trace_text *text,
                             const struct test_log_run *run,
                             const struct test_log_result *result)
{
    struct test_log_stacks stacks;

    if (!test_log_stacks_read(&stacks, run, result))
        return;
    if (stacks.signal) {
        trace_text_string(text, ",\"crash\":{");
        put_signal(text, stacks.signal, stacks.address, stacks.fault);
    }
    if (stacks.exception[0])
        put_exception(text, &stacks);
    if (stacks.child_count)
        put_children(text, &stacks);
    trace_text_string(text, ",\"stacks\":[");
    for (size_t i = 0; i < stacks.stack_count; i++) {
        if (i)
            trace_text_char(text, ',');
        put_stack(text, &stacks, &stacks.stacks[i]);
    }
    trace_text_char(text, ']');
    test_log_stacks_free(&stacks);
}
