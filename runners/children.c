/* children.c: the programs that testlog runs, and signals on their way to them.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/runner/runner.h"
#include "runners.h"

static sigset_t before, ours;
static int interrupted;
static bool patient; /* the program ends when it wants to */

/* A signal that is ignored, as nohup has it, stays so. */
static void add(int number)
{
    struct sigaction action;

    if (sigaction(number, NULL, &action) || action.sa_handler != SIG_IGN)
        sigaddset(&ours, number);
}

void runners_take_signals(void)
{
    signal(SIGCHLD, SIG_DFL); /* ignored, it would keep what became of them */
    test_log_stdio_outlive();
    sigemptyset(&ours);
    sigaddset(&ours, SIGCHLD);
    add(SIGINT);
    add(SIGTERM);
    add(SIGHUP);
    add(SIGUSR1);
    sigprocmask(SIG_BLOCK, &ours, &before);
}

void runners_hand_on_signals(void)
{
    patient = true;
    runners_take_signals();
    add(SIGQUIT);
    add(SIGUSR2);
    sigprocmask(SIG_BLOCK, &ours, NULL);
}

int runners_interrupted(void)
{
    sigset_t pending;

    /* One that came between two programs. */
    for (int number = SIGHUP; !interrupted && number <= SIGTERM; number++)
        if (number != SIGUSR1 && sigismember(&ours, number) == 1 &&
            !sigpending(&pending) && sigismember(&pending, number))
            interrupted = number;
    return interrupted;
}

/* What becomes of the child: the program, which dies with its parent. If it
 * cannot be run, errno goes to `fd`. */
static void become(char *path, char **argv, const struct handover *handover,
                   int fd)
{
    if (handover)
        runners_handover_give(handover);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    sigprocmask(SIG_SETMASK, &before, NULL);
    execvp(path, argv);

    int error = errno;

    if (write(fd, &error, sizeof(error)) != sizeof(error))
        _exit(126);
    _exit(127);
}

/* The second time everything ends at once. */
static void hand_on(int number, pid_t pid)
{
    if (number != SIGUSR1 && interrupted) {
        kill(pid, SIGKILL);
        signal(number, SIG_DFL);
        sigprocmask(SIG_SETMASK, &before, NULL);
        raise(number);
        _exit(128 + number);
    }
    if (number != SIGUSR1)
        interrupted = number;
    kill(pid, number);
}

/* What a terminal sends, it sends to the program as well. */
static void pass_on(const siginfo_t *signal, pid_t pid)
{
    if (!patient)
        hand_on(signal->si_signo, pid);
    else if (signal->si_code != SI_KERNEL)
        kill(pid, signal->si_signo);
}

/* Sleeps until a signal or results come. Without a descriptor for signals, it
 * wakes up every 100 ms. */
static void sleep_until_some(int signals, struct handover *handover)
{
    struct pollfd ends[] = {
        {.fd = signals, .events = POLLIN},
        {.fd = handover ? handover->from : -1, .events = POLLIN}};

    poll(ends, 2, signals < 0 ? 100 : -1);
    if (ends[1].revents)
        runners_handover_read(handover);
}

static int wait_for(pid_t pid, int signals, struct handover *handover)
{
    static const struct timespec none;
    siginfo_t signal;
    int status;

    for (;;) {
        pid_t ended = waitpid(pid, &status, WNOHANG);

        if (ended == pid)
            return status;
        if (ended < 0 && errno != EINTR)
            return -errno;
        sleep_until_some(signals, handover);
        if (sigtimedwait(&ours, &signal, &none) > 0 &&
            signal.si_signo != SIGCHLD)
            pass_on(&signal, pid);
    }
}

/* To its end, and the end of what it has handed over. */
static int follow(pid_t pid, struct handover *handover)
{
    int signals = signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
    int status = wait_for(pid, signals, handover);

    if (signals >= 0)
        close(signals);
    if (handover)
        runners_handover_read(handover);
    return status;
}

int runners_spawn(char *path, char **argv, struct handover *handover)
{
    int ends[2], error = 0, status;
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC))
        return -errno;
    pid = fork();
    if (!pid)
        become(path, argv, handover, ends[1]);
    close(ends[1]);
    if (pid < 0)
        error = errno;
    else if (read(ends[0], &error, sizeof(error)) < 0)
        error = 0;
    close(ends[0]);
    if (pid < 0)
        return -error;
    status = follow(pid, handover);
    return error ? -error : status;
}
