/* stdio_fds.c: keeps stdin, stdout and stderr usable for a whole run. */
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "harness/runner/runner.h"

/* Opened the wrong way round, they fail as they did. */
void test_log_stdio_hold(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 &&
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
            return;
}

static void go_on(int number)
{
    (void)number;
}

/* Were it ignored, tests would inherit that. */
static void outlive(int number)
{
    struct sigaction action;

    if (sigaction(number, NULL, &action) || action.sa_handler != SIG_DFL)
        return;
    action.sa_handler = go_on;
    action.sa_flags = SA_RESTART;
    sigaction(number, &action, NULL);
}

void test_log_stdio_outlive(void)
{
    outlive(SIGPIPE);
    outlive(SIGXFSZ);
}
