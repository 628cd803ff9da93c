/* command_output.c: runs a program and reads what it prints; it may hang. */
#include "command_output.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/criterion/watch/jobs.h"
#include "harness/machine/notice.h"
#include "harness/machine/now.h"
#include "harness/run/folder/run_folder.h"

enum {
    TICK = 100,              /* ms between looks at signals */
    OUTPUT_MOST = 256 << 20, /* bytes */
};

static const uint64_t longest = 60000000000; /* ns */

/* Makes the process that was forked the program. */
_Noreturn static void become(char **argv, bool quiet,
                             int (*enter)(const void *context),
                             const void *context, int out)
{
    int none = open("/dev/null", O_RDWR | O_CLOEXEC);
    sigset_t signals;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigemptyset(&signals);
    sigprocmask(SIG_SETMASK, &signals, NULL);
    dup2(none, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    if (quiet)
        dup2(none, STDERR_FILENO);
    if (!enter || !enter(context))
        execvp(argv[0], argv);
    _exit(127);
}

/* The runner acts on these later. */
static bool must_end(void)
{
    sigset_t pending;

    return !sigpending(&pending) && (sigismember(&pending, SIGINT) == 1 ||
                                     sigismember(&pending, SIGTERM) == 1 ||
                                     sigismember(&pending, SIGHUP) == 1);
}

static bool has_time(uint64_t until)
{
    return test_log_now() < until && !must_end();
}

/* Copies until the program closes its end; false if that takes too long. */
static bool copy(int from, int to, uint64_t until)
{
    struct pollfd end = {.fd = from, .events = POLLIN};
    size_t copied = 0;
    char bytes[65536];

    while (has_time(until) && copied < OUTPUT_MOST) {
        ssize_t size;

        if (poll(&end, 1, TICK) <= 0)
            continue;
        size = read(from, bytes, sizeof(bytes));
        if (size <= 0)
            return !size;
        if (test_log_write_all(to, bytes, (size_t)size))
            return false;
        copied += (size_t)size;
    }
    return false;
}

/* Waits for the end of a process, or kills it if that takes too long. */
static bool wait_for(pid_t pid, uint64_t until, int *status)
{
    pid_t ended;

    while (!(ended = waitpid(pid, status, WNOHANG)) && has_time(until))
        poll(NULL, 0, 1);
    if (ended)
        return ended == pid;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    return false;
}

FILE *runners_command_output(char **argv, bool quiet,
                             int (*enter)(const void *context),
                             const void *context, int *status)
{
    uint64_t until = test_log_now() + longest;
    FILE *out = tmpfile();
    bool copied;
    int ends[2];
    pid_t pid;

    if (!out)
        return NULL;
    if (pipe2(ends, O_CLOEXEC)) {
        fclose(out);
        return NULL;
    }
    fflush(NULL);
    pid = fork();
    if (!pid)
        become(argv, quiet, enter, context, ends[1]);
    close(ends[1]);
    copied = pid > 0 && copy(ends[0], fileno(out), until);
    close(ends[0]);
    if (pid < 0 || !wait_for(pid, copied ? until : 0, status) || !copied) {
        fclose(out);
        return NULL;
    }
    rewind(out);
    return out;
}

int runners_command_text(const char *command, struct trace_text *text)
{
    char *argv[] = {(char *)"/bin/sh", (char *)"-c", (char *)(uintptr_t)command,
                    NULL};
    char bytes[65536];
    int status = -1;
    FILE *in = runners_command_output(argv, false, NULL, NULL, &status);
    size_t size;

    if (!in)
        return -1;
    while ((size = fread(bytes, 1, sizeof(bytes), in)))
        trace_text_add(text, bytes, size);
    fclose(in);
    return text->failed ? -1 : status;
}
