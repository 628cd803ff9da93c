/* children.c: starts programs and waits for them. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run.h"

enum { POLLED = 3 }; /* descriptors of a child */

/* ---- Starting ---- */

/* In the child: puts libraries before those that the user preloads. */
static void preload(const char *libraries)
{
    const char *list = getenv("LD_PRELOAD");
    char *longer;

    if (asprintf(&longer, "%s%s%s", libraries, list && *list ? ":" : "",
                 list ? list : "") < 0)
        return;
    setenv("LD_PRELOAD", longer, 1);
    free(longer);
}

/* In the child: becomes the program, which dies with its parent. If it cannot
 * be run, errno goes to `fd`. */
static void become(const struct child *child, char *path, char **argv, int fd)
{
    runners_handover_give(&child->handover);
    runners_output_give(&child->output);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    runners_restore_signals();
    if (child->preload)
        preload(child->preload);
    for (char **variable = child->variables; variable && *variable; variable++)
        putenv(*variable);
    if (!child->ctest || !runners_ctest_enter(child->ctest))
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
    child->next = runners_children;
    runners_children = child;
    return 0;
}

/* ---- Waiting ---- */

/* Sleeps until there is something to do; without memory, for a short time. */
static void sleep_until_some(int fd, int milliseconds)
{
    const int signals = runners_signals_fd();
    struct pollfd *ends;
    size_t count = 2;

    for (struct child *child = runners_children; child; child = child->next)
        count += POLLED;
    ends = calloc(count, sizeof(*ends));
    if (!ends) {
        poll(NULL, 0, RUNNERS_TICK);
        return;
    }
    ends[0] = (struct pollfd){.fd = signals ? signals : -1, .events = POLLIN};
    ends[1] = (struct pollfd){.fd = fd ? fd : -1, .events = POLLIN};
    count = 2;
    for (struct child *child = runners_children; child; child = child->next) {
        int from = child->handover.from;

        ends[count].fd = from ? from : -1;
        ends[count].events = POLLIN;
        runners_output_poll(&child->output, ends + count + 1);
        count += POLLED;
    }
    if (!signals && (milliseconds < 0 || milliseconds > RUNNERS_TICK))
        milliseconds = RUNNERS_TICK;
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

/* A program may have sent more just before its end, so its pipes are read
 * again. */
static void reap(void)
{
    for (struct child **at = &runners_children; *at;) {
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
    if (!runners_child_ended())
        sleep_until_some(fd, milliseconds);
    runners_pass_on_signals();
    runners_child_ended(); /* it is being handled now */
    reap();
}

int runners_spawn(char *path, char **argv, const struct child *like)
{
    struct child child = like ? *like : (struct child){0};
    int error = runners_start(&child, path, argv);

    while (!error && !child.ended)
        runners_wait(0, -1);
    return error ? error : child.status;
}
