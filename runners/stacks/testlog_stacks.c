/* testlog_stacks.c: testlog-stacks [--fault=SIGNAL,CODE,ADDRESS,SP,PC,CONTEXT]
 * [--exception=TYPE,TEXT] [--first=TID] [--valgrind=PREFIX] [--only] PID,
 * or testlog-stacks --left <FILE
 *
 * The caller kills it if it takes too long, so it prints everything as soon as
 * possible.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stacks.h"
#include "trace/base/file.h"

#define VALGRIND "--valgrind="

/* The arguments. */
struct request {
    struct stacks_fault fault;
    struct stacks_caller caller;
    struct stacks_exception exception;
    pid_t first;          /* the thread to print first */
    bool only;            /* print no other one */
    const char *valgrind; /* the prefix of vgdb's files; NULL: not under it */
    pid_t root;
};

/* The thread that crashed is in the handler now. The place of the crash is
 * known even if the stack is not. */
static void put_crashed(const struct stacks_thread *thread,
                        const struct request *request)
{
    const uint64_t places[] = {request->fault.instruction,
                               request->caller.returns_to};
    struct stacks_mapping mapping;
    struct stacks_frame frame;

    for (size_t i = 0; i < 2 && thread->id == request->first; i++)
        if (places[i]) {
            frame = stacks_place(thread->process, places[i], &mapping);
            stacks_put_frame(&frame);
        }
}

static void put_thread(const struct stacks_thread *thread, struct Dwfl *dwfl,
                       const struct request *request)
{
    static struct stacks_stack stack;
    char waits[512];

    stack.count = 0;
    stack.more = false;
    if (dwfl && thread->held)
        stacks_unwind(dwfl, thread,
                      thread->id == request->first ? &request->caller : NULL,
                      &stack);
    stacks_waits(dwfl, thread, &stack, waits, sizeof(waits));
    stacks_put("thread\t%d\t%s\t%c\t%s", (int)thread->id, thread->status.name,
               thread->status.state ? thread->status.state : '?', waits);
    for (size_t i = 0; i < stack.count; i++)
        stacks_put_frame(&stack.frames[i]);
    if (!stack.count)
        put_crashed(thread, request);
    if (stack.more)
        stacks_put("more");
    fflush(stdout);
}

static size_t put_process(pid_t process, const struct request *request,
                          size_t room)
{
    static struct stacks_thread threads[STACKS_THREADS];
    size_t count =
        stacks_hold(process, request->first, threads, request->only ? 1 : room);
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
        stacks_put_refusal(process);
    dwfl = held ? stacks_open(reader) : NULL;
    for (size_t i = 0; i < count; i++)
        if (!request->only || threads[i].id == request->first)
            put_thread(&threads[i], dwfl, request);
    stacks_release(threads, count);
    stacks_close(dwfl);
    return count;
}

/* Valgrind answers only while it runs, so a process that the caller has stopped
 * is resumed meanwhile. */
static void put_all_of_valgrind(const struct request *request)
{
    pid_t processes[STACKS_PROCESSES];
    size_t count = stacks_processes(request->root, processes,
                                    request->only ? 1 : STACKS_PROCESSES);
    struct stacks_status status;
    char path[16];

    stacks_put_fault(&request->fault, &request->caller, request->root);
    for (size_t i = 0; i < count; i++) {
        bool stopped;

        snprintf(path, sizeof(path), "%d", (int)processes[i]);
        if (!stacks_status_of(&status, path))
            continue;
        stopped = status.state == 'T' && !kill(processes[i], SIGCONT);
        stacks_put("process\t%s\t%s", path, status.name);
        if (!stacks_put_of_valgrind(request->valgrind, processes[i],
                                    request->only ? request->first : 0,
                                    &request->fault, request->first))
            stacks_put("note\tno stacks of process %s (%s): valgrind does not "
                       "run it, or does not answer vgdb",
                       path, status.name);
        if (stopped)
            kill(processes[i], SIGSTOP);
        fflush(stdout);
    }
}

static void put_all(const struct request *request)
{
    pid_t processes[STACKS_PROCESSES];
    size_t count = stacks_processes(request->root, processes,
                                    request->only ? 1 : STACKS_PROCESSES);
    size_t room = STACKS_THREADS;

    for (size_t i = 0; i < count && room; i++)
        room -= put_process(processes[i], request, room);
    if (!room)
        stacks_put("note\tonly %d threads are shown", STACKS_THREADS);
    stacks_put_deadlocks();
}

static bool read_fault(const char *argument, struct stacks_fault *fault)
{
    return sscanf(argument,
                  "--fault=%d,%d,%" SCNx64 ",%" SCNx64 ",%" SCNx64 ",%" SCNx64,
                  &fault->signal, &fault->code, &fault->address, &fault->stack,
                  &fault->instruction, &fault->context) >= 5;
}

static bool read_exception(const char *argument,
                           struct stacks_exception *exception)
{
    return sscanf(argument, "--exception=%" SCNx64 ",%" SCNx64,
                  &exception->type, &exception->text) == 2;
}

static bool read_arguments(int argc, char **argv, struct request *request)
{
    for (int i = 1; i < argc - 1; i++)
        if (!strcmp(argv[i], "--only"))
            request->only = true;
        else if (!strncmp(argv[i], VALGRIND, strlen(VALGRIND)))
            request->valgrind = argv[i] + strlen(VALGRIND);
        else if (sscanf(argv[i], "--first=%d", &request->first) != 1 &&
                 !read_exception(argv[i], &request->exception) &&
                 !read_fault(argv[i], &request->fault))
            return false;
    if (argc < 2 || sscanf(argv[argc - 1], "%d", &request->root) != 1 ||
        request->root <= 0)
        return false;
    if (!request->first)
        request->first = request->root;
    return true;
}

int main(int argc, char **argv)
{
    struct request request = {.only = false};

    unsetenv("DEBUGINFOD_URLS"); /* no network */
    if (argc == 2 && !strcmp(argv[1], "--left"))
        return stacks_put_left();
    if (!read_arguments(argc, argv, &request)) {
        fputs("testlog-stacks: usage: testlog-stacks "
              "[--fault=SIGNAL,CODE,ADDRESS,SP,PC,CONTEXT] "
              "[--exception=TYPE,TEXT] [--first=TID] [--valgrind=PREFIX] "
              "[--only] PID | --left\n",
              stderr);
        return 2;
    }
    if (!trace_proc_is_ours()) {
        stacks_put("note\tno stacks, because /proc is that of another PID "
                   "namespace: mount it again in this one");
        stacks_put("end");
        return 0;
    }
    if (request.valgrind) {
        put_all_of_valgrind(&request);
        stacks_put("end");
        return 0;
    }
    request.caller = stacks_find_caller(&request.fault, request.first);
    stacks_put_fault(&request.fault, &request.caller, request.first);
    stacks_put_exception(&request.exception, request.first);
    put_all(&request);
    stacks_put("end");
    return 0;
}
