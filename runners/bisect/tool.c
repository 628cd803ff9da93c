/* tool.c: runs a program and survives the signals that end it.
 *
 * On a terminal, all are one group, so that its keys reach all. Otherwise the
 * program and what it starts are a group, to which a signal is passed on.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bisect.h"

static const int caught[] = {SIGINT, SIGTERM, SIGHUP};
enum { CAUGHT = sizeof(caught) / sizeof(*caught) };

static volatile sig_atomic_t arrived, child;
static bool groups;   /* each program leads one */
static bool shielded; /* signals are ignored, by programs, too */

static void pass_on(int number)
{
    arrived = number;
    if (child > 0)
        kill(groups ? -(pid_t)child : (pid_t)child, number);
}

static void handle(void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler};

    for (int i = 0; i < CAUGHT; i++)
        sigaction(caught[i], &action, NULL);
}

void runners_tool_catch(bool is_step)
{
    groups = !is_step && !isatty(STDIN_FILENO);
    if (is_step)
        prctl(PR_SET_PDEATHSIG, SIGTERM);
    handle(pass_on);
}

void runners_tool_shield(void)
{
    shielded = true;
    handle(SIG_IGN);
}

int runners_tool_signal(void)
{
    return arrived;
}

static int spawn(const char *const *words, int out, bool quiet, pid_t *pid)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t defaults;
    int error;

    sigemptyset(&defaults);
    for (int i = 0; i < CAUGHT; i++)
        sigaddset(&defaults, caught[i]);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(
        &attributes,
        (short)((shielded ? 0 : POSIX_SPAWN_SETSIGDEF) |
                (groups && !shielded ? POSIX_SPAWN_SETPGROUP : 0)));
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawn_file_actions_init(&files);
    if (out >= 0)
        posix_spawn_file_actions_adddup2(&files, out, 1);
    for (int i = 1; quiet && i <= 2; i++)
        if (i == 2 || out < 0)
            posix_spawn_file_actions_addopen(&files, i, "/dev/null", O_WRONLY,
                                             0);
    error = posix_spawnp(pid, words[0], &files, &attributes,
                         (char **)(uintptr_t)words, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return error;
}

/* Reads to the end; what there is no room for is left out. */
static void read_all(int in, char *out, size_t size)
{
    char piece[4096];
    size_t used = 0;
    ssize_t got;

    while ((got = read(in, piece, sizeof(piece))) > 0 ||
           (got < 0 && errno == EINTR))
        for (ssize_t i = 0; i < got; i++)
            if (used + 1 < size)
                out[used++] = piece[i];
    out[used] = '\0';
    while (used && out[used - 1] == '\n')
        out[--used] = '\0';
}

int runners_tool_wait(const char *const *words, char *out, size_t size,
                      bool quiet)
{
    int pipes[2] = {-1, -1}, status = 0, error;
    pid_t pid = -1;

    if (arrived && !shielded) {
        errno = EINTR;
        return -1;
    }
    if (out && pipe2(pipes, O_CLOEXEC))
        return -1;
    error = spawn(words, pipes[1], quiet, &pid);
    if (out)
        close(pipes[1]);
    child = error ? 0 : pid;
    if (arrived && child && !shielded)
        pass_on(arrived); /* it arrived before there was a child */
    if (out && !error)
        read_all(pipes[0], out, size);
    if (out)
        close(pipes[0]);
    while (!error && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    child = 0;
    errno = error;
    if (error)
        return -1;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
