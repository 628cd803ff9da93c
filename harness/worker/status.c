/* status.c: reports what this process does. It writes to memory shared with the
 * runner: that cannot fail, and the report outlives the process. */
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <testlog/test_log.h>

#include "harness/pending_output.h"
#include "harness/worker/worker.h"
#include "trace/base/callgrind.h"
#include "trace/base/clock.h"
#include "trace/base/descriptor.h"
#include "trace/record/profiler.h"

enum { PAGE = TEST_LOG_STATUS_PAGE };

static struct test_log_note nowhere, *mine = &nowhere;
static pid_t worker;
static volatile char *here; /* 1; in forked children 0; NULL: unknown */

/* Unmaps all pages but that of the worker's own note, so that a test with a
 * stray pointer cannot damage the notes of others. */
static void unmap_rest(struct test_log_status *of, size_t size)
{
    char *begin = (char *)of, *end = begin + size;
    char *page = begin + ((char *)mine - begin) / PAGE * PAGE;

    munmap(begin, (size_t)(page - begin));
    if (end > page + PAGE)
        munmap(page + PAGE, (size_t)(end - page - PAGE));
}

/* Takes the next note of the segment; false if there is none left. */
static bool take_note(struct test_log_status *of)
{
    uint32_t capacity = of->capacity;
    uint32_t number = __atomic_fetch_add(&of->taken, 1, __ATOMIC_RELAXED);

    if (number >= capacity) {
        shmdt(of);
        return false;
    }
    mine = test_log_status_note(of, number);
    unmap_rest(of, test_log_status_size(capacity));
    return true;
}

/* Makes a page that is empty in children, because getpid() is a system call. */
static void mark_process(void)
{
    void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (page == MAP_FAILED || madvise(page, PAGE, MADV_WIPEONFORK))
        return;
    here = page;
    *here = 1;
}

/* Programs that the test starts inherit the variable. A run within a test adds
 * its workers to the outer one's. */
static void set_worker_variable(void)
{
    const char *origin = test_log_session()->origin;
    const char *outer = getenv(TEST_LOG_WORKER);
    char text[1024];

    snprintf(text, sizeof(text), "<%ld %s>%s", (long)worker,
             origin ? origin : "", outer ? outer : "");
    setenv(TEST_LOG_WORKER, text, 1);
}

/* Options of the session, which a test may replace. */
static char counts[PATH_MAX]; /* the folder where callgrind counts; "": none */
static bool wants_instructions;

static void read_options(void)
{
    const struct test_log_session *session = test_log_session();

    snprintf(counts, sizeof(counts), "%s",
             session->counts ? session->counts : "");
    wants_instructions =
        session->profiler && trace_profiler_of(session->profiler).instructions;
}

void test_log_status_begin(void)
{
    const char *id = test_log_session()->status;
    const struct criterion_test *test = criterion_current_test;
    struct test_log_status *of =
        id && test ? shmat(atoi(id), NULL, 0) : (void *)-1;

    worker = getpid();
    set_worker_variable();
    read_options();
    /* A test runs even without a note. */
    if (of != (void *)-1 && take_note(of)) {
        mine->pid = (uint32_t)worker;
        mine->output = test_log_pending_at();
        trace_device_demand_at(&mine->demand);
        snprintf(mine->name, sizeof(mine->name), "%s/%s", test->category,
                 test->name);
        mark_process();
        __atomic_store_n(&mine->ready, 1, __ATOMIC_RELEASE);
    }
}

bool test_log_forked(void)
{
    return worker && getpid() != worker;
}

/* ---- What the test uses ---- */

static int sandbox;                     /* that the test begins in */
static struct trace_descriptor counter; /* of instructions; none: the kernel has
                                           none */

static void begin_counting(void)
{
    if (counts[0])
        trace_callgrind_begin(counts);
    else if (wants_instructions)
        counter = trace_descriptor_of(trace_count_instructions(true));
}

static void count(struct test_log_usage *usage)
{
    if (trace_callgrind_counts()) {
        usage->counter = TEST_LOG_COUNTER_CALLGRIND;
        usage->instructions = trace_callgrind_count();
    } else if (trace_descriptor_is_ours(&counter) &&
               read(counter.fd, &usage->instructions,
                    sizeof(usage->instructions)) > 0) {
        usage->counter = TEST_LOG_COUNTER_KERNEL;
    }
}

void test_log_status_usage_begin(void)
{
    if (mine == &nowhere)
        return;
    begin_counting();
    sandbox = prctl(PR_GET_SECCOMP, 0, 0, 0, 0);
    mine->before = test_log_usage_begin();
    count(&mine->before);
    __atomic_store_n(&mine->used, TEST_LOG_USAGE_BEGAN, __ATOMIC_RELEASE);
}

/* A sandbox that the test has entered may forbid these system calls. */
void test_log_status_usage_end(void)
{
    struct test_log_usage counted = {.instructions = 0};

    if (mine->used != TEST_LOG_USAGE_BEGAN || test_log_forked() ||
        prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != sandbox)
        return;
    count(&counted);
    mine->after = test_log_usage_now();
    mine->after.instructions = counted.instructions;
    __atomic_store_n(&mine->used, TEST_LOG_USAGE_ENDED, __ATOMIC_RELEASE);
}

/* ---- How it goes on ---- */

void test_log_status_returned(void)
{
    mine->returned = 1;
}

void test_log_status_closing(void)
{
    if (!mine->closing && !test_log_forked())
        mine->closing = trace_clock_ns(CLOCK_MONOTONIC);
}

void test_log_status_closed(void)
{
    if (!mine->closed && !test_log_forked())
        mine->closed = trace_clock_ns(CLOCK_MONOTONIC);
}

void test_log_known_failure(const char *why)
{
    uint32_t none = 0;

    if (!__atomic_compare_exchange_n(&mine->is_known, &none, 1, false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return;
    snprintf(mine->known, sizeof(mine->known), "%s",
             why && *why ? why : "no reason given");
    __atomic_store_n(&mine->is_known, 2, __ATOMIC_RELEASE);
}

void test_log_status_checking(bool on)
{
    mine->checking = on;
}

void test_log_status_assertion(unsigned line)
{
    mine->line = line;
    __atomic_store_n(&mine->asserting, line ? (uint32_t)syscall(SYS_gettid) : 0,
                     __ATOMIC_RELEASE);
}

/* SIGSTOP may stop the process a little later. */
static void await_look(void)
{
    while (__atomic_load_n(&mine->crashed, __ATOMIC_ACQUIRE) !=
           TEST_LOG_CRASH_SEEN)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

void test_log_status_crashing(int number, uint32_t thread)
{
    if (!here || !*here)
        return;
    mine->crashing_thread = thread;
    __atomic_store_n(&mine->crashing, (uint32_t)number, __ATOMIC_RELEASE);
}

void test_log_status_crash(const struct test_log_crash *crash)
{
    uint32_t none = TEST_LOG_CRASH_NONE;

    if (mine == &nowhere)
        return;
    /* If several threads crash, the first one counts. */
    if (__atomic_compare_exchange_n(&mine->crashed, &none,
                                    TEST_LOG_CRASH_WRITING, false,
                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        mine->crash = *crash;
        __atomic_store_n(&mine->crashed, TEST_LOG_CRASH_STOPPED,
                         __ATOMIC_RELEASE);
        signal(SIGCONT, SIG_DFL); /* a handler could end it with success */
        kill(getpid(), SIGSTOP);
    }
    await_look();
}

void test_log_status_stop(enum test_log_stop stop)
{
    const char *wanted = test_log_session()->debugger;
    const struct test_log_crash crash = {
        .code = stop, .thread = (uint32_t)syscall(SYS_gettid)};

    if (wanted && wanted[0] == '1' && getpid() == worker)
        test_log_status_crash(&crash);
}

void test_log_status_devices(void)
{
    mine->devices = 1;
}

void test_log_status_fail(const char *format, ...)
{
    uint32_t first = 0;
    va_list args;

    if (!__atomic_compare_exchange_n(&mine->failed, &first, 1, false,
                                     __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        return;
    va_start(args, format);
    vsnprintf(mine->reason, sizeof(mine->reason), format, args);
    va_end(args);
    __atomic_store_n(&mine->failed, 2, __ATOMIC_RELEASE);
}
