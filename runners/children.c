/* children.c: starts programs, waits for them, and passes signals on.
 *
 * The signals are blocked, and are taken while we wait: there is no handler.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/results/notice.h"
#include "harness/runner/runner.h"
#include "run.h"

enum {
    TICK = 100, /* ms between looks, where nothing can wake us */
    POLLED = 3, /* descriptors of a child */
};

static struct child *children; /* those that run */
static sigset_t before, ours;
static int signals; /* a descriptor for `ours`; 0: there is none */
static int interrupted;
static bool asked;
static bool look;    /* a child has ended since we looked */
static bool patient; /* the program ends when it wants to */

/* ---- Signals ---- */

/* A signal that is ignored, as with nohup, stays ignored. */
static void add(int number)
{
    struct sigaction action;

    if (sigaction(number, NULL, &action) || action.sa_handler != SIG_IGN)
        sigaddset(&ours, number);
}

static void block(void)
{
    int fd =
        signalfd(signals ? signals : -1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);

    signals = fd > 0 ? fd : 0;
    sigprocmask(SIG_BLOCK, &ours, NULL);
}

void runners_take_signals(void)
{
    signal(SIGCHLD, SIG_DFL); /* if it were ignored, waitpid would fail */
    test_log_stdio_outlive();
    sigprocmask(SIG_BLOCK, NULL, &before);
    sigemptyset(&ours);
    sigaddset(&ours, SIGCHLD);
    add(SIGINT);
    add(SIGTERM);
    add(SIGHUP);
    add(SIGUSR1);
    block();
}

void runners_hand_on_signals(void)
{
    patient = true;
    runners_take_signals();
    add(SIGQUIT);
    add(SIGUSR2);
    block();
}

int runners_interrupted(void)
{
    sigset_t pending;

    /* One that came while nothing was waited for. */
    for (int number = SIGHUP; !interrupted && number <= SIGTERM; number++)
        if (number != SIGUSR1 && sigismember(&ours, number) == 1 &&
            !sigpending(&pending) && sigismember(&pending, number))
            interrupted = number;
    return interrupted;
}

bool runners_asked(void)
{
    bool was = asked;

    asked = false;
    return was;
}

static void kill_all(int number)
{
    for (struct child *child = children; child; child = child->next)
        kill(child->pid, number);
}

static void die(int number)
{
    kill_all(SIGKILL);
    runners_jobserver_end();
    signal(number, SIG_DFL);
    sigprocmask(SIG_SETMASK, &before, NULL);
    raise(number);
    _exit(128 + number);
}

/* The first interrupt is for the programs, the second ends everything. */
static void hand_on(int number)
{
    if (number == SIGUSR1)
        asked = true;
    else if (interrupted)
        die(number);
    else
        interrupted = number;
    kill_all(number);
}

/* What a terminal sends, it sends to the program as well. */
static void pass_on(const siginfo_t *signal)
{
    if (!patient)
        hand_on(signal->si_signo);
    else if (signal->si_code != SI_KERNEL)
        kill_all(signal->si_signo);
}

static void take_pending(void)
{
    static const struct timespec none;
    siginfo_t signal;

    while (sigtimedwait(&ours, &signal, &none) > 0)
        if (signal.si_signo == SIGCHLD)
            look = true;
        else
            pass_on(&signal);
}

/* ---- Starting ---- */

/* In the child: becomes the program, which dies with its parent. If it cannot
 * be run, errno goes to `fd`. */
static void become(const struct child *child, char *path, char **argv, int fd)
{
    runners_handover_give(&child->handover);
    runners_output_give(&child->output);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    sigprocmask(SIG_SETMASK, &before, NULL);
    execvp(path, argv);

    int error = errno;

    if (write(fd, &error, sizeof(error)) != sizeof(error))
        _exit(126);
    _exit(127);
}

int runners_start(struct child *child, char *path, char **argv)
{
    int ends[2], error = 0;

    if (pipe2(ends, O_CLOEXEC))
        return -errno;
    fflush(NULL);
    child->pid = fork();
    if (!child->pid)
        become(child, path, argv, ends[1]);
    if (child->pid < 0)
        error = errno;
    close(ends[1]);
    if (!error && read(ends[0], &error, sizeof(error)) < 0)
        error = 0;
    close(ends[0]);
    runners_output_given(&child->output);
    if (error && child->pid > 0)
        waitpid(child->pid, NULL, 0);
    if (error)
        return -error;
    child->next = children;
    children = child;
    return 0;
}

/* ---- Waiting ---- */

/* Sleeps until there is something to do; without memory, for a moment. */
static void sleep_until_some(int fd, int milliseconds)
{
    struct pollfd *ends;
    size_t count = 2;

    for (struct child *child = children; child; child = child->next)
        count += POLLED;
    ends = calloc(count, sizeof(*ends));
    if (!ends) {
        poll(NULL, 0, TICK);
        return;
    }
    ends[0] = (struct pollfd){.fd = signals ? signals : -1, .events = POLLIN};
    ends[1] = (struct pollfd){.fd = fd ? fd : -1, .events = POLLIN};
    count = 2;
    for (struct child *child = children; child; child = child->next) {
        int from = child->handover.from;

        ends[count].fd = from ? from : -1;
        ends[count].events = POLLIN;
        runners_output_poll(&child->output, ends + count + 1);
        count += POLLED;
    }
    if (!signals && (milliseconds < 0 || milliseconds > TICK))
        milliseconds = TICK;
    poll(ends, count, milliseconds);
    free(ends);
}

static bool has_ended(struct child *child)
{
    pid_t pid = waitpid(child->pid, &child->status, WNOHANG);

    if (!pid || (pid < 0 && errno == EINTR))
        return false;
    if (pid < 0)
        child->status = -errno;
    return true;
}

/* What a program has sent is read once more after its end. */
static void reap(void)
{
    for (struct child **at = &children; *at;) {
        struct child *child = *at;

        child->ended = has_ended(child);
        runners_handover_read(&child->handover);
        runners_output_read(&child->output);
        if (child->ended)
            *at = child->next;
        else
            at = &child->next;
    }
}

void runners_wait(int fd, int milliseconds)
{
    if (!look)
        sleep_until_some(fd, milliseconds);
    take_pending();
    look = false;
    reap();
}

void runners_wait_to_write(int fd)
{
    struct pollfd ends[] = {{.fd = fd, .events = POLLOUT},
                            {.fd = signals ? signals : -1, .events = POLLIN}};

    do {
        poll(ends, 2, signals ? -1 : TICK);
        if (ends[1].revents)
            take_pending();
    } while (!ends[0].revents);
}

int runners_spawn(char *path, char **argv)
{
    struct child child = {0};
    int error = runners_start(&child, path, argv);

    while (!error && !child.ended)
        runners_wait(0, -1);
    return error ? error : child.status;
}
