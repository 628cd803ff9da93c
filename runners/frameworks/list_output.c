/* list_output.c: what a program prints that lists its tests. It may hang. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "frameworks.h"
#include "harness/results/folder/run_folder.h"
#include "harness/runner/watch/jobs.h"

enum {
    TICK = 100,              /* ms between looks at signals */
    OUTPUT_MOST = 256 << 20, /* bytes */
};

static const uint64_t longest = 60000000000; /* ns */

_Noreturn static void become(char **argv, int out)
{
    int none = open("/dev/null", O_RDWR | O_CLOEXEC);
    sigset_t signals;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigemptyset(&signals);
    sigprocmask(SIG_SETMASK, &signals, NULL);
    dup2(none, STDIN_FILENO);
    dup2(none, STDERR_FILENO);
    dup2(out, STDOUT_FILENO);
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

/* Copies until the program closes its end; false if that takes too long. */
static bool copy(int from, int to)
{
    uint64_t until = test_log_now() + longest;
    struct pollfd end = {.fd = from, .events = POLLIN};
    size_t copied = 0;
    char bytes[65536];

    while (test_log_now() < until && !must_end() && copied < OUTPUT_MOST) {
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

FILE *runners_framework_output(char **argv)
{
    FILE *out = tmpfile();
    int ends[2];
    bool whole;
    pid_t pid;

    if (!out || pipe2(ends, O_CLOEXEC)) {
        if (out)
            fclose(out);
        return NULL;
    }
    fflush(NULL);
    pid = fork();
    if (!pid)
        become(argv, ends[1]);
    close(ends[1]);
    whole = pid > 0 && copy(ends[0], fileno(out));
    close(ends[0]);
    if (pid > 0) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
    rewind(out);
    if (whole)
        return out;
    fclose(out);
    return NULL;
}
