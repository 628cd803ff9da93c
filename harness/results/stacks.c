/* stacks.c: formats the stacks of a test for people.
 *
 * runners/stacks/stacks.h describes the file. A test may have damaged it.
 */
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/results/notice.h"
#include "harness/results/run_folder.h"
#include "harness/results/stacks.h"
#include "trace/strings.h"

enum { PARTS = 8, FRAMES = 64 };

struct frame {
    char *function, *file, *line, *module, *offset, *address;
    bool inlined, signal;
};

struct stacks {
    struct trace_text *out;
    char *body;          /* the function of the test */
    const char *crashed; /* id of the thread that crashed; "": none */
    const char *fault;   /* what is at the address; "": unknown */
    int signal;          /* that it crashed with; 0: none */
    const char *address; /* "": the signal has none */
    const char *process; /* whose heading is not printed yet */
    size_t processes;
    char folder[PATH_MAX];
    char *thread[PARTS]; /* the one whose frames follow */
    struct frame frames[FRAMES];
    size_t count;
    bool more;
};

/* Splits a line into parts, at tabs; parts that are missing are "". */
static void split(char *line, char *parts[PARTS])
{
    for (size_t i = 0; i < PARTS; i++)
        parts[i] = line ? strsep(&line, "\t") : (char *)"";
}

/* ---- Frames ---- */

static const char *relative(const struct stacks *stacks, const char *path)
{
    size_t size = strlen(stacks->folder);

    return size && !strncmp(path, stacks->folder, size) && path[size] == '/'
               ? path + size + 1
               : path;
}

static void put_frame(struct stacks *stacks, const struct frame *frame)
{
    struct trace_text *out = stacks->out;

    trace_text_string(out, "    ");
    if (frame->file[0] && frame->line[0])
        trace_text_printf(out, "%s:%s: ", relative(stacks, frame->file),
                          frame->line);
    trace_text_string(out,
                      frame->function[0] ? frame->function : frame->address);
    if (!frame->file[0] && frame->module[0])
        trace_text_printf(out, " in %s + %s", trace_base_name(frame->module),
                          frame->offset);
    trace_text_string(out, frame->inlined ? " (inlined)\n" : "\n");
}

/* X(begin of a module's base name): modules of the system and of Criterion. */
#define SYSTEM_MODULES(X)                                                      \
    X("libc.so")                                                               \
    X("libc-")                                                                 \
    X("libpthread")                                                            \
    X("ld-linux")                                                              \
    X("libcriterion")                                                          \
    X("libboxfort")                                                            \
    X("libnanomsg")                                                            \
    X("libtestlog")

static bool is_system(const struct frame *frame)
{
    const char *name = trace_base_name(frame->module);

#define TEST_LOG_X(begin)                                                      \
    if (!strncmp(name, begin, strlen(begin)))                                  \
        return true;
    SYSTEM_MODULES(TEST_LOG_X)
#undef TEST_LOG_X
    return false;
}

/* A thread of Criterion's, which ran none of our code. */
static bool is_system_thread(const struct stacks *stacks)
{
    for (size_t i = 0; i < stacks->count; i++)
        if (!is_system(&stacks->frames[i]))
            return false;
    return stacks->count > 0;
}

/* Leaves out the signal's handler, which is ours. */
static size_t first_frame(const struct stacks *stacks)
{
    size_t first = 0;

    if (!stacks->thread[0] || !strcmp(stacks->thread[1], stacks->crashed))
        for (size_t i = 0; i < stacks->count; i++)
            if (stacks->frames[i].signal)
                first = i + 1;
    return first < stacks->count ? first : 0;
}

static bool is_body(const struct stacks *stacks, const struct frame *frame)
{
    return stacks->body && !strcmp(frame->function, stacks->body);
}

static void put_folded(struct stacks *stacks, size_t count)
{
    if (count)
        trace_text_printf(stacks->out, "    (%zu frame%s of the system)\n",
                          count, count == 1 ? "" : "s");
}

static bool same_frame(const struct frame *one, const struct frame *other)
{
    return !strcmp(one->address, other->address) &&
           one->inlined == other->inlined;
}

/* Returns how many frames from number `i` on repeat it, as a recursion does. */
static size_t repeats(const struct stacks *stacks, size_t i)
{
    size_t end = i + 1;

    while (end < stacks->count &&
           same_frame(&stacks->frames[i], &stacks->frames[end]))
        end++;
    return end - i - 1;
}

/* Of the system's frames in a row, the one that our code called is shown. What
 * called the test is left out. */
static void put_frames(struct stacks *stacks)
{
    size_t folded = 0, repeated;

    for (size_t i = first_frame(stacks); i < stacks->count; i++) {
        const struct frame *frame = &stacks->frames[i];
        const struct frame *next = i + 1 < stacks->count ? frame + 1 : NULL;

        if (is_system(frame) && (!next || is_system(next))) {
            folded++;
            continue;
        }
        put_folded(stacks, folded);
        folded = 0;
        put_frame(stacks, frame);
        if (is_body(stacks, frame))
            return;
        repeated = repeats(stacks, i);
        if (repeated > 1) {
            trace_text_printf(stacks->out, "    (the same %zu times more)\n",
                              repeated);
            i += repeated;
        }
    }
    put_folded(stacks, folded);
    if (stacks->more)
        trace_text_printf(stacks->out, "    ... (more than %d frames)\n",
                          FRAMES);
}

/* ---- Threads ---- */

/* The test's own process needs no heading. */
static void put_process(struct stacks *stacks)
{
    if (stacks->processes > 1 && stacks->process)
        trace_text_printf(stacks->out, "  child process %s:\n",
                          stacks->process);
    stacks->process = NULL;
}

static void put_stack(struct stacks *stacks)
{
    char *const *thread = stacks->thread;

    put_process(stacks);
    trace_text_printf(stacks->out, "  thread %s %s", thread[1], thread[2]);
    if (!strcmp(thread[1], stacks->crashed))
        trace_text_string(stacks->out, ", which crashed");
    else if (thread[4][0])
        trace_text_printf(stacks->out, ", waits for %s", thread[4]);
    trace_text_string(stacks->out, ":\n");
    put_frames(stacks);
}

static void put_thread(struct stacks *stacks)
{
    if (!stacks->thread[0])
        return;
    if (!is_system_thread(stacks))
        put_stack(stacks);
    stacks->count = 0;
    stacks->more = false;
    stacks->thread[0] = NULL;
}

/* A signal that was sent has no address. */
static void take_crash(struct stacks *stacks, char *parts[PARTS])
{
    stacks->signal = atoi(parts[1]);
    stacks->address = atoi(parts[2]) > 0 ? parts[3] : "";
    stacks->crashed = parts[4];
}

static void put_crash(struct stacks *stacks)
{
    if (!stacks->signal)
        return;
    trace_text_printf(stacks->out, "  %s", test_log_signal(stacks->signal));
    if (stacks->address[0])
        trace_text_printf(stacks->out, " at %s", stacks->address);
    if (stacks->fault[0])
        trace_text_printf(stacks->out, ": %s", stacks->fault);
    trace_text_char(stacks->out, '\n');
}

static void take_frame(struct stacks *stacks, char *parts[PARTS])
{
    if (stacks->count < FRAMES)
        stacks->frames[stacks->count++] = (struct frame){
            .address = parts[1],
            .function = parts[2],
            .file = parts[3],
            .line = parts[4],
            .module = parts[5],
            .offset = parts[6],
            .inlined = strchr(parts[7], 'i'),
            .signal = strchr(parts[7], 's'),
        };
}

static void take_process(struct stacks *stacks, const char *id)
{
    if (!stacks->processes)
        put_crash(stacks);
    stacks->process = id;
    stacks->processes++;
}

static void take_line(struct stacks *stacks, char *line)
{
    char *parts[PARTS];

    split(line, parts);
    if (!strcmp(parts[0], "frame")) {
        take_frame(stacks, parts);
        return;
    }
    if (!strcmp(parts[0], "more")) {
        stacks->more = true;
        return;
    }
    put_thread(stacks);
    if (!strcmp(parts[0], "crash"))
        take_crash(stacks, parts);
    else if (!strcmp(parts[0], "fault"))
        stacks->fault = parts[1];
    else if (!strcmp(parts[0], "process"))
        take_process(stacks, parts[1]);
    else if (!strcmp(parts[0], "note"))
        trace_text_printf(stacks->out, "  %s\n", parts[1]);
    else if (!strcmp(parts[0], "thread"))
        memcpy(stacks->thread, parts, sizeof(stacks->thread));
}

/* ---- The file ---- */

static void read_all(struct trace_text *text, FILE *in)
{
    char bytes[4096];
    size_t size;

    while ((size = fread(bytes, 1, sizeof(bytes), in)))
        trace_text_add(text, bytes, size);
    fclose(in);
}

/* Calls a function for each line, which it may change. */
static void each_line(struct stacks *stacks, struct trace_text *text,
                      void (*take)(struct stacks *, char *))
{
    char *rest = text->data, *line;

    while (rest && (line = strsep(&rest, "\n")))
        take(stacks, line);
}

static bool open_stacks(struct stacks *stacks, struct trace_text *text,
                        const struct test_log_run *run,
                        const struct test_log_result *result)
{
    FILE *in = test_log_read(run, result, TEST_LOG_STACKS_FILE);

    if (!in)
        return false;
    read_all(text, in);
    if (asprintf(&stacks->body, "%s_%s_impl", result->suite, result->test) < 0)
        stacks->body = NULL;
    if (!getcwd(stacks->folder, sizeof(stacks->folder)))
        stacks->folder[0] = '\0';
    stacks->crashed = stacks->fault = stacks->address = "";
    return true;
}

void test_log_stacks_text(struct trace_text *out,
                          const struct test_log_run *run,
                          const struct test_log_result *result)
{
    struct stacks stacks = {.out = out};
    struct trace_text text = {0};

    if (!open_stacks(&stacks, &text, run, result))
        return;
    each_line(&stacks, &text, take_line);
    put_thread(&stacks);
    free(stacks.body);
    trace_text_free(&text);
}

/* ---- A crash in one line ---- */

/* Keeps the frames of the first thread, which is the one that crashed. */
static void take_first(struct stacks *stacks, char *line)
{
    char *parts[PARTS];

    split(line, parts);
    if (!strcmp(parts[0], "thread"))
        stacks->processes++; /* of threads, here */
    else if (!strcmp(parts[0], "frame") && stacks->processes == 1)
        take_frame(stacks, parts);
    else if (!strcmp(parts[0], "crash"))
        take_crash(stacks, parts);
    else if (!strcmp(parts[0], "fault"))
        stacks->fault = parts[1];
}

static void put_place(struct stacks *stacks)
{
    size_t i = first_frame(stacks);

    while (i < stacks->count && is_system(&stacks->frames[i]))
        i++;
    if (i == stacks->count || !stacks->frames[i].function[0])
        return;
    trace_text_printf(stacks->out, ", in %s", stacks->frames[i].function);
    if (stacks->frames[i].file[0])
        trace_text_printf(stacks->out, " (%s:%s)",
                          relative(stacks, stacks->frames[i].file),
                          stacks->frames[i].line);
}

char *test_log_stacks_reason(const struct test_log_run *run,
                             const struct test_log_result *result)
{
    struct trace_text text = {0}, reason = {0};
    struct stacks stacks = {.out = &reason};

    if (!open_stacks(&stacks, &text, run, result))
        return NULL;
    each_line(&stacks, &text, take_first);
    if (stacks.signal) {
        trace_text_string(&reason, test_log_signal(stacks.signal));
        if (stacks.fault[0])
            trace_text_printf(&reason, ": %s", stacks.fault);
        put_place(&stacks);
    }
    free(stacks.body);
    trace_text_free(&text);
    return reason.data;
}
