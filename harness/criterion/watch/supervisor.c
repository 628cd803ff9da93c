/* supervisor.c: enforces timeouts, takes signals and paints the status line,
 * from a second thread beside Criterion's.
 *
 * Criterion's timers race: two threads can end the same test, and the second
 * uses freed memory.
 *
 * Criterion's thread takes no signals: they are blocked there. Workers get back
 * the mask that the runner was started with.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harness/criterion/program/program.h"
#include "harness/criterion/watch/supervisor.h"
#include "harness/machine/notice.h"
#include "harness/machine/now.h"
#include "harness/machine/process_tree.h"
#include "harness/run/files/writers.h"
#include "harness/run/folder/run_folder.h"
#include "harness/run/folder/survivors.h"
#include "harness/session.h"
#include "jobs.h"
#include "progress.h"

enum { TICK = 100000000 }; /* ns */
enum { PUMP_TICK = TICK / 10 };
enum { GRACE = 3 * TICK }; /* for a test to end after SIGPROF */
enum { SIGNALS_TAKEN = 4 };
enum { STACK = 256 * 1024 };

static const int taken[SIGNALS_TAKEN] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1};

static pthread_mutex_t lock = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_t thread;
static sigset_t before, ours;
static bool active, ending;
static bool forking; /* the lock is held meanwhile */
static uint64_t interrupted_at;

void test_log_supervisor_enter(void)
{
    pthread_mutex_lock(&lock);
    test_log_progress_erase();
}

void test_log_supervisor_leave(void)
{
    pthread_mutex_unlock(&lock);
}

/* How long the stacks of a test may take, in ns; valgrind is slower. */
static uint64_t look_time(void)
{
    enum { LOOK = 2000000000, SLOWER = 10 };

    return test_log_valgrind_folder()[0] ? (uint64_t)LOOK * SLOWER : LOOK;
}

/* ---- Timeouts ---- */

/* A worker leads its own process group, so this kills its children too. */
static bool kill_test(const struct test_log_job *job)
{
    pid_t pid = (pid_t)job->pid;

    if (!pid || (job->starting && !test_log_spawn_release(job)))
        return false;
    return !kill(-pid, SIGKILL) || !kill(pid, SIGKILL);
}

/* Whether a child is alive. The id of another process may have been reused. For
 * a test that asks to be traced, waitid() also reports stops. */
static bool is_alive(pid_t pid)
{
    siginfo_t info = {0};

    return pid &&
           !waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) &&
           (!info.si_pid || info.si_code == CLD_TRAPPED ||
            info.si_code == CLD_STOPPED);
}

/* Returns when to signal a test for its timeout, or to kill it; 0: never. */
static uint64_t deadline_of(const struct test_log_job *job, uint64_t now)
{
    uint64_t from = job->late ? job->late : job->started;

    if (!test_log_supervisor_limits() || !job->limit || !job->pid ||
        job->killed)
        return 0;
    return from + job->paused +
           (job->late ? GRACE
                      : job->limit + job->looked +
                            test_log_status_closing_time(job, now));
}

/* Ends the processes that the test has started, once it has died. Returns false
 * if they cannot be found. */
static bool end_children(const struct test_log_runner *runner,
                         const struct test_log_job *job)
{
    struct test_log_tree tree;

    if (!test_log_tree_begin(&tree, runner->run, (pid_t)job->pid))
        return false;
    test_log_tree_find(&tree);
    test_log_tree_end(&tree, test_log_name(job->result));
    return true;
}

/* Criterion's own timeout sends SIGPROF, too. The test is stopped until it gets
 * its signal, because it must not end with success meanwhile. */
static bool signal_overdue(const struct test_log_runner *runner,
                           struct test_log_job *job)
{
    pid_t pid = (pid_t)job->pid;
    bool sent;

    test_log_status_take_devices(job);
    kill(pid, SIGSTOP);
    job->abandoned = test_log_status_abandoned(job);
    test_log_status_look_at_usage(job);
    test_log_status_take_output(runner->run, job, runner->options->output.live);
    test_log_stacks_look(runner, job, NULL, test_log_now() + look_time());
    job->alone = !runner->options->leave_children && end_children(runner, job);
    sent = !kill(pid, SIGPROF);
    kill(pid, SIGCONT);
    return sent;
}

/* A worker that is starting is killed without SIGPROF. */
static void end_overdue(const struct test_log_runner *runner,
                        struct test_log_job *job, uint64_t now)
{
    uint64_t deadline = deadline_of(job, now);

    if (!deadline || now < deadline || !is_alive((pid_t)job->pid))
        return;
    if (job->late && !job->starting && job->alone)
        job->killed = !kill((pid_t)job->pid, SIGKILL);
    else if (job->late || job->starting)
        job->killed = kill_test(job);
    if (!job->late &&
        (job->starting ? job->killed : signal_overdue(runner, job))) {
        job->late = test_log_now();
        job->paused = 0; /* earlier extra time is used up */
    }
}

/* Extends the time of running tests after the runner or the machine was
 * stopped. */
static void extend_time(struct test_log_runner *runner, uint64_t ns)
{
    for (size_t i = 0; i < runner->job_count; i++)
        if (runner->jobs[i].running)
            runner->jobs[i].paused += ns;
}

/* Returns how long to sleep until something has to be done. */
static uint64_t next_tick(struct test_log_runner *runner, uint64_t now)
{
    uint64_t tick = now + TICK;

    for (size_t i = 0; i < runner->job_count; i++) {
        struct test_log_job *job = &runner->jobs[i];
        uint64_t deadline = deadline_of(job, now);

        if (test_log_output_pipe_pump(job) && tick > now + PUMP_TICK)
            tick = now + PUMP_TICK;
        if (test_log_job_runs(job) && deadline > now && deadline < tick)
            tick = deadline;
    }
    return tick - now;
}

static void print_slow(const struct test_log_runner *runner,
                       struct test_log_job *job, uint64_t now)
{
    const struct test_log_output *output = &runner->options->output;

    if (!output->named || job->slow || now - job->started < output->named)
        return;
    job->slow = true;
    test_log_progress_erase();
    test_log_print_running(output, test_log_name(job->result), job->limit);
}

/* All running tests share the time for stacks. A worker that is starting stops
 * itself for Criterion, and only Criterion may resume it. */
static void end_interrupted(const struct test_log_runner *runner,
                            struct test_log_job *job)
{
    bool runs = job->pid && !job->starting;

    if (runs)
        test_log_status_take_devices(job);
    if (runs && !kill((pid_t)job->pid, SIGSTOP)) {
        test_log_status_take_output(runner->run, job,
                                    runner->options->output.live);
        test_log_stacks_look(runner, job, NULL, interrupted_at + look_time());
    }
    job->ended = kill_test(job);
}

/* The test may continue under the debugger, and Criterion must continue with
 * it. */
static void debug(const struct test_log_runner *runner,
                  const struct test_log_job *job,
                  const struct test_log_crash *crash)
{
    struct test_log_debugger debugger;

    if (!test_log_debugger_begin(&debugger, runner, job, crash))
        return;
    test_log_supervisor_leave();
    test_log_debugger_run(&debugger);
    test_log_supervisor_enter();
}

static void look_at_crash(struct test_log_runner *runner,
                          struct test_log_job *job)
{
    const struct test_log_crash *crash = test_log_status_crash_of(job);

    if (!crash || !is_alive((pid_t)job->pid))
        return;
    if (!job->seen) {
        test_log_status_look_at_usage(job);
        if (crash->signal || test_log_is_throw(crash))
            test_log_stacks_look(runner, job, crash,
                                 test_log_now() + look_time());
        debug(runner, job, crash);
        job->paused += GRACE; /* its death is no timeout */
    }
    job->seen = true;
    test_log_status_seen(job);
}

/* In a sandbox, the crash handler's first system call kills its thread or the
 * process. The process must not live on without the thread. */
static void end_sandboxed(struct test_log_job *job)
{
    int signal = test_log_status_sandboxed(job);

    /* For a dead process, the kernel reports the signal. */
    if (!signal || !job->running || !is_alive((pid_t)job->pid))
        return;
    job->sandboxed = signal;
    kill_test(job);
}

static void check_tests(struct test_log_runner *runner, uint64_t now)
{
    test_log_trees_check(now);
    for (size_t i = 0; i < runner->job_count; i++) {
        struct test_log_job *job = &runner->jobs[i];

        look_at_crash(runner, job);
        end_sandboxed(job);
        if (job->running) /* perhaps in atexit(3), after its end */
            end_overdue(runner, job, now);
        if (!test_log_job_runs(job))
            continue;
        print_slow(runner, job, now);
        if (runner->run->interrupted && !job->ended)
            end_interrupted(runner, job);
    }
}

/* ---- Signals ---- */

static void print_spans(const struct test_log_run *run,
                        const struct test_log_result *result)
{
    struct trace_reader *reader = test_log_recording(run, result);
    struct trace_text alive = {0};

    if (reader) {
        test_log_add_living(&alive, reader);
        test_log_print_open_spans(reader, alive.data ? alive.data : "", "    ");
    }
    trace_text_free(&alive);
    trace_reader_close(reader);
}

/* Prints which tests are running, and in which spans they are. */
static void print_running(const struct test_log_runner *runner, uint64_t now)
{
    size_t running = 0, done = 0;

    for (size_t i = 0; i < runner->job_count; i++) {
        struct test_log_job *job = &runner->jobs[i];

        done += job->result->outcome != TEST_LOG_OUTCOME_NONE;
        if (!test_log_job_runs(job))
            continue;
        running++;
        test_log_notice("%s has been running for %.1f s",
                        test_log_name(job->result),
                        (double)(now - job->started) / 1e9);
        print_spans(runner->run, job->result);
        test_log_stacks_look(runner, job, NULL, now + look_time());
        test_log_print_stacks(runner->run, job->result);
    }
    test_log_notice("%zu of %zu tests done, %zu running", done,
                    runner->job_count, running);
}

static void die(const struct test_log_runner *runner, int number)
{
    for (size_t i = 0; i < runner->job_count; i++)
        if (test_log_job_runs(&runner->jobs[i]))
            kill_test(&runner->jobs[i]);
    signal(number, SIG_DFL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    raise(number);
    _exit(128 + number);
}

/* `testlog run` forwards signals, although a terminal or a script may have sent
 * them to the whole group already. */
static bool is_repeated(const struct test_log_run *run, const siginfo_t *info)
{
    return run->interrupted && test_log_is_part(run) &&
           info->si_code == SI_USER && info->si_pid == getppid();
}

static void interrupt(struct test_log_runner *runner, const siginfo_t *info)
{
    if (is_repeated(runner->run, info))
        return;
    if (runner->run->interrupted)
        die(runner, info->si_signo);
    runner->run->interrupted = info->si_signo;
    interrupted_at = test_log_now();
    test_log_notice("interrupted by %s: stopping the running tests; press ^C "
                    "again to quit now",
                    test_log_signal(info->si_signo));
    test_log_stop(runner, TEST_LOG_INTERRUPTED);
}

static void handle_signal(struct test_log_runner *runner, const siginfo_t *info)
{
    test_log_progress_erase();
    test_log_status_update(runner);
    test_log_spawn_update(); /* first, so that a starting test counts as begun
                              */
    if (info->si_signo == SIGUSR1)
        print_running(runner, test_log_now());
    else
        interrupt(runner, info);
}

/* After a very late tick, Criterion's thread gets a whole tick to notice the
 * tests that ended meanwhile. It gets no second one in a row, because timeouts
 * must work even if every tick is late. Returns when to check again. */
static uint64_t check(struct test_log_runner *runner, uint64_t due)
{
    static bool waited;
    uint64_t now = test_log_now();
    bool is_late = now > due + TICK;

    test_log_status_update(runner);
    test_log_spawn_update();
    if (is_late)
        extend_time(runner, now - due);
    if (!is_late || waited)
        check_tests(runner, now);
    waited = is_late && !waited;
    test_log_progress_paint(runner, now);
    now = test_log_now();
    return now + (is_late ? TICK : next_tick(runner, now));
}

static void *supervise(void *context)
{
    struct test_log_runner *runner = context;
    uint64_t due = test_log_now() + TICK;
    siginfo_t info;

    for (;;) {
        uint64_t now = test_log_now();
        struct timespec tick = {.tv_nsec = due > now ? (long)(due - now) : 0};
        int number = sigtimedwait(&ours, &info, &tick);

        pthread_mutex_lock(&lock);
        if (ending)
            break;
        if (number > 0)
            handle_signal(runner, &info);
        due = check(runner, due);
        pthread_mutex_unlock(&lock);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* ---- Forks ---- */

/* Sanitizers that replace malloc define this. */
extern char __sanitizer_install_malloc_and_free_hooks[] __attribute__((weak));

/* Such an allocator stays locked in a child that is forked while another thread
 * allocates: Criterion starts no worker while the supervisor works. */
static void before_fork(void)
{
    forking = __sanitizer_install_malloc_and_free_hooks &&
              !pthread_mutex_lock(&lock); /* fails if this thread has it */
}

static void in_parent(void)
{
    if (forking)
        pthread_mutex_unlock(&lock);
}

static void restore_mask(void)
{
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void in_child(void)
{
    lock = (pthread_mutex_t)PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
    restore_mask();
}

static bool watch_forks(void)
{
    static bool watched;

    watched = watched || !pthread_atfork(before_fork, in_parent, in_child);
    return watched;
}

/* ---- Begin and end ---- */

/* A signal that was ignored, as under nohup, stays ignored. */
static bool ignored(int number)
{
    struct sigaction action;

    return !sigaction(number, NULL, &action) && action.sa_handler == SIG_IGN;
}

/* A stack of the default size may exceed a memory limit. */
static int start_thread(struct test_log_runner *runner)
{
    pthread_attr_t attributes;
    int error = pthread_attr_init(&attributes);

    if (error)
        return error;
    pthread_attr_setstacksize(&attributes, STACK);
    error = pthread_create(&thread, &attributes, supervise, runner);
    pthread_attr_destroy(&attributes);
    return error;
}

void test_log_supervisor_begin(struct test_log_runner *runner)
{
    ending = false;
    sigemptyset(&ours);
    for (size_t i = 0; i < SIGNALS_TAKEN; i++)
        if (!ignored(taken[i]))
            sigaddset(&ours, taken[i]);
    sigaddset(&ours, SIGUSR1); /* it ends the thread, too */
    test_log_spawn_begin(runner);
    pthread_sigmask(SIG_BLOCK, &ours, &before);
    active = watch_forks() && !start_thread(runner);
    if (!active)
        restore_mask();
}

bool test_log_supervisor_limits(void)
{
    return active && test_log_status_is_open();
}

void test_log_supervisor_end(void)
{
    if (active) {
        test_log_supervisor_enter();
        test_log_progress_end();
        ending = true;
        test_log_supervisor_leave();
        pthread_kill(thread, SIGUSR1);
        pthread_join(thread, NULL);
        restore_mask();
    }
    active = false;
    test_log_spawn_end();
    test_log_status_close();
}
