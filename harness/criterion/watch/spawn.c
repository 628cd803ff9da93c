/* spawn.c: finds the process of the worker that Criterion is starting.
 *
 * A worker reports its process in shared memory, but it may hang before that,
 * in a constructor or an allocator. Criterion's thread then hangs too, because
 * it waits for the worker to stop twice. So the runner notes each process that
 * it forks.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "harness/criterion/program/program.h"
#include "harness/criterion/watch/supervisor.h"
#include "harness/machine/now.h"
#include "harness/machine/process_tree.h"
#include "jobs.h"
#include "trace/base/valgrind_requests.h"

/* Written by Criterion's thread when it forks, and by the child. All atomic. */
struct spawn {
    uint64_t fork; /* which one, above the child's id; 0 in place of the id:
                      none, and the other members may change */
    uint64_t time;
    size_t number; /* of its job */
};

/* How long a worker may take to begin, if the machine is busy. */
static const uint64_t patience = UINT64_C(2000000000); /* ns */

static struct spawn *spawn; /* shared with the child; NULL: not watched */
static struct test_log_runner *runner;
static pthread_t criterion;
static uint64_t last_fork; /* the one that is going on: its child has a copy */
static pid_t freed;        /* the worker that was made to stop for Criterion */

/* BoxFort 0.1 passes this to a worker in a file in /dev/shm that both map. */
struct box {
    size_t size; /* of this struct and the name after it */
    const void *function;
    size_t segment;
    pid_t pid;
    struct {
        int tag, flags;
        void *base;
        int handle;
    } arena;
    size_t name_size;
    int ok; /* the worker has begun */
    int suspend;
};

/* Valgrind replaces the name, but a worker has BoxFort's variable. */
static bool has_box(pid_t pid)
{
    static char text[1 << 17];
    static const char variable[] = "\0BXFI_MAP=";
    ssize_t size =
        test_log_process_file(pid, "environ", text + 1, sizeof(text) - 1);

    return size > 0 &&
           memmem(text, (size_t)size + 1, variable, sizeof(variable) - 1);
}

/* Whether BoxFort started the process and it executes the test program. */
static bool is_worker(pid_t pid)
{
    char text[64] = "";

    test_log_process_file(pid, "cmdline", text, sizeof(text));
    return !strcmp(text, "boxfort-worker") ||
           (test_log_valgrind_folder()[0] && has_box(pid));
}

/* ---- Forks of the runner ---- */

static bool will_run(const struct test_log_job *job)
{
    return job->result->outcome == TEST_LOG_OUTCOME_NONE && !job->begun &&
           job->serial == runner->serial && !job->test->data->disabled;
}

static bool is_criterion(void)
{
    return spawn && runner->job_count &&
           pthread_equal(pthread_self(), criterion);
}

/* Criterion starts tests in the order of the jobs. A process that a hook forks
 * is not a test's. */
static void before_fork(void)
{
    size_t number;
    pid_t pid;

    if (!is_criterion())
        return;
    number = spawn->number;
    pid = (pid_t)(uint32_t)__atomic_load_n(&spawn->fork, __ATOMIC_ACQUIRE);
    if (pid && is_worker(pid))
        number++;
    while (number < runner->job_count && !will_run(&runner->jobs[number]))
        number++;
    last_fork += UINT64_C(1) << 32;
    __atomic_store_n(&spawn->fork, last_fork, __ATOMIC_RELAXED);
    __atomic_store_n(&spawn->number, number, __ATOMIC_RELEASE);
    __atomic_store_n(&spawn->time, test_log_now(), __ATOMIC_RELEASE);
    if (number < runner->job_count)
        runner->jobs[number].forked = spawn->time;
}

/* A child of a hook may run for the first time when Criterion has forked
 * again. */
static void in_child(void)
{
    uint64_t none = last_fork;

    if (is_criterion())
        __atomic_compare_exchange_n(&spawn->fork, &none,
                                    last_fork | (uint32_t)getpid(), false,
                                    __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

/* ---- The runner's second thread ---- */

/* Reads which process belongs to which job; false if there is none, or while
 * Criterion's thread changes it. */
static bool read_spawn(struct spawn *now)
{
    if (!spawn)
        return false;
    now->fork = __atomic_load_n(&spawn->fork, __ATOMIC_ACQUIRE);
    now->number = __atomic_load_n(&spawn->number, __ATOMIC_ACQUIRE);
    now->time = __atomic_load_n(&spawn->time, __ATOMIC_ACQUIRE);
    return (uint32_t)now->fork && now->number < runner->job_count &&
           now->fork == __atomic_load_n(&spawn->fork, __ATOMIC_RELAXED);
}

/* A test may have been stopped just after Criterion forked its worker. */
static bool is_starting(const struct test_log_job *job, pid_t pid)
{
    return will_run(job) || (job->left_out && !job->begun && is_worker(pid));
}

void test_log_spawn_update(void)
{
    struct test_log_job *job;
    struct spawn now;

    if (!read_spawn(&now))
        return;
    job = &runner->jobs[now.number];
    if (!is_starting(job, (pid_t)(uint32_t)now.fork) ||
        (job->pid && !job->starting))
        return;
    job->left_out = false;
    job->starting = true;
    job->running = true;
    job->started = now.time;
    job->pid = (uint32_t)now.fork;
}

static struct box *map_box(pid_t pid)
{
    char name[64];
    struct stat status;
    struct box *box = MAP_FAILED;
    int fd;

    snprintf(name, sizeof(name), "/bxfi_%ld", (long)pid);
    fd = shm_open(name, O_RDWR | O_NOFOLLOW, 0);
    if (fd < 0)
        return NULL;
    if (!fstat(fd, &status) && (size_t)status.st_size > sizeof(*box))
        box =
            mmap(NULL, sizeof(*box), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return box == MAP_FAILED ? NULL : box;
}

static bool was_continued(pid_t pid, int keep)
{
    siginfo_t info = {0};

    return !waitid(P_PID, (id_t)pid, &info, WCONTINUED | WNOHANG | keep) &&
           info.si_pid;
}

/* Whether a process has stopped and its parent does not know yet. */
static bool has_just_stopped(pid_t pid)
{
    siginfo_t info = {0};

    return !waitid(P_PID, (id_t)pid, &info, WSTOPPED | WNOHANG | WNOWAIT) &&
           info.si_pid;
}

/* Makes the worker stop as if it had begun; true once Criterion's thread has
 * noticed that and resumed it. */
static bool let_begin(struct box *box, pid_t pid)
{
    if (box->pid != pid || box->size != sizeof(*box) + box->name_size)
        return true; /* another version of BoxFort: its layout may differ */
    if (box->ok)
        return was_continued(pid, WNOWAIT);
    while (was_continued(pid, 0))
        ;
    freed = pid;
    box->ok = 1;
    kill(pid, SIGSTOP);
    return false;
}

/* Criterion's thread ends the run if it hears of a worker's death before it has
 * heard of the worker's stop. With Criterion's --debug, a worker stops once
 * more for the debugger. */
bool test_log_spawn_release(const struct test_log_job *job)
{
    bool debugs = criterion_options.debug != CR_DBG_NONE, released;
    pid_t pid = (pid_t)job->pid;
    struct box *box;

    if (!debugs && test_log_now() - job->started < patience)
        return false;
    box = map_box(pid);
    if (box) {
        released = let_begin(box, pid);
        munmap(box, sizeof(*box));
        return released;
    }
    if (is_worker(pid)) /* it has begun after all */
        return debugs || freed == pid || !has_just_stopped(pid);
    kill(pid, SIGSTOP);
    return false;
}

/* ---- Begin and end ---- */

void test_log_spawn_begin(struct test_log_runner *of)
{
    static bool listening;
    void *memory = mmap(NULL, sizeof(*spawn), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        return;
    trace_untrack(memory, sizeof(*spawn));
    runner = of;
    criterion = pthread_self();
    if (listening || !pthread_atfork(before_fork, NULL, in_child)) {
        listening = true;
        spawn = memory;
    }
}

void test_log_spawn_again(void)
{
    if (!spawn)
        return;
    spawn->fork = last_fork;
    spawn->number = 0;
}

void test_log_spawn_end(void)
{
    if (spawn)
        munmap(spawn, sizeof(*spawn));
    spawn = NULL;
}
