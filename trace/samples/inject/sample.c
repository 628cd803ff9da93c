/* sample.c: takes samples of the process that this library is loaded into,
 * where the kernel refuses perf events. It is linked with nothing of testlog.
 *
 * Each thread has a timer of its processor time, whose signal comes while the
 * thread runs, and so seldom interrupts a system call. The handler writes to
 * memory that the runner reads, and only calls functions that a handler may
 * call.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "trace/samples/timer_ring.h"
#include "trace/samples/timers.h"

#define EXPORT __attribute__((visibility("default")))

/* In the handler, memory of a thread must be there already. */
#define OF_THREAD                                                              \
    static _Thread_local __attribute__((tls_model("initial-exec")))

static struct trace_timer_ring *ring; /* NULL: nothing is sampled */
static int signal_number;
static uint32_t worker; /* the process that the test is */

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
        uint64_t tail = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);

        /* The reader may have passed an old head. */
        if ((int64_t)(head - tail) >= TRACE_TIMER_SLOTS) {
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
    slot->worker = worker;
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

    while ((count = syscall(SYS_read, fd, text + size,
                            sizeof(text) - 1 - size)) > 0) {
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
 * interrupted. The C library's functions would let a thread be cancelled here.
 */
static void put_maps(void)
{
    static uint64_t last;
    int fd;

    if (__atomic_exchange_n(&maps_locked, 1, __ATOMIC_ACQUIRE))
        return;
    fd = now() - last < EACH
             ? -1
             : (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/maps",
                            O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        read_lines(fd);
        syscall(SYS_close, fd);
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

/* The kernel looks at timers in its tick, usually one each 4 ms: if the first
 * time is that much before a whole period, threads of any length are sampled
 * as often as their time deserves. */
enum { TICK = 4000000 /* ns */ };

static uint64_t first_time(void)
{
    uint64_t most = ring->period > TICK ? ring->period - TICK : 0;

    return 1 + (most ? now() * UINT64_C(0x9e3779b97f4a7c15) % most : 0);
}

static struct timespec time_of(uint64_t ns)
{
    return (struct timespec){(time_t)(ns / 1000000000),
                             (long)(ns % 1000000000)};
}

/* The thread's timer + 1; 0: none. A child of fork has another one. */
OF_THREAD int timer_number;
OF_THREAD bool ends_timer;

/* A timer outlives its thread. */
static void end_timer(void *unused)
{
    (void)unused;
    if (timer_number)
        syscall(SYS_timer_delete, timer_number - 1);
    timer_number = 0;
}

/* The C library's timers cannot be made in a child of fork. Its list of what a
 * thread does at its end has no limit, other than keys. */
static void start_timer(void)
{
    extern int __cxa_thread_atexit_impl(void (*)(void *), void *, void *);
    extern void *__dso_handle;
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID,
                             .sigev_signo = signal_number,
                             .sigev_value.sival_ptr = &ring};
    struct itimerspec times = {time_of(ring->period), time_of(first_time())};
    int timer;

    timer_number = 0;
    event._sigev_un._tid = (int)syscall(SYS_gettid);
    if (syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &timer))
        return;
    syscall(SYS_timer_settime, timer, 0, &times, NULL);
    timer_number = timer + 1;
    if (!ends_timer)
        __cxa_thread_atexit_impl(end_timer, NULL, &__dso_handle);
    ends_timer = true;
}

/* How a thread starts. Memory of malloc could not be freed in a thread that a
 * sanitizer has made for itself. */
struct start {
    void *(*function)(void *);
    thrd_start_t other; /* of C11 */
    void *argument;
    size_t stack;
    int taken;
};

enum { STARTS = 1024 };

static struct start starts[STARTS];
static size_t default_stack;

/* Takes a free one; NULL: there is none, and the thread is not sampled. */
static struct start *take_start(const pthread_attr_t *attributes,
                                void *argument)
{
    size_t stack = default_stack;

    if (attributes)
        pthread_attr_getstacksize(attributes, &stack);
    for (size_t i = 0; ring && i < STARTS; i++) {
        if (__atomic_exchange_n(&starts[i].taken, 1, __ATOMIC_ACQUIRE))
            continue;
        starts[i].argument = argument;
        starts[i].stack = stack;
        return &starts[i];
    }
    return NULL;
}

static void give_start(struct start *start)
{
    __atomic_store_n(&start->taken, 0, __ATOMIC_RELEASE);
}

/* Takes the start as the thread itself: its stack ends here. */
static struct start begin_thread(struct start *start)
{
    struct start copy = *start;

    give_start(start);
    stack_end = (uintptr_t)__builtin_frame_address(0);
    stack_low = stack_end > copy.stack ? stack_end - copy.stack : 0;
    start_timer();
    return copy;
}

static void *run(void *memory)
{
    struct start start = begin_thread(memory);

    return start.function(start.argument);
}

static int run_other(void *memory)
{
    struct start start = begin_thread(memory);

    return start.other(start.argument);
}

/* A sanitizer's function may come between this and the C library's. */
EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*function)(void *), void *argument)
{
    static int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *),
                       void *);
    struct start *start = take_start(attributes, argument);
    int error;

    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "pthread_create");
    if (!start)
        return next(thread, attributes, function, argument);
    start->function = function;
    error = next(thread, attributes, run, start);
    if (error)
        give_start(start);
    return error;
}

EXPORT int thrd_create(thrd_t *thread, thrd_start_t function, void *argument)
{
    static int (*next)(thrd_t *, thrd_start_t, void *);
    struct start *start = take_start(NULL, argument);
    int result;

    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "thrd_create");
    if (!start)
        return next(thread, function, argument);
    start->other = function;
    result = next(thread, run_other, start);
    if (result != thrd_success)
        give_start(start);
    return result;
}

/* ---- Our signal ---- */

/* A program does not see the signal: it stays allowed, and what the program
 * sets for it is only kept. */

static struct sigaction program_action;

static const sigset_t *without_ours(int how, const sigset_t *set,
                                    sigset_t *copy)
{
    if (!ring || !set || how == SIG_UNBLOCK)
        return set;
    *copy = *set;
    sigdelset(copy, signal_number);
    return copy;
}

EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    static int (*next)(int, const sigset_t *, sigset_t *);
    sigset_t copy;

    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "sigprocmask");
    return next(how, without_ours(how, set, &copy), old);
}

EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    static int (*next)(int, const sigset_t *, sigset_t *);
    sigset_t copy;

    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "pthread_sigmask");
    return next(how, without_ours(how, set, &copy), old);
}

EXPORT int sigaction(int number, const struct sigaction *action,
                     struct sigaction *old)
{
    static int (*next)(int, const struct sigaction *, struct sigaction *);
    struct sigaction before = program_action, copy;

    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "sigaction");
    if (!ring || number != signal_number) {
        if (ring && action) {
            copy = *action;
            sigdelset(&copy.sa_mask, signal_number);
            action = &copy;
        }
        return next(number, action, old);
    }
    if (action)
        program_action = *action;
    if (old)
        *old = before;
    return 0;
}

EXPORT sighandler_t signal(int number, sighandler_t handler)
{
    static sighandler_t (*next)(int, sighandler_t);
    sighandler_t before = program_action.sa_handler;

    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "signal");
    if (!ring || number != signal_number)
        return next(number, handler);
    program_action = (struct sigaction){.sa_handler = handler};
    return before;
}

/* ---- Processes ---- */

/* A child has its parent's memory, but no timers. */
static void begin_child(void)
{
    maps_locked = 0;
    put_process(TRACE_PERF_FORK);
    start_timer();
}

static struct trace_timer_ring *attach(int id)
{
    struct trace_timer_ring *memory;
    struct shmid_ds status;

    if (shmctl(id, IPC_STAT, &status) || status.shm_segsz != sizeof(*memory))
        return NULL;
    memory = shmat(id, NULL, 0);
    if (memory == (void *)-1)
        return NULL;
    if (memory->magic == TRACE_TIMER_MAGIC && memory->period &&
        memory->period <= 1000000000)
        return memory;
    shmdt(memory);
    return NULL;
}

/* The variable has the memory's id, and then the process that the test is: that
 * which is the first to have neither. */
static struct trace_timer_ring *read_variable(void)
{
    const char *text = getenv(TRACE_TIMERS_VARIABLE);
    const char *colon = text ? strchr(text, ':') : NULL;
    char longer[32];

    if (!text)
        return NULL;
    worker = (uint32_t)(colon ? strtoul(colon + 1, NULL, 10)
                              : (unsigned long)getpid());
    if (!colon && snprintf(longer, sizeof(longer), "%s:%u", text,
                           (unsigned)worker) < (int)sizeof(longer))
        setenv(TRACE_TIMERS_VARIABLE, longer, 1);
    return attach(atoi(text));
}

/* Valgrind runs a program by itself, and has no timers of processor time.
 * ThreadSanitizer has threads in which nothing of the C library may be called.
 */
static bool cannot_be_sampled(void)
{
    const char *list = getenv("LD_PRELOAD");

    return (list && strstr(list, "/vgpreload_")) ||
           dlsym(RTLD_DEFAULT, "__tsan_init");
}

static void find_stack(void)
{
    struct rlimit limit;
    pthread_attr_t attributes;
    void *low;
    size_t size;

    default_stack = 2 << 20;
    if (!getrlimit(RLIMIT_STACK, &limit) && limit.rlim_cur != RLIM_INFINITY)
        default_stack = limit.rlim_cur;
    if (pthread_getattr_np(pthread_self(), &attributes))
        return;
    if (!pthread_attr_getstack(&attributes, &low, &size)) {
        stack_low = (uintptr_t)low;
        stack_end = stack_low + size;
    }
    pthread_attr_destroy(&attributes);
}

/* Takes the last real-time signal that is handled by nobody and not ignored.
 * The handler runs on the stack where it interrupts: another one may be too
 * small for it. */
static bool take_signal(void)
{
    struct sigaction action = {.sa_sigaction = handle,
                               .sa_flags = SA_SIGINFO | SA_RESTART};
    struct sigaction set;
    sigset_t ours;

    sigfillset(&action.sa_mask);
    for (int number = SIGRTMAX; number >= SIGRTMIN; number--) {
        if (sigaction(number, NULL, &set) || set.sa_handler != SIG_DFL ||
            set.sa_flags & SA_SIGINFO)
            continue;
        sigemptyset(&ours);
        sigaddset(&ours, number);
        if (sigaction(number, &action, NULL) ||
            pthread_sigmask(SIG_UNBLOCK, &ours, NULL))
            return false;
        signal_number = number;
        return true;
    }
    return false;
}

static __attribute__((constructor)) void begin_process(void)
{
    int error = errno;
    struct trace_timer_ring *memory =
        cannot_be_sampled() ? NULL : read_variable();

    if (memory && take_signal()) {
        ring = memory;
        put_process(TRACE_PERF_FORK);
        put_process(TRACE_PERF_EXEC);
        put_maps();
        find_stack();
        pthread_atfork(NULL, NULL, begin_child);
        start_timer();
    }
    errno = error;
}
