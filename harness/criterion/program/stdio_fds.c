/* stdio_fds.c: keeps stdin, stdout and stderr usable for a whole run. */
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "program.h"

/* Opened in the wrong direction, so that reading and writing still fail. */
void test_log_stdio_hold(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 &&
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
            return;
}

static void do_nothing(int number)
{
    (void)number;
}

/* This takes a handler, because tests would inherit SIG_IGN. */
static void survive(int number)
{
    struct sigaction action;

    if (sigaction(number, NULL, &action) || action.sa_handler != SIG_DFL)
        return;
    action.sa_handler = do_nothing;
    action.sa_flags = SA_RESTART;
    sigaction(number, &action, NULL);
}

void test_log_stdio_outlive(void)
{
    survive(SIGPIPE);
    survive(SIGXFSZ);
}
