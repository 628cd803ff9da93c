/* waits.c: finds what a thread waits for, from its system call. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "stacks.h"

enum { ARGUMENTS = 6, LOOKED_AT = 8 };

struct call {
    long number;
    uint64_t arguments[ARGUMENTS];
};

/* The file is "NUMBER ARGUMENT... SP PC", "NUMBER SP PC" outside of a call,
 * where the number is -1, or "running". */
static bool read_call(const struct stacks_thread *thread, struct call *call)
{
    char text[256];

    if (!stacks_read(text, sizeof(text), "%d/task/%d/syscall",
                     (int)thread->process, (int)thread->id))
        return false;
    return sscanf(text,
                  "%ld %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64
                  " %" SCNx64,
                  &call->number, &call->arguments[0], &call->arguments[1],
                  &call->arguments[2], &call->arguments[3], &call->arguments[4],
                  &call->arguments[5]) == 7;
}

/* ---- Locks ---- */

static bool is_thread(const struct stacks_thread *thread, uint32_t id)
{
    struct stacks_status status;
    char path[64];

    snprintf(path, sizeof(path), "%d/task/%" PRIu32, (int)thread->process, id);
    return id && stacks_status_of(&status, path);
}

struct lock {
    const char *kind;
    uint64_t address, offset;
    const char *variable; /* that it is in, at an offset; NULL: unknown */
};

static void put_lock(const struct lock *lock, char *text, size_t size)
{
    char within[32] = "";

    if (lock->offset)
        snprintf(within, sizeof(within), " + %#" PRIx64, lock->offset);
    if (lock->variable)
        snprintf(text, size, "%s %#" PRIx64 " (%s%s)", lock->kind,
                 lock->address, lock->variable, within);
    else
        snprintf(text, size, "%s %#" PRIx64, lock->kind, lock->address);
}

/* The owner is the third word of glibc's struct __pthread_mutex_s. */
static void put_owner(const struct stacks_thread *thread, uint64_t mutex,
                      char *text, size_t size)
{
    uint32_t owner = 0;
    size_t used = strlen(text);

    if (stacks_copy(thread->process, mutex + 8, &owner, sizeof(owner)) &&
        is_thread(thread, owner))
        snprintf(text + used, size - used, " of thread %" PRIu32, owner);
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
    struct lock lock = {.kind = is_mutex ? "mutex" : kind_of(stack),
                        .address = at};

    if (!is_mutex && calls(stack, "join")) {
        put_join(thread, at, text, size);
        return;
    }
    lock.variable = stacks_variable(dwfl, at, &lock.offset);
    put_lock(&lock, text, size);
    if (is_mutex)
        put_owner(thread, at, text, size);
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

static void put_child(uint64_t argument, char *text, size_t size)
{
    int child = (int)argument;

    if (child > 0)
        snprintf(text, size, "the end of process %d", child);
    else
        snprintf(text, size, "the end of a child process");
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

static void put_call(const struct stacks_thread *thread,
                     const struct call *call, char *text, size_t size)
{
    size_t i = 0, count = sizeof(known) / sizeof(*known);

    while (i < count && known[i].number != call->number)
        i++;
    if (i == count)
        snprintf(text, size, "system call %ld", call->number);
    else if (known[i].kind == OF_FILE)
        put_file(thread, known[i].word, call->arguments[0], text, size);
    else if (known[i].kind == CHILD)
        put_child(call->arguments[0], text, size);
    else
        snprintf(text, size, "%s", known[i].word);
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

void stacks_waits(struct Dwfl *dwfl, const struct stacks_thread *thread,
                  const struct stacks_stack *stack, char *text, size_t size)
{
    struct call call;

    text[0] = '\0';
    if (!read_call(thread, &call)) {
        if (!thread->held)
            put_channel(thread, text, size);
    } else if (call.number == SYS_futex) {
        put_futex(dwfl, thread, stack, call.arguments[0], text, size);
    } else {
        put_call(thread, &call, text, size);
    }
}
