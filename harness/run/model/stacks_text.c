/* stacks_text.c: formats the stacks of a test for people. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "harness/machine/notice.h"
#include "harness/run/model/test_stacks.h"
#include "trace/base/strings.h"
#include "trace/base/text.h"

struct printing {
    struct trace_text *out;
    const struct test_log_stacks *stacks;
    char *body; /* the function of the test, without "_impl"; NULL: unknown */
};

static void begin(struct printing *printing, struct trace_text *out,
                  const struct test_log_stacks *stacks,
                  const struct test_log_result *result)
{
    printing->out = out;
    printing->stacks = stacks;
    /* As Criterion names it, without the number of an instance. */
    if (asprintf(&printing->body, "%s_%.*s", result->suite ? result->suite : "",
                 (int)strcspn(result->test, "[#"), result->test) < 0)
        printing->body = NULL;
}

/* ---- Frames ---- */

static void put_frame(const struct printing *printing,
                      const struct test_log_frame *frame)
{
    struct trace_text *out = printing->out;
    char buffer[PATH_MAX];

    trace_text_string(out, "    ");
    if (frame->file[0] && frame->line[0])
        trace_text_printf(out,
                          "%s:%s: ", test_log_shown_path(frame->file, buffer),
                          frame->line);
    trace_text_string(out,
                      frame->function[0] ? frame->function : frame->address);
    if (!frame->file[0] && frame->module[0])
        trace_text_printf(out, " in %s + %s", trace_base_name(frame->module),
                          frame->offset);
    trace_text_string(out, frame->inlined ? " (inlined)\n" : "\n");
}

static void put_folded(const struct printing *printing, size_t count)
{
    if (count)
        trace_text_printf(printing->out, "    (%zu frame%s of the system)\n",
                          count, count == 1 ? "" : "s");
}

/* Returns how many frames from `frame` on repeat it, as a recursion does. */
static size_t repeats(const struct test_log_frame *frame,
                      const struct test_log_frame *end)
{
    const struct test_log_frame *next = frame + 1;

    while (next < end && !strcmp(frame->address, next->address) &&
           frame->inlined == next->inlined)
        next++;
    return (size_t)(next - frame) - 1;
}

/* Criterion calls the body of a theory through another function. */
static bool is_body(const struct printing *printing,
                    const struct test_log_frame *frame)
{
    size_t size = printing->body ? strlen(printing->body) : 0;
    const char *end = frame->function + size;

    return size && !strncmp(frame->function, printing->body, size) &&
           (!strcmp(end, "_impl") || !strcmp(end, "_theory"));
}

/* Of several system frames in a row, shows only the one that our code called.
 * Stops after the test's function. */
static void put_frames(const struct printing *printing,
                       const struct test_log_stack *stack)
{
    const struct test_log_frame *frame =
        printing->stacks->frames + stack->first;
    const struct test_log_frame *end = frame + stack->count;
    size_t folded = 0, same;

    for (; frame < end; frame++) {
        if (frame->system && (frame + 1 == end || frame[1].system)) {
            folded++;
            continue;
        }
        put_folded(printing, folded);
        folded = 0;
        put_frame(printing, frame);
        if (is_body(printing, frame))
            return;
        same = repeats(frame, end);
        if (same > 1) {
            trace_text_printf(printing->out, "    (the same %zu times more)\n",
                              same);
            frame += same;
        }
    }
    put_folded(printing, folded);
    if (stack->more)
        trace_text_string(printing->out, "    ... (and more)\n");
}

/* ---- Threads ---- */

/* A thread of Criterion's runs none of our code. The main thread is shown
 * anyway: inside clone3, its stack ends early. */
static bool is_system(const struct printing *printing,
                      const struct test_log_stack *stack)
{
    if (!strcmp(stack->thread, stack->process))
        return false;
    for (size_t i = 0; i < stack->count; i++)
        if (!printing->stacks->frames[stack->first + i].system)
            return false;
    return stack->count > 0;
}

static const char *verb_of(const struct test_log_stacks *stacks)
{
    return stacks->signal         ? ", which crashed"
           : stacks->thrown_again ? ", which threw it again"
                                  : ", which threw it";
}

static void put_stack(const struct printing *printing,
                      const struct test_log_stack *stack)
{
    trace_text_printf(printing->out, "  thread %s %s", stack->thread,
                      stack->name);
    if (stack->assertion[0])
        trace_text_printf(printing->out, ", assertion at %s", stack->assertion);
    else if (stack->crashed)
        trace_text_string(printing->out, verb_of(printing->stacks));
    else if (stack->waits[0])
        trace_text_printf(printing->out, ", waits for %s", stack->waits);
    trace_text_string(printing->out, ":\n");
    put_frames(printing, stack);
}

static void put_signal(struct trace_text *out, int number, const char *address,
                       const char *fault)
{
    trace_text_string(out, test_log_signal(number));
    if (address[0])
        trace_text_printf(out, " at %s", address);
    if (fault[0])
        trace_text_printf(out, ": %s", fault);
}

/* Adds "uncaught TYPE: TEXT", where `uncaught` may be another word. */
static void put_exception(const struct printing *printing, const char *uncaught)
{
    const struct test_log_stacks *stacks = printing->stacks;

    trace_text_printf(printing->out, "%s %s", uncaught, stacks->exception);
    if (stacks->what[0])
        trace_text_printf(printing->out, ": %s", stacks->what);
}

/* Adds the signal or the exception; `at`: with an address even if there is more
 * to say. */
static void put_cause(const struct printing *printing, bool at)
{
    const struct test_log_stacks *stacks = printing->stacks;
    struct trace_text *out = printing->out;

    if (!stacks->signal) {
        put_exception(printing, "uncaught");
        return;
    }
    put_signal(out, stacks->signal,
               at || !stacks->fault[0] ? stacks->address : "", stacks->fault);
    if (!stacks->fault[0] && stacks->exception[0])
        put_exception(printing, ": std::terminate after");
}

/* The signal alone is in the heading already. */
static void put_crash(const struct printing *printing)
{
    const struct test_log_stacks *stacks = printing->stacks;

    if (!stacks->exception[0] &&
        (!stacks->signal || !(stacks->address[0] || stacks->fault[0] ||
                              stacks->stack_count || stacks->note_count)))
        return;
    trace_text_string(printing->out, "  ");
    put_cause(printing, true);
    trace_text_char(printing->out, '\n');
}

/* ---- Children that crashed ---- */

static const struct test_log_stack *stack_of(
    const struct test_log_stacks *stacks, size_t child)
{
    for (size_t i = 0; i < stacks->stack_count; i++)
        if (stacks->stacks[i].child == child)
            return &stacks->stacks[i];
    return NULL;
}

/* Whether a child died where the one before it did; forks have the same
 * addresses. */
static bool is_repeated(const struct test_log_stacks *stacks,
                        const struct test_log_stack *stack)
{
    const struct test_log_stack *last =
        stack->child > 1 ? stack_of(stacks, stack->child - 1) : NULL;
    const struct test_log_frame *frames = stacks->frames;

    if (!last || !stack->count || last->count != stack->count)
        return false;
    for (size_t i = 0; i < stack->count; i++)
        if (strcmp(frames[last->first + i].address,
                   frames[stack->first + i].address) != 0)
            return false;
    return true;
}

static void put_child(const struct printing *printing, size_t number)
{
    const struct test_log_child *child =
        &printing->stacks->children[number - 1];
    const struct test_log_stack *stack = stack_of(printing->stacks, number);

    trace_text_printf(printing->out,
                      "  child process %s %s crashed: ", child->process,
                      child->name);
    put_signal(printing->out, child->signal, child->address, child->fault);
    trace_text_char(printing->out, '\n');
    if (child->note[0])
        trace_text_printf(printing->out, "    %s\n", child->note);
    if (stack && is_repeated(printing->stacks, stack))
        trace_text_literal(printing->out, "    (the same stack)\n");
    else if (stack)
        put_frames(printing, stack);
}

static void put_children(const struct printing *printing)
{
    const struct test_log_stacks *stacks = printing->stacks;
    size_t listed = stacks->child_count;
    size_t others = stacks->crashes > listed ? stacks->crashes - listed : 0;

    for (size_t i = 1; i <= listed; i++)
        put_child(printing, i);
    if (others)
        trace_text_printf(printing->out, "  %zu%s child process%s crashed\n",
                          others, listed ? " more" : "",
                          others == 1 ? "" : "es");
}

/* If the test itself makes the assertion, the assertion's line says it all. */
static bool is_obvious(const struct printing *printing,
                       const struct test_log_stack *stack)
{
    return stack->assertion[0] &&
           (!stack->count ||
            is_body(printing, &printing->stacks->frames[stack->first]));
}

/* The test's own process needs no heading. */
static void put_all(const struct printing *printing)
{
    const struct test_log_stacks *stacks = printing->stacks;
    const char *process = stacks->stack_count ? stacks->stacks->process : "";
    bool asserted = false;

    put_crash(printing);
    for (size_t i = 0; i < stacks->note_count; i++)
        trace_text_printf(printing->out, "  %s\n", stacks->notes[i]);
    for (size_t i = 0; i < stacks->stack_count; i++) {
        const struct test_log_stack *stack = &stacks->stacks[i];

        if (stack->child || is_system(printing, stack) ||
            is_obvious(printing, stack))
            continue;
        if (strcmp(process, stack->process))
            trace_text_printf(printing->out, "  child process %s:\n",
                              stack->process);
        process = stack->process;
        put_stack(printing, stack);
        asserted = asserted || stack->assertion[0];
    }
    if (asserted && stacks->limited[0])
        trace_text_printf(printing->out,
                          "  (only the first %s failed assertions have "
                          "a stack)\n",
                          stacks->limited);
    put_children(printing);
}

void test_log_stacks_text(struct trace_text *out,
                          const struct test_log_run *run,
                          const struct test_log_result *result)
{
    struct test_log_stacks stacks;
    struct printing printing;

    if (!test_log_stacks_read(&stacks, run, result))
        return;
    begin(&printing, out, &stacks, result);
    put_all(&printing);
    free(printing.body);
    test_log_stacks_free(&stacks);
}

/* ---- One line ---- */

/* Adds the innermost frame that is not the system's, after `before`, if its
 * function is known. */
static bool put_place(const struct printing *printing,
                      const struct test_log_stack *stack, const char *before)
{
    const struct test_log_frame *frame =
        printing->stacks->frames + stack->first;
    const struct test_log_frame *end = frame + stack->count;
    char buffer[PATH_MAX];

    while (frame < end && frame->system)
        frame++;
    if (frame == end || !frame->function[0])
        return false;
    trace_text_printf(printing->out, "%s in %s", before, frame->function);
    if (frame->file[0])
        trace_text_printf(printing->out, " (%s:%s)",
                          test_log_shown_path(frame->file, buffer),
                          frame->line);
    return true;
}

/* The stacks of failed assertions come before it. NULL: it is unknown. */
static const struct test_log_stack *crashed_stack(
    const struct test_log_stacks *stacks)
{
    for (size_t i = 0; i < stacks->stack_count; i++)
        if (stacks->stacks[i].crashed)
            return &stacks->stacks[i];
    return NULL;
}

/* Adds where the crash or the throw was; false if no function is known. */
static bool put_origin(const struct printing *printing)
{
    const struct test_log_stack *crashed = crashed_stack(printing->stacks);

    return crashed && put_place(printing, crashed, ",");
}

char *test_log_stacks_reason(const struct test_log_run *run,
                             const struct test_log_result *result,
                             const char *otherwise)
{
    struct test_log_stacks stacks;
    struct trace_text reason = {0};
    struct printing printing;

    if (!test_log_stacks_read(&stacks, run, result))
        return NULL;
    begin(&printing, &reason, &stacks, result);
    if (stacks.signal || stacks.exception[0]) {
        put_cause(&printing, false);
        if (!put_origin(&printing))
            trace_text_string(&reason, otherwise);
    }
    free(printing.body);
    test_log_stacks_free(&stacks);
    return reason.data;
}

char *test_log_stacks_thrown(const struct test_log_run *run,
                             const struct test_log_result *result)
{
    struct test_log_stacks stacks;
    struct trace_text place = {0};
    struct printing printing;

    if (!test_log_stacks_read(&stacks, run, result))
        return NULL;
    begin(&printing, &place, &stacks, result);
    if (!stacks.signal && stacks.exception[0])
        put_origin(&printing);
    free(printing.body);
    test_log_stacks_free(&stacks);
    return place.data;
}

static void put_thread(const struct printing *printing,
                       const struct test_log_stack *stack)
{
    struct trace_text *out = printing->out;

    if (!strcmp(stack->thread, printing->stacks->stacks->process))
        trace_text_literal(out, "main thread");
    else
        trace_text_printf(out, "thread %s",
                          stack->name[0] ? stack->name : stack->thread);
    put_place(printing, stack, "");
    if (stack->waits[0])
        trace_text_printf(out, ", waits for %s", stack->waits);
    trace_text_char(out, '\n');
}

void test_log_stacks_where(struct trace_text *out,
                           const struct test_log_run *run,
                           const struct test_log_result *result)
{
    struct test_log_stacks stacks;
    struct printing printing;

    if (result->outcome != TEST_LOG_OUTCOME_TIMEOUT ||
        !test_log_stacks_read(&stacks, run, result))
        return;
    begin(&printing, out, &stacks, result);
    for (size_t i = 0; i < stacks.stack_count; i++)
        if (!stacks.stacks[i].child && !is_system(&printing, &stacks.stacks[i]))
            put_thread(&printing, &stacks.stacks[i]);
    free(printing.body);
    test_log_stacks_free(&stacks);
}
