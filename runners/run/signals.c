/* signals.c: takes signals and passes them on to the programs that run.
 *
 * The signals are blocked, and taken while we wait; there is no handler.
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/criterion/program/program.h"
#include "run.h"

struct child *runners_children;

static sigset_t before, ours;
static int signals; /* a descriptor for `ours`; 0: there is none */
static int interrupted;
static bool asked;
static bool look;    /* a child may have ended */
static bool patient; /* the program ends when it wants to */

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

/* make ends the shell between us, not us. The signal comes when the thread that
 * forked us dies, so the parent may have no other. */
static void end_with_parent(void)
{
    char path[64];
    struct stat threads; /* st_nlink: two, and one for each thread */

    snprintf(path, sizeof(path), "/proc/%ld/task", (long)getppid());
    if (!stat(path, &threads) && threads.st_nlink == 2 + 1)
        prctl(PR_SET_PDEATHSIG, SIGTERM);
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
    if (getenv("MAKELEVEL"))
        end_with_parent();
}

void runners_hand_on_signals(void)
{
    patient = true;
    runners_take_signals();
    add(SIGQUIT);
    add(SIGUSR2);
    block();
}

bool runners_asked(void)
{
    bool was = asked;

    asked = false;
    return was;
}

static void kill_all(int number)
{
    for (struct child *child = runners_children; child; child = child->next)
        if (number != SIGUSR1 || !child->foreign)
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

/* The first interrupt goes to the programs, the second one ends everything. */
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

/* A terminal sends its signals to the program, too. */
static void pass_on(const siginfo_t *signal)
{
    if (!patient)
        hand_on(signal->si_signo);
    else if (signal->si_code != SI_KERNEL)
        kill_all(signal->si_signo);
}

void runners_pass_on_signals(void)
{
    static const struct timespec none;
    siginfo_t signal;

    while (sigtimedwait(&ours, &signal, &none) > 0)
        if (signal.si_signo == SIGCHLD)
            look = true;
        else
            pass_on(&signal);
}

/* A signal may have been pending since before we waited. It is taken, because
 * otherwise it would count twice. A patient program gets each signal. */
int runners_interrupted(void)
{
    sigset_t pending;

    if (!patient)
        runners_pass_on_signals();
    for (int number = SIGHUP; !interrupted && number <= SIGTERM; number++)
        if (number != SIGUSR1 && sigismember(&ours, number) == 1 &&
            !sigpending(&pending) && sigismember(&pending, number))
            interrupted = number;
    return interrupted;
}

bool runners_child_ended(void)
{
    bool was = look;

    look = false;
    return was;
}

int runners_signals_fd(void)
{
    return signals;
}

void runners_restore_signals(void)
{
    sigprocmask(SIG_SETMASK, &before, NULL);
}

void runners_wait_to_write(int fd)
{
    struct pollfd ends[] = {{.fd = fd, .events = POLLOUT},
                            {.fd = signals ? signals : -1, .events = POLLIN}};

    do {
        poll(ends, 2, signals ? -1 : RUNNERS_TICK);
        if (ends[1].revents)
            runners_pass_on_signals();
    } while (!ends[0].revents);
}
