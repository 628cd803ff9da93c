/* threads.c: stops the threads of a process with ptrace, and lets them go on.
 *
 * PTRACE_SEIZE has no lasting effect: a stopped process stays stopped, and a
 * running one continues its system call.
 */
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#include "stacks.h"

enum { PATIENCE = 1000, PAUSE = 1000000 /* ns */ };

/* A thread that sleeps in the kernel for a device cannot be interrupted. */
static bool can_stop(const struct stacks_thread *thread)
{
    return thread->status.state != 'D' && thread->status.state != 'Z' &&
           thread->status.state != 'X';
}

static bool interrupt(const struct stacks_thread *thread)
{
    return can_stop(thread) && !ptrace(PTRACE_SEIZE, thread->id, NULL, NULL) &&
           !ptrace(PTRACE_INTERRUPT, thread->id, NULL, NULL);
}

/* A thread may have stopped for a signal before we interrupted it. */
static void await(struct stacks_thread *thread, int *patience)
{
    int status;

    while (thread->held) {
        pid_t got = waitpid(thread->id, &status, __WALL | WNOHANG);

        if (got == thread->id && WIFSTOPPED(status)) {
            thread->signal = status >> 16 ? 0 : WSTOPSIG(status);
            return;
        }
        if (got || --*patience < 0)
            thread->held = false;
        else
            nanosleep(&(struct timespec){.tv_nsec = PAUSE}, NULL);
    }
}

/* Lists the threads of a process, `first` as the first one if it has it. */
static size_t list(pid_t process, pid_t first, pid_t *ids, size_t room)
{
    struct stacks_status status;
    pid_t all[STACKS_THREADS];
    size_t listed, count = 0;
    char path[64];

    snprintf(path, sizeof(path), "%d/task/%d", (int)process, (int)first);
    if (stacks_status_of(&status, path))
        ids[count++] = first;
    snprintf(path, sizeof(path), "%d/task", (int)process);
    listed = stacks_numbers(path, all, STACKS_THREADS);
    for (size_t i = 0; i < listed && count < room; i++)
        if (all[i] != first)
            ids[count++] = all[i];
    return count;
}

size_t stacks_hold(pid_t process, pid_t first, struct stacks_thread *threads,
                   size_t room)
{
    pid_t ids[STACKS_THREADS];
    char path[64];
    size_t count;
    int patience = PATIENCE;

    count = list(process, first, ids,
                 room < STACKS_THREADS ? room : STACKS_THREADS);
    for (size_t i = 0; i < count; i++) {
        struct stacks_thread *thread = &threads[i];

        *thread = (struct stacks_thread){.process = process, .id = ids[i]};
        snprintf(path, sizeof(path), "%d/task/%d", (int)process, (int)ids[i]);
        stacks_status_of(&thread->status, path);
        thread->held = interrupt(thread);
    }
    for (size_t i = 0; i < count; i++)
        await(&threads[i], &patience);
    return count;
}

void stacks_release(const struct stacks_thread *threads, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (threads[i].held)
            ptrace(PTRACE_DETACH, threads[i].id, NULL,
                   (void *)(intptr_t)threads[i].signal);
}
