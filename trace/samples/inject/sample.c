/* sample.c: takes samples of the process that this library is loaded into,
 * where the kernel refuses perf events. It stands alone: nothing of testlog is
 * linked.
 *
 * Each thread has a timer of its processor time, whose signal comes while the
 * thread runs, and so seldom interrupts a system call. The handler writes to
 * memory that the runner reads, and only calls what a handler may call.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "../timer_ring.h"
#include "../timers.h"

#define EXPORT __attribute__((visibility("default")))

/* In the handler, memory of a thread must be there already. */
#define OF_THREAD                                                              \
    static _Thread_local __attribute__((tls_model("initial-exec")))

static struct trace_timer_ring *ring; /* NULL: nothing is sampled */
static int signal_number;
static pthread_key_t timer_key;

/* The thread's stack; both 0: unknown. */
OF_THREAD uintptr_t stack_low, stack_end;

/* ---- Events ---- */

static uint64_t now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Takes a slot; *number is for end(). */
static struct trace_timer_slot *begin(enum trace_perf_kind kind,
                                      uint64_t *number)
{
    uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_RELAXED);
    struct trace_timer_slot *slot;

    do {
        if (head - __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE) >=
            TRACE_TIMER_SLOTS) {
            __atomic_fetch_add(&ring->lost, 1, __ATOMIC_RELAXED);
            return NULL;
        }
    } while (!__atomic_compare_exchange_n(&ring->head, &head, head + 1, true,
                                          __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
    slot = &ring->slots[head % TRACE_TIMER_SLOTS];
    *number = head + 1;
    slot->kind = kind;
    slot->time = now();
    slot->pid = (uint32_t)getpid();
    slot->tid = (uint32_t)syscall(SYS_gettid);
    return slot;
}

static void end(struct trace_timer_slot *slot, uint64_t number)
{
    __atomic_store_n(&slot->number, number, __ATOMIC_RELEASE);
}

static void put_process(enum trace_perf_kind kind)
{
    uint64_t number;
    struct trace_timer_slot *slot = begin(kind, &number);

    if (!slot)
        return;
    slot->parent = (uint32_t)getppid();
    end(slot, number);
}

/* ---- Maps ---- */

enum { LINE = 4096, RANGES = 1024, EACH = 20000000 /* ns */ };

/* Addresses of code that were put. Only the thread that holds the lock changes
 * them. */
static struct range {
    uintptr_t low, end;
} ranges[RANGES];
static size_t range_count;
static int maps_locked;

static bool is_known(uintptr_t address)
{
    size_t count = __atomic_load_n(&range_count, __ATOMIC_ACQUIRE);

    for (size_t i = 0; i < count; i++)
        if (address - ranges[i].low < ranges[i].end - ranges[i].low)
            return true;
    return false;
}

static uint64_t read_hex(const char **at)
{
    uint64_t value = 0;

    for (;; (*at)++) {
        if (**at >= '0' && **at <= '9')
            value = value << 4 | (uint64_t)(**at - '0');
        else if (**at >= 'a' && **at <= 'f')
            value = value << 4 | (uint64_t)(**at - 'a' + 10);
        else
            return value;
    }
}

static void put_map(uint64_t low, uint64_t high, uint64_t place,
                    const char *path)
{
    size_t size = strlen(path) + 1;
    uint64_t number;
    struct trace_timer_slot *slot;

    if (is_known((uintptr_t)low) || range_count == RANGES ||
        size > TRACE_TIMER_PATH)
        return;
    slot = begin(TRACE_PERF_MAP, &number);
    if (!slot)
        return;
    slot->as.map.low = low;
    slot->as.map.size = high - low;
    slot->as.map.place = place;
    memcpy(slot->as.map.path, path, size);
    end(slot, number);
    ranges[range_count] = (struct range){(uintptr_t)low, (uintptr_t)high};
    __atomic_store_n(&range_count, range_count + 1, __ATOMIC_RELEASE);
}

/* A line is "low-high r-xp place device inode    path". */
static void read_line(const char *line)
{
    const char *at = line, *path = strpbrk(line, "/[");
    uint64_t low = read_hex(&at), high, place;

    if (*at++ != '-')
        return;
    high = read_hex(&at);
    if (strlen(at) < 7 || at[3] != 'x' || !path)
        return;
    at += 6;
    place = read_hex(&at);
    put_map(low, high, place, path);
}

/* Reads the lines of a file; those that are longer have no names. */
static void read_lines(int fd)
{
    static char text[LINE];
    size_t size = 0;
    ssize_t count;

    while ((count = read(fd, text + size, sizeof(text) - 1 - size)) > 0) {
        char *line = text, *newline;

        size += (size_t)count;
        while ((newline = memchr(line, '\n', size - (size_t)(line - text)))) {
            *newline = '\0';
            read_line(line);
            line = newline + 1;
        }
        size -= (size_t)(line - text);
        memmove(text, line, size);
        if (size == sizeof(text) - 1)
            size = 0;
    }
}

/* Puts the maps that are new, if some may be; the lock's owner may be
 * interrupted. */
static void put_maps(void)
{
    static uint64_t last;
    int fd;

    if (__atomic_exchange_n(&maps_locked, 1, __ATOMIC_ACQUIRE))
        return;
    fd = now() - last < EACH ? -1
                             : open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        read_lines(fd);
        close(fd);
        last = now();
    }
    __atomic_store_n(&maps_locked, 0, __ATOMIC_RELEASE);
}

/* ---- The handler ---- */

struct registers {
    uintptr_t at, stack, frame;
};

static struct registers registers_of(const ucontext_t *context)
{
#if defined(__x86_64__)
    const greg_t *all = context->uc_mcontext.gregs;

    return (struct registers){(uintptr_t)all[REG_RIP], (uintptr_t)all[REG_RSP],
                              (uintptr_t)all[REG_RBP]};
#elif defined(__aarch64__)
    return (struct registers){context->uc_mcontext.pc, context->uc_mcontext.sp,
                              context->uc_mcontext.regs[29]};
#else
    (void)context;
    return (struct registers){0, 0, 0};
#endif
}

/* Follows frame pointers within the stack; a frame's caller is above it. */
static uint32_t walk(struct registers from, uint64_t *addresses)
{
    uintptr_t low = from.stack, frame = from.frame;
    uint32_t count = 0;

    addresses[count++] = from.at;
    if (from.stack < stack_low)
        return count;
    while (count < TRACE_TIMER_FRAMES && frame >= low && frame % 8 == 0 &&
           frame < stack_end && stack_end - frame >= 2 * sizeof(frame)) {
        const uintptr_t *saved = (const uintptr_t *)frame;

        if (!saved[1])
            break;
        addresses[count++] = saved[1];
        low = frame + 2 * sizeof(frame);
        frame = saved[0];
    }
    return count;
}

static void handle(int number, siginfo_t *info, void *context)
{
    int error = errno;
    struct registers registers = registers_of(context);
    struct trace_timer_slot *slot;
    uint64_t end_number;

    (void)number;
    if (info->si_code != SI_TIMER || info->si_value.sival_ptr != &ring)
        return;
    if (!is_known(registers.at))
        put_maps();
    slot = begin(TRACE_PERF_SAMPLE, &end_number);
    if (slot) {
        slot->overruns = info->si_overrun > 0 ? (uint32_t)info->si_overrun : 0;
        prctl(PR_GET_NAME, slot->name);
        slot->count = walk(registers, slot->as.addresses);
        end(slot, end_number);
    }
    errno = error;
}

/* ---- Threads ---- */

static void find_stack(void)
{
    pthread_attr_t attributes;
    void *low;
    size_t size;

    if (pthread_getattr_np(pthread_self(), &attributes))
        return;
    if (!pthread_attr_getstack(&attributes, &low, &size)) {
        stack_low = (uintptr_t)low;
        stack_end = stack_low + size;
    }
    pthread_attr_destroy(&attributes);
}

/* The C library's timers cannot be made in a child of fork. */
static void start_timer(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID,
                             .sigev_signo = signal_number,
                             .sigev_value.sival_ptr = &ring};
    struct timespec period = {(time_t)(ring->period / 1000000000),
                              (long)(ring->period % 1000000000)};
    struct itimerspec each = {period, period};
    int timer;

    event._sigev_un._tid = (int)syscall(SYS_gettid);
    if (syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &timer))
        return;
    syscall(SYS_timer_settime, timer, 0, &each, NULL);
    pthread_setspecific(timer_key, (void *)((intptr_t)timer + 1));
}

/* A timer outlives its thread. */
static void end_timer(void *timer)
{
    syscall(SYS_timer_delete, (int)((intptr_t)timer - 1));
}

struct start {
    void *(*function)(void *);
    thrd_start_t other; /* of C11 */
    void *argument;
};

static void *run(void *memory)
{
    struct start start = *(struct start *)memory;

    free(memory);
    find_stack();
    start_timer();
    return start.function(start.argument);
}

static int run_other(void *memory)
{
    struct start start = *(struct start *)memory;

    free(memory);
    find_stack();
    start_timer();
    return start.other(start.argument);
}

static struct start *make_start(void *argument)
{
    struct start *start = ring ? malloc(sizeof(*start)) : NULL;

    if (start)
        *start = (struct start){.argument = argument};
    return start;
}

/* A sanitizer's function may come between this and the C library's. */
EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*function)(void *), void *argument)
{
    static int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *),
                       void *);
    struct start *start = make_start(argument);
    int error;

    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "pthread_create");
    if (!start)
        return next(thread, attributes, function, argument);
    start->function = function;
    error = next(thread, attributes, run, start);
    if (error)
        free(start);
    return error;
}

EXPORT int thrd_create(thrd_t *thread, thrd_start_t function, void *argument)
{
    static int (*next)(thrd_t *, thrd_start_t, void *);
    struct start *start = make_start(argument);
    int result;

    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "thrd_create");
    if (!start)
        return next(thread, function, argument);
    start->other = function;
    result = next(thread, run_other, start);
    if (result != thrd_success)
        free(start);
    return result;
}

/* ---- Processes ---- */

/* A child has its parent's memory, but no timers. */
static void begin_child(void)
{
    maps_locked = 0;
    put_process(TRACE_PERF_FORK);
    start_timer();
}

static struct trace_timer_ring *attach(void)
{
    const char *id = getenv(TRACE_TIMERS_VARIABLE);
    struct trace_timer_ring *memory;
    struct shmid_ds status;

    if (!id || shmctl(atoi(id), IPC_STAT, &status) ||
        status.shm_segsz != sizeof(*memory))
        return NULL;
    memory = shmat(atoi(id), NULL, 0);
    if (memory == (void *)-1)
        return NULL;
    if (memory->magic == TRACE_TIMER_MAGIC && memory->period &&
        memory->period <= 1000000000)
        return memory;
    shmdt(memory);
    return NULL;
}

/* Takes the last real-time signal that is handled by nobody and not ignored. */
static bool take_signal(void)
{
    struct sigaction action = {.sa_sigaction = handle,
                               .sa_flags =
                                   SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    struct sigaction now_set;

    sigfillset(&action.sa_mask);
    for (int number = SIGRTMAX; number >= SIGRTMIN; number--) {
        if (sigaction(number, NULL, &now_set) ||
            now_set.sa_handler != SIG_DFL || now_set.sa_flags & SA_SIGINFO)
            continue;
        signal_number = number;
        return !sigaction(number, &action, NULL);
    }
    return false;
}

static __attribute__((constructor)) void begin_process(void)
{
    int error = errno;

    ring = attach();
    if (ring && (!take_signal() || pthread_key_create(&timer_key, end_timer)))
        ring = NULL;
    if (ring) {
        put_process(TRACE_PERF_FORK);
        put_process(TRACE_PERF_EXEC);
        put_maps();
        find_stack();
        pthread_atfork(NULL, NULL, begin_child);
        start_timer();
    }
    errno = error;
}
