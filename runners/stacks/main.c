/* main.c: testlog-stacks [--fault=SIGNAL,CODE,ADDRESS,SP] [--first=TID]
 * [--only] PID
 *
 * The caller ends it if it takes too long: everything is printed as soon as it
 * is known.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stacks.h"

void stacks_put(const char *format, ...)
{
    char line[4096];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    for (char *at = line; *at; at++)
        if ((unsigned char)*at < ' ' && *at != '\t')
            *at = ' ';
    puts(line);
}

static const char *known(const char *text)
{
    return text ? text : "";
}

static void put_frame(const struct stacks_frame *frame)
{
    char line[16] = "";

    if (frame->line)
        snprintf(line, sizeof(line), "%d", frame->line);
    stacks_put("frame\t%#" PRIx64 "\t%s\t%s\t%s\t%s\t%#" PRIx64 "\t%s%s",
               frame->address, known(frame->function), known(frame->file), line,
               known(frame->module), frame->offset, frame->inlined ? "i" : "",
               frame->signal ? "s" : "");
}

static void put_thread(const struct stacks_thread *thread, struct Dwfl *dwfl)
{
    static struct stacks_stack stack;
    char waits[512];

    stack.count = 0;
    stack.more = false;
    if (dwfl && thread->held)
        stacks_unwind(dwfl, thread, &stack);
    stacks_waits(thread, &stack, waits, sizeof(waits));
    stacks_put("thread\t%d\t%s\t%c\t%s", (int)thread->id, thread->status.name,
               thread->status.state ? thread->status.state : '?', waits);
    for (size_t i = 0; i < stack.count; i++)
        put_frame(&stack.frames[i]);
    if (stack.more)
        stacks_put("more");
    fflush(stdout);
}

/* Why no thread of a process is held. */
static void put_refusal(pid_t process)
{
    char scope[8] = "";

    if (stacks_read(scope, sizeof(scope), "sys/kernel/yama/ptrace_scope") &&
        scope[0] > '0')
        stacks_put("note\tprocess %d may not be traced: "
                   "kernel.yama.ptrace_scope is %c",
                   (int)process, scope[0]);
    else
        stacks_put("note\tprocess %d cannot be stopped", (int)process);
}

/* Prints the thread `first`, if the process has it, before the others; `only`:
 * nothing but that one. */
static size_t put_process(pid_t process, pid_t first, bool only, size_t room)
{
    static struct stacks_thread threads[STACKS_THREADS];
    size_t count = stacks_hold(process, first, threads, only ? 1 : room);
    size_t held = 0;
    pid_t reader = process;
    struct Dwfl *dwfl;

    for (size_t i = count; i-- > 0;)
        if (threads[i].held) {
            held++;
            reader = threads[i].id; /* the main thread may have ended */
        }
    if (!count)
        return 0;
    stacks_put("process\t%d\t%s", (int)process, threads[0].status.name);
    if (!held)
        put_refusal(process);
    dwfl = held ? stacks_open(reader) : NULL;
    if (held && !dwfl)
        stacks_put("note\tprocess %d cannot be read", (int)process);
    for (size_t i = 0; i < count; i++)
        if (!only || threads[i].id == first)
            put_thread(&threads[i], dwfl);
    stacks_release(threads, count);
    stacks_close(dwfl);
    return count;
}

static void put_all(pid_t root, pid_t first, bool only)
{
    pid_t processes[STACKS_PROCESSES];
    size_t count =
        stacks_processes(root, processes, only ? 1 : STACKS_PROCESSES);
    size_t room = STACKS_THREADS;

    for (size_t i = 0; i < count && room; i++)
        room -= put_process(processes[i], first, only, room);
    if (!room)
        stacks_put("note\tonly %d threads are shown", STACKS_THREADS);
}

static bool read_arguments(int argc, char **argv, struct stacks_fault *fault,
                           pid_t *first, bool *only, pid_t *root)
{
    int id = 0;

    for (int i = 1; i < argc - 1; i++)
        if (!strcmp(argv[i], "--only"))
            *only = true;
        else if (sscanf(argv[i], "--first=%d", first) != 1 &&
                 sscanf(argv[i], "--fault=%d,%d,%" SCNx64 ",%" SCNx64,
                        &fault->signal, &fault->code, &fault->address,
                        &fault->stack) != 4)
            return false;
    if (argc < 2 || sscanf(argv[argc - 1], "%d", &id) != 1 || id <= 0)
        return false;
    *root = id;
    return true;
}

int main(int argc, char **argv)
{
    struct stacks_fault fault = {0};
    pid_t first = 0, root;
    bool only = false;
    char text[512];

    if (!read_arguments(argc, argv, &fault, &first, &only, &root)) {
        fputs("testlog-stacks: usage: testlog-stacks "
              "[--fault=SIGNAL,CODE,ADDRESS,SP] [--first=TID] "
              "[--only] PID\n",
              stderr);
        return 2;
    }
    unsetenv("DEBUGINFOD_URLS"); /* no network */
    stacks_fault_text(&fault, first ? first : root, text, sizeof(text));
    if (text[0])
        stacks_put("fault\t%s", text);
    put_all(root, first ? first : root, only);
    stacks_put("end");
    return 0;
}
