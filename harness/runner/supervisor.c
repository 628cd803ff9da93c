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

#include "harness/watch.h"

enum { TICK = 100000000 }; /* ns */
enum { DRAIN_TICK = TICK / 10 };
enum { GRACE = 3 * TICK }; /* for a test to end of SIGPROF */
enum { SIGNALS_TAKEN = 4 };
enum { STACK = 256 * 1024 };

static const int taken[SIGNALS_TAKEN] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1};

static struct test_log_run *run;
static const struct test_log_options *options;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t thread;
static sigset_t before, ours;
static bool active, done;

/* The clock of a virtual machine may step back; this one stands still. */
uint64_t test_log_now(void)
{
    static uint64_t latest;
    uint64_t seen = __atomic_load_n(&latest, __ATOMIC_RELAXED), now;
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    now = (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
    do {
        if (now <= seen)
            return seen;
    } while (!__atomic_compare_exchange_n(&latest, &seen, now, true,
                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return now;
}

void test_log_supervisor_enter(void)
{
    pthread_mutex_lock(&lock);
    test_log_progress_erase();
}

void test_log_supervisor_leave(void)
{
    pthread_mutex_unlock(&lock);
}

static bool runs(const struct test_log_result *result)
{
    return result->running && result->outcome == TEST_LOG_OUTCOME_NONE;
}

/* ---- Ending tests ---- */

/* A worker leads a group of its own: whatever it started goes with it. */
static bool end(const struct test_log_result *result)
{
    pid_t pid = (pid_t)result->pid;

    if (!pid || (result->unborn && !test_log_spawn_release(result)))
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
static uint64_t deadline_of(const struct test_log_result *result)
{
    uint64_t from = result->late ? result->late : result->started;

    if (!test_log_supervisor_limits() || !result->limit || !result->pid ||
        result->killed)
        return 0;
    return from + (result->late ? GRACE : result->limit) + result->paused;
}

/* SIGPROF is what Criterion sends, but not to a worker that it still starts. */
static void end_late(struct test_log_result *result, uint64_t now)
{
    uint64_t deadline = deadline_of(result);
    pid_t pid = (pid_t)result->pid;

    if (!deadline || now < deadline || !lives(pid))
        return;
    if (result->late || result->unborn)
        result->killed = end(result);
    if (!result->late && (result->unborn || !kill(pid, SIGPROF))) {
        result->late = now;
        result->paused = 0; /* what it was given before is used up */
    }
}

/* The runner was stopped, or its machine was: tests are given that time. */
static void give_time(uint64_t ns)
{
    for (size_t i = 0; i < run->count; i++)
        if (run->results[i].running)
            run->results[i].paused += ns;
}

static uint64_t next_tick(uint64_t now)
{
    uint64_t tick = now + TICK;

    for (size_t i = 0; i < run->count; i++)
        if (test_log_output_pipe_pump(&run->results[i]))
            tick = now + DRAIN_TICK;
    for (size_t i = 0; i < run->count; i++) {
        uint64_t deadline = deadline_of(&run->results[i]);

        if (runs(&run->results[i]) && deadline > now && deadline < tick)
            tick = deadline;
    }
    return tick - now;
}

static void note_slow(struct test_log_result *result, uint64_t now)
{
    if (!options->slow || result->noted ||
        now - result->started < options->slow || !test_log_progress_shown())
        return;
    result->noted = true;
    test_log_progress_erase();
    test_log_notice("slow: %s runs for more than %g s", test_log_name(result),
                    (double)options->slow / 1e9);
}

static void look_after(uint64_t now)
{
    for (size_t i = 0; i < run->count; i++) {
        struct test_log_result *result = &run->results[i];

        if (result->running) /* maybe beyond its end, in atexit(3) */
            end_late(result, now);
        if (!runs(result))
            continue;
        note_slow(result, now);
        if (run->interrupted && !result->ended)
            result->ended = end(result);
    }
}

/* ---- Signals ---- */

static void say_spans(const struct test_log_result *result)
{
    struct trace_reader *reader = test_log_recording(run, result);

    if (reader)
        test_log_print_open_spans(reader, "    ");
    trace_reader_close(reader);
}

/* What runs now, and in which spans it is. */
static void say_running(uint64_t now)
{
    size_t running = 0, over = 0;

    for (size_t i = 0; i < run->count; i++) {
        const struct test_log_result *result = &run->results[i];

        over += result->outcome != TEST_LOG_OUTCOME_NONE;
        if (!runs(result))
            continue;
        running++;
        test_log_notice("%s has run for %.1f s", test_log_name(result),
                        (double)(now - result->started) / 1e9);
        say_spans(result);
    }
    test_log_notice("%zu of %zu tests are done, %zu run", over, run->count,
                    running);
}

static void die(int number)
{
    for (size_t i = 0; i < run->count; i++)
        if (runs(&run->results[i]))
            end(&run->results[i]);
    signal(number, SIG_DFL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    raise(number);
    _exit(128 + number);
}

/* `testlog run` hands on a signal that a terminal or a script has sent to the
 * whole group already. */
static bool repeats(const siginfo_t *info)
{
    return run->interrupted && run->foreign && info->si_code == SI_USER &&
           info->si_pid == getppid();
}

static void interrupt(const siginfo_t *info)
{
    if (repeats(info))
        return;
    if (run->interrupted)
        die(info->si_signo);
    run->interrupted = info->si_signo;
    test_log_notice("interrupted by %s: what runs is ended; once more ends "
                    "everything at once",
                    test_log_signal(info->si_signo));
    test_log_stop(TEST_LOG_INTERRUPTED);
}

static void take(const siginfo_t *info)
{
    test_log_progress_erase();
    test_log_status_update(run);
    test_log_spawn_read(); /* before stopping: else it counts as not begun */
    if (info->si_signo == SIGUSR1)
        say_running(test_log_now());
    else
        interrupt(info);
}

/* After a tick that came far too late, Criterion's thread has a whole tick to
 * hear of the tests that ended meanwhile. It has no second one: on a machine
 * where every tick is late, tests must end, too. Returns when to look again. */
static uint64_t look(uint64_t due)
{
    static bool waited;
    uint64_t now = test_log_now();
    bool stood_still = now > due + TICK;

    test_log_status_update(run);
    test_log_spawn_read();
    if (stood_still)
        give_time(now - due);
    if (!stood_still || waited)
        look_after(now);
    waited = stood_still && !waited;
    test_log_progress_paint(now);
    now = test_log_now();
    return now + (stood_still ? TICK : next_tick(now));
}

static void *watch(void *unused)
{
    uint64_t due = test_log_now() + TICK;
    siginfo_t info;

    for (;;) {
        uint64_t now = test_log_now();
        struct timespec tick = {.tv_nsec = due > now ? (long)(due - now) : 0};
        int number = sigtimedwait(&ours, &info, &tick);

        pthread_mutex_lock(&lock);
        if (done)
            break;
        if (number > 0)
            take(&info);
        due = look(due);
        pthread_mutex_unlock(&lock);
    }
    pthread_mutex_unlock(&lock);
    return unused;
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
static int start_thread(void)
{
    pthread_attr_t attributes;
    int error = pthread_attr_init(&attributes);

    if (error)
        return error;
    pthread_attr_setstacksize(&attributes, STACK);
    error = pthread_create(&thread, &attributes, watch, NULL);
    pthread_attr_destroy(&attributes);
    return error;
}

void test_log_supervisor_begin(struct test_log_run *given,
                               const struct test_log_options *with)
{
    run = given;
    options = with;
    done = false;
    sigemptyset(&ours);
    for (size_t i = 0; i < SIGNALS_TAKEN; i++)
        if (!ignored(taken[i]))
            sigaddset(&ours, taken[i]);
    sigaddset(&ours, SIGUSR1); /* it ends the thread, too */
    test_log_spawn_begin(given);
    pthread_sigmask(SIG_BLOCK, &ours, &before);
    active = !pthread_atfork(NULL, NULL, restore_mask) && !start_thread();
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
        done = true;
        test_log_supervisor_leave();
        pthread_kill(thread, SIGUSR1);
        pthread_join(thread, NULL);
        restore_mask();
    }
    active = false;
    test_log_spawn_end();
    test_log_status_close();
}
