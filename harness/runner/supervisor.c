/* supervisor.c: enforces timeouts, takes signals and paints the status line,
 * from a second thread beside Criterion's.
 *
 * Criterion would end these, too, but where one test's limit is taken back
 * while the next one's is set, two threads of its may be left that both end
 * the same test, of which the second finds it freed, and the run dies.
 *
 * Criterion's thread has no part in signals: they are blocked there, and
 * workers get back the mask that the runner was started with.
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

#include "harness/results/notice.h"
#include "harness/results/run_folder.h"
#include "harness/runner/supervisor.h"

enum { TICK = 100000000 }; /* ns */
enum { PUMP_TICK = TICK / 10 };
enum { GRACE = 3 * TICK }; /* for a test to end of SIGPROF */
enum { SIGNALS_TAKEN = 4 };
enum { STACK = 256 * 1024 };

static const int taken[SIGNALS_TAKEN] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t thread;
static sigset_t before, ours;
static bool active, ending;

void test_log_supervisor_enter(void)
{
    pthread_mutex_lock(&lock);
    test_log_progress_erase();
}

void test_log_supervisor_leave(void)
{
    pthread_mutex_unlock(&lock);
}

/* ---- Ending tests ---- */

/* A worker leads a group of its own: whatever it started goes with it. */
static bool end(const struct test_log_job *job)
{
    pid_t pid = (pid_t)job->pid;

    if (!pid || (job->unborn && !test_log_spawn_release(job)))
        return false;
    return !kill(-pid, SIGKILL) || !kill(pid, SIGKILL);
}

/* Whether a process is there; a number that is no child's may be anybody's. */
static bool lives(pid_t pid)
{
    siginfo_t info = {0};

    return pid &&
           !waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) &&
           !info.si_pid;
}

/* When a test is to be told that its time is over, or killed; 0: never. */
static uint64_t deadline_of(const struct test_log_job *job)
{
    uint64_t from = job->late ? job->late : job->started;

    if (!test_log_supervisor_limits() || !job->limit || !job->pid ||
        job->killed)
        return 0;
    return from + (job->late ? GRACE : job->limit) + job->paused;
}

/* SIGPROF is what Criterion sends, but not to a worker that it still starts. */
static void end_late(struct test_log_job *job, uint64_t now)
{
    uint64_t deadline = deadline_of(job);
    pid_t pid = (pid_t)job->pid;

    if (!deadline || now < deadline || !lives(pid))
        return;
    if (job->late || job->unborn)
        job->killed = end(job);
    if (!job->late && (job->unborn || !kill(pid, SIGPROF))) {
        job->late = now;
        job->paused = 0; /* what it was given before is used up */
    }
}

/* The runner was stopped, or its machine was: tests are given that time. */
static void give_time(struct test_log_runner *runner, uint64_t ns)
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
        uint64_t deadline = deadline_of(job);

        if (test_log_output_pipe_pump(job) && tick > now + PUMP_TICK)
            tick = now + PUMP_TICK;
        if (test_log_job_runs(job) && deadline > now && deadline < tick)
            tick = deadline;
    }
    return tick - now;
}

static void name_slow(const struct test_log_runner *runner,
                      struct test_log_job *job, uint64_t now)
{
    uint64_t slow = runner->options->output.slow;

    if (!slow || job->named || now - job->started < slow ||
        !test_log_progress_shown())
        return;
    job->named = true;
    test_log_progress_erase();
    test_log_notice("slow: %s has been running for more than %g s",
                    test_log_name(job->result), (double)slow / 1e9);
}

static void look_after(struct test_log_runner *runner, uint64_t now)
{
    for (size_t i = 0; i < runner->job_count; i++) {
        struct test_log_job *job = &runner->jobs[i];

        if (job->running) /* maybe beyond its end, in atexit(3) */
            end_late(job, now);
        if (!test_log_job_runs(job))
            continue;
        name_slow(runner, job, now);
        if (runner->run->interrupted && !job->ended)
            job->ended = end(job);
    }
}

/* ---- Signals ---- */

static void print_spans(const struct test_log_run *run,
                        const struct test_log_result *result)
{
    struct trace_reader *reader = test_log_recording(run, result);

    if (reader)
        test_log_print_open_spans(reader, "    ");
    trace_reader_close(reader);
}

/* Which tests run, and in which spans they are. */
static void print_running(const struct test_log_runner *runner, uint64_t now)
{
    size_t running = 0, done = 0;

    for (size_t i = 0; i < runner->job_count; i++) {
        const struct test_log_job *job = &runner->jobs[i];

        done += job->result->outcome != TEST_LOG_OUTCOME_NONE;
        if (!test_log_job_runs(job))
            continue;
        running++;
        test_log_notice("%s has been running for %.1f s",
                        test_log_name(job->result),
                        (double)(now - job->started) / 1e9);
        print_spans(runner->run, job->result);
    }
    test_log_notice("%zu of %zu tests done, %zu running", done,
                    runner->job_count, running);
}

static void die(const struct test_log_runner *runner, int number)
{
    for (size_t i = 0; i < runner->job_count; i++)
        if (test_log_job_runs(&runner->jobs[i]))
            end(&runner->jobs[i]);
    signal(number, SIG_DFL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    raise(number);
    _exit(128 + number);
}

/* `testlog run` hands on a signal that a terminal or a script has sent to the
 * whole group already. */
static bool repeats(const struct test_log_run *run, const siginfo_t *info)
{
    return run->interrupted && run->foreign && info->si_code == SI_USER &&
           info->si_pid == getppid();
}

static void interrupt(struct test_log_runner *runner, const siginfo_t *info)
{
    if (repeats(runner->run, info))
        return;
    if (runner->run->interrupted)
        die(runner, info->si_signo);
    runner->run->interrupted = info->si_signo;
    test_log_notice("interrupted by %s: stopping the running tests; press ^C "
                    "again to quit now",
                    test_log_signal(info->si_signo));
    test_log_stop(runner, TEST_LOG_INTERRUPTED);
}

static void take(struct test_log_runner *runner, const siginfo_t *info)
{
    test_log_progress_erase();
    test_log_status_update(runner);
    test_log_spawn_update(); /* before stopping: else it counts as not begun */
    if (info->si_signo == SIGUSR1)
        print_running(runner, test_log_now());
    else
        interrupt(runner, info);
}

/* After a tick that came far too late, Criterion's thread has a whole tick to
 * notice the tests that ended meanwhile, but only once: on a machine where
 * every tick is late, tests must end, too. Returns when to look again. */
static uint64_t look(struct test_log_runner *runner, uint64_t due)
{
    static bool waited;
    uint64_t now = test_log_now();
    bool stood_still = now > due + TICK;

    test_log_status_update(runner);
    test_log_spawn_update();
    if (stood_still)
        give_time(runner, now - due);
    if (!stood_still || waited)
        look_after(runner, now);
    waited = stood_still && !waited;
    test_log_progress_paint(runner, now);
    now = test_log_now();
    return now + (stood_still ? TICK : next_tick(runner, now));
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
            take(runner, &info);
        due = look(runner, due);
        pthread_mutex_unlock(&lock);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* ---- From the beginning to the end ---- */

static void restore_mask(void)
{
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* A signal that is ignored, as nohup has it, stays so. */
static bool ignored(int number)
{
    struct sigaction action;

    return !sigaction(number, NULL, &action) && action.sa_handler == SIG_IGN;
}

/* Under a limit to memory, a stack of the default size may be too large. */
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
    active = !pthread_atfork(NULL, NULL, restore_mask) && !start_thread(runner);
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
