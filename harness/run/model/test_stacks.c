/* test_stacks.c: reads the stacks of a test. runners/stacks/stacks.h describes
 * the file.
 */
#include <stdlib.h>
#include <string.h>

#include "harness/machine/tsv.h"
#include "harness/run/folder/run_folder.h"
#include "harness/run/model/system_modules.h"
#include "harness/run/model/test_stacks.h"
#include "trace/base/containers.h"
#include "trace/base/strings.h"

enum { PARTS = 8 };

struct reading {
    struct test_log_stacks *stacks;
    const char *process;   /* of the threads that follow */
    const char *crashed;   /* id of the thread that did or threw; "": none */
    const char *assertion; /* of the next thread; "": none */
};

/* ---- Frames ---- */

static struct test_log_stack *last_stack(const struct reading *reading)
{
    struct test_log_stacks *stacks = reading->stacks;

    return stacks->stack_count ? &stacks->stacks[stacks->stack_count - 1]
                               : NULL;
}

/* Tells whether a throw calls a function, up to std::terminate if nothing
 * catches the exception. */
static bool throws(const char *function)
{
    static const char *const begins[] = {"__cxa_throw",
                                         "__cxa_rethrow",
                                         "std::rethrow_exception",
                                         "_Unwind_RaiseException",
                                         "_Unwind_Resume",
                                         "__clang_call_terminate",
                                         "std::terminate"};

    for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++)
        if (!strncmp(function, begins[i], strlen(begins[i])))
            return true;
    return false;
}

/* Tells whether a function starts a program or a part of a test: neither it nor
 * its callers belong to the test. It may be in a library or, linked statically,
 * in the program. */
static bool starts(const char *function)
{
    static const char *const names[] = {
        "criterion_internal_test_setup", "criterion_internal_test_teardown",
        "criterion_internal_test_main",  "test_log_watch_exceptions",
        "test_log_trampoline",           "_start"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (!strcmp(function, names[i]))
            return true;
    return strstr(function, "testing::internal::Handle"); /* GoogleTest's */
}

/* The handler of a signal and the functions of an assertion or a throw are not
 * the test's, and neither is what they call. */
static bool is_ours(const struct test_log_stacks *stacks,
                    const struct test_log_stack *stack,
                    const struct test_log_frame *frame)
{
    if (stack->assertion[0])
        return !strcmp(frame->function, "criterion_send_assert") ||
               !strcmp(frame->function, "cri_assert_node_send") ||
               !strcmp(frame->function, "test_log_expect_");
    return stack->crashed &&
           (frame->signal || (stacks->exception[0] && throws(frame->function)));
}

static void add_frame(struct reading *reading, char *parts[PARTS])
{
    struct test_log_stacks *stacks = reading->stacks;
    struct test_log_stack *stack = last_stack(reading);
    size_t number = stacks->frame_count;

    if (!stack || !TRACE_ARRAY_RESERVE(stacks->frames, stacks->frame_capacity,
                                       number + 1))
        return;
    stacks->frame_count++;
    stack->count++;
    stack->started = stack->started || starts(parts[2]);
    stacks->frames[number] = (struct test_log_frame){
        .address = parts[1],
        .function = parts[2],
        .file = parts[3],
        .line = parts[4],
        .module = parts[5],
        .offset = parts[6],
        .inlined = strchr(parts[7], 'i'),
        .signal = strchr(parts[7], 's'),
        .system = stack->started || test_log_is_system_module(parts[5]) ||
                  test_log_is_system_header(parts[3]),
    };
    if (is_ours(stacks, stack, &stacks->frames[number])) {
        stack->first = stacks->frame_count;
        stack->count = 0;
    }
}

/* ---- Lines ---- */

static void add_stack(struct reading *reading, char *parts[PARTS])
{
    struct test_log_stacks *stacks = reading->stacks;

    if (!TRACE_ARRAY_RESERVE(stacks->stacks, stacks->stack_capacity,
                             stacks->stack_count + 1))
        return;
    stacks->stacks[stacks->stack_count++] = (struct test_log_stack){
        .process = reading->process,
        .thread = parts[1],
        .name = parts[2],
        .waits = parts[4],
        .assertion = reading->assertion,
        .first = stacks->frame_count,
        .crashed = !stacks->child_count && reading->crashed[0] &&
                   !strcmp(parts[1], reading->crashed),
        .child = stacks->child_count,
    };
    reading->assertion = "";
}

static struct test_log_child *last_child(const struct test_log_stacks *stacks)
{
    return stacks->child_count ? &stacks->children[stacks->child_count - 1]
                               : NULL;
}

/* The next lines are about the child. */
static void add_child(struct test_log_stacks *stacks, char *parts[PARTS])
{
    if (TRACE_ARRAY_RESERVE(stacks->children, stacks->child_capacity,
                            stacks->child_count + 1))
        stacks->children[stacks->child_count++] =
            (struct test_log_child){.process = parts[1],
                                    .name = parts[2],
                                    .address = "",
                                    .fault = "",
                                    .note = ""};
}

/* A signal that was sent has no address. */
static void set_crash(struct reading *reading, char *parts[PARTS])
{
    struct test_log_child *child = last_child(reading->stacks);
    const char *address = atoi(parts[2]) > 0 ? parts[3] : "";

    if (child) {
        child->signal = atoi(parts[1]);
        child->address = address;
        return;
    }
    reading->stacks->signal = atoi(parts[1]);
    reading->stacks->address = address;
    reading->crashed = parts[4];
}

static void take_line(struct reading *reading, char *line)
{
    struct test_log_stacks *stacks = reading->stacks;
    struct test_log_stack *stack = last_stack(reading);
    struct test_log_child *child = last_child(stacks);
    char *parts[PARTS];

    test_log_tsv_cut(line, parts, PARTS);
    if (!strcmp(parts[0], "frame")) {
        add_frame(reading, parts);
    } else if (!strcmp(parts[0], "thread")) {
        add_stack(reading, parts);
    } else if (!strcmp(parts[0], "process")) {
        reading->process = parts[1];
    } else if (!strcmp(parts[0], "note") && child) {
        child->note = parts[1];
    } else if (!strcmp(parts[0], "note")) {
        if (TRACE_ARRAY_RESERVE(stacks->notes, stacks->note_capacity,
                                stacks->note_count + 1))
            stacks->notes[stacks->note_count++] = parts[1];
    } else if (!strcmp(parts[0], "assertion")) {
        reading->assertion = parts[1];
    } else if (!strcmp(parts[0], "limited")) {
        stacks->limited = parts[1];
    } else if (!strcmp(parts[0], "crash")) {
        set_crash(reading, parts);
    } else if (!strcmp(parts[0], "throw")) {
        reading->crashed = parts[1];
        stacks->thrown_again = parts[2][0];
    } else if (!strcmp(parts[0], "exception")) {
        stacks->exception = parts[1];
        stacks->what = parts[2];
    } else if (!strcmp(parts[0], "fault")) {
        *(child ? &child->fault : &stacks->fault) = parts[1];
    } else if (!strcmp(parts[0], "child")) {
        add_child(stacks, parts);
    } else if (!strcmp(parts[0], "alive")) {
        stacks->alive = parts[1];
    } else if (!strcmp(parts[0], "crashes")) {
        stacks->crashes = strtoul(parts[1], NULL, 10);
    } else if (!strcmp(parts[0], "more") && stack) {
        stack->more = true;
    }
}

bool test_log_stacks_read(struct test_log_stacks *stacks,
                          const struct test_log_run *run,
                          const struct test_log_result *result)
{
    FILE *in = test_log_read(run, result, TEST_LOG_STACKS_FILE);
    struct reading reading = {NULL, "", "", ""};
    char bytes[4096], *rest, *line;
    size_t size;

    *stacks = (struct test_log_stacks){
        .address = "", .fault = "", .exception = "", .what = "", .limited = ""};
    reading.stacks = stacks;
    if (!in)
        return false;
    while ((size = fread(bytes, 1, sizeof(bytes), in)))
        trace_text_add(&stacks->text, bytes, size);
    fclose(in);
    rest = stacks->text.data;
    while (rest && (line = strsep(&rest, "\n")))
        take_line(&reading, line);
    return true;
}

void test_log_stacks_free(struct test_log_stacks *stacks)
{
    free(stacks->stacks);
    free(stacks->frames);
    free(stacks->children);
    free(stacks->notes);
    trace_text_free(&stacks->text);
}

char *test_log_stacks_alive(const struct test_log_run *run,
                            const struct test_log_result *result)
{
    struct test_log_stacks stacks;
    char *alive;

    if (!test_log_stacks_read(&stacks, run, result))
        return NULL;
    alive = stacks.alive ? strdup(stacks.alive) : NULL;
    test_log_stacks_free(&stacks);
    return alive;
}
