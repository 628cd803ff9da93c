/* waits.c: finds what a thread waits for, from its system call. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "stacks.h"

enum { ARGUMENTS = 6, LOOKED_AT = 8 };

/* ---- Locks ---- */

static bool is_thread(const struct stacks_thread *thread, uint32_t id)
{
    struct stacks_status status;
    char path[64];

    snprintf(path, sizeof(path), "%d/task/%" PRIu32, (int)thread->process, id);
    return id && stacks_status_of(&status, path);
}

/* The word is the thread's id, which the kernel sets to 0 at its end. */
static void put_join(const struct stacks_thread *thread, uint64_t at,
                     char *text, size_t size)
{
    uint32_t id = 0;

    if (stacks_copy(thread->process, at, &id, sizeof(id)) &&
        is_thread(thread, id))
        snprintf(text, size, "the end of thread %" PRIu32, id);
    else
        snprintf(text, size, "the end of a thread");
}

static bool calls(const struct stacks_stack *stack, const char *part)
{
    for (size_t i = 0; i < stack->count && i < LOOKED_AT; i++)
        if (stack->frames[i].function &&
            strstr(stack->frames[i].function, part))
            return true;
    return false;
}

/* X(part of a function's name, what it waits for); the first one counts. */
#define FUTEXES(X)                                                             \
    X("pthread_cond", "condition")                                             \
    X("pthread_rwlock", "read-write lock")                                     \
    X("pthread_barrier", "barrier")                                            \
    X("sem_", "semaphore")                                                     \
    X("pthread_once", "once control")

static const char *kind_of(const struct stacks_stack *stack)
{
#define STACKS_X(part, word)                                                   \
    if (calls(stack, part))                                                    \
        return word;
    FUTEXES(STACKS_X)
#undef STACKS_X
    return "futex";
}

static void put_futex(struct Dwfl *dwfl, const struct stacks_thread *thread,
                      const struct stacks_stack *stack, uint64_t at, char *text,
                      size_t size)
{
    bool is_mutex = calls(stack, "pthread_mutex") || calls(stack, "lll_lock");
    const char *kind = is_mutex ? "mutex" : kind_of(stack);
    const char *variable; /* that it is in, at an offset; NULL: unknown */
    uint64_t offset = 0;
    uint32_t owner = 0;
    char within[32] = "", lock[256];
    size_t used;

    if (!is_mutex && calls(stack, "join")) {
        put_join(thread, at, text, size);
        return;
    }
    variable = stacks_variable(dwfl, at, &offset);
    if (offset)
        snprintf(within, sizeof(within), " + %#" PRIx64, offset);
    if (variable)
        snprintf(lock, sizeof(lock), "%s%s", variable, within);
    else
        snprintf(lock, sizeof(lock), "%s %#" PRIx64, kind, at);
    if (variable)
        snprintf(text, size, "%s %#" PRIx64 " (%s)", kind, at, lock);
    else
        snprintf(text, size, "%s", lock);
    used = strlen(text);
    /* The owner is the third word of glibc's struct __pthread_mutex_s. */
    if (is_mutex &&
        stacks_copy(thread->process, at + 8, &owner, sizeof(owner)) &&
        is_thread(thread, owner)) {
        snprintf(text + used, size - used, " of thread %" PRIu32, owner);
        stacks_note_lock(thread->id, lock, (pid_t)owner);
    }
}

/* ---- Other calls ---- */

static void put_file(const struct stacks_thread *thread, const char *verb,
                     uint64_t fd, char *text, size_t size)
{
    char path[64], name[256];
    ssize_t length;

    snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)thread->process,
             (int)fd);
    length = readlink(path, name, sizeof(name) - 1);
    snprintf(text, size, "%s of descriptor %d%s%.*s%s", verb, (int)fd,
             length > 0 ? " (" : "", length > 0 ? (int)length : 0, name,
             length > 0 ? ")" : "");
}

/* X(system call, kind, word) */
#define CALLS(X)                                                               \
    X(read, OF_FILE, "read")                                                   \
    X(pread64, OF_FILE, "read")                                                \
    X(readv, OF_FILE, "read")                                                  \
    X(write, OF_FILE, "write")                                                 \
    X(pwrite64, OF_FILE, "write")                                              \
    X(writev, OF_FILE, "write")                                                \
    X(recvfrom, OF_FILE, "receive")                                            \
    X(recvmsg, OF_FILE, "receive")                                             \
    X(sendto, OF_FILE, "send")                                                 \
    X(sendmsg, OF_FILE, "send")                                                \
    X(accept, OF_FILE, "accept")                                               \
    X(accept4, OF_FILE, "accept")                                              \
    X(connect, OF_FILE, "connect")                                             \
    X(fsync, OF_FILE, "sync")                                                  \
    X(fdatasync, OF_FILE, "sync")                                              \
    X(flock, OF_FILE, "lock")                                                  \
    X(fcntl, OF_FILE, "lock")                                                  \
    X(epoll_pwait, OF_FILE, "epoll")                                           \
    X(ppoll, WORD, "poll")                                                     \
    X(pselect6, WORD, "select")                                                \
    X(nanosleep, WORD, "sleep")                                                \
    X(clock_nanosleep, WORD, "sleep")                                          \
    X(rt_sigtimedwait, WORD, "a signal")                                       \
    X(rt_sigsuspend, WORD, "a signal")                                         \
    X(restart_syscall, WORD, "a system call that was interrupted")             \
    X(wait4, CHILD, "")

/* These exist on x86_64 only. */
#ifdef SYS_poll
#    define OLD_CALLS(X)                                                       \
        X(poll, WORD, "poll")                                                  \
        X(select, WORD, "select")                                              \
        X(epoll_wait, OF_FILE, "epoll")                                        \
        X(pause, WORD, "a signal")                                             \
        X(vfork, WORD, "the exec or end of a child process")
#else
#    define OLD_CALLS(X)
#endif

enum kind { WORD, OF_FILE, CHILD };

static const struct {
    long number;
    enum kind kind;
    const char *word;
} known[] = {
#define STACKS_X(call, kind, word) {SYS_##call, kind, word},
    CALLS(STACKS_X) OLD_CALLS(STACKS_X)
#undef STACKS_X
};

static void put_call(const struct stacks_thread *thread, long number,
                     uint64_t argument, char *text, size_t size)
{
    size_t i = 0, count = sizeof(known) / sizeof(*known);

    while (i < count && known[i].number != number)
        i++;
    if (i == count)
        snprintf(text, size, "system call %ld", number);
    else if (known[i].kind == OF_FILE)
        put_file(thread, known[i].word, argument, text, size);
    else if (known[i].kind == WORD)
        snprintf(text, size, "%s", known[i].word);
    else if ((int)argument > 0)
        snprintf(text, size, "the end of process %d", (int)argument);
    else
        snprintf(text, size, "the end of a child process");
}

/* If a thread cannot be stopped, not every kernel shows its system call, but
 * all show the kernel function in which it sleeps. */
static void put_channel(const struct stacks_thread *thread, char *text,
                        size_t size)
{
    char channel[128];

    if (stacks_read(channel, sizeof(channel), "%d/task/%d/wchan",
                    (int)thread->process, (int)thread->id) &&
        strcmp(channel, "0"))
        snprintf(text, size, "the kernel's %s", channel);
}

/* The file is "NUMBER ARGUMENT... SP PC", "NUMBER SP PC" outside of a call,
 * where the number is -1, or "running". */
void stacks_waits(struct Dwfl *dwfl, const struct stacks_thread *thread,
                  const struct stacks_stack *stack, char *text, size_t size)
{
    uint64_t arguments[ARGUMENTS];
    char call[256];
    long number;

    text[0] = '\0';
    if (!stacks_read(call, sizeof(call), "%d/task/%d/syscall",
                     (int)thread->process, (int)thread->id) ||
        sscanf(call,
               "%ld %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64
               " %" SCNx64,
               &number, &arguments[0], &arguments[1], &arguments[2],
               &arguments[3], &arguments[4], &arguments[5]) != 7) {
        if (!thread->held)
            put_channel(thread, text, size);
    } else if (number == SYS_futex) {
        put_futex(dwfl, thread, stack, arguments[0], text, size);
    } else {
        put_call(thread, number, arguments[0], text, size);
    }
}
